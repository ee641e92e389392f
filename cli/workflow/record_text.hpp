#pragma once

// A package record as text for messages, and as JSON in conda's shape.

#include "libcore/spec/package_record.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpkg::cli {

/// "numpy 2.1.0 py312h0_0".
std::string record_title(const PackageRecord& record);

/// " (CUDA build)"; empty where a record does not tell what it is for.
std::string accelerator_remark(const PackageRecord& record);

/// "1.0 -> 2.0"; one of them where they are the same.
std::string transition(const std::string& before, const std::string& after);

/// "conda-forge" of "https://host/conda-forge", the whole path of a file channel.
std::string short_channel(const std::string& url);

/// A record as conda lists it in changes.
nlohmann::ordered_json record_json(const PackageRecord& record);

}  // namespace gpkg::cli
