#include "cli/command.hpp"

namespace gpkg::cli {

std::span<const Command> commands() {
    static constexpr Command kCommands[] = {
        {"create", "make a new environment with the packages asked for", bind_create},
        {"install", "add packages to an environment", bind_install},
        {"update", "bring packages of an environment to their newest fitting builds", bind_update},
        {"remove", "take packages, or a whole environment, away", bind_remove},
        {"build", "build packages from recipes into a channel", bind_build},
        {"index", "write the index of a channel's folder", bind_index},
    };
    return kCommands;
}

}  // namespace gpkg::cli
