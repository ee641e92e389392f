#pragma once

// What the readers of repodata.json and of shards have in common: how they refuse, which keys and
// values mean what, what they tell. Nothing here knows JSON or msgpack.

#include "libcore/index/index_record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace gpkg::repodata {

/// Of a text in a record; a longer one is refused.
inline constexpr std::size_t kLongestText = 1U << 20U;
/// Of what a document is refused for, and of the first record that is left out.
inline constexpr std::size_t kLongestReason = 500;

/// Why a document is refused.
struct Malformed {
    std::string reason;
    bool is_newer = false;  ///< nothing is wrong with it but that this gpkg is too old
};

[[noreturn]] void refuse(std::string reason);

/// The keys of a record that mean something here.
enum class Key : std::uint8_t {
    Build,
    BuildNumber,
    Constrains,
    Depends,
    ExtraDepends,
    Flags,
    IndexedTimestamp,
    License,
    LicenseFamily,
    Md5,
    Name,
    Noarch,
    PythonSitePackagesPath,
    Sha256,
    Size,
    Timestamp,
    TrackFeatures,
    Version,
    Other,
};

/// Quick, being asked for each key of each record.
Key key_of(std::string_view key);

/// Milliseconds since 1970 of a number that stands for a time: old records hold seconds, some with
/// fractions. Refuses what can be no time.
std::int64_t moment_in(std::string_view key, double number);
/// `size` bytes that were written in hex, borrowed from `raw`; empty for an empty text.
std::string_view digest_in(std::string_view key,
                           std::string_view hex,
                           std::size_t size,
                           std::string& raw);
/// The features in one text, with commas or spaces between (CEP 34).
void split_features(std::string_view text, std::vector<std::string_view>& into);
Noarch noarch_named(std::string_view kind);

/// Refuses a key that stands in a map twice: which of the two counts would be the reader's choice.
/// The keys outlive it.
class OnlyOnce {
public:
    explicit OnlyOnce(std::string_view where) : where_(where) {}
    void operator()(std::string_view key);

private:
    std::string_view where_;
    std::vector<std::string_view> few_;
    std::unordered_set<std::string_view> many_;
};

/// Counts the records that the rules forbid, and remembers the first.
class LeftOutRecords {
public:
    void add(std::string_view fn, std::string_view why);
    /// In one line; nothing where there are none.
    std::optional<std::string> note() const;

private:
    std::size_t count_ = 0;
    std::string first_;
};

/// CEP 48: that records of a newer form are left out.
std::string note_on_newer(std::string_view form, std::uint64_t count, std::string_view message);

}  // namespace gpkg::repodata
