#pragma once

// What the rest of gpkg needs of a solver: a Problem goes in, a Solution or an Explanation comes
// out. Every decision is a function of the request, the channel indexes and the virtual packages;
// nothing else is looked at. The implementation is in solver/.

#include "libcore/base/error.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/explanation.hpp"
#include "libcore/solve/note.hpp"
#include "libcore/spec/channel_priority.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpkg {

class ChannelIndex;

/// Restricts what may be chosen of a name without asking for it.
struct Constraint {
    MatchSpec spec;  ///< a glob as name restricts every name it matches
    /// What an explanation says of it, after the spec.
    std::string reason = "is pinned";
    enum class Holds {
        Always,
        UntilNamed,     ///< to ask for what it restricts, or for another version of that, lifts it
        WherePossible,  ///< where there is no answer with it, it is for those who ask to lift it
    };
    Holds holds = Holds::Always;
};

/// No version of the package but the record's. Parse errors.
Result<Constraint> same_version(const PackageRecord& record, std::string reason);

/// What the user asks for and what is there already.
struct Request {
    /// To be in the environment afterwards, the most important first. Each names one package.
    std::vector<MatchSpec> specs;
    /// How many of them, the first, are named now; others were asked for earlier.
    std::size_t named = 0;
    /// How many, the last, gpkg added (--freeze-installed, why-not), and what an
    /// explanation says of such a spec. They are never given up.
    std::size_t implied = 0;
    std::string implied_reason;
    std::vector<Constraint> constraints;
    /// Records now in the environment. Each stays as it is where the specs allow. One that changes
    /// keeps its channel, its accelerator and its BLAS and MPI, unless a spec or a constraint on
    /// its name speaks of the channel or of builds. BLAS and MPI are the environment's: where one
    /// package is asked for with another, those of all may change.
    std::vector<PackageRecord> installed;
    /// Records that belong there and cannot be had any more. What takes their place keeps of them
    /// what is kept of installed ones.
    std::vector<PackageRecord> gone{};
    /// What both of these stand in, as explanations call it; empty: an environment.
    std::string of_what{};
    /// Installed names that are no longer held to their record: what `update` names.
    std::vector<std::string> update;
    /// No installed name is held to its record (`update --all`).
    bool update_all = false;
    /// Installed names to keep in the environment when possible, changed if need be.
    std::vector<std::string> keep;
    /// Nothing is brought in for its own sake: dependencies only restrict what is there anyway.
    bool no_dependencies = false;
    Accelerators accelerators{};
    /// What packages that tell a CUDA version (tells_cuda_version) restrict of the driver does not
    /// count: what is built with it may run elsewhere.
    bool only_compiles = false;

    /// Whether what is installed of the name is held to nothing.
    bool may_move(std::string_view name) const;
};

/// What people call the machine that gpkg runs on.
inline constexpr std::string_view kThisMachine = "this machine";

/// When something is to be given up; empty: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// How hard a solve tries.
struct SolveLimits {
    /// Of the search for packages: how often it may run into a contradiction. A count and not a
    /// time, so that the solution does not depend on how fast the machine is. Requests of the
    /// corpus need up to 20,000, most of them less than 100; a million take hours.
    std::uint64_t conflicts = 50'000;
    /// For the explanation of a request that cannot be solved. The first half is for the conflict.
    std::chrono::milliseconds explanation{10'000};
};

/// Everything a decision depends on.
struct Problem {
    /// In the order of channel priority; the subdirs of one channel stand together.
    std::vector<std::shared_ptr<const ChannelIndex>> indexes;
    ChannelPriority priority = ChannelPriority::Strict;
    /// The machine: "__cuda" 12.4 and so on, with name, version and build set.
    std::vector<PackageRecord> virtual_packages;
    /// What people call the machine.
    std::string machine{kThisMachine};
    Request request;
    /// Records newer than this moment do not exist (Unix milliseconds; indexed_timestamp, else
    /// timestamp; CEP 47). Records without either are kept.
    std::optional<std::int64_t> exclude_newer;
    /// An Explanation says why there is no answer, which may take many more solves; else it is
    /// empty.
    bool wants_reasons = true;
    /// An explanation tells what would work, which takes many more solves.
    bool wants_fixes = true;
    /// A Solution has notes, some of which take more solves; else none.
    bool wants_notes = true;
    /// Ends a solve with an Interrupted error.
    std::stop_token stop;
    SolveLimits limits{};
    /// Of what an explanation tries: when to give up.
    Deadline deadline{};
    /// The `gpkg why-not SPEC` command that asks about this request, for notes. Empty: notes say
    /// "with the same request".
    std::function<std::string(const std::string& spec, const Request&)> why_not_command{};
    /// How a command gives the machine another value than an assumed one, `there`: "--for
    /// h100,glibc=2.34". Empty: notes do not say it.
    std::function<std::string(const MatchSpec& need, const PackageRecord& there)> how_to_give{};
    /// Told each step of a solve with its time, for -v; empty: nothing is measured.
    std::function<void(std::string_view step, double seconds)> on_step{};
};

struct Solution {
    /// All records of the environment, each after the records it depends on (cycles aside).
    std::vector<PackageRecord> records;
    /// Their names in the order in which they were settled: each has the best record that goes with
    /// those before it.
    std::vector<std::string> settled;
    /// What of it does not run on the machine's driver and GPUs, though all that it asks of the
    /// machine is there: by itself or by what it needs.
    struct NotRunning {
        std::string name;
        std::string why;  ///< "needs libcudnn >=9.11, which has no code for ..."
    };
    std::vector<NotRunning> not_running{};
    /// Null where the name runs, or is not there.
    const NotRunning* find_not_running(std::string_view name) const;
    /// The one that it was found for, of what Accelerators::in_turn has.
    AcceleratorChoice accelerator = AcceleratorChoice::Conda;
    /// What a user should know of it.
    std::vector<Note> notes{};
};

/// The places of the constraints that no longer hold once the change is made.
std::set<std::size_t> lifted_by(const ProblemChange& change, const Request& request);
/// The problem with these changes made to it. Fails for a spec that cannot be read.
Result<Problem> with_changes(Problem problem, const std::vector<ProblemChange>& changes);

using Outcome = std::variant<Solution, Explanation>;

/// An Error means that the question could not be put (an unusable index, an internal limit).
using Solve = std::function<Result<Outcome>(const Problem&)>;

}  // namespace gpkg
