#pragma once

// Who needs whom among records that belong together: those of an environment, or of a solution.

#include "libcore/spec/package_record.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One record depends on another.
struct Need {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string spec;  ///< as `from` has it among its depends
};

class RecordGraph {
public:
    /// At most one record of each name.
    explicit RecordGraph(std::vector<PackageRecord> records);

    const std::vector<PackageRecord>& records() const { return records_; }
    std::optional<std::size_t> find(std::string_view name) const;
    /// What the record needs, in the order of its depends; virtual packages and what is missing
    /// are left out.
    std::span<const Need> needs(std::size_t place) const { return needs_[place]; }
    /// Who needs it, by name.
    std::span<const Need> needed_by(std::size_t place) const { return needed_by_[place]; }

    /// For each of `roots` from which `target` can be reached, a shortest way there; of equally
    /// short ones the first by name. A root that is the target has an empty way.
    struct Way {
        std::size_t root = 0;
        std::vector<Need> steps;
    };
    std::vector<Way> ways(std::span<const std::size_t> roots, std::size_t target) const;

private:
    std::vector<PackageRecord> records_;  ///< by name
    std::vector<std::vector<Need>> needs_;
    std::vector<std::vector<Need>> needed_by_;
};

}  // namespace gpkg
