#pragma once

// Package archives (CEP 35), unpacked or only looked into. .conda (a zip of two zstd tars) and
// .tar.bz2 are told apart by their first bytes. Everything is streamed: memory stays bounded by the
// zstd window (at most 128 MiB) and the names of the members.
//
// Archives are hostile until proven otherwise. Every member is made by one openat() in a folder
// that this run made itself, so that no link, ".." or absolute name leads outside; devices, pipes,
// duplicates and payload that would be metadata are refused, set-id bits dropped. An archive that
// is refused or damaged leaves nothing behind.

#include "libcore/fs/arriving_file.hpp"
#include "libcore/fs/file.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace gpkg {

/// Beyond these an archive is taken for a bomb.
struct UnpackLimits {
    std::uint64_t entries = 2'000'000;
    std::uint64_t bytes = std::uint64_t{1} << 40U;
    std::uint64_t bytes_per_archive_byte = 2000;  ///< counted from `free_bytes` on
    std::uint64_t free_bytes = std::uint64_t{4} << 30U;
};

/// What may yet come to the disk, shared by all that unpack at the same time.
struct Allowance {
    std::atomic<std::uint64_t> bytes;   ///< of file content
    std::atomic<std::uint64_t> inodes;  ///< files, links and folders
    std::string bounds{};               ///< as the user said them: "--max-size 1GB"
};

struct UnpackOptions {
    bool verify = true;                 ///< compare with info/paths.json while unpacking
    std::function<bool()> cancelled{};  ///< asked now and then; true ends with Interrupted
    UnpackLimits limits{};
    /// Permissions of a folder: who may use that may use what is unpacked. 0: the umask decides.
    mode_t like = 0;
    std::shared_ptr<Allowance> allowance{};  ///< none: no bound. Beyond it: Conflict
};

struct Unpacked {
    std::uint64_t entries = 0;             ///< files and links
    std::uint64_t bytes = 0;               ///< of file content
    std::vector<std::string> warnings;     ///< what the archive does that it should not
    std::vector<std::string> lost_set_id;  ///< files that had set-id bits
};

/// Unpacks into `target`, which must be absent or an empty folder. Files get 0644 or 0755 under the
/// umask (see UnpackOptions::like) and keep their times. Damage is an Integrity error that names
/// the archive and the member.
Result<Unpacked> unpack_package(const fs::path& archive,
                                const fs::path& target,
                                const UnpackOptions& options = {});

/// The same of an archive that is still arriving, and is to have `size` bytes; `name` stands for it
/// in errors. What was unpacked is to be used only once all has arrived and its checksum is right.
/// Not every archive can be read so: what fails here may succeed from the file.
Result<Unpacked> unpack_package(const std::shared_ptr<ArrivingFile>& archive,
                                const std::string& name,
                                std::uint64_t size,
                                const fs::path& target,
                                const UnpackOptions& options = {});

/// The files of info/ that tell what a package is, by name without "info/": index.json, about.json,
/// paths.json, run_exports.json, hash_input.json, link.json, binaries.json, files, has_prefix,
/// no_link. Of a
/// .conda only the info- member is read. Each text is at most `kMaxInfoText` bytes, index.json is
/// there.
using PackageInfo = std::map<std::string, std::string, std::less<>>;
inline constexpr std::uint64_t kMaxInfoText = std::uint64_t{256} << 20U;

Result<PackageInfo> read_package_info(const fs::path& archive);

}  // namespace gpkg
