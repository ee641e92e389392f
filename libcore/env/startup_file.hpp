#pragma once

// The block that `gpkg init` keeps in a shell's startup file, between two marking lines. Everything
// else of the file stays byte for byte, and taking the block away gives the file that was there.

#include "libcore/fs/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

struct StartupChange {
    fs::path file;                        ///< as the shell finds it
    fs::path target;                      ///< behind links: what is written
    std::optional<std::string> before{};  ///< nothing: no such file
    std::optional<std::string> after{};   ///< nothing: none any more
    std::string block{};                  ///< what comes, or goes
    bool renews = false;                  ///< an older block was there
    /// Tools whose own block is there, "conda". It stays.
    std::vector<std::string> others{};

    bool is_nothing() const { return before == after; }
};

/// Puts a block of these lines at the end of the file, or in the place of the one that is there.
/// Conflict where the marking lines are damaged.
Result<StartupChange> with_startup_block(const fs::path& file, std::string_view lines);

/// Takes the block away; nothing where there is none.
Result<StartupChange> without_startup_block(const fs::path& file);

/// That the file may be written. One without any write permission is refused to its owner and to
/// root as well: somebody meant it.
Result<void> check_writable(const StartupChange& change);

/// Replaces the file at once; mode and owner stay. A link goes on to point to it.
Result<void> carry_out(const StartupChange& change);

}  // namespace gpkg
