#include "libcore/manifest/environment_yml_text.hpp"

#include "libcore/yaml/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

/// Readers of YAML 1.1 see numbers and dates in more texts than others do (1_000, 1:30,
/// 2026-01-01); all of these begin with a digit, a sign or a dot.
std::string scalar(const std::string& text) {
    const auto starts_like_a_word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
    };
    auto quoted = yaml::quote(text);
    if (quoted != text || text.empty() || starts_like_a_word(text.front())) return quoted;
    if (text.find_first_of("\"\\") == std::string::npos) return fmt::format("\"{}\"", text);
    // Between these nothing means anything else, but that one of them is written twice.
    std::string single;
    for (const char c : text) single += c == '\'' ? "''" : std::string(1, c);
    return fmt::format("'{}'", single);
}

std::string list(const std::string& indent, const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += fmt::format("{}- {}\n", indent, scalar(item));
    return text;
}

std::string map(const std::map<std::string, std::string>& entries) {
    std::string text;
    for (const auto& [key, value] : entries)
        text += fmt::format("  {}: {}\n", scalar(key), scalar(value));
    return text;
}

std::string accelerator_text(const EnvironmentYml& environment) {
    // The words are names: none needs quotes.
    const auto& several = environment.accelerator;
    auto all = fmt::format("{}", fmt::join(several, ", "));
    if (several.size() > 1) all = fmt::format("[{}]", all);
    if (environment.package_accelerators.empty())
        return all.empty() ? "" : fmt::format("accelerator: {}\n", all);
    std::string text = "accelerator:\n";
    if (!all.empty()) text += fmt::format("  default: {}\n", all);
    return text + map(environment.package_accelerators);
}

}  // namespace

std::string to_text(const EnvironmentYml& environment) {
    std::string text;
    if (environment.name) text += fmt::format("name: {}\n", scalar(*environment.name));
    if (!environment.channels.empty()) text += "channels:\n" + list("  ", environment.channels);
    if (environment.dependencies.empty() && environment.pip.empty())
        text += "dependencies: []\n";
    else
        text += "dependencies:\n" + list("  ", environment.dependencies);
    if (!environment.pip.empty()) text += "  - pip:\n" + list("    ", environment.pip);
    if (!environment.variables.empty()) text += "variables:\n" + map(environment.variables);
    text += accelerator_text(environment);
    if (environment.prefix) text += fmt::format("prefix: {}\n", scalar(*environment.prefix));
    return text;
}

}  // namespace gpkg
