#include "cli/workflow/locked_prefix.hpp"

#include "cli/workflow/change.hpp"

#include <chrono>
#include <utility>

namespace gpkg::cli {
namespace {

constexpr std::chrono::seconds kLockPatience{60};

}  // namespace

Result<LockedPrefix> lock_prefix(Context& context,
                                 const TargetOptions& target,
                                 bool override_frozen) {
    GPKG_TRY(const auto path, existing_prefix(context, target));
    if (!override_frozen) GPKG_CHECK(check_not_frozen(path));
    GPKG_CHECK(recover_existing(context, path, false));
    GPKG_TRY(auto prefix, Prefix::open(path));
    const auto how = transaction_options(context, {});
    GPKG_TRY(auto lock, PrefixLock::acquire(path, {kLockPatience, how.cancelled, how.waiting}));
    return LockedPrefix{std::move(prefix), std::move(lock)};
}

}  // namespace gpkg::cli
