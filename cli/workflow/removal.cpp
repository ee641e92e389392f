#include "cli/workflow/removal.hpp"

#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/change_report.hpp"
#include "cli/workflow/link_scripts.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <fmt/format.h>
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

bool is_same_place(const fs::path& a, const fs::path& b) {
    std::error_code code;
    return a == b || fs::equivalent(a, b, code);
}

}  // namespace

Result<void> check_removable(const Context& context, const fs::path& path) {
    if (is_same_place(path, context.config.root_prefix.value))
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: is the root prefix, which holds all environments", path.native()));
    if (const auto inside = environments_inside(path); !inside.empty())
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: holds {}, {}",
                                path.native(),
                                inside.size() == 1 ? "another environment"
                                                   : "other environments, one of them",
                                inside.front().native()),
                    "remove what is inside first");
    if (const auto active = context.env("CONDA_PREFIX");
        active && !active->empty() && is_same_place(path, *active))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: is the active environment", path.native()),
                    "gpkg deactivate, then run the command again");
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
    for (const auto& spec : specs) {
        GPKG_TRY(const auto matching, find_installed(spec, kept, path));
        std::transform(
            named.begin(), named.end(), matching.begin(), named.begin(), std::logical_or<>());
    }
    const auto before = graph_of(kept);
    auto leaving = before.all_needing(named);
    GPKG_TRY(const auto history, prefix.history());
    const auto wishes = requested_by_name(history);
    // What was there for the sake of others; what nobody needed before has its own reasons. Where a
    // dependency was asked for later, other tools write that into the history alone.
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
    for (const auto& spec : specs) {
        if (spec.has_one_name()) change.removed_specs.push_back(spec.to_string());
    }
    // Then what is there for nobody's sake any more. In rounds, because with what leaves conditions
    // cease to hold and extras to be asked for.
    while (std::find(leaving.begin(), leaving.end(), true) != leaving.end()) {
        move_marked(kept, leaving, change.unlink);
        std::vector<bool> staying(kept.size());
        for (std::size_t place = 0; place < kept.size(); ++place)
            staying[place] = !may_leave.contains(kept[place].name());
        leaving = graph_of(kept).all_needed_by(std::move(staying));
        leaving.flip();
    }
    std::sort(change.unlink.begin(), change.unlink.end(), [](const auto& a, const auto& b) {
        return a.name() < b.name();
    });
    // Requested packages that match a pattern, or that need what is named, are not requested any
    // more.
    for (const auto& record : change.unlink) {
        const bool is_named = std::ranges::any_of(
            specs, [&](const MatchSpec& spec) { return spec.name == record.name(); });
        if (!is_named && wishes.contains(record.name()))
            change.removed_specs.push_back(record.name());
    }
    GPKG_TRY(const auto state, prefix.state());
    change.state = state_without(state, change.unlink);
    return change;
}

Result<int> remove_environment(Context& context,
                               const fs::path& path,
                               const ChangeOptions& options) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_CHECK(check_removable(context, path));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(path));
    GPKG_TRY(auto installed, prefix.records());
    auto& out = context.out;
    out.print(
        fmt::format("  {} and its {} packages will be removed", path.native(), installed.size()));
    if (!options.dry_run) {
        if (!options.yes && !out.confirm("\nProceed?", context.stop))
            return fail(ErrorKind::Interrupted, "nothing was changed");
        auto how = transaction_options(context, options);
        GPKG_CHECK(settle_link_scripts(context, options, path, how));
        GPKG_CHECK(remove_and_unlist(context, path, how, std::nullopt));
    }
    if (out.json_mode()) {
        auto unlink = nlohmann::ordered_json::array();
        for (const auto& record : installed) unlink.push_back(to_json(record.package));
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
