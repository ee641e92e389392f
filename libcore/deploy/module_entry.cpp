#include "libcore/deploy/modulefile_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::string_view kWhat =
    "Shows the environments that this machine can run: those for its accelerators, and for its "
    "processor's level.";

}  // namespace

std::string entry_modulefile(const fs::path& root, const fs::path& programs, ModuleFormat format) {
    const bool lua = format == ModuleFormat::Lua;
    const auto quoted = [&](std::string_view text) {
        return lua ? lua_quoted(text) : tcl_quoted(text);
    };
    std::string text = lua ? "-- " : "#%Module\n## ";
    text += entry_line();
    text += '\n';
    if (lua) {
        text += fmt::format("help({0})\nwhatis({1})\nlocal root = {2}\n",
                            quoted(kWhat),
                            quoted(fmt::format("Description: {}", kWhat)),
                            quoted(root.native()));
        if (!programs.empty())
            text += fmt::format("prepend_path(\"PATH\", {})\n", quoted(programs.native()));
        return text + std::string(kLuaEntry);
    }
    text += fmt::format(
        "set gpkg_help {0}\nproc ModulesHelp {{}} {{ puts stderr $::gpkg_help }}\n"
        "module-whatis {1}\nset root {2}\n",
        quoted(kWhat),
        quoted(fmt::format("Description: {}", kWhat)),
        quoted(root.native()));
    if (!programs.empty()) text += fmt::format("prepend-path PATH {}\n", quoted(programs.native()));
    return text + std::string(kTclEntry);
}

}  // namespace gpkg
