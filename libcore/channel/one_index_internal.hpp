#pragma once

// Getting the index of one subdir of one channel. fetch_indexes asks for all that it needs at once,
// in rounds: an answer either settles a subdir, or asks for another file.

#include "libcore/channel/early_records_internal.hpp"
#include "libcore/channel/fetch_index.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/channel/trusted_channel.hpp"
#include "libcore/net/get.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

/// The URL of the index of a subdir's shards.
std::string shards_url(const Channel& channel, std::string_view subdir);

/// Getting one (channel, subdir): what is cached, what to ask, what to make of the answer.
class OneIndex {
public:
    OneIndex(Transport& transport,
             const Channel& channel,
             std::string subdir,
             const IndexOptions& options,
             bool only_cached,
             std::int64_t now,
             const TrustedChannel* trust)
        : transport_(transport),
          options_(options),
          only_cached_(only_cached),
          now_(now),
          trust_(trust),
          whole_{{options.cache, channel.subdir_url(subdir)}, {}, false},
          shards_{{options.cache, shards_url(channel, subdir)}, {}, false} {
        result_.channel = channel;
        result_.subdir = std::move(subdir);
    }

    /// Settles it without the network where that is possible. True: done.
    Result<bool> settle_here();
    /// Of a signed channel what is there now is told first: nothing is read that it does not list.
    /// True: done.
    Result<bool> heed(std::shared_ptr<const SignedIndexes> told);
    /// What is there now cannot be learned.
    Result<void> go_without(Error error);
    GetRequest request();
    /// The answer to the last request. True: done; else there is another request.
    Result<bool> accept(Result<Response> response);
    FetchedIndex take() && { return std::move(result_); }

private:
    /// A file that may be asked for.
    struct Ask {
        std::string_view file;
        bool only_small = false;  ///< not wanted when it is larger than IndexOptions::small
    };
    struct Copy {
        IndexCache cache;
        CachedState state;
        bool is_usable = false;
        std::shared_ptr<const ChannelIndex> index{};  ///< made of it; null: not looked for, or none
    };

    Result<void> read_local();
    void load_cached();
    void load(Copy& copy);
    /// The one that answers as long as nothing new arrives.
    Copy& copy() { return shards_.is_usable ? shards_ : whole_; }
    const Copy& copy() const { return shards_.is_usable ? shards_ : whole_; }
    bool is_fresh(const CachedState& state) const;
    void use_cached();
    void plan();
    bool has_fallback() const;
    void give_up_on(std::string_view file);
    bool keep_copy(const Error& error);
    bool keep_any_copy(const Error& error);
    bool is_covered(const IndexStatement& statement) const;
    Result<void> check_kept() const;
    Result<void> check_told(const std::string& url, std::string_view sha256) const;
    Result<void> copy_local();
    void note_missing();
    Result<bool> accept_failure(Error error);
    Result<bool> ask_next(Error error);
    Result<bool> store(const Response& response);
    void save_state();
    bool is_believed(std::int64_t absent_at) const;
    std::string file_url_of(std::string_view file) const {
        return result_.channel.subdir_url(result_.subdir) + "/" + std::string(file);
    }

    Transport& transport_;  ///< prepared as soon as a cached copy is found to be stale
    const IndexOptions& options_;
    bool only_cached_;  ///< nobody may be asked
    std::int64_t now_;
    const TrustedChannel* trust_;                ///< null: nobody says that it is signed
    std::shared_ptr<const SignedIndexes> told_;  ///< what is there now
    Copy whole_;                                 ///< its state also knows what the server lacks
    Copy shards_;                                ///< of their index
    std::optional<CachedState> lost_shards_;     ///< of the copy, once the server had none
    std::vector<Ask> asks_;                      ///< what is left to ask for, in this order
    std::optional<Error> no_index_;              ///< why an answer was not an index
    fs::path incoming_;
    std::shared_ptr<EarlyRecords> early_;  ///< of what is arriving
    FetchedIndex result_;
};

}  // namespace gpkg
