#pragma once

// A folder as one command sees it: all that is in it, and one folder more, of which the file system
// that others see knows nothing. New files that are made in it itself, not below what is in it, are
// of the view as well.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

namespace gpkg {

struct PrivateView {
    fs::path top;    ///< the folder: the lowest on the way that nobody else could put elsewhere
    fs::path place;  ///< what it is to have, though it cannot be made, or is another user's
    /// The first on the way that this user may write to; empty: none, or root's / alone.
    fs::path open{};
    bool is_readonly = false;  ///< this user may write to none of them
};

/// Asked before the namespace, in which other users cannot be told from each other.
PrivateView private_view_for(const fs::path& place);

/// For this process, which is in a namespace of its own and may mount there.
Result<void> enter_view(const PrivateView& view);

}  // namespace gpkg
