#pragma once

// Ctrl-C, SIGTERM and SIGHUP as a request to stop, see Context::stop.

#include <stop_token>

namespace gpkg::cli {

struct StopTokens {
    std::stop_token stop;            ///< requested by the first signal
    std::stop_token stop_or_unread;  ///< and once the pipe that stdout is has no reader any more
};

/// Blocks these signals in every thread that starts from now on; one thread of its own waits for
/// them, so that no code runs inside a handler. The first signal requests the stop. A second one
/// ends the program at once, unless it is the first again: timeout(1) signals a program and then
/// its whole group. Call it once, before other threads start.
StopTokens catch_signals();

}  // namespace gpkg::cli
