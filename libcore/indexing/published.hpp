#pragma once

// One subdir as its channel publishes it: what the packages say, patches put over it. And the files
// that clients read, made of it: the same packages give the same bytes.

#include "libcore/indexing/indexed_package.hpp"
#include "libcore/indexing/patch_instructions.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One package that is not withdrawn. It borrows from who made it.
struct PublishedPackage {
    std::string_view file;
    std::string_view name;
    std::string_view version;
    std::string_view record;       ///< JSON
    std::string_view run_exports;  ///< JSON
    const IndexedPackage* package = nullptr;
    bool is_removed = false;  ///< a patch took it out of the index
};

class PublishedSubdir {
public:
    /// `packages`, which it borrows from, without those that are `withdrawn`.
    PublishedSubdir(std::string subdir,
                    const std::map<std::string, IndexedPackage>& packages,
                    const std::set<std::string>& withdrawn,
                    const PatchInstructions& patch,
                    int jobs);

    const std::string& subdir() const { return subdir_; }
    /// By file name.
    const std::vector<PublishedPackage>& packages() const { return packages_; }
    /// Withdrawn, or removed by a patch: file names.
    const std::set<std::string>& removed() const { return removed_; }
    /// How many stand in the index.
    std::size_t count() const;

    /// repodata.json (CEP 36, 48).
    std::string repodata() const;
    /// run_exports.json (CEP 12): also of what a patch removed.
    std::string run_exports() const;
    /// variants.json (docs/reference/channels.md).
    std::string variants() const;
    /// info.repodata_revisions (CEP 48) in JSON; empty where no record stands in v3.
    std::string revisions() const;

private:
    std::string subdir_;
    std::vector<PublishedPackage> packages_;
    std::set<std::string> removed_;
    std::vector<PatchInstructions::Patched> patched_;  ///< what packages_ may borrow from
};

}  // namespace gpkg
