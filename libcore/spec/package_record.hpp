#pragma once

// One build of one package, as repodata (CEP 36) or a lock describes it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct PackageRecord {
    std::string name;
    std::string version;  ///< as written; Version::parse reads it
    std::string build;    ///< the build string
    std::uint64_t build_number = 0;
    std::string subdir;                   ///< "linux-64", "noarch": of the index it came from
    std::string channel;                  ///< base URL without subdir and trailing slash
    std::string fn;                       ///< file name with extension
    std::string url;                      ///< of the artifact
    std::string md5;                      ///< lowercase hex; empty when the index has none
    std::string sha256;                   ///< lowercase hex; empty when the index has none
    std::uint64_t size = 0;               ///< of the artifact in bytes; 0 when unknown
    std::int64_t timestamp = 0;           ///< of the build, Unix milliseconds; 0 when unknown
    std::int64_t indexed_timestamp = 0;   ///< CEP 47, Unix milliseconds; 0 when unknown
    std::vector<std::string> depends;     ///< MatchSpecs
    std::vector<std::string> constrains;  ///< MatchSpecs
    std::map<std::string, std::vector<std::string>> extra_depends;  ///< CEP 44: group -> MatchSpecs
    std::vector<std::string> flags;                                 ///< CEP 45
    std::vector<std::string> track_features;
    std::string noarch;                                    ///< "", "generic" or "python"
    std::optional<std::string> python_site_packages_path;  ///< CEP 17, on `python` only
    std::string license;
    std::string license_family;
    std::optional<std::string> legacy_bz2_md5;
    std::optional<std::uint64_t> legacy_bz2_size;

    /// name-version-build (CEP 26), which also names the folder a package is unpacked to.
    std::string distribution() const { return name + "-" + version + "-" + build; }

    friend bool operator==(const PackageRecord&, const PackageRecord&) = default;
};

/// The first of that name; null where there is none.
const PackageRecord* find_record(const std::vector<PackageRecord>& records, std::string_view name);

}  // namespace gpkg
