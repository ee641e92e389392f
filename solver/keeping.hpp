#pragma once

// What is kept of what is installed: a package that has to move stays of its channel, for its
// accelerator, with its BLAS and its MPI, until it is asked for otherwise. What is asked for
// otherwise takes others along (docs/explanation/solving.md, "What a change may affect").

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
    /// As the request has them, and for parts what is said of what they are parts of: where a build
    /// of pytorch wants one of libtorch, pytorch[accel=none] means both.
    const Accelerators& accelerators() const { return accelerators_; }
    /// Whether the name may come of a channel that others go before: it is of it, or follows
    /// something there.
    bool may_come_of(const std::string& name, std::string_view channel) const;

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

    /// Whether the name takes others along: it is asked for otherwise than it is there, or than
    /// others are (for another accelerator, in another build, of another channel), or goes along
    /// with one that is.
    bool leads(const std::string& name) const;
    /// A name that does, and its candidates.
    struct Leader {
        const std::string* name;
        std::span<const Candidate> candidates;
    };
    /// What is kept where these, in the order in which they have a say, take along what they need:
    /// what is asked of a package counts for its parts. Nothing where that is so already.
    std::optional<Keeping> with_followers(const std::vector<Leader>& leaders,
                                          const std::vector<Spec>& specs,
                                          const std::vector<Name>& names) const;

private:
    /// What the request says of one name.
    struct About {
        const PackageRecord* was = nullptr;
        bool is_gone = false;
        std::vector<const MatchSpec*> specs;
        bool follows_build = false;  ///< what is asked for in another build chooses its build
        std::set<std::string> follows_to{};  ///< channels that something went over to
    };
    /// Of what is installed: several where builds of an older pytorch have mkl beside a libblas
    /// that is openblas.
    using Kinds = std::array<std::set<std::string>, 2>;
    const About* about(const std::string& name) const;
    bool is_in_another_build(const std::string& name) const;
    static std::set<std::string> other_channels(const About& about);
    static bool is_as_asked(const Candidate& candidate, const About& about);
    static bool keeps_channel(const About& about);
    void lead(const Leader& leader,
              const std::vector<Spec>& specs,
              const std::vector<Name>& names,
              Keeping& led) const;
    void lead_accelerator(const std::string& name,
                          const std::string& needed,
                          bool is_part,
                          Keeping& led) const;
    const Kinds& kinds_of_environment() const;
    void lead_kind(const About& about, std::span<const Candidate> candidates, Keeping& led) const;

    Accelerators accelerators_;
    std::unordered_map<std::string, About> names_;
    bool has_former_ = false;                            ///< anything is installed, or gone
    mutable std::optional<Kinds> kinds_of_environment_;  ///< once they were asked for
    std::array<bool, 2> may_change_{};                   ///< of a Kind: another is asked for
    bool is_led_ = false;  ///< something was added since it was copied
};

}  // namespace gpkg::solver
