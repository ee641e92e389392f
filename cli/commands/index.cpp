#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/inspection.hpp"
#include "cli/workflow/signing.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/base/text.hpp"
#include "libcore/indexing/indexed_package.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
    bool verify = false;
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

/// Fails if a package cannot be unpacked, if its files differ from its info/paths.json, or if it is
/// not what its name says.
Result<void> check_packages(const Context& context, const fs::path& channel) {
    std::vector<std::string> damaged;
    std::error_code code;
    for (const auto& subdir : fs::directory_iterator(channel, code)) {
        if (!is_known_subdir(subdir.path().filename().native())) continue;
        for (const auto& entry : fs::directory_iterator(subdir.path(), code)) {
            GPKG_CHECK(check_stop(context));
            const auto& file = entry.path();
            if (package_extension(file.filename().native()).empty()) continue;
            const auto package = inspect_archive(file);
            if (!package) {
                damaged.push_back(package.error().message);
                continue;
            }
            const auto indexed = read_for_index(
                file, subdir.path().filename().native(), [](const auto&) { return 0; });
            if (!indexed)
                damaged.push_back(fmt::format("{}: {}", file.native(), indexed.error().message));
        }
    }
    if (damaged.empty()) return {};
    std::sort(damaged.begin(), damaged.end());
    return fail(ErrorKind::Integrity,
                fmt::format("{}: {} cannot be indexed; the index was not written\n{}",
                            channel.native(),
                            count_text(damaged.size(), "package"),
                            fmt::join(damaged, "\n")),
                "replace, rename or delete the files");
}

/// With -v prints which folder is indexed, how many packages are read, and how long it takes.
Result<IndexSummary> timed_index(Output& out,
                                 const fs::path& channel,
                                 const IndexerOptions& options) {
    Phase phase(out, "index " + channel.native());
    auto summary = index_channel(channel, options);
    if (!summary) return summary;
    std::size_t read = 0;
    for (const auto& subdir : summary->subdirs) read += subdir.read;
    phase.add(count_text(read, "package") + " read");
    phase.add(fmt::format("{} in parallel", options.jobs));
    return summary;
}

nlohmann::ordered_json show_subdirs(const IndexSummary& summary, Output& out) {
    nlohmann::ordered_json subdirs;
    for (const auto& subdir : summary.subdirs) {
        out.print(fmt::format("{}: {}{}",
                              subdir.subdir,
                              count_text(subdir.packages, "package"),
                              subdir.packages == 0 ? ""
                              : subdir.read == 0
                                  ? ", none new"
                                  : fmt::format(", {} new or changed", subdir.read)));
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
                            fmt::format("{}: not indexed: {}", file.native(), reason),
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
            out.warn(
                fmt::format("{}: builds for different hardware differ in other metadata too: {}",
                            one.subdir,
                            one.text));
        list.push_back({{"subdir", one.subdir},
                        {"name", one.name},
                        {"field", one.field},
                        {"text", one.text},
                        {"files", one.files}});
    }
    if (list.size() > kMostDisagreements)
        out.warn(fmt::format("{} more such differences; --json lists all",
                             list.size() - kMostDisagreements));
    return list;
}

nlohmann::ordered_json show_patches(const IndexSummary& summary, Output& out) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& patch : summary.patches) {
        out.print(fmt::format("{}: hotfixes applied to {}",
                              patch.file.parent_path().filename().native(),
                              count_text(patch.changed, "package")));
        if (!patch.unmatched.empty())
            out.warn(fmt::format("{}: names packages that the channel does not have: {}",
                                 patch.file.native(),
                                 join_some(patch.unmatched, "and")));
        list.push_back({{"file", patch.file.native()},
                        {"changed", patch.changed},
                        {"unmatched", patch.unmatched}});
    }
    return list;
}

/// Packages beside the subdirs are in no index.
void warn_of_outsiders(const fs::path& channel, const std::string& folder, Output& out) {
    std::size_t count = 0;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(channel, code))
        count += package_extension(entry.path().filename().native()).empty() ? 0 : 1;
    if (count == 0) return;
    const auto place = (fs::path(folder) / "noarch").native();
    const auto other = (fs::path(folder) / "linux-64").native();
    out.warn(fmt::format("{} outside of a subdir {} ignored: move {} to {}/, {}/ or another subdir",
                         count_text(count, "package"),
                         count == 1 ? "is" : "are",
                         count == 1 ? "it" : "them",
                         place,
                         other));
}

}  // namespace

Action bind_index(CLI::App& app) {
    const auto words = std::make_shared<IndexWords>();
    app.add_option("folder", words->folder, "channel folder, the one with linux-64/, noarch/ ...")
        ->type_name("FOLDER")
        ->required();
    auto* patch = app.add_option("--patch",
                                 words->patch,
                                 "apply repodata patches until --no-patch: a folder or package "
                                 "with SUBDIR/patch_instructions.json, or one such file");
    patch->type_name("PATH");
    add_signing_options(app, words->signing);
    app.add_flag("--verify",
                 words->verify,
                 "read all packages completely first; stop if one cannot be indexed");
    app.add_flag("--no-patch", words->no_patch, "stop applying repodata patches")->excludes(patch);
    app.add_option("--zstd-level",
                   words->zstd_level,
                   "compression level, 1 to 19; default: high, low for large files")
        ->type_name("N")
        ->check(CLI::Range(1, 19));
    app.footer(
        "Writes channeldata.json, and for each subdir repodata.json, shards, run_exports.json and "
        "variants.json. Reads only new packages, and of them only the metadata; --verify reads all "
        "of "
        "every package. Warns about builds for different hardware that "
        "also differ in other metadata.\n\n"
        "  gpkg index ./channel\n"
        "  gpkg index ./channel --verify\n"
        "  gpkg index ./channel --patch ./hotfixes");

    return [words](Context& context) -> Result<int> {
        const auto channel = absolute_path(words->folder, context.home);
        if (!fs::is_directory(channel))
            return fail_missing(ErrorKind::NotFound,
                                fmt::format("{}: not a folder", channel.native()),
                                channel.native());
        if (is_known_subdir(channel.filename().native()))
            return fail(
                ErrorKind::Usage,
                fmt::format("{}: a subdir of a channel, not the channel folder", channel.native()),
                fmt::format("gpkg index {}", channel.parent_path().native()));
        if (words->verify) GPKG_CHECK(check_packages(context, channel));
        GPKG_TRY(const auto options, options_of(*words, context));
        GPKG_TRY(const auto summary, timed_index(context.out, channel, options));

        auto& out = context.out;
        warn_of_outsiders(channel, words->folder, out);
        auto subdirs = show_subdirs(summary, out);
        report_signature(context, summary);
        auto refused = show_refused(summary.refused, out);
        auto warnings = show_odd(summary.odd, out);
        for (auto& warning : show_odd(summary.replaced, out))
            warnings.push_back(std::move(warning));
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
