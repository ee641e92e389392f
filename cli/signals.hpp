#pragma once

// Ctrl-C, SIGTERM and SIGHUP as a request to stop, see Context::stop.

#include <stop_token>

namespace gpkg::cli {

/// Blocks these signals in every thread that starts from now on; one thread of its own waits for
/// them, so that no code runs inside a handler. The first signal requests the stop. A second one
/// ends the program at once, unless it is the first again: timeout(1) signals a program and then
/// its whole group. Call it once, before other threads start.
std::stop_token catch_signals();

}  // namespace gpkg::cli
