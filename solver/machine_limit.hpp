#pragma once

// What of a name this machine cannot have, or not run, whatever else is asked for.

#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

/// Whether a record that is left out is for what the machine has: it asks of it for nothing that is
/// not there, and is for no vendor's GPUs of which there is none.
bool is_for_machine(const Universe& universe, const LeftOut& out);

class MachineLimit {
public:
    explicit MachineLimit(const Universe& universe) : universe_(universe) {}

    /// Where all newer versions that were requested need, by themselves or by what they need, what
    /// the machine does not have, or do not run on it: the builds of the newest; else empty.
    std::vector<CandidateId> newest_ruled_out(CandidateId chosen);

    /// Whether it can be in no solution, whatever is requested, by the machine or by what it needs.
    bool is_ruled_out(CandidateId id) {
        const auto why = verdict_on(id).why;
        return why == Why::Machine || why == Why::Else;
    }

    /// Whether the machine neither rules it out nor fails to run it.
    bool could_run(CandidateId id);
    /// Why none of these could run: "needs __cuda >=13, but this machine has a driver for CUDA 12.4
    /// (__cuda)", the least that it would take for one.
    std::string why_none_runs(const std::vector<CandidateId>& ids);
    /// Whether that is a GPU or a driver, of which there is none.
    bool lacks_gpu_for(const std::vector<CandidateId>& ids);

    /// "needs libcublas >=12.1,<12.2 (through pytorch-cuda), which no channel has", where that
    /// rules out each of them, whatever is asked for. Told of the last, the newest.
    std::optional<std::string> why_missing(const std::vector<CandidateId>& ids);

private:
    enum class Why {
        Nothing,
        Machine,
        Request,  ///< it needs what is asked for in another version or build
        Else,     ///< it needs a package that nothing offers
    };
    struct Verdict {
        Why why = Why::Nothing;
        SpecId unmet = kNone;       ///< Machine, Else: the first spec that nothing meets
        CandidateId asker = kNone;  ///< Else: whose spec that is
    };

    Verdict verdict_on(CandidateId id);
    /// Machine where it rules out each of them, else Nothing.
    Verdict verdict_on_all(const std::vector<CandidateId>& ids);
    std::string text_of(const Verdict& verdict) const;
    Verdict verdict_on_spec(SpecId id);
    Verdict easier(const Verdict& a, const Verdict& b) const;

    const Universe& universe_;
    std::unordered_map<CandidateId, Verdict> known_;
};

}  // namespace gpkg::solver
