#include "libcore/package/source_archive.hpp"

#include "libcore/package/libarchive_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

tl::unexpected<Error> damaged(const fs::path& file, archive* from) {
    const auto* said = libarchive()->error_string(from);
    return fail(
        ErrorKind::Integrity,
        fmt::format(
            "{}: cannot unpack: {}", file.native(), said == nullptr ? "it is damaged" : said));
}

}  // namespace

Result<void> unpack_source_archive(const fs::path& file,
                                   const fs::path& to,
                                   const Cancelled& cancelled) {
    GPKG_CHECK(need_libarchive());
    const ArchiveHandle reader(libarchive()->read_new());
    libarchive()->read_support_filter_all(reader.get());
    libarchive()->read_support_format_all(reader.get());
    if (libarchive()->read_open_filename(reader.get(), file.c_str(), 1 << 18) != ARCHIVE_OK)
        return damaged(file, reader.get());
    const ArchiveHandle writer(libarchive()->write_disk_new());
    libarchive()->write_disk_set_options(
        writer.get(),
        ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT);
    for (;;) {
        GPKG_CHECK(check_cancelled(cancelled));
        archive_entry* entry = nullptr;
        const int next = libarchive()->read_next_header(reader.get(), &entry);
        if (next == ARCHIVE_EOF) return {};
        if (next < ARCHIVE_WARN) return damaged(file, reader.get());
        const auto* name = libarchive()->entry_pathname(entry);
        const std::string path = name == nullptr ? "" : name;
        const auto plain = path.starts_with("./") ? path.substr(2) : path;
        if (plain.empty()) continue;
        if (!is_safe_relative(plain))
            return fail(
                ErrorKind::Integrity,
                fmt::format("{}: member '{}' leads outside of the archive", file.native(), path));
        libarchive()->entry_set_pathname(entry, (to / plain).c_str());
        if (const auto* link = libarchive()->entry_hardlink(entry)) {
            const std::string target = link;
            if (!is_safe_relative(target))
                return fail(
                    ErrorKind::Integrity,
                    fmt::format(
                        "{}: member '{}' leads outside of the archive", file.native(), path));
            libarchive()->entry_set_hardlink(entry, (to / target).c_str());
        }
        if (libarchive()->write_header(writer.get(), entry) < ARCHIVE_WARN)
            return damaged(file, writer.get());
        const void* block = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        int state = ARCHIVE_OK;
        while ((state = libarchive()->read_data_block(reader.get(), &block, &size, &offset)) ==
               ARCHIVE_OK) {
            GPKG_CHECK(check_cancelled(cancelled));
            if (libarchive()->write_data_block(writer.get(), block, size, offset) < ARCHIVE_WARN)
                return damaged(file, writer.get());
        }
        if (state != ARCHIVE_EOF) return damaged(file, reader.get());
        if (libarchive()->write_finish_entry(writer.get()) < ARCHIVE_WARN)
            return damaged(file, writer.get());
    }
}

}  // namespace gpkg
