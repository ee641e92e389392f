#pragma once

// NVIDIA's manifests of redistributable archives: redistrib_X.Y.Z.json of CUDA, and the files of
// the same form of cuDNN, cuTENSOR and others.

#include "libcore/base/error.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct RedistArchive {
    std::string path;    ///< relative to the folder of the manifest
    std::string sha256;  ///< lowercase
    std::optional<std::uint64_t> size;
};

/// A component: a library or tool, an archive for each platform.
struct RedistComponent {
    std::string key;      ///< "cuda_cudart"
    std::string title;    ///< "CUDA Runtime (cudart)"
    std::string license;  ///< "CUDA Toolkit"; not machine readable
    std::string version;
    /// By platform as manifests name it ("linux-x86_64"), then by variant ("cuda12"); of a
    /// component without variants the variant is empty.
    std::map<std::string, std::map<std::string, RedistArchive>> archives;
};

struct RedistManifest {
    std::string where;                        ///< path or URL, for messages
    std::string product;                      ///< "cuda"
    std::string label;                        ///< "12.9.1"; empty where the manifest does not say
    std::vector<RedistComponent> components;  ///< in the order of the manifest

    const RedistComponent* find(std::string_view key) const;
    /// By its key, or as packages are called ("cuda-cudart"); NotFound with near names.
    Result<const RedistComponent*> component(std::string_view name) const;
    /// Where its archives are when nobody says otherwise: NVIDIA's server.
    std::string default_base() const;
};

/// What it says of platforms other than Linux is left out. Names and paths in it are fit for file
/// names, and paths stay below their folder. `where` begins errors.
Result<RedistManifest> parse_redist_manifest(std::string_view text, const std::string& where);

/// One archive of a component and what it is made for.
struct RedistChoice {
    RedistArchive archive;
    std::string platform;  ///< that was asked for: "linux-x86_64"
    std::string variant;   ///< "cuda12"; empty without variants
};

/// What manifests call `subdir` ("linux-64"). linux-aarch64 are servers (SBSA), unless `tegra`.
Result<std::string> redist_platform(std::string_view subdir, bool tegra);

/// Whether the component has an archive for a platform, or one for all of Linux.
bool has_platform(const RedistComponent& component, const std::string& platform);

/// The archive of the platform, else that for all of Linux. `variant` ("12", "cuda12") chooses
/// among several; empty is good where there is only one.
Result<RedistChoice> choose_archive(const RedistManifest& manifest,
                                    const RedistComponent& component,
                                    const std::string& platform,
                                    std::string_view variant);

/// The CUDA that an archive belongs to: "12.9", or "12" for any of that major; empty when neither
/// its variant nor the manifest says.
std::string cuda_version_of(const RedistManifest& manifest, const RedistChoice& choice);

}  // namespace gpkg
