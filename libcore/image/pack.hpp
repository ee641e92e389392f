#pragma once

// An environment as one .tar.zst that unpacks anywhere, and can be moved afterwards, without gpkg.
// Files that name the prefix lie in it as their packages have them, below
// conda-meta/gpkg/pack/pristine; bin/gpkg-relocate, a shell script, makes those of the environment
// out of them, and does so anew wherever it finds itself. bin/activate sees to that.

#include "libcore/env/laid_out.hpp"

#include <string>
#include <vector>

namespace gpkg {

/// What gpkg's own files, and what came along with the environment, name as their prefix in a pack:
/// lay_out() is to be given a transaction that says so.
inline constexpr std::string_view kPackedPrefix = "/gpkg/prefix-of-a-packed-environment";

struct PackOptions {
    LayOutOptions layout;
    std::int64_t time = 0;  ///< of every file, Unix seconds
    int zstd_level = 9;
};

/// Those of the scripts of an archive that are in an unpacked one, relative to the prefix: no
/// package's and nobody's own, and of no use without the rest of it.
std::vector<std::string> scripts_of_pack(const fs::path& prefix);

/// Writes the archive, whole or not at all; the same environment gives the same bytes. Warnings
/// tell what is not in it, or will not work elsewhere.
Result<std::vector<std::string>> write_pack(const Transaction& environment,
                                            const fs::path& archive,
                                            const PackOptions& options);

}  // namespace gpkg
