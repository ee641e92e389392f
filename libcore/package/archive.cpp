#include "libcore/package/archive_internal.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/json_internal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <locale.h>
#include <optional>

namespace gpkg {
namespace {

constexpr std::size_t kReadSize = std::size_t{256} << 10U;
/// What libarchive holds against `name`.
tl::unexpected<Error> damaged(std::string_view name, struct archive* archive) {
    const auto* text = libarchive()->error_string(archive);
    const int code = libarchive()->error_number(archive);
    const bool system = code == EIO || code == EACCES || code == ENOMEM || code == ESTALE;
    auto what = text != nullptr ? printable(text) : "unreadable";
    if (what == "Unrecognized archive format") what = "not a package, or incomplete";
    return fail(system ? ErrorKind::Io : ErrorKind::Integrity,
                fmt::format("{}: damaged archive: {}", name, what));
}

Member member_of(struct archive_entry* entry, Part part) {
    Member member;
    member.part = part;
    if (const auto* path = libarchive()->entry_pathname(entry)) member.path = path;
    member.size =
        static_cast<std::uint64_t>(std::max<la_int64_t>(libarchive()->entry_size(entry), 0));
    member.mtime = libarchive()->entry_mtime(entry);
    member.mtime_nanoseconds = libarchive()->entry_mtime_nsec(entry);
    const auto mode = libarchive()->entry_perm(entry);
    member.executable = (mode & 0100U) != 0;
    member.set_id = (mode & 06000U) != 0;
    if (const auto* link = libarchive()->entry_hardlink(entry)) {
        member.kind = MemberKind::HardLink;
        member.link = link;
        return member;
    }
    switch (libarchive()->entry_filetype(entry)) {
    case AE_IFREG: member.kind = MemberKind::File; break;
    case AE_IFDIR: member.kind = MemberKind::Directory; break;
    case AE_IFLNK:
        member.kind = MemberKind::SoftLink;
        if (const auto* link = libarchive()->entry_symlink(entry)) member.link = link;
        break;
    default: member.kind = MemberKind::Special;
    }
    return member;
}

Result<void> read_blocks(struct archive* archive, std::string_view name, const OnBlock& on_block) {
    for (;;) {
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int code = libarchive()->read_data_block(archive, &data, &size, &offset);
        if (code == ARCHIVE_EOF) return {};
        if (code != ARCHIVE_OK || offset < 0) return damaged(name, archive);
        GPKG_CHECK(on_block(static_cast<std::uint64_t>(offset),
                            std::string_view(static_cast<const char*>(data), size)));
    }
}

/// Names that are not converted are what is wanted (NameLocale).
bool is_about_conversion(const char* warning) {
    return warning != nullptr && std::strstr(warning, "be converted") != nullptr;
}

/// Visits every member of the opened tar.
Result<void> walk_tar(struct archive* tar,
                      Part part,
                      std::string_view name,
                      std::vector<std::string>& warnings,
                      const OnMember& on_member) {
    for (;;) {
        struct archive_entry* entry = nullptr;
        const int code = libarchive()->read_next_header(tar, &entry);
        if (code == ARCHIVE_EOF) return {};
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return damaged(name, tar);
        if (code == ARCHIVE_WARN && !is_about_conversion(libarchive()->error_string(tar))) {
            const auto* text = libarchive()->error_string(tar);
            warn(warnings,
                 fmt::format("{}: {}", name, text != nullptr ? printable(text) : "invalid tar"));
        }
        GPKG_CHECK(on_member(member_of(entry, part), [&](const OnBlock& on_block) {
            return read_blocks(tar, name, on_block);
        }));
    }
}

/// The content of one member of the zip, handed to libarchive as the bytes of a tar.
la_ssize_t read_zip_member(struct archive* tar, void* zip, const void** data) {
    auto* outer = static_cast<struct archive*>(zip);
    for (;;) {
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int code = libarchive()->read_data_block(outer, data, &size, &offset);
        if (code == ARCHIVE_EOF) return 0;
        if (code != ARCHIVE_OK) {
            const auto* text = libarchive()->error_string(outer);
            libarchive()->set_error(tar,
                                    libarchive()->error_number(outer),
                                    "%s",
                                    text != nullptr ? text : "unreadable");
            return -1;
        }
        if (size != 0) return static_cast<la_ssize_t>(size);
    }
}

Result<void> walk_zip_member(struct archive* zip,
                             Part part,
                             std::string_view name,
                             std::vector<std::string>& warnings,
                             const OnMember& on_member) {
    const ArchiveHandle tar(libarchive()->read_new());
    libarchive()->read_support_filter_zstd(tar.get());
    libarchive()->read_support_format_tar(tar.get());
    if (libarchive()->read_open(tar.get(), zip, nullptr, read_zip_member, nullptr) != ARCHIVE_OK)
        return damaged(name, tar.get());
    if (libarchive()->filter_code(tar.get(), 0) != ARCHIVE_FILTER_ZSTD)
        return fail(ErrorKind::Integrity, fmt::format("{}: damaged archive: not zstd data", name));
    GPKG_CHECK(walk_tar(tar.get(), part, name, warnings, on_member));
    // What follows the tar's end still counts in the zip's checksum.
    return read_blocks(zip, name, [](std::uint64_t, std::string_view) { return Result<void>(); });
}

Result<void> check_metadata(struct archive* zip, std::string_view name) {
    constexpr std::size_t kMost = 65536;
    std::string text;
    GPKG_CHECK(read_blocks(zip, name, [&](std::uint64_t, std::string_view block) -> Result<void> {
        text += block;
        if (text.size() <= kMost) return {};
        return fail(ErrorKind::Integrity, fmt::format("{}: larger than {} bytes", name, kMost));
    }));
    simdjson::dom::parser parser;
    GPKG_TRY(const auto json, parse_json_object(parser, text, name));
    GPKG_TRY(const auto version, json.count("conda_pkg_format_version"));
    if (version == 2) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: conda_pkg_format_version must be 2, found {}", name, version));
}

/// Which of the three members of a .conda a name is. Renamed packages keep their inner names, so
/// only the ends of a name count.
std::optional<Part> tar_part(std::string_view name) {
    if (!name.ends_with(".tar.zst")) return std::nullopt;
    if (name.starts_with("info-")) return Part::Info;
    if (name.starts_with("pkg-")) return Part::Payload;
    return std::nullopt;
}

class CondaWalk {
public:
    CondaWalk(std::string path, Walk walk, std::vector<std::string>& warnings)
        : path_(std::move(path)), walk_(walk), warnings_(warnings) {}

    Result<void> run(struct archive* zip, const OnMember& on_member) {
        for (;;) {
            struct archive_entry* entry = nullptr;
            const int code = libarchive()->read_next_header(zip, &entry);
            if (code == ARCHIVE_EOF) break;
            if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return damaged(path_, zip);
            GPKG_CHECK(visit(zip, entry, on_member));
            if (walk_ == Walk::InfoOnly && seen_info_) return {};
        }
        return check_complete();
    }

private:
    Result<void> visit(struct archive* zip,
                       struct archive_entry* entry,
                       const OnMember& on_member) {
        const auto* raw = libarchive()->entry_pathname(entry);
        const std::string member = raw != nullptr ? raw : "";
        const auto name = fmt::format("{}: {}", path_, printable(member));
        const auto part = tar_part(member);
        const bool metadata = member == "metadata.json";
        if (!part && !metadata) {
            if (!member.ends_with('/')) warn(warnings_, name + ": not part of the .conda format");
            return {};
        }
        auto& seen = metadata ? seen_metadata_ : *part == Part::Info ? seen_info_ : seen_payload_;
        if (std::exchange(seen, true))
            return fail(ErrorKind::Integrity, name + ": is in the archive twice");
        if (libarchive()->entry_filetype(entry) != AE_IFREG)
            return fail(ErrorKind::Integrity, name + ": must be a file");
        const auto* format = libarchive()->format_name(zip);
        if (format != nullptr && std::strstr(format, "uncompressed") == nullptr)
            warn(warnings_, name + ": compressed in the zip, which the .conda format forbids");
        if (metadata) return check_metadata(zip, name);
        if (*part == Part::Payload && walk_ == Walk::InfoOnly) return {};
        return walk_zip_member(zip, *part, name, warnings_, on_member);
    }

    Result<void> check_complete() {
        const auto missing = [&](std::string_view what) {
            return fail(ErrorKind::Integrity, fmt::format("{}: has no {} member", path_, what));
        };
        if (!seen_info_) return missing("info-*.tar.zst");
        if (!seen_payload_) return missing("pkg-*.tar.zst");
        if (!seen_metadata_) warn(warnings_, path_ + ": has no metadata.json");
        return {};
    }

    std::string path_;
    Walk walk_;
    std::vector<std::string>& warnings_;
    bool seen_metadata_ = false;
    bool seen_info_ = false;
    bool seen_payload_ = false;
};

enum class Format { Conda, TarBz2 };

Result<Format> format_of(std::string_view magic, const std::string& name) {
    if (magic == "PK\x03\x04") return Format::Conda;
    if (magic.starts_with("BZh")) return Format::TarBz2;
    return fail(ErrorKind::Integrity,
                fmt::format("{}: {} (expected .conda or .tar.bz2)",
                            name,
                            magic.empty() ? "an empty file" : "not a package archive"));
}

ArchiveHandle reader_of_tar_bz2() {
    ArchiveHandle tar(libarchive()->read_new());
    libarchive()->read_support_filter_bzip2(tar.get());
    libarchive()->read_support_format_tar(tar.get());
    return tar;
}

/// A ByteSource as libarchive asks for bytes.
struct SourceReader {
    const ByteSource& source;
    std::string buffer = std::string(kReadSize, '\0');
    std::optional<Error> problem{};

    static la_ssize_t read(struct archive* tar, void* user, const void** data) {
        auto& reader = *static_cast<SourceReader*>(user);
        auto count = reader.source(reader.buffer.data(), reader.buffer.size());
        if (!count) {
            libarchive()->set_error(tar, EINVAL, "%s", "unreadable");
            reader.problem = std::move(count).error();
            return -1;
        }
        *data = reader.buffer.data();
        return static_cast<la_ssize_t>(*count);
    }
};

}  // namespace

Result<void> walk_tar(const ByteSource& source,
                      std::string_view name,
                      std::vector<std::string>& warnings,
                      const OnMember& on_member) {
    GPKG_CHECK(need_libarchive());
    const NameLocale locale(NameLocale::Names::Bytes);
    SourceReader reader{source};
    const ArchiveHandle tar(libarchive()->read_new());
    libarchive()->read_support_format_tar(tar.get());
    const bool is_open =
        libarchive()->read_open(tar.get(), &reader, nullptr, SourceReader::read, nullptr) ==
        ARCHIVE_OK;
    auto walked = is_open ? walk_tar(tar.get(), Part::Info, name, warnings, on_member)
                          : Result<void>(damaged(name, tar.get()));
    if (reader.problem) return pass(*std::move(reader.problem));
    return walked;
}

bool is_metadata(std::string_view name_in_info) {
    static constexpr std::array<std::string_view, 10> kNames{"about.json",
                                                             "binaries.json",
                                                             "files",
                                                             "has_prefix",
                                                             "hash_input.json",
                                                             "index.json",
                                                             "link.json",
                                                             "no_link",
                                                             "paths.json",
                                                             "run_exports.json"};
    return std::find(kNames.begin(), kNames.end(), name_in_info) != kNames.end();
}

void warn(std::vector<std::string>& warnings, std::string text) {
    constexpr std::size_t kMost = 20;
    if (warnings.size() < kMost) warnings.push_back(std::move(text));
}

NameLocale::NameLocale(Names names) {
    // Made once and kept: every thread may hold it.
    static const locale_t utf8 = [] {
        for (const auto* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
            if (auto* made = ::newlocale(LC_CTYPE_MASK, name, nullptr)) return made;
        }
        return static_cast<locale_t>(nullptr);
    }();
    static const locale_t bytes = ::newlocale(LC_CTYPE_MASK, "C", nullptr);
    // A null locale changes nothing.
    before_ = ::uselocale(names == Names::Utf8 ? utf8 : bytes);
}

NameLocale::~NameLocale() { ::uselocale(before_); }

Result<void> walk_package(const fs::path& archive,
                          Walk walk,
                          std::vector<std::string>& warnings,
                          const OnMember& on_member) {
    const Descriptor file(::open(archive.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return pass(io_error(archive.native(), "open", errno));
    std::string magic(4, '\0');
    const auto count = ::read(file.get(), magic.data(), magic.size());
    if (count < 0) return pass(io_error(archive.native(), "read", errno));
    magic.resize(static_cast<std::size_t>(count));

    GPKG_TRY(const auto format, format_of(magic, archive.native()));
    GPKG_CHECK(need_libarchive());
    const NameLocale locale(NameLocale::Names::Bytes);
    auto reader = ArchiveHandle();
    if (format == Format::Conda) {
        reader.reset(libarchive()->read_new());
        libarchive()->read_support_format_zip_seekable(reader.get());
    } else {
        reader = reader_of_tar_bz2();
    }
    if (libarchive()->read_open_filename(reader.get(), archive.c_str(), kReadSize) != ARCHIVE_OK)
        return damaged(archive.native(), reader.get());
    if (format == Format::TarBz2)
        return walk_tar(reader.get(), Part::Whole, archive.native(), warnings, on_member);
    return CondaWalk(archive.native(), walk, warnings).run(reader.get(), on_member);
}

Result<void> walk_package(const std::shared_ptr<ArrivingFile>& archive,
                          const std::string& name,
                          std::vector<std::string>& warnings,
                          const OnMember& on_member) {
    std::string magic(4, '\0');
    if (!archive->wait_for(magic.size()))
        return fail(ErrorKind::Interrupted, name + ": download failed");
    GPKG_CHECK(ArrivingFile::source(archive)(magic.data(), magic.size()));
    GPKG_TRY(const auto format, format_of(magic, name));
    GPKG_CHECK(need_libarchive());
    const NameLocale locale(NameLocale::Names::Bytes);
    auto reader = ArchiveHandle();
    if (format == Format::Conda) {
        reader.reset(libarchive()->read_new());
        libarchive()->read_support_format_zip_streamable(reader.get());
    } else {
        reader = reader_of_tar_bz2();
    }
    const auto source = ArrivingFile::source(archive);
    SourceReader bytes{source};
    auto walked = Result<void>();
    if (libarchive()->read_open(reader.get(), &bytes, nullptr, SourceReader::read, nullptr) !=
        ARCHIVE_OK) {
        walked = damaged(name, reader.get());
    } else if (format == Format::TarBz2) {
        walked = walk_tar(reader.get(), Part::Whole, name, warnings, on_member);
    } else {
        walked = CondaWalk(name, Walk::Everything, warnings).run(reader.get(), on_member);
    }
    if (bytes.problem) return pass(*std::move(bytes.problem));
    return walked;
}

}  // namespace gpkg
