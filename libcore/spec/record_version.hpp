#pragma once

// The version of a record as it is compared.

#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

namespace gpkg {

/// As version of a virtual package: it meets every lower bound, `__cuda >=12.4` and any other. For
/// requests that no machine's age is to restrict.
inline constexpr std::string_view kAnyVersion = "any";

/// Reads the record's version. "any" of a virtual package is above all versions there are; of
/// __glibc, above all of its major version 2.
Result<Version> version_of(const PackageRecord& record);

/// The same of the record of that name, such as a machine's virtual package; nothing where there is
/// none, or where it cannot be read.
std::optional<Version> find_version(const std::vector<PackageRecord>& records,
                                    std::string_view name);

/// What a machine's virtual package tells of it: its version, but of __archspec the build, which is
/// the CPU's name (CEP 30).
std::string_view value_told(const PackageRecord& virtual_package);

/// The flag of a virtual package whose value gpkg assumes: nobody detected it or gave it.
inline constexpr std::string_view kAssumedFlag = "assumed";
bool is_assumed(const PackageRecord& virtual_package);

/// " (assumed)" for a value that gpkg assumes, to stand behind it; else empty.
std::string_view assumed_mark(const PackageRecord& virtual_package);

}  // namespace gpkg
