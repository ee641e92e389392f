#pragma once

// What -f names: files here, and on servers.

#include "cli/context.hpp"
#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <memory>
#include <string>

namespace gpkg::cli {

struct WishFile {
    fs::path path;     ///< what a server has, as if it lay in this folder
    std::string name;  ///< in messages
    std::string text;
    std::string url{};  ///< where it was fetched from; empty for a file here
};

/// Reads what -f names, a path or a URL; each once, however many machines it is asked about for.
Result<std::shared_ptr<const WishFile>> read_wish_file(const Context& context,
                                                       const std::string& place,
                                                       bool offline);

}  // namespace gpkg::cli
