#pragma once

// What gpkg lock and its verbs have in common.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/lock/locking.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/lock/lock_format.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli::locks {

inline constexpr const char* kUsualName = "gpkg.lock";

Action bind_check(CLI::App& app);
Action bind_repair(CLI::App& app);
Action bind_convert(CLI::App& app);

/// The lock file; what it warns of goes to the user.
Result<ReadLock> read(Context& context, const std::string& file);

/// Of which packages classes have different versions, and why: for people, and in --json.
void tell_divergences(Output& out, const std::vector<Divergence>& divergences);
nlohmann::ordered_json json_of(const std::vector<Divergence>& divergences);

/// Of what is asked of pip: it is not locked.
void warn_of_pip(Context& context, const std::vector<std::string>& requirements);

/// An error for a name that other tools' lock files have: what is written is gpkg's own.
Result<void> check_own_name(const std::string& output);

/// Writes a class for every answer that there could be.
struct ForAllOptions {
    SourceOptions sources;
    WishOptions wishes;
    std::string output;
    bool dry_run = false;
};
Result<int> write_for_all(Context& context, const ForAllOptions& options);

}  // namespace gpkg::cli::locks
