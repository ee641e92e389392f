#pragma once

// What is kept of what is installed: a package that has to move stays of its channel, for its
// accelerator, with its BLAS and its MPI. Where one package is asked for otherwise in one of these,
// all others that have to move may be otherwise in that too (docs/explanation/solving.md, "What an
// update keeps").

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

/// What BLAS and MPI a build is with, of which an environment has one; empty where it does not say.
using Kind = std::array<std::string, 2>;

Kind kind_of(const PackageRecord& record);

/// The record of a name that is installed, or gone, of which something is kept.
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
    /// Whether the name may come of a channel that others go before: it is of it, or something is
    /// to go over to that channel.
    bool may_come_of(const std::string& name, std::string_view channel) const;
    /// Whether another accelerator or a build for one is asked for: what has to move may then come
    /// for any, though rather for its own.
    bool frees_accelerators() const { return frees_accelerators_; }

    /// What the candidates of a name have to have of what was there.
    struct Kept {
        const Keeping* keeping = nullptr;
        const std::string* name = nullptr;
        bool keeps_channel = false;
        std::optional<Accelerator> accelerator;
        /// Another build is asked for, and builds that do may be for this one all the same.
        std::optional<Accelerator> accelerator_if_any;
        Kind kind;

        /// Once all candidates of the name are known.
        void settle(std::span<const Candidate> candidates);

        /// Why the candidate may not take its place, if so.
        std::optional<LeftOut::Why> why_not(const Candidate& candidate) const;
    };
    /// Nothing where nothing was there.
    std::optional<Kept> kept_of(const std::string& name) const;

private:
    /// What the request says of one name.
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
    // Of the whole environment, of which one package is asked for otherwise.
    bool frees_accelerators_;
    std::array<bool, 2> frees_kind_{};
    std::set<std::string> freed_channels_;
};

}  // namespace gpkg::solver
