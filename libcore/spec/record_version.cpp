#include "libcore/spec/record_version.hpp"

#include "libcore/spec/names.hpp"

#include <algorithm>

namespace gpkg {

Result<Version> version_of(const PackageRecord& record) {
    if (record.version != kAnyVersion || !is_virtual_package_name(record.name))
        return Version::parse(record.version);
    // glibc has been 2 since 1997, and packages are made for that: "__glibc >=2.17,<3.0.a0". Else
    // the epoch decides before anything, and nobody has this one.
    return Version::parse(record.name == "__glibc" ? "2.99999999" : "99999999999999999!0");
}

std::optional<Version> find_version(const std::vector<PackageRecord>& records,
                                    std::string_view name) {
    const auto* found = find_record(records, name);
    if (found == nullptr) return std::nullopt;
    auto version = version_of(*found);
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

std::string_view value_told(const PackageRecord& virtual_package) {
    return virtual_package.name == "__archspec" ? virtual_package.build : virtual_package.version;
}

bool is_assumed(const PackageRecord& virtual_package) {
    const auto& flags = virtual_package.flags;
    return std::find(flags.begin(), flags.end(), kAssumedFlag) != flags.end();
}

std::string_view assumed_mark(const PackageRecord& virtual_package) {
    return is_assumed(virtual_package) ? " (assumed)" : "";
}

}  // namespace gpkg
