#pragma once

// pre-link, post-link, pre-unlink and post-unlink scripts (CEP 34).

#include "libcore/env/disk_internal.hpp"
#include "libcore/env/transaction.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// "bin/.numpy-post-link.sh".
std::string link_script_path(std::string_view name, std::string_view action);

struct LinkScript {
    const PackageRecord* package = nullptr;
    std::string_view action;
    fs::path script;  ///< where it lies now
};

/// Runs it with the variables CEP 34 wants. Its output is kept away from ours and told only when it
/// fails.
Result<void> run_link_script(Disk& disk,
                             const LinkScript& script,
                             const TransactionOptions& options);

/// The pre-unlink script of an installed package, where it has one and it is still there. As with
/// conda, a script that fails (its interpreter may be gone) keeps no package from being removed:
/// `warn` is told.
Result<void> run_pre_unlink_script(Disk& disk,
                                   const PrefixRecord& record,
                                   const TransactionOptions& options,
                                   const std::function<void(const std::string& text)>& warn);

}  // namespace gpkg
