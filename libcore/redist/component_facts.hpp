#pragma once

// What manifests do not say of a component, and conda-forge's recipes do.

#include "libcore/redist/component_layout.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

struct ComponentFacts {
    std::string package;  ///< "cuda-cudart"
    /// Parts that are in the package of that name: the runtime, and with tools or headers that have
    /// no libraries, these. Other parts have packages of their own, "cuda-cudart-dev".
    std::set<RedistPart> main = {RedistPart::Runtime};
    bool has_runtime = true;  ///< false: there never is a library
    std::string stubs;        ///< package of the stubs; empty: like the others
    /// Components that its libraries are linked with: for recipes that are made without a look into
    /// the archive, which tells better.
    std::vector<std::string> links;
    std::vector<std::string> opens;      ///< components whose libraries it opens by name
    std::vector<std::string> dev_needs;  ///< components whose headers its headers include
    bool dev_needs_static = false;       ///< compilers link with the static library
    /// Components that its package of activation brings together: parts of the compiler.
    std::vector<std::pair<std::string, RedistPart>> compiler;
    /// Of the machine or its driver, and not for environments: kernel modules, services, firmware.
    bool is_of_system = false;

    std::string package_of(RedistPart part) const;
};

ComponentFacts facts_of(std::string_view component);

/// The component with the libraries of this name, "libcublas" of "libcublasLt.so.12"; empty: none.
std::string component_of_library(std::string_view library);

/// What a component's package of that name holds, as far as names tell: "libcublas", "libcublasLt",
/// "libnvblas" of "libcublas".
std::vector<std::string> libraries_of_package(std::string_view package);

/// "libcublas", "libcublasLt" and "libnvblas" of the package "libcublas"; none: not known.
std::vector<std::string> libraries_of_package(std::string_view package);

/// The package, as conda-forge calls it, with a library that is neither a component's nor glibc's
/// nor a driver's: "libstdcxx" of "libstdc++.so.6"; empty: not known.
std::string package_of_library(std::string_view library);

}  // namespace gpkg
