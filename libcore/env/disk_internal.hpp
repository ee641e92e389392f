#pragma once

// The only place where a transaction changes files. Paths are relative to the prefix, which is held
// open: it may be renamed meanwhile. Every change asks the fault hook first, so that tests can stop
// a transaction between any two of them. Calls are safe from several threads.

#include "libcore/env/placeholder.hpp"
#include "libcore/fs/file.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace gpkg {

using FaultHook = std::function<int(std::string_view change, const fs::path& path)>;

/// Functions return 0 or an errno.
class Disk {
public:
    static Result<Disk> open(const fs::path& prefix, FaultHook fault);

    const fs::path& prefix() const { return prefix_; }
    void moved_to(fs::path prefix) { prefix_ = std::move(prefix); }
    int root() const { return root_.get(); }

    int make_folder(const std::string& path);
    int remove_folder(const std::string& path);
    int remove(const std::string& path);
    int rename(const std::string& from, const std::string& to);
    int symlink(const std::string& target, const std::string& path);
    /// `from` is relative to the folder `source`.
    int hard_link(int source, const std::string& from, const std::string& path);
    int reflink(int source, const std::string& from, const std::string& path);
    /// Bytes, permission bits and modification time.
    int copy(int source, const std::string& from, const std::string& path);
    /// The bytes of `from`, with changes.
    int copy_changed(int source,
                     const std::string& from,
                     const std::string& path,
                     const std::vector<ByteChange>& changes,
                     mode_t mode);
    int write(const std::string& path, std::string_view bytes, mode_t mode);
    /// What `fill` hands to `put`, piece by piece; both return 0 or errno.
    using Put = std::function<int(std::string_view piece)>;
    int write_pieces(const std::string& path,
                     mode_t mode,
                     const std::function<int(const Put& put)>& fill);
    /// Synced under a temporary name, then renamed.
    int write_durably(const std::string& path, std::string_view bytes);
    /// A whole folder. Symbolic links in it are removed, not followed.
    int remove_tree(const std::string& path);

    /// Whether the file system refused the mode of a file, which can be used all the same.
    bool has_refused_modes() const { return *refused_modes_; }

    /// lstat; 0 or errno.
    int look(const std::string& path, struct stat& status) const;
    /// As path_exists().
    Result<bool> exists(const std::string& path) const;
    Result<std::string> read(const std::string& path) const { return read_file(prefix_ / path); }

    Error error(const std::string& path, std::string_view doing, int code) const {
        return io_error(prefix_ / path, doing, code);
    }
    /// Asks the hook for a change that something else carries out (a script, a rename of the
    /// prefix).
    int announce(std::string_view change, const fs::path& path) const;

private:
    Disk(Descriptor root, fs::path prefix, FaultHook fault)
        : root_(std::move(root)), prefix_(std::move(prefix)), fault_(std::move(fault)) {}
    int before(std::string_view change, const std::string& path) const;
    int set_mode(int file, mode_t mode);
    int copy_properties(int from, int to);

    Descriptor root_;
    fs::path prefix_;
    FaultHook fault_;
    std::unique_ptr<std::atomic<bool>> refused_modes_ = std::make_unique<std::atomic<bool>>(false);
};

}  // namespace gpkg
