#pragma once

// Indexes one subdir: looks what is in its folder, and writes what clients read beside it.

#include "libcore/indexing/earlier_repodata.hpp"
#include "libcore/indexing/index_memory.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/indexing/publication.hpp"
#include "libcore/indexing/published.hpp"

#include <string>
#include <vector>

namespace gpkg {

struct ListedFile;

class SubdirIndexer {
public:
    SubdirIndexer(fs::path folder, std::string subdir, const IndexerOptions& options);

    /// Reads what is new. True when packages came, went or changed, or the patch did.
    Result<bool> look();

    /// Of the last look. Good until the next.
    PublishedSubdir published() const;
    /// Makes the subdir's files.
    Result<void> prepare(const PublishedSubdir& published, Publication& publication);
    /// Once they are in their places. Adds to `summary` what there is to say of it.
    Result<void> complete(const PublishedSubdir& published, IndexSummary& summary);

private:
    Result<void> read_new(std::vector<ListedFile>& files) const;
    Result<bool> take(std::vector<ListedFile> files);
    Result<bool> look_at_patch();
    /// Once, what earlier runs knew.
    void recall();
    Result<void> prepare_shards(const PublishedSubdir& published, Publication& publication);
    Result<void> prepare_repodata(const PublishedSubdir& published, Publication& publication);
    void report(const PublishedSubdir& published, IndexSummary& summary) const;
    std::int64_t now_ms() const;
    bool cancelled() const { return options_.cancelled && options_.cancelled(); }

    fs::path folder_;
    std::string subdir_;
    const IndexerOptions& options_;
    IndexMemory memory_;
    bool is_recalled_ = false;
    bool is_changed_ = false;  ///< memory_ is not what its file says
    EarlierRepodata earlier_;  ///< of packages that are not in memory
    PatchInstructions patch_;
    std::optional<FileStamp> patch_stamp_;
    std::vector<FaultyPackage> refused_;
    std::vector<FaultyPackage> replaced_;  ///< other contents under a known name
    std::size_t read_ = 0;                 ///< packages, by the last look
    SubdirSummary about_;                  ///< of what was prepared
};

}  // namespace gpkg
