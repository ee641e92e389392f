// Looking at a payload to write its paths.json.

#include "libcore/base/digest.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/paths_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>

namespace gpkg {
namespace {

struct Content {
    std::string sha256 = hex_digest(DigestKind::Sha256, "");
    std::uint64_t size = 0;
    bool has_placeholder = false;
    bool has_nul = false;
};

/// One pass over a file: checksum, NUL bytes, placeholder (also across the pieces it is read in).
Result<Content> scan(int fd, std::string_view placeholder, std::string_view name) {
    Content content;
    Hasher hasher(DigestKind::Sha256);
    const auto overlap = placeholder.empty() ? 0 : placeholder.size() - 1;
    std::string buffer(overlap + (std::size_t{1} << 20U), '\0');
    std::size_t kept = 0;  // the end of the piece before, at the front of the buffer
    for (;;) {
        const auto count = ::read(fd, buffer.data() + kept, buffer.size() - kept);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(name, "read", errno));
        if (count == 0) break;
        const auto size = static_cast<std::size_t>(count);
        const auto fresh = std::string_view(buffer).substr(kept, size);
        hasher.update(fresh);
        content.size += size;
        content.has_nul = content.has_nul || fresh.find('\0') != std::string_view::npos;
        const auto used = kept + size;
        if (!placeholder.empty() && !content.has_placeholder)
            content.has_placeholder =
                ::memmem(buffer.data(), used, placeholder.data(), placeholder.size()) != nullptr;
        kept = std::min(overlap, used);
        std::memmove(buffer.data(), buffer.data() + used - kept, kept);
    }
    content.sha256 = std::move(hasher).hex();
    return content;
}

class Describer {
public:
    Describer(int root, const fs::path& folder, std::string_view placeholder)
        : root_(root), folder_(folder), placeholder_(placeholder) {}

    Result<PathEntry> describe(const std::string& path) {
        const auto name = (folder_ / path).native();
        const auto place = open_below(root_, path, O_PATH);
        if (!place) return pass(io_error(name, "open", errno));
        struct stat status {};
        if (::fstat(place.get(), &status) != 0) return pass(io_error(name, "read", errno));
        PathEntry entry;
        entry.path = path;
        if (S_ISDIR(status.st_mode)) {
            entry.type = PathType::Directory;
            return entry;
        }
        Content content;
        if (S_ISLNK(status.st_mode)) {
            entry.type = PathType::SoftLink;
            GPKG_TRY(content, target_of(path));
        } else if (S_ISREG(status.st_mode)) {
            GPKG_TRY(content, content_of(path));
            if (content.has_placeholder) {
                entry.prefix_placeholder = placeholder_;
                entry.mode = content.has_nul ? FileMode::Binary : FileMode::Text;
            }
        } else {
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: not a file, link or folder", name));
        }
        entry.sha256 = content.sha256;
        entry.size_in_bytes = content.size;
        return entry;
    }

private:
    Result<Content> content_of(const std::string& path) {
        if (const auto found = known_.find(path); found != known_.end()) return found->second;
        const auto name = (folder_ / path).native();
        const auto file = open_below(root_, path, O_RDONLY);
        if (!file) return pass(io_error(name, "open", errno));
        GPKG_TRY(auto content, scan(file.get(), placeholder_, name));
        known_[path] = content;
        return content;
    }

    Result<Content> target_of(const std::string& link) {
        const auto target = resolve_inside(root_, link);
        struct stat status {};
        if (!target || ::fstatat(root_, target->c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            return Content();
        return content_of(*target);
    }

    int root_;
    const fs::path& folder_;
    std::string_view placeholder_;
    std::map<std::string, Content> known_;
};

}  // namespace

Result<std::vector<PathEntry>> describe_paths(const fs::path& folder,
                                              const std::vector<std::string>& files,
                                              std::string_view placeholder,
                                              const Cancelled& cancelled) {
    const Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return pass(io_error(folder.native(), "open", errno));
    Describer describer(root.get(), folder, placeholder);
    std::vector<PathEntry> entries;
    entries.reserve(files.size());
    for (const auto& file : files) {
        GPKG_CHECK(check_cancelled(cancelled));
        GPKG_TRY(const auto path, checked_payload_path(file, folder.native()));
        GPKG_TRY(auto entry, describer.describe(path));
        entries.push_back(std::move(entry));
    }
    GPKG_CHECK(refuse_duplicates(entries, folder.native()));
    return entries;
}

}  // namespace gpkg
