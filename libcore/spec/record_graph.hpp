#pragma once

// Who needs whom among records that belong together: those of an environment, or of a solution.

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct Condition;

/// What a record depends on that is none of the records: a virtual package, or what is missing.
struct OutsideNeed {
    std::string name;
    std::string spec;   ///< as the record has it
    std::string extra;  ///< as in Need
};

/// One record depends on another.
struct Need {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string spec;   ///< as `from` has it
    std::string extra;  ///< the group of extras it stands in (CEP 44); empty: among its depends
};

class RecordGraph {
public:
    /// Of a name that stands twice the first is what others need. Extras count where one of
    /// `requested` or a record asks for them. Conditions (CEP 43) are asked of the records; what
    /// they ask of the machine may hold, for nobody knows for which one the records were chosen.
    explicit RecordGraph(std::vector<PackageRecord> records,
                         const std::vector<MatchSpec>& requested = {});

    /// In the order given; a place is an index of this.
    const std::vector<PackageRecord>& records() const& { return records_; }
    std::vector<PackageRecord> records() && { return std::move(records_); }
    std::optional<std::size_t> find(std::string_view name) const;
    /// What the record needs among the records, itself aside; its depends first, then its extras.
    std::span<const Need> needs(std::size_t place) const { return needs_[place]; }
    std::span<const OutsideNeed> outside_needs(std::size_t place) const { return outside_[place]; }
    /// Who needs it, by name.
    std::span<const Need> needed_by(std::size_t place) const { return needed_by_[place]; }

    /// For each of `roots` from which `target` can be reached, a shortest way there; of equally
    /// short ones the first by name. A root that is the target has an empty way.
    struct Way {
        std::size_t root = 0;
        std::vector<Need> steps;
    };
    std::vector<Way> ways(std::span<const std::size_t> roots, std::size_t target) const;

    /// Every way from one of `roots` to `target` that passes no record twice, the shortest first;
    /// at most `most` of them.
    struct AllWays {
        std::vector<Way> ways;
        bool is_complete = true;
    };
    AllWays all_ways(std::span<const std::size_t> roots,
                     std::size_t target,
                     std::size_t most) const;

    /// Those marked in `start`, and all that they need, directly or not.
    std::vector<bool> all_needed_by(std::vector<bool> start) const;
    /// Those marked in `start`, and all that need them, directly or not.
    std::vector<bool> all_needing(std::vector<bool> start) const;

    /// All places, each after what it needs. Ties, and the entry into cycles, go by name.
    std::vector<std::size_t> dependencies_first() const;

private:
    void link(const std::vector<MatchSpec>& requested);
    bool holds(const Condition& condition) const;

    std::vector<PackageRecord> records_;
    std::vector<std::size_t> by_name_;
    std::vector<std::vector<Need>> needs_;
    std::vector<std::vector<OutsideNeed>> outside_;
    std::vector<std::vector<Need>> needed_by_;
};

}  // namespace gpkg
