#include "libcore/spec/record_version.hpp"

#include "libcore/spec/names.hpp"

namespace gpkg {

Result<Version> version_of(const PackageRecord& record) {
    // The epoch decides before anything else, and nobody has this one.
    constexpr std::string_view kHighest = "99999999999999999!0";
    const bool is_any = record.version == kAnyVersion && is_virtual_package_name(record.name);
    return Version::parse(is_any ? kHighest : record.version);
}

}  // namespace gpkg
