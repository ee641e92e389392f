#include "libcore/solve/record_graph.hpp"

#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <deque>

namespace gpkg {

RecordGraph::RecordGraph(std::vector<PackageRecord> records) : records_(std::move(records)) {
    std::sort(records_.begin(), records_.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    needs_.resize(records_.size());
    needed_by_.resize(records_.size());
    for (std::size_t from = 0; from < records_.size(); ++from) {
        for (const auto& text : records_[from].depends) {
            const auto spec = MatchSpec::parse(text);
            const auto to = spec ? find(spec->name) : std::nullopt;
            if (!to) continue;
            const Need need{from, *to, text};
            needs_[from].push_back(need);
            needed_by_[*to].push_back(need);
        }
    }
}

std::optional<std::size_t> RecordGraph::find(std::string_view name) const {
    const auto found = std::lower_bound(
        records_.begin(), records_.end(), name, [](const auto& record, std::string_view wanted) {
            return record.name < wanted;
        });
    if (found == records_.end() || found->name != name) return std::nullopt;
    return static_cast<std::size_t>(found - records_.begin());
}

std::vector<RecordGraph::Way> RecordGraph::ways(std::span<const std::size_t> roots,
                                                std::size_t target) const {
    // From the target back, so that one walk serves all roots: each record's next step towards it.
    std::vector<const Need*> next(records_.size());
    std::vector<bool> seen(records_.size());
    std::deque<std::size_t> queue{target};
    seen[target] = true;
    while (!queue.empty()) {
        const auto place = queue.front();
        queue.pop_front();
        for (const auto& need : needed_by_[place]) {
            if (seen[need.from]) continue;
            seen[need.from] = true;
            next[need.from] = &need;
            queue.push_back(need.from);
        }
    }
    std::vector<Way> found;
    for (const auto root : roots) {
        if (!seen[root]) continue;
        Way way{root, {}};
        for (auto place = root; place != target; place = next[place]->to)
            way.steps.push_back(*next[place]);
        found.push_back(std::move(way));
    }
    return found;
}

}  // namespace gpkg
