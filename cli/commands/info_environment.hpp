#pragma once

// What `info -n` shows of an environment.

#include "cli/context.hpp"
#include "libcore/env/prefix.hpp"

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace gpkg::cli {

struct EnvironmentFacts {
    fs::path path;
    std::size_t packages = 0;
    std::size_t requested = 0;  ///< specs
    std::vector<std::string> pins;
    std::vector<std::string> gpu_builds;  ///< "pytorch (CUDA 12.9)"
    GpkgState state;
};
Result<EnvironmentFacts> environment_facts(const fs::path& path);
nlohmann::ordered_json environment_document(const Context& context, const EnvironmentFacts& facts);
void print_environment(const Context& context, const EnvironmentFacts& facts);

}  // namespace gpkg::cli
