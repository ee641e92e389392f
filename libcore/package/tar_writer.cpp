#include "libcore/base/cancelled.hpp"
#include "libcore/package/files_internal.hpp"
#include "libcore/package/tar_writer_internal.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <tuple>
#include <zstd.h>

namespace gpkg {

Result<void> ArchiveOutput::open(const std::function<void(struct archive*)>& choose) {
    GPKG_CHECK(need_libarchive());
    archive_.reset(libarchive()->write_new());
    choose(get());
    libarchive()->write_set_bytes_per_block(get(), 0);
    return check(libarchive()->write_open(get(), this, nullptr, take, nullptr));
}

Result<void> ArchiveOutput::write(std::string_view bytes) {
    return check(libarchive()->write_data(get(), bytes.data(), bytes.size()));
}

Result<void> ArchiveOutput::close() { return check(libarchive()->write_close(get())); }

la_ssize_t ArchiveOutput::take(struct archive* archive,
                               void* self,
                               const void* data,
                               std::size_t size) {
    auto& output = *static_cast<ArchiveOutput*>(self);
    auto done = output.sink_(std::string_view(static_cast<const char*>(data), size));
    if (done) return static_cast<la_ssize_t>(size);
    output.failure_ = std::move(done).error();
    libarchive()->set_error(archive, EIO, "cannot write");
    return -1;
}

Result<void> ArchiveOutput::check(la_ssize_t code) {
    if (failure_) return pass(*failure_);
    // Warnings tell of names that are not UTF-8; they are written as they are.
    if (code >= 0 || code == ARCHIVE_WARN) return {};
    const auto* text = libarchive()->error_string(get());
    return fail(ErrorKind::Io,
                fmt::format("cannot write the tar: {}", text != nullptr ? text : "unknown"));
}

TarWriter::TarWriter(const WriteOptions& options, Sink sink)
    : options_(options), output_(std::move(sink)) {}

Result<void> TarWriter::open(int filter, Format format) {
    return output_.open([&](struct archive* tar) {
        if (format == Format::Gnu)
            libarchive()->write_set_format_gnutar(tar);
        else  // pax where a name needs it, else ustar
            libarchive()->write_set_format_pax_restricted(tar);
        libarchive()->write_add_filter(tar, filter);
    });
}

Result<void> TarWriter::close() { return output_.close(); }

Result<void> TarWriter::add_header(
    const std::string& path, unsigned type, unsigned mode, std::uint64_t size, const char* link) {
    const ArchiveEntryHandle entry(libarchive()->entry_new());
    libarchive()->entry_set_pathname(entry.get(), path.c_str());
    libarchive()->entry_set_filetype(entry.get(), type);
    libarchive()->entry_set_perm(entry.get(), static_cast<__LA_MODE_T>(mode));
    libarchive()->entry_set_mtime(entry.get(), options_.timestamp, 0);
    libarchive()->entry_set_uid(entry.get(), 0);
    libarchive()->entry_set_gid(entry.get(), 0);
    libarchive()->entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    if (link != nullptr) libarchive()->entry_set_symlink(entry.get(), link);
    return output_.check(libarchive()->write_header(output_.get(), entry.get()));
}

Result<void> TarWriter::add_text(const std::string& path, std::string_view text) {
    GPKG_CHECK(add_header(path, AE_IFREG, 0644, text.size(), nullptr));
    return add_bytes(text);
}

Result<void> TarWriter::add_bytes(std::string_view bytes) { return output_.write(bytes); }

Result<void> TarWriter::add_file(int root, const fs::path& folder, const std::string& path) {
    const auto name = (folder / path).native();
    const auto place = open_below(root, path, O_PATH);
    if (!place) return pass(io_error(name, "open", errno));
    struct stat status {};
    if (::fstat(place.get(), &status) != 0) return pass(io_error(name, "read", errno));
    if (S_ISDIR(status.st_mode)) return add_header(path, AE_IFDIR, 0755, 0, nullptr);
    if (S_ISLNK(status.st_mode)) {
        const auto target = read_link(root, path);
        if (!target) return pass(io_error(name, "read", errno));
        return add_header(path, AE_IFLNK, 0777, 0, target->c_str());
    }
    if (!S_ISREG(status.st_mode))
        return fail(ErrorKind::Unsupported, fmt::format("{}: not a file, link or folder", name));
    const auto file = open_below(root, path, O_RDONLY);
    if (!file || ::fstat(file.get(), &status) != 0) return pass(io_error(name, "open", errno));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    GPKG_CHECK(
        add_header(path, AE_IFREG, (status.st_mode & 0100U) != 0 ? 0755 : 0644, size, nullptr));
    return add_content(file.get(), size, name, {});
}

Result<void> TarWriter::add_content(int fd,
                                    std::uint64_t size,
                                    const std::string& name,
                                    const TarStream::ChangeBytes& change) {
    std::string buffer(std::size_t{256} << 10U, '\0');
    std::uint64_t used = 0;
    while (used < size) {
        GPKG_CHECK(check_cancelled(options_.cancelled));
        const auto count =
            ::read(fd, buffer.data(), std::min<std::uint64_t>(buffer.size(), size - used));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(name, "read", errno));
        if (count == 0)
            return fail(ErrorKind::Conflict, fmt::format("{}: truncated while being packed", name));
        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
        if (change) change(used, buffer.data(), bytes.size());
        GPKG_CHECK(add_bytes(bytes));
        used += static_cast<std::uint64_t>(count);
    }
    return {};
}

Result<void> GzipWriter::open() {
    GPKG_CHECK(output_.open([&](struct archive* raw) {
        libarchive()->write_set_format_raw(raw);
        libarchive()->write_add_filter(raw, ARCHIVE_FILTER_GZIP);
        libarchive()->write_set_filter_option(
            raw, "gzip", "compression-level", std::to_string(level_).c_str());
        libarchive()->write_set_filter_option(raw, "gzip", "timestamp", nullptr);
    }));
    const ArchiveEntryHandle entry(libarchive()->entry_new());
    libarchive()->entry_set_filetype(entry.get(), AE_IFREG);
    return output_.check(libarchive()->write_header(output_.get(), entry.get()));
}

ZstdWriter::ZstdWriter(const WriteOptions& options, Sink sink)
    : options_(options),
      context_(ZSTD_createCCtx()),
      buffer_(ZSTD_CStreamOutSize(), '\0'),
      sink_(std::move(sink)) {
    const auto level = std::clamp(options.zstd_level, 1, ZSTD_maxCLevel());
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    // Never 0: the frames of one worker and of many are the same, those of none differ.
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_nbWorkers, std::max(1, options.threads));
}

ZstdWriter::~ZstdWriter() {
    // To free it would wait for what its threads are at: of level 22 half a GB, for minutes. Who
    // cancels is about to end.
    if (options_.cancelled && options_.cancelled()) std::ignore = context_.release();
}

void ZstdWriter::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }

Result<void> ZstdWriter::write(std::string_view bytes) { return run(bytes, false); }
Result<void> ZstdWriter::finish() { return run({}, true); }

Result<void> ZstdWriter::run(std::string_view bytes, bool end) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (;;) {
        ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
        const auto left = ZSTD_compressStream2(
            context_.get(), &output, &input, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) != 0)
            return fail(ErrorKind::Io, fmt::format("cannot compress: {}", ZSTD_getErrorName(left)));
        GPKG_CHECK(check_cancelled(options_.cancelled));
        if (output.pos != 0) GPKG_CHECK(sink_(std::string_view(buffer_).substr(0, output.pos)));
        if (end ? left == 0 : input.pos == input.size) return {};
    }
}

}  // namespace gpkg
