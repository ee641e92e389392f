#include "cli/workflow/removal.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/confirm.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/record_text.hpp"
#include "cli/workflow/requested.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/lost_changes.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/unowned_files.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

void move_marked(std::vector<PrefixRecord>& from,
                 const std::vector<bool>& marked,
                 std::vector<PrefixRecord>& to) {
    std::vector<PrefixRecord> rest;
    for (std::size_t place = 0; place < from.size(); ++place)
        (marked[place] ? to : rest).push_back(std::move(from[place]));
    from = std::move(rest);
}

/// Files of the environment that belong to the user: those of no package, without what pip
/// installed, and those of packages that were changed.
std::vector<std::string> files_of_user(const fs::path& prefix,
                                       const std::vector<PrefixRecord>& installed) {
    std::vector<std::string> files;
    const bool has_pip_packages = !pip_packages(prefix, installed).empty();
    // What cannot be read is not named; removing it fails with the reason.
    if (auto unowned = unowned_files(prefix, installed)) {
        files = *std::move(unowned);
        std::erase_if(files, [&](const std::string& path) {
            return has_pip_packages &&
                   (path.find("/site-packages/") != std::string::npos || path.starts_with("bin/"));
        });
    }
    for (const auto& record : installed) {
        for (const auto& entry : record.paths) {
            if (is_changed(prefix, record, entry).value_or(false)) files.push_back(entry.path);
        }
    }
    return files;
}

/// "requested: numpy and torch", "2 files of yours: a and b".
std::vector<std::string> losses_with_environment(const fs::path& prefix,
                                                 const std::vector<PrefixRecord>& installed) {
    std::vector<std::string> losses;
    if (const auto requested = requested_in(prefix, installed); requested && !requested->empty()) {
        std::vector<std::string> names;
        for (const auto& [name, specs] : *requested) names.push_back(name);
        losses.push_back("requested: " + join_some(names, "and", kMostNames));
    }
    std::vector<std::string> wheels;
    for (const auto& wheel : pip_packages(prefix, installed)) wheels.push_back(wheel.name);
    if (!wheels.empty())
        losses.push_back("installed with pip: " + join_some(wheels, "and", kMostNames));
    if (const auto files = files_of_user(prefix, installed); !files.empty())
        losses.push_back(fmt::format(
            "{} of yours: {}", count_text(files.size(), "file"), join_some(files, "and", 5)));
    return losses;
}

/// "3 packages from ml (requested: numpy)"
std::string with_details(const std::string& what, const std::vector<std::string>& details) {
    return details.empty() ? what : fmt::format("{} ({})", what, fmt::join(details, "; "));
}

bool is_same_place(const fs::path& a, const fs::path& b) {
    std::error_code code;
    return a == b || fs::equivalent(a, b, code);
}

}  // namespace

Result<void> check_removable(const Context& context, const fs::path& path) {
    if (is_same_place(path, context.config.root_prefix.value))
        return fail(
            ErrorKind::Conflict,
            fmt::format("cannot remove {}: the root prefix holds all environments", path.native()));
    if (const auto inside = environments_inside(path); !inside.empty())
        return fail(ErrorKind::Conflict,
                    fmt::format("cannot remove {}: it contains {} {}",
                                path.native(),
                                inside.size() == 1 ? "the environment" : "environments, such as",
                                inside.front().native()),
                    "remove the inner environment first");
    if (const auto active = context.env("CONDA_PREFIX");
        active && !active->empty() && is_same_place(path, *active))
        return fail(ErrorKind::Conflict,
                    fmt::format("cannot remove {}: it is the active environment", path.native()),
                    "run gpkg deactivate, then the command again");
    return {};
}

Result<void> remove_and_unlist(const Context& context,
                               const fs::path& path,
                               const TransactionOptions& how,
                               std::optional<PrefixLock> lock) {
    // The list of environments may know one that goes by a link under its own path.
    std::error_code code;
    const auto real = fs::canonical(path, code);
    GPKG_CHECK(remove_prefix(path, how, std::move(lock)));
    GPKG_CHECK(unregister_environment(path, context.home));
    return code ? Result<void>() : unregister_environment(real, context.home);
}

Result<Change> removal(const fs::path& path, const std::vector<MatchSpec>& specs) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(auto kept, prefix.records());
    std::vector<bool> named(kept.size());
    GPKG_TRY(const auto history, prefix.history());
    const auto wishes = requested_by_name(history);
    // What was requested with a condition need not be there to be requested no more.
    const auto is_only_wished = [&](const MatchSpec& spec) {
        const auto wish = wishes.find(spec.name);
        return wish != wishes.end() && !wish->second.empty() &&
               find_record(kept, spec.name) == nullptr && MatchSpec::parse(wish->second.front()) &&
               MatchSpec::parse(wish->second.front())->when;
    };
    for (const auto& spec : specs) {
        if (is_only_wished(spec)) continue;
        GPKG_TRY(const auto matching, find_installed(spec, kept, path));
        std::transform(
            named.begin(), named.end(), matching.begin(), named.begin(), std::logical_or<>());
    }
    std::set<std::string> matched;
    for (std::size_t place = 0; place < kept.size(); ++place) {
        if (named[place]) matched.insert(kept[place].name());
    }
    const auto before = graph_of(kept);
    auto leaving = before.all_needing(named);
    // Only dependencies may be removed along with the named packages; a package that nothing needed
    // before stays. For a dependency that is requested later, other tools change only the history.
    std::vector<bool> roots(kept.size());
    for (std::size_t place = 0; place < kept.size(); ++place)
        roots[place] = !kept[place].requested_specs.empty() ||
                       wishes.contains(kept[place].name()) || before.needed_by(place).empty();
    const auto held = before.all_needed_by(roots);
    std::set<std::string> may_leave;
    for (std::size_t place = 0; place < kept.size(); ++place) {
        if (held[place] && !roots[place]) may_leave.insert(kept[place].name());
    }

    Change change;
    change.prefix = path;
    change.is_removal = true;
    for (const auto& spec : specs) {
        if (spec.has_one_name()) change.removed_specs.push_back(spec.to_string());
    }
    for (std::size_t place = 0; place < kept.size(); ++place) {
        if (!leaving[place] || named[place]) continue;
        const auto& needs = before.needs(place);
        const auto need = std::ranges::find_if(
            needs, [&](const Need& one) { return static_cast<bool>(leaving[one.to]); });
        if (need != needs.end())
            change.removal_reasons[kept[place].name()] = "needs " + kept[need->to].name();
    }
    const auto note_unneeded = [&] {
        for (std::size_t place = 0; place < kept.size(); ++place) {
            if (leaving[place]) change.removal_reasons[kept[place].name()] = "no longer needed";
        }
    };
    // Then dependencies that nothing needs any more. In rounds: without the removed packages,
    // conditions may no longer hold and extras no longer be requested.
    while (std::find(leaving.begin(), leaving.end(), true) != leaving.end()) {
        move_marked(kept, leaving, change.unlink);
        std::vector<bool> staying(kept.size());
        for (std::size_t place = 0; place < kept.size(); ++place)
            staying[place] = !may_leave.contains(kept[place].name());
        leaving = graph_of(kept).all_needed_by(std::move(staying));
        leaving.flip();
        note_unneeded();
    }
    std::sort(change.unlink.begin(), change.unlink.end(), [](const auto& a, const auto& b) {
        return a.name() < b.name();
    });
    // Requested packages that match a pattern, or that need a named one, are not requested any
    // more.
    for (const auto& record : change.unlink) {
        const bool has_spec = std::ranges::any_of(
            specs, [&](const MatchSpec& spec) { return spec.name == record.name(); });
        if (has_spec || !wishes.contains(record.name())) continue;
        auto& names = matched.contains(record.name()) ? change.removed_specs : change.removed_along;
        names.push_back(record.name());
    }
    GPKG_TRY(const auto state, prefix.state());
    change.state = state_without(state, change.unlink);
    return change;
}

Result<void> confirm_removal(Context& context,
                             const std::string& what,
                             const std::vector<std::string>& details,
                             Loss loss) {
    const auto named = with_details(what, details);
    Error unconfirmed{ErrorKind::Usage,
                      fmt::format("not confirmed: removing {}", named),
                      fmt::format("{}; add -y to remove without a question (always: gpkg config "
                                  "set always_yes true)",
                                  context.out.json_mode() ? "--json asks no questions"
                                                          : "standard input is not a terminal"),
                      {}};
    return confirm(context,
                   {fmt::format("\nRemove {}?", named), loss == Loss::No, std::move(unconfirmed)});
}

Result<int> remove_environment(Context& context,
                               const fs::path& path,
                               const ChangeOptions& options) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_CHECK(check_removable(context, path));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(path));
    GPKG_TRY(auto installed, prefix.records());
    auto& out = context.out;
    const auto name = environment_name(context, path);
    const auto what = fmt::format("environment {}{} with {}",
                                  name,
                                  name == path.native() ? "" : fmt::format(" at {}", path.native()),
                                  count_text(installed.size(), "package"));
    if (options.dry_run || !out.yes()) {
        const auto losses = losses_with_environment(path, installed);
        if (options.dry_run)
            out.print(fmt::format("this would remove {}\ndry run: nothing was changed",
                                  with_details(what, losses)));
        else if (out.can_ask())
            out.note(
                fmt::format("note: a removed environment cannot be restored; to be able to create "
                            "it again: gpkg env "
                            "export {} > {}.yml",
                            target_words(context, path),
                            shell_word(path.filename().native())));
        if (!options.dry_run) GPKG_CHECK(confirm_removal(context, what, losses, Loss::Yes));
    }
    if (!options.dry_run) {
        auto how = transaction_options(context, options);
        GPKG_CHECK(settle_link_scripts(context, options, path, how));
        GPKG_CHECK(remove_and_unlist(context, path, how, std::nullopt));
        out.print("removed " + what);
    }
    if (out.json_mode()) {
        auto unlink = nlohmann::ordered_json::array();
        for (const auto& record : installed) unlink.push_back(record_json(record.package));
        out.json({{"success", true},
                  {"dry_run", options.dry_run},
                  {"prefix", path.native()},
                  {"actions",
                   {{"FETCH", nlohmann::ordered_json::array()},
                    {"LINK", nlohmann::ordered_json::array()},
                    {"UNLINK", std::move(unlink)},
                    {"PREFIX", path.native()}}}});
    }
    return 0;
}

}  // namespace gpkg::cli
