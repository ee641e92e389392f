#pragma once

// Package files that are asked for by their places: they are linked as they are, without solving.

#include "cli/context.hpp"
#include "libcore/base/error.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/manifest/spec_file.hpp"
#include "libcore/spec/package_record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// "./zlib-1.3-0.conda", "https://host/zlib-1.3-0.tar.bz2", or the name of a package file in the
/// current folder: not a spec.
bool is_package_place(std::string_view text);
Result<ExplicitPackage> package_at(const Context& context, const std::string& place);

struct PackageFiles {
    std::vector<PackageRecord> records;
    std::vector<Channel> channels;  ///< of those whose URLs had a login, with it

    /// Fails where the place tells that it is for another platform; `what` names the package then.
    Result<void> take(const Context& context,
                      const ExplicitPackage& package,
                      const std::string& what,
                      const std::string& platform);

    bool empty() const { return records.empty(); }
};

}  // namespace gpkg::cli
