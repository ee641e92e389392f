#include "libcore/recipe/replace_dependency.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/dependency.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using Nodes = std::vector<const yaml::Node*>;

/// Scalars below a list of requirements, through its conditions.
void add_matching(const yaml::Node& node, std::string_view dependency, Nodes& found) {
    if (node.is_scalar()) {
        const auto text = dependency_text(node.text());
        if (text && *text == dependency) found.push_back(&node);
    }
    for (const auto& item : node.items()) add_matching(item, dependency, found);
    for (const auto* branch : {"then", "else"}) {
        if (const auto* inner = node.find(branch)) add_matching(*inner, dependency, found);
    }
}

Nodes places_of(const yaml::Node& root, std::string_view dependency) {
    Nodes found;
    const auto look = [&](const yaml::Node& owner) {
        const auto* requirements = owner.find("requirements");
        const auto* run = requirements == nullptr ? nullptr : requirements->find("run");
        if (run != nullptr) add_matching(*run, dependency, found);
    };
    look(root);
    if (const auto* outputs = root.find("outputs")) {
        for (const auto& output : outputs->items()) look(output);
    }
    return found;
}

/// Where the node's text begins in that of the document: its place ends in ":<line>:<column>".
std::size_t offset_of(const yaml::Node& node, std::string_view text) {
    const auto place = node.place();
    const auto parts = split(place, ':');
    const auto number = [&](std::size_t from_end) {
        const auto part = parts[parts.size() - from_end];
        std::size_t value = 1;
        std::from_chars(part.data(), part.data() + part.size(), value);
        return value;
    };
    std::size_t at = 0;
    for (std::size_t line = 1; line < number(2); ++line) at = text.find('\n', at) + 1;
    return at + number(1) - 1;
}

/// The bytes [begin, end) of the scalar as it is written, quotes included.
struct Written {
    std::size_t begin = 0;
    std::size_t end = 0;
};

Result<Written> written(const yaml::Node& node, std::string_view text) {
    const auto begin = offset_of(node, text);
    if (begin < text.size() && (text[begin] == '"' || text[begin] == '\'')) {
        const auto end = text.find(text[begin], begin + 1);
        if (end != std::string_view::npos && text.substr(begin + 1, end - begin - 1) == node.text())
            return Written{begin, end + 1};
    } else if (text.substr(std::min(begin, text.size())).starts_with(node.text())) {
        return Written{begin, begin + node.text().size()};
    }
    return node.fail("cannot change this line automatically", "edit the recipe by hand");
}

std::string joined(const std::vector<std::string>& specs, std::string_view separator) {
    std::vector<std::string> quoted;
    quoted.reserve(specs.size());
    for (const auto& spec : specs) quoted.push_back(fmt::format("\"{}\"", spec));
    return fmt::format("{}", fmt::join(quoted, separator));
}

/// An item "- spec" on a line of its own: so many lines, or none.
std::string in_block(std::string text,
                     const Written& place,
                     std::string_view lead,
                     const std::vector<std::string>& instead) {
    if (!instead.empty())
        return text.replace(
            place.begin, place.end - place.begin, joined(instead, "\n" + std::string(lead)));
    const auto begin = place.begin - lead.size();
    const auto end = std::min(text.find('\n', place.end), text.size() - 1) + 1;
    return text.erase(begin, end - begin);
}

/// An item of "[a, b]", with one of the commas beside it where nothing comes in its place.
std::string in_line(std::string text, Written place, const std::vector<std::string>& instead) {
    if (instead.empty()) {
        const auto next = text.find_first_not_of(' ', place.end);
        const auto last = text.find_last_not_of(' ', place.begin - 1);
        if (next != std::string::npos && text[next] == ',')
            place.end = std::min(text.find_first_not_of(' ', next + 1), text.size());
        else if (last != std::string::npos && text[last] == ',')
            place.begin = last;
    }
    return text.replace(place.begin, place.end - place.begin, joined(instead, ", "));
}

}  // namespace

Result<std::string> replace_run_dependency(const Recipe& recipe,
                                           std::string_view dependency,
                                           const std::vector<std::string>& instead) {
    const auto found = places_of(recipe.root, dependency);
    if (found.empty())
        return fail(
            ErrorKind::NotFound,
            fmt::format(
                "{}: {} is not listed in requirements.run", recipe.file.native(), dependency),
            "if it comes from a template or from run_exports, edit the recipe by hand");
    if (found.size() > 1)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {} is a run dependency in {} places: {}, {}",
                                recipe.file.native(),
                                dependency,
                                found.size(),
                                found[0]->place(),
                                found[1]->place()),
                    "edit the recipe by hand");
    GPKG_TRY(const auto place, written(*found.front(), recipe.text));
    const auto line = recipe.text.rfind('\n', place.begin) + 1;  // 0 on the first line
    const auto lead = std::string_view(recipe.text).substr(line, place.begin - line);
    const auto rest = std::string_view(recipe.text)
                          .substr(place.end, recipe.text.find('\n', place.end) - place.end);
    const bool has_comment_only = trim(rest).empty() || trim(rest).starts_with('#');
    if (trim(lead) == "-" && has_comment_only) return in_block(recipe.text, place, lead, instead);
    const auto before = trim(lead);
    if (before.ends_with(':'))  // the only one, without a list around it
        return std::string(recipe.text)
            .replace(
                place.begin, place.end - place.begin, fmt::format("[{}]", joined(instead, ", ")));
    return in_line(recipe.text, place, instead);
}

}  // namespace gpkg
