#include "libcore/channel/relations.hpp"

#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

/// A server could declare ever new channels; nobody uses so many.
constexpr std::size_t kMostChannels = 100;

constexpr std::string_view kIgnoreHint =
    "report it to the channel's maintainers; gpkg config set channel_relations_max_depth 0 ignores "
    "channel relations";

enum class Why { Base, Overrides, User };

/// Channels are named by their place in the list of those found.
struct Edge {
    std::size_t higher = 0;
    std::size_t lower = 0;
    Why why = Why::User;

    friend bool operator==(const Edge&, const Edge&) = default;
};

/// The relation graph while it is discovered, step by step away from the user's channels.
class Graph {
public:
    Graph(std::span<const Channel> wanted, const RelationOptions& options) : options_(options) {
        for (const auto& channel : wanted) {
            if (!place_of(channel)) nodes_.push_back(channel);
        }
        wanted_ = nodes_.size();
        for (std::size_t i = 1; i < wanted_; ++i) edges_.push_back({i - 1, i, Why::User});
    }

    Result<void> discover(const LoadDeclarations& load);
    Result<void> refuse_circles() const;
    RelatedChannels ordered() &&;

private:
    Result<void> add(std::size_t declaring, const Declarations& declared);
    Result<void> refuse_both(std::size_t declaring, const ChannelRelations& relations) const;
    Result<void> add_one(std::size_t declaring, const std::string& reference, Why why);
    std::string story(const Edge& edge) const;
    void place(std::size_t node, std::vector<std::size_t>& order) const;

    std::optional<std::size_t> place_of(const Channel& channel) const {
        const auto found = std::find(nodes_.begin(), nodes_.end(), channel);
        if (found == nodes_.end()) return std::nullopt;
        return static_cast<std::size_t>(found - nodes_.begin());
    }
    const std::string& name(std::size_t node) const { return nodes_[node].name(); }

    const RelationOptions& options_;
    std::vector<Channel> nodes_;
    std::size_t wanted_ = 0;  ///< so many of the first nodes are the user's
    std::vector<Edge> edges_;
    std::vector<std::string> added_;
    std::vector<std::string> ignored_;
};

Result<void> Graph::discover(const LoadDeclarations& load) {
    std::size_t known = 0;  // whose declarations have been read
    for (std::size_t depth = 0; known < nodes_.size(); ++depth) {
        if (depth > options_.most_depth)
            return fail(
                ErrorKind::Unsupported,
                fmt::format(
                    "{}: {} levels of channel relations exceed channel_relations_max_depth ({})",
                    name(known),
                    depth,
                    options_.most_depth),
                "name all channels with -c and set channel_relations_max_depth to 0, or increase "
                "it");
        const auto step =
            std::vector(nodes_.begin() + static_cast<std::ptrdiff_t>(known), nodes_.end());
        GPKG_TRY(const auto declared, load(step));
        for (std::size_t i = 0; i < step.size() && i < declared.size(); ++i)
            GPKG_CHECK(add(known + i, declared[i]));
        known += step.size();
    }
    return {};
}

Result<void> Graph::add(std::size_t declaring, const Declarations& declared) {
    for (const auto& relations : declared) {
        GPKG_CHECK(refuse_both(declaring, relations));
        if (!relations.base.empty()) GPKG_CHECK(add_one(declaring, relations.base, Why::Base));
        if (!relations.overrides.empty())
            GPKG_CHECK(add_one(declaring, relations.overrides, Why::Overrides));
    }
    return {};
}

/// Said of one channel the two contradict each other, whatever the user's order makes of them.
Result<void> Graph::refuse_both(std::size_t declaring, const ChannelRelations& relations) const {
    if (relations.base.empty() || relations.overrides.empty()) return {};
    GPKG_TRY(const auto base, resolve_reference(nodes_[declaring], relations.base, options_));
    GPKG_TRY(const auto below, resolve_reference(nodes_[declaring], relations.overrides, options_));
    if (base != below) return {};
    return fail(
        ErrorKind::Integrity,
        fmt::format(
            "{}: declares {} both as its base and as overridden", name(declaring), base.name()),
        std::string(kIgnoreHint));
}

Result<void> Graph::add_one(std::size_t declaring, const std::string& reference, Why why) {
    GPKG_TRY(auto channel, resolve_reference(nodes_[declaring], reference, options_));
    auto other = place_of(channel);
    const bool is_new = !other;
    if (is_new) {
        if (nodes_.size() >= kMostChannels)
            return fail(
                ErrorKind::Unsupported,
                fmt::format(
                    "{}: channel relations add more than {} channels", name(0), kMostChannels),
                "name all channels with -c and set channel_relations_max_depth to 0");
        other = nodes_.size();
        nodes_.push_back(std::move(channel));
    }
    const auto edge =
        why == Why::Base ? Edge{*other, declaring, why} : Edge{declaring, *other, why};
    if (std::find(edges_.begin(), edges_.end(), edge) != edges_.end()) return {};
    if (is_new) added_.push_back(fmt::format("also using {}: {}", name(*other), story(edge)));
    // The user's channels are the first nodes, in the user's order.
    if (edge.higher < wanted_ && edge.lower < wanted_ && edge.lower < edge.higher) {
        const auto told = story(edge) + "; using your order";
        if (std::find(ignored_.begin(), ignored_.end(), told) == ignored_.end())
            ignored_.push_back(told);
        return {};
    }
    edges_.push_back(edge);
    return {};
}

std::string Graph::story(const Edge& edge) const {
    switch (edge.why) {
    case Why::Base:
        return fmt::format("{} declares {} as its base", name(edge.lower), name(edge.higher));
    case Why::Overrides:
        return fmt::format("{} declares that it overrides {}", name(edge.higher), name(edge.lower));
    case Why::User: break;
    }
    return fmt::format("your order has {} before {}", name(edge.higher), name(edge.lower));
}

/// Takes away what nothing is ranked above, until nothing is left, or only what is in a circle or
/// below one; walking up from there leads round the circle.
Result<void> Graph::refuse_circles() const {
    std::vector<bool> gone(nodes_.size());
    const auto edge_above = [&](std::size_t node) {
        return std::find_if(edges_.begin(), edges_.end(), [&](const Edge& edge) {
            return edge.lower == node && !gone[edge.higher];
        });
    };
    std::optional<std::size_t> stuck;
    for (bool progress = true; progress;) {
        progress = false;
        stuck.reset();
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            if (gone[node]) continue;
            const bool free = edge_above(node) == edges_.end();
            gone[node] = free;
            progress = progress || free;
            if (!free) stuck = node;
        }
    }
    if (!stuck) return {};
    std::vector<std::size_t> walk{*stuck};
    std::vector<std::string> stories;
    for (;;) {
        const auto& edge = *edge_above(walk.back());
        stories.push_back(story(edge));
        const auto met = std::find(walk.begin(), walk.end(), edge.higher);
        if (met != walk.end()) {
            stories.erase(stories.begin(), stories.begin() + (met - walk.begin()));
            break;
        }
        walk.push_back(edge.higher);
    }
    return fail(
        ErrorKind::Conflict,
        fmt::format("conflicting channel order: {}", join_some(stories, "and", kMostChannels)),
        "name all of them with -c in the order you want, or report it to their maintainers");
}

/// Appends what must rank above `node`, `node`, then what it alone still held up: so channels that
/// are related stand side by side.
void Graph::place(std::size_t node, std::vector<std::size_t>& order) const {
    const auto is_placed = [&](std::size_t other) {
        return std::find(order.begin(), order.end(), other) != order.end();
    };
    for (const auto& edge : edges_) {
        if (edge.lower == node && !is_placed(edge.higher)) place(edge.higher, order);
    }
    if (is_placed(node)) return;
    order.push_back(node);
    for (const auto& edge : edges_) {
        const auto lower = edge.lower;
        if (edge.higher != node || lower < wanted_ || is_placed(lower)) continue;
        const bool held_up = std::any_of(edges_.begin(), edges_.end(), [&](const Edge& other) {
            return other.lower == lower && !is_placed(other.higher);
        });
        if (!held_up) place(lower, order);
    }
}

RelatedChannels Graph::ordered() && {
    std::vector<std::size_t> order;
    for (std::size_t node = 0; node < nodes_.size(); ++node) place(node, order);
    RelatedChannels related;
    for (const auto node : order) related.channels.push_back(nodes_[node]);
    related.added = std::move(added_);
    related.ignored = std::move(ignored_);
    return related;
}

/// How many of the first parts of both paths are the same: a token ("/t/<token>") stands after.
std::size_t common_parts(const std::vector<std::string_view>& a,
                         const std::vector<std::string_view>& b) {
    const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<std::size_t>(end - a.begin());
}

std::vector<std::string_view> parts_of(std::string_view path) {
    auto parts = split(path, '/');
    parts.erase(parts.begin());  // before the first '/'
    return parts;
}

/// `path` with `ups` parts taken off and `down` put on; the reason alone when it is too short.
Result<std::string> walk(std::string_view path, std::size_t ups, std::string_view down) {
    auto parts = parts_of(path);
    if (ups > parts.size()) return fail(ErrorKind::Integrity, "leads outside of the server");
    parts.resize(parts.size() - ups);
    std::string walked;
    for (const auto part : parts) walked += fmt::format("/{}", part);
    if (!down.empty()) walked += fmt::format("/{}", down);
    return walked;
}

bool has_odd_bytes(std::string_view reference) {
    // An encoded '.', '/' or '\' would be one for the server, or for the file system.
    const auto lower = to_lower(reference);
    for (const auto* encoded : {"%2e", "%2f", "%5c"}) {
        if (lower.find(encoded) != std::string::npos) return true;
    }
    return std::any_of(reference.begin(), reference.end(), [](char c) {
        return c <= ' ' || c >= '\x7f' || c == '\\' || c == '?' || c == '#';
    });
}

}  // namespace

Result<Channel> resolve_reference(const Channel& declaring,
                                  std::string_view reference,
                                  const RelationOptions& options) {
    const auto bad = [&](std::string_view why) {
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: invalid channel relation '{}': it {}",
                                declaring.base_url(),
                                printable(reference),
                                why),
                    std::string(kIgnoreHint));
    };
    if (!reference.starts_with("../")) return bad("is not a relative path that starts with '../'");
    if (has_odd_bytes(reference)) return bad("has invalid characters");
    auto down = reference;
    while (down.ends_with('/')) down.remove_suffix(1);
    std::size_t ups = 0;
    for (; down == ".." || down.starts_with("../"); ++ups)
        down.remove_prefix(std::min<std::size_t>(3, down.size()));

    GPKG_TRY(auto url, Url::parse(declaring.with_credentials(declaring.base_url())));
    GPKG_TRY(const auto shown, Url::parse(declaring.base_url()));
    auto path = walk(shown.path, ups, down);
    if (!path) return bad(path.error().message);
    if (url.path != shown.path) {
        // A token in the path counts for nothing in references, and goes where they stay below it.
        const auto secret = parts_of(url.path);
        const auto before = common_parts(secret, parts_of(shown.path));
        const auto kept = parts_of(shown.path).size() - ups;
        if (kept >= before) path = walk(url.path, ups, down);
    }
    url.path = *path;
    auto channel = Channel::parse(url.to_string(), options.context);
    if (!channel) return bad(fmt::format("is not a channel: {}", channel.error().message));
    if (channel->is_local() && !options.local_root.empty()) {
        const auto inside = channel->folder().lexically_relative(options.local_root);
        if (inside.empty() || *inside.begin() == "..")
            return bad(fmt::format("is outside of {}", options.local_root.native()));
    }
    return channel;
}

Result<RelatedChannels> relate_channels(std::span<const Channel> wanted,
                                        const LoadDeclarations& load,
                                        const RelationOptions& options) {
    if (options.most_depth == 0) return RelatedChannels{{wanted.begin(), wanted.end()}, {}, {}};
    Graph graph(wanted, options);
    GPKG_CHECK(graph.discover(load));
    GPKG_CHECK(graph.refuse_circles());
    return std::move(graph).ordered();
}

}  // namespace gpkg
