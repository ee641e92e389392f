#pragma once

// The sources of a recipe, brought into the work folder: trees are copied, archives are fetched,
// checked and unpacked, patches are applied.

#include "libcore/base/cancelled.hpp"
#include "libcore/recipe/rendered.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpkg {

/// Gets the file at `url` into `target`, whole or not at all. Checksums are the builder's business.
using FetchFile = std::function<Result<void>(const std::string& url, const fs::path& target)>;

struct SourceFetchOptions {
    fs::path work;    ///< SRC_DIR
    fs::path cache;   ///< downloads, by their sha256; commits
    FetchFile fetch;  ///< null: only file:// URLs can be had
    bool offline = false;
    /// URLs that begin with the first are asked for under the second, before they are themselves.
    std::vector<std::pair<std::string, std::string>> mirrors{};
    Cancelled cancelled;
    /// Unix seconds. Files from a folder or from git get this time, because two checkouts of the
    /// same have different ones; of those from archives the newer ones do. All get mode 0644 or
    /// 0755. Absent: they stay as they are.
    std::optional<std::int64_t> time{};
};

Result<void> provide_sources(const std::vector<RecipeSource>& sources,
                             const SourceFetchOptions& options);

/// Changes whenever what the source would provide does.
Result<std::string> source_digest(const RecipeSource& source, const SourceFetchOptions& options);

/// Copies files, folders and links below `from` into `to` with their modes and times. Of a git work
/// tree with `leave_out_ignored`: only what git does not ignore.
Result<void> copy_tree(const fs::path& from,
                       const fs::path& to,
                       bool leave_out_ignored,
                       const Cancelled& cancelled = {});

/// Copies one file, link or empty folder with its mode and times; what is at `to` is replaced.
Result<void> copy_entry(const fs::path& from, const fs::path& to, const Cancelled& cancelled = {});

/// Unpacks a .tar.*, .zip or .7z and so on into `to`; a single folder at its top is left out.
Result<void> unpack_source(const fs::path& archive,
                           const fs::path& to,
                           const Cancelled& cancelled = {});

/// Changes whenever the tree does: names, modes, links, the content of small files, sizes and times
/// of large ones.
Result<std::string> tree_digest(const fs::path& tree, const Cancelled& cancelled = {});

}  // namespace gpkg
