#pragma once

// What an environment, or the answer to a request, weighs: the bytes on the disk or those to
// download, and which package brings them.

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/closure/closure.hpp"
#include "libcore/spec/match_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

struct Weighed {
    std::string what;  ///< "torch cuda-version=12", or the environment's path
    /// Sizes are those of files in the environment; else those of archives, as the index has them.
    bool is_installed = false;
    Closure closure;
    std::uint64_t downloads = 0;  ///< of an environment: its archives, as far as that is known

    /// "on disk" or "to download", which sizes are.
    std::string measure() const { return is_installed ? "on disk" : "to download"; }
};

/// What is installed, with what the history says was asked for.
Result<Weighed> weigh_environment(Context& context, const TargetOptions& target);

/// What a solve for the wishes gives. Channels that files name are taken too.
Result<Weighed> weigh_request(Context& context, const WishOptions& options, SourceOptions sources);

/// The same of the records that some specs gave; sizes are the channels'.
Weighed weigh_records(std::string what,
                      std::vector<PackageRecord> records,
                      const std::vector<MatchSpec>& specs);

/// What is wrong with the closure's size, if anything: it is over the limit, or that cannot be
/// told.
std::optional<Error> over_limit(const Weighed& weighed, std::uint64_t limit);

/// The place of a package; NotFound with near names where there is none.
Result<std::size_t> place_in(const Weighed& weighed, const std::string& name);

}  // namespace gpkg::cli
