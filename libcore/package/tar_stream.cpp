#include "libcore/package/tar_stream.hpp"

#include "libcore/package/tar_writer_internal.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

namespace gpkg {

struct TarStream::Parts {
    Parts(Sink sink, const TarStreamOptions& how) : tar(options, through(std::move(sink), how)) {}

    Sink through(Sink sink, const TarStreamOptions& how) {
        options.timestamp = how.time;
        options.cancelled = how.cancelled;
        switch (how.compression) {
        case TarCompression::None: return sink;
        case TarCompression::Gzip: gzip.emplace(how.level, std::move(sink)); break;
        case TarCompression::Zstd:
            options.zstd_level = how.level;
            options.threads = kThreads;
            zstd.emplace(options, std::move(sink));
            break;
        }
        return [this, see = how.before_compression](std::string_view bytes) {
            if (see) see(bytes);
            return zstd ? zstd->write(bytes) : gzip->write(bytes);
        };
    }

    static constexpr int kThreads = 2;
    WriteOptions options;
    std::optional<ZstdWriter> zstd;
    std::optional<GzipWriter> gzip;
    TarWriter tar;  // last: it writes into the others
};

TarStream::TarStream(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TarStream::TarStream(TarStream&& other) noexcept = default;
TarStream::~TarStream() = default;

Result<TarStream> TarStream::open(Sink sink, const TarStreamOptions& options) {
    auto parts = std::make_unique<Parts>(std::move(sink), options);
    GPKG_CHECK(parts->tar.open(ARCHIVE_FILTER_NONE, TarWriter::Format::Gnu));
    if (parts->gzip) GPKG_CHECK(parts->gzip->open());
    return TarStream(std::move(parts));
}

Result<void> TarStream::add_folder(const std::string& path, unsigned mode) {
    return parts_->tar.add_header(path, AE_IFDIR, mode, 0, nullptr);
}

Result<void> TarStream::add_link(const std::string& path, const std::string& target) {
    return parts_->tar.add_header(path, AE_IFLNK, 0777, 0, target.c_str());
}

Result<void> TarStream::add_text(const std::string& path, unsigned mode, std::string_view text) {
    GPKG_CHECK(parts_->tar.add_header(path, AE_IFREG, mode, text.size(), nullptr));
    return parts_->tar.add_bytes(text);
}

Result<void> TarStream::add_file(const std::string& path,
                                 unsigned mode,
                                 const fs::path& source,
                                 const ChangeBytes& change) {
    const Descriptor file(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return pass(io_error(source, "read", errno));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    GPKG_CHECK(parts_->tar.add_header(path, AE_IFREG, mode, size, nullptr));
    return parts_->tar.add_content(file.get(), size, source.native(), change);
}

Result<void> TarStream::close() {
    GPKG_CHECK(parts_->tar.close());
    if (parts_->gzip) GPKG_CHECK(parts_->gzip->finish());
    return parts_->zstd ? parts_->zstd->finish() : Result<void>();
}

}  // namespace gpkg
