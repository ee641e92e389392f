#pragma once

// A child process that cannot hold this one up: drivers hang, crash and talk, and so do detectors
// that strangers wrote.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

/// Set for every child: a program that takes itself for no probe does not start one in turn.
inline constexpr std::string_view kProbingVariable = "GPKG_PROBING";

struct Child {
    std::vector<std::string> arguments;    ///< the program's path first
    std::vector<std::string> environment;  ///< all of it, but for kProbingVariable: "LANG=C"
    std::chrono::milliseconds limit{5000};
};

/// How a child process ended, or did not.
struct ChildOutcome {
    std::string output;         ///< its standard output, at most 64 KiB of it
    std::string complaint;      ///< its standard error, likewise
    std::string start_failure;  ///< why it could not be started; empty when it was
    bool timed_out = false;
    bool truncated = false;  ///< it said more than that
    bool flooded = false;    ///< and so much more that it was ended
    std::optional<int> exit_status;
    std::optional<int> signal;
};

/// Runs a program in a session of its own and nothing to read. What is left of its process group
/// when it ends, or when its time is up, is killed. A process that does not die when killed (stuck
/// in the kernel) is abandoned: this never blocks on it.
ChildOutcome run_bounded(Child child);

/// "0.3 s"
std::string seconds_text(std::chrono::milliseconds time);

}  // namespace gpkg::virtual_packages
