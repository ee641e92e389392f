#pragma once

// Hints and commands with the words that the user typed.

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// What an option that several commands have is about.
enum class OptionSubject { Channels, Machine, Pins, Request, Environment };

/// Of a command line, the options about these subjects, with their values, as typed.
std::vector<std::string> given_options(std::span<const std::string> words,
                                       const std::set<OptionSubject>& subjects);

/// " -c mine --for h100": the options that select channels and the machine, as they end a proposed
/// command that solves with the same; empty if there are none.
std::string given_sources(std::span<const std::string> words);

}  // namespace gpkg::cli
