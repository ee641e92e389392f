#include "libcore/module/modulefile_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kWhat =
    "Makes the environments that fit the GPUs and the CPU of this machine available as modules.";

/// A value that a user has said otherwise stays theirs, when the module goes as well.
constexpr std::string_view kLuaConfig = R"(local config = os.getenv("GPKG_SYSTEM_CONFIG")
if config == nil or config == {0} then setenv("GPKG_SYSTEM_CONFIG", {0}) end
)";
constexpr std::string_view kTclConfig = R"(set config {0}
if {{![info exists ::env(GPKG_SYSTEM_CONFIG)] || $::env(GPKG_SYSTEM_CONFIG) eq $config}} {{
    setenv GPKG_SYSTEM_CONFIG $config
}}
)";

}  // namespace

std::string entry_modulefile(const ModuleEntry& entry, ModuleFormat format) {
    const bool lua = format == ModuleFormat::Lua;
    const auto quoted = [&](const std::string& value) {
        return lua ? lua_quoted(value) : tcl_quoted(value);
    };
    const std::string what(kWhat);
    std::string text = lua ? "-- " : "#%Module\n## ";
    text += entry_line();
    text += '\n';
    if (lua) {
        text += fmt::format("help({0})\nwhatis({1})\nlocal root = {2}\n",
                            quoted(what),
                            quoted(fmt::format("Description: {}", kWhat)),
                            quoted(entry.root.native()));
        if (!entry.programs.empty())
            text += fmt::format("prepend_path(\"PATH\", {})\n", quoted(entry.programs.native()));
        if (!entry.system_config.empty())
            text += fmt::format(kLuaConfig, quoted(entry.system_config.native()));
        return text + std::string(kLuaEntry);
    }
    text += fmt::format(
        "set gpkg_help {0}\nproc ModulesHelp {{}} {{ puts stderr $::gpkg_help }}\n"
        "module-whatis {1}\nset root {2}\n",
        quoted(what),
        quoted(fmt::format("Description: {}", kWhat)),
        quoted(entry.root.native()));
    if (!entry.programs.empty())
        text += fmt::format("prepend-path PATH {}\n", quoted(entry.programs.native()));
    if (!entry.system_config.empty())
        text += fmt::format(kTclConfig, quoted(entry.system_config.native()));
    return text + std::string(kTclEntry);
}

}  // namespace gpkg
