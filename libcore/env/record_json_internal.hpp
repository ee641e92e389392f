#pragma once

// The record of a package as conda-meta and generations hold it: the keys of repodata.

#include "libcore/spec/package_record.hpp"

#include <nlohmann/json_fwd.hpp>
#include <simdjson.h>
#include <string_view>

namespace gpkg::env_json {

/// False: the key is none of a package's record.
bool read_package_key(PackageRecord& package, std::string_view key, simdjson::dom::element value);

/// Tools disagree on `channel`: a URL with or without the subdir, or a bare name beside the URL of
/// the artifact.
void settle_channel(PackageRecord& package);

void write_package(nlohmann::ordered_json& out, const PackageRecord& package);

}  // namespace gpkg::env_json
