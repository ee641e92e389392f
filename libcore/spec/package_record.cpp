#include "libcore/spec/package_record.hpp"

#include <algorithm>

namespace gpkg {

const PackageRecord* find_record(const std::vector<PackageRecord>& records, std::string_view name) {
    const auto found = std::ranges::find(records, name, &PackageRecord::name);
    return found == records.end() ? nullptr : &*found;
}

}  // namespace gpkg
