#pragma once

// What the words of gpkg build ask for, as the builder is told it.

#include "cli/context.hpp"
#include "cli/workflow/build/rendering.hpp"
#include "cli/workflow/build/sources.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/signing.hpp"
#include "libcore/build/build_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct BuildRequest {
    SourceOptions sources;
    std::vector<std::string> recipes;
    std::string channel = "output";
    std::string work;
    int jobs = 0;
    std::string format = "conda";
    int zstd_level = 6;
    bool rebuild = false;
    bool no_test = false;
    bool keep_work = false;
    bool render = false;
    bool plan = false;
    bool verify = false;
    bool network = false;
    std::string sandbox = "auto";
    std::string source_cache;
    std::vector<std::string> mirrors;
    std::string max_closure;
    VariantOptions variants;
    SigningWords signing;
    bool slurm = false;
    std::vector<std::string> slurm_options;
    std::string slurm_task;  ///< this process is one; its folder
};

/// The recipes that were named, or lie in the folders that were.
Result<std::vector<fs::path>> recipe_files(const Context& context,
                                           const std::vector<std::string>& texts);

fs::path channel_of(const Context& context, const BuildRequest& request);
fs::path work_folder_of(const Context& context, const BuildRequest& request);

/// All but the sandbox. `context`, `sources` and `progress` outlive it.
Result<BuildOptions> build_options(Context& context,
                                   const BuildRequest& request,
                                   const fs::path& work,
                                   BuildSources& sources,
                                   Progress& progress);

/// Whether build scripts are kept in; says so where that was wanted and cannot be.
Result<bool> sandbox_of(Context& context, const std::string& wish);

/// Of --max-closure; no value where it is not given.
Result<std::optional<std::uint64_t>> closure_limit(const BuildRequest& request);

}  // namespace gpkg::cli
