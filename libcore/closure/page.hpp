#pragma once

// A closure as a page for a browser: a treemap in which each package contains what it alone holds,
// and a table of the same. One file that opens without a network; what is in it may run nothing and
// load nothing but its own script.

#include "libcore/closure/closure.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gpkg {

struct PageTexts {
    std::string title;    ///< what was weighed: "torch cuda-version=12"
    std::string measure;  ///< what sizes are: "to download"
    std::function<std::string(std::uint64_t)> size_text;  ///< "17 MB"
};

std::string closure_page(const Closure& closure, const PageTexts& texts);

/// Whether a file begins as such a page does: what may be written over.
bool is_closure_page(std::string_view text);

}  // namespace gpkg
