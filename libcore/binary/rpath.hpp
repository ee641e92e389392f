#pragma once

// Where the libraries of a package look for their libraries: entries relative to the file, inside
// the prefix, as DT_RPATH. RUNPATH would lose to the LD_LIBRARY_PATH that module systems set, and
// glibc's own dlopen of libgcc_s.so.1 would not see it.

#include "libcore/base/cancelled.hpp"
#include "libcore/binary/elf.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// The entries for the file at `path` (relative to the prefix). Kept of its own: what is relative
/// to $ORIGIN and stays inside the prefix, and absolute paths below `prefix` or the canonical
/// placeholder, made relative. Added:
/// each of `library_folders` (below the prefix, or beginning with $ORIGIN).
///
/// The loader takes $ORIGIN for the folder that a library was opened through, without resolving
/// links: `link_folders` are folders with a link to this file, and each gets its entries too, as
/// far as they lead nowhere outside from any of the folders.
///
/// Last come its absolute entries that lead elsewhere and match one of the globs `kept`.
std::vector<std::string> relative_rpath(const ElfFile& elf,
                                        const std::string& path,
                                        const std::vector<std::string>& link_folders,
                                        const std::vector<std::string>& library_folders,
                                        const fs::path& prefix,
                                        const std::vector<std::string>& kept = {});

struct RelocateRequest {
    fs::path prefix;
    std::vector<std::string> files;  ///< relative to the prefix; links tell of link_folders only
    std::vector<std::string> library_folders;
    /// When not empty, only files that match one of these globs are changed.
    std::vector<std::string> only;
    /// Globs of absolute entries outside the prefix that files keep, after all others.
    std::vector<std::string> kept_entries{};
    int jobs = 1;
    Cancelled cancelled{};
};

/// Gives every dynamic ELF file its entries; files that already have them keep their bytes. Returns
/// what was odd: files that begin like ELF and are damaged, which are left alone, and absolute
/// entries that lead out of the prefix, which files lose.
Result<std::vector<std::string>> relocate(const RelocateRequest& request);

/// What follows "$ORIGIN/" or "${ORIGIN}/" in an entry, empty where nothing does; no value for
/// entries that are not relative to the file.
std::optional<std::string_view> after_origin(std::string_view entry);

}  // namespace gpkg
