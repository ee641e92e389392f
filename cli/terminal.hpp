#pragma once

// What the terminal can show: its width, colours, and characters beyond ASCII.

#include "libcore/base/env_lookup.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// The value of --color.
enum class ColorChoice { Auto, Always, Never };
std::optional<ColorChoice> color_choice_of(std::string_view word);

/// Whether text on this descriptor is styled. Auto: NO_COLOR, then FORCE_COLOR and CLICOLOR_FORCE,
/// then CLICOLOR=0 decide; else a terminal is styled unless TERM is "dumb".
bool uses_color(ColorChoice choice, int descriptor, const EnvLookup& environment);

/// Whether the locale's encoding is UTF-8 (LC_ALL, LC_CTYPE, LANG).
bool uses_utf8(const EnvLookup& environment);

/// Columns of the terminal; nothing where the descriptor is not a terminal.
std::optional<std::size_t> terminal_width(int descriptor);

/// Where lines are written: how long they may be, and whether characters beyond ASCII are shown.
struct Screen {
    static constexpr std::size_t kUnlimited = ~std::size_t{0};
    std::size_t width = kUnlimited;
    bool utf8 = true;
};

/// Columns that a text takes: escape sequences and the later bytes of a UTF-8 character take none.
std::size_t display_width(std::string_view text);

/// The longest front of `text` that takes at most `width` columns.
std::string_view front(std::string_view text, std::size_t width);

enum class Keep { Start, End };
/// `text` in at most `width` columns; what is left out is marked with an ellipsis.
std::string shortened(std::string_view text, std::size_t width, Keep keep, bool utf8);

/// `text` in lines of at most `width` columns, broken between words. Line breaks in it and blanks
/// at the begin of lines stay; where a line continues it is indented by `indent` more. A longer
/// word has a line of its own. Commands to type, behind a colon or in an indented line, and texts
/// in backticks are not broken.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);
/// The same as one text, for messages.
std::string word_wrapped(std::string_view text, const Screen& screen);

}  // namespace gpkg::cli
