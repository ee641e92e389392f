#include "libcore/base/text.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <simdjson.h>
#include <tuple>
#include <utility>

namespace gpkg {

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > b.size()) std::swap(a, b);
    if (b.size() - a.size() > limit) return limit + 1;
    std::vector<std::size_t> before_last(a.size() + 1), last(a.size() + 1), row(a.size() + 1);
    for (std::size_t i = 0; i <= a.size(); ++i) last[i] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
        row[0] = j;
        for (std::size_t i = 1; i <= a.size(); ++i) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[i] = std::min({row[i - 1] + 1, last[i] + 1, last[i - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[i] = std::min(row[i], before_last[i - 2] + 1);
        }
        if (*std::min_element(row.begin(), row.end()) > limit) return limit + 1;
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[a.size()];
}

namespace {

/// What is no character, half of a pair, is told as one that is unknown.
void append_utf8(std::string& out, char32_t point) {
    if (point >= 0xD800 && point < 0xE000) point = 0xFFFD;
    const auto add = [&](char32_t lead, int more) {
        out += static_cast<char>(lead | point >> (6 * more));
        while (more-- > 0) out += static_cast<char>(0x80 | (point >> (6 * more) & 0x3F));
    };
    if (point < 0x80) return add(0, 0);
    if (point < 0x800) return add(0xC0, 1);
    return point < 0x10000 ? add(0xE0, 2) : add(0xF0, 3);
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    if (from.empty()) return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (;;) {
        const auto at = text.find(from);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        out += to;
        text.remove_prefix(at + from.size());
    }
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n\f\v";
    const auto first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (;;) {
        const auto end = text.find(separator);
        pieces.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return pieces;
        text.remove_prefix(end + 1);
    }
}

std::string to_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string in_utf8(std::string text) {
    const bool is_big_endian = text.starts_with("\xFE\xFF");
    if (!is_big_endian && !text.starts_with("\xFF\xFE")) return text;
    const auto unit = [&](std::size_t at) -> char32_t {
        const auto first = static_cast<unsigned char>(text[at]);
        const auto second = static_cast<unsigned char>(text[at + 1]);
        return static_cast<char32_t>(is_big_endian ? first << 8 | second : second << 8 | first);
    };
    const auto is_within = [](char32_t one, char32_t first) {
        return one >= first && one < first + 0x400;
    };
    std::string out;
    for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
        auto point = unit(at);
        if (is_within(point, 0xD800) && at + 3 < text.size() && is_within(unit(at + 2), 0xDC00)) {
            point = 0x10000 + ((point - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
            at += 2;
        }
        append_utf8(out, point);
    }
    return out;
}

std::string printable(std::string_view text, std::size_t most) {
    std::string result;
    for (const auto c : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    if (text.size() > most) result += "...";
    return result;
}

std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> names,
                                    std::size_t most) {
    // Of a short word little is left after a slip or two.
    const std::size_t limit = wanted.size() <= 1 ? 0 : wanted.size() <= 6 ? 1 : 2;
    // Of equals those with the same first letter: slips are seldom there.
    std::vector<std::tuple<std::size_t, bool, std::string>> scored;
    const auto lower = to_lower(wanted);
    for (const auto& name : names) {
        if (name == wanted || name.empty() || wanted.empty()) continue;
        std::size_t score = edit_distance(lower, to_lower(name), limit);
        if (score > limit) {
            const bool related = (wanted.size() >= 3 && name.find(wanted) != std::string::npos) ||
                                 (name.size() >= 4 && wanted.find(name) != std::string_view::npos);
            if (!related) continue;
            const auto longer = std::max(name.size(), wanted.size());
            score = limit + 1 + (longer - std::min(name.size(), wanted.size()));
        }
        scored.emplace_back(score, name.front() != wanted.front(), name);
    }
    std::ranges::sort(scored);
    scored.erase(std::unique(scored.begin(), scored.end()), scored.end());
    std::vector<std::string> nearest;
    for (auto& [score, is_other_letter, name] : scored) {
        if (nearest.size() == most) break;
        nearest.push_back(std::move(name));
    }
    return nearest;
}

std::string did_you_mean(std::span<const std::string> near, std::string otherwise) {
    return near.empty() ? std::move(otherwise) : fmt::format("did you mean {}?", join_or(near));
}

std::string join_or(std::span<const std::string> items) {
    return join_some(items, "or", items.size());
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string join_first(std::span<const std::string> items, std::size_t most) {
    auto text = fmt::format("{}", fmt::join(items.first(std::min(items.size(), most)), "; "));
    if (items.size() > most) text += fmt::format("; {} more", items.size() - most);
    return text;
}

std::string join_some(std::span<const std::string> items, std::string_view word, std::size_t most) {
    // "1 other" would be no shorter than its name.
    const auto shown = items.first(items.size() <= most + 1 ? items.size() : most);
    const auto others = items.size() - shown.size();
    std::string text;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const bool is_last = others == 0 && i + 1 == shown.size();
        if (i > 0) text += is_last ? fmt::format(" {} ", word) : ", ";
        text += shown[i];
    }
    if (others > 0) text += fmt::format(" {} {} others", word, others);
    return text;
}

std::string with_thousands(std::size_t count) {
    auto digits = std::to_string(count);
    for (auto at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

std::string count_text(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", with_thousands(count), noun, count == 1 ? "" : "s");
}

std::string shell_word(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(word);
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::optional<std::vector<std::string>> words_of_line(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool is_word = false;
    char quote = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
            if (std::exchange(is_word, false)) words.push_back(std::exchange(word, {}));
            continue;
        }
        is_word = true;
        if (quote == 0 && (c == '\'' || c == '"'))
            quote = c;
        else if (c == quote)
            quote = 0;
        else if (c == '\\' && quote != '\'' && at + 1 < line.size())
            word += line[++at];
        else
            word += c;
    }
    if (quote != 0) return std::nullopt;
    if (is_word) words.push_back(std::move(word));
    return words;
}

std::string shell_words(std::span<const std::string> words) {
    std::string line;
    for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

}  // namespace gpkg
