#include "libcore/base/has_word.hpp"
#include "libcore/module/user_traces_internal.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace gpkg {
namespace {

/// "$(id -u)" or "`id`": many a text has the word "id" in it that runs no program.
bool runs_id(std::string_view script) {
    for (const std::string_view call : {"id -", "id)", "id`"}) {
        for (auto at = script.find(call); at != std::string_view::npos;
             at = script.find(call, at + 1)) {
            const auto before = at == 0 ? ' ' : script[at - 1];
            if (before != '_' && std::isalnum(static_cast<unsigned char>(before)) == 0) return true;
        }
    }
    return false;
}

}  // namespace

bool asks_for_user(std::string_view script) {
    static constexpr auto kWords = std::to_array<std::string_view>(
        {"UID", "EUID", "GROUPS", "whoami", "logname", "groups", "getuid", "geteuid"});
    return runs_id(script) || std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
               return has_word(script, word, "_");
           });
}

bool has_one_of(std::string_view value, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return !name.empty() && has_word(value, name, "");
    });
}

}  // namespace gpkg
