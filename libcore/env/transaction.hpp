#pragma once

// Changing what is installed in a prefix, all of it or nothing.
//
// At every instant, also after kill -9 or on a full disk, a prefix is the old environment, the new
// one, or holds a journal from which recover() makes one of the two. The journal is the folder
// conda-meta/.gpkg-transaction; a transaction passes these points, and the file named at each tells
// how far it came:
//
//   plan.json   written and synced before anything else. Lists every path that will leave, every
//               path that will come, every folder that will be made or taken away.
//   old/<n>     each leaving or replaced file is renamed to here. Nothing is deleted.
//   linking     marks that all of old/ is complete. Only now new files appear at their places.
//   records/    conda-meta records, complete, beside the old ones, which still stand.
//   committed   written and synced: the turning point.
//               Then records/ is renamed into conda-meta, the records of removed packages and the
//               folders left empty go, the history gets its block, plan.json is removed (which ends
//               the transaction), and the rest of the journal is swept away.
//
// Without `committed` recovery goes back: with `linking` all that came is removed (it is ours: the
// plan was checked against what was there), then `linking` itself, then old/<n> returns. With
// `committed` it goes forward; each of those steps can be repeated. A prefix that did not exist is
// staged under a neighbouring name until its plan is written, and going back removes it whole.
// Recovery can itself be killed. What link scripts do outside the package's own files is theirs,
// and not undone.
//
// Linked files are not synced: what a failing machine loses of them verify finds, and repair puts
// back. The newest generation, which has all records, is.

#include "libcore/env/prefix.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/spec/package_record.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// A package to be linked.
struct LinkRequest {
    PackageRecord record;  ///< from the freshest index; what conda-meta will say
    fs::path unpacked;     ///< the store's folder, with info/ in it
    std::vector<std::string> requested_specs{};
};

/// An installed package that stays, and of which its record says other things from now on.
struct Rewrite {
    std::string name;
    std::optional<std::vector<std::string>> requested_specs{};
    /// What it needs and constrains, where its channel has mended that (CEP 21).
    std::optional<PackageRecord> mended{};
};

enum class LinkMethod {
    /// On a file system known for reflinks (btrfs, xfs, bcachefs) these: what writes into a file of
    /// the environment does not change the store. Else hard link; copy where neither works.
    Auto,
    HardLink,  ///< or fail
    Reflink,   ///< or fail
    Copy,
};

/// What a transaction will cost the prefix.
struct TransactionCost {
    std::uint64_t files = 0;  ///< paths that will be linked, generated ones included
    std::uint64_t new_inodes = 0;
    /// In blocks, that hard links and reflinks do not share with the store.
    std::uint64_t new_bytes = 0;
    std::uint64_t removed_files = 0;
    std::vector<std::string> warnings{};  ///< clobbered paths, changed files that will be removed
    std::vector<std::string> notes{};     ///< quotas that are nearly used up with this
};

struct TransactionOptions {
    LinkMethod link = LinkMethod::Auto;
    bool override_frozen = false;
    bool compile_pyc = true;  ///< false: not compiled and not recorded
    bool check_room = true;   ///< refuse what the file system has no room for
    unsigned threads = 2;
    std::chrono::milliseconds lock_wait = std::chrono::seconds(60);
    fs::path root_prefix{};  ///< ROOT_PREFIX of link scripts; may be empty
    /// Link scripts that are not run, by their path in the prefix (link_scripts.hpp).
    std::set<std::string, std::less<>> refused_scripts{};
    /// Asked now and then, from any thread; true: roll back and return Interrupted.
    std::function<bool()> cancelled{};
    /// Called once when another process holds the lock, with its name; then waiting begins.
    std::function<void(const std::string& holder)> waiting{};
    /// Called from one thread at a time with a stage ("linking") and how much of it is done.
    std::function<void(std::string_view stage, std::size_t done, std::size_t total)> progress{};
    /// Called once when it is known what will come, before the first change; an error ends it
    /// there.
    std::function<Result<void>(const TransactionCost& cost)> planned{};
    /// Called when all is linked, before that is final: for what belongs to no package and comes
    /// along. An error takes everything back; of an existing prefix, not what this made.
    std::function<Result<void>()> completing{};
    /// Told by remove_prefix(), which has no report: what failed and is no reason to stop.
    std::function<void(const std::string& warning)> warn{};
    /// For tests: called before every change to the file system, from any thread; a number that is
    /// not 0 is taken for the errno of that change, which then does not happen.
    std::function<int(std::string_view change, const fs::path& path)> fault{};
};

struct Transaction {
    fs::path prefix;  ///< absolute; for a new environment nothing or an empty folder
    /// The path that linked files name as their prefix, where that is not `prefix`: for an
    /// environment that is used where it is seen under another path.
    fs::path named_prefix{};
    bool creates =
        false;  ///< it was decided for a prefix that was no environment; Conflict if it is
    std::vector<PrefixRecord> unlink;  ///< dependents first
    std::vector<LinkRequest> link;     ///< dependencies first
    std::vector<Rewrite> rewrite{};
    /// Added and removed are filled in here, and the time where none is said.
    HistoryEntry history{};
    std::optional<GpkgState> state{};
    EnvVarChanges variables{};  ///< to those that the environment has
    /// The bits of a mode of those who may not read the variables; nor may those who may not read
    /// what is there already.
    unsigned variables_kept_from = 0;
    std::uint64_t restores = 0;  ///< the generation that this goes back to; else 0
    /// The environment whose history and generations a new one has, to which this adds nothing.
    fs::path continues{};
    /// Files of no package that are in the way of arriving ones go; else they are an error.
    bool replaces_unowned = false;

    const fs::path& prefix_in_files() const { return named_prefix.empty() ? prefix : named_prefix; }
};

/// "auto", "hardlink", "reflink", "copy".
std::optional<LinkMethod> link_method_of(std::string_view word);

struct TransactionReport {
    TransactionCost cost;
    std::uint64_t hard_linked = 0;
    std::uint64_t reflinked = 0;
    std::uint64_t copied = 0;  ///< because nothing better worked; the user should hear of it
    int copy_reason = 0;       ///< the errno that made it copy
    std::uint64_t copied_on_request = 0;  ///< LinkMethod::Copy or no_link
    std::uint64_t replaced = 0;           ///< written anew with this prefix in them
    std::uint64_t soft_linked = 0;
    std::uint64_t compiled = 0;
    std::vector<std::string> warnings;
    std::string messages;  ///< what link scripts left in .messages.txt
};

/// Checks everything that can be checked before the first change, and tells the cost. Changes
/// nothing.
Result<TransactionCost> preflight(const Transaction& transaction,
                                  const TransactionOptions& options);

/// Locks, recovers what an earlier process left, checks, and does it. On failure the prefix is as
/// it was before; the error says so where even that failed.
Result<TransactionReport> execute(const Transaction& transaction,
                                  const TransactionOptions& options);

enum class PrefixCondition {
    Settled,
    Busy,         ///< another process is at work on it
    Interrupted,  ///< recover() is needed
};
/// For commands that only read, which may want to say so. Of a prefix that is not there it tells
/// whether it is being made or removed under its hidden name.
PrefixCondition prefix_condition(const fs::path& prefix);

/// "/envs/e" of a folder beside it in which e is made or removed ("/envs/.e.gpkg-removed"); nothing
/// for other names.
std::optional<fs::path> prefix_of_rest(const fs::path& path);

/// Files that an interrupted or running transaction adds, relative to the prefix. They belong to no
/// installed package yet.
std::vector<std::string> unfinished_files(const fs::path& prefix);

/// The command line of an interrupted or running transaction; empty if it is unknown.
std::string unfinished_command(const fs::path& prefix);

enum class Recovery { Nothing, RolledBack, Completed };
/// Brings an interrupted prefix to the old or the new environment. Takes the lock. Every command
/// that changes a prefix calls this before it looks at what is installed.
Result<Recovery> recover(const fs::path& prefix, const TransactionOptions& options);

/// Where a journal cannot be read, nothing can be undone or completed by it. Gives it another name,
/// which is returned, with the files that it had taken out of the way. Nothing where it can be read
/// or there is none. Takes the lock.
Result<std::optional<fs::path>> set_damaged_journal_aside(const fs::path& prefix,
                                                          const TransactionOptions& options);

/// Removes an environment with everything in it: locks, recovers, runs the pre-unlink scripts of
/// its packages, renames it out of the way and deletes it. Until the rename it is whole; what is
/// left of it after that, recover() deletes. `lock`: where the caller has it already. Conflict
/// where something is mounted in it, which would be emptied.
Result<void> remove_prefix(const fs::path& prefix,
                           const TransactionOptions& options,
                           std::optional<PrefixLock> lock = std::nullopt);

/// True for packages that must be linked anew when python changes from `before` to `after`: noarch
/// python, when the minor version or the site-packages folder differs.
bool needs_relink(const PrefixRecord& record,
                  const PackageRecord& before,
                  const PackageRecord& after);

}  // namespace gpkg
