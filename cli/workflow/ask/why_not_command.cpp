#include "cli/workflow/ask/why_not_command.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/asked_spec.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace gpkg::cli {
namespace {

/// An option that why-not takes as well.
struct SharedOption {
    enum class Of { Both, Request, Environment };
    std::string_view name;
    bool has_value = true;
    Of of = Of::Both;
};
using Of = SharedOption::Of;

constexpr SharedOption kShared[] = {
    {"-c"},
    {"--channel"},
    {"--override-channels", false},
    {"--channel-priority"},
    {"--offline", false},
    {"--exclude-newer"},
    {"--platform"},
    {"--subdir"},
    {"--for"},
    {"--devices"},
    {"--no-pin", false},
    {"--accel", true, Of::Request},
    {"-f", true, Of::Request},
    {"--file", true, Of::Request},
    {"-n", true, Of::Environment},
    {"--name", true, Of::Environment},
    {"-p", true, Of::Environment},
    {"--prefix", true, Of::Environment},
};

/// "-c", "-cmine", "--for" and "--for=h100".
const SharedOption* find_shared(std::string_view word) {
    const bool is_long = word.starts_with("--");
    const auto name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto* const found = std::ranges::find(kShared, name, &SharedOption::name);
    return found == std::ranges::end(kShared) ? nullptr : found;
}

bool is_attached(std::string_view word, const SharedOption& option) {
    return word.size() > option.name.size();
}

}  // namespace

std::string why_not_command(const Context& context,
                            const std::string& spec,
                            const Request& request) {
    const bool of_environment = !request.installed.empty();
    const auto& arguments = context.arguments;
    std::vector<std::string> words{"gpkg", "why-not", spec};
    for (const auto place : context.positionals) {
        if (of_environment || place < 2) continue;
        const auto asked = AskedSpec::parse(arguments[place]);
        if (asked && std::ranges::find(request.specs, asked->spec.name, &MatchSpec::name) !=
                         request.specs.end())
            words.push_back(arguments[place]);
    }
    for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
        const auto& word = arguments[i];
        if (!word.starts_with('-') || word.size() < 2) continue;
        const auto* option = find_shared(word);
        if (option == nullptr) continue;
        const bool is_kept =
            option->of == Of::Both || of_environment == (option->of == Of::Environment);
        const bool has_next =
            option->has_value && !is_attached(word, *option) && i + 1 < arguments.size();
        if (is_kept) words.push_back(word);
        if (is_kept && has_next) words.push_back(arguments[i + 1]);
        if (has_next) ++i;
    }
    return shell_words(words);
}

}  // namespace gpkg::cli
