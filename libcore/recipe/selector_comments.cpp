#include "libcore/recipe/selector_comments.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <string_view>

namespace gpkg {
namespace {

constexpr auto kSelectorNames = std::to_array<std::string_view>({"win",
                                                                 "win32",
                                                                 "win64",
                                                                 "linux",
                                                                 "linux32",
                                                                 "linux64",
                                                                 "osx",
                                                                 "unix",
                                                                 "arm64",
                                                                 "x86",
                                                                 "x86_64",
                                                                 "aarch64",
                                                                 "ppc64le",
                                                                 "s390x",
                                                                 "py",
                                                                 "py2k",
                                                                 "py3k",
                                                                 "py27",
                                                                 "py35",
                                                                 "py36",
                                                                 "np",
                                                                 "vc",
                                                                 "build_platform",
                                                                 "target_platform",
                                                                 "cuda_compiler_version"});

/// The first name in "not win and py<38": "win".
std::string_view first_name(std::string_view selector) {
    const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    while (!selector.empty()) {
        const auto end = std::find_if_not(selector.begin(), selector.end(), is_letter);
        const auto word = selector.substr(0, static_cast<std::size_t>(end - selector.begin()));
        if (!word.empty() && word != "not") return word;
        selector.remove_prefix(std::max(std::size_t{1}, word.size()));
    }
    return {};
}

/// "win" of "skip: true  # [win]"; empty where the line does not end with a selector.
std::string_view selector_of(std::string_view line) {
    const auto mark = line.rfind('#');
    if (mark == std::string_view::npos || mark == 0 || trim(line.substr(0, mark)).empty())
        return {};
    if (line[mark - 1] != ' ' && line[mark - 1] != '\t') return {};
    auto text = trim(line.substr(mark + 1));
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
    text = trim(text.substr(1, text.size() - 2));
    const auto& names = kSelectorNames;
    return std::find(names.begin(), names.end(), first_name(text)) == names.end()
               ? std::string_view()
               : text;
}

std::string replacement_for(std::string_view content, std::string_view selector) {
    if (content.starts_with("skip:")) return fmt::format("skip: {}", selector);
    if (content.starts_with("- "))
        return fmt::format(
            "a list item with 'if: {}' and 'then: {}'", selector, trim(content.substr(2)));
    return fmt::format("${{{{ VALUE if {} else OTHER }}}}", selector);
}

}  // namespace

std::vector<SelectorComment> selector_comments(const Recipe& recipe) {
    std::vector<SelectorComment> found;
    std::size_t number = 0;
    for (const auto line : split(recipe.text, '\n')) {
        ++number;
        const auto content = trim(line);
        if (content.starts_with('#')) continue;
        const auto selector = selector_of(content);
        if (selector.empty()) continue;
        found.push_back({number,
                         std::string(selector),
                         replacement_for(trim(content.substr(0, content.rfind('#'))), selector)});
    }
    return found;
}

}  // namespace gpkg
