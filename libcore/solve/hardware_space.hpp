#pragma once

// All machines that a decision can tell apart. A solve sees of a machine which of the specs on its
// virtual packages hold, how closely builds were made for its GPU (Cascade), what of CUDA its
// driver and its GPU do not run (CudaLimits), and whose GPU it has. Machines that agree in all of
// it get the same answer, so that trying one of each is trying all.

#include "libcore/base/error.hpp"
#include "libcore/hardware/cascade.hpp"
#include "libcore/solve/machine_specs.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/package_record.hpp"
#include "libcore/spec/version.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One machine, which stands for all that no spec tells from it.
struct MachinePoint {
    std::vector<PackageRecord> virtual_packages;
    /// Where it is on each axis.
    std::vector<std::size_t> cells;
};

class HardwareSpace {
public:
    /// Machines with more points than this cannot be enumerated.
    static constexpr std::size_t kMostPoints = 20000;

    /// One virtual package and the ranges of it that specs tell apart.
    struct Axis {
        std::string name;
        struct Cell {
            std::optional<PackageRecord> record;  ///< nothing: the machine has no such package
            std::string range;                    ///< ">=2.28,<2.34", "none", "x86_64_v3"
        };
        std::vector<Cell> cells;  ///< the least first
    };

    /// `base` are the virtual packages of a machine about which nothing is known. Unsupported where
    /// there are too many points.
    static Result<HardwareSpace> make(const MachineSpecs& specs,
                                      const std::vector<PackageRecord>& base);

    const std::vector<Axis>& axes() const { return axes_; }
    /// Those for which more specs hold come first.
    const std::vector<MachinePoint>& points() const { return points_; }

    /// Whether every record that is possible at one point is possible at the other, `from`, and
    /// both have the same vendor's GPU. What has no answer there then has none here.
    bool has_fewer_records(std::size_t from, std::size_t to) const;

    /// Whether the answer for one point, whose records say this of machines, is that for another,
    /// where fewer records are possible: all of its records are possible there, and none of the
    /// others is preferred more. Not sure where builds differ in no more than what their
    /// dependencies can bring (key 9 of solver/preference.hpp), as that depends on the other
    /// builds that are possible.
    bool carries_over(const MachineSpecs& answer, std::size_t from, std::size_t to) const;

private:
    struct Asked {
        enum class Role { Depends, Constrains, Condition, OnCuda };
        MatchSpec spec;
        Role role = Role::Depends;
        std::string text;  ///< as records have it
    };
    /// What a solve sees of a machine with regard to one of the specs.
    struct Seen {
        bool holds = false;
        bool will_not_run = false;
        Closeness closeness;
        friend bool operator==(const Seen&, const Seen&) = default;
    };

    bool tells_tegra() const;
    std::vector<Seen> look(const std::vector<PackageRecord>& machine,
                           std::optional<std::string_view> name = std::nullopt) const;
    void take(const std::set<std::string>& texts, Asked::Role role);
    void add_axis(const std::string& name, const std::vector<PackageRecord>& base);
    Axis axis_of(const std::string& name,
                 const std::vector<PackageRecord>& candidates,
                 bool may_be_absent) const;
    std::vector<PackageRecord> candidates_of(const std::string& name,
                                             const std::vector<PackageRecord>& base) const;
    Result<void> add_points(const std::vector<PackageRecord>& base);

    std::vector<Asked> asked_;
    std::vector<Axis> axes_;
    std::vector<MachinePoint> points_;
    std::vector<std::vector<Seen>> seen_;  ///< by point, then by spec
};

}  // namespace gpkg
