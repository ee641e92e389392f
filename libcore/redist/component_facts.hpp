#pragma once

// What manifests do not say of a component, and conda-forge's recipes do.

#include "libcore/redist/component_layout.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct ComponentFacts {
    std::string package;  ///< "cuda-cudart"
    /// Parts that are in the package of that name: the runtime, and with tools or headers that have
    /// no libraries, these. Other parts have packages of their own, "cuda-cudart-dev".
    std::set<RedistPart> main = {RedistPart::Runtime};
    bool has_runtime = true;                 ///< false: there never is a library
    std::string stubs;                       ///< package of the stubs; empty: like the others
    std::vector<std::string> runtime_needs;  ///< components
    std::vector<std::string> dev_needs;      ///< components whose headers its headers include
    std::vector<std::string> others;         ///< packages that are no components
    bool dev_needs_static = false;           ///< compilers link with the static library

    std::string package_of(RedistPart part) const;
};

ComponentFacts facts_of(std::string_view component);

}  // namespace gpkg
