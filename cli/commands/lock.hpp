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
#include <string_view>
#include <vector>

namespace gpkg::cli::locks {

inline constexpr const char* kUsualName = "gpkg.lock";
/// The file whose packages are locked if none is named.
inline constexpr const char* kDefaultFile = "environment.yml";
bool has_default_file();
inline constexpr const char* kDryRun = "dry run: nothing was changed";

Action bind_check(CLI::App& app);
Action bind_list(CLI::App& app);
Action bind_update(CLI::App& app);
Action bind_repair(CLI::App& app);
Action bind_convert(CLI::App& app);

/// For verbs that take FILE NAME...: without FILE the first word is a package of gpkg.lock
/// (gpkg lock update numpy).
void take_file_as_name(std::string& file, std::vector<std::string>& names);

/// The same for verbs that decide again, FILE before names: Unsupported for other tools' locks.
Result<ReadLock> read_own(Context& context, const std::string& file, std::string_view verb);

/// In place of what was read from `file` where that is the output, too.
Result<void> write_changed(const ReadLock& read,
                           const LockFile& lock,
                           const std::string& file,
                           const std::string& output);

/// The context of a command whose own words tell the lock file, as what would help is told as that
/// command with more words behind it.
Context naming(const Context& context, const std::string& file);

/// Of which packages classes have different versions, and why: for people, and in --json.
void tell_divergences(Output& out, const std::vector<Divergence>& divergences);
nlohmann::ordered_json json_of(const std::vector<Divergence>& divergences);

/// What each class has and needs, with notes and divergences.
void tell_classes(Output& out, const LockedClasses& locked);
/// The same without the divergences.
nlohmann::ordered_json classes_json(const LockedClasses& locked);

/// A package of a class that both locks have, before and after; a null pointer where there is none.
struct Replaced {
    std::string of;  ///< the class
    const PackageRecord* before = nullptr;
    const PackageRecord* after = nullptr;
};
/// They are of these locks, which have to stay where they are.
std::vector<Replaced> changes_between(const LockFile& old, const LockFile& now);
void tell_changes(Output& out, const std::vector<Replaced>& changes);
nlohmann::ordered_json json_of(const std::vector<Replaced>& changes);

/// Of what is asked of pip: it is not locked.
void warn_of_pip(Context& context, const std::vector<std::string>& requirements);

/// Classes that are not what their own machine takes: a lock chooses by what a class needs and
/// brings, wherever it was decided.
std::vector<std::string> taken_elsewhere(const LockFile& lock);

/// An error for a name that other tools' lock files have, as what is written is gpkg's own, and for
/// what is no regular file.
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
