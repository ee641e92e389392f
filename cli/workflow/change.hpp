#pragma once

// The road from a request to an environment: decide (what would change), show, carry out. create,
// install, update, remove and `env create` all walk it; they differ in the request they put.
//
//   WishOptions     words and files of the command               wishes/wishes.hpp: read_wishes
//   Wishes          read: specs, accelerators, variables, pip     change_request
//   ChangeRequest   of one environment                            ask/question.hpp: question_of
//   Question        with what is there, and the open channels     libcore/asking: request_of
//   Problem         as a solver is asked                          libcore/asking: answer_to
//   Solution        one of several ways to put it, solved         libcore/solve/answer.hpp: answer
//   Change          what to link and unlink                       decide.cpp
//   Transaction     carried out                                   carry_out.cpp, libcore/env

#include "cli/context.hpp"
#include "cli/workflow/pip_section.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/asking/wanted.hpp"
#include "libcore/env/generation.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/solve/note.hpp"
#include "libcore/spec/package_record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// How to carry a change out, as the user's flags say.
struct ChangeOptions {
    bool dry_run = false;
    bool check =
        false;         ///< with dry_run: exit status 1 if the environment or the lock would change
    bool asks = true;  ///< before the change is applied, unless -y or always_yes is given
    bool brief = false;  ///< one line about the result in place of the plan, unless -v is given
    bool download_only = false;
    std::string link{};  ///< how files get into environments; empty: as configured
    std::uint64_t most_bytes = ~std::uint64_t{0};   ///< that may come to the disk, store included
    std::uint64_t most_inodes = ~std::uint64_t{0};  ///< likewise
    bool offline = false;
    bool override_frozen = false;              ///< change an environment that is marked as frozen
    bool no_scripts = false;                   ///< no link script runs
    std::vector<std::string> allow_scripts{};  ///< packages whose link scripts may run
};

/// What is to be done to one prefix.
struct Change {
    fs::path prefix;
    std::string platform{};  ///< that the packages are for; empty: this machine's
    std::string machine{};   ///< "h100", that it was solved for; empty: this machine
    /// The machine that it was decided for; nothing where nothing was decided.
    std::vector<PackageRecord> virtual_packages{};
    bool creates = false;
    std::vector<PrefixRecord> unlink;
    std::vector<PackageRecord> link;  ///< dependencies first
    /// Installed and staying; their channel has mended what they need since, and the decision rests
    /// on that.
    std::vector<PackageRecord> mended{};
    /// The records of `link` know a name, a place and perhaps a checksum; the package tells the
    /// rest, the order included.
    bool from_archives = false;
    std::vector<Channel> channels;  ///< with the credentials that downloads need
    /// Specs the user asked for, by package name: marks records as requested.
    std::vector<MatchSpec> requested;
    std::vector<std::string> removed_specs;
    std::vector<std::string> removed_along{};  ///< requested packages that a removal takes along
    /// Of packages that a removal takes along, by name: "needs app" or "no longer needed".
    std::map<std::string, std::string> removal_reasons{};
    bool is_removal = false;  ///< of gpkg remove: -y, or an answer, is needed
    EnvVarChanges variables{};
    unsigned variables_kept_from = 0;  ///< as in Transaction
    std::vector<PipSection> pip{};     ///< what pip is asked for afterwards
    std::optional<GpkgState> state{};  ///< where it changes
    fs::path copies{};                 ///< the environment whose other files come along
    bool takes_over = false;           ///< of `copies`, whose history comes along as well
    std::uint64_t restores = 0;        ///< the generation that this goes back to; else 0
    std::uint64_t restored_from = 0;   ///< then the generation that it leaves
    bool replaces_unowned = false;     ///< files of no package are no obstacle
    bool is_unlisted = false;          ///< other tools are not to find a new environment
    std::vector<fs::path> avoided{};   ///< damaged packages of layers, not to be linked
    std::vector<Note> notes;
    /// "CUDA build because h100 has an NVIDIA GPU", by name, of records of `link`.
    std::map<std::string, std::string> build_reasons{};
    std::vector<std::string> held_by_pins{};  ///< names that an update leaves at older versions
    std::string if_nothing{};       ///< what to print where nothing changes; empty: a general text
    std::string if_different{};     ///< the same of a check that finds differences
    std::string pruned_to{};        ///< the files or the lock that replace what was requested
    std::string if_gone{};          ///< see FetchOptions::if_gone
    std::string lock{};             ///< "gpkg.lock, class cpu", where the packages are of a lock
    bool lock_is_outdated = false;  ///< the environment.yml beside it requests something else

    bool is_nothing() const { return unlink.empty() && link.empty(); }
};

/// What a request does to the environment at `prefix` (empty for a new one).
struct ChangeRequest : Wanted {
    fs::path prefix;
    std::vector<std::string> reinstall;  ///< names to link again although nothing changes
    std::map<std::string, std::string> variables;
    std::vector<PipSection> pip{};
    std::string name_in_file{};  ///< what an environment.yml calls the environment
    bool is_dry_run = false;     ///< what would help is told as commands that change nothing either
    /// Where words of the command are names of packages that may move, specs stand elsewhere.
    enum class SpecsStand { InWords, InFiles, InLock, InRecipe };
    SpecsStand specs_stand = SpecsStand::InWords;
};

/// Opens the sources that the request needs, and solves. Unsatisfiable requests fail with the
/// explanation as message.
Result<Change> decide(Context& context, const SourceOptions& options, const ChangeRequest& request);

/// The same with sources that are open.
Result<Change> decide(Context& context, const Sources& sources, const ChangeRequest& request);

/// What is linked without solving.
struct ExactRequest {
    fs::path prefix;
    std::vector<PackageRecord> records;
    std::vector<MatchSpec> requested;
    bool records_are_bare = false;  ///< see Change::from_archives
    bool again = false;             ///< link also what is installed already
    bool prune = false;             ///< remove all other packages, requests and variables
    std::map<std::string, std::string> variables;
    std::vector<Channel> channels{};  ///< with the credentials that downloads need
    GpkgState state{};                ///< what is to be remembered
    std::vector<PipSection> pip{};    ///< what pip is asked for afterwards
    std::vector<Note> notes{};
    std::string if_gone{};  ///< see FetchOptions::if_gone
    std::string lock{};     ///< see Change::lock
};

/// A change that links exactly these records. Other installed packages stay, unless
/// ExactRequest::prune says otherwise.
Result<Change> exactly(ExactRequest request);

/// A change after which the environment has the packages, requests and accelerators of the
/// generation. What its index says since does not count, nor what pip installed.
Result<Change> return_to(const Context& context,
                         const fs::path& prefix,
                         const Generation& generation);

/// Shows the change, asks, downloads, unpacks, links. Prints the result or its JSON.
Result<int> carry_out(Context& context, Change change, const ChangeOptions& options);

/// Packages of another platform would be laid out by this one's rules: Unsupported.
Result<void> check_platform(const Change& change);

/// The change as it is carried out; `folders` of the store are those of its packages.
Transaction transaction_of(const Context& context,
                           const Change& change,
                           const std::vector<fs::path>& folders);

/// What transactions of this command have in common: how to link, Ctrl-C, who to wait for.
TransactionOptions transaction_options(Context& context, const ChangeOptions& options);

/// Brings a prefix that an interrupted command left to its old or new state, and says so. A dry run
/// changes nothing and only warns.
Result<Recovery> recover_interrupted(Context& context, const fs::path& prefix, bool dry_run);
/// The same, with warn_if_moved().
Result<Recovery> recover_prefix(Context& context, const fs::path& prefix, bool dry_run);

/// The same, for commands that need the environment: fails with NoEnvironment if the command that
/// was interrupted is the one that created it.
Result<void> recover_existing(Context& context, const fs::path& prefix, bool dry_run);

/// For commands that change an environment: fails at once where the user may not write to it, then
/// recovers it as recover_existing(). A dry run and --download-only need no right to write.
Result<void> begin_change(Context& context, const fs::path& prefix, const ChangeOptions& options);

/// As recover_existing(), for commands that use an environment as it is: while another process
/// changes it they warn and go on.
Result<void> recover_for_use(Context& context, const fs::path& prefix);
/// Warns where an interrupted command left the prefix unfinished.
void tell_if_interrupted(Context& context, const fs::path& prefix);
/// "`gpkg install -n ml torch` was interrupted", or "an earlier command was interrupted".
std::string interruption_text(const fs::path& prefix);
/// Warns, with the command that repairs it, where the environment was moved or copied without gpkg.
/// Cheap: reads the list of environments, and few records of an environment that is not listed.
void warn_if_moved(Context& context, const fs::path& prefix);
/// Both warnings, for commands that only read the environment.
void tell_condition(Context& context, const fs::path& prefix);

}  // namespace gpkg::cli
