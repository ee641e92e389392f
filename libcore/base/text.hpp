#pragma once

// Plain text work that several folders share: cutting, joining, ASCII case, near names.
// ASCII only: names, versions and specs of conda are ASCII.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text);
/// Pieces between separators, empty ones included; one empty piece for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string to_lower(std::string_view text);
/// `text` with `to` in every place where `from` stood; as it is where `from` is empty.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
/// Optimal string alignment distance, or `limit` + 1 as soon as it is certain to exceed `limit`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);
/// Names on disk are bytes; what goes into JSON or YAML has to be UTF-8.
bool is_utf8(std::string_view text);
/// A text that begins with the mark of UTF-16, as Windows PowerShell writes them, in UTF-8; any
/// other as it is.
std::string in_utf8(std::string text);

/// `text` with control characters and bytes beyond ASCII as \xNN, cut after `most` bytes: archives
/// and indexes choose names, and a message goes to a terminal.
std::string printable(std::string_view text, std::size_t most = 200);

/// Up to `most` of `names` that a person may have meant by `wanted`, nearest first: a small edit
/// distance (adjacent swaps count once), or the one contains the other.
std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> names,
                                    std::size_t most = 3);

/// Puts texts behind others.
void append(std::vector<std::string>& to, std::vector<std::string> more);

/// "did you mean a or b?"; `otherwise` where nothing is near.
std::string did_you_mean(std::span<const std::string> near, std::string otherwise = {});

/// "a, b or c".
std::string join_or(std::span<const std::string> items);
/// "a; b; c", of more than `most` "a; b; 4 more": where there are commas within.
std::string join_first(std::span<const std::string> items, std::size_t most);
/// "a, b and c"; of more than `most` + 1, "a, b, c and 4 others". `word` is "and" or "or".
std::string join_some(std::span<const std::string> items,
                      std::string_view word,
                      std::size_t most = 3);

/// "26,330".
std::string with_thousands(std::size_t count);
/// "12 packages", "1 package", "26,330 files".
std::string count_text(std::size_t count, std::string_view noun);

/// `word` as a POSIX shell takes it for one word: in quotes only where it needs them.
std::string shell_word(std::string_view word);
/// The words that a POSIX shell makes of a text without variables and commands in it: blanks part
/// them, quotes and backslashes keep. Nothing where a quote is not closed.
std::optional<std::vector<std::string>> words_of_line(std::string_view line);
/// A command line of such words.
std::string shell_words(std::span<const std::string> words);

}  // namespace gpkg
