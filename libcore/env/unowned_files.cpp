#include "libcore/env/unowned_files.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/env/disk_internal.hpp"
#include "libcore/env/placeholder.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <unordered_set>

namespace gpkg {
namespace {

/// What is longer is data, and copied as it is.
constexpr std::uintmax_t kMostText = std::uintmax_t{64} << 20U;

bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' ||
           c == '+' || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a path begins where `before` ends, and not a part of a longer one.
bool begins_path(std::string_view before) {
    if (before.ends_with("://") || before.ends_with("//")) return before.ends_with("://");
    auto at = before.size();
    while (at > 0 && is_name_part(before[at - 1])) --at;
    return at == 0 || before[at - 1] != '/';
}

/// Whether a folder's name ends where `after` begins.
bool ends_name(std::string_view after) { return after.empty() || !is_name_part(after.front()); }

class Copier {
public:
    Copier(const fs::path& from, const fs::path& named, Disk source, Disk target)
        : from_(from), named_(named), source_(std::move(source)), target_(std::move(target)) {}

    Result<void> copy(const std::string& path) {
        struct stat status {};
        int code = source_.look(path, status);
        if (code == ENOENT) return {};  // gone meanwhile
        if (code == 0) code = make_parents(path);
        if (code == 0 && S_ISDIR(status.st_mode)) code = make_folder(path, status);
        if (code == 0 && S_ISREG(status.st_mode) && ::access((from_ / path).c_str(), R_OK) != 0)
            return pass(io_error(from_ / path, "read", errno));
        if (code == 0 && !S_ISDIR(status.st_mode)) code = make_way(path);
        if (code == 0) code = copy_as(path, status);
        if (code != 0) return pass(target_.error(path, "copy", code));
        return {};
    }
    std::vector<std::string> binaries() && { return std::move(binaries_); }

    /// When everything is in them: one that may not be written to is copied, too.
    Result<void> settle_folders() {
        for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
            const auto& [path, mode] = *folder;
            if (::fchmodat(target_.root(), path.c_str(), mode, 0) != 0)
                return pass(target_.error(path, "set the mode of", errno));
        }
        return {};
    }

private:
    /// Removes what is there, and all that is in it.
    int make_way(const std::string& path) {
        struct stat there {};
        const int code = target_.look(path, there);
        if (code != 0) return code == ENOENT ? 0 : code;
        return S_ISDIR(there.st_mode) ? target_.remove_tree(path) : target_.remove(path);
    }

    int make_folder(const std::string& path, const struct stat& status) {
        int code = target_.make_folder(path);
        struct stat there {};
        if (code == EEXIST && target_.look(path, there) == 0) {
            if (S_ISDIR(there.st_mode)) return 0;
            code = target_.remove(path);
            if (code == 0) code = target_.make_folder(path);
        }
        if (code == 0) made_.emplace_back(path, status.st_mode & 07777U);
        return code;
    }

    int make_parents(const std::string& path) {
        for (auto slash = path.find('/'); slash != std::string::npos;
             slash = path.find('/', slash + 1)) {
            const auto folder = path.substr(0, slash);
            struct stat status {};
            int code = source_.look(folder, status);
            if (code == 0) code = make_folder(folder, status);
            if (code != 0) return code;
        }
        return 0;
    }

    int copy_as(const std::string& path, const struct stat& status) {
        const auto file = from_ / path;
        const auto& to = named_.native();
        if (S_ISLNK(status.st_mode)) {
            std::error_code code;
            const auto link = fs::read_symlink(file, code).native();
            return code ? code.value()
                        : target_.symlink(with_folder_renamed(link, from_.native(), to), path);
        }
        if (!S_ISREG(status.st_mode)) return 0;  // another thing by now
        if (static_cast<std::uintmax_t>(status.st_size) > kMostText)
            return target_.copy(source_.root(), path, path);
        const auto bytes = read_file(file);
        if (!bytes) return EIO;
        const auto renamed = replace_in_text(*bytes, [&](std::string_view text) {
            return with_folder_renamed(text, from_.native(), to);
        });
        if (renamed == *bytes) return target_.copy(source_.root(), path, path);
        if (bytes->find('\0') != std::string::npos) {
            binaries_.push_back(path);
            return target_.copy(source_.root(), path, path);
        }
        return target_.write(path, renamed, status.st_mode & 07777);
    }

    fs::path from_;
    fs::path named_;
    Disk source_;
    Disk target_;
    std::vector<std::string> binaries_;
    std::vector<std::pair<std::string, mode_t>> made_;  ///< folders
};

bool is_byte_code(const fs::path& path) {
    return path.extension() == ".pyc" && path.parent_path().filename() == "__pycache__";
}

}  // namespace

Result<std::vector<std::string>> unowned_files(const fs::path& prefix,
                                               const std::vector<PrefixRecord>& records) {
    std::unordered_set<std::string_view> owned;
    for (const auto& record : records) owned.insert(record.files.begin(), record.files.end());
    std::vector<std::string> found;
    std::error_code code;
    fs::recursive_directory_iterator walk(prefix, code);
    const auto skip = prefix.native().size() + 1;
    for (; !code && walk != fs::recursive_directory_iterator(); walk.increment(code)) {
        auto path = walk->path().native().substr(skip);
        if (path == "conda-meta") {
            walk.disable_recursion_pending();
            continue;
        }
        const auto type = walk->symlink_status(code).type();
        if (type == fs::file_type::directory && ::access(walk->path().c_str(), R_OK | X_OK) != 0)
            return pass(io_error(walk->path(), "list", errno));
        // Sockets and pipes are of a process.
        const bool is_file = type == fs::file_type::regular || type == fs::file_type::symlink;
        if (is_file && !owned.contains(path) && !is_byte_code(path))
            found.push_back(std::move(path));
    }
    if (code) return pass(io_error(prefix, "list", code.value()));
    std::sort(found.begin(), found.end());
    return found;
}

Result<std::vector<std::string>> empty_folders(const fs::path& prefix) {
    std::vector<std::string> found;
    std::error_code code;
    fs::recursive_directory_iterator walk(prefix, code);
    const auto skip = prefix.native().size() + 1;
    for (; !code && walk != fs::recursive_directory_iterator(); walk.increment(code)) {
        if (!walk->is_directory(code) || walk->is_symlink(code)) continue;
        auto path = walk->path().native().substr(skip);
        if (path == "conda-meta")
            walk.disable_recursion_pending();
        else if (fs::is_empty(walk->path(), code))
            found.push_back(std::move(path));
    }
    if (code) return pass(io_error(prefix, "list", code.value()));
    std::sort(found.begin(), found.end());
    return found;
}

std::string with_folder_renamed(std::string_view text, std::string_view from, std::string_view to) {
    std::string renamed;
    std::size_t done = 0;
    for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from, at + 1)) {
        if (at < done || !begins_path(text.substr(0, at)) ||
            !ends_name(text.substr(at + from.size())))
            continue;
        renamed.append(text.substr(done, at - done)).append(to);
        done = at + from.size();
    }
    return renamed.append(text.substr(done));
}

Result<std::vector<std::string>> copy_unowned(const fs::path& from,
                                              const std::vector<std::string>& files,
                                              const fs::path& to,
                                              const fs::path& named) {
    GPKG_TRY(auto source, Disk::open(from, {}));
    GPKG_TRY(auto target, Disk::open(to, {}));
    Copier copier(from, named, std::move(source), std::move(target));
    for (const auto& file : files) GPKG_CHECK(copier.copy(file));
    GPKG_CHECK(copier.settle_folders());
    return std::move(copier).binaries();
}

}  // namespace gpkg
