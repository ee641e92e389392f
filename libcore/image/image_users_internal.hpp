#pragma once

// Who uses what is mounted at a place, as far as this user is concerned.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace gpkg {

class ImageUsers {
public:
    static Result<ImageUsers> at(const fs::path& mount_point);

    /// Where this is noted, on this machine and for this user alone; it need not be there.
    const fs::path& folder() const { return folder_; }
    /// 0 stands for whoever had it mounted by hand.
    Result<void> add(pid_t shell) const;
    void remove(pid_t shell) const;
    /// All but `shell`, this process, and what is between them: "process 4711 (bash)". For root
    /// those of all users, who have what root mounts. What sees something else at that place, as a
    /// command of image run does, is none.
    std::vector<std::string> living(pid_t shell) const;

private:
    std::vector<fs::path> folders_of_others() const;

    ImageUsers(fs::path mount_point, fs::path folder)
        : mount_point_(std::move(mount_point)), folder_(std::move(folder)) {}
    fs::path mount_point_;
    fs::path folder_;
};

}  // namespace gpkg
