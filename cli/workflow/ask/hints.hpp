#pragma once

// What is told beside a clash: what the user may not know of where it comes from.

#include "cli/workflow/ask/question.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// What a user may have meant by a name that no channel has, the likeliest first. Guesses: no fix
/// installs one.
struct Guess {
    std::string name;
    std::vector<std::string> meant;
};

/// One for each unknown name that the explanation tells.
std::vector<Guess> guesses(const Question& question, const Explanation& explanation);

/// Of names that no channel has: those like them, or that another channel may have them. Empty
/// where it tells of no such name.
std::string hint_on_names(const Question& question, const Explanation& explanation);

/// Pins of packages that neither the environment nor a channel has, most likely misspelled.
std::vector<std::string> notes_on_pins(const Question& question);

/// "with a build, = is exact: 'pytorch=2.5.*=cuda*' matches 2.5.1", if that matches builds in the
/// indexes and the spec as typed matches none; else empty.
std::string hint_on_exact_version(const std::vector<SharedIndex>& indexes, const MatchSpec& spec);

/// "another channel may have it; add one with -c CHANNEL"; `what` is "it" or "them".
std::string in_another_channel(std::string_view what);

/// The most specific hint for a request that cannot be solved; empty if there is none.
/// `others` are the requests for other classes of a lock.
std::string hint_for(const Context& context,
                     const Question& question,
                     const Explanation& explanation,
                     const std::vector<const Question*>& others);

}  // namespace gpkg::cli
