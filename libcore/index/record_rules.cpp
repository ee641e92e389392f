#include "libcore/index/reading_internal.hpp"
#include "libcore/index/record_rules_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::repodata {
namespace {

constexpr std::size_t kLongestPart = 256;

std::string_view extension_of(const IndexRecord& record) {
    return record.is_conda ? ".conda" : ".tar.bz2";
}

bool is_printable(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// fn == name-version-build.extension, without making that text for each record.
bool is_own_file(const IndexRecord& record, std::string_view fn) {
    const auto take = [&](std::string_view part) {
        const bool is_next = fn.starts_with(part);
        if (is_next) fn.remove_prefix(part.size());
        return is_next;
    };
    return take(record.name) && take("-") && take(record.version) && take("-") &&
           take(record.build) && fn == extension_of(record);
}

/// Of almost all records: nothing is wrong with what they are called.
bool is_well_named(const IndexRecord& record, std::string_view fn) {
    const auto is_plain = [](char c) { return c != '/' && c != '\\'; };
    return is_package_name(record.name) && !record.version.empty() &&
           record.version.size() <= kLongestPart && is_printable(record.version) &&
           std::all_of(record.version.begin(), record.version.end(), is_plain) &&
           is_build_string(record.build) && is_own_file(record, fn);
}

std::string fault_of_names(const IndexRecord& record) {
    if (record.name.empty()) return "the name is missing";
    if (record.version.empty()) return "the version is missing";
    const auto is_wrong = [](std::string_view part) {
        return part.find_first_of("/\\ \n") != std::string_view::npos || part.size() > kLongestPart;
    };
    for (const auto part : {record.name, record.version, record.build}) {
        if (is_wrong(part))
            return fmt::format("'{}' is not a valid name, version or build", part.substr(0, 200));
    }
    if (!is_package_name(record.name))
        return fmt::format("'{}' is not a package name", record.name);
    if (!is_printable(record.version)) return fmt::format("'{}' is not a version", record.version);
    if (!is_build_string(record.build))
        return fmt::format("'{}' is not a build string", record.build);
    return fmt::format("the record belongs to {}-{}-{}{}",
                       record.name,
                       record.version,
                       record.build,
                       extension_of(record));
}

}  // namespace

bool is_conda_file(std::string_view fn, std::string_view extension) {
    return fn.ends_with(".conda") || (extension == ".conda" && !fn.ends_with(".tar.bz2"));
}

std::string fault_of(const IndexRecord& record, std::string_view fn) {
    if (!is_well_named(record, fn)) return fault_of_names(record);
    for (const auto& extra : record.extras) {
        if (!is_extra_name(extra.group))
            return fmt::format("'{}' is not the name of an extra", extra.group);
    }
    for (const auto flag : record.flags) {
        if (!is_flag(flag)) return fmt::format("'{}' is not a flag", flag);
    }
    return {};
}

}  // namespace gpkg::repodata
