#include "cli/given_words.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace gpkg::cli {
namespace {

/// The words of a command line apart from those that a hint is about.
struct GivenWords {
    std::string environment;             ///< "-n ml", "--prefix=/x"; empty for none
    std::vector<std::string> rest;       ///< the others
    std::vector<std::string> arguments;  ///< those of `rest` that are no options
};

GivenWords given_words(std::span<const std::string> words) {
    constexpr std::string_view kTargetFlags[] = {"-n", "--name", "-p", "--prefix"};
    GivenWords given;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& word = words[i];
        if (std::ranges::find(kTargetFlags, word) != std::end(kTargetFlags) &&
            i + 1 < words.size()) {
            given.environment = fmt::format("{} {}", word, shell_word(words[i + 1]));
            ++i;
        } else if (word.starts_with("--name=") || word.starts_with("--prefix=")) {
            given.environment = shell_word(word);
        } else {
            given.rest.push_back(word);
            if (!word.starts_with('-')) given.arguments.push_back(word);
        }
    }
    return given;
}

/// What stands for "{label}" in a hint.
std::string filled(std::string_view label,
                   std::span<const std::string> words,
                   const GivenWords& given,
                   std::span<const std::string> arguments) {
    const auto colon = label.find(':');
    if (colon == 1) {
        const auto index = static_cast<std::size_t>(label.front() - '1');
        return index < arguments.size() ? shell_word(arguments[index])
                                        : std::string(label.substr(colon + 1));
    }
    const bool takes_all = label.empty() || label.starts_with('*');
    if (takes_all)
        return words.empty() ? std::string(label.substr(label.empty() ? 0 : 1))
                             : shell_words(words);
    return given.arguments.empty() ? std::string(label) : shell_words(given.rest);
}

struct SharedOption {
    std::string_view name;
    OptionSubject subject;
    bool has_value = true;
};

constexpr SharedOption kShared[] = {
    {"-c", OptionSubject::Channels},
    {"--channel", OptionSubject::Channels},
    {"--override-channels", OptionSubject::Channels, false},
    {"--channel-priority", OptionSubject::Channels},
    {"--offline", OptionSubject::Channels, false},
    {"--exclude-newer", OptionSubject::Channels},
    {"--platform", OptionSubject::Machine},
    {"--subdir", OptionSubject::Machine},
    {"--for", OptionSubject::Machine},
    {"--devices", OptionSubject::Machine},
    {"--no-pin", OptionSubject::Pins, false},
    {"--accel", OptionSubject::Request},
    {"-f", OptionSubject::Request},
    {"--file", OptionSubject::Request},
    {"-n", OptionSubject::Environment},
    {"--name", OptionSubject::Environment},
    {"-p", OptionSubject::Environment},
    {"--prefix", OptionSubject::Environment},
};

/// "-c", "-cmine", "--for" and "--for=h100".
const SharedOption* find_shared(std::string_view word) {
    const bool is_long = word.starts_with("--");
    const auto name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    const auto* const found = std::ranges::find(kShared, name, &SharedOption::name);
    return found == std::ranges::end(kShared) ? nullptr : found;
}

}  // namespace

std::string with_given_words(std::string hint,
                             std::span<const std::string> words,
                             const IsEnvironment& is_environment) {
    constexpr std::string_view kNamed = "-n NAME";
    auto given = given_words(words);
    // With -n, the arguments are not the first and the second name.
    const auto arguments = given.environment.empty() ? given.arguments : std::vector<std::string>();
    auto at = hint.find(kNamed);
    if (at != std::string::npos && !arguments.empty() && is_environment &&
        is_environment(arguments.front())) {
        given.environment = "-n " + shell_word(arguments.front());
        given.arguments.erase(given.arguments.begin());
        given.rest.erase(std::ranges::find(given.rest, arguments.front()));
    }
    for (; at != std::string::npos && !given.environment.empty(); at = hint.find(kNamed, at)) {
        hint.replace(at, kNamed.size(), given.environment);
        at += given.environment.size();
    }
    for (at = hint.find('{'); at != std::string::npos; at = hint.find('{', at)) {
        const auto end = hint.find('}', at);
        if (end == std::string::npos) break;
        const auto text =
            filled(std::string_view(hint).substr(at + 1, end - at - 1), words, given, arguments);
        const bool drops_blank = text.empty() && at > 0 && hint[at - 1] == ' ';
        hint.replace(at - (drops_blank ? 1 : 0), end + 1 - at + (drops_blank ? 1 : 0), text);
        at += text.size() - (drops_blank ? 1 : 0);
    }
    return hint;
}

std::vector<std::string> given_options(std::span<const std::string> words,
                                       const std::set<OptionSubject>& subjects) {
    std::vector<std::string> given;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        const auto& word = words[i];
        if (!word.starts_with('-') || word.size() < 2) continue;
        const auto* option = find_shared(word);
        if (option == nullptr) continue;
        const bool is_attached = word.size() > option->name.size();
        const bool has_next = option->has_value && !is_attached && i + 1 < words.size();
        const bool is_wanted = subjects.contains(option->subject);
        if (is_wanted) given.push_back(word);
        if (has_next) ++i;
        if (is_wanted && has_next) given.push_back(words[i]);
    }
    return given;
}

std::string given_sources(std::span<const std::string> words) {
    const auto given = given_options(words, {OptionSubject::Channels, OptionSubject::Machine});
    return given.empty() ? "" : " " + shell_words(given);
}

}  // namespace gpkg::cli
