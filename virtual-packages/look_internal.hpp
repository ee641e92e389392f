#pragma once

// A look at the files of a machine, as a detector's file describes it. Reads a bounded part of
// regular files, below the host's root, and opens nothing else.

#include "virtual-packages/host.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::virtual_packages {

struct Look {
    enum class Kind {
        File,     ///< the text of a file
        Link,     ///< where a symbolic link leads to
        Path,     ///< the path itself: that something is there, or its name
        Library,  ///< where the loader would find it
    };
    Kind kind = Kind::Path;
    std::string where;    ///< an absolute path with *, ? and [] in its parts; a library's name
    std::string matches;  ///< a regular expression that the text has to have; empty: any text does
};

/// What is there, in the order of the names: "*" does not match a leading dot, and of very many
/// only the first count.
std::vector<fs::path> matching_paths(const fs::path& root, std::string_view pattern);

/// The texts that are there to see, each with the path it belongs to.
struct Sight {
    fs::path path;  ///< without the host's root
    std::string text;
};
std::vector<Sight> sights(const Host& host, const Look& look);

bool holds(const Host& host, const Look& look);
/// What the expression's group matched; the highest version of several.
std::optional<std::string> version_seen(const Host& host, const Look& look);

/// What is wrong with the expression: nothing, or a text. With `groups` of them.
std::optional<std::string> fault_of_expression(const std::string& expression, int groups);

}  // namespace gpkg::virtual_packages
