#pragma once

// Which process something was: its number means something within one boot and one process
// namespace only, and is given again.

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gpkg {

/// Where a process number means what it means to us: this boot, this process namespace. Two
/// containers of one machine differ. Empty when /proc does not tell.
std::string process_world();

/// The words of /proc/PID/stat behind the program's name: its state, its parent ...; none where
/// there is no such process.
std::vector<std::string> process_stat(pid_t process);

/// When a process began, in ticks since the machine did; 0 where there is none.
std::uint64_t process_start(pid_t process);

/// Whether a process of this world has ended, be it that nobody asked yet how: the first process of
/// many containers never does.
bool is_gone(pid_t process);

/// "process 4711 on node3": for others who wait.
std::string this_process();

}  // namespace gpkg
