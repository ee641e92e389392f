#include "libcore/closure/closure.hpp"

#include "libcore/closure/dominators.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

namespace gpkg {

Closure::Closure(RecordGraph graph,
                 const std::vector<std::optional<std::uint64_t>>& sizes,
                 const std::vector<std::size_t>& requested)
    : graph_(std::move(graph)), packages_(graph_.records().size()) {
    for (std::size_t place = 0; place < packages_.size(); ++place) {
        auto& package = packages_[place];
        package.size = sizes[place].value_or(0);
        package.size_is_known = sizes[place].has_value();
        unknown_ += package.size_is_known ? 0 : 1;
        total_ += package.size;
    }
    collect_edges();
    adopt_orphans(requested);
    weigh();
}

void Closure::collect_edges() {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> specs;
    for (std::size_t place = 0; place < packages_.size(); ++place) {
        for (const auto& need : graph_.needs(place))
            specs[{need.from, need.to}].push_back(need.spec);
    }
    edges_.reserve(specs.size());
    for (auto& [ends, texts] : specs)
        edges_.push_back({ends.first, ends.second, std::move(texts), 0});
}

void Closure::adopt_orphans(const std::vector<std::size_t>& requested) {
    std::vector<bool> reached(packages_.size());
    for (const auto place : requested) {
        packages_[place].is_requested = true;
        reached[place] = true;
    }
    reached = graph_.all_needed_by(std::move(reached));
    // Those first that nothing else among them leads to.
    auto order = graph_.dependencies_first();
    std::reverse(order.begin(), order.end());
    for (const auto place : order) {
        if (reached[place]) continue;
        packages_[place].is_orphan = true;
        reached[place] = true;
        reached = graph_.all_needed_by(std::move(reached));
    }
}

void Closure::weigh() {
    const auto count = packages_.size();
    const auto root = count;
    Edges edges(count + 1);
    std::vector<std::vector<std::size_t>> users(count);
    for (const auto& edge : edges_) {
        edges[edge.from].push_back(edge.to);
        users[edge.to].push_back(edge.from);
    }
    for (std::size_t place = 0; place < count; ++place) {
        if (packages_[place].is_requested || packages_[place].is_orphan)
            edges[root].push_back(place);
    }
    const auto tree = dominators(edges, root);
    for (auto place = tree.order.rbegin(); place != tree.order.rend(); ++place) {
        if (*place == root) continue;
        auto& package = packages_[*place];
        package.unique += package.size;
        const auto holder = tree.nearest[*place];
        if (holder == root) continue;
        package.held_by = holder;
        packages_[holder].unique += package.unique;
    }
    for (std::size_t place = 0; place < count; ++place) {
        std::vector<bool> start(count);
        start[place] = true;
        const auto all = graph_.all_needed_by(std::move(start));
        for (std::size_t other = 0; other < count; ++other) {
            if (all[other]) packages_[place].closure += packages_[other].size;
        }
    }
    // An edge is the only way in where all other users are there because of its end.
    for (auto& edge : edges_) {
        const auto& end = packages_[edge.to];
        const auto is_other_way = [&](std::size_t user) {
            return user != edge.from && !tree.dominates(edge.to, user);
        };
        if (end.is_requested || end.is_orphan || tree.dominates(edge.to, edge.from) ||
            std::any_of(users[edge.to].begin(), users[edge.to].end(), is_other_way))
            continue;
        edge.saves = end.unique;
    }
    std::sort(edges_.begin(), edges_.end(), [&](const ClosureEdge& a, const ClosureEdge& b) {
        return std::tuple(b.saves, record(a.from).name, record(a.to).name) <
               std::tuple(a.saves, record(b.from).name, record(b.to).name);
    });
}

const ClosureEdge* Closure::edge(std::size_t from, std::size_t to) const {
    const auto found = std::find_if(edges_.begin(), edges_.end(), [&](const ClosureEdge& edge) {
        return edge.from == from && edge.to == to;
    });
    return found == edges_.end() ? nullptr : &*found;
}

std::vector<std::size_t> Closure::heaviest() const {
    std::vector<std::size_t> places(packages_.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(packages_[b].size, record(a).name) <
               std::tie(packages_[a].size, record(b).name);
    });
    return places;
}

std::vector<std::size_t> Closure::holders(std::size_t place) const {
    std::vector<std::size_t> chain;
    for (auto holder = packages_[place].held_by; holder; holder = packages_[*holder].held_by)
        chain.push_back(*holder);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

std::vector<bool> Closure::without(const std::vector<bool>& gone) const {
    std::vector<bool> kept(packages_.size());
    std::vector<std::size_t> queue;
    const auto keep = [&](std::size_t place) {
        if (gone[place] || kept[place]) return;
        kept[place] = true;
        queue.push_back(place);
    };
    for (std::size_t place = 0; place < packages_.size(); ++place) {
        if (packages_[place].is_requested || packages_[place].is_orphan) keep(place);
    }
    while (!queue.empty()) {
        const auto place = queue.back();
        queue.pop_back();
        for (const auto& need : graph_.needs(place)) keep(need.to);
    }
    return kept;
}

std::vector<Closure::Way> Closure::ways(std::size_t target) const {
    // From what is requested, never through the target.
    constexpr auto kStart = kNoNode;
    std::vector<std::optional<std::size_t>> before(packages_.size());
    std::deque<std::size_t> queue;
    for (std::size_t place = 0; place < packages_.size(); ++place) {
        const auto& package = packages_[place];
        if (place == target || !(package.is_requested || package.is_orphan)) continue;
        before[place] = kStart;
        queue.push_back(place);
    }
    while (!queue.empty()) {
        const auto place = queue.front();
        queue.pop_front();
        for (const auto& need : graph_.needs(place)) {
            if (need.to == target || before[need.to]) continue;
            before[need.to] = place;
            queue.push_back(need.to);
        }
    }
    std::vector<Way> ways;
    const auto& own = packages_[target];
    if (own.is_requested || own.is_orphan) ways.push_back({target});
    std::optional<std::size_t> last;
    for (const auto& need : graph_.needed_by(target)) {
        if (!before[need.from] || last == need.from) continue;
        last = need.from;  // one may need it by several specs, and stands in a row then
        Way way{target};
        for (auto place = need.from; place != kStart; place = *before[place]) way.push_back(place);
        std::reverse(way.begin(), way.end());
        ways.push_back(std::move(way));
    }
    std::stable_sort(
        ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.size() < b.size(); });
    return ways;
}

}  // namespace gpkg
