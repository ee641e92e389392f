#pragma once

#include "libcore/env/room.hpp"

namespace gpkg {

/// Adds what binds this user at `there`, or says why that is not known.
void add_quotas(Room& room, const fs::path& there, const AskProgram& ask);

}  // namespace gpkg
