#pragma once

// libarchive, loaded when the first archive is read or written: on Debian it brings an XML library
// and the tables of Unicode along.

#include "libcore/base/error.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <memory>

// clang-format off
#define GPKG_LIBARCHIVE_FUNCTIONS(each)                                                           \
    each(entry_filetype) each(entry_free) each(entry_hardlink) each(entry_mtime)                  \
    each(entry_mtime_nsec) each(entry_new) each(entry_pathname) each(entry_perm)                  \
    each(entry_set_filetype) each(entry_set_gid) each(entry_set_hardlink) each(entry_set_mtime)   \
    each(entry_set_pathname) each(entry_set_perm) each(entry_set_size) each(entry_set_symlink)    \
    each(entry_set_uid) each(entry_size) each(entry_symlink) each(error_string)                   \
    each(filter_code) each(format_name) each(free) each(read_data_block)                          \
    each(read_new) each(read_next_header) each(read_open) each(read_open_filename)                \
    each(read_support_filter_all) each(read_support_filter_bzip2)                                 \
    each(read_support_filter_zstd) each(read_support_format_all) each(read_support_format_tar)    \
    each(read_support_format_zip_seekable) each(read_support_format_zip_streamable)               \
    each(set_error) each(write_add_filter) each(write_close) each(write_data) each(write_data_block) each(write_disk_new)                \
    each(write_disk_set_options) each(write_finish_entry) each(write_header)                      \
    each(write_new) each(write_open) each(write_set_bytes_per_block)                              \
    each(write_set_filter_option) each(write_set_format_gnutar)                                 \
    each(write_set_format_pax_restricted) each(write_set_format_raw)
// clang-format on

namespace gpkg {

/// The functions of libarchive that gpkg uses, by their names without "archive_".
struct LibArchive {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name has none
#define GPKG_DECLARE(name) decltype(&::archive_##name) name = nullptr;
    GPKG_LIBARCHIVE_FUNCTIONS(GPKG_DECLARE)
#undef GPKG_DECLARE
    decltype(&::archive_errno) error_number = nullptr;  // "errno" is a macro
};

/// The library. Null when it cannot be loaded: whoever opens an archive asks need_libarchive().
const LibArchive* libarchive();
Result<void> need_libarchive();

struct FreeArchive {
    void operator()(struct archive* archive) const { libarchive()->free(archive); }
};
using ArchiveHandle = std::unique_ptr<struct archive, FreeArchive>;

struct FreeArchiveEntry {
    void operator()(struct archive_entry* entry) const { libarchive()->entry_free(entry); }
};
using ArchiveEntryHandle = std::unique_ptr<struct archive_entry, FreeArchiveEntry>;

}  // namespace gpkg
