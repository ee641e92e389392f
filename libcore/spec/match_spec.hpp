#pragma once

// A MatchSpec asks a question of one package record: "numpy >=1.26,<2",
// "conda-forge::python=3.12[build=*_cpython]". The grammar is CEP 29, with the bracket keys of CEP
// 43
// (`when`), 44 (`extras`) and 45 (`flags`). Choosing among records that match is the solver's
// business.

#include "libcore/spec/version_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct PackageRecord;

/// How one text field is compared (CEP 29): exact, glob (`*`) or `^regex$`, all without regard to
/// case. A malformed regex is refused by parse.
class StringMatcher {
public:
    static Result<StringMatcher> parse(std::string_view text);
    bool matches(std::string_view value) const;
    /// The text as given, in lower case unless it is a regex.
    const std::string& text() const;
    bool is_exact() const;
    friend bool operator==(const StringMatcher& a, const StringMatcher& b);
};

/// What a MatchSpec looks at in a record, all borrowed. `version` must point to the parsed form.
struct MatchTarget {
    std::string_view name;
    const Version* version = nullptr;
    std::string_view build;
    std::uint64_t build_number = 0;
    std::string_view channel;  ///< base URL
    std::string_view subdir;
    std::string_view fn;
    std::string_view url;
    std::string_view md5;
    std::string_view sha256;
    std::string_view license;
    std::string_view license_family;
    const std::vector<std::string>* track_features = nullptr;
    const std::vector<std::string>* flags = nullptr;
};

struct MatchSpec {
    std::string
        name;  ///< lower case; "*" matches any name; other globs and ^regex$ are in name_matcher
    std::optional<StringMatcher> name_matcher;  ///< set only when the name is a glob or a regex
    std::optional<VersionSpec> version;         ///< an absent part matches anything
    std::optional<StringMatcher> build;
    std::optional<VersionSpec> build_number;  ///< "3" or ">=3", asked of the number as a version
    std::optional<std::string> channel;       ///< a name, a URL, or a glob, without subdir
    std::optional<std::string> subdir;
    // ... fn, url, md5, sha256, license, license_family, track_features, features
    std::vector<std::string> extras;  ///< CEP 44
    std::vector<std::string> flags;   ///< CEP 45: globs, each must match a flag of the record
    std::optional<std::string> when;  ///< CEP 43: the condition, still text

    /// Reads every form CEP 29 allows. The error quotes the text and marks the column.
    static Result<MatchSpec> parse(std::string_view text);

    /// Everything but `extras` and `when`, which are not properties of one record.
    bool matches(const MatchTarget& target) const;
    bool matches(const PackageRecord& record) const;

    /// The canonical form of CEP 29 appendix A: parse(to_string()) gives back an equal spec.
    std::string to_string() const;

    friend bool operator==(const MatchSpec&, const MatchSpec&) = default;
};

}  // namespace gpkg
