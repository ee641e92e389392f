#include "libcore/solve/solve.hpp"

#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <utility>

namespace gpkg {

Result<Constraint> same_version(const PackageRecord& record, std::string reason) {
    GPKG_TRY(auto version, version_of(record));
    Constraint same;
    same.spec.name = record.name;
    same.spec.version = VersionSpec::equal_to(std::move(version));
    same.reason = std::move(reason);
    return same;
}

bool Request::may_move(std::string_view name) const {
    return update_all || std::ranges::find(update, name) != update.end();
}

const Solution::NotRunning* Solution::find_not_running(std::string_view name) const {
    const auto found = std::ranges::find(not_running, name, &NotRunning::name);
    return found == not_running.end() ? nullptr : &*found;
}

}  // namespace gpkg
