#pragma once

// Candidates that this machine cannot install or run, whatever else is requested.

#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

/// Whether the machine meets the record's dependencies on it, and has a GPU of its vendor.
bool is_for_machine(const Universe& universe, const LeftOut& out);

class MachineLimit {
public:
    explicit MachineLimit(const Universe& universe) : universe_(universe) {}

    /// The builds of the newest requested version, if the machine lacks something for all newer
    /// versions or their dependencies, or does not run them; else empty.
    std::vector<CandidateId> newest_ruled_out(CandidateId chosen);

    /// Whether no solution of any request has it, because of the machine or a missing dependency.
    bool is_ruled_out(CandidateId id) {
        const auto why = verdict_on(id).why;
        return why == Why::Machine || why == Why::Else;
    }

    /// Whether the machine meets all dependencies and runs it.
    bool could_run(CandidateId id);
    /// Why none of these could run: "needs __cuda >=13, but this machine has a driver for CUDA 12.4
    /// (__cuda)", the least that it would take for one.
    std::string why_none_runs(const std::vector<CandidateId>& ids);

    /// "needs libcublas >=12.1,<12.2 (through pytorch-cuda), which no channel has", if such a
    /// dependency rules out each of them. About the last, which is the newest.
    std::optional<std::string> why_missing(const std::vector<CandidateId>& ids);

private:
    enum class Why {
        Nothing,
        Machine,
        Request,  ///< a dependency conflicts with the requested version or build
        Else,     ///< a dependency that no channel has
    };
    struct Verdict {
        Why why = Why::Nothing;
        SpecId unmet = kNone;       ///< Machine, Else: the first spec without a match
        CandidateId asker = kNone;  ///< Else: whose spec that is
    };

    Verdict verdict_on(CandidateId id);
    std::string text_of(const Verdict& verdict) const;
    Verdict verdict_on_spec(SpecId id);
    Verdict easier(const Verdict& a, const Verdict& b) const;

    const Universe& universe_;
    std::unordered_map<CandidateId, Verdict> known_;
};

}  // namespace gpkg::solver
