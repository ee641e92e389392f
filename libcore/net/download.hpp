#pragma once

// Downloads of files whose checksum is known beforehand. A file stands at its destination only when
// it is whole and right; nothing partial is left behind, also after an interruption.

#include "libcore/net/get.hpp"

namespace gpkg {

struct Download {
    std::string url;
    fs::path destination;    ///< a file there is replaced; missing folders are made
    std::string sha256;      ///< hex; empty: not known
    std::string md5;         ///< hex; looked at only without a sha256
    std::uint64_t size = 0;  ///< 0: not known
    std::uint64_t most_bytes = ~std::uint64_t{0};  ///< a longer body is refused
    /// As GetRequest::on_body: what arrives is complete once its checksum is found right.
    std::function<void(const std::string& url, std::shared_ptr<ArrivingFile> body)> on_body{};
};

struct DownloadOptions : TransferOptions {
    /// Called for each file that is in its place, from the calling thread, while others are still
    /// on their way; work that takes long belongs into another thread.
    std::function<void(std::size_t item)> on_finished;
    /// Called for the file whose failure is returned, likewise.
    std::function<void(std::size_t item)> on_failed;
};

/// Downloads all or returns the first failure, giving up those still on their way. What is finished
/// by then stays. A wrong checksum or size is an Integrity error.
Result<void> download_all(Transport& transport,
                          std::span<const Download> downloads,
                          const DownloadOptions& options = {});

}  // namespace gpkg
