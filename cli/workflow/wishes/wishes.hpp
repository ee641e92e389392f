#pragma once

// What the user asks for, from the command line and from files (environment.yml, spec files,
// explicit files), in one shape.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/sources.hpp"
#include "cli/workflow/wishes/package_files.hpp"
#include "libcore/hardware/asked_spec.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

struct WishOptions {
    std::vector<std::string> specs;
    std::vector<std::string> files;
    std::vector<std::string> default_specs{};  ///< added for packages that nothing else names
    std::optional<std::string> accelerator;    ///< one of AcceleratorChoice, or several
    bool ignore_builds = false;                ///< exact build strings in files
    bool ignore_versions = false;              ///< and versions
    bool ignore_names = true;  ///< an environment.yml does not say which environment is meant
};

struct Wishes {
    std::vector<MatchSpec> specs;
    AcceleratorWishes accelerators;
    PackageFiles files;  ///< of an explicit file, or named by their places
    std::map<std::string, std::string> variables;
    std::vector<PipSection> pip;  ///< one for each file with such a section
    std::string name;             ///< an environment.yml's own idea of its name
    std::string prefix;           ///< and of its place
    std::string ignored_name;     ///< the name in an environment.yml, with ignore_names
};

/// SPEC..., and what add_file_options() adds.
void add_wish_options(CLI::App& app, WishOptions& options);
/// -f, --ignore-builds, --ignore-versions and --accel.
void add_file_options(CLI::App& app, WishOptions& options);
/// --ignore-builds and --ignore-versions.
void add_ignore_options(CLI::App& app, WishOptions& options);
/// Those that are given, as they are typed.
std::vector<std::string> ignore_words(const WishOptions& options);
/// Takes what the options ignore out of specs of a file: exact builds, which other systems do not
/// have, and versions. The build of pip's packages tells what they are.
void ignore_parts(std::span<MatchSpec> specs, bool ignores_versions);

/// Reads the files. Channels that one names come in `sources` after those of the command line;
/// those that specs name are there as well.
Result<Wishes> read_wishes(Context& context, const WishOptions& options, SourceOptions& sources);

/// Fails if `text` is the path of a file with specs or of a lock file, in place of a spec: "-f" was
/// forgotten.
Result<void> check_is_not_file(const Context& context, const std::string& text);

/// Fails if `text` belongs to the argument before it: "numpy 1.2", "numpy >= 1.24". `before` and
/// `next` may be empty.
Result<void> check_is_spec(const std::string& before,
                           const std::string& text,
                           const std::string& next);

/// What the flags name, else what a file names: by its name, else by its place.
TargetOptions target_meant(TargetOptions target, const Wishes& wishes);

/// The environment of the flags, or the active one. Without one the hint names the command that
/// reads the name in the file.
Result<fs::path> existing_prefix(const Context& context,
                                 const TargetOptions& target,
                                 const WishOptions& wishes);

/// The name in environment.yml of this folder; empty without such a file or without a name in it.
std::string name_in_environment_yml(const Context& context);

/// The platforms that environment.yml files among `options` say they are made for.
Result<std::vector<std::string>> platforms_of_files(Context& context,
                                                    const WishOptions& options,
                                                    bool offline);

/// The request that the rest makes of an environment that is yet to be named.
ChangeRequest change_request(Wishes wishes);

/// The request that package files make.
ExactRequest explicit_request(const fs::path& prefix, Wishes wishes);

}  // namespace gpkg::cli
