#include "cli/terminal.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
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
        glyphs.push_back({text.substr(0, length), is_escape});
        text.remove_prefix(length);
    }
    return glyphs;
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
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (const auto length = escape_length(text.substr(i)); length > 0) {
            i += length - 1;
            continue;
        }
        if (!continues_character(text[i])) ++width;
    }
    return width;
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
    for (const auto& [bytes, is_escape] : glyphs_of(text)) {
        const bool stays = keep == Keep::Start ? at < kept : at >= full - kept;
        if (!is_escape) ++at;
        if (is_escape || stays) {
            result += bytes;
        } else if (!is_marked) {
            is_marked = true;
            result += utf8 ? ellipsis : ellipsis.substr(0, mark);
        }
    }
    return result;
}

std::string word_wrapped(std::string_view text, const Screen& screen) {
    constexpr std::string_view kIndent = "  ";
    std::string result;
    bool is_first = true;
    for (const auto line : split(text, '\n')) {
        if (!std::exchange(is_first, false)) result += '\n';
        if (display_width(line) <= screen.width || line.starts_with(' ')) {
            result += line;
            continue;
        }
        std::size_t column = 0;
        for (const auto word : split(line, ' ')) {
            const auto width = display_width(word);
            if (column > kIndent.size() && column + 1 + width > screen.width) {
                result += '\n';
                result += kIndent;
                column = kIndent.size();
            } else if (column > 0) {
                result += ' ';
                ++column;
            }
            result += word;
            column += width;
        }
    }
    return result;
}

}  // namespace gpkg::cli
