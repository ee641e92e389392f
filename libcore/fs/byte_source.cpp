#include "libcore/fs/byte_source.hpp"

#include "libcore/fs/file.hpp"
#include "libcore/fs/input_file_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <utility>
#include <zstd.h>

namespace gpkg {
namespace {

constexpr int kWindowLog = 27;

struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdReader {
public:
    ZstdReader(ByteSource packed, std::string what, UnpackLimit limit)
        : packed_(std::move(packed)),
          what_(std::move(what)),
          limit_(limit),
          stream_(ZSTD_createDStream()),
          buffer_(ZSTD_DStreamInSize(), '\0') {
        ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kWindowLog);
    }

    Result<std::size_t> read(char* into, std::size_t room) {
        ZSTD_outBuffer output{into, room, 0};
        while (output.pos == 0 && room > 0) {
            if (input_.pos == input_.size && !at_end_) {
                GPKG_TRY(const auto count, packed_(buffer_.data(), buffer_.size()));
                input_ = {buffer_.data(), count, 0};
                packed_size_ += count;
                at_end_ = count == 0;
            }
            // A frame that is whole and nothing behind it; several frames may follow each other.
            if (at_end_ && state_ == 0) break;
            state_ = ZSTD_decompressStream(stream_.get(), &output, &input_);
            if (ZSTD_isError(state_) != 0)
                return fail(
                    ErrorKind::Integrity,
                    fmt::format("{}: not valid zstd data: {}", what_, ZSTD_getErrorName(state_)));
            if (at_end_ && state_ != 0 && output.pos == 0)
                return fail(ErrorKind::Integrity, fmt::format("{}: truncated zstd data", what_));
        }
        unpacked_size_ += output.pos;
        const auto most = std::max(limit_.always, packed_size_ * limit_.per_byte);
        if (unpacked_size_ > most)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: unpacks to more than {} bytes", what_, most));
        return output.pos;
    }

private:
    ByteSource packed_;
    std::string what_;
    UnpackLimit limit_;
    std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
    std::string buffer_;
    ZSTD_inBuffer input_{nullptr, 0, 0};
    std::size_t state_ = 0;
    std::uint64_t packed_size_ = 0;
    std::uint64_t unpacked_size_ = 0;
    bool at_end_ = false;
};

/// `start`, then the rest.
ByteSource after(std::string start, ByteSource rest) {
    return [start = std::move(start), rest = std::move(rest), given = std::size_t{0}](
               char* into, std::size_t room) mutable -> Result<std::size_t> {
        if (given == start.size()) return rest(into, room);
        const auto count = std::min(room, start.size() - given);
        start.copy(into, count, given);
        given += count;
        return count;
    };
}

}  // namespace

ByteSource text_source(std::string text) {
    return after(std::move(text), [](char*, std::size_t) -> Result<std::size_t> { return 0; });
}

Result<ByteSource> file_source(const fs::path& path) {
    GPKG_TRY(auto opened, InputFile::open(path));
    const auto file = std::make_shared<InputFile>(std::move(opened));
    return [file](char* into, std::size_t room) { return file->read(into, room); };
}

ByteSource zstd_source(ByteSource packed, std::string what, UnpackLimit limit) {
    auto reader = std::make_shared<ZstdReader>(std::move(packed), std::move(what), limit);
    return [reader](char* into, std::size_t room) { return reader->read(into, room); };
}

ByteSource unpacked_source(ByteSource maybe_packed, std::string what, UnpackLimit limit) {
    return [packed_or_not = std::move(maybe_packed),
            what = std::move(what),
            limit,
            chosen = ByteSource()](char* into, std::size_t room) mutable -> Result<std::size_t> {
        if (chosen) return chosen(into, room);
        std::string start(kZstdMagic.size(), '\0');
        std::size_t size = 0;
        while (size < start.size()) {
            GPKG_TRY(const auto count, packed_or_not(start.data() + size, start.size() - size));
            if (count == 0) break;
            size += count;
        }
        start.resize(size);
        const bool packed = start == kZstdMagic;
        chosen = after(std::move(start), packed_or_not);
        if (packed) chosen = zstd_source(chosen, what, limit);
        return chosen(into, room);
    };
}

}  // namespace gpkg
