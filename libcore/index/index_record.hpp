#pragma once

// One record on its way from whatever form a channel offers it in to a ChannelIndex.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gpkg {

enum class Noarch : std::uint8_t { No, Generic, Python };

/// Everything borrowed; the texts must live until the record was added.
struct IndexRecord {
    /// CEP 44: a group and the specs it adds.
    struct Extra {
        std::string_view group;
        std::vector<std::string_view> specs;
    };

    std::string_view name;
    std::string_view version;
    std::string_view build;
    bool is_conda = true;  ///< the artifact is NAME-VERSION-BUILD.conda, else .tar.bz2
    bool is_v3 = false;    ///< it comes from the v3 part (CEP 48), which wins over the other
    Noarch noarch = Noarch::No;
    std::uint64_t build_number = 0;
    std::uint64_t size = 0;              ///< of the artifact, bytes; 0 when unknown
    std::int64_t timestamp = 0;          ///< Unix milliseconds; 0 when unknown
    std::int64_t indexed_timestamp = 0;  ///< likewise (CEP 47)
    std::string_view md5;                ///< 16 raw bytes, or empty
    std::string_view sha256;             ///< 32 raw bytes, or empty
    std::string_view license;
    std::string_view license_family;
    std::optional<std::string_view> python_site_packages_path;  ///< CEP 17
    std::vector<std::string_view> depends;                      ///< MatchSpecs
    std::vector<std::string_view> constrains;                   ///< MatchSpecs
    std::vector<Extra> extras;
    std::vector<std::string_view> flags;  ///< CEP 45
    std::vector<std::string_view> track_features;

    /// As new, but with the memory of the lists kept.
    void clear();
};

}  // namespace gpkg
