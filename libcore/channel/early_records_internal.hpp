#pragma once

// The records of a repodata that is still on its way: when its last byte is here, most of them
// have been read.

#include "libcore/base/parallel.hpp"
#include "libcore/fs/arriving_file.hpp"
#include "libcore/index/channel_index.hpp"
#include "libcore/index/index_writer.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace gpkg {

/// Of the bytes as served. Reading so much anew takes no longer than looking for what was made of
/// it.
inline constexpr std::uint64_t kSmallRepodata = std::uint64_t{32} << 10U;

class EarlyRecords {
public:
    /// Reads in a thread of its own what is not small. What outgrows memory is kept in a nameless
    /// file in `scratch`.
    EarlyRecords(std::shared_ptr<ArrivingFile> body, IndexSource source, fs::path scratch);
    EarlyRecords(const EarlyRecords&) = delete;
    EarlyRecords& operator=(const EarlyRecords&) = delete;
    ~EarlyRecords() { stop(); }

    /// Waits for the last of them. All records, once; nothing where they could not be read, or the
    /// body did not come whole, or there was no thread for it.
    std::optional<IndexWriter> take();
    /// They are not wanted any more: take() returns soon, with nothing. From any thread.
    void abandon() { body_->abandon(); }
    /// The same, and waits for that.
    void stop();

private:
    void read();

    std::shared_ptr<ArrivingFile> body_;
    IndexSource source_;
    fs::path scratch_;
    std::optional<IndexWriter> records_;  ///< touched by the reader until it has ended
    Workers reader_;
};

}  // namespace gpkg
