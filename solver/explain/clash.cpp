#include "solver/explain/clash.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace gpkg::solver {
namespace {

/// Attempts to find a clash that is shorter than a minimal one; each costs a solve or two.
constexpr int kMostSearches = 8;

class ClashSearch {
public:
    ClashSearch(const Edges& edges, const Parts& parts)
        : edges_(edges), parts_(parts), all_(edges.up_to(edges.deepest())) {}

    EdgeSet any() { return minimize(shallowest().second).edges; }

    FoundClash shortest() {
        auto [part, core] = shallowest();
        if (blame_fewer(core)) {
            std::tie(part, core) = shallowest();
        } else {
            std::erase_if(part, [&](EdgeId id) { return !all_.contains(id); });
        }
        auto best = minimize(std::move(core));
        if (lines_of(best.edges) <= kShort || lines_of(best.edges) >= kLong) return best;
        // Another clash of the same part may be shorter: it is without one of these edges.
        int attempts = 0;
        for (const auto id : std::vector<EdgeId>(best.edges.rbegin(), best.edges.rend())) {
            if (edges_[id].kind != Edge::Kind::Asks || !best.edges.contains(id)) continue;
            if (++attempts > kMostSearches) break;
            auto other = part;
            other.erase(id);
            auto found = believed(other);
            if (!found) continue;
            auto fewer = minimize(*std::move(found));
            if (lines_of(fewer.edges) >= lines_of(best.edges)) continue;
            best = std::move(fewer);
            part = std::move(other);
        }
        return best;
    }

private:
    /// A clash of so few lines is not worth an attempt.
    static constexpr std::size_t kShort = 4;
    /// Nor is a clash of so many: others are hardly shorter.
    static constexpr std::size_t kLong = 16;

    /// The edges up to the first level that has no solution, and those that this rests on.
    std::pair<EdgeSet, EdgeSet> shallowest() {
        int step = 1;
        for (int level = 0; level < edges_.deepest(); level += step) {
            auto part = edges_.up_to(level);
            std::erase_if(part, [&](EdgeId id) { return !all_.contains(id); });
            if (auto core = believed(part)) return {std::move(part), *std::move(core)};
            if (level >= 4) step *= 2;
        }
        auto core = believed(all_);
        if (core) return {all_, *std::move(core)};
        // A limit was reached: the clash is all that the user said.
        is_known_ = false;
        return {all_, edges_.up_to(0)};
    }

    /// What the user said and is not needed for a clash goes, however far down that clash is:
    /// nobody is to give up a wish for one that is impossible alone. Whether `core` has some of it.
    bool blame_fewer(const EdgeSet& core) {
        std::vector<EdgeId> said;
        for (const auto id : core) {
            if (is_said(id)) said.push_back(id);
        }
        for (EdgeId id = 0; id < edges_.size(); ++id) {
            if (is_said(id) && !core.contains(id)) all_.erase(id);
        }
        if (said.size() < 2) return false;
        bool is_less = false;
        for (const auto id : said) {
            auto without = all_;
            without.erase(id);
            if (!parts_.has_no_solution(without)) continue;
            all_ = std::move(without);
            is_less = true;
        }
        return is_less;
    }

    bool is_said(EdgeId id) const {
        const auto kind = edges_[id].kind;
        return kind == Edge::Kind::Request || kind == Edge::Kind::Constraint;
    }

    /// Fewer edges that `set` has no solution for; nothing where it has one, or none is known.
    /// libsolv's reason saves time, and counts once it is known to have no solution itself.
    std::optional<EdgeSet> believed(const EdgeSet& set) {
        auto core = parts_.core(set);
        if (!core) return std::nullopt;
        for (auto best = set;;) {
            auto smaller = parts_.core(*core);
            if (!smaller) return best;
            if (smaller->size() >= core->size()) return core;
            best = *std::exchange(core, std::move(smaller));
        }
    }

    /// A minimal part of `core`, which has no solution.
    FoundClash minimize(EdgeSet core) {
        if (!is_known_) return {std::move(core), false};
        const auto given_up = parts_.given_up();
        // The edges that are far from the request go first.
        std::vector<EdgeId> members(core.begin(), core.end());
        std::stable_sort(
            members.begin(), members.end(), [&](auto a, auto b) { return rank(a) > rank(b); });
        for (const auto id : members) {
            if (!core.contains(id)) continue;
            auto without = core;
            without.erase(id);
            if (auto rest = believed(without)) core = *std::move(rest);
        }
        return {std::move(core), parts_.given_up() == given_up};
    }

    /// What the user said is what he can change.
    int rank(EdgeId id) const {
        const auto& edge = edges_[id];
        return edge.kind == Edge::Kind::Asks      ? edge.level
               : edge.kind == Edge::Kind::Machine ? 1
                                                  : 0;
    }

    /// One for each edge and one for each name at which they end.
    std::size_t lines_of(const EdgeSet& clash) const {
        std::set<NameId> ends;
        for (const auto id : clash) ends.insert(edges_[id].to);
        for (const auto id : clash) ends.erase(edges_[id].from);
        return clash.size() + ends.size();
    }

    const Edges& edges_;
    const Parts& parts_;
    EdgeSet all_;           ///< the edges among which a clash is looked for
    bool is_known_ = true;  ///< whether `all_` is known to have no solution
};

}  // namespace

EdgeSet minimal_clash(const Edges& edges, const Parts& parts) {
    return ClashSearch(edges, parts).any();
}

FoundClash short_clash(const Edges& edges, const Parts& parts) {
    return ClashSearch(edges, parts).shortest();
}

}  // namespace gpkg::solver
