#pragma once

// The indexer: from the packages of a channel folder to the files that clients read
// (docs/reference/channels.md lists them). Each is written whole, in an order in which readers
// never see one that names what is not there yet; the same packages give the same bytes. Only
// packages that are new are read.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

class SigningKey;

struct IndexerOptions {
    /// Unix milliseconds: indexed_timestamp of packages that are new (CEP 47). Absent: now.
    std::optional<std::int64_t> timestamp;
    /// Of everything that is compressed. Absent: high, but low for texts of which a high one would
    /// take most of the time.
    std::optional<int> zstd_level;
    int jobs = 1;
    /// Brought in force (indexing/patch_instructions.hpp) before; it stays so.
    std::optional<fs::path> patch;
    /// Patches that are in force are taken away before.
    bool drop_patch = false;
    /// A channel folder laid over the channel: ChannelIndexer::look sees its packages as if they
    /// lay in the channel, in place of those of the same name there, in either format. An indexer
    /// that has one only looks. Empty: none.
    fs::path overlay;
    /// Sign the statement of what the indexes are (publication.hpp). None: there is no statement,
    /// and a channel that has one is not touched.
    std::vector<std::shared_ptr<const SigningKey>> sign_keys;
    std::chrono::seconds signed_for = std::chrono::hours(30 * 24);  ///< then it expires
    /// Whether a package file that lies in the channel is to be in its index. None: each is.
    std::function<bool(const fs::path& file)> belongs;
    /// How long a shard stays that no index names: readers hold an older index for a while.
    std::chrono::milliseconds unused_shards_for = std::chrono::hours(7 * 24);
    std::function<bool()> cancelled;
};

struct SubdirSummary {
    std::string subdir;
    std::size_t packages = 0;  ///< in the index
    std::size_t read = 0;      ///< opened, because they were new or had changed
    std::size_t shards = 0;    ///< one for each name
    std::size_t shards_written = 0;
    std::size_t shards_removed = 0;  ///< not in use for long enough
};

/// A package file that something is wrong with.
struct FaultyPackage {
    fs::path file;
    std::string reason;
};

/// Two builds of a package that differ in more than the hardware they are for.
struct VariantDisagreement {
    std::string subdir;
    std::string name;
    std::string field;  ///< of the record
    std::string text;   ///< what is different, in which files
    std::vector<std::string> files;
};

/// Patch instructions that are in force.
struct PatchSummary {
    fs::path file;
    std::vector<std::string> unmatched;  ///< package files they speak of and that are not there
    std::size_t changed = 0;             ///< package files whose records it changes or removes
};

/// The signature of the indexes.
struct SignatureSummary {
    std::vector<std::string> keys;  ///< public keys that signed
    std::int64_t expires = 0;       ///< seconds since 1970
    /// Public keys that signed the indexes before, where none of them signed now and no root says
    /// which keys may: users who trust only these refuse the channel.
    std::vector<std::string> replaced;
};

struct IndexSummary {
    std::vector<SubdirSummary> subdirs;
    /// All that the indexes consist of now, shards included; patches are not of the indexer's
    /// making.
    std::vector<fs::path> files;
    /// Damaged, or not what their file name says: they are in none of the indexes.
    std::vector<FaultyPackage> refused;
    /// They are in the indexes, but not all that is said of them, or what is said cannot be true.
    std::vector<FaultyPackage> odd;
    /// Package files with other contents than an earlier run found under the same name.
    std::vector<FaultyPackage> replaced;
    std::vector<VariantDisagreement> disagreements;
    std::vector<PatchSummary> patches;
    std::optional<SignatureSummary> signature;  ///< none: not signed
};

class SubdirIndexer;

/// For who adds packages to a channel and wants to know, time and again, what is in it now. Keeps
/// in memory what it found; opens only what is new.
class ChannelIndexer {
public:
    explicit ChannelIndexer(fs::path channel, IndexerOptions options = {});
    ~ChannelIndexer();
    ChannelIndexer(const ChannelIndexer&) = delete;
    ChannelIndexer& operator=(const ChannelIndexer&) = delete;

    /// Looks for packages that came, went or changed since; true when there are any. Changes
    /// nothing in the channel.
    Result<bool> look();
    /// The repodata.json of what was found; empty for a subdir that the channel lacks.
    std::string repodata(const std::string& subdir) const;
    /// Looks again, and writes the indexes of what is there. Waits for others that do so.
    Result<IndexSummary> write();

private:
    fs::path channel_;
    IndexerOptions options_;
    std::map<std::string, std::unique_ptr<SubdirIndexer>> subdirs_;
    bool has_news_ = false;  ///< write found what look has not told of
};

/// Before work begins whose end is an index: Usage where the channel is signed and the keys for
/// that are not given.
Result<void> check_can_index(const fs::path& channel, const IndexerOptions& options);

/// Indexes every subdir of the channel; `noarch` always exists afterwards. Keeps from an index that
/// is there when packages appeared and which were withdrawn ("removed"). What is known of unchanged
/// files is kept in <subdir>/.gpkg-index.
Result<IndexSummary> index_channel(const fs::path& channel, const IndexerOptions& options = {});

}  // namespace gpkg
