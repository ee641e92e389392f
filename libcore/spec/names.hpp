#pragma once

// What names, build strings, subdirs, labels and file names may look like (CEP 26). The rules are
// those of the CEP's regular expressions, checked character by character.

#include "libcore/base/error.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace gpkg {

inline constexpr std::size_t kLongestPackageName = 64;

/// "numpy", "_libgcc_mutex"; not "__glibc", which is a virtual package.
bool is_package_name(std::string_view text);
/// "__glibc", "__cuda": a package that describes the machine.
bool is_virtual_package_name(std::string_view text);
/// One that CEP 30 or 46, conda or gpkg gives a meaning to. Its versions are numbers.
bool is_known_virtual_package(std::string_view name);
std::span<const std::string_view> known_virtual_packages();
/// "__linux", "__unix": which of them are there, the platform decides.
bool is_system_package(std::string_view name);
/// Letters, digits, '_', '.', '+'; never '-', which separates it from the version in file names.
bool is_build_string(std::string_view text);
/// "noarch", or platform and architecture: "linux-64".
bool is_subdir(std::string_view text);
bool is_label(std::string_view text);
/// One component of a channel's path: "conda-forge".
bool is_channel_component(std::string_view text);
/// CEP 44: the name of a group of extra dependencies.
bool is_extra_name(std::string_view text);
/// CEP 45: a flag of a record, "cuda" or "blas:mkl".
bool is_flag(std::string_view text);
/// A flag as a MatchSpec asks for it, where '*' stands for any run of characters.
bool is_flag_pattern(std::string_view text);

/// The subdirs that channels are searched for; only these end a channel in "channel/subdir::name".
std::span<const std::string_view> known_subdirs();
bool is_known_subdir(std::string_view text);

/// The extension that the text ends with, "conda" or "tar.bz2"; empty when it has neither.
std::string_view package_extension(std::string_view text);

/// `<name>-<version>-<build>.<extension>`, the name of a package file.
struct FileName {
    std::string name;
    std::string version;
    std::string build;
    std::string extension;  ///< "conda" or "tar.bz2"

    /// Reads from the right: names contain '-', versions and builds never do.
    static Result<FileName> parse(std::string_view text);

    /// name-version-build, which also names the folder a package is unpacked to.
    std::string distribution() const { return name + "-" + version + "-" + build; }

    friend bool operator==(const FileName&, const FileName&) = default;
};

}  // namespace gpkg
