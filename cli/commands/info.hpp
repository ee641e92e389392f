#pragma once

// What `gpkg info` and `gpkg info --report` share.

#include "cli/context.hpp"

#include <functional>

namespace gpkg::cli {

/// `info --report`: the version, what `print_info` prints, and the last commands.
void print_report(Context& context, const std::function<void()>& print_info);

}  // namespace gpkg::cli
