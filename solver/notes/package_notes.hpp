#pragma once

#include "solver/notes/alternatives.hpp"
#include "solver/notes/notes.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg::solver {

/// Which better version or build of a package is not selected, and why:
///
///   a newer version that this machine cannot have or does not run;
///   a newer version or a build for the machine's GPU that the installed one's channel,
///   accelerator, BLAS or MPI rules out;
///   a build for the machine's GPU, of this or another version;
///   a newer version of a package that is to be updated, or a noticeably newer one that others do
///   not go with or give way to (Trade).
///
/// For requested packages, packages to update, and GPU builds of dependencies.
class PackageNotes {
public:
    PackageNotes(const Universe& universe, const Selected& selected, const WithSpec& with_spec);

    std::vector<Note> all();

private:
    void add_notes_on(CandidateId id);
    std::optional<Note> on_running(CandidateId id) const;
    std::optional<Note> on_newer_elsewhere(CandidateId id);
    std::optional<Note> on_kept(CandidateId id);
    std::optional<Note> on_held_version(CandidateId id);
    std::optional<Note> on_gpu_build(CandidateId id, bool is_limit_told);
    std::optional<Note> on_hidden_build(CandidateId id, Accelerator vendor) const;
    std::optional<Note> on_absent_gpu(CandidateId id, bool is_limit_told) const;
    std::optional<Note> on_named_cuda(CandidateId id) const;
    void add_trades();
    bool is_noticeable(const Trade& trade) const;
    std::optional<Note> on_trade(const Trade& trade) const;

    Note about(CandidateId id) const;
    std::optional<Build> try_spec(CandidateId id, const std::string& spec, Note& note) const;
    void offer_build(CandidateId id, Accelerator accelerator, Note& note) const;
    std::vector<std::string> changes(const Builds& builds, NameId but) const;
    std::string age_difference(CandidateId id, const Version& other) const;

    std::string spec_with(NameId name, Accelerator accelerator) const;

    const Universe& universe_;
    const Selected& selected_;
    const WithSpec& with_spec_;
    Alternatives alternatives_;
    std::vector<Note> notes_;
    std::set<NameId> parts_;  ///< dependencies of builds that say what they are for
    int tries_ = 0;
};

}  // namespace gpkg::solver
