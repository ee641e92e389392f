#pragma once

// From records to unpacked packages: what the store lacks is downloaded, verified and unpacked,
// several at a time, unpacking while others are still on their way.

#include "cli/context.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/package/store.hpp"
#include "libcore/spec/package_record.hpp"

#include <vector>

namespace gpkg::cli {

/// The store of this configuration, with its read-only layers.
PackageStore open_store(const Context& context);

/// Which of the records must be downloaded.
std::vector<PackageRecord> missing(const PackageStore& store,
                                   const std::vector<PackageRecord>& records);

/// The URL of the package with what its channel's credentials are.
std::string url_with_credentials(const PackageRecord& record, const std::vector<Channel>& channels);

struct FetchOptions {
    /// What the store lacks and only a server has is an error that names it.
    bool offline = false;
    bool records_are_bare = false;           ///< see StoreAddOptions::record_is_bare
    std::shared_ptr<Allowance> allowance{};  ///< see UnpackOptions
    std::string if_gone{};                   ///< what mends it where a file is not there: a hint
};

/// Makes every record available and gives the folders, in the order of the records. `channels` know
/// the credentials.
Result<std::vector<fs::path>> make_available(Context& context,
                                             const PackageStore& store,
                                             const std::vector<PackageRecord>& records,
                                             const std::vector<Channel>& channels,
                                             const FetchOptions& how);

}  // namespace gpkg::cli
