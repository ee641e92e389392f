#include "cli/workflow/removal.hpp"

#include "cli/workflow/change_report.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

/// Names of installed packages, and who of them needs whom.
class Dependencies {
public:
    explicit Dependencies(const std::vector<PrefixRecord>& installed) {
        for (const auto& record : installed) {
            auto& needs = needs_[record.name()];
            for (const auto& text : record.package.depends) {
                const auto spec = MatchSpec::parse(text);
                if (spec && find_record(installed, spec->name) != nullptr) needs.insert(spec->name);
            }
        }
    }

    /// `start` and all that they need, directly or not, without stepping on `barred`.
    std::set<std::string> needed_by(const std::set<std::string>& start,
                                    const std::set<std::string>& barred) const {
        std::set<std::string> reached;
        std::vector<std::string> queue(start.begin(), start.end());
        while (!queue.empty()) {
            auto name = std::move(queue.back());
            queue.pop_back();
            if (barred.contains(name) || !reached.insert(name).second) continue;
            const auto found = needs_.find(name);
            if (found != needs_.end())
                queue.insert(queue.end(), found->second.begin(), found->second.end());
        }
        return reached;
    }

    /// `start` and all that need them, directly or not.
    std::set<std::string> needing(std::set<std::string> start) const {
        for (bool grown = true; grown;) {
            grown = false;
            for (const auto& [name, needs] : needs_) {
                const bool hit = std::any_of(needs.begin(), needs.end(), [&](const auto& need) {
                    return start.contains(need);
                });
                if (hit && start.insert(name).second) grown = true;
            }
        }
        return start;
    }

private:
    std::map<std::string, std::set<std::string>> needs_;
};

Result<std::set<std::string>> named(const std::vector<PrefixRecord>& installed,
                                    const std::vector<MatchSpec>& specs,
                                    const fs::path& path) {
    std::set<std::string> names;
    for (const auto& spec : specs) {
        bool found = false;
        for (const auto& record : installed) {
            if (!spec.matches(record.package)) continue;
            found = true;
            names.insert(record.name());
        }
        if (found) continue;
        std::vector<std::string> all;
        all.reserve(installed.size());
        for (const auto& record : installed) all.push_back(record.name());
        const auto near = near_names(spec.name, all);
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: matches nothing installed in {}", spec.to_string(), path.native()),
            near.empty() ? "gpkg list shows what is installed"
                         : fmt::format("did you mean {}?", join_or(near)));
    }
    return names;
}

bool is_same_place(const fs::path& a, const fs::path& b) {
    std::error_code code;
    return a == b || fs::equivalent(a, b, code);
}

/// Not what holds other environments, and not what the user's shell stands in.
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

}  // namespace

Result<Change> removal(const fs::path& path, const std::vector<MatchSpec>& specs) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto installed, prefix.records());
    GPKG_TRY(const auto names, named(installed, specs, path));
    const Dependencies dependencies(installed);
    auto leaving = dependencies.needing(names);

    // Orphans: what the leaving needed, and nobody who stays, and nobody asked for.
    const auto candidates = dependencies.needed_by(leaving, {});
    std::set<std::string> roots;
    for (const auto& record : installed) {
        if (leaving.contains(record.name())) continue;
        if (!record.requested_specs.empty() || !candidates.contains(record.name()))
            roots.insert(record.name());
    }
    const auto needed = dependencies.needed_by(roots, leaving);
    for (const auto& name : candidates) {
        if (!needed.contains(name)) leaving.insert(name);
    }

    Change change;
    change.prefix = path;
    for (const auto& spec : specs) change.removed_specs.push_back(spec.to_string());
    for (const auto& record : installed) {
        if (leaving.contains(record.name())) change.unlink.push_back(record);
    }
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
        GPKG_CHECK(remove_prefix(path, transaction_options(context, options)));
        GPKG_CHECK(unregister_environment(path, context.home));
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
