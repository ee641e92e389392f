#include "cli/commands/lock.hpp"
#include "cli/workflow/lock/repair.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_flaws.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockRepairOptions {
    SourceOptions sources;
    std::string file = kUsualName;
    std::vector<std::string> names;  ///< that may have another version
    std::string output;              ///< empty: the file itself
    bool dry_run = false;
};

Json json_of(const LockFile& old,
             const std::vector<GonePackage>& gone,
             const std::vector<Replaced>& changes,
             const std::optional<std::string>& mended,
             const std::vector<Divergence>& divergences,
             const LockRepairOptions& options) {
    Json document{{"success", true},
                  {"dry_run", options.dry_run},
                  {"file", options.output},
                  {"gone", Json::array()}};
    for (const auto& [place, why] : gone)
        document["gone"].push_back({{"url", old.packages[place].record.url}, {"why", why}});
    document["changes"] = locks::json_of(changes);
    document["mended"] = mended ? Json(*mended) : Json();
    document["divergences"] = locks::json_of(divergences);
    return document;
}

Result<int> repair(Context& context, const LockRepairOptions& given) {
    if (!given.output.empty()) GPKG_CHECK(check_own_name(given.output));
    auto options = given;
    take_file_as_name(options.file, options.names);
    if (options.output.empty()) options.output = options.file;
    GPKG_TRY(const auto found, read_own(context, options.file, "repair"));
    GPKG_TRY(const auto gone, gone_packages(context, found.lock, options.sources));
    auto& out = context.out;
    if (!out.json_mode()) {
        for (const auto& [place, why] : gone)
            out.print(fmt::format("missing: {}: {}", found.lock.packages[place].record.fn, why));
    }
    auto named = naming(context, options.file);
    auto repaired = cli::repair(
        named, found.lock, gone, {options.sources, {options.names.begin(), options.names.end()}});
    if (!repaired) return pass(std::move(repaired).error().while_doing(options.file));
    const auto changes = changes_between(found.lock, repaired->lock);
    // Of what was edited by hand, what packages ask for is written down again.
    const auto mended = flaw_in(found.lock);
    if (const auto left = flaw_in(repaired->lock))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: still inconsistent: {}", options.file, *left),
                    "to solve from scratch: gpkg lock -f FILE");
    if (!options.dry_run && (!changes.empty() || mended || options.output != options.file))
        GPKG_CHECK(write_changed(found, repaired->lock, options.file, options.output));
    if (out.json_mode()) {
        out.json(json_of(found.lock, gone, changes, mended, repaired->divergences, options));
        return 0;
    }
    tell_changes(out, changes);
    tell_divergences(out, repaired->divergences);
    if (mended) out.print("repaired: " + *mended);
    if (!gone.empty() && changes.empty())
        return fail(
            ErrorKind::Unsupported,
            fmt::format(
                "{}: the missing packages are not in the environment {}; others cannot be repaired",
                options.file,
                kDefaultEnvironment));
    if (changes.empty() && !mended)
        out.print("nothing to do: all packages are available");
    else
        out.print(options.dry_run ? kDryRun : "wrote " + options.output);
    return 0;
}

}  // namespace

Action bind_repair(CLI::App& app) {
    const auto options = std::make_shared<LockRepairOptions>();
    app.add_option("file", options->file, "lock file; default: gpkg.lock")->type_name("FILE");
    app.add_option("names", options->names, "packages whose version may change")->type_name("NAME");
    // Each class is repaired for the machine that it was made for.
    add_channel_options(app, options->sources);
    app.add_flag("-d,--dry-run", options->dry_run, "show the result without writing it");
    app.add_option("-o,--output", options->output, "file to write; default: the lock file itself")
        ->type_name("FILE");
    app.footer(
        "Replaces packages that their channels no longer have with other builds of the same "
        "versions, and fixes a lock that was merged or edited by hand. Other packages stay as "
        "they are.\n\n"
        "  gpkg lock repair                  # gpkg.lock\n"
        "  gpkg lock repair gpkg.lock --dry-run\n"
        "  gpkg lock repair gpkg.lock numpy  # numpy may change its version");
    return [=](Context& context) { return repair(context, *options); };
}

}  // namespace gpkg::cli::locks
