#pragma once

// The staging outputs that are in use, each built when the first output that inherits it is. Used
// by the builder only.

#include "libcore/build/build_options.hpp"
#include "libcore/build/staging.hpp"

#include <map>
#include <string>

namespace gpkg {

/// Of the outputs of one recipe that begin with the same one, which are built one after the other.
class StagingArea {
public:
    StagingArea(const Recipe& recipe, const BuildOptions& options)
        : recipe_(recipe), options_(options) {}
    ~StagingArea();
    StagingArea(const StagingArea&) = delete;
    StagingArea& operator=(const StagingArea&) = delete;

    /// What `output` inherits, built; null when it inherits nothing. What could not be built is not
    /// tried again.
    Result<const StagedOutput*> base_of(const RenderedOutput& output);

private:
    struct Entry {
        fs::path folder;
        Result<StagedOutput> staged;
        bool is_told = false;  ///< its failure
    };

    const Recipe& recipe_;
    const BuildOptions& options_;
    std::map<std::string, Entry> entries_;  ///< by build_name()
};

}  // namespace gpkg
