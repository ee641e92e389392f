// Source archives of any kind that libarchive reads.

#include "libcore/build/source.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <memory>

namespace gpkg {
namespace {

struct CloseReader {
    void operator()(archive* reader) const { archive_read_free(reader); }
};
struct CloseWriter {
    void operator()(archive* writer) const { archive_write_free(writer); }
};

tl::unexpected<Error> damaged(const fs::path& file, archive* from) {
    const auto* said = archive_error_string(from);
    return fail(
        ErrorKind::Integrity,
        fmt::format(
            "{}: cannot be unpacked: {}", file.native(), said == nullptr ? "it is damaged" : said));
}

Result<void> unpack_all(const fs::path& file, const fs::path& to) {
    const std::unique_ptr<archive, CloseReader> reader(archive_read_new());
    archive_read_support_filter_all(reader.get());
    archive_read_support_format_all(reader.get());
    if (archive_read_open_filename(reader.get(), file.c_str(), 1 << 18) != ARCHIVE_OK)
        return damaged(file, reader.get());
    const std::unique_ptr<archive, CloseWriter> writer(archive_write_disk_new());
    archive_write_disk_set_options(
        writer.get(),
        ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT);
    for (;;) {
        archive_entry* entry = nullptr;
        const int next = archive_read_next_header(reader.get(), &entry);
        if (next == ARCHIVE_EOF) return {};
        if (next < ARCHIVE_WARN) return damaged(file, reader.get());
        const auto* name = archive_entry_pathname(entry);
        const std::string path = name == nullptr ? "" : name;
        const auto plain = path.starts_with("./") ? path.substr(2) : path;
        if (plain.empty()) continue;
        if (!is_safe_relative(plain))
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: the member '{}' leads out of it", file.native(), path));
        archive_entry_set_pathname(entry, (to / plain).c_str());
        if (const auto* link = archive_entry_hardlink(entry)) {
            const std::string target = link;
            if (!is_safe_relative(target))
                return fail(
                    ErrorKind::Integrity,
                    fmt::format("{}: the member '{}' leads out of it", file.native(), path));
            archive_entry_set_hardlink(entry, (to / target).c_str());
        }
        if (archive_write_header(writer.get(), entry) < ARCHIVE_WARN)
            return damaged(file, writer.get());
        const void* block = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        int state = ARCHIVE_OK;
        while ((state = archive_read_data_block(reader.get(), &block, &size, &offset)) ==
               ARCHIVE_OK) {
            if (archive_write_data_block(writer.get(), block, size, offset) < ARCHIVE_WARN)
                return damaged(file, writer.get());
        }
        if (state != ARCHIVE_EOF) return damaged(file, reader.get());
        if (archive_write_finish_entry(writer.get()) < ARCHIVE_WARN)
            return damaged(file, writer.get());
    }
}

}  // namespace

Result<void> unpack_source(const fs::path& archive, const fs::path& to) {
    std::error_code code;
    GPKG_CHECK(make_folders(to));
    const auto parent = fs::canonical(to, code);
    GPKG_TRY(const auto private_folder, TemporaryFolder::make(parent, ".unpack-"));
    GPKG_CHECK(unpack_all(archive, private_folder.path()));

    auto from = private_folder.path();
    std::vector<fs::path> top;
    for (const auto& entry : fs::directory_iterator(from, code)) top.push_back(entry.path());
    if (top.size() == 1 && fs::is_directory(fs::symlink_status(top[0], code))) from = top[0];
    for (const auto& entry : fs::directory_iterator(from, code)) {
        const auto target = parent / entry.path().filename();
        // Two sources may share a folder; only there do files have to be copied.
        if (fs::exists(fs::symlink_status(target, code))) {
            if (entry.is_directory(code) && !entry.is_symlink(code)) {
                GPKG_CHECK(copy_tree(entry.path(), target, false));
                continue;
            }
            GPKG_CHECK(remove_tree(target));
        }
        GPKG_CHECK(rename_path(entry.path(), target));
    }
    return {};
}

}  // namespace gpkg
