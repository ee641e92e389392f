#pragma once

// make_plan at work: what leaves (planner_leaving.cpp), what arrives and what is in the way
// (planner_arriving.cpp), and whether the file system can hold it (planner_checks.cpp). Every
// refusal that can be known is given here, before the first change.

#include "libcore/env/disk_internal.hpp"
#include "libcore/env/folders_internal.hpp"
#include "libcore/env/generation.hpp"
#include "libcore/env/link_plan_internal.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace gpkg {

/// Packages of the new environment that stay, by path.
using Owners = std::unordered_map<std::string_view, const PrefixRecord*>;

class Planner {
public:
    Planner(const Transaction& transaction, const TransactionOptions& options)
        : transaction_(transaction), options_(options) {
        for (const auto& record : transaction.unlink) unlinked_.insert(record.file_name());
    }

    Result<Plan> make();

private:
    Result<void> read_prefix();
    Result<void> check_records();
    Result<void> find_linked_folders();
    std::string real_place(std::string_view path) const;
    const PrefixRecord* owner_of(const std::string& place) const;
    Result<void> check_python();
    Result<void> plan_packages();
    Result<void> plan_leaving();
    /// `entry`: what the record says of the path, where it says anything.
    Result<void> leave(const PrefixRecord& record,
                       const std::string& path,
                       const PrefixPath* entry);
    void take_out(const std::string& place);
    void keep_shared(const PrefixRecord& owner, const std::string& path);
    void bring_back_from_links();
    bool is_same_link(const std::string& link);
    Result<void> plan_restores();
    Result<void> restore(const PrefixRecord& owner, std::set<std::string> wanted);
    Result<void> keep_moved_out(const PrefixRecord& owner, const std::string& path);
    Result<void> plan_arriving();
    Result<void> settle_clash(const PackagePlan& package, LinkItem& item);
    Result<void> check_place(const PackagePlan& package, LinkItem& item);
    Result<void> check_taken(const PackagePlan& package,
                             const LinkItem& item,
                             const std::string& at,
                             const struct stat& found);
    Result<void> clear_folder(const PackagePlan& package, const std::string& at);
    Result<std::string> need_folder(const PackagePlan& package, const std::string& folder);
    Result<std::string> place_folder(const PackagePlan& package,
                                     const std::string& folder,
                                     const std::string& parent);
    Result<std::string> go_through_link(const PackagePlan& package,
                                        const std::string& folder,
                                        const std::string& parent);
    Result<void> check_case();
    Result<void> check_space();
    void plan_emptied();
    Result<void> plan_records();
    Result<void> take_over_history();
    void plan_history(HistoryEntry& entry, const std::string& history);
    Result<void> plan_generations(const HistoryEntry& entry, const std::string& history);
    Result<std::optional<Generation>> generation_found(
        const std::vector<std::uint64_t>& numbers, const std::vector<HistoryEntry>& history) const;
    std::vector<GenerationPackage> packages_after() const;
    void warn(std::string text) { plan_.cost.warnings.push_back(std::move(text)); }
    LinkItem& item_at(std::pair<std::size_t, std::size_t> place) {
        return plan_.packages[place.first].items[place.second];
    }

    const Transaction& transaction_;
    const TransactionOptions& options_;
    Plan plan_;
    GpkgState state_before_;
    std::optional<Disk> disk_;
    std::optional<Folders> folders_;
    std::unordered_set<std::string> unlinked_;  ///< file names of records
    std::vector<const PrefixRecord*> staying_;
    Owners owners_;
    /// Soft links of packages that stand for a folder in which other files lie. Paths through them
    /// are translated once (real_place), so that a file has one path in leaving_ and the journal.
    std::vector<std::string> linked_folders_;
    std::unordered_map<std::string, const PrefixRecord*> owners_behind_links_;  ///< by real place
    std::unordered_map<std::string, std::size_t> leaving_;  ///< real place -> place in the journal
    /// Files of staying packages that a leaving one had overwritten, or that were reached through a
    /// link that leaves, by owner.
    std::map<const PrefixRecord*, std::set<std::string>> coming_back_;
    /// The item that has a path in the end.
    std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> arriving_;
    /// Where each really is; nothing while that is being found out.
    std::unordered_map<std::string, std::optional<std::string>> folders_needed_;
    std::unordered_set<std::string> fresh_;  ///< of these, the ones that will be made
    std::vector<std::string> unowned_;       ///< files in the way that belong to nobody
};

}  // namespace gpkg
