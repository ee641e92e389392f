#pragma once

// A manifest of redistributables, and where the archives that it lists are.

#include "cli/context.hpp"
#include "libcore/redist/manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

class RedistArchives {
public:
    /// `manifest` is a file or a URL; so is `mirror`, a folder, where that is not empty.
    static Result<RedistArchives> open(Context& context,
                                       const std::string& manifest,
                                       const std::string& mirror,
                                       const std::string& source_cache);

    const RedistManifest& manifest() const { return manifest_; }

    /// The archive on this machine: in the mirror, beside the manifest, in the builder's cache.
    Result<std::optional<fs::path>> at_hand(const RedistArchive& archive) const;
    /// Brings those that are not at hand into the source cache, where the build finds them.
    Result<void> fetch(const std::vector<RedistArchive>& archives) const;
    /// Where the build finds an archive, which lies in `file` where it is at hand.
    std::vector<std::string> urls_of(const RedistArchive& archive,
                                     const std::optional<fs::path>& file) const;

private:
    explicit RedistArchives(Context& context) : context_(&context) {}
    Result<void> read(std::string where);

    Context* context_;
    RedistManifest manifest_;
    std::string base_;  ///< URL of the folder that the archives' paths start from
    std::string mirror_url_;
    fs::path mirror_;  ///< a folder; empty: there is none, or a URL
    fs::path beside_;  ///< the manifest's folder; empty: it came from a server
    fs::path cache_;   ///< of sources; empty: there is none
};

/// Whether a file is what the manifest lists.
Result<void> verify_redist_archive(const fs::path& file, const RedistArchive& archive);

}  // namespace gpkg::cli
