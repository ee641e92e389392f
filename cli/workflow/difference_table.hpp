#pragma once

// Packages that differ between two environments, generations or locks, as a table for people.

#include "cli/output.hpp"
#include "cli/table.hpp"
#include "libcore/hardware/variant_columns.hpp"

#include <optional>
#include <string>

namespace gpkg::cli {

/// A package as the table shows it.
struct PackageText {
    std::string version;
    std::string build;
    std::string channel;
};

class DifferenceTable {
public:
    DifferenceTable();

    /// One row a package; fields that differ are "1.0.0 -> 1.1.0". A missing package is null.
    /// `how` describes a change further, see variant_changes().
    void add(const std::string& name,
             const std::optional<PackageText>& before,
             const std::optional<PackageText>& after,
             const std::string& how);
    void print(Output& out) const;

private:
    Table table_;
};

/// "accelerator nvidia -> none, cuda 12.9 -> none": how two builds differ, as far as is known.
std::string variant_changes(const VariantColumns& before, const VariantColumns& after);

}  // namespace gpkg::cli
