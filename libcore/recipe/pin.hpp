#pragma once

// pin_subpackage() and pin_compatible() (CEP 39). The first is answered while a recipe is rendered;
// the second asks for a version that only the environment of the build has, so it is rendered as
// itself and answered when that is known.

#include "libcore/recipe/expression.hpp"

namespace gpkg {

/// The arguments of either.
struct Pin {
    std::string name;
    std::string lower = "x.x.x.x.x.x";
    std::string upper = "x";
    bool exact = false;

    /// `function` names it in errors.
    static Result<Pin> read(std::string_view function, const CallArguments& arguments);
    /// The dependency it makes of a package: "numpy >=1.26,<2.0a0", "numpy ==1.26.4 py312h1_0".
    Result<std::string> dependency(const std::string& version, const std::string& build) const;
};

/// The template that stands for `pin` until it is answered.
std::string open_pin(const Pin& pin);
/// True for what open_pin() makes.
bool is_open_pin(std::string_view dependency);

struct PinnedPackage {
    std::string version, build;
};
/// Answers an open pin. `find` tells what the environments of the build hold of a name.
Result<std::string> close_pin(
    std::string_view dependency,
    const std::function<std::optional<PinnedPackage>(const std::string& name)>& find);

}  // namespace gpkg
