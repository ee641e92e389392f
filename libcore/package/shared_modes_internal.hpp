#pragma once

// Permissions of what is unpacked into a store that several users share.

#include <sys/stat.h>

namespace gpkg {

/// Whoever may use a folder may use what is put into it, whatever the umask of the one who does: of
/// a package that others cannot read or remove they have none, and no way to get one.
class SharedModes {
public:
    /// `like`: the mode of that folder. 0: the umask decides.
    explicit SharedModes(mode_t like);

    /// For mkdir(), before settle_folder().
    mode_t folder() const { return 0755U | (like_ & 0777U); }
    /// 0 or errno.
    int settle_folder(int parent, const char* name) const;
    /// A file that was made with mode `usual`.
    int settle_file(int fd, mode_t usual) const;

private:
    mode_t like_;
    mode_t umask_;
};

}  // namespace gpkg
