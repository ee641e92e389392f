#include "libcore/manifest/inline_script.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string_view without_trailing_space(std::string_view line) {
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

/// The TOML text in the comments of the block, without its tables; empty without a complete block.
std::string block_of(std::string_view script) {
    std::string block;
    bool is_inside = false;
    bool is_in_table = false;
    while (!script.empty()) {
        const auto end = std::min(script.find('\n'), script.size());
        const auto line = without_trailing_space(script.substr(0, end));
        script.remove_prefix(std::min(end + 1, script.size()));
        if (!is_inside) {
            is_inside = line == "# /// script";
            continue;
        }
        if (line == "# ///") return block;
        if (!line.starts_with('#')) return {};
        const auto text = line.substr(line.starts_with("# ") ? 2 : 1);
        is_in_table = is_in_table || text.starts_with('[');
        if (!is_in_table) block.append(text).append("\n");
    }
    return {};
}

/// What follows `key =` at the beginning of a line; empty without the key.
std::string_view value_of(std::string_view block, std::string_view key) {
    while (!block.empty()) {
        if (block.starts_with(key)) {
            const auto equals = block.find_first_not_of(' ', key.size());
            if (equals < block.size() && block[equals] == '=') return block.substr(equals + 1);
        }
        block.remove_prefix(std::min(block.find('\n'), block.size() - 1) + 1);
    }
    return {};
}

/// The quoted strings of a TOML string or of an array of strings.
std::vector<std::string> strings_in(std::string_view value) {
    std::vector<std::string> strings;
    const bool is_array =
        value.substr(std::min(value.find_first_not_of(' '), value.size())).starts_with('[');
    const auto end_of_value = is_array ? ']' : '\n';
    for (std::size_t i = 0; i < value.size() && value[i] != end_of_value; ++i) {
        if (value[i] == '#') {
            i = std::min(value.find('\n', i), value.size()) - 1;
        } else if (value[i] == '"' || value[i] == '\'') {
            const auto end = std::min(value.find(value[i], i + 1), value.size());
            strings.emplace_back(value.substr(i + 1, end - i - 1));
            i = end;
        }
    }
    return strings;
}

/// "requests<3" of "requests < 3": conda's versions have the operators of Python's.
Result<std::string> spec_of(std::string requirement) {
    if (requirement.find_first_of("[;@") != std::string::npos)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("'{}' in the script block is not a package with versions", requirement),
            "extras, markers and URLs are for pip; name a package of the channel");
    std::erase_if(requirement, [](char c) { return c == ' ' || c == '(' || c == ')'; });
    const auto versions = std::min(requirement.find_first_of("<>=!~"), requirement.size());
    return to_lower(requirement.substr(0, versions)) + requirement.substr(versions);
}

}  // namespace

Result<std::vector<std::string>> inline_script_specs(std::string_view script) {
    const auto block = block_of(script);
    std::vector<std::string> specs;
    for (const auto& version : strings_in(value_of(block, "requires-python"))) {
        GPKG_TRY(auto spec, spec_of("python" + version));
        specs.push_back(std::move(spec));
    }
    for (auto& requirement : strings_in(value_of(block, "dependencies"))) {
        GPKG_TRY(auto spec, spec_of(std::move(requirement)));
        specs.push_back(std::move(spec));
    }
    return specs;
}

}  // namespace gpkg
