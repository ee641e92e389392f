#include "libcore/env/disk_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/env/order.hpp"
#include "libcore/env/transaction.hpp"

namespace gpkg {
Result<void> remove_prefix(const fs::path& prefix, const TransactionOptions& options) {
    GPKG_CHECK(recover(prefix, options));
    if (!options.override_frozen) GPKG_CHECK(check_not_frozen(prefix));
    GPKG_TRY(auto lock,
             PrefixLock::acquire(prefix, {options.lock_wait, options.cancelled, options.waiting}));
    GPKG_TRY(auto disk, Disk::open(prefix, options.fault));
    GPKG_TRY(auto installed, read_records(prefix));
    for (const auto& record : dependents_first(std::move(installed)))
        GPKG_CHECK(run_package_script(disk, record, "pre-unlink", options));
    if (options.cancelled && options.cancelled())
        return fail(ErrorKind::Interrupted, "interrupted");
    // Renamed first: whatever happens next, there is no half environment under the name.
    GPKG_TRY(auto grave, TemporaryFolder::make(prefix.parent_path(), ".gpkg-removed-"));
    const auto buried = grave.path() / "environment";
    GPKG_CHECK(rename_path(prefix, buried));
    lock.moved_to(buried);
    lock.release();
    return remove_tree(grave.path());
}

}  // namespace gpkg
