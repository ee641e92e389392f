#pragma once

// Which link scripts run: `link_scripts` of the configuration, --no-scripts, --allow-scripts. What
// is allowed once is remembered in the environment by the script's checksum.

#include "cli/workflow/change.hpp"

namespace gpkg::cli {

/// Asks where somebody is to be asked; refuses, before anything is changed, where nobody is. The
/// others are put into `how`, and told; what is allowed from now on into `transaction`.
Result<void> settle_link_scripts(Context& context,
                                 const ChangeOptions& options,
                                 Transaction& transaction,
                                 TransactionOptions& how);

/// The same for an environment that is removed.
Result<void> settle_link_scripts(Context& context,
                                 const ChangeOptions& options,
                                 const fs::path& prefix,
                                 TransactionOptions& how);

}  // namespace gpkg::cli
