#pragma once

// Package archives, written (CEP 35). The same input gives the same bytes: members sorted, owners
// dropped, one time for all, modes 0644 or 0755, one zstd setting whatever the number of threads.

#include "libcore/fs/file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpkg {

struct PackageContent {
    fs::path folder;                          ///< holds the payload
    std::vector<std::string> files;           ///< relative to it: files, soft links, empty folders
    std::map<std::string, std::string> info;  ///< "index.json" -> its bytes; must hold index.json
};

struct WriteOptions {
    std::int64_t timestamp = 0;  ///< of every member, Unix seconds
    int zstd_level = 19;
    int threads = 1;
    bool force_zip64 = false;  ///< as for more than 4 GiB
    std::function<bool()> cancelled{};
};

/// Writes <name>-<version>-<build>.conda (from index.json) into `output_folder` and returns its
/// path. The archive appears whole or not at all.
Result<fs::path> write_conda(const PackageContent& content,
                             const fs::path& output_folder,
                             const WriteOptions& options);

/// The same content as .tar.bz2, info/ first.
Result<fs::path> write_tar_bz2(const PackageContent& content,
                               const fs::path& output_folder,
                               const WriteOptions& options);

}  // namespace gpkg
