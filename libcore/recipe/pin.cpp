#include "libcore/recipe/pin.hpp"

#include "libcore/recipe/dependency.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kOpening = "${{ pin_compatible(";

std::string in_quotes(std::string_view text) {
    return text.empty() ? "None" : fmt::format("'{}'", text);
}

}  // namespace

Result<Pin> Pin::read(std::string_view function, const CallArguments& arguments) {
    const auto wrong = [&](std::string_view message) {
        return fail(ErrorKind::Parse, fmt::format("{}: {}", function, message));
    };
    if (arguments.positional.size() != 1 || arguments.positional[0].text() == nullptr)
        return wrong("needs one package name");
    Pin pin;
    pin.name = *arguments.positional[0].text();
    bool bounded = false;
    for (const auto& [name, value] : arguments.named) {
        if (name == "exact") {
            pin.exact = value.truthy();
        } else if (name == "lower_bound" || name == "upper_bound") {
            bounded = true;
            if (!value.is_null() && value.text() == nullptr)
                return wrong(fmt::format("{} must be a string or none", name));
            (name == "lower_bound" ? pin.lower : pin.upper) = value.to_text();
        } else {
            return wrong(fmt::format("unknown argument '{}'", name));
        }
    }
    if (pin.exact && bounded)
        return wrong("exact cannot be combined with lower_bound or upper_bound");
    return pin;
}

Result<std::string> Pin::dependency(const std::string& version, const std::string& build) const {
    if (exact) return fmt::format("{} =={} {}", name, version, build);
    GPKG_TRY(const auto bounds, pin_bounds(version, lower, upper));
    return fmt::format("{} {}", name, bounds);
}

std::string open_pin(const Pin& pin) {
    if (pin.exact) return fmt::format("{}'{}', exact=True) }}}}", kOpening, pin.name);
    return fmt::format("{}'{}', lower_bound={}, upper_bound={}) }}}}",
                       kOpening,
                       pin.name,
                       in_quotes(pin.lower),
                       in_quotes(pin.upper));
}

bool is_open_pin(std::string_view dependency) { return dependency.starts_with(kOpening); }

Result<std::string> close_pin(
    std::string_view dependency,
    const std::function<std::optional<PinnedPackage>(const std::string& name)>& find) {
    Names names;
    names.variable = [](std::string_view) -> Result<std::optional<Value>> { return std::nullopt; };
    names.known = [] { return std::vector<std::string>{}; };
    names.call = [&](std::string_view function,
                     const CallArguments& arguments) -> Result<std::optional<Value>> {
        GPKG_TRY(const auto pin, Pin::read(function, arguments));
        const auto found = find(pin.name);
        if (!found)
            return fail(
                ErrorKind::NotFound,
                fmt::format("pin_compatible: {} is not in the build or host environment", pin.name),
                "add it to requirements.host");
        GPKG_TRY(auto text, pin.dependency(found->version, found->build));
        return Value(std::move(text));
    };
    GPKG_TRY(const auto value, evaluate_template(dependency, names));
    return value.to_text();
}

}  // namespace gpkg
