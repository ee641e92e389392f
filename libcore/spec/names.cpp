#include "libcore/spec/names.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/names_internal.hpp"
#include "libcore/spec/version_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::size_t kLongestBuild = 64;
constexpr std::size_t kLongestSubdir = 32;
constexpr std::size_t kLongestLabel = 128;
constexpr std::size_t kLongestChannelComponent = 128;
constexpr std::size_t kLongestExtra = 64;
constexpr std::size_t kLongestFileName = 211;

// The platforms that conda's tools build for; a channel may have others.
constexpr std::array<std::string_view, 22> kSubdirs{"noarch",        "emscripten-wasm32",
                                                    "freebsd-64",    "linux-32",
                                                    "linux-64",      "linux-aarch64",
                                                    "linux-armv6l",  "linux-armv7l",
                                                    "linux-loong64", "linux-ppc",
                                                    "linux-ppc64",   "linux-ppc64le",
                                                    "linux-riscv32", "linux-riscv64",
                                                    "linux-s390x",   "osx-64",
                                                    "osx-arm64",     "wasi-wasm32",
                                                    "win-32",        "win-64",
                                                    "win-arm64",     "zos-z"};

constexpr auto kVirtualPackages = std::to_array<std::string_view>({"__amdgpu",
                                                                   "__amdgpu_arch",
                                                                   "__archspec",
                                                                   "__conda",
                                                                   "__cuda",
                                                                   "__cuda_arch",
                                                                   "__freebsd",
                                                                   "__glibc",
                                                                   "__gpkg",
                                                                   "__linux",
                                                                   "__osx",
                                                                   "__rocm",
                                                                   "__unix",
                                                                   "__win"});
constexpr auto kSystems = std::to_array<std::string_view>({"__linux", "__osx", "__unix", "__win"});

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower_alnum(char c) { return is_lower(c) || is_digit(c); }
bool is_alnum(char c) { return is_lower_alnum(c) || is_upper(c); }
bool is_separator(char c) { return c == '-' || c == '.' || c == '_'; }

bool fits(std::string_view text, std::size_t longest) {
    return !text.empty() && text.size() <= longest;
}

template <typename Test>
bool all_of(std::string_view text, Test test) {
    return std::all_of(text.begin(), text.end(), test);
}

/// Letters and digits with single separators; a separator may stand at the end.
bool is_name_body(std::string_view text) {
    bool after_separator = false;
    for (const char c : text) {
        if (!is_lower_alnum(c) && (!is_separator(c) || after_separator)) return false;
        after_separator = is_separator(c);
    }
    return true;
}

bool is_flag_like(std::string_view text, bool with_globs) {
    const auto is_part = [&](std::string_view part) {
        return !part.empty() && all_of(part, [&](char c) {
            return is_lower_alnum(c) || c == '_' || (with_globs && c == '*');
        });
    };
    const auto colon = text.find(':');
    return is_part(text.substr(0, colon)) &&
           (colon == std::string_view::npos || is_part(text.substr(colon + 1)));
}

}  // namespace

bool is_package_name(std::string_view text) {
    if (!fits(text, kLongestPackageName)) return false;
    return (is_lower_alnum(text.front()) || text.front() == '_') && is_name_body(text);
}

bool is_virtual_package_name(std::string_view text) {
    return fits(text, kLongestPackageName) && text.size() > 2 && text.starts_with("__") &&
           is_lower_alnum(text[2]) && is_name_body(text.substr(2));
}

bool is_known_virtual_package(std::string_view name) {
    return std::ranges::find(kVirtualPackages, name) != kVirtualPackages.end();
}

std::span<const std::string_view> known_virtual_packages() { return kVirtualPackages; }

bool is_system_package(std::string_view name) {
    return std::ranges::find(kSystems, name) != kSystems.end();
}

bool is_build_string(std::string_view text) {
    return fits(text, kLongestBuild) &&
           all_of(text, [](char c) { return is_alnum(c) || c == '_' || c == '.' || c == '+'; });
}

bool is_subdir(std::string_view text) {
    if (!fits(text, kLongestSubdir)) return false;
    if (text == "noarch") return true;
    const auto dash = text.find('-');
    return dash != 0 && dash != std::string_view::npos && dash + 1 < text.size() &&
           all_of(text.substr(0, dash), is_lower_alnum) &&
           all_of(text.substr(dash + 1), is_lower_alnum);
}

bool is_label(std::string_view text) {
    return fits(text, kLongestLabel) && (is_lower(text.front()) || is_upper(text.front())) &&
           all_of(text, [](char c) { return is_alnum(c) || is_separator(c) || c == '/'; });
}

bool is_channel_component(std::string_view text) {
    return fits(text, kLongestChannelComponent) &&
           (is_lower_alnum(text.front()) || text.front() == '_') &&
           all_of(text, [](char c) { return is_lower_alnum(c) || is_separator(c); });
}

bool is_extra_name(std::string_view text) {
    return fits(text, kLongestExtra) &&
           all_of(text, [](char c) { return is_lower_alnum(c) || is_separator(c) || c == '+'; });
}

bool is_flag(std::string_view text) { return is_flag_like(text, false); }
bool is_flag_pattern(std::string_view text) { return is_flag_like(text, true); }

std::span<const std::string_view> known_subdirs() { return kSubdirs; }

bool is_known_subdir(std::string_view text) {
    return std::find(kSubdirs.begin(), kSubdirs.end(), text) != kSubdirs.end();
}

std::string_view package_extension(std::string_view text) {
    if (text.ends_with(".conda")) return "conda";
    if (text.ends_with(".tar.bz2")) return "tar.bz2";
    return {};
}

namespace grammar {

Parsed<FileName> read_file_name(std::string_view text) {
    const auto extension = package_extension(text);
    if (extension.empty()) return fault(text.size(), "a package file ends in .conda or .tar.bz2");
    if (text.size() > kLongestFileName)
        return fault(kLongestFileName,
                     fmt::format("a file name has at most {} characters", kLongestFileName));
    const auto stem = text.substr(0, text.size() - extension.size() - 1);
    const auto last = stem.rfind('-');
    const auto middle =
        last == std::string_view::npos || last == 0 ? last : stem.rfind('-', last - 1);
    if (last == std::string_view::npos || last == 0 || middle == std::string_view::npos)
        return fault(stem.size(), "a package file must be named NAME-VERSION-BUILD");
    const auto name = stem.substr(0, middle);
    const auto version = stem.substr(middle + 1, last - middle - 1);
    const auto build = stem.substr(last + 1);
    if (name.empty()) return fault(0, "no package name before '-'");
    if (build.empty()) return fault(last + 1, "no build string after '-'");
    if (!is_package_name(name)) return fault(0, fmt::format("'{}' is not a package name", name));
    if (auto read = read_version(version); !read) return moved(std::move(read).error(), middle + 1);
    if (!is_build_string(build))
        return fault(last + 1, fmt::format("'{}' is not a build string", build));
    return FileName{
        std::string(name), std::string(version), std::string(build), std::string(extension)};
}

}  // namespace grammar

Result<FileName> FileName::parse(std::string_view text) {
    auto read = grammar::read_file_name(text);
    if (!read) return grammar::refuse(text, read.error());
    return *std::move(read);
}

}  // namespace gpkg
