#include "libcore/module/user_traces_internal.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

bool is_letter_or_digit(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_of_word(char c) { return is_letter_or_digit(c) || c == '_'; }

/// Calls `take` with each place where `part` stands and nothing that `is_inside` is beside it.
template <typename Inside, typename Take>
bool any_whole(std::string_view text, std::string_view part, Inside is_inside, Take take) {
    if (part.empty()) return false;
    for (auto place = text.find(part); place != std::string_view::npos;
         place = text.find(part, place + 1)) {
        const auto end = place + part.size();
        const bool is_whole = (place == 0 || !is_inside(text[place - 1])) &&
                              (end == text.size() || !is_inside(text[end]));
        if (is_whole && take(text.substr(end))) return true;
    }
    return false;
}

}  // namespace

bool asks_for_user(std::string_view script) {
    static constexpr auto kWords = std::to_array<std::string_view>(
        {"UID", "EUID", "GROUPS", "whoami", "logname", "groups", "getuid", "geteuid"});
    const auto anywhere = [](std::string_view) { return true; };
    // Many a text has the word "id" in it that runs no program.
    const auto is_command = [](std::string_view behind) {
        return behind.starts_with(" -") || behind.starts_with(")") || behind.starts_with("`");
    };
    return any_whole(script, "id", is_of_word, is_command) ||
           std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
               return any_whole(script, word, is_of_word, anywhere);
           });
}

bool has_one_of(std::string_view value, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return any_whole(value, name, is_letter_or_digit, [](std::string_view) { return true; });
    });
}

}  // namespace gpkg
