#include "libcore/package/write.hpp"

#include "libcore/package/files_internal.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths_internal.hpp"
#include "libcore/package/tar_writer_internal.hpp"
#include "libcore/package/zip_writer_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// Content that was checked: sorted, safe, without duplicates.
struct Prepared {
    std::vector<std::string> files;
    std::string distribution;
    std::uint64_t bytes = 0;  ///< of the payload, about
    Descriptor root;
};

Result<Prepared> prepare(const PackageContent& content) {
    Prepared prepared;
    prepared.root = Descriptor(::open(content.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!prepared.root) return pass(io_error(content.folder.native(), "open", errno));
    const auto index = content.info.find("index.json");
    if (index == content.info.end()) return fail(ErrorKind::Usage, "a package needs an index.json");
    GPKG_TRY(const auto record, parse_index_json(index->second, "index.json"));
    prepared.distribution = record.distribution();
    for (const auto& file : content.files) {
        GPKG_TRY(auto path, checked_payload_path(file, content.folder.native()));
        struct stat status {};
        if (::fstatat(prepared.root.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
            prepared.bytes += static_cast<std::uint64_t>(status.st_size) + 2048;  // and its header
        prepared.files.push_back(std::move(path));
    }
    std::sort(prepared.files.begin(), prepared.files.end());
    const auto twice = std::adjacent_find(prepared.files.begin(), prepared.files.end());
    if (twice != prepared.files.end())
        return fail(
            ErrorKind::Usage,
            fmt::format(
                "{}: file \"{}\" is listed twice", content.folder.native(), printable(*twice)));
    for (const auto& [name, text] : content.info) {
        if (!is_safe_relative(name) || clean_relative(name) != name)
            return fail(ErrorKind::Usage,
                        fmt::format("unsafe name in info/: \"{}\"", printable(name)));
    }
    return prepared;
}

Result<void> add_payload(TarWriter& tar, const PackageContent& content, const Prepared& prepared) {
    for (const auto& file : prepared.files)
        GPKG_CHECK(tar.add_file(prepared.root.get(), content.folder, file));
    return {};
}

Result<void> add_info(TarWriter& tar, const PackageContent& content) {
    for (const auto& [name, text] : content.info) GPKG_CHECK(tar.add_text("info/" + name, text));
    return {};
}

/// One .tar.zst member; `add` fills the tar.
Result<void> add_member(ZipWriter& zip,
                        const std::string& name,
                        bool large,
                        const WriteOptions& options,
                        const std::function<Result<void>(TarWriter&)>& add) {
    GPKG_CHECK(zip.begin(name, large));
    ZstdWriter zstd(options, [&](std::string_view bytes) { return zip.write(bytes); });
    TarWriter tar(options, [&](std::string_view bytes) { return zstd.write(bytes); });
    GPKG_CHECK(tar.open(ARCHIVE_FILTER_NONE));
    GPKG_CHECK(add(tar));
    GPKG_CHECK(tar.close());
    GPKG_CHECK(zstd.finish());
    return zip.end();
}

}  // namespace

Result<fs::path> write_conda(const PackageContent& content,
                             const fs::path& output_folder,
                             const WriteOptions& options) {
    const NameLocale locale(NameLocale::Names::Utf8);
    GPKG_TRY(const auto prepared, prepare(content));
    GPKG_TRY(auto file, NewFile::make(output_folder / (prepared.distribution + ".conda")));
    // zstd may grow what it cannot compress by a little: judge with room to spare.
    const bool large = options.force_zip64 || prepared.bytes > (std::uint64_t{4000} << 20U);
    ZipWriter zip(file.fd(), file.path().native(), options.timestamp);
    GPKG_CHECK(zip.begin("metadata.json", false));
    GPKG_CHECK(zip.write(R"({"conda_pkg_format_version": 2})"));
    GPKG_CHECK(zip.end());
    GPKG_CHECK(add_member(
        zip, "pkg-" + prepared.distribution + ".tar.zst", large, options, [&](TarWriter& tar) {
            return add_payload(tar, content, prepared);
        }));
    GPKG_CHECK(add_member(zip,
                          "info-" + prepared.distribution + ".tar.zst",
                          options.force_zip64,
                          options,
                          [&](TarWriter& tar) { return add_info(tar, content); }));
    GPKG_CHECK(zip.finish());
    GPKG_CHECK(file.finish(true));
    return file.path();
}

Result<fs::path> write_tar_bz2(const PackageContent& content,
                               const fs::path& output_folder,
                               const WriteOptions& options) {
    const NameLocale locale(NameLocale::Names::Utf8);
    GPKG_TRY(const auto prepared, prepare(content));
    GPKG_TRY(auto file, NewFile::make(output_folder / (prepared.distribution + ".tar.bz2")));
    TarWriter tar(options, [&](std::string_view bytes) { return file.write(bytes); });
    GPKG_CHECK(tar.open(ARCHIVE_FILTER_BZIP2));
    GPKG_CHECK(add_info(tar, content));
    GPKG_CHECK(add_payload(tar, content, prepared));
    GPKG_CHECK(tar.close());
    GPKG_CHECK(file.finish(true));
    return file.path();
}

}  // namespace gpkg
