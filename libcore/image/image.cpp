#include "libcore/image/image.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/laid_out_tar_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace gpkg {
namespace {

constexpr int kUsualZstdLevel = 9;

using Json = nlohmann::ordered_json;

constexpr std::string_view kMark = "gpkg image 1\n";

std::string block_of(const ImageInfo& info) {
    const Json document = {{"name", info.name},
                           {"mount_point", info.mount_point.native()},
                           {"platform", info.platform},
                           {"packages", info.packages},
                           {"content", info.content},
                           {"made_by", info.made_by}};
    auto block = std::string(kMark) + json_text(document) + "\n";
    block.resize(kImageInformation, '\0');
    return block;
}

tl::unexpected<Error> not_an_image(const fs::path& file) {
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: not an image made by gpkg", file.native()),
                "create one with gpkg image build");
}

/// The environment's files on their way to mksquashfs.
Result<std::vector<std::string>> feed(const Transaction& environment,
                                      const ImageOptions& options,
                                      int end,
                                      bool& reads_no_more,
                                      unsigned& kept_from) {
    const auto sink = [&](std::string_view bytes) -> Result<void> {
        if (write_fully(end, bytes)) return {};
        reads_no_more = errno == EPIPE;
        return fail(ErrorKind::Io,
                    fmt::format("cannot write to mksquashfs: {}", std::strerror(errno)));
    };
    TarStreamOptions how;
    how.time = options.time;
    how.cancelled = options.layout.transaction.cancelled;
    GPKG_TRY(auto tar, TarStream::open(sink, how));
    GPKG_TRY(auto warnings, lay_out(environment, options.layout, [&](const LaidOutFile& file) {
                 kept_from |= file.kept_from();
                 return add_laid_out(tar, file, file.path);
             }));
    GPKG_CHECK(tar.close());
    return warnings;
}

}  // namespace

Result<ImageInfo> read_image_info(const fs::path& image) {
    const Descriptor file(::open(image.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return pass(io_error(image, "read", errno));
    const bool can_be_one = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
    const off_t size = can_be_one ? ::lseek(file.get(), 0, SEEK_END) : 0;
    constexpr off_t kInformation{kImageInformation};
    std::string block(kImageInformation, '\0');
    if (size < 2 * kInformation ||
        ::pread(file.get(), block.data(), kImageInformation, size - kInformation) != kInformation ||
        !block.starts_with(kMark))
        return not_an_image(image);
    const auto document = Json::parse(
        block.begin() + kMark.size(), std::find(block.begin(), block.end(), '\0'), nullptr, false);
    if (!document.is_object()) return not_an_image(image);
    const auto text = [&](const char* key) {
        const auto found = document.find(key);
        return found != document.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const auto packages = document.find("packages");
    ImageInfo info;
    info.name = text("name");
    info.mount_point = text("mount_point");
    info.platform = text("platform");
    if (packages != document.end() && packages->is_number_unsigned())
        info.packages = packages->get<std::size_t>();
    info.content = text("content");
    info.made_by = text("made_by");
    // The root has no name, and is no mount point.
    if (!info.mount_point.is_absolute() || !info.mount_point.has_filename() ||
        info.mount_point != info.mount_point.lexically_normal() || !is_hex(info.content, 64))
        return not_an_image(image);
    return info;
}

Result<std::vector<ImagePackage>> packages_of_image(const fs::path& image) {
    if (find_program("unsquashfs").empty())
        return fail(ErrorKind::NotFound,
                    "unsquashfs is not on PATH; it is needed to list the packages of an image",
                    "install squashfs-tools");
    ProcessCommand command;
    command.arguments = {"unsquashfs", "-no-progress", "-l", image.native(), "conda-meta"};
    GPKG_TRY(const auto listed, run_and_capture(std::move(command)));
    if (listed.exit_code != 0)
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: unsquashfs cannot list it: {}", image.native(), last_lines(listed.output, 1)));
    constexpr std::string_view kFolder = "/conda-meta/";
    constexpr std::string_view kEnd = ".json";
    std::vector<ImagePackage> packages;
    for (auto line : split(listed.output, '\n')) {
        const auto folder = line.find(kFolder);
        if (folder == std::string_view::npos || !line.ends_with(kEnd)) continue;
        line = line.substr(folder + kFolder.size());
        line.remove_suffix(kEnd.size());
        const auto build = line.rfind('-');
        const auto version = build == std::string_view::npos ? build : line.rfind('-', build - 1);
        if (line.find('/') != std::string_view::npos || version == std::string_view::npos) continue;
        packages.push_back({std::string(line.substr(0, version)),
                            std::string(line.substr(version + 1, build - version - 1)),
                            std::string(line.substr(build + 1))});
    }
    std::ranges::sort(packages, {}, &ImagePackage::name);
    return packages;
}

Result<ImageDigests> check_image(const fs::path& image,
                                 const ImageInfo& info,
                                 const TakePiece& take) {
    const Descriptor file(::open(image.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return pass(io_error(image, "read", errno));
    Hasher hasher(DigestKind::Sha256);
    std::string content;
    auto left = static_cast<std::size_t>(status.st_size) - kImageInformation;
    std::string buffer(std::size_t{4} << 20U, '\0');
    for (;;) {
        const auto count = ::read(file.get(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(image, "read", errno));
        if (count == 0) break;
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
        if (take) GPKG_CHECK(take(piece));
        const auto of_content = piece.substr(0, left);
        hasher.update(of_content);
        left -= of_content.size();
        if (left == 0 && content.empty()) content = Hasher(hasher).hex();
        hasher.update(piece.substr(of_content.size()));
    }
    if (left == 0 && content == info.content)
        return ImageDigests{std::move(hasher).hex(), static_cast<std::uint64_t>(status.st_size)};
    return fail(ErrorKind::Integrity,
                fmt::format("{}: damaged: the contents do not match the checksum", image.native()),
                "try again if it was replaced just now, or build it again");
}

fs::path image_mount_point(const Transaction& environment, std::string_view name) {
    std::vector<std::string> parts;
    for (const auto& request : environment.link) {
        const auto& record = request.record;
        parts.push_back(fmt::format("{} {} {}\n",
                                    record.distribution(),
                                    record.sha256.empty() ? record.md5 : record.sha256,
                                    fmt::join(request.requested_specs, ",")));
    }
    std::sort(parts.begin(), parts.end());
    for (const auto& [variable, value] : environment.variables)
        parts.push_back(fmt::format("{}={}\n", variable, value.value_or("")));
    const auto digest = hex_digest(DigestKind::Sha256, fmt::format("{}", fmt::join(parts, "")));
    return fs::path("/gpkg") / fmt::format("{}-{}", name, digest.substr(0, 12));
}

Result<std::vector<std::string>> write_image(const Transaction& environment,
                                             const fs::path& image,
                                             const ImageOptions& options) {
    if (find_program("mksquashfs").empty())
        return fail(ErrorKind::NotFound,
                    "mksquashfs is not on PATH; it is needed to make an image",
                    "install squashfs-tools 4.5 or newer from Debian or conda-forge");
    // Not in the workplace, which may be on another disk.
    remove_dead_temporaries_of(image);
    GPKG_TRY(auto made, NewFile::make(image));
    GPKG_CHECK(made.make_private());
    const auto time = fmt::format("{}", options.time);
    ProcessCommand command;
    command.arguments = {"mksquashfs",
                         "-",
                         made.temporary(),
                         "-tar",
                         "-quiet",
                         "-no-progress",
                         "-noappend",
                         "-all-root",
                         "-no-xattrs",
                         "-no-exports",
                         "-comp",
                         "zstd",
                         "-Xcompression-level",
                         fmt::format("{}", options.level.value_or(kUsualZstdLevel)),
                         "-mkfs-time",
                         time,
                         "-all-time",
                         time,
                         "-root-mode",
                         "755"};
    command.cancelled = options.layout.transaction.cancelled;
    command.log = options.layout.workplace / "mksquashfs.log";
    Result<std::vector<std::string>> warnings;
    bool reads_no_more = false;
    unsigned kept_from = 0;
    command.feed = [&](int end) {
        warnings = feed(environment, options, end, reads_no_more, kept_from);
    };
    GPKG_TRY(const auto status, run_command(command));
    if (status != 0 && (warnings || reads_no_more)) {
        if (is_full(image.parent_path())) return pass(io_error(image, "write", ENOSPC));
        return fail(
            ErrorKind::Io,
            fmt::format(
                "mksquashfs failed with status {}: {}", status, last_lines_of(command.log, 3)));
    }
    GPKG_CHECK(warnings);
    auto info = options.info;
    GPKG_TRY(info.content, sha256_of_file(made.temporary()));
    if (::lseek(made.fd(), 0, SEEK_END) < 0) return pass(io_error(image, "write", errno));
    GPKG_CHECK(made.write(block_of(info)));
    made.keep_from(kept_from);
    GPKG_CHECK(made.finish(true));
    return warnings;
}

}  // namespace gpkg
