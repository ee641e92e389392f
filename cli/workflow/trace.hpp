#pragma once

// What -v and -vv print on stderr: the phases of a command with their times, and the requests to
// servers.

#include "cli/context.hpp"
#include "libcore/net/transport.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::cli {

/// With -v: prints "solve: 0.123 s" when it ends, or "link: 0.123 s (3 packages)".
class Phase {
public:
    Phase(Output& out, std::string name);
    ~Phase();
    /// What was done; an empty text is left out.
    void add(std::string detail);
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

private:
    Output& out_;
    std::string name_;
    std::vector<std::string> details_;
    std::chrono::steady_clock::time_point started_;
};

/// Whether the URL is that of a file, which is read and not downloaded.
bool is_local_file(std::string_view url);

/// With -vv a transport that prints each request: "GET https://host/x: 200, 1.2 MB in 0.340 s",
/// "read file:///x: 1.2 MB in 0.003 s". Else the same transport.
std::shared_ptr<Transport> traced(Output& out, std::shared_ptr<Transport> transport);

}  // namespace gpkg::cli
