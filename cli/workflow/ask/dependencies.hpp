#pragma once

// What records depend on, and which records that leads to: in an environment those that are there,
// in channels the newest that match.

#include "cli/workflow/ask/found.hpp"
#include "libcore/spec/record_graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

struct Dependency {
    enum class MetBy {
        Package,
        Machine,
        Mismatch,  ///< the installed package of that name is another than the spec asks for
        Nobody,
    };

    /// Whether a package stands for it, fitting or not.
    bool has_package() const { return met_by == MetBy::Package || met_by == MetBy::Mismatch; }

    std::string spec;   ///< as the record has it
    std::string extra;  ///< the group of extras it stands in; empty: among its depends
    MetBy met_by = MetBy::Nobody;
    std::size_t place = 0;  ///< of the package
};

/// Records, each once, and their dependencies as far as they were followed.
struct DependencyGraph {
    std::vector<PackageRecord> records;
    std::vector<std::vector<Dependency>> needs;  ///< by record
    std::vector<std::size_t> roots;              ///< what was asked about

    /// The roots and all that they lead to.
    std::vector<bool> reached() const;
};

enum class Depth {
    One,  ///< what the roots depend on
    All,  ///< and what that depends on, and so on
};

/// Of what the spec matches among `installed`. Conditions are asked of what is installed; extras
/// count where they were requested or the spec asks for them.
Result<DependencyGraph> installed_dependencies(const MatchSpec& spec,
                                               const std::vector<PrefixRecord>& installed,
                                               const fs::path& prefix);

/// Of a whole environment. The roots are the requested packages, and packages that no other needs.
DependencyGraph environment_dependencies(const std::vector<PrefixRecord>& installed);

/// Of the newest record of each name that the spec matches, in the first channel that has one,
/// builds for other operating systems aside. Conditions count as if they held. Extras count where
/// they are asked for; with Depth::One those of the roots count all.
Result<DependencyGraph> channel_dependencies(Context& context,
                                             const MatchSpec& spec,
                                             const SourceOptions& options,
                                             Depth depth);

/// As a person would write it: "numpy >=2 where python>=3.10"; with an extra "pytest for its extra
/// test". What cannot be read is shown as it stands.
std::string dependency_text(std::string_view spec, std::string_view extra);

}  // namespace gpkg::cli
