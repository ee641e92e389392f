#pragma once

// An update keeps a package's channel, accelerator, BLAS and MPI. If the request changes one of
// these for one package, it may change for all packages that have to move
// (docs/explanation/solving.md, "What an update keeps").

#include "libcore/solve/solve.hpp"
#include "solver/candidate.hpp"

#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

/// The BLAS and the MPI of a build; empty if it does not say. An environment has one of each.
using Kind = std::array<std::string, 2>;

Kind kind_of(const PackageRecord& record);

/// The record of a name that is or was installed.
struct Former {
    const PackageRecord& record;
    bool is_gone = false;
};

/// Whether it asks for a build: by its string, number, flags, features or file.
bool speaks_of_builds(const MatchSpec& spec);

class Keeping {
public:
    /// The request must outlive it.
    explicit Keeping(const Request& request);

    std::optional<Former> former(const std::string& name) const;
    /// Whether the name may come from a lower channel: the installed package does, or the request
    /// names the channel.
    bool may_come_of(const std::string& name, std::string_view channel) const;
    /// Whether the request asks for another accelerator, or a build for one: packages that have to
    /// move may then change theirs, though rather not.
    bool frees_accelerators() const { return frees_accelerators_; }

    /// The traits of the former record that candidates of its name must have.
    struct Kept {
        const Keeping* keeping = nullptr;
        const std::string* name = nullptr;
        bool keeps_channel = false;
        std::optional<Accelerator> accelerator;
        Kind kind;

        /// Why the candidate cannot replace it, if so.
        std::optional<LeftOut::Why> why_not(const Candidate& candidate) const;
    };
    /// `candidates` are those of the name. Nothing if no package of that name was installed.
    std::optional<Kept> kept_of(const std::string& name,
                                std::span<const Candidate> candidates) const;

private:
    /// All specs of the request on one name.
    struct About {
        const PackageRecord* was = nullptr;
        bool is_gone = false;
        std::vector<const MatchSpec*> specs;
    };
    const About* about(const std::string& name) const;
    static bool is_as_asked(const Candidate& candidate, const About& about);
    static bool keeps_channel(const About& about);
    void free_what_it_asks(const MatchSpec& spec, const PackageRecord* was);

    Accelerators accelerators_;
    std::unordered_map<std::string, About> names_;
    // Of the whole environment, because the request changes one package in this.
    bool frees_accelerators_;
    std::array<bool, 2> frees_kind_{};
    std::set<std::string> freed_channels_;
};

}  // namespace gpkg::solver
