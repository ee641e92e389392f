#pragma once

// What packages were built with, as far as their channel publishes it beside the index: the file
// <subdir>/variants.json or .zst, which gpkg index writes (docs/reference/channels.md). It is kept
// in the cache of indexes as they are, asked for with validators, and used offline. A channel that
// has no such file is asked again the next day.

#include "libcore/channel/fetch_index.hpp"
#include "libcore/hardware/variant_inputs.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace gpkg {

/// Of which packages somebody wants to know.
struct VariantsWanted {
    Channel channel;
    std::string subdir;
    std::vector<std::string> files;  ///< file names of packages
};

struct PublishedVariants {
    /// By file name. Of a package that is not among them nothing is known.
    std::map<std::string, VariantInputs, std::less<>> inputs;
    std::vector<std::string> warnings;
};

/// In the order of `wanted`. Whatever goes wrong, but an interruption, costs a warning: nothing is
/// decided by what the file says.
Result<std::vector<PublishedVariants>> fetch_variants(Transport& transport,
                                                      std::span<const VariantsWanted> wanted,
                                                      const IndexOptions& options);

/// What such a file, plain or zstd, says of `files`. `what` names it in errors.
Result<PublishedVariants> read_variants(const std::string& bytes,
                                        std::span<const std::string> files,
                                        const std::string& what);

}  // namespace gpkg
