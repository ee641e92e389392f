#include "libcore/solve/solve.hpp"

#include <algorithm>

namespace gpkg {

bool Request::may_move(std::string_view name) const {
    return update_all || std::ranges::find(update, name) != update.end();
}

}  // namespace gpkg
