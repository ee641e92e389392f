#pragma once

// Packages that differ between two environments, generations or locks, as a table for people.

#include "cli/output.hpp"
#include "cli/table.hpp"
#include "libcore/hardware/variant_columns.hpp"

#include <string>

namespace gpkg::cli {

class DifferenceTable {
public:
    DifferenceTable();

    /// `before` and `after` are "2.1.0 py312_0 conda-forge", empty where the package is missing.
    /// `how` says more of a change, see variant_changes().
    void add(const std::string& name,
             const std::string& before,
             const std::string& after,
             const std::string& how);
    void print(Output& out) const;

private:
    Table table_;
};

/// "accelerator nvidia -> none, cuda 12.9 -> none": how two builds differ, as far as is known.
std::string variant_changes(const VariantColumns& before, const VariantColumns& after);

}  // namespace gpkg::cli
