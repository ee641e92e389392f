#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {

namespace {

/// Requests for exact builds, as exported files and locks have them, without version and build. An
/// update of all packages goes past them, as conda's does; python keeps its minor version.
Result<std::vector<MatchSpec>> exact_builds_freed(const Prefix& prefix,
                                                  const std::vector<PrefixRecord>& installed) {
    GPKG_TRY(const auto history, prefix.history());
    std::vector<MatchSpec> freed;
    for (const auto& text : requested_specs(history)) {
        const auto spec = MatchSpec::parse(text);
        if (!spec || !spec->version || !spec->build || !spec->build->is_exact()) continue;
        const auto* record = find_record(installed, spec->name);
        if (record == nullptr) continue;
        auto name = spec->name;
        if (name == "python") {
            const auto parts = split(record->package.version, '.');
            name += fmt::format(
                "={}{}{}", parts[0], parts.size() > 1 ? "." : "", parts.size() > 1 ? parts[1] : "");
        }
        GPKG_TRY(auto bare, MatchSpec::parse(name));
        bare.channel = spec->channel;
        freed.push_back(std::move(bare));
    }
    return freed;
}

/// Of an update that frees exact builds: they are requested no longer, or where nothing is newer,
/// as before.
void settle_freed(Context& context, Change& change, const std::vector<MatchSpec>& freed) {
    if (freed.empty()) return;
    const auto is_freed = [&](const MatchSpec& spec) {
        return std::ranges::find(freed, spec) != freed.end();
    };
    if (change.is_nothing()) {
        std::erase_if(change.requested, is_freed);
        return;
    }
    change.notes.push_back(
        fmt::format("{} requested earlier no longer {}; to keep one: gpkg pin {} SPEC",
                    count_text(freed.size(), "exact build"),
                    freed.size() == 1 ? "applies" : "apply",
                    target_words(context, change.prefix)));
}

}  // namespace

Action bind_update(CLI::App& app) {
    struct Options {
        TargetOptions target;
        SourceOptions sources;
        ChangeOptions change;
        ReachOptions reach;
        WishOptions wishes;
        bool all = false;
    };
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    add_check_option(app, options->change);
    add_reach_options(app, options->reach, ReachVerb::Update);
    add_wish_options(app, options->wishes);
    app.add_flag("-a,--all,--update-all", options->all, "update every package")
        ->excludes("--freeze-installed")
        ->excludes("--no-deps");
    app.footer(
        "Updates packages to the newest versions that fit. Python keeps its minor version unless "
        "python itself is named. A name alone replaces an earlier bound of the package, such as "
        "numpy=1.24; to update within the bound, give it again.\n"
        "\n"
        "  gpkg update -n ml numpy\n"
        "  gpkg update -n ml 'numpy=1.24'        # within this bound\n"
        "  gpkg update -n ml --all\n"
        "  gpkg update -n ml --all --check       # exit status 1 if there are updates\n"
        "  gpkg update -n ml python numpy --dry-run\n");

    return [options](Context& context) -> Result<int> {
        options->change.offline = options->sources.offline;
        GPKG_TRY(const auto path, existing_prefix(context, options->target, options->wishes));
        GPKG_TRY(auto wishes, read_wishes(context, options->wishes, options->sources));
        if (!wishes.files.empty())
            return fail(ErrorKind::Usage,
                        "a package file cannot be updated",
                        "to install it: gpkg install FILE");
        if (wishes.specs.empty() && wishes.accelerators.empty() && !options->all)
            return fail(ErrorKind::Usage,
                        "gpkg update: missing argument: SPEC",
                        fmt::format("to update every package: gpkg update {} --all{}",
                                    target_words(context, path),
                                    given_sources(context.arguments)));
        GPKG_CHECK(begin_change(context, path, options->change));
        GPKG_TRY(const auto prefix, Prefix::open(path));
        GPKG_TRY(const auto installed, prefix.records());

        auto request = change_request(std::move(wishes));
        request.prefix = path;
        for (auto& section : request.pip) section.upgrade = true;
        request.update_all = options->all;
        request.reach = options->reach;
        request.is_dry_run = options->change.dry_run;
        std::vector<MatchSpec> freed;
        if (options->all) {
            GPKG_TRY(freed, exact_builds_freed(prefix, installed));
            std::erase_if(freed, [&](const MatchSpec& spec) {
                return std::ranges::any_of(
                    request.specs, [&](const MatchSpec& other) { return other.name == spec.name; });
            });
            request.specs.insert(request.specs.end(), freed.begin(), freed.end());
        }
        for (const auto& spec : request.specs) {
            if (find_record(installed, spec.name) == nullptr)
                return pass(not_installed(spec.name,
                                          spec.name,
                                          installed,
                                          path,
                                          fmt::format("to install it: gpkg install {} {}{}",
                                                      target_words(context, path),
                                                      shell_word(spec.name),
                                                      given_sources(context.arguments))));
            request.update.push_back(spec.name);
        }
        GPKG_TRY(auto change, decide(context, options->sources, request));
        settle_freed(context, change, freed);
        if (options->all && installed.empty())
            change.if_nothing = fmt::format("{} has no packages", environment_name(context, path));
        else if (options->all)
            change.if_nothing =
                installed.size() == 1
                    ? "the only package is up to date"
                    : fmt::format("all {} packages are up to date", installed.size());
        else if (!request.update.empty())
            change.if_nothing = fmt::format("{} {} up to date",
                                            join_some(request.update, "and", request.update.size()),
                                            request.update.size() == 1 ? "is" : "are");
        // A pin or a bound excludes a newer version, as a note says.
        if (const auto& pinned = change.held_by_pins; !pinned.empty())
            change.if_nothing = fmt::format("nothing to do: {} {} pinned",
                                            join_some(pinned, "and"),
                                            pinned.size() == 1 ? "is" : "are");
        else if (!change.if_nothing.empty() && !change.notes.empty())
            change.if_nothing = "nothing to do: no newer version in the searched channels fits";
        return carry_out(context, std::move(change), options->change);
    };
}

}  // namespace gpkg::cli
