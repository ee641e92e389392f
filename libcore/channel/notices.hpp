#pragma once

// What the owners of channels tell their users (CEP 6): notices.json at a channel's root. It is
// kept in the cache of indexes, asked for with validators; that a channel has none is believed for
// a day. Nothing is decided by what they say, and nobody has signed it.

#include "libcore/channel/channel.hpp"
#include "libcore/net/get.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct Notice {
    std::string id;               ///< unique in its channel
    std::string message;          ///< a stranger's text
    std::string level;            ///< info, warning or critical
    std::int64_t created_at = 0;  ///< seconds since 1970; 0: it does not say
    std::int64_t expires_at = 0;
};

/// What such a file says. An entry without a message is none; one without an id is known by its
/// message.
Result<std::vector<Notice>> read_notices(std::string_view bytes, const std::string& what);

/// How long an answer, be it that there are none, is believed.
inline constexpr std::int64_t kNoticesHold = std::int64_t{24} * 3600;

/// Whether the channel was asked less than so many seconds ago.
bool has_fresh_notices(const Channel& channel,
                       const fs::path& cache,
                       std::int64_t now,
                       std::int64_t hold = kNoticesHold);

/// Asks every channel, and keeps what they answer. An error for each that gave no answer.
std::vector<Error> ask_for_notices(Transport& transport,
                                   std::span<const Channel> channels,
                                   const fs::path& cache,
                                   std::int64_t now,
                                   const TransferOptions& options);

/// Of what is kept, or lies in a local channel, that which has not expired.
Result<std::vector<Notice>> kept_notices(const Channel& channel,
                                         const fs::path& cache,
                                         std::int64_t now);

/// Which notices were shown: kept beside the cache until they expire.
class SeenNotices {
public:
    SeenNotices(const fs::path& cache, std::int64_t now);
    bool has(const Channel& channel, const Notice& notice) const;
    void add(const Channel& channel, const Notice& notice);
    /// Does nothing where none was added.
    Result<void> save() const;

private:
    fs::path file_;
    std::int64_t now_;
    std::map<std::string, std::int64_t> until_;  ///< by a digest of channel and id
    bool is_changed_ = false;
};

}  // namespace gpkg
