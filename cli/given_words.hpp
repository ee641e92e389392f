#pragma once

// Hints with the words that the user typed.

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace gpkg::cli {

/// Whether this is the name of an environment.
using IsEnvironment = std::function<bool(const std::string&)>;

/// A hint with the words that the user typed, so that its command can be pasted:
///
/// - "-n NAME": -n or -p as typed, or the first of `words` where that names an environment
/// - "{PACKAGE}": the words without -n and -p, or PACKAGE if there are no arguments
/// - "{1:OLD}", "{2:NEW}": the first or second argument, or OLD, NEW
/// - "{*N}", "{}": all words, or N, or nothing
std::string with_given_words(std::string hint,
                             std::span<const std::string> words,
                             const IsEnvironment& is_environment = {});

}  // namespace gpkg::cli
