#pragma once

// The machines that the classes of a lock were made for, and which of them another machine covers.

#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpkg {

/// A virtual package of a machine, whose version is read once.
struct MachinePart {
    std::string name;
    std::optional<Version> version;  ///< nothing where it cannot be read
    std::string build;
};
using MachineParts = std::vector<MachinePart>;

MachineParts parts_of(const std::vector<PackageRecord>& virtual_packages);

/// Compared with each other once, as a lock for every machine has hundreds of them.
class MachinesOfClasses {
public:
    /// `parts` are those that tell classes apart.
    struct Machine {
        std::size_t of_class = 0;
        MachineParts parts;
    };
    MachinesOfClasses() = default;
    explicit MachinesOfClasses(std::vector<Machine> all);

    /// By class: of the machines that count and that `machine` covers, which has all that they
    /// have, in versions that are as high, how many have no more than the best of the class' own; 0
    /// where it covers none of those. The versions of the virtual packages in `unknown` do not
    /// count.
    std::vector<std::size_t> covered_by(
        const MachineParts& machine,
        std::size_t classes,
        const std::set<std::string>& unknown,
        const std::function<bool(const MachineParts&)>& counts) const;

    /// Whether `machine` covers a machine that the class was made for; `unknown` as above.
    bool is_for(std::size_t of_class,
                const MachineParts& machine,
                const std::set<std::string>& unknown) const;

private:
    std::vector<Machine> all_;
    std::vector<std::vector<std::uint8_t>> covers_;  ///< one machine another: 1
};

}  // namespace gpkg
