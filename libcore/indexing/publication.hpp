#pragma once

// The files of a channel that an index run makes: written under temporary names while they are
// made, then put into their places one after the other, in a moment.
//
// Of a signed channel the statement of what the indexes are (trust/index_statement.hpp) is written
// twice: before, when it lists each file as it is and as it will be, and afterwards. So at every
// moment what lies there fits the statement that lies there. Who had read the one before that, and
// then finds a new index, reads the statement once more.

#include "libcore/fs/file.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/trust/index_statement.hpp"

#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace gpkg {

class Publication {
public:
    /// Usage where the channel is signed and there is no key to sign it with.
    static Result<Publication> begin(const fs::path& channel, const IndexerOptions& options);
    Publication(Publication&& other) noexcept
        : channel_(std::move(other.channel_)),
          options_(other.options_),
          statement_(std::move(other.statement_)),
          earlier_keys_(std::move(other.earlier_keys_)) {}

    /// What `file` will be. One that is so already stays, and keeps its time, which HTTP servers
    /// tell clients. From any thread; those of one thread get their places in this order.
    Result<void> add(const fs::path& file, std::string_view bytes);
    /// One that stays as it lies there.
    Result<void> keep(const fs::path& file);
    /// All that were added or kept.
    std::vector<fs::path> files() const;
    /// Puts them all into their places, signed where there is a key. Once.
    Result<void> publish();
    /// Nothing where there is no key.
    std::optional<SignatureSummary> signature() const;

private:
    struct Ready {
        fs::path file;
        SignedFile content;
        std::optional<NewFile> replacement;  ///< none: it is so already
    };

    Publication(fs::path channel, const IndexerOptions& options)
        : channel_(std::move(channel)), options_(options) {}
    Result<void> sign_with_earlier();
    Result<void> write_statement();
    void state(const Ready& ready, SignedFile content);
    bool is_signed() const { return !options_.sign_keys.empty(); }

    fs::path channel_;
    const IndexerOptions& options_;
    IndexStatement statement_;
    std::vector<std::string> earlier_keys_;  ///< that signed the statement before
    std::mutex mutex_;
    std::vector<Ready> ready_;
};

}  // namespace gpkg
