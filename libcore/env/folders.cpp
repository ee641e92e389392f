#include "libcore/base/prefix_path.hpp"
#include "libcore/env/folders_internal.hpp"

#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {

Folders::Folders(const Disk* disk) : disk_(disk) {
    std::error_code ignored;
    if (disk_ != nullptr) real_prefix_ = fs::canonical(disk_->prefix(), ignored);
}

FolderState Folders::state(const std::string& path) {
    if (disk_ == nullptr) return FolderState::Missing;
    if (const auto found = known_.find(path); found != known_.end()) return found->second;
    auto state = FolderState::There;
    const auto above = path.empty() ? FolderState::There : this->state(parent_of(path));
    if (above == FolderState::Missing || above == FolderState::NotAFolder) {
        state = FolderState::Missing;
    } else if (above == FolderState::LinkedOutside) {
        state = FolderState::LinkedOutside;
    } else {
        state = look(path);
    }
    known_.emplace(path, state);
    return state;
}

FolderState Folders::look(const std::string& path) {
    const auto* name = path.empty() ? "." : path.c_str();
    struct stat status {};
    if (disk_->look(name, status) != 0) return FolderState::Missing;
    if (S_ISLNK(status.st_mode)) {
        std::error_code code;
        const auto real = fs::canonical(disk_->prefix() / path, code);
        if (code || !fs::is_directory(real, code)) return FolderState::LinkedOutside;
        const auto& inside = real_prefix_.native();
        if (!real.native().starts_with(inside + "/") && real != real_prefix_)
            return FolderState::LinkedOutside;
        links_[path] = real == real_prefix_ ? "" : real.native().substr(inside.size() + 1);
        return FolderState::LinkedInside;
    }
    if (!S_ISDIR(status.st_mode)) return FolderState::NotAFolder;
    const bool writable = ::faccessat(disk_->root(), name, W_OK | X_OK, AT_EACCESS) == 0;
    return writable ? FolderState::There : FolderState::Unwritable;
}

}  // namespace gpkg
