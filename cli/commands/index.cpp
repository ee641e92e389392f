#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/signing.hpp"
#include "libcore/base/text.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace gpkg::cli {
namespace {

/// More are counted; --json has all.
constexpr std::size_t kMostDisagreements = 10;

struct IndexWords {
    std::string folder;
    std::string patch;
    bool no_patch = false;
    SigningWords signing;
    int zstd_level = 0;  ///< 0: as the indexer thinks best
};

Result<IndexerOptions> options_of(const IndexWords& words, Context& context) {
    IndexerOptions options;
    options.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    options.cancelled = [&] { return context.stop.stop_requested(); };
    if (!words.patch.empty()) options.patch = absolute_path(words.patch, context.home);
    options.drop_patch = words.no_patch;
    if (words.zstd_level != 0) options.zstd_level = words.zstd_level;
    GPKG_CHECK(set_signing(context, words.signing, options));
    return options;
}

nlohmann::ordered_json show_subdirs(const IndexSummary& summary, Output& out) {
    nlohmann::ordered_json subdirs;
    for (const auto& subdir : summary.subdirs) {
        out.print(fmt::format("{}: {} packages, {} read; {} shards, {} written",
                              subdir.subdir,
                              subdir.packages,
                              subdir.read,
                              subdir.shards,
                              subdir.shards_written));
        subdirs[subdir.subdir] = {{"packages", subdir.packages},
                                  {"read", subdir.read},
                                  {"shards", subdir.shards},
                                  {"shards_written", subdir.shards_written},
                                  {"shards_removed", subdir.shards_removed}};
    }
    return subdirs;
}

nlohmann::ordered_json json_of(const std::vector<FaultyPackage>& packages) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& [file, reason] : packages)
        list.push_back({{"file", file.native()}, {"reason", reason}});
    return list;
}

/// Those that make the command fail: also told with -q.
nlohmann::ordered_json show_refused(const std::vector<FaultyPackage>& packages, Output& out) {
    for (const auto& [file, reason] : packages) {
        if (!out.json_mode())
            out.error(Error{ErrorKind::Integrity,
                            fmt::format("{}: left out: {}", file.native(), reason),
                            {},
                            {}});
    }
    return json_of(packages);
}

nlohmann::ordered_json show_odd(const std::vector<FaultyPackage>& packages, Output& out) {
    for (const auto& [file, reason] : packages)
        out.warn(fmt::format("{}: {}", file.native(), reason));
    return json_of(packages);
}

nlohmann::ordered_json show_disagreements(const IndexSummary& summary, Output& out) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& one : summary.disagreements) {
        if (list.size() < kMostDisagreements)
            out.warn(fmt::format(
                "{}: builds that differ in hardware alone disagree: {}", one.subdir, one.text));
        list.push_back({{"subdir", one.subdir},
                        {"name", one.name},
                        {"field", one.field},
                        {"text", one.text},
                        {"files", one.files}});
    }
    if (list.size() > kMostDisagreements)
        out.warn(fmt::format("{} more builds disagree: --json tells which",
                             list.size() - kMostDisagreements));
    return list;
}

nlohmann::ordered_json show_patches(const IndexSummary& summary, Output& out) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& patch : summary.patches) {
        if (!patch.unmatched.empty())
            out.warn(fmt::format("{}: of packages that are not there: {}",
                                 patch.file.native(),
                                 join_some(patch.unmatched, "and")));
        list.push_back({{"file", patch.file.native()}, {"unmatched", patch.unmatched}});
    }
    return list;
}

}  // namespace

Action bind_index(CLI::App& app) {
    const auto words = std::make_shared<IndexWords>();
    app.add_option(
           "folder", words->folder, "the channel's folder, which holds linux-64/, noarch/ ...")
        ->required();
    auto* patch = app.add_option(
        "--patch",
        words->patch,
        "bring hotfixes in force: a folder or a package with <subdir>/patch_instructions.json, or "
        "one such file; they stay until --no-patch");
    add_signing_options(app, words->signing);
    app.add_flag("--no-patch", words->no_patch, "take the hotfixes away")->excludes(patch);
    app.add_option("--zstd-level",
                   words->zstd_level,
                   "compress with this level; otherwise a high one, or a low one for what is large")
        ->check(CLI::Range(1, 19));
    app.footer(
        "Writes, for each subdir, repodata.json, repodata_shards.msgpack.zst with its shards/, "
        "run_exports.json and variants.json, and channeldata.json for all. Reads only packages "
        "that are new. Warns of builds of one version that differ in more than the hardware they "
        "are for.\n"
        "  gpkg index ./channel\n"
        "  gpkg index ./channel --patch ./hotfixes");

    return [words](Context& context) -> Result<int> {
        const auto channel = absolute_path(words->folder, context.home);
        if (!fs::is_directory(channel))
            return fail(ErrorKind::NotFound, fmt::format("{}: is no folder", channel.native()));
        if (is_known_subdir(channel.filename().native()))
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: is one subdir of a channel, not the channel", channel.native()),
                fmt::format("gpkg index {}", channel.parent_path().native()));
        GPKG_TRY(const auto options, options_of(*words, context));
        GPKG_TRY(const auto summary, index_channel(channel, options));

        auto& out = context.out;
        auto subdirs = show_subdirs(summary, out);
        auto refused = show_refused(summary.refused, out);
        auto warnings = show_odd(summary.odd, out);
        auto disagreements = show_disagreements(summary, out);
        auto patches = show_patches(summary, out);
        if (out.json_mode())
            out.json({{"success", summary.refused.empty()},
                      {"channel", channel.native()},
                      {"subdirs", std::move(subdirs)},
                      {"refused", std::move(refused)},
                      {"warnings", std::move(warnings)},
                      {"disagreements", std::move(disagreements)},
                      {"patches", std::move(patches)}});
        return summary.refused.empty() ? 0 : 1;
    };
}

}  // namespace gpkg::cli
