#pragma once

// Reading whole files, replacing them atomically, and folders that vanish with their owner.
// Every error names the path and what the system said.

#include "libcore/fs/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

/// The file's bytes. NotFound when it does not exist, Io for anything else, Usage for more than
/// `limit` bytes (0: any number).
Result<std::string> read_file(const fs::path& path, std::size_t limit = 0);

/// Calls `look` with one piece of the file after the other, each beginning with the last `overlap`
/// bytes of the one before, until it returns false. `at` is where in the file the piece begins.
Result<void> read_in_pieces(
    const fs::path& path,
    std::size_t overlap,
    const std::function<bool(std::string_view piece, std::uint64_t at)>& look);

/// Of a text that a person wrote.
inline constexpr std::size_t kLongestWritten = std::size_t{16} << 20U;

/// A file that is written under a temporary name in the same folder, and takes its own when it is
/// whole: a reader sees the old or the new one. Gone where that does not happen. Missing folders
/// are made; honours the umask.
class NewFile {
public:
    static Result<NewFile> make(fs::path path);
    NewFile(NewFile&& other) noexcept
        : path_(std::move(other.path_)),
          temporary_(std::exchange(other.temporary_, {})),
          file_(std::move(other.file_)),
          mode_(other.mode_) {}
    NewFile& operator=(NewFile&&) = delete;
    ~NewFile();

    const fs::path& path() const { return path_; }
    /// What it is called until then.
    const std::string& temporary() const { return temporary_; }
    /// Open for reading and writing.
    int fd() const { return file_.get(); }
    Result<void> write(std::string_view bytes);
    /// Nobody else may read it before it has its name.
    Result<void> make_private();
    /// Nor then may those whose bits of a mode these are.
    void keep_from(unsigned whom) {
        if (mode_) *mode_ &= ~whom;
    }
    /// But these may, whatever the umask.
    void show_to(unsigned whom) {
        if (mode_) *mode_ |= whom;
    }
    /// Gives the file its name. `to_disk`: a crash of the machine does not lose it either.
    Result<void> finish(bool to_disk);

private:
    NewFile(fs::path path, std::string temporary, Descriptor file);

    fs::path path_;
    std::string temporary_;  ///< empty once it has its name
    Descriptor file_;
    std::optional<unsigned> mode_{};  ///< that it is given at the end
};

/// Where a link to a file leads, also to one that is still to be made: to write there keeps it.
fs::path behind_links(fs::path file);

/// The same of all bytes at once, to the disk. A file that was there keeps its mode.
Result<void> write_file_atomically(const fs::path& path, std::string_view bytes);

/// The rule for every output file that a user names: what exists is replaced only by its own kind.
/// An empty file may become anything, as mktemp makes them. `kind` is "a lock file", for the error.
Result<void> check_replaceable(const fs::path& path,
                               std::string_view kind,
                               const std::function<bool(const fs::path&)>& is_of_kind);

/// Whether something has this name, also a link to nothing. A path that cannot be examined (EIO,
/// ESTALE) is an error, never "no".
Result<bool> path_exists(const fs::path& path);
/// The same where a wrong "yes" does no harm, because the next call on the path fails with the
/// reason: true unless the system says that nothing has the name, or this user may not look.
bool is_there(const fs::path& path);

/// The paths in a folder, sorted; none where there is no folder.
Result<std::vector<fs::path>> paths_in(const fs::path& folder);

/// Names of files and folders beside `path` that are similar to its own: for a name mistyped.
std::vector<std::string> near_files(const fs::path& path);

/// The bits of a mode of those whom its owner does not let read it, where others may not: 007, or
/// 077 where the group may not either; else 0.
unsigned kept_from(const fs::path& path);

/// Makes `path` and what is missing above it; another process may be removing there meanwhile.
Result<void> make_folders(const fs::path& path);
/// Removes a tree; nothing there is no error.
Result<void> remove_tree(const fs::path& path);
Result<void> rename_path(const fs::path& from, const fs::path& to);

/// "hash" of a file's content, read in pieces.
Result<std::string> sha256_of_file(const fs::path& path);

/// What a zstd stream begins with.
inline constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);

/// The whole of a zstd stream, refusing more than `limit` bytes of output (0: no limit).
/// Windows up to 128 MiB are accepted. `what` names the source in errors.
Result<std::string> zstd_decompress(std::string_view bytes,
                                    std::string_view what,
                                    std::size_t limit);
std::string zstd_compress(std::string_view bytes, int level);

/// A fresh private folder below `parent`, removed with everything in it when this goes out of
/// scope.
class TemporaryFolder {
public:
    static Result<TemporaryFolder> make(const fs::path& parent, std::string_view stem = ".gpkg-");
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    const fs::path& path() const { return path_; }
    /// Gives the folder away: it is no longer removed.
    fs::path release();

private:
    explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

/// `path` made absolute and with `~` at its front replaced by `home`, "." and ".." resolved as
/// text.
fs::path absolute_path(std::string_view path, const fs::path& home);

/// True when `relative`, a path from an archive or index, stays inside the folder it is joined to:
/// not empty, not absolute, no "..", no drive letter, no NUL. A backslash is part of a name.
bool is_safe_relative(std::string_view relative);

}  // namespace gpkg
