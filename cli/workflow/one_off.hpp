#pragma once

// Environments of `gpkg exec`: made for one request, below the cache folder, used again by the same
// request until `gpkg clean` takes them.

#include "cli/context.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/fs/descriptor.hpp"
#include "libcore/spec/match_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// What is wanted; it decides which environment serves.
struct OneOffRequest {
    std::string tool;  ///< names the folder, for people
    std::vector<MatchSpec> specs;
    SourceOptions sources{};
};

/// The folder that holds them all.
fs::path one_off_folder(const Config& config);

/// Where the environment of this request is, or would be.
Result<fs::path> one_off_place(const Context& context, const OneOffRequest& request);

/// The environment, made where it is not there yet; `anew` brings one that is there to what the
/// channels have now. What is said about it goes to stderr.
Result<fs::path> one_off_environment(Context& context, const OneOffRequest& request, bool anew);

/// From now on this process, and the tool that takes its place, keep the environment from being
/// cleaned away. False where that has happened, or happens just now.
bool hold_for_tool(const fs::path& prefix);

/// For who takes it away, as long as it lives; nothing where a tool runs in it, or may run: on a
/// file system that machines share, where one was begun within a day. On others that cannot lock,
/// nobody knows.
std::optional<Descriptor> take_from_tools(const fs::path& prefix);

}  // namespace gpkg::cli
