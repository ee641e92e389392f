#pragma once

// A tar of any files, written piece by piece: the same bytes for the same files. Owners are root,
// times are one time.

#include "libcore/base/cancelled.hpp"
#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gpkg {

/// Takes bytes as they come.
using Sink = std::function<Result<void>(std::string_view)>;

enum class TarCompression { None, Gzip, Zstd };

struct TarStreamOptions {
    std::int64_t time = 0;  ///< of every member, Unix seconds
    TarCompression compression = TarCompression::None;
    int level = 0;  ///< of the compression: gzip's 1 to 9, zstd's 1 to 22
    /// Sees the tar before that.
    std::function<void(std::string_view)> before_compression{};
    Cancelled cancelled{};
};

class TarStream {
public:
    /// Changes bytes of a file on their way; `at` is the place of the first.
    using ChangeBytes = std::function<void(std::uint64_t at, char* bytes, std::size_t count)>;

    /// `sink` is called until close().
    static Result<TarStream> open(Sink sink, const TarStreamOptions& options);
    TarStream(TarStream&& other) noexcept;
    TarStream& operator=(TarStream&&) = delete;
    ~TarStream();

    Result<void> add_folder(const std::string& path, unsigned mode = 0755);
    Result<void> add_link(const std::string& path, const std::string& target);
    Result<void> add_text(const std::string& path, unsigned mode, std::string_view text);
    Result<void> add_file(const std::string& path,
                          unsigned mode,
                          const fs::path& source,
                          const ChangeBytes& change = {});
    /// What a tar ends with.
    Result<void> close();

private:
    struct Parts;
    explicit TarStream(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace gpkg
