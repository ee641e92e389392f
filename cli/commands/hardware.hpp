#pragma once

// gpkg hardware --slurm and --hosts: profiles of machines elsewhere.

#include "cli/context.hpp"
#include "libcore/base/error.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gpkg::cli {

struct SiteOptions {
    bool slurm = false;
    std::vector<std::string> partitions;  ///< empty: all
    std::vector<std::string> hosts;
    bool no_probe = false;  ///< none may
    bool dry_run = false;
    int wait = 60;  ///< seconds
    std::string gpkg;
    std::vector<std::string> words;
    std::string folder;

    bool is_meant() const { return slurm || !hosts.empty(); }
};

void add_site_options(CLI::App& app, SiteOptions& options);

/// Writes a profile for each partition, or host, and says what it is.
Result<int> write_site_profiles(Context& context, const SiteOptions& options);

}  // namespace gpkg::cli
