#pragma once

// An environment.yml (CEP 24) as it is written for an environment that exists. What conda knows is
// written so that conda reads it; `accelerator` is gpkg's own key, which conda passes over.
// Selectors are never written: they would be for platforms that this environment knows nothing of.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

/// What is empty is left out, but for the dependencies, without which the file would be no
/// environment.yml.
struct EnvironmentYml {
    std::optional<std::string> name{};
    std::vector<std::string> channels{};      ///< the most important first, without secrets
    std::vector<std::string> dependencies{};  ///< specs
    std::vector<std::string> pip{};           ///< requirements as pip reads them
    std::map<std::string, std::string> variables{};
    std::vector<std::string> accelerator{};  ///< of all packages, the first to be tried first
    std::map<std::string, std::string> package_accelerators{};  ///< by package name
    std::optional<std::string> prefix{};
};

std::string to_text(const EnvironmentYml& environment);

}  // namespace gpkg
