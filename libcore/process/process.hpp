#pragma once

// Running programs to their end: build scripts, patchelf, link scripts, compileall. A program gets
// exactly the environment it is given and a process group of its own that is gone when it is.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace gpkg {

struct ProcessCommand {
    std::vector<std::string> arguments;  ///< the program first, looked up in PATH
    /// The whole environment. Empty: the caller's PATH and nothing else.
    std::map<std::string, std::string> environment;
    fs::path folder;  ///< to run in; empty: the caller's
    fs::path input;   ///< its standard input; empty: nothing to read
    /// Writes its standard input in place of `input`, into the end of a pipe, and is called in a
    /// thread of its own. Writing fails with EPIPE once the program reads no more.
    std::function<void(int end)> feed{};
    /// Where both outputs go, appended; empty: nowhere.
    fs::path log;
    /// Takes both outputs as they come, in place of the log; called in the caller's thread.
    std::function<void(std::string_view)> output{};
    /// Takes the standard error likewise, apart from the standard output.
    std::function<void(std::string_view)> errors{};
    std::optional<mode_t> umask;      ///< nothing: the caller's
    std::function<bool()> cancelled;  ///< asked now and then; true kills the group
    /// What is cancelled is sent SIGTERM first, and has so long to end by itself.
    std::chrono::milliseconds grace{0};
    /// All that it starts ends with it, and with this process, also where that is killed.
    bool ends_with_caller = false;
};

/// The variables of this process.
std::map<std::string, std::string> current_environment();

/// The program of that name in the caller's PATH; empty when there is none.
fs::path find_program(const std::string& name);

/// The exit code; 128 + n for a program that signal n ended. Fails when there is no such program,
/// and with Interrupted when it was cancelled.
Result<int> run_command(const ProcessCommand& command);

struct ProcessOutput {
    int exit_code = 0;
    std::string output;  ///< both outputs
};

/// The same, with the output in memory. For programs that say little.
Result<ProcessOutput> run_and_capture(ProcessCommand command);

/// While it lives, programs that left their process group (daemons that a build script starts)
/// become children of this process when their parents end, and end with it. For the whole process,
/// and where nobody else has children.
class Orphanage {
public:
    Orphanage();
    ~Orphanage();
    Orphanage(const Orphanage&) = delete;
    Orphanage& operator=(const Orphanage&) = delete;
};

/// The last `count` lines, where programs say what went wrong.
std::string last_lines(std::string_view text, std::size_t count);
/// Of a log, for a person: what a terminal would take for commands is '?', and long lines are cut.
/// Empty for a log that cannot be read.
std::string last_lines_of(const fs::path& log, std::size_t count);

}  // namespace gpkg
