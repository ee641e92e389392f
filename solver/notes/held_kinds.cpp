#include "solver/notes/held_kinds.hpp"

#include "libcore/hardware/cuda.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::solver {
namespace {

class HeldKinds {
public:
    HeldKinds(const Universe& universe, MachineLimit& machine, const WithSpec& with_spec)
        : universe_(universe), machine_(machine), with_spec_(with_spec) {}

    std::optional<HeldKindNote> run(const std::vector<CandidateId>& chosen) {
        for (const auto id : chosen) {
            if (auto note = note_on(id)) return note;
        }
        return std::nullopt;
    }

private:
    /// Each costs a solve.
    static constexpr int kMostTries = 6;

    std::optional<HeldKindNote> note_on(CandidateId id) {
        const auto& chosen = universe_.candidates()[id];
        const auto& name = universe_.names()[chosen.name];
        if (!universe_.is_requested(chosen.name) || !may_move(chosen.name) || !has_better(id))
            return std::nullopt;
        const bool is_there = universe_.former(chosen.name).has_value();
        for (const auto& spec : other_kinds()) {
            if (tries_++ >= kMostTries) break;
            const auto brought = with_spec_(name.text, spec);
            if (!brought || !is_better(brought->version, brought->accelerator, id) ||
                (is_there && brought->accelerator != chosen.accelerator))
                continue;
            return HeldKindNote{
                id,
                fmt::format("{} matches the installed packages; also requesting {} would select {}",
                            universe_.describe(id),
                            spec,
                            told(*brought, chosen)),
                brought->accelerator == universe_.preferred_accelerator(chosen.name)};
        }
        return std::nullopt;
    }

    /// Whether it is new, or is to be updated.
    bool may_move(NameId id) const {
        return !universe_.former(id) ||
               universe_.problem().request.may_move(universe_.names()[id].text);
    }

    /// "2.12.0", "2.12.0, a CUDA build"
    static std::string told(const Brought& brought, const Candidate& chosen) {
        auto text = brought.version.to_string();
        if (brought.accelerator != chosen.accelerator)
            text += fmt::format(", a {} build", compute_platform(brought.accelerator));
        return text;
    }

    bool is_better(const Version& version, Accelerator accelerator, CandidateId than) const {
        const auto& chosen = universe_.candidates()[than];
        const auto& present = universe_.version(chosen.version);
        const auto preferred = universe_.preferred_accelerator(chosen.name);
        return present < version ||
               (present == version && accelerator == preferred && chosen.accelerator != preferred);
    }

    /// Whether there is one that the machine does not rule out.
    bool has_better(CandidateId id) {
        const auto& name = universe_.names()[universe_.candidates()[id].name];
        for (auto other = name.begin; other < name.end; ++other) {
            const auto& candidate = universe_.candidates()[other];
            if (is_better(universe_.version(candidate.version), candidate.accelerator, id) &&
                universe_.is_as_requested(other) && !machine_.why_never(other))
                return true;
        }
        return false;
    }

    /// What would ask for another CUDA, and for each BLAS and MPI that is not the installed one.
    const std::vector<std::string>& other_kinds() {
        if (other_kinds_) return *other_kinds_;
        auto& kinds = other_kinds_.emplace();
        for (const auto& constraint : universe_.problem().request.constraints) {
            if (constraint.holds == Constraint::Holds::WherePossible &&
                tells_cuda_version(constraint.spec.name))
                kinds.push_back(constraint.spec.name);
        }
        for (NameId id = 0; id < universe_.names().size(); ++id) {
            if (!universe_.former(id)) continue;
            for (const auto& out : universe_.names()[id].left_out) {
                if (out.why != LeftOut::Why::OtherVariant) continue;
                auto spec = spec_allowing(universe_, id, out);
                if (std::ranges::find(kinds, spec) == kinds.end()) kinds.push_back(std::move(spec));
            }
        }
        return kinds;
    }

    const Universe& universe_;
    MachineLimit& machine_;
    const WithSpec& with_spec_;
    int tries_ = 0;
    std::optional<std::vector<std::string>> other_kinds_;  ///< once they were asked for
};

}  // namespace

std::optional<HeldKindNote> note_on_held_kinds(const Universe& universe,
                                               MachineLimit& machine,
                                               const std::vector<CandidateId>& chosen,
                                               const WithSpec& with_spec) {
    return HeldKinds(universe, machine, with_spec).run(chosen);
}

}  // namespace gpkg::solver
