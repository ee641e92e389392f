#pragma once

// Text of the two languages.

#include "libcore/module/modulefile.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// What modules and the entry are made of, beside what is said of one environment.
extern const std::string_view kLuaFunctions;
extern const std::string_view kTclFunctions;
extern const std::string_view kLuaImage;
extern const std::string_view kTclImage;
extern const std::string_view kLuaEntry;
extern const std::string_view kTclEntry;

/// The line that origin_of_modulefile() reads, without what makes it a comment.
std::string origin_line(const ModuleOrigin& origin);

/// What stands in its place in the entry.
std::string_view entry_line();

/// What `module help` shows.
std::string help_text(const EnvironmentModule& module);

std::string lua_modulefile(const EnvironmentModule& module);
std::string tcl_modulefile(const EnvironmentModule& module);

/// `text` as one word in quotes, in which nothing is seen as anything but itself.
std::string lua_quoted(std::string_view text);
std::string tcl_quoted(std::string_view text);

}  // namespace gpkg
