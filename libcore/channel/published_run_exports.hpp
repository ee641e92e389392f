#pragma once

// The run_exports that a channel publishes beside its index (CEP 12): a builder heeds these rather
// than those in the package, because a channel can mend them (CEP 21).

#include "libcore/channel/channel.hpp"
#include "libcore/net/get.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gpkg {

struct PackageRecord;

class PublishedRunExports {
public:
    /// What is fetched is kept in `cache`; `offline`, only what is there counts.
    PublishedRunExports(Transport& transport, fs::path cache, bool offline, std::stop_token stop);
    ~PublishedRunExports();

    /// The package's run_exports as JSON text; nothing where the channel does not tell them, and
    /// those in the package are all there is.
    Result<std::optional<std::string>> of(const Channel& channel, const PackageRecord& record);

private:
    struct Table;
    Result<std::shared_ptr<const Table>> table_of(const Channel& channel,
                                                  const std::string& subdir);
    Result<std::string> fetch(const Channel& channel, const std::string& subdir);

    Transport& transport_;
    fs::path cache_;
    bool offline_;
    std::stop_token stop_;
    std::map<std::string, std::shared_ptr<const Table>> tables_;  ///< by the subdir's URL
};

}  // namespace gpkg
