#include "libcore/base/text.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/package_names_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::virtual_packages {
namespace {

bool is_variable_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool is_version(std::string_view text) {
    // A dash ends the version in a package's full name.
    return text == kAnyVersion ||
           (!text.empty() && text.front() >= '0' && text.front() <= '9' &&
            text.find('-') == std::string_view::npos && Version::parse(text).has_value());
}

Result<void> check_free_name(std::string_view name) {
    if (!is_virtual_package_name(name) || !std::ranges::all_of(name, is_variable_letter))
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: not a name for a virtual package", printable(name)),
            "use two underscores, then lower-case letters, digits and underscores: __level_zero");
    if (is_known_virtual_package(name))
        return fail(ErrorKind::Parse,
                    fmt::format("{} is reserved", name),
                    "use a name that neither conda nor gpkg defines");
    return {};
}

std::string override_variable(std::string_view name) {
    auto variable = "CONDA_OVERRIDE_" + std::string(name.substr(2));
    std::ranges::transform(variable, variable.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return variable;
}

}  // namespace gpkg::virtual_packages
