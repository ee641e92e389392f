#include "libcore/module/modulefile.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/module/modulefile_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

constexpr std::string_view kOriginMark = "gpkg module 1: ";

}  // namespace

std::string_view to_string(ModuleFormat format) {
    return format == ModuleFormat::Lua ? "lua" : "tcl";
}

std::string origin_line(const ModuleOrigin& origin) {
    nlohmann::ordered_json document{{"prefix", origin.prefix.native()},
                                    {"environment", origin.environment},
                                    {"packages", origin.packages}};
    if (!origin.wanted_name.empty()) document["name"] = origin.wanted_name;
    if (!origin.image.empty()) document["image"] = origin.image.native();
    if (!origin.disk.empty()) document["disk"] = origin.disk.native();
    if (!origin.program.empty()) document["program"] = origin.program.native();
    return std::string(kOriginMark) + json_text(document);
}

std::string_view entry_line() { return "gpkg module entry 1"; }

std::optional<ModuleOrigin> origin_of_modulefile(std::string_view text) {
    const auto mark = text.find(kOriginMark);
    // After "#%Module" and a comment's sign it is the first thing there.
    if (mark == std::string_view::npos || mark > 32) return std::nullopt;
    auto line = text.substr(mark + kOriginMark.size());
    line = line.substr(0, line.find('\n'));
    const auto document = nlohmann::json::parse(line, nullptr, false);
    if (!document.is_object()) return std::nullopt;
    const auto text_of = [&](const char* key) {
        const auto item = document.find(key);
        return item != document.end() && item->is_string() ? item->get<std::string>()
                                                           : std::string();
    };
    ModuleOrigin origin{text_of("prefix"),
                        text_of("environment"),
                        text_of("packages"),
                        text_of("name"),
                        text_of("image"),
                        text_of("disk"),
                        text_of("program")};
    if (origin.prefix.empty()) return std::nullopt;
    return origin;
}

std::string help_text(const EnvironmentModule& module) {
    auto text = module.description + "\n";
    for (const auto& line : module.details) text += line + "\n";
    for (const auto& what : module.activation.left_out)
        text += "Only with gpkg activate: " + what + "\n";
    return text;
}

std::string modulefile(const EnvironmentModule& module, ModuleFormat format) {
    return format == ModuleFormat::Lua ? lua_modulefile(module) : tcl_modulefile(module);
}

}  // namespace gpkg
