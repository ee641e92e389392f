#include "libcore/solve/solve.hpp"

#include <algorithm>

namespace gpkg {

bool Request::may_move(std::string_view name) const {
    return update_all || std::ranges::find(update, name) != update.end();
}

const Solution::Idle* Solution::find_idle(std::string_view name) const {
    const auto found = std::ranges::find(idle, name, &Idle::name);
    return found == idle.end() ? nullptr : &*found;
}

}  // namespace gpkg
