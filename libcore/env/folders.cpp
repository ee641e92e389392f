#include "libcore/base/prefix_path.hpp"
#include "libcore/env/folders_internal.hpp"

#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {

Folders::Folders(const Disk* disk) : disk_(disk) {
    std::error_code ignored;
    if (disk_ != nullptr) real_prefix_ = fs::canonical(disk_->prefix(), ignored);
}

Result<FolderState> Folders::state(const std::string& path) {
    if (disk_ == nullptr) return FolderState::Missing;
    if (const auto found = known_.find(path); found != known_.end()) return found->second;
    auto state = FolderState::There;
    auto above = FolderState::There;
    if (!path.empty()) {
        GPKG_TRY(above, this->state(parent_of(path)));
    }
    if (above == FolderState::Missing || above == FolderState::NotAFolder) {
        state = FolderState::Missing;
    } else if (above == FolderState::LinkedOutside) {
        state = FolderState::LinkedOutside;
    } else {
        GPKG_TRY(state, look(path));
    }
    known_.emplace(path, state);
    return state;
}

Result<FolderState> Folders::look(const std::string& path) {
    const auto* name = path.empty() ? "." : path.c_str();
    struct stat status {};
    if (const int code = disk_->look(name, status); code != 0) {
        if (is_absent(code)) return FolderState::Missing;
        return pass(disk_->error(path, "access", code));
    }
    if (S_ISLNK(status.st_mode)) {
        std::error_code code;
        const auto real = fs::canonical(disk_->prefix() / path, code);
        const bool is_folder = !code && fs::is_directory(real, code);
        const bool leads_nowhere = is_absent(code.value()) || code.value() == ELOOP;
        if (code && !leads_nowhere) return pass(disk_->error(path, "follow", code.value()));
        if (!is_folder) return FolderState::LinkedOutside;
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
