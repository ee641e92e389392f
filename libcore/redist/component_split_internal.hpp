#pragma once

// A component as its recipe splits it: which parts it has, which of them a package holds, and what
// the packages depend on.

#include "libcore/redist/component_facts.hpp"
#include "libcore/redist/component_recipe.hpp"

#include <set>
#include <string>
#include <vector>

namespace gpkg {

struct PackageFiles {
    std::vector<std::string> include;
    std::vector<std::string> exclude;
};

struct ComponentSplit {
    explicit ComponentSplit(const ComponentRecipeInput& of);

    /// The packages, the runtime first: others are pinned to it.
    std::vector<std::string> packages() const;
    /// The parts that are in a package.
    std::set<RedistPart> parts_of(const std::string& package) const;
    /// Globs, such that no file is in two packages.
    PackageFiles files_of(const std::string& package) const;

    const ComponentRecipeInput& input;
    const RedistListing* listing;  ///< of the archive; null: it is not at hand
    ComponentFacts facts;
    RedistLayout layout;
    std::string cuda;              ///< "12.9"; empty: not known
    std::set<RedistPart> parts{};  ///< that have a package
};

/// What is written under requirements.
struct ComponentNeeds {
    std::vector<std::string> run;
    std::vector<std::string> run_constraints;
    std::vector<std::string> weak_exports;
    std::vector<std::string> strong_exports;

    bool empty() const {
        return run.empty() && run_constraints.empty() && weak_exports.empty() &&
               strong_exports.empty();
    }
};

/// Of one of the packages. Adds to `unknown` libraries of which nobody knows who gives them.
ComponentNeeds needs_of(const ComponentSplit& split,
                        const std::string& package,
                        std::set<std::string>& unknown);

/// The listing of a component; null: it is not at hand.
const RedistListing* listing_of(const ComponentRecipeInput& input, const std::string& key);

}  // namespace gpkg
