#include "libcore/build/recipe/pin.hpp"

#include <fmt/format.h>

namespace gpkg {

Result<SubpackagePin> SubpackagePin::read(const CallArguments& arguments) {
    const auto wrong = [](std::string message) {
        return fail(ErrorKind::Parse, "pin_subpackage: " + std::move(message));
    };
    if (arguments.positional.size() != 1 || arguments.positional[0].text() == nullptr)
        return wrong("takes the name of an output");
    SubpackagePin pin;
    pin.name = *arguments.positional[0].text();
    bool bounded = false;
    for (const auto& [name, value] : arguments.named) {
        if (name == "exact") {
            pin.exact = value.truthy();
        } else if (name == "lower_bound" || name == "upper_bound") {
            bounded = true;
            if (!value.is_null() && value.text() == nullptr)
                return wrong(fmt::format("{} is a text or none", name));
            (name == "lower_bound" ? pin.lower : pin.upper) = value.to_text();
        } else {
            return wrong(fmt::format("there is no argument '{}'", name));
        }
    }
    if (pin.exact && bounded) return wrong("an exact pin has no bounds");
    return pin;
}

}  // namespace gpkg
