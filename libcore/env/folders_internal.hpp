#pragma once

// The folders of a prefix as they are before a transaction, each asked for once: whether they are
// there, and whether a soft link on the way would lead a file out of the prefix.

#include "libcore/env/disk_internal.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace gpkg {

enum class FolderState {
    Missing,
    There,
    LinkedInside,   ///< a soft link, to a folder of this prefix
    LinkedOutside,  ///< a soft link, to elsewhere or nowhere
    NotAFolder,
    Unwritable,  ///< there, but files in it cannot change
};

class Folders {
public:
    /// Null: nothing is there at all.
    explicit Folders(const Disk* disk);
    /// `path` is relative; "" is the prefix.
    Result<FolderState> state(const std::string& path);
    /// Where a LinkedInside leads, relative to the prefix.
    const std::string& linked_to(const std::string& path) const { return links_.at(path); }

private:
    Result<FolderState> look(const std::string& path);

    const Disk* disk_;
    fs::path real_prefix_;
    std::unordered_map<std::string, FolderState> known_;
    std::unordered_map<std::string, std::string> links_;
};

}  // namespace gpkg
