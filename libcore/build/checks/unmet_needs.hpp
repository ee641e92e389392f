#pragma once

// Libraries that packages of one run need and that no host environment told the giver of: recipes
// that copy binaries have none, outputs of one recipe need each other. Once all packages of the run
// are built, the channel tells.

#include "libcore/build/built_package.hpp"
#include "libcore/build/checks/binary_checks.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpkg {

/// The packages of a channel's folder as givers of libraries, and those that are on their way
/// there, in place of what has their names. What is looked at is remembered; none must move
/// meanwhile.
class ChannelLibraries {
public:
    ChannelLibraries(fs::path channel, std::vector<fs::path> on_their_way);
    ~ChannelLibraries();
    ChannelLibraries(const ChannelLibraries&) = delete;
    ChannelLibraries& operator=(const ChannelLibraries&) = delete;

    /// For each unsettled need of the package: an error where all of its run dependencies are in
    /// the channel and none gives the library, a warning where one is from elsewhere.
    Result<std::vector<BinaryFinding>> unmet_needs(const BuiltPackage& package);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpkg
