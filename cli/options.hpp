#pragma once

// Flags that several commands share, so that they read the same everywhere.

#include "cli/workflow/change.hpp"
#include "cli/workflow/signing.hpp"
#include "cli/workflow/sources.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpkg::cli {

/// The value name of options that set environment variables. Their values may be secrets: histories
/// and the log keep only the names.
inline constexpr const char* kVariableType = "NAME=VALUE";

/// Which environment is meant: -n NAME, -p PATH, else the active one.
struct TargetOptions {
    std::string name;
    std::string prefix;
};

void add_target_options(CLI::App& app, TargetOptions& options);
/// Channels, --platform, --for and --devices.
void add_source_options(CLI::App& app, SourceOptions& options);
void add_channel_options(CLI::App& app, SourceOptions& options);
void add_platform_option(CLI::App& app, SourceOptions& options);
/// --for and --devices.
/// The end of every description of --for.
inline constexpr const char* kFactsMayFollow =
    "; facts may follow: h100,glibc=2.36 or 'h100 glibc=2.36 cuda=12.4'";
void add_for_option(CLI::App& app, SourceOptions& options);
void add_devices_option(CLI::App& app, SourceOptions& options);
/// A check of an option whose argument says nothing when it is empty; `fault` is the error then.
std::function<std::string(const std::string&)> not_empty(std::string fault);
/// A check of an option: whether it is one of these words.
std::function<std::string(const std::string&)> one_of(std::vector<std::string> words);
/// --for of verbs for several machines at once: repeated, or with commas between the machines.
void add_machines_option(CLI::App& app,
                         std::vector<std::string>& machines,
                         const std::string& help);
/// An option that names a lock file, and --environment, which says what in it is meant.
void add_lock_options(CLI::App& app,
                      const std::string& flag,
                      const std::string& help,
                      LockedOptions& options);
/// --allow-inconsistent, for commands that install from a lock.
void add_inconsistent_option(CLI::App& app, LockedOptions& options);
/// --environment alone.
CLI::Option* add_environment_option(CLI::App& app, std::string& environment);
/// -y, which OutputOptions::yes has.
CLI::Option* add_yes_option(CLI::App& app, const std::string& help = "answer yes to all questions");
void add_change_options(CLI::App& app, ChangeOptions& options);
/// --check: a dry run whose exit status tells whether the environment would change.
void add_check_option(CLI::App& app, ChangeOptions& options);
void add_signing_options(CLI::App& app, SigningWords& words);
/// --link and --copy, which are among them.
void add_link_options(CLI::App& app, ChangeOptions& options);
/// Those of them that say which link scripts may run.
void add_script_options(CLI::App& app, ChangeOptions& options);
enum class ReachVerb {
    Create,  ///< nothing is installed yet
    Install,
    Update,
};
/// Those that mean something for the verb.
void add_reach_options(CLI::App& app, ReachOptions& options, ReachVerb verb);
void add_pin_option(CLI::App& app, bool& no_pin);

/// The words of an option that has further words for another program, as a shell parts them.
Result<std::vector<std::string>> words_of_option(const std::string& text, std::string_view option);

/// What NAME|PATH means: a path has a slash.
TargetOptions target_of(const std::string& name_or_path);
/// " -n ml" or " -p /path", as the user gave it; empty if nothing was given.
std::string target_flags(const TargetOptions& target);

/// The prefix that the options mean; it need not exist.
Result<fs::path> target_prefix(const Context& context, const TargetOptions& options);
/// The same of one that is to be made. Where it takes the name from one of others, that is said.
Result<fs::path> new_prefix(const Context& context, const TargetOptions& options);
/// The same, which must be an environment: otherwise NotFound with near names.
Result<fs::path> existing_prefix(const Context& context, const TargetOptions& options);
/// The error where neither an option nor an active environment says which one.
inline constexpr std::string_view kNoEnvironmentActive = "no environment is active";

/// For check() of an option that counts: says what is wrong, nothing of a whole number from `least`
/// up.
std::function<std::string(const std::string&)> whole_number_from(std::uint64_t least);

/// A spec of the command line: one that cannot be read is wrong usage.
Result<MatchSpec> parse_spec(const std::string& text);
Result<std::vector<MatchSpec>> parse_specs(const std::vector<std::string>& texts);

}  // namespace gpkg::cli
