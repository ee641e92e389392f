#pragma once

// Text spec files (CEP 23): one MatchSpec per line, or, with a line `@EXPLICIT`, one package file
// per line, which are then installed as they are and without a solver.

#include "libcore/base/env_lookup.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One line of an explicit file.
struct ExplicitPackage {
    std::string location;  ///< a URL, or an absolute path
    bool is_url = false;
    std::string fn;      ///< its last part, "numpy-2.1.0-py312h1_0.conda"
    std::string md5;     ///< lowercase hex; empty when not given
    std::string sha256;  ///< lowercase hex; empty when not given
    std::string place;   ///< "env.txt:4", for error messages

    friend bool operator==(const ExplicitPackage&, const ExplicitPackage&) = default;
};

struct SpecFile {
    bool is_explicit = false;
    Asked asked;                            ///< when not explicit
    std::vector<ExplicitPackage> packages;  ///< when explicit, in the order of the file
    std::string platform;                   ///< of the line "# platform: linux-64"; may be empty
    std::vector<std::string> warnings;
};

struct SpecFileOptions {
    /// Where the packages are to run. An explicit file made for another platform is refused, other
    /// files only earn a warning. Empty: not checked.
    std::string platform;
    fs::path home;  ///< stands for `~`
    /// Variables in explicit lines; where it is null, or knows none, they stay as written.
    EnvLookup env;
};

/// `where`, the file's name, begins every error: "env.txt:3: ...".
Result<SpecFile> parse_spec_file(std::string_view text,
                                 const std::string& where,
                                 const SpecFileOptions& options);

enum class ExplicitChecksum {
    Best,  ///< SHA-256, else MD5
    Md5,   ///< or none: for readers that know no other
};

/// An explicit file that installs exactly these records, dependencies first.
std::string explicit_file(const std::vector<PackageRecord>& records,
                          std::string_view platform,
                          ExplicitChecksum checksum = ExplicitChecksum::Best);

}  // namespace gpkg
