#pragma once

#include <cstddef>
#include <set>
#include <vector>

namespace gpkg {

/// Takes the items at these places out. From the back, so that every place means what it meant.
template <typename T>
void erase_places(std::vector<T>& list, const std::set<std::size_t>& places) {
    for (auto place = places.rbegin(); place != places.rend(); ++place)
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(*place));
}

}  // namespace gpkg
