#pragma once

// An environment on disk, read (CEP 32, CEP 22): installed packages, history, pins, the frozen
// marker, variables, and gpkg's own state. What changes installed packages is transaction.hpp.

#include "libcore/env/history.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/file.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// What gpkg remembers of an environment, in conda-meta/gpkg/state.json: other tools
/// take every *.json beside the records for one. Keys unknown here survive.
struct GpkgState {
    /// What further packages are for: none, nvidia, amd, auto or conda. Empty: never said, or one
    /// of several of which no package shows yet which it is.
    std::string accelerator{};
    /// Where several were asked for: all of them, the first to be tried first.
    std::vector<std::string> accelerator_asked{};
    std::map<std::string, std::string> package_accelerators{};  ///< by package name
    /// Link scripts that the user allowed: their sha256 by package name.
    std::map<std::string, std::vector<std::string>> link_scripts{};
    /// By their URLs in the order of priority, where somebody named others than are configured, or
    /// in another order.
    std::vector<std::string> channels{};
    std::string unknown_keys{};  ///< a JSON object with what else was written there; may be empty

    /// Fails also where what is said of accelerators makes no sense.
    static Result<GpkgState> parse(std::string_view text, std::string_view what);
    std::string to_json() const;

    friend bool operator==(const GpkgState&, const GpkgState&) = default;
};

/// That file, relative to conda-meta.
inline constexpr std::string_view kStateFile = "gpkg/state.json";

/// The variables of an environment, relative to the prefix.
inline constexpr std::string_view kVariablesFile = "conda-meta/state";

class Prefix {
public:
    /// True when `path` has conda-meta/history, be it empty.
    static bool is_environment(const fs::path& path);
    /// NotFound when it is no environment.
    static Result<Prefix> open(const fs::path& path);

    const fs::path& path() const { return path_; }
    fs::path meta() const { return path_ / "conda-meta"; }

    /// Every installed package, sorted by name. A damaged record is an error that names its file.
    Result<std::vector<PrefixRecord>> records() const;
    Result<std::vector<HistoryEntry>> history() const;
    /// Specs of conda-meta/pinned, comments and empty lines left out.
    Result<std::vector<std::string>> pinned_specs() const;
    /// The variables that conda-meta/state sets; those that it only marks as unset are left out.
    Result<std::map<std::string, std::string>> env_vars() const;

    Result<GpkgState> state() const;
    Result<void> write_state(const GpkgState& state) const;

private:
    explicit Prefix(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

/// NoEnvironment about `path`, which may be a folder of another kind.
Error no_environment(const fs::path& path, std::string message, std::string hint);

/// Refuses to change a frozen environment (CEP 22), with the message its marker holds. Works on any
/// folder: one that is no environment is not frozen.
Result<void> check_not_frozen(const fs::path& prefix);

/// What `conda env config vars unset` writes in place of a value: activation unsets the variable.
inline constexpr std::string_view kUnsetVariable = "***unset***";

/// Values by name; nothing: the variable is set no more.
using EnvVarChanges = std::map<std::string, std::optional<std::string>>;

/// The text of conda-meta/state once these changes are made to what is there.
Result<std::string> with_env_vars(const fs::path& prefix, const EnvVarChanges& changes);

/// Writes that text. Needs the prefix's lock.
Result<void> change_env_vars(const fs::path& prefix, const EnvVarChanges& changes);

/// The files of all records in `prefix`/conda-meta, in no order.
Result<std::vector<fs::path>> record_files(const fs::path& prefix);

/// Every record in `prefix`/conda-meta, also where there is no history, sorted by name. One that
/// cannot be read is an error.
Result<std::vector<PrefixRecord>> read_records(const fs::path& prefix);

/// A record that cannot be read: damaged, or cut short when the machine failed.
struct UnreadableRecord {
    std::string distribution;  ///< by the name of its file
    Error error;
};

/// Those that can be read; the others go to `unreadable`.
Result<std::vector<PrefixRecord>> read_records(const fs::path& prefix,
                                               std::vector<UnreadableRecord>& unreadable);

/// The installed package of that name, or null.
const PrefixRecord* find_record(const std::vector<PrefixRecord>& records, std::string_view name);

}  // namespace gpkg
