#pragma once

// The link scripts of packages (CEP 34), for who decides beforehand which of them may run.

#include "libcore/env/transaction.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpkg {

struct FoundLinkScript {
    std::string package;
    std::string distribution;  ///< "numpy-2.1.0-0"
    std::string path;          ///< in the prefix: "bin/.numpy-post-link.sh"
    fs::path file;             ///< where it lies now
    std::uint64_t size = 0;
    std::string sha256;     ///< as it is in its package
    bool runs_now = false;  ///< else once the package, which arrives now, leaves
};

/// Those of the packages that come and go.
Result<std::vector<FoundLinkScript>> find_link_scripts(const Transaction& transaction);
/// Those that remove_prefix runs.
Result<std::vector<FoundLinkScript>> find_link_scripts(const fs::path& prefix);

}  // namespace gpkg
