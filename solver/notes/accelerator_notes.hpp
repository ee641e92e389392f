#pragma once

#include "solver/machine_limit.hpp"
#include "solver/notes/notes.hpp"
#include "solver/universe.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::solver {

/// What the preference for a GPU's builds came to, for what is named and for what says that it is
/// for none.
class AcceleratorNotes {
public:
    AcceleratorNotes(const Universe& universe,
                     MachineLimit& machine,
                     const std::vector<CandidateId>& chosen,
                     const NotRunning& not_running,
                     const WithSpec& with_spec);

    /// Of one that was chosen. `is_limit_told`: what keeps newer versions out is told already.
    std::optional<std::string> on(CandidateId id, bool is_limit_told);

private:
    using Fits = std::function<bool(CandidateId)>;
    enum class Of { Requested, All };  ///< versions that the user asks for, or any

    std::optional<std::string> on_kept_accelerator(CandidateId id, Accelerator wanted) const;
    std::optional<std::string> on_code(CandidateId id) const;
    std::optional<std::string> on_cuda_not_running(CandidateId id) const;
    std::optional<std::string> on_machine_without(CandidateId id, bool is_limit_told) const;
    std::optional<std::string> on_newer_builds(CandidateId id, bool is_limit_told) const;
    bool has_newer_without_gpu(CandidateId id) const;
    std::optional<std::string> on_named_cuda(CandidateId id) const;
    std::optional<std::string> on_no_build(CandidateId id, Accelerator wanted);
    std::optional<std::string> on_other_version(CandidateId id, CandidateId newest);
    std::string on_other_build(CandidateId id, CandidateId newest);

    std::optional<CandidateId> build_alike(CandidateId id, Accelerator wanted) const;
    bool is_bound(NameId name) const;
    bool is_named(const std::string& name) const;
    bool names_cuda() const;
    std::string for_absent_gpu(CandidateId id) const;
    bool is_for_absent_gpu(CandidateId id) const;
    std::string on_absent_gpu(CandidateId id);
    bool is_to_stay(CandidateId id) const;
    bool is_part_of_another(CandidateId id) const;
    bool is_requested(CandidateId id) const;
    bool is_build_requested(NameId name) const;
    bool could_run(CandidateId id);
    bool is_of_later_channel(CandidateId one, CandidateId than) const;
    bool is_older(VersionId version, CandidateId than) const;
    bool has_python_of(CandidateId one, CandidateId other) const;
    Fits builds_for(Accelerator wanted) const;
    std::optional<CandidateId> newest_usable(NameId id, Accelerator wanted);
    std::optional<CandidateId> newest_before(CandidateId id, Accelerator wanted);
    std::optional<CandidateId> newest_for(NameId id, const Fits& fits, Of versions) const;
    std::optional<Brought> brought_for(NameId id, Accelerator wanted) const;
    std::string what_brings(CandidateId told,
                            const Brought& brought,
                            Accelerator accelerator) const;
    std::string price_of(const Brought& brought) const;
    std::optional<std::string> asked_cuda() const;

    std::string asked_as(NameId name) const;
    std::string text_of(CandidateId id) const;
    int major_of(CandidateId id) const;
    std::string version_text(CandidateId id) const;
    std::string hidden_with(NameId name, Accelerator wanted) const;
    std::string cpu_build_instead(CandidateId id) const;
    std::string why_not(CandidateId chosen, CandidateId id);
    std::string command_for_reason(CandidateId id) const;
    std::string build_or_glob(CandidateId id) const;
    const std::string& machine() const { return universe_.problem().machine; }

    const Universe& universe_;
    MachineLimit& machine_;
    const WithSpec& with_spec_;
    const std::vector<CandidateId>& chosen_;
    const NotRunning& not_running_;  ///< of them
    std::set<NameId> parts_;         ///< needed by what says what it is for
};

}  // namespace gpkg::solver
