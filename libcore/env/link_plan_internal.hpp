#pragma once

// What a transaction will do to each path of the prefix, decided before anything is changed.

#include "libcore/env/journal_internal.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/env/python_layout.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/package/paths.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

enum class LinkKind {
    Link,      ///< hard link, reflink or copy
    CopyOnly,  ///< no_link
    Replace,   ///< written anew with this prefix in it
    SoftLink,
    Folder,
    EntryPoint,  ///< `content` is the script
    Pyc,         ///< compiled from `source`, a path of the prefix
};

struct LinkItem {
    LinkKind kind = LinkKind::Link;
    std::string target;                ///< relative to the prefix
    std::string source{};              ///< relative to the unpacked package
    const PathEntry* entry = nullptr;  ///< none for generated files
    std::string content{};
    bool skipped = false;  ///< a later package has this path
    bool early = false;    ///< a soft link to a folder that other files go through
    std::string sha256{};  ///< as linked, filled in when it is
    std::uint64_t size = 0;
};

/// A package that is linked, or an installed one of which some files come back.
struct PackagePlan {
    const LinkRequest* request = nullptr;  ///< none: files come back
    std::string distribution;
    fs::path unpacked;
    std::vector<PathEntry> entries;
    std::vector<LinkItem> items;
    LinkType link_type = LinkType::HardLink;
    bool reflinks_first = false;  ///< LinkMethod::Auto; its file system is known for them

    /// Whether a file of this path is in the package.
    bool brings(std::string_view path) const;
    /// Whether the file at this path will be the package's: no later one has it as well.
    bool links(std::string_view path) const;
};

struct Plan {
    bool creating = false;  ///< the prefix does not exist
    fs::path named_prefix;  ///< what linked files name as their prefix
    std::vector<PrefixRecord> installed;
    std::optional<PythonLayout> python;  ///< of the new environment
    std::vector<PackagePlan> packages;   ///< in the order of the transaction, restored files last
    JournalPlan journal;
    std::vector<std::pair<std::string, std::string>> generations;  ///< files below conda-meta
    TransactionCost cost;
};

/// Makes the record of an installed package say what it says from now on.
void apply(const Rewrite& rewrite, PrefixRecord& record);

/// The items of one package. `python` is needed for noarch python packages only; `prefix` is what
/// files will name.
Result<PackagePlan> plan_package(const LinkRequest& request,
                                 const std::optional<PythonLayout>& python,
                                 const fs::path& prefix,
                                 bool compile);

/// The bytes of a file of a package, which is held in memory, as they name this prefix.
Result<std::string> bytes_with_prefix(const PathEntry& entry,
                                      const fs::path& file,
                                      const fs::path& prefix);

/// Where a soft link of a package leads from this prefix.
std::string link_with_prefix(const PathEntry& entry, std::string target, const fs::path& prefix);

/// Of a file in which the prefix is replaced in memory, in bytes.
inline constexpr std::uint64_t kMostHeld = std::uint64_t{32} << 20U;

/// Looks at everything and decides. Changes nothing.
Result<Plan> make_plan(const Transaction& transaction, const TransactionOptions& options);

}  // namespace gpkg
