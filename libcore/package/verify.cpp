#include "libcore/package/verify.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/verify_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string_view name_of(PathType type) {
    switch (type) {
    case PathType::HardLink: return "a file";
    case PathType::SoftLink: return "a symbolic link";
    default: return "a folder";
    }
}

std::string difference(const PathEntry& entry, const SeenPath& seen) {
    if (seen.type != entry.type)
        return fmt::format("is {}, not {}", name_of(seen.type), name_of(entry.type));
    if (entry.type != PathType::HardLink || entry.sha256.empty()) return {};
    // Some builders leave the size out; the checksum decides then.
    if (entry.size_in_bytes != 0 && seen.size != entry.size_in_bytes)
        return fmt::format("has {} bytes, not {}", seen.size, entry.size_in_bytes);
    if (!seen.sha256.empty() && seen.sha256 != entry.sha256) return "has a different checksum";
    return {};
}

Result<std::string> hash_descriptor(int fd, std::string_view path) {
    Hasher hasher(DigestKind::Sha256);
    std::string buffer(std::size_t{256} << 10U, '\0');
    for (;;) {
        const auto count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(path, "read", errno));
        if (count == 0) return std::move(hasher).hex();
        hasher.update(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
}

Result<std::optional<SeenPath>> look_at_disk(int root,
                                             const fs::path& folder,
                                             const PathEntry& entry,
                                             VerifyDepth depth) {
    const auto name = (folder / entry.path).native();
    SeenPath seen;
    // O_PATH with O_NOFOLLOW opens a link itself, and nothing but folders on the way to it.
    const auto place = open_below(root, entry.path, O_PATH);
    if (!place) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::optional<SeenPath>();
        return pass(io_error(name, "open", errno));
    }
    struct stat status {};
    if (::fstat(place.get(), &status) != 0) return pass(io_error(name, "read", errno));
    if (S_ISLNK(status.st_mode)) seen.type = PathType::SoftLink;
    if (S_ISDIR(status.st_mode)) seen.type = PathType::Directory;
    seen.size = static_cast<std::uint64_t>(status.st_size);
    if (depth == VerifyDepth::Content && S_ISREG(status.st_mode) && !entry.sha256.empty() &&
        entry.type == PathType::HardLink) {
        const auto file = open_below(root, entry.path, O_RDONLY);
        if (!file) return pass(io_error(name, "open", errno));
        GPKG_TRY(seen.sha256, hash_descriptor(file.get(), name));
    }
    return std::optional(std::move(seen));
}

}  // namespace

Result<std::vector<PathDamage>> compare_paths(const std::vector<PathEntry>& entries,
                                              const LookAt& look_at) {
    std::vector<PathDamage> damage;
    for (const auto& entry : entries) {
        GPKG_TRY(const auto seen, look_at(entry));
        auto what = seen ? difference(entry, *seen) : std::string("is missing");
        if (!what.empty()) damage.push_back({entry.path, std::move(what)});
    }
    return damage;
}

Error damage_error(std::string_view what, const std::vector<PathDamage>& damage) {
    constexpr std::size_t kShown = 3;
    auto message = fmt::format("{}: differs from its info/paths.json: ", what);
    for (std::size_t i = 0; i < std::min(damage.size(), kShown); ++i)
        message += fmt::format(
            "{}\"{}\" {}", i == 0 ? "" : ", ", printable(damage[i].path), damage[i].what);
    if (damage.size() > kShown) message += fmt::format(" and {} more", damage.size() - kShown);
    return Error{ErrorKind::Integrity, std::move(message), {}, {}};
}

Result<std::vector<PathDamage>> find_damage(const fs::path& folder, VerifyDepth depth) {
    GPKG_TRY(const auto entries, read_paths(folder));
    const Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return pass(io_error(folder.native(), "open", errno));
    return compare_paths(entries, [&](const PathEntry& entry) {
        return look_at_disk(root.get(), folder, entry, depth);
    });
}

Result<void> verify_unpacked(const fs::path& folder, VerifyDepth depth) {
    GPKG_TRY(const auto damage, find_damage(folder, depth));
    if (damage.empty()) return {};
    return pass(damage_error(folder.native(), damage));
}

}  // namespace gpkg
