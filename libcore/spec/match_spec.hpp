#pragma once

// A MatchSpec asks a question of one package record: "numpy >=1.26,<2",
// "conda-forge::python=3.12[build=*_cpython]". The grammar is CEP 29, with the bracket keys of
// CEP 43 (`when`), 44 (`extras`) and 45 (`flags`). Choosing among records that match is the
// solver's business.

#include "libcore/spec/string_matcher.hpp"
#include "libcore/spec/version_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct PackageRecord;

/// What a MatchSpec looks at in a record, all borrowed. `version` must point to the parsed form.
struct MatchTarget {
    std::string_view name{};
    const Version* version = nullptr;
    std::string_view build{};
    std::uint64_t build_number = 0;
    std::string_view channel{};  ///< base URL
    std::string_view subdir{};
    std::string_view fn{};
    std::string_view url{};
    std::string_view md5{};
    std::string_view sha256{};
    std::string_view license{};
    std::string_view license_family{};
    const std::vector<std::string>* track_features = nullptr;
    const std::vector<std::string>* flags = nullptr;
};

struct MatchSpec {
    /// Texts longer than this are refused.
    static constexpr std::size_t kLongest = 16384;

    /// Lower case, as written for a glob or a regex; "*" matches any name.
    std::string name;
    std::optional<StringMatcher> name_matcher;  ///< set only when the name is a glob or a regex
    std::optional<VersionSpec> version;         ///< an absent part matches anything
    std::optional<StringMatcher> build;
    std::optional<VersionSpec> build_number;  ///< "3" or ">=3", asked of the number as a version
    std::optional<std::string> channel;       ///< a name, a URL, or a glob, without subdir
    std::optional<std::string> subdir;        ///< a subdir or a glob
    std::optional<StringMatcher> fn;
    std::optional<StringMatcher> url;  ///< set when the text was the URL or path of a package file
    std::optional<StringMatcher> md5;
    std::optional<StringMatcher> sha256;
    std::optional<StringMatcher> license;
    std::optional<StringMatcher> license_family;
    std::vector<std::string> track_features;  ///< the record must have them all
    std::vector<std::string> extras;          ///< CEP 44
    std::vector<std::string> flags;   ///< CEP 45: globs, each must match a flag of the record
    std::optional<std::string> when;  ///< CEP 43: the condition, still text

    /// Reads every form CEP 29 allows. The error quotes the text and marks the column.
    static Result<MatchSpec> parse(std::string_view text);

    /// Everything but `extras` and `when`, which are not properties of one record.
    bool matches(const MatchTarget& target) const;
    /// False for a record whose version is not a version.
    bool matches(const PackageRecord& record) const;
    /// The same of one whose version is known already.
    bool matches(const PackageRecord& record, const Version& parsed) const;

    /// The canonical form of CEP 29 appendix A: parse(to_string()) gives back an equal spec.
    std::string to_string() const;

    /// False for "*", globs and regexes, which ask for packages of several names.
    bool has_one_name() const { return name != "*" && !name_matcher; }
    /// False for globs and regexes, of which several channels may be, and where none is asked for.
    bool has_one_channel() const;

    friend bool operator==(const MatchSpec&, const MatchSpec&) = default;
};

/// The name that a spec asks for, read no further than that takes, which of most is their first
/// word. Empty where it asks for several names or cannot be read.
std::string name_in_spec(std::string_view spec);

/// Whether `asked`, the channel of a MatchSpec, means the channel with this base URL: a URL or an
/// absolute path is compared whole; a name with the last components of the URL's path; a glob or a
/// regex with either.
bool channel_matches(std::string_view asked, std::string_view base_url);

}  // namespace gpkg
