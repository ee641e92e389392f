#pragma once

// What every command is handed: the settings, the way to the user, the outside world.

#include "cli/output.hpp"
#include "libcore/base/env_lookup.hpp"
#include "libcore/config/config.hpp"
#include "libcore/fs/file.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {
class Transport;
namespace virtual_packages {
struct HardwareProfile;
}
}  // namespace gpkg

namespace gpkg::cli {

struct WishFile;

struct Context {
    Output& out;
    const Config& config;
    EnvLookup env;
    fs::path home;
    std::stop_token stop;                ///< requested by Ctrl-C and SIGTERM
    std::string command_line;            ///< for the history of environments
    std::vector<std::string> arguments;  ///< as CommandLine::words: the program first
    /// Indices in it of words that are neither options nor values of options.
    std::vector<std::size_t> positionals;
    mutable fs::path prefix{};  ///< the environment that the command works on, once it is known
    int failure_status = 1;     ///< exit status of errors; 2 where 1 is the answer "no" of a check
    mutable std::shared_ptr<Transport> transport{};  ///< see open_transport()
    /// By what --for says: a profile is read once, for it may come through a pipe.
    mutable std::map<std::string, std::shared_ptr<const virtual_packages::HardwareProfile>>
        profiles{};
    /// By what -f says, for the same reason, and because it may come from a server.
    mutable std::map<std::string, std::shared_ptr<const WishFile>> wish_files{};
    /// Requested with `stop`, and once nobody reads stdout any more: for what changes nothing.
    std::stop_token stop_or_unread{};
};

/// By which signal the user asked to stop: SIGINT, SIGTERM or SIGHUP; 0 as long as nobody did.
int stop_signal();

/// Fails with Interrupted once the user asked to stop.
Result<void> check_stop(const Context& context);

}  // namespace gpkg::cli
