#pragma once

// Package archives made member by member, also such as no honest tool would write.

#include "libcore/fs/file.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpkg::tests {

struct TarMember {
    enum class Kind { File, Folder, SoftLink, HardLink, Pipe, Device };

    std::string path;
    std::string content;  ///< of a file; where a link leads
    Kind kind = Kind::File;
    unsigned mode = 0644;
    std::int64_t mtime = 1600000000;
};

/// A pax tar of exactly these members.
std::string make_tar(const std::vector<TarMember>& members);
std::string make_tar_bz2(const std::vector<TarMember>& members);

/// A zip of (name, content), stored or deflated.
std::string make_zip(const std::vector<std::pair<std::string, std::string>>& members,
                     bool deflated = false);

/// The members every package has: index.json of "p-1-0" and a paths.json of `files`, which are
/// (path, content).
std::vector<TarMember> info_members(
    const std::vector<std::pair<std::string, std::string>>& files = {});

/// A .conda with the right three members.
std::string make_conda(const std::vector<TarMember>& payload, const std::vector<TarMember>& info);

}  // namespace gpkg::tests
