#include "libcore/base/text.hpp"
#include "libcore/module/modulefile_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using How = VariableEffect::How;

/// Its brackets are longer than any in the text.
std::string long_text(const std::string& text) {
    std::string level;
    while (text.find("]" + level + "]") != std::string::npos) level += '=';
    return fmt::format("[{0}[\n{1}]{0}]", level, text);
}

std::string lua_value(const VariableEffect& effect) {
    std::string text;
    std::string_view rest = effect.value;
    for (;;) {
        const auto place = rest.find(kUsersHome);
        text += lua_quoted(rest.substr(0, place));
        if (place == std::string_view::npos) return text;
        text += R"( .. (os.getenv("HOME") or "") .. )";
        rest.remove_prefix(place + kUsersHome.size());
    }
}

std::string lua_statement(const VariableEffect& effect) {
    const auto name = lua_quoted(effect.name);
    const auto value = lua_value(effect);
    switch (effect.how) {
    case How::Set: return fmt::format("set({}, {})", name, value);
    case How::SetIfUnset: return fmt::format("set_if_unset({}, {})", name, value);
    case How::Unset: return fmt::format("unset({})", name);
    case How::PrependPath: return fmt::format("add({}, {}, \":\", false)", name, value);
    case How::AppendPath: return fmt::format("add({}, {}, \":\", true)", name, value);
    case How::PrependWords: return fmt::format("add({}, {}, \" \", false)", name, value);
    case How::AppendWords: return fmt::format("add({}, {}, \" \", true)", name, value);
    }
    return {};
}

}  // namespace

std::string lua_quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (code < 0x20 || code == 0x7f) {
            quoted += fmt::format("\\{:03}", static_cast<unsigned>(code));
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string lua_modulefile(const EnvironmentModule& module) {
    std::vector<std::string> lines;
    lines.push_back("-- " + origin_line(module.origin));
    lines.emplace_back("-- Do not edit: `gpkg module write` replaces this file.");
    lines.push_back("help(" + long_text(help_text(module)) + ")");
    const auto whatis = [&](std::string_view key, const std::string& value) {
        if (!value.empty())
            lines.push_back(
                fmt::format("whatis({})", lua_quoted(fmt::format("{}: {}", key, value))));
    };
    whatis("Name", module.name);
    whatis("Version", module.version);
    whatis("Description", module.description);
    whatis("Category", "conda environment");
    whatis("Keywords", fmt::format("{}", fmt::join(module.keywords, ", ")));
    if (!module.extensions.empty())
        lines.push_back(fmt::format(
            "extensions({})", lua_quoted(fmt::format("{}", fmt::join(module.extensions, ", ")))));
    lines.emplace_back("family(\"conda_env\")");
    lines.push_back("\n" + std::string(kLuaFunctions));
    const auto& origin = module.origin;
    const auto place = lua_quoted(origin.prefix.native());
    const bool is_image = !origin.image.empty();
    if (is_image) {
        lines.push_back(
            fmt::format("local program = {}", lua_quoted(module.origin.program.native())));
        lines.emplace_back(kLuaImage);
        lines.push_back(fmt::format("mount({}, {}, {})",
                                    lua_quoted(origin.image.native()),
                                    place,
                                    lua_quoted(origin.disk.native())));
    }
    lines.push_back(fmt::format("enter({})", place));
    for (const auto& effect : module.activation.effects) lines.push_back(lua_statement(effect));
    if (is_image) lines.push_back(fmt::format("unmount({})", place));
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace gpkg
