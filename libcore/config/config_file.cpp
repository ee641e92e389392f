#include "libcore/base/text.hpp"
#include "libcore/config/config_file_internal.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using yaml::Node;

constexpr int kMostThreads = 64;
constexpr int kMostDepth = 100;

/// Where a key's value goes. `base` is the folder of the file.
using Apply = Result<void> (*)(const Node& node, const fs::path& base, Config& config);

/// "./x" and "../x" start where the file is; "~" is home; a channel's name or URL stays.
std::string from_folder(const std::string& text, const fs::path& base, const Config& config) {
    const bool relative =
        text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
    if (relative) return absolute_path((base / text).native(), config.home).native();
    return text;
}

Result<void> apply_channels(const Node& node, const fs::path& base, Config& config) {
    GPKG_TRY(auto channels, node.as_texts("channels"));
    for (auto& channel : channels) {
        if (trim(channel).empty()) return node.fail("a channel is empty");
        channel = from_folder(channel, base, config);
    }
    config.channels = {std::move(channels), node.place()};
    return {};
}

Result<void> apply_priority(const Node& node, const fs::path& /*base*/, Config& config) {
    GPKG_TRY(const auto text, node.as_text("strict, flexible or disabled"));
    ChannelPriority priority{};
    if (text == "strict") priority = ChannelPriority::Strict;
    // conda also takes the words of its older, two-valued setting.
    else if (text == "flexible" || text == "true")
        priority = ChannelPriority::Flexible;
    else if (text == "disabled" || text == "false")
        priority = ChannelPriority::Disabled;
    else
        return node.fail(fmt::format("expected strict, flexible or disabled, found '{}'", text));
    config.channel_priority = {priority, node.place()};
    return {};
}

Result<void> apply_alias(const Node& node, const fs::path& /*base*/, Config& config) {
    GPKG_TRY(auto text, node.as_text("a URL"));
    if (text.find("://") == std::string::npos)
        return node.fail(fmt::format("expected a URL, found '{}'", text));
    config.channel_alias = {std::move(text), node.place()};
    return {};
}

Result<void> apply_platform(const Node& node, const fs::path& /*base*/, Config& config) {
    GPKG_TRY(auto text, node.as_text("a platform"));
    if (!is_platform_name(text))
        return node.fail(fmt::format("expected a platform such as linux-64, found '{}'", text));
    config.platform = {std::move(text), node.place()};
    return {};
}

Result<Setting<int>> number(const Node& node, std::string_view key, int least, int most) {
    GPKG_TRY(const auto count, node.as_int(key));
    if (count < least || count > most)
        return node.fail(
            fmt::format("expected a number from {} to {}, found {}", least, most, count));
    return Setting<int>{static_cast<int>(count), node.place()};
}

Result<void> apply_threads(const Node& node, const fs::path& /*base*/, Config& config) {
    GPKG_TRY(config.download_threads, number(node, "download_threads", 1, kMostThreads));
    return {};
}

Result<void> apply_depth(const Node& node, const fs::path& /*base*/, Config& config) {
    GPKG_TRY(config.channel_relations_max_depth,
             number(node, "channel_relations_max_depth", 0, kMostDepth));
    return {};
}

Result<void> apply_cache_dir(const Node& node, const fs::path& base, Config& config) {
    GPKG_TRY(const auto text, node.as_text("a folder"));
    if (text.empty()) return node.fail("expected a folder, found nothing");
    const bool absolute = text.front() == '/' || text.front() == '~';
    config.cache_dir = {absolute_path(absolute ? text : (base / text).native(), config.home),
                        node.place()};
    return {};
}

struct Row {
    ConfigKey key;
    Apply apply;
};

// clang-format off
constexpr std::array<Row, 7> kRows = {{
    {{"channels", true, "channels, the first wins"}, apply_channels},
    {{"channel_priority", false, "strict, flexible or disabled"}, apply_priority},
    {{"channel_alias", false, "the URL below which a bare channel name is looked up"}, apply_alias},
    {{"channel_relations_max_depth", false, "how far relations of channels are followed, 0 to ignore them"}, apply_depth},
    {{"platform", false, "the platform to solve for, when not this machine's"}, apply_platform},
    {{"download_threads", false, "how many files are downloaded at a time"}, apply_threads},
    {{"cache_dir", false, "folder of the package store and the index cache"}, apply_cache_dir},
}};
// clang-format on

std::vector<std::string> key_names() {
    std::vector<std::string> names;
    for (const auto& key : config_keys()) names.emplace_back(key.name);
    return names;
}

}  // namespace

std::span<const ConfigKey> config_keys() {
    static const auto keys = [] {
        std::array<ConfigKey, kRows.size()> all{};
        std::transform(
            kRows.begin(), kRows.end(), all.begin(), [](const Row& row) { return row.key; });
        return all;
    }();
    return keys;
}

Result<ConfigKey> find_config_key(std::string_view name) {
    for (const auto& key : config_keys()) {
        if (key.name == name) return key;
    }
    const auto names = key_names();
    const auto near = near_names(name, names);
    return fail(ErrorKind::Usage,
                fmt::format("{}: there is no such key in the configuration", name),
                near.empty() ? "the keys are " + join_or(names) : "did you mean " + join_or(near));
}

bool is_platform_name(std::string_view name) { return name != "noarch" && is_subdir(name); }

Result<void> apply_config_file(std::string_view text, const fs::path& file, Config& config) {
    GPKG_TRY(const auto root, Node::parse(text, file.native()));
    if (root.is_null()) return {};
    if (!root.is_map())
        return root.fail(fmt::format("expected keys and values, found {}", root.kind_name()),
                         "a line reads like this: channel_priority: strict");
    if (root.find("platform") != nullptr && root.find("subdir") != nullptr)
        return root.find("subdir")->fail("platform and subdir are two words for one thing");

    for (const auto& [key, value] : root.entries()) {
        // conda's word for it.
        const std::string_view name = key == "subdir" ? "platform" : std::string_view(key);
        const auto row = std::find_if(
            kRows.begin(), kRows.end(), [&](const Row& one) { return one.key.name == name; });
        if (row != kRows.end()) {
            GPKG_CHECK(row->apply(value, file.parent_path(), config));
            continue;
        }
        const auto near = near_names(key, key_names());
        config.warnings.push_back(
            fmt::format("{}: unknown key '{}'{}",
                        value.place(),
                        key,
                        near.empty() ? "" : "; did you mean " + join_or(near)));
    }
    return {};
}

}  // namespace gpkg
