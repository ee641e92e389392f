#pragma once

// The arguments of pin_subpackage() (CEP 39).

#include "libcore/build/recipe/expression.hpp"

namespace gpkg {

struct SubpackagePin {
    std::string name;
    std::string lower = "x.x.x.x.x.x";
    std::string upper = "x";
    bool exact = false;

    static Result<SubpackagePin> read(const CallArguments& arguments);
};

}  // namespace gpkg
