#include "libcore/channel/mirrored_channels.hpp"

namespace gpkg {

Result<std::vector<MirroredPlace>> mirrored_places(std::span<const MirroredChannel> channels,
                                                   const ChannelContext& context) {
    std::vector<MirroredPlace> places;
    places.reserve(channels.size());
    for (const auto& [name, mirrors] : channels) {
        GPKG_TRY(const auto channel, Channel::parse(name, context));
        MirroredPlace place{channel.base_url(), {}};
        place.mirrors.reserve(mirrors.size());
        for (const auto& text : mirrors) {
            GPKG_TRY(const auto mirror, Channel::parse(text, context));
            place.mirrors.push_back(mirror.with_credentials(mirror.base_url()));
        }
        places.push_back(std::move(place));
    }
    return places;
}

}  // namespace gpkg
