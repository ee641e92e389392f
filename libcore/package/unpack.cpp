#include "libcore/package/unpack.hpp"

#include "libcore/package/archive_internal.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/shared_modes_internal.hpp"
#include "libcore/package/tree_writer_internal.hpp"
#include "libcore/package/verify_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <system_error>

namespace gpkg {
namespace {

/// The folder to unpack into; what was put there goes again unless keep() is called.
class Target {
public:
    static Result<Target> make(const fs::path& path, const SharedModes& modes) {
        bool made = true;
        if (::mkdir(path.c_str(), modes.folder()) != 0) {
            if (errno != EEXIST) return pass(io_error(path.native(), "create the folder", errno));
            made = false;
        } else if (const int code = modes.settle_folder(AT_FDCWD, path.c_str()); code != 0) {
            return pass(io_error(path.native(), "create the folder", code));
        }
        Descriptor root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!root) return pass(io_error(path.native(), "open the folder", errno));
        std::error_code code;
        if (!made && !fs::is_empty(path, code))
            return fail(ErrorKind::Conflict,
                        fmt::format("{}: cannot unpack: the folder is not empty", path.native()));
        return Target(path, std::move(root), made);
    }
    Target(Target&& other) noexcept
        : path_(std::exchange(other.path_, {})),
          root_(std::move(other.root_)),
          made_(other.made_) {}
    Target& operator=(Target&&) = delete;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    ~Target() {
        if (path_.empty()) return;
        std::error_code ignored;
        if (made_) {
            fs::remove_all(path_, ignored);
            return;
        }
        for (const auto& item : fs::directory_iterator(path_, ignored)) {
            std::error_code ignored_too;
            fs::remove_all(item.path(), ignored_too);
        }
    }

    Descriptor take_root() { return std::move(root_); }
    void keep() { path_.clear(); }

private:
    Target(fs::path path, Descriptor root, bool made)
        : path_(std::move(path)), root_(std::move(root)), made_(made) {}

    fs::path path_;
    Descriptor root_;
    bool made_;
};

std::uint64_t byte_limit(std::uint64_t size, const UnpackLimits& limits) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    const auto ratio = limits.bytes_per_archive_byte;
    const auto scaled = ratio != 0 && size > kMost / ratio ? kMost : size * ratio;
    const auto total = scaled > kMost - limits.free_bytes ? kMost : scaled + limits.free_bytes;
    return std::min(limits.bytes, total);
}

Result<std::uint64_t> byte_limit_of(const fs::path& archive, const UnpackLimits& limits) {
    std::error_code code;
    const auto size = fs::file_size(archive, code);
    if (code) return pass(io_error(archive.native(), "open", code.value()));
    return byte_limit(size, limits);
}

/// Compares what was made with what paths.json promises.
Result<void> verify_made(const std::string& name,
                         const fs::path& target,
                         const TreeWriter& writer) {
    auto entries = read_paths(target);
    if (!entries) {
        auto error = std::move(entries).error();
        error.kind = error.kind == ErrorKind::Parse ? ErrorKind::Integrity : error.kind;
        return pass(std::move(error).while_doing("unpacking " + name));
    }
    const auto& made = writer.made();
    const auto look = [&](const PathEntry& entry) -> Result<std::optional<SeenPath>> {
        const auto found = made.find(entry.path);
        if (found == made.end()) return std::optional<SeenPath>();
        const auto& path = found->second;
        return std::optional(SeenPath{path.type, path.size, path.sha256});
    };
    GPKG_TRY(const auto damage, compare_paths(*entries, look));
    if (damage.empty()) return {};
    return pass(damage_error(name, damage));
}

using WalkInto =
    std::function<Result<void>(std::vector<std::string>& warnings, const OnMember& on_member)>;

Result<Unpacked> unpack(const std::string& name,
                        std::uint64_t limit,
                        const fs::path& target,
                        const UnpackOptions& options,
                        const WalkInto& walk) {
    const SharedModes modes(options.like);
    GPKG_TRY(auto folder, Target::make(target, modes));
    TreeWriter writer(folder.take_root(), name, options, modes);
    writer.set_byte_limit(limit);
    GPKG_CHECK(walk(writer.warnings(), [&](const Member& member, const ReadContent& read) {
        return writer.add(member, read);
    }));
    if (!writer.made().contains("info/index.json"))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: not a package: has no info/index.json", name));
    if (options.verify) GPKG_CHECK(verify_made(name, target, writer));
    folder.keep();
    writer.keep();
    return writer.totals();
}

}  // namespace

Result<Unpacked> unpack_package(const fs::path& archive,
                                const fs::path& target,
                                const UnpackOptions& options) {
    GPKG_TRY(const auto limit, byte_limit_of(archive, options.limits));
    return unpack(
        archive.native(), limit, target, options, [&](auto& warnings, const auto& on_member) {
            return walk_package(archive, Walk::Everything, warnings, on_member);
        });
}

Result<Unpacked> unpack_package(const std::shared_ptr<ArrivingFile>& archive,
                                const std::string& name,
                                std::uint64_t size,
                                const fs::path& target,
                                const UnpackOptions& options) {
    const auto limit = byte_limit(size, options.limits);
    return unpack(name, limit, target, options, [&](auto& warnings, const auto& on_member) {
        return walk_package(archive, name, warnings, on_member);
    });
}

Result<PackageInfo> read_package_info(const fs::path& archive) {
    GPKG_TRY(const auto limit, byte_limit_of(archive, UnpackLimits{}));
    std::uint64_t total = 0;
    PackageInfo info;
    std::vector<std::string> warnings;
    const auto visit = [&](const Member& member, const ReadContent& read) -> Result<void> {
        const auto refused = [&](std::string_view why) {
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: refused: member \"{}\" {}",
                                    archive.native(),
                                    printable(member.path),
                                    why));
        };
        if (member.size > limit - total) return refused("makes the package too large");
        total += member.size;
        const auto path = clean_relative(member.path);
        if (member.part == Part::Payload || !path.starts_with("info/")) return {};
        const auto name = path.substr(5);
        if (!is_metadata(name)) return {};
        if (member.kind != MemberKind::File) return refused("is not a file");
        const auto [place, fresh] = info.try_emplace(name);
        if (!fresh) return refused("is in the archive twice");
        auto& text = place->second;
        return read([&](std::uint64_t offset, std::string_view block) -> Result<void> {
            if (offset != text.size()) return refused("is a sparse file");
            if (text.size() + block.size() > kMaxInfoText) return refused("is too large");
            text += block;
            return {};
        });
    };
    GPKG_CHECK(walk_package(archive, Walk::InfoOnly, warnings, visit));
    if (!info.contains("index.json"))
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: not a package: has no info/index.json", archive.native()));
    return info;
}

}  // namespace gpkg
