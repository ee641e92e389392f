#pragma once

// Makes the members of an archive in one folder, and nowhere else. The folder must be private to
// this writer. What is made is remembered, so every parent is a folder of this writer, never a
// link; each member is made by one *at() call in an open folder with flags that refuse what exists.

#include "libcore/base/digest.hpp"
#include "libcore/package/archive_internal.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/shared_modes_internal.hpp"
#include "libcore/package/unpack.hpp"

#include <unordered_map>

namespace gpkg {

/// A member as it was made.
struct MadePath {
    PathType type = PathType::HardLink;
    std::uint64_t size = 0;
    std::string sha256;  ///< of files, when asked for
};
using MadePaths = std::unordered_map<std::string, MadePath>;

class TreeWriter {
public:
    /// `archive` names the source in errors.
    TreeWriter(Descriptor root,
               std::string archive,
               const UnpackOptions& options,
               const SharedModes& modes);
    /// Gives back what it took of the allowance, unless keep() was called.
    ~TreeWriter();
    TreeWriter(const TreeWriter&) = delete;
    TreeWriter& operator=(const TreeWriter&) = delete;
    void keep() { taken_bytes_ = taken_inodes_ = 0; }

    /// Bounds what may be unpacked.
    void set_byte_limit(std::uint64_t bytes) { byte_limit_ = bytes; }

    Result<void> add(const Member& member, const ReadContent& read);

    const MadePaths& made() const { return made_; }
    const Unpacked& totals() const { return totals_; }
    std::vector<std::string>& warnings() { return totals_.warnings; }

private:
    Result<std::string> checked_path(const Member& member);
    Result<int> folder_of(const std::string& path, const Member& member);
    Result<void> make_folder(const std::string& path, const Member& member);
    Result<void> make_file(const std::string& path, const Member& member, const ReadContent& read);
    Result<void> fill(
        int fd, MadePath& made, const Member& member, const ReadContent& read, bool hashed);
    Result<void> make_soft_link(const std::string& path, const Member& member);
    Result<void> make_hard_link(const std::string& path, const Member& member);
    Result<void> count_bytes(std::uint64_t bytes);
    Result<void> count_inode();
    Result<void> check_cancelled() const;
    tl::unexpected<Error> refused(const Member& member, std::string_view why) const;
    tl::unexpected<Error> failed(const Member& member, int code) const;

    Descriptor root_;
    std::string archive_;
    const UnpackOptions& options_;
    SharedModes modes_;
    std::uint64_t byte_limit_;
    std::uint64_t taken_bytes_ = 0;
    std::uint64_t taken_inodes_ = 0;
    std::uint64_t name_bytes_ = 0;
    MadePaths made_;
    std::unordered_map<std::string, Descriptor> open_folders_;
    Unpacked totals_;
};

}  // namespace gpkg
