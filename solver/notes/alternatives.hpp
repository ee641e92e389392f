#pragma once

#include "solver/machine_limit.hpp"
#include "solver/universe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::solver {

/// Which better versions and builds there are of a selected one, and why they are not selected.
class Alternatives {
public:
    explicit Alternatives(const Universe& universe) : universe_(universe), machine_(universe) {}

    /// Newer, or for the accelerator that is preferred.
    bool is_better(const Version& version, Accelerator accelerator, CandidateId than) const;

    /// Whether there are any, for whatever GPU.
    bool has_gpu_builds(NameId id) const;
    /// Builds for a vendor's GPUs, all of one version: the same, else one that matches the request,
    /// else one that could run, and of these the newest. Of a dependency only of its major version
    /// where no CUDA is named: nobody goes back further for what nobody named.
    std::vector<CandidateId> gpu_builds(CandidateId id, Accelerator vendor);
    /// "needs __cuda >=13, but this machine has ...", of builds of one version for one accelerator.
    std::string why_not(CandidateId id, const std::vector<CandidateId>& builds);

    /// Specs that may select a better one unlike the installed one: on the package, else on the
    /// CUDA, BLAS and MPI of the environment. Specs that give up the accelerator come last.
    std::vector<std::string> specs_for_other_kinds(CandidateId id);

    MachineLimit& machine() { return machine_; }
    bool is_build_requested(NameId name) const;
    /// Whether somebody asks for it, or for a CUDA, or it is to be updated.
    bool may_change(CandidateId id) const;
    /// The first spec by which a CUDA is requested (Universe::names_cuda): "pytorch-cuda=12.1".
    std::optional<std::string> named_cuda() const;

private:
    bool is_named_now(NameId name) const;
    std::string build_pattern(CandidateId id) const;
    bool has_better_alike(CandidateId id);
    const std::vector<std::string>& other_kinds_of_environment();

    const Universe& universe_;
    MachineLimit machine_;
    std::optional<std::vector<std::string>> other_kinds_;  ///< once they were asked for
};

}  // namespace gpkg::solver
