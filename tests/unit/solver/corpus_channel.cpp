#include "tests/unit/solver/corpus_channel.hpp"

#include "libcore/index/repodata.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>
#include <map>

namespace gpkg::tests {

std::vector<std::shared_ptr<const ChannelIndex>> corpus_channel(const std::filesystem::path& root,
                                                                const std::string& name) {
    static std::map<std::string, std::vector<std::shared_ptr<const ChannelIndex>>> known;
    auto& indexes = known[name];
    if (!indexes.empty()) return indexes;
    for (const std::string subdir : {"linux-64", "noarch"}) {
        const auto path = root / name / subdir / "repodata.json.zst";
        if (!std::filesystem::exists(path)) continue;
        const auto base = fmt::format("https://conda.anaconda.org/{}", name);
        auto index = read_repodata_file(path, {base, subdir, fmt::format("{}/{}", base, subdir)});
        REQUIRE(index);
        indexes.push_back(std::make_shared<const ChannelIndex>(*std::move(index)));
    }
    return indexes;
}

}  // namespace gpkg::tests
