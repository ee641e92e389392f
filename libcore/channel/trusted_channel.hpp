#pragma once

// A channel whose indexes have to be signed: what the user trusts, what was seen of it, and the
// statement that lies there now. docs/explanation/trust.md.
//
// What was seen, the newest root and the highest version of a statement, is kept in a folder that
// is no cache: with it gone, an old statement could be shown as new.

#include "libcore/channel/channel.hpp"
#include "libcore/net/get.hpp"
#include "libcore/trust/index_statement.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gpkg {

struct CachedState;

struct TrustOptions {
    fs::path folder;                           ///< of what was seen
    std::map<std::string, ChannelRoot> roots;  ///< what is trusted, by the channel's base URL
    std::map<std::string, std::string> names;  ///< of these channels in trusted_keys, by base URL
    std::string config_option;  ///< of gpkg config for the file of trusted_keys: "--user ", or ""
};

/// A statement that was verified, and as it came.
struct SignedIndexes {
    IndexStatement statement;
    std::string bytes;

    /// That a file of the subdir has a checksum that is signed; `url` ends in the file's name.
    Result<void> check(std::string_view subdir,
                       const std::string& url,
                       std::string_view sha256) const;
};

class TrustedChannel {
public:
    /// Null where nobody says that the channel is signed.
    static std::unique_ptr<TrustedChannel> of(const Channel& channel,
                                              const TrustOptions* options,
                                              std::int64_t now);
    TrustedChannel(Channel channel,
                   const ChannelRoot& pinned,
                   const TrustOptions& options,
                   std::int64_t now);

    /// The statement that the channel has now, verified; roots are followed as far as it takes.
    Result<std::shared_ptr<const SignedIndexes>> fetch(Transport& transport,
                                                       const TransferOptions& options);
    /// The one that a cached copy was kept with, which may be older than others that were seen:
    /// that it still counts, and that by it `covers` the copy.
    Result<void> check_kept(const CachedState& copy,
                            const std::function<bool(const IndexStatement&)>& covers) const;
    /// The newest root that was followed.
    const ChannelRoot& root() const { return root_; }
    /// That the newest version cannot be remembered; empty as a rule.
    const std::string& warning() const { return warning_; }

private:
    void load();
    void save();
    Result<std::string> get_file(const std::string& file,
                                 std::size_t most,
                                 Transport& transport,
                                 const TransferOptions& options) const;
    Result<IndexStatement> verify(const std::string& bytes,
                                  Transport& transport,
                                  const TransferOptions& options);
    std::string url_of(const std::string& file) const { return channel_.base_url() + "/" + file; }

    Channel channel_;
    std::string name_;  ///< in trusted_keys
    std::string config_option_;
    std::string pinned_;  ///< a digest of what the user trusts: other keys begin anew
    fs::path file_;
    std::int64_t now_;
    ChannelRoot root_;
    std::uint64_t version_ = 0;  ///< the highest that was seen
    std::string warning_;
};

}  // namespace gpkg
