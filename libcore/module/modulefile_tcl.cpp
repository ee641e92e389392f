#include "libcore/base/text.hpp"
#include "libcore/module/modulefile_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using How = VariableEffect::How;

std::string tcl_value(const VariableEffect& effect) {
    return replace_all(tcl_quoted(effect.value), kUsersHome, "[gpkg_value HOME]");
}

std::string tcl_statement(const VariableEffect& effect) {
    const auto& name = effect.name;
    const auto value = tcl_value(effect);
    switch (effect.how) {
    case How::Set: return fmt::format("gpkg_set {} {}", name, value);
    case How::SetIfUnset: return fmt::format("gpkg_set_if_unset {} {}", name, value);
    case How::Unset: return fmt::format("gpkg_unset {}", name);
    case How::PrependPath: return fmt::format("gpkg_add {} {} \":\" 0", name, value);
    case How::AppendPath: return fmt::format("gpkg_add {} {} \":\" 1", name, value);
    case How::PrependWords: return fmt::format("gpkg_add {} {} \" \" 0", name, value);
    case How::AppendWords: return fmt::format("gpkg_add {} {} \" \" 1", name, value);
    }
    return {};
}

}  // namespace

std::string tcl_quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '\n') {
            quoted += "\\n";
        } else {
            if (std::string_view("\\\"$[]{}").find(c) != std::string_view::npos) quoted += '\\';
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string tcl_modulefile(const EnvironmentModule& module) {
    std::vector<std::string> lines;
    lines.emplace_back("#%Module");
    lines.push_back("## " + origin_line(module.origin));
    lines.emplace_back("## Do not edit: `gpkg module write` replaces this file.");
    lines.push_back(fmt::format("set gpkg_help {}", tcl_quoted(help_text(module))));
    lines.emplace_back("proc ModulesHelp {} { puts stderr $::gpkg_help }");
    const auto whatis = [&](std::string_view key, const std::string& value) {
        if (!value.empty())
            lines.push_back(
                fmt::format("module-whatis {}", tcl_quoted(fmt::format("{}: {}", key, value))));
    };
    whatis("Name", module.name);
    whatis("Version", module.version);
    whatis("Description", module.description);
    whatis("Category", "conda environment");
    whatis("Keywords", fmt::format("{}", fmt::join(module.keywords, ", ")));
    // Not in versions before 5.1.
    lines.emplace_back("if {[llength [info commands family]]} { family conda_env }");
    lines.push_back("\n" + std::string(kTclFunctions));
    const auto& origin = module.origin;
    const auto place = tcl_quoted(origin.prefix.native());
    const bool is_image = !origin.image.empty();
    if (is_image) {
        lines.push_back(
            fmt::format("set gpkg_program {}", tcl_quoted(module.origin.program.native())));
        lines.emplace_back(kTclImage);
        lines.push_back(fmt::format("gpkg_mount {} {} {}",
                                    tcl_quoted(origin.image.native()),
                                    place,
                                    tcl_quoted(origin.disk.native())));
    }
    lines.push_back(fmt::format("gpkg_enter {}", place));
    for (const auto& effect : module.activation.effects) lines.push_back(tcl_statement(effect));
    if (is_image) lines.push_back(fmt::format("gpkg_unmount {}", place));
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace gpkg
