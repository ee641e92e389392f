#pragma once

#include "libcore/index/channel_index.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gpkg::tests {

/// The records of a channel of the corpus for linux-64, read once.
std::vector<std::shared_ptr<const ChannelIndex>> corpus_channel(const std::filesystem::path& root,
                                                                const std::string& name);

}  // namespace gpkg::tests
