#include "libcore/image/image_copy.hpp"

#include "libcore/base/byte_size.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/env/room.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/mount_point_internal.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr std::string_view kEnding = ".sqfs";
constexpr std::string_view kOrigin = ".from";  ///< beside a copy: the image that it is of

/// Whether it is there already. It was compared before it got its name.
bool is_copy_of(const fs::path& copy, const fs::path& image, const ImageInfo& info) {
    std::error_code code;
    const auto size = fs::file_size(copy, code);
    if (code || size != fs::file_size(image, code)) return false;
    if ((kept_from(image) & ~kept_from(copy)) != 0) return false;
    const auto there = read_image_info(copy);
    return there && there->content == info.content;
}

fs::path with_ending(const fs::path& folder, std::string_view content, std::string_view ending) {
    return folder / fmt::format("{}{}", content, ending);
}

/// Copies that nobody will ask for again.
void remove_old(const fs::path& folder, const ImageInfo& info, const ImageCopyOptions& options) {
    std::error_code code;
    fs::directory_iterator entries(folder, code);
    for (const fs::directory_iterator end; !code && entries != end; entries.increment(code)) {
        const auto& path = entries->path();
        if (path.extension() != kEnding) continue;
        const auto content = path.stem().native();
        if (content == info.content || options.in_use.contains(content)) continue;
        const auto origin = with_ending(folder, content, kOrigin);
        const auto named = read_file(origin);
        const auto there = named ? read_image_info(*named) : Result<ImageInfo>(ImageInfo{});
        if (there && there->content == content) continue;
        std::error_code ignored;
        fs::remove(path, ignored);
        fs::remove(origin, ignored);
    }
}

/// Held while a copy is made: others then find it made. They make their own where that takes long.
Descriptor turn_to_copy(const fs::path& file, const ImageCopyOptions& options) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kLongest = std::chrono::minutes(2);
    if (is_on_shared_file_system(file.parent_path())) return {};
    Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const auto until = Clock::now() + kLongest;
    while (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           Clock::now() < until && !(options.cancelled && options.cancelled()))
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return lock;
}

Result<void> copy_compared(const fs::path& image,
                           const ImageInfo& info,
                           const fs::path& copy,
                           const ImageCopyOptions& options) {
    GPKG_TRY(auto to, NewFile::make(copy));
    // Who may read the image may read its copy, whatever the umask.
    if (::fchmod(to.fd(), 0644) != 0) return pass(io_error(copy, "set the mode of", errno));
    GPKG_CHECK(to.make_private());
    to.keep_from(kept_from(image));
    const auto take = [&](std::string_view piece) -> Result<void> {
        if (options.cancelled && options.cancelled())
            return fail(ErrorKind::Interrupted, "interrupted");
        return to.write(piece);
    };
    GPKG_CHECK(check_image(image, info, take));
    return to.finish(false);
}

}  // namespace

Result<fs::path> own_folder_in(const fs::path& folder) {
    const auto own = folder / fmt::format("gpkg-{}", ::geteuid());
    // What root mounts is for everybody, who finds out by the file which image it is.
    if (!make_folder(own, ::geteuid() == 0 ? 0755 : 0700) && errno != EEXIST)
        return pass(io_error(own, "make the folder", errno));
    struct stat status {};
    if (::lstat(own.c_str(), &status) != 0) return pass(io_error(own, "access", errno));
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022U) != 0)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: not a folder that only you can write to", own.native()),
                    "remove it, or choose another folder");
    return own;
}

Result<fs::path> local_copy(const fs::path& image,
                            const ImageInfo& info,
                            const ImageCopyOptions& options) {
    GPKG_CHECK(make_folders(options.disk));
    GPKG_TRY(const auto own, own_folder_in(options.disk));
    const auto folder = own / "images";
    if (!make_folder(folder, 0755) && errno != EEXIST)
        return pass(io_error(folder, "make the folder", errno));
    const auto copy = with_ending(folder, info.content, kEnding);
    remove_old(folder, info, options);
    if (is_copy_of(copy, image, info)) return copy;
    const auto turn = turn_to_copy(folder / ".copying", options);
    if (is_copy_of(copy, image, info)) return copy;
    remove_dead_temporaries(folder);
    std::error_code code;
    const auto size = fs::file_size(image, code);
    if (code) return pass(io_error(image, "read", code.value()));
    GPKG_TRY(const auto room, room_at(folder));
    GPKG_CHECK(check_room(room, folder, {size, 2}));
    if (options.note)
        options.note(fmt::format(
            "copying {} ({}) to {}", image.native(), byte_size_text(size), folder.native()));
    GPKG_CHECK(copy_compared(image, info, copy, options));
    GPKG_CHECK(write_file_atomically(with_ending(folder, info.content, kOrigin), image.native()));
    return copy;
}

}  // namespace gpkg
