#pragma once

// Which keys count for a channel: a chain of roots, trust/root.N.json in the channel. Each names
// the keys that sign the next root, and those that sign the statements of what the indexes are; it
// is signed as its forerunner and as itself demand. Who trusts one of them can follow the chain to
// the newest, so that keys can be replaced without a word to the users. A small part of TUF.

#include "libcore/trust/signed_text.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpkg {

inline constexpr std::size_t kLargestRoot = std::size_t{64} << 10U;
/// Of roots that are followed at a time.
inline constexpr std::uint64_t kLongestChain = 64;

struct ChannelRoot {
    std::uint64_t version = 0;  ///< 0: keys that a user trusts by themselves
    SigningRole root;           ///< signs the next
    SigningRole index;          ///< signs statements
    std::int64_t expires = 0;   ///< seconds since 1970; 0: never

    /// What is signed.
    std::string to_text() const;
    /// Reads a text that was verified, or whose own keys tell whether it is.
    static Result<ChannelRoot> parse(std::string_view text, const std::string& what);

    Result<void> check_not_expired(std::int64_t now, const std::string& what) const;

    friend bool operator==(const ChannelRoot&, const ChannelRoot&) = default;
};

/// "trust/root.3.json", in the channel.
std::string root_file(std::uint64_t version);

/// What a user trusts: public keys, each of which may sign everything, or the path of one root.
Result<ChannelRoot> trusted_root(std::span<const std::string> keys_or_file,
                                 const std::string& what);

/// The root in `bytes`, which has to be the one after `current`, signed by the keys of both.
Result<ChannelRoot> next_root(const ChannelRoot& current,
                              std::string_view bytes,
                              const std::string& what);

}  // namespace gpkg
