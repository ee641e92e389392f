#pragma once

// Carrying out the links of a plan. All paths were checked when it was made.

#include "libcore/env/link_plan_internal.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// Folders first, then files, several at a time; pre-link scripts before the files of their
/// package. Fills in sha256 and link types. `foreign` gets paths that somebody else made meanwhile:
/// they are not ours to remove.
Result<void> link_files(Disk& disk,
                        Plan& plan,
                        const TransactionOptions& options,
                        TransactionReport& report,
                        std::vector<std::string>& foreign);

/// Compiles the plan's .pyc files with the environment's python. What cannot be compiled is a
/// warning.
Result<void> compile_files(Disk& disk,
                           const Plan& plan,
                           const TransactionOptions& options,
                           TransactionReport& report);

/// What conda-meta will say of a linked package.
PrefixRecord installed_record(const PackagePlan& package);

}  // namespace gpkg
