#pragma once

// Programs that a transaction starts: link scripts and the environment's python.

#include "libcore/fs/file.hpp"

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gpkg {

struct ChildProcess {
    std::vector<std::string> command;                ///< the program's path first
    std::map<std::string, std::string> variables{};  ///< over those of this process
    std::vector<std::string> without_variables{};
    fs::path folder{};  ///< to work in
    fs::path input{};   ///< stdin; empty: nothing to read
    fs::path output;    ///< stdout and stderr
};

Result<pid_t> start(const ChildProcess& child);

/// Its exit status, 128 + N after signal N.
int wait_for(pid_t pid);

/// Runs it to its end.
Result<int> run(const ChildProcess& child);

}  // namespace gpkg
