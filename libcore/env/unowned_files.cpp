#include "libcore/env/unowned_files.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/env/disk_internal.hpp"
#include "libcore/env/placeholder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unordered_set>

namespace gpkg {
namespace {

/// What is longer is data, and copied as it is.
constexpr std::uintmax_t kMostText = std::uintmax_t{64} << 20U;

int make_parents(Disk& disk, const std::string& path) {
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        const int code = disk.make_folder(path.substr(0, slash));
        if (code != 0 && code != EEXIST) return code;
    }
    return 0;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

class Copier {
public:
    Copier(const fs::path& from, const fs::path& named, Disk source, Disk target)
        : from_(from), named_(named), source_(std::move(source)), target_(std::move(target)) {}

    Result<void> copy(const std::string& path) {
        if (target_.exists(path)) return {};
        struct stat status {};
        int code = source_.look(path, status);
        if (code == ENOENT) return {};  // gone meanwhile
        if (code == 0) code = make_parents(target_, path);
        if (code == 0) code = copy_as(path, status);
        if (code != 0) return pass(target_.error(path, "copy", code));
        return {};
    }
    std::vector<std::string> binaries() && { return std::move(binaries_); }

private:
    int copy_as(const std::string& path, const struct stat& status) {
        const auto file = from_ / path;
        const auto& to = named_.native();
        if (S_ISLNK(status.st_mode)) {
            std::error_code code;
            const auto link = fs::read_symlink(file, code).native();
            return code ? code.value() : target_.symlink(replaced(link, from_.native(), to), path);
        }
        if (!S_ISREG(status.st_mode)) return 0;  // another thing by now
        if (static_cast<std::uintmax_t>(status.st_size) > kMostText)
            return target_.copy(source_.root(), path, path);
        const auto bytes = read_file(file);
        if (!bytes) return EIO;
        const bool names_it = bytes->find(from_.native()) != std::string::npos;
        if (!names_it) return target_.copy(source_.root(), path, path);
        if (bytes->find('\0') != std::string::npos) {
            binaries_.push_back(path);
            return target_.copy(source_.root(), path, path);
        }
        return target_.write(
            path, replace_in_text(*bytes, from_.native(), to), status.st_mode & 07777);
    }

    fs::path from_;
    fs::path named_;
    Disk source_;
    Disk target_;
    std::vector<std::string> binaries_;
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
        // Sockets and pipes are of a process.
        const bool is_file = type == fs::file_type::regular || type == fs::file_type::symlink;
        if (is_file && !owned.contains(path) && !is_byte_code(path))
            found.push_back(std::move(path));
    }
    if (code) return pass(io_error(prefix, "list", code.value()));
    std::sort(found.begin(), found.end());
    return found;
}

Result<std::vector<std::string>> copy_unowned(const fs::path& from,
                                              const std::vector<std::string>& files,
                                              const fs::path& to,
                                              const fs::path& named) {
    GPKG_TRY(auto source, Disk::open(from, {}));
    GPKG_TRY(auto target, Disk::open(to, {}));
    Copier copier(from, named, std::move(source), std::move(target));
    for (const auto& file : files) GPKG_CHECK(copier.copy(file));
    return std::move(copier).binaries();
}

}  // namespace gpkg
