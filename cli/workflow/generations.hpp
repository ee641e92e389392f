#pragma once

// Generations of an environment as commands use them: which one is meant, and what lies between
// two.

#include "cli/context.hpp"
#include "libcore/env/generation.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// Every generation that is kept, oldest first. One that cannot be read is left out, with a
/// warning.
Result<std::vector<Generation>> generations_of(Context& context, const fs::path& prefix);

/// The command that made it, the program without its folders, for a rollback with the generation
/// that it restored; "(by another tool)" where none of gpkg's did.
std::string command_of(const Generation& generation);
/// A command line without the folder of the program: "gpkg install numpy".
std::string typed_command(std::string_view command);

/// What is installed now, as a generation without a number.
Result<Generation> present_generation(const fs::path& prefix);

/// The generation of that number; where there is none, NotFound says which there are.
Result<Generation> generation_named(const Context& context,
                                    const fs::path& prefix,
                                    std::uint64_t number);

/// The last generation that was made before the moment, in Unix milliseconds; `text` is how the
/// user said it. NotFound where the environment is younger.
Result<Generation> generation_at(Context& context,
                                 const fs::path& prefix,
                                 std::int64_t moment,
                                 const std::string& text);

/// A package that differs between two sets; `before` or `after` is null where it is in one only.
struct PackageDifference {
    const PackageRecord* before = nullptr;
    const PackageRecord* after = nullptr;

    const std::string& name() const { return (before != nullptr ? before : after)->name; }
};
using PackageSet = std::vector<const PackageRecord*>;
/// By name; packages of the channel "pypi" differ only from their own kind.
std::vector<PackageDifference> differences(const PackageSet& before, const PackageSet& after);
std::vector<PackageDifference> differences(const Generation& before, const Generation& after);

/// "+2 -1 ~3": how many came, went, and changed; empty where none did.
std::string counted(const std::vector<PackageDifference>& differences);
/// "2 added, 1 removed, 3 changed"
std::string counted_in_words(const std::vector<PackageDifference>& differences);

}  // namespace gpkg::cli
