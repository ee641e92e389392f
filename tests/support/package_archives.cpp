#include "tests/support/package_archives.hpp"

#include "libcore/base/digest.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <cstdlib>
#include <fmt/format.h>
#include <locale.h>
#include <memory>

namespace gpkg::tests {
namespace {

struct FreeArchive {
    void operator()(struct archive* archive) const { archive_free(archive); }
};
struct FreeEntry {
    void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};
using Handle = std::unique_ptr<struct archive, FreeArchive>;
using Entry = std::unique_ptr<struct archive_entry, FreeEntry>;

la_ssize_t append(struct archive* /*archive*/, void* text, const void* data, std::size_t size) {
    static_cast<std::string*>(text)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
}

void must(la_ssize_t code) {
    // A warning tells of a name that is not UTF-8. Anything else: the test itself is broken.
    if (code < ARCHIVE_WARN) std::abort();
}

void add(struct archive* archive, const TarMember& member) {
    using Kind = TarMember::Kind;
    const Entry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), member.path.c_str());
    archive_entry_set_perm(entry.get(), static_cast<__LA_MODE_T>(member.mode));
    archive_entry_set_mtime(entry.get(), member.mtime, 0);
    archive_entry_set_size(entry.get(), 0);
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    switch (member.kind) {
    case Kind::File:
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.content.size()));
        break;
    case Kind::Folder: archive_entry_set_filetype(entry.get(), AE_IFDIR); break;
    case Kind::SoftLink:
        archive_entry_set_filetype(entry.get(), AE_IFLNK);
        archive_entry_set_symlink(entry.get(), member.content.c_str());
        break;
    case Kind::HardLink: archive_entry_set_hardlink(entry.get(), member.content.c_str()); break;
    case Kind::Pipe: archive_entry_set_filetype(entry.get(), AE_IFIFO); break;
    case Kind::Device:
        archive_entry_set_filetype(entry.get(), AE_IFCHR);
        archive_entry_set_rdevmajor(entry.get(), 1);
        archive_entry_set_rdevminor(entry.get(), 3);
        break;
    }
    must(archive_write_header(archive, entry.get()));
    if (member.kind == Kind::File)
        must(archive_write_data(archive, member.content.data(), member.content.size()));
}

std::string write_tar(const std::vector<TarMember>& members, int filter) {
    // Names beyond ASCII need a UTF-8 locale, whatever the test runs under.
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    const auto before = ::uselocale(utf8);
    std::string bytes;
    const Handle archive(archive_write_new());
    must(archive_write_set_format_pax_restricted(archive.get()));
    must(archive_write_add_filter(archive.get(), filter));
    must(archive_write_set_bytes_in_last_block(archive.get(), 1));
    must(archive_write_open(archive.get(), &bytes, nullptr, append, nullptr));
    for (const auto& member : members) add(archive.get(), member);
    must(archive_write_close(archive.get()));
    ::uselocale(before);
    return bytes;
}

}  // namespace

std::string make_tar(const std::vector<TarMember>& members) {
    return write_tar(members, ARCHIVE_FILTER_NONE);
}

std::string make_tar_bz2(const std::vector<TarMember>& members) {
    return write_tar(members, ARCHIVE_FILTER_BZIP2);
}

std::string make_zip(const std::vector<std::pair<std::string, std::string>>& members,
                     bool deflated) {
    std::string bytes;
    const Handle archive(archive_write_new());
    must(archive_write_set_format_zip(archive.get()));
    must(archive_write_set_options(archive.get(),
                                   deflated ? "zip:compression=deflate" : "zip:compression=store"));
    must(archive_write_set_bytes_in_last_block(archive.get(), 1));
    must(archive_write_open(archive.get(), &bytes, nullptr, append, nullptr));
    for (const auto& [name, content] : members) add(archive.get(), {name, content});
    must(archive_write_close(archive.get()));
    return bytes;
}

std::vector<TarMember> info_members(const std::vector<std::pair<std::string, std::string>>& files) {
    std::string paths;
    for (const auto& [path, content] : files)
        paths += fmt::format(
            R"({}{{"_path": "{}", "path_type": "hardlink", "sha256": "{}", "size_in_bytes": {}}})",
            paths.empty() ? "" : ", ",
            path,
            hex_digest(DigestKind::Sha256, content),
            content.size());
    return {{"info/index.json",
             R"({"name": "p", "version": "1", "build": "0", "build_number": 0, "depends": []})"},
            {"info/paths.json", fmt::format(R"({{"paths": [{}], "paths_version": 1}})", paths)}};
}

std::string make_conda(const std::vector<TarMember>& payload, const std::vector<TarMember>& info) {
    return make_zip({{"metadata.json", R"({"conda_pkg_format_version": 2})"},
                     {"pkg-p-1-0.tar.zst", zstd_compress(make_tar(payload), 3)},
                     {"info-p-1-0.tar.zst", zstd_compress(make_tar(info), 3)}});
}

}  // namespace gpkg::tests
