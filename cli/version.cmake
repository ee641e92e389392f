# Writes OUTPUT, the commit that SOURCE is at; only where it changed, so that nothing is compiled for nothing.
execute_process(COMMAND git -C ${SOURCE} log -1 --format=%h\ %cs --abbrev=9
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# A copy of the sources inside another repository is not at that one's commit.
if(NOT status EQUAL 0 OR NOT top STREQUAL SOURCE)
    set(commit "")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "cli/version.hpp"

namespace gpkg::cli {
std::string_view commit() { return "@commit@"; }
}  // namespace gpkg::cli
]] @ONLY)
