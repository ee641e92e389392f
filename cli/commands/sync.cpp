// `sync`: an environment with exactly the packages of a lock file or of an environment.yml.

#include "cli/commands/sync.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/spec/spec_text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace gpkg::cli {
namespace {

constexpr const char* kLock = "gpkg.lock";
constexpr const char* kManifest = "environment.yml";

bool has_file(const char* name) {
    std::error_code code;
    return fs::exists(name, code);
}

/// Without -f and --lock: gpkg.lock of this folder, else its environment.yml.
Result<void> add_default_file(SyncOptions& options) {
    if (!options.wishes.files.empty() || !options.lock.file.empty()) return {};
    if (has_file(kLock)) {
        options.lock.file = kLock;
    } else if (has_file(kManifest)) {
        options.wishes.files = {kManifest};
    } else {
        return fail(ErrorKind::NotFound,
                    fmt::format("no {} or {} in this folder", kLock, kManifest),
                    "name a file with --lock or -f");
    }
    return {};
}

std::map<std::string, std::set<std::string>> texts_by_name(const std::vector<MatchSpec>& specs) {
    std::map<std::string, std::set<std::string>> texts;
    for (const auto& spec : specs) texts[spec.name].insert(as_typed(spec));
    return texts;
}

std::string all_of(const std::set<std::string>& texts) {
    return join_some(std::vector<std::string>(texts.begin(), texts.end()), "and", texts.size());
}

/// What environment.yml requests now that the lock does not, and the reverse.
std::vector<std::string> differences(const ExactRequest& locked, const ChangeRequest& now) {
    const auto before = texts_by_name(locked.requested);
    const auto after = texts_by_name(now.specs);
    std::vector<std::string> added;
    std::vector<std::string> changed;
    std::vector<std::string> removed;
    for (const auto& [name, texts] : after) {
        const auto found = before.find(name);
        if (found == before.end())
            added.push_back(all_of(texts));
        else if (found->second != texts)
            changed.push_back(
                fmt::format("requests {} instead of {}", all_of(texts), all_of(found->second)));
    }
    for (const auto& [name, texts] : before) {
        if (!after.contains(name)) removed.push_back(all_of(texts));
    }
    std::vector<std::string> lines;
    if (!added.empty()) lines.push_back("also requests " + join_some(added, "and"));
    append(lines, std::move(changed));
    if (!removed.empty()) lines.push_back("does not request " + join_some(removed, "and"));
    const auto lines_of = [](const std::vector<PipSection>& sections) {
        std::vector<std::string> requirements;
        for (const auto& section : sections) append(requirements, section.requirements);
        return requirements;
    };
    if (lines_of(locked.pip) != lines_of(now.pip)) lines.emplace_back("has another pip section");
    if (locked.variables != now.variables) lines.emplace_back("has other variables");
    return lines;
}

/// Whether environment.yml requests something else than gpkg.lock, with a warning. Only what a file
/// can say is compared: channels and accelerators may come from the command line that wrote the
/// lock.
bool warn_if_outdated(Context& context, const SyncOptions& options, const ExactRequest& locked) {
    constexpr std::size_t kMostTold = 3;
    if (!has_file(kManifest) || locked.requested.empty()) return false;
    auto sources = options.sources;
    WishOptions wishes;
    wishes.files = {kManifest};
    const auto now = lock_wishes(context, wishes, sources);
    if (!now) return false;
    const auto lines = differences(locked, *now);
    if (lines.empty()) return false;
    context.out.warn(
        fmt::format("{} is out of date: {} {}", kLock, kManifest, join_first(lines, kMostTold)));
    const auto target = target_flags(options.target);
    context.out.note(
        fmt::format("hint: to update both: gpkg lock update -f {0} && gpkg sync{1}; to "
                    "ignore the lock: gpkg sync{1} -f {0}",
                    kManifest,
                    target));
    return true;
}

/// The environment that `target` names. It may be missing, but nothing else may be in its place.
Result<fs::path> prefix_of(Context& context,
                           const SyncOptions& options,
                           const TargetOptions& target) {
    GPKG_TRY(auto path, target_prefix(context, target));
    if (!fs::exists(path / "conda-meta")) {
        GPKG_TRY(path, new_prefix(context, target));
    }
    context.prefix = path;
    GPKG_CHECK(recover_prefix(context, path, options.change.dry_run));
    return path;
}

Result<Change> as_locked(Context& context, const SyncOptions& options, bool is_default) {
    GPKG_TRY(const auto target, target_of_lock(context, options.target, options.lock.file));
    GPKG_TRY(const auto path, prefix_of(context, options, target));
    GPKG_TRY(auto request, locked_request(context, options.sources, options.lock, path));
    const bool is_outdated = is_default && warn_if_outdated(context, options, request);
    request.prune = true;
    GPKG_TRY(auto change, exactly(std::move(request)));
    change.lock_is_outdated = is_outdated;
    return change;
}

Result<Change> as_files_say(Context& context, SyncOptions& options) {
    options.wishes.ignore_names = !options.target.name.empty() || !options.target.prefix.empty();
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, options.sources));
    const auto& name = options.target.name;
    if (!name.empty() && !wishes.ignored_name.empty() && wishes.ignored_name != name)
        context.out.note(fmt::format("note: -n {} overrides the name '{}' in {}",
                                     shell_word(name),
                                     printable(wishes.ignored_name),
                                     options.wishes.files.back()));
    GPKG_TRY(const auto path, prefix_of(context, options, target_meant(options.target, wishes)));
    if (!wishes.files.empty()) {
        auto request = explicit_request(path, std::move(wishes));
        request.prune = true;
        return exactly(std::move(request));
    }
    auto request = change_request(std::move(wishes));
    request.prefix = path;
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.prune = Prefix::is_environment(path);
    request.is_dry_run = options.change.dry_run;
    return decide(context, options.sources, request);
}

}  // namespace

Result<int> sync(Context& context, SyncOptions& options) {
    options.change.offline = options.sources.offline;
    const bool is_named = !options.lock.file.empty();
    GPKG_CHECK(add_default_file(options));
    GPKG_TRY(auto change,
             options.lock.file.empty() ? as_files_say(context, options)
                                       : as_locked(context, options, !is_named));
    const auto& files = options.wishes.files;
    change.pruned_to =
        options.lock.file.empty() ? join_some(files, "and", files.size()) : options.lock.file;
    const auto name = environment_name(context, change.prefix);
    change.if_nothing = fmt::format("{} matches {}", name, change.pruned_to);
    change.if_different = fmt::format("{} does not match {}", name, change.pruned_to);
    if (change.lock_is_outdated) change.if_nothing += ", which is out of date";
    return carry_out(context, std::move(change), options.change);
}

Action bind_sync(CLI::App& app) {
    const auto options = std::make_shared<SyncOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    auto* file = app.add_option("-f,--file",
                                options->wishes.files,
                                "environment.yml, spec file or explicit file; may be repeated");
    file->type_name("FILE")->expected(1)->take_all()->allow_extra_args(false);
    add_ignore_options(app, options->wishes);
    add_lock_options(app, "--lock", "lock file", options->lock);
    add_inconsistent_option(app, options->lock);
    add_check_option(app, options->change);
    app.get_option("--lock")->excludes(file);
    app.footer(
        "Makes an environment match a file: installs the missing packages, changes those of "
        "other versions, and removes the rest. A missing environment is created. Without -f and "
        "--lock the file is gpkg.lock in this folder, else environment.yml. Without -n and -p "
        "the lock or environment.yml names the environment.\n\n"
        "  gpkg sync -n ml --lock gpkg.lock\n"
        "  gpkg sync -f environment.yml\n"
        "  gpkg sync -n ml --dry-run        # show the differences\n"
        "  gpkg sync -n ml --check          # the same for scripts: status 1");
    return [options](Context& context) { return sync(context, *options); };
}

}  // namespace gpkg::cli
