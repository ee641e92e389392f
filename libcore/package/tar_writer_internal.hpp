#pragma once

// Tars, gzip and zstd frames written piece by piece, with the same bytes for the same content.

#include "libcore/package/archive_internal.hpp"
#include "libcore/package/tar_stream.hpp"
#include "libcore/package/write.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct ZSTD_CCtx_s;

namespace gpkg {

/// What libarchive writes, into a sink.
class ArchiveOutput {
public:
    explicit ArchiveOutput(Sink sink) : sink_(std::move(sink)) {}
    ArchiveOutput(ArchiveOutput&&) = delete;

    /// `choose` sets format and filter.
    Result<void> open(const std::function<void(struct archive*)>& choose);
    struct archive* get() const {
        return archive_.get();
    }
    /// Content of the entry that was begun.
    Result<void> write(std::string_view bytes);
    /// What a call to libarchive gave.
    Result<void> check(la_ssize_t code);
    Result<void> close();

private:
    static la_ssize_t take(struct archive* archive, void* self, const void* data, std::size_t size);

    Sink sink_;
    std::optional<Error> failure_;
    ArchiveHandle archive_;
};

/// A tar written into a sink.
class TarWriter {
public:
    TarWriter(const WriteOptions& options, Sink sink);
    TarWriter(TarWriter&&) = delete;

    /// Pax has a header for names that are not ASCII, as other writers of packages do; GNU's format
    /// holds any name as it is.
    enum class Format { Pax, Gnu };
    /// `filter` is one of ARCHIVE_FILTER_*.
    Result<void> open(int filter, Format format = Format::Pax);
    /// A file, soft link or folder of the folder open as `root`.
    Result<void> add_file(int root, const fs::path& folder, const std::string& path);
    Result<void> add_text(const std::string& path, std::string_view text);
    Result<void> close();

    /// What begins a member. `type` is one of AE_IF*; `size` bytes follow.
    Result<void> add_header(const std::string& path,
                            unsigned type,
                            unsigned mode,
                            std::uint64_t size,
                            const char* link);
    Result<void> add_bytes(std::string_view bytes);
    /// The bytes of an open file.
    Result<void> add_content(int fd,
                             std::uint64_t size,
                             const std::string& name,
                             const TarStream::ChangeBytes& change);

private:
    const WriteOptions& options_;
    ArchiveOutput output_;
};

/// A gzip member without a time, written into a sink.
class GzipWriter {
public:
    GzipWriter(int level, Sink sink) : level_(level), output_(std::move(sink)) {}
    GzipWriter(GzipWriter&&) = delete;

    Result<void> open();
    Result<void> write(std::string_view bytes) { return output_.write(bytes); }
    Result<void> finish() { return output_.close(); }

private:
    int level_;
    ArchiveOutput output_;
};

/// A zstd frame with a checksum, written into a sink.
class ZstdWriter {
public:
    ZstdWriter(const WriteOptions& options, Sink sink);
    ZstdWriter(ZstdWriter&&) = delete;
    ~ZstdWriter();

    Result<void> write(std::string_view bytes);
    Result<void> finish();

private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };
    Result<void> run(std::string_view bytes, bool end);

    const WriteOptions& options_;
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::string buffer_;
    Sink sink_;
};

}  // namespace gpkg
