#pragma once

// The run_exports that a channel publishes beside its index (CEP 12): a builder heeds these rather
// than those in the package, because a channel can mend them (CEP 21). They decide what is built
// with what, so that of a signed channel they are what its statement lists, or none. What is
// fetched is kept in the cache of indexes, for --offline.

#include "libcore/channel/fetch_index.hpp"
#include "libcore/channel/trusted_channel.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gpkg {

struct PackageRecord;

class PublishedRunExports {
public:
    /// Of `options` shards and sizes do not matter, and `trust` stands in place of theirs.
    PublishedRunExports(Transport& transport, IndexOptions options, TrustOptions trust);
    ~PublishedRunExports();

    /// The package's run_exports as JSON text; nothing where the channel does not tell them, and
    /// those in the package are all there is.
    Result<std::optional<std::string>> of(const Channel& channel, const PackageRecord& record);

private:
    struct Table;
    Result<std::shared_ptr<const Table>> table_of(const Channel& channel,
                                                  const std::string& subdir);
    Result<std::string> fetch(const Channel& channel, const std::string& subdir);
    Result<std::string> ask(const Channel& channel, const std::string& subdir);
    Result<std::string> ask_signed(TrustedChannel& trusted,
                                   const Channel& channel,
                                   const std::string& subdir);

    Transport& transport_;
    IndexOptions options_;
    TrustOptions trust_;
    std::map<std::string, std::shared_ptr<const Table>> tables_;  ///< by the subdir's URL
};

}  // namespace gpkg
