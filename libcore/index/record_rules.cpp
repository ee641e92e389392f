#include "libcore/fs/file.hpp"
#include "libcore/index/fields_internal.hpp"
#include "libcore/index/record_rules_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::repodata {
namespace {

constexpr std::size_t kLongestPart = 256;

/// fn == name-version-build.extension, without making that text for each record.
bool is_own_file(const IndexRecord& record, std::string_view fn) {
    const auto take = [&](std::string_view part) {
        const bool is_next = fn.starts_with(part);
        if (is_next) fn.remove_prefix(part.size());
        return is_next;
    };
    return take(record.name) && take("-") && take(record.version) && take("-") &&
           take(record.build) && fn == (record.is_conda ? ".conda" : ".tar.bz2");
}

}  // namespace

std::string fault_of(const IndexRecord& record, std::string_view fn) {
    if (record.name.empty()) refuse(fmt::format("{}: has no name", fn));
    if (record.version.empty()) refuse(fmt::format("{}: has no version", fn));
    for (const auto part : {record.name, record.version, record.build}) {
        if (part.find_first_of("/\\ \n") != std::string_view::npos || part.size() > kLongestPart)
            refuse(
                fmt::format("{}: '{}' can be no name, version or build", fn, part.substr(0, 200)));
    }
    const auto prints = [](char c) { return c > ' ' && c < '\x7f'; };
    if (!is_package_name(record.name))
        return fmt::format("'{}' is not a package name", record.name);
    if (!std::all_of(record.version.begin(), record.version.end(), prints))
        return fmt::format("'{}' is not a version", record.version);
    if (!is_build_string(record.build))
        return fmt::format("'{}' is not a build string", record.build);
    if (!is_own_file(record, fn))
        return fmt::format("the record is that of {}-{}-{}{}",
                           record.name,
                           record.version,
                           record.build,
                           record.is_conda ? ".conda" : ".tar.bz2");
    for (const auto& extra : record.extras) {
        if (!is_extra_name(extra.group))
            return fmt::format("'{}' is not a name of extras", extra.group);
    }
    for (const auto flag : record.flags) {
        if (!is_flag(flag)) return fmt::format("'{}' is not a flag", flag);
    }
    return {};
}

void check_file_name(std::string_view fn, std::string_view extension, std::string_view map) {
    if (!is_safe_relative(fn) || fn.find('/') != std::string_view::npos)
        refuse(fmt::format("{}: '{}' is no file name", map, fn.substr(0, 200)));
    if (!fn.ends_with(extension))
        refuse(fmt::format("{}: '{}' does not end in {}", map, fn, extension));
}

}  // namespace gpkg::repodata
