#pragma once

namespace gpkg {

/// How a name that several channels offer is treated (no CEP says; what conda, mamba and rattler do).
enum class ChannelPriority {
    Strict,    ///< the highest channel that has the name hides it in all lower ones
    Flexible,  ///< a higher channel is preferred over a newer version
    Disabled,  ///< only versions count
};

}  // namespace gpkg
