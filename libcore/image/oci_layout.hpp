#pragma once

// An environment as an OCI image layout (image-spec 1.0): a folder that registries, podman,
// apptainer and `COPY --from` of container files read. One layer holds the environment at its mount
// point, and nothing else: the system it runs on comes from the image it is put upon.

#include "libcore/image/image.hpp"

namespace gpkg {

/// Writes the layout into `folder`, which must not exist, whole or not at all; the same environment
/// gives the same bytes. Warnings tell what is not in it.
Result<std::vector<std::string>> write_oci_layout(const Transaction& environment,
                                                  const fs::path& folder,
                                                  const ImageOptions& options);

}  // namespace gpkg
