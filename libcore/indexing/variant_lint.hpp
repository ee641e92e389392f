#pragma once

// A lint for who maintains a channel: builds of one version that differ in nothing but the hardware
// they are for should agree in all else. A dependency that only the CUDA build has, or another
// license, is most often a mistake in the recipe, and a solver picks another build for it.
//
// Builds are compared that are for different hardware, as their records tell it, and have in common
// version, build number (hundreds aside: recipes add them to rank variants) and the rest of the
// variant: what info/hash_input.json says beside hardware and compilers, or where that is missing
// Python, BLAS, MPI and the words of the build string. Dependencies on hardware, and on what
// follows from it, may differ.

#include "libcore/indexing/shard_writer.hpp"

#include <string>
#include <vector>

namespace gpkg {

struct VariantFinding {
    std::string field;  ///< of the record: "depends", "license", "noarch"
    std::string text;   ///< "libpng is needed by a-1-cuda129_0.conda and not by a-1-cpu_0.conda"
    std::vector<std::string> files;  ///< two that disagree

    friend bool operator==(const VariantFinding&, const VariantFinding&) = default;
};

/// `group` is all of one name.
std::vector<VariantFinding> lint_variants(const NameGroup& group);

/// Findings as a JSON list in one line, and back.
std::string to_json(const std::vector<VariantFinding>& findings);
std::vector<VariantFinding> findings_from_json(const std::string& text);

}  // namespace gpkg
