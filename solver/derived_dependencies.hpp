#pragma once

// What builds need of each other though no record says it:
//
//   a build that was made for a toolkit needs that toolkit, of which an environment has one for
//   each vendor: as if somebody published a package "CUDA" with a version for each release;
//   a GPU build that extends a framework needs a build of the framework for the same GPUs;
//   cpuonly excludes GPU builds of pytorch, which old channels said by features.
//
// All of it becomes specs like any others, so that the solver knows of no other rule.

#include "libcore/solve/solve.hpp"
#include "solver/candidate.hpp"
#include "solver/spec_table.hpp"

#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace gpkg::solver {

class DerivedDependencies {
public:
    DerivedDependencies(const Problem& problem,
                        SpecTable& table,
                        std::vector<Candidate>& candidates,
                        std::vector<Version>& versions)
        : problem_(problem), table_(table), candidates_(candidates), versions_(versions) {}

    /// A package that says of no accelerator and needs another of which every build that it takes
    /// is for one counts as that: tensorflow, which brings tensorflow-base. Once every spec knows
    /// what it matches.
    void infer_accelerators();

    /// Tells every candidate the toolkit that it goes with.
    void read_toolkits();

    /// Adds the toolkits as names with candidates, whose records go to `records`, and gives what
    /// builds need of them and of frameworks. Nothing for an environment in which installed builds
    /// contradict each other.
    std::vector<DerivedLists> add(std::deque<PackageRecord>& records);

private:
    std::optional<ToolkitRange> range_of(const Candidate& candidate) const;
    ToolkitFit fit_of(const ToolkitRange& range);
    std::vector<std::optional<Accelerator>> accelerators_by_spec() const;
    std::optional<std::map<Accelerator, ToolkitRange>> kept_toolkits() const;
    void add_toolkit(Accelerator vendor,
                     const std::map<Accelerator, ToolkitRange>& kept,
                     std::deque<PackageRecord>& records);
    SpecId toolkit_spec(const ToolkitRange& range);
    std::optional<SpecId> framework_spec(const Candidate& candidate, SpecId dependency);
    std::vector<SpecId> needs_of(const Candidate& candidate);
    /// A spec that takes the candidates of a name that fit.
    template <typename Fits>
    SpecId derive(NameId name, std::string text, const Fits& fits);

    const Problem& problem_;
    SpecTable& table_;
    std::vector<Candidate>& candidates_;
    std::vector<Version>& versions_;
    std::map<ToolkitRange, SpecId> toolkit_specs_;
    std::map<Accelerator, std::optional<ToolkitVersion>> drivers_;  ///< that the machine has
};

}  // namespace gpkg::solver
