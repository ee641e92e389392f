#include "libcore/yaml/line_selectors.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace gpkg::yaml {
namespace {

constexpr std::string_view kBlank = " \t\r";

/// Where the comment of a line of YAML starts, its '#' included; npos when it has none.
std::size_t comment_start(std::string_view line) {
    char quote = '\0';
    char before = '\0';  // the last character that is not blank
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        if (quote != '\0') {
            if (c == '\\' && quote == '"') {
                ++at;
            } else if (c == quote) {
                quote = '\0';
            }
        } else if ((c == '"' || c == '\'') &&
                   std::string_view("-:,[{\0", 6).find(before) != std::string_view::npos) {
            quote = c;  // elsewhere it is a part of a plain text: don't
        } else if (c == '#' && (at == 0 || kBlank.find(line[at - 1]) != std::string_view::npos)) {
            return at;
        }
        if (kBlank.find(c) == std::string_view::npos) before = c;
    }
    return std::string_view::npos;
}

struct LineSelector {
    std::string_view expression;
    bool alone = true;    ///< nothing stands behind the closing bracket
    bool closed = true;   ///< there is one
    bool behind = false;  ///< other words of a remark
};

/// "# see below [win]": conda-build takes that as a selector, which begins its comment here.
std::optional<LineSelector> selector_behind(std::string_view comment) {
    const auto begin = comment.rfind('[');
    if (begin == std::string_view::npos || !comment.ends_with(']')) return std::nullopt;
    return LineSelector{comment.substr(begin + 1, comment.size() - begin - 2), false, true, true};
}

std::optional<LineSelector> selector_of_line(std::string_view line) {
    const auto start = comment_start(line);
    // A line that is all comment selects nothing.
    if (start == std::string_view::npos || trim(line.substr(0, start)).empty()) return std::nullopt;
    const auto comment = trim(line.substr(start + 1));
    const auto end = comment.find(']');
    if (!comment.starts_with('[')) return selector_behind(comment);
    if (end == std::string_view::npos) return LineSelector{comment.substr(1), false, false};
    return LineSelector{comment.substr(1, end - 1), trim(comment.substr(end + 1)).empty()};
}

std::size_t indentation(std::string_view line) {
    return std::min(line.find_first_not_of(kBlank), line.size());
}

/// True when `line` belongs to the value that `head`, a line above it, opens.
bool is_nested(std::string_view line, std::string_view head) {
    const auto content = line.substr(indentation(line));
    if (content.empty() || content.starts_with('#')) return true;
    const auto depth = indentation(head);
    if (indentation(line) != depth) return indentation(line) > depth;
    // A list may stand at the indentation of its key.
    return content.starts_with('-') && !head.substr(depth).starts_with('-');
}

/// Where a line opens a block of text, "key: |" or "- >-", the column of what the block belongs to:
/// the lines that are further in are text.
std::optional<std::size_t> column_of_block(std::string_view line) {
    line = line.substr(0, comment_start(line));
    const auto last = line.find_last_not_of(kBlank);
    if (last == std::string_view::npos) return std::nullopt;
    line = line.substr(0, last + 1);
    const auto sign = line.find_last_of(kBlank);
    if (sign == std::string_view::npos || (line[sign + 1] != '|' && line[sign + 1] != '>') ||
        line.find_first_not_of("0123456789+-", sign + 2) != std::string_view::npos)
        return std::nullopt;
    const auto before = line.substr(0, line.find_last_not_of(kBlank, sign) + 1);
    if (!before.ends_with(':') && !before.ends_with('-')) return std::nullopt;
    // In "- - key: |" it belongs to the key, in "- - |" to the inner item.
    auto column = indentation(line);
    while (line.substr(column).starts_with("- ")) {
        const auto next = line.find_first_not_of(kBlank, column + 1);
        if (next == sign + 1) break;
        column = next;
    }
    return column;
}

bool is_in_block(std::string_view line, std::size_t column) {
    return indentation(line) == line.size() || indentation(line) > column;
}

}  // namespace

Result<SelectedText> select_lines(std::string_view text,
                                  const std::string& where,
                                  const EvaluateSelector& evaluate) {
    // Lines may end as those of old Macs do.
    std::string own;
    if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos) {
        own = text;
        std::replace(own.begin(), own.end(), '\r', '\n');
        text = own;
    }
    SelectedText selected;
    std::string_view dropped;          // the line whose nested lines go too; empty: none
    std::optional<std::size_t> block;  // its column, within a block of text
    std::size_t number = 0;
    for (const auto line : split(text, '\n')) {
        if (++number > 1) selected.text += '\n';
        if (!dropped.empty() && is_nested(line, dropped)) continue;
        dropped = {};
        if (block && is_in_block(line, *block)) {
            selected.text += line;
            continue;
        }
        block = column_of_block(line);
        if (const auto selector = selector_of_line(line)) {
            auto holds = evaluate(selector->expression);
            // "# [1] see below" is a remark, "# [lunix]" a mistake.
            if (!holds && selector->alone)
                return fail(ErrorKind::Parse,
                            fmt::format("{}:{}: {}", where, number, holds.error().message),
                            holds.error().hint);
            if (holds && *holds && !selector->closed)
                return fail(
                    ErrorKind::Parse,
                    fmt::format(
                        "{}:{}: selector [{} is not closed", where, number, selector->expression),
                    fmt::format("write # [{}]", selector->expression));
            if (holds && !*holds && selector->alone)
                selected.places.push_back(
                    fmt::format("{}:{}: [{}]", where, number, selector->expression));
            if (selector->behind) {
                if (holds && *holds)
                    selected.behind.push_back(
                        fmt::format("{}:{}: [{}]", where, number, selector->expression));
                selected.text += line;
                continue;
            }
            const auto value = holds ? *holds : std::nullopt;
            selected.has_selectors |= value.has_value();
            if (value && !*value) {
                selected.has_dropped = true;
                dropped = line;
                continue;
            }
        }
        selected.text += line;
    }
    return selected;
}

}  // namespace gpkg::yaml
