#include "libcore/package/checksums.hpp"

#include "libcore/base/digest.hpp"

namespace gpkg {

Result<Checksums> checksums_of(const fs::path& file, const std::function<bool()>& cancelled) {
    Hasher sha256(DigestKind::Sha256);
    Hasher md5(DigestKind::Md5);
    Checksums sums;
    bool stopped = cancelled && cancelled();
    const auto add = [&](std::string_view piece, std::uint64_t) {
        sha256.update(piece);
        md5.update(piece);
        sums.size += piece.size();
        stopped = cancelled && cancelled();
        return !stopped;
    };
    if (!stopped) GPKG_CHECK(read_in_pieces(file, 0, add));
    if (stopped) return fail(ErrorKind::Interrupted, file.native() + ": reading was interrupted");
    sums.sha256 = std::move(sha256).hex();
    sums.md5 = std::move(md5).hex();
    return sums;
}

}  // namespace gpkg
