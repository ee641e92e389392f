#pragma once

// Libraries that packages of one run need and that no host environment told the giver of: recipes
// that copy binaries have none, outputs of one recipe need each other. Once all packages of the run
// are built, the channel tells.

#include "libcore/build/builder.hpp"
#include "libcore/build/checks/binary_checks.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gpkg {

/// The packages of a channel's folder as givers of libraries. What is looked at is remembered; the
/// folder must not change meanwhile.
class ChannelLibraries {
public:
    explicit ChannelLibraries(fs::path channel);
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
