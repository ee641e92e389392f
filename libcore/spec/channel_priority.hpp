#pragma once

namespace gpkg {

/// How a name that several channels offer is treated.
enum class ChannelPriority {
    Strict,    ///< the highest channel that has the name hides it in all lower ones
    Flexible,  ///< a higher channel is preferred over a newer version
    Disabled,  ///< only versions count
};

}  // namespace gpkg
