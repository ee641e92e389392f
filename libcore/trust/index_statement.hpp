#pragma once

// What a channel's indexes are, signed: trust/indexes.json. One statement speaks of all subdirs, so
// that none can be left out, and of every index file by size and sha256. Of a file that is just
// being replaced it lists the new one and the one before.

#include "libcore/trust/channel_root.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

inline constexpr std::string_view kStatementFile = "trust/indexes.json";
inline constexpr std::size_t kLargestStatement = std::size_t{1} << 20U;

struct SignedFile {
    std::uint64_t size = 0;
    std::string sha256;
    friend bool operator==(const SignedFile&, const SignedFile&) = default;
};

struct IndexStatement {
    using Files = std::map<std::string, std::vector<SignedFile>, std::less<>>;

    std::uint64_t version = 0;  ///< rises with every index run
    std::uint64_t root = 0;     ///< the version of the root whose keys sign it
    std::int64_t made = 0;      ///< seconds since 1970
    std::int64_t expires = 0;
    std::map<std::string, Files, std::less<>> subdirs;

    /// What is signed.
    std::string to_text() const;
    static Result<IndexStatement> parse(std::string_view text, const std::string& what);

    /// Expired, or made in the future.
    Result<void> check_time(std::int64_t now, const std::string& what) const;
    /// The files of a subdir; null where the channel has no such subdir.
    const Files* files_of(std::string_view subdir) const;
};

/// Whether one of `files` of that name has this checksum.
bool lists(const IndexStatement::Files& files, std::string_view name, std::string_view sha256);

/// The statement in `bytes`, where it is signed as `root` demands. Its times are not looked at.
Result<IndexStatement> read_statement(const ChannelRoot& root,
                                      std::string_view bytes,
                                      const std::string& what);

}  // namespace gpkg
