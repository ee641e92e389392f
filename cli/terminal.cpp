#include "cli/terminal.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpkg::cli {
namespace {

constexpr std::string_view kSequence = "\x1b[";
/// What some terminals report of themselves (a serial line, a pty nobody sized) is not a width.
constexpr unsigned kNarrowestTerminal = 20;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The code point of one character in UTF-8; 0 where it is damaged.
char32_t code_point(std::string_view bytes) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    if (first < 0x80U) return first;
    constexpr unsigned int kFirstBits[] = {0, 0, 0x1FU, 0x0FU, 0x07U};
    if (bytes.size() >= std::size(kFirstBits)) return 0;
    char32_t code = first & kFirstBits[bytes.size()];
    for (const char next : bytes.substr(1))
        code = code << 6U | (static_cast<unsigned char>(next) & 0x3FU);
    return code;
}

/// How many columns a character takes: two for East Asian ones and emoji, none for marks that
/// combine with the character before.
std::size_t columns_of(std::string_view character) {
    struct Range {
        char32_t first, last;
    };
    constexpr Range kWide[] = {{0x1100, 0x115F},
                               {0x2E80, 0xA4CF},
                               {0xAC00, 0xD7A3},
                               {0xF900, 0xFAFF},
                               {0xFE30, 0xFE6F},
                               {0xFF00, 0xFF60},
                               {0xFFE0, 0xFFE6},
                               {0x1F300, 0x1F64F},
                               {0x1F900, 0x1F9FF},
                               {0x20000, 0x3FFFD}};
    constexpr Range kCombining[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
    const auto code = code_point(character);
    const auto holds = [&](const Range& range) {
        return code >= range.first && code <= range.last;
    };
    if (std::ranges::any_of(kWide, holds)) return 2;
    return std::ranges::any_of(kCombining, holds) ? 0 : 1;
}

/// The length of the escape sequence at the front ("\x1b[1m"); 0 without one.
std::size_t escape_length(std::string_view text) {
    if (!text.starts_with(kSequence)) return 0;
    const auto end = text.find('m');
    return end == std::string_view::npos ? 0 : end + 1;
}

std::string value_of(const EnvLookup& environment, std::string_view name) {
    return environment ? environment(name).value_or("") : "";
}

/// Set to something that does not mean "no".
bool is_on(const std::string& value) { return !value.empty() && value != "0" && value != "false"; }

/// A character with the escape sequences before it.
struct Glyph {
    std::string_view bytes;
    bool is_escape = false;
    std::size_t columns = 0;
};

std::vector<Glyph> glyphs_of(std::string_view text) {
    std::vector<Glyph> glyphs;
    while (!text.empty()) {
        auto length = escape_length(text);
        const bool is_escape = length > 0;
        if (!is_escape) {
            length = 1;
            while (length < text.size() && continues_character(text[length])) ++length;
        }
        const auto bytes = text.substr(0, length);
        glyphs.push_back({bytes, is_escape, is_escape ? 0 : columns_of(bytes)});
        text.remove_prefix(length);
    }
    return glyphs;
}

/// The length of the text at the front that a line break may not divide: a command, up to the next
/// ';', ')', its remark or the end, text in backticks, or a word.
std::size_t unbroken_length(std::string_view text, bool may_be_command) {
    constexpr std::string_view kProgram = "gpkg ";
    if (may_be_command && text.substr(escape_length(text)).starts_with(kProgram))
        return std::min(text.find_first_of(";)"), text.find("  #"));
    if (const auto tick = text.find('`'); tick < text.find(' ')) {
        const auto end = text.find('`', tick + 1);
        if (end != std::string_view::npos) return text.find(' ', end);
    }
    return text.find(' ');
}

/// The parts of a paragraph between which lines may be broken. A command follows a colon, or
/// begins an indented line. "[y/N]" stays with its question.
std::vector<std::string_view> words_of(std::string_view text, bool is_indented) {
    std::vector<std::string_view> words;
    bool may_be_command = is_indented;
    while (!text.empty()) {
        auto length = std::min(unbroken_length(text, may_be_command), text.size());
        length = std::min(text.find(' ', length), text.size());
        for (const std::string_view choice : {" [y/N]", " [Y/n]"})
            if (text.substr(length).starts_with(choice)) length += choice.size();
        words.push_back(text.substr(0, length));
        may_be_command = words.back().ends_with(':');
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    return words;
}

}  // namespace

std::optional<ColorChoice> color_choice_of(std::string_view word) {
    if (word == "auto") return ColorChoice::Auto;
    if (word == "always") return ColorChoice::Always;
    if (word == "never") return ColorChoice::Never;
    return std::nullopt;
}

bool uses_color(ColorChoice choice, int descriptor, const EnvLookup& environment) {
    if (choice != ColorChoice::Auto) return choice == ColorChoice::Always;
    if (!value_of(environment, "NO_COLOR").empty()) return false;
    if (is_on(value_of(environment, "FORCE_COLOR")) ||
        is_on(value_of(environment, "CLICOLOR_FORCE")))
        return true;
    const auto clicolor = value_of(environment, "CLICOLOR");
    if (!clicolor.empty() && !is_on(clicolor)) return false;
    return ::isatty(descriptor) != 0 && value_of(environment, "TERM") != "dumb";
}

bool uses_utf8(const EnvLookup& environment) {
    for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const auto locale = to_lower(value_of(environment, name));
        if (locale.empty()) continue;
        return locale.find("utf-8") != std::string::npos ||
               locale.find("utf8") != std::string::npos;
    }
    return false;
}

std::optional<std::size_t> terminal_width(int descriptor) {
    if (::isatty(descriptor) == 0) return std::nullopt;
    struct winsize size {};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= kNarrowestTerminal)
        return size.ws_col;
    constexpr std::size_t kUsual = 80;
    return kUsual;
}

std::size_t display_width(std::string_view text) {
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
    if (std::ranges::all_of(text, is_plain)) return text.size();  // nearly all are
    std::size_t width = 0;
    for (const auto& glyph : glyphs_of(text)) width += glyph.columns;
    return width;
}

std::string_view front(std::string_view text, std::size_t width) {
    std::size_t size = 0;
    std::size_t column = 0;
    for (const auto& glyph : glyphs_of(text)) {
        column += glyph.columns;
        if (column > width) break;
        size += glyph.bytes.size();
    }
    return text.substr(0, size);
}

std::string shortened(std::string_view text, std::size_t width, Keep keep, bool utf8) {
    const auto full = display_width(text);
    if (full <= width) return std::string(text);
    const std::string_view ellipsis = utf8 ? "…" : "..";
    const auto mark = std::min(display_width(ellipsis), width);
    const auto kept = width - mark;
    std::string result;
    std::size_t at = 0;
    bool is_marked = false;
    for (const auto& [bytes, is_escape, columns] : glyphs_of(text)) {
        const bool stays = keep == Keep::Start ? at + columns <= kept : at >= full - kept;
        at += columns;
        if (is_escape || stays) {
            result += bytes;
        } else if (!is_marked) {
            is_marked = true;
            result += utf8 ? ellipsis : ellipsis.substr(0, mark);
        }
    }
    return result;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::vector<std::string> lines;
    for (const auto paragraph : split(text, '\n')) {
        const auto leading = std::min(paragraph.find_first_not_of(' '), paragraph.size());
        std::string line(leading, ' ');
        auto column = leading;
        bool is_begun = false;
        for (const auto word : words_of(paragraph.substr(leading), leading > 0)) {
            const auto length = display_width(word);
            if (is_begun && column + 1 + length > width) {
                line.erase(line.find_last_not_of(' ') + 1);
                lines.push_back(std::exchange(line, std::string(leading + indent, ' ')));
                column = line.size();
            } else if (is_begun) {
                line += ' ';
                ++column;
            }
            line += word;
            column += length;
            is_begun = true;
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string word_wrapped(std::string_view text, const Screen& screen) {
    constexpr std::size_t kIndent = 2;
    if (screen.width == Screen::kUnlimited) return std::string(text);
    return fmt::format("{}", fmt::join(wrapped(text, screen.width, kIndent), "\n"));
}

}  // namespace gpkg::cli
