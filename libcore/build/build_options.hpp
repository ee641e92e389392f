#pragma once

// What a run of the builder is told: where things go, how packages are made, and the ways out of it
// (to the network, to a solver, to who watches).

#include "libcore/build/environments.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/recipe/render.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpkg {

struct BuildEvent {
    enum class Kind { Waiting, Started, Built, Reused, Failed };
    Kind kind = Kind::Started;
    /// "numpy-1.24.2-hb0f4dca_0", or the recipe's path when it failed early. Of Waiting: whom for,
    /// "process 4711 on node3, which builds numpy-1.24.2-hb0f4dca_0".
    std::string what;
    std::size_t done = 0;  ///< outputs finished, of `total`
    std::size_t total = 0;
};

enum class PackageFormat { Conda, TarBz2 };

struct BuildOptions {
    /// Absolute. Packages that are there and unchanged are not built again; nothing is written.
    fs::path channel;
    fs::path work;  ///< absolute: builds, logs, downloads, packages until they are published
    /// Absolute: becomes a channel folder with links to the packages of this run that are not
    /// published, for who solves for environments. Empty: none.
    fs::path staging;
    /// Absolute: where scripts work, which takes room; empty: in `work`.
    fs::path scratch;
    /// Of what the recipes make only these, "linux-64/numpy-1.24.2-hb0f4dca_0"; empty: all. What
    /// they are built with is in the channel and in `staging` then, and whether others give what
    /// they need to run is for who has all of them (checks/check_needs.hpp).
    std::set<std::string> only;
    RenderOptions render;
    /// Unix seconds (SOURCE_DATE_EPOCH): the time in the packages. Absent: when the build starts.
    std::optional<std::int64_t> timestamp;
    /// Unix seconds. Without `timestamp`, packages that the channel has keep their time and others
    /// get this one, so that two builds can be compared.
    std::optional<std::int64_t> reproduce_at;
    PackageFormat format = PackageFormat::Conda;
    int zstd_level = 6;      ///< of .conda
    int jobs = 1;            ///< outputs at a time; what is left over goes to threads within one
    int cpu_count = 0;       ///< CPU_COUNT for scripts; 0: as many as there are
    int own_cpus = 0;        ///< so many of the machine's processors are there; 0: all of them
    bool rebuild = false;    ///< also what is there and was built from the same inputs
    bool needs_run = false;  ///< the packages are tested: run dependencies have to exist
    bool keep_work = false;  ///< leave the folders of successful builds, as failed ones are left
    bool sandbox = false;    ///< scripts see only what is declared; sandbox.hpp says if it can be
    bool network = false;    ///< scripts in the sandbox have one
    FetchFile fetch;
    bool offline = false;   ///< sources come from the cache and from this machine
    fs::path source_cache;  ///< empty: <work>/sources
    /// URLs of sources that begin with the first are asked for under the second first.
    std::vector<std::pair<std::string, std::string>> mirrors;
    /// Null: recipes that need build or host packages are refused.
    SolveEnvironment solve_environment;
    std::function<bool()> cancelled;
    std::function<void(const BuildEvent&)> report;  ///< called from one thread at a time

    bool is_cancelled() const { return cancelled && cancelled(); }
    const fs::path& build_root() const { return scratch.empty() ? work : scratch; }
};

}  // namespace gpkg
