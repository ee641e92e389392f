#include "solver/clash.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::solver {
namespace {

/// Attempts to find a shorter clash in place of a minimal one; each costs a solve or two.
constexpr int kMostAttempts = 8;

class Search {
public:
    Search(const Edges& edges, const Parts& parts) : edges_(edges), parts_(parts) {}

    EdgeSet run() {
        auto [part, core] = shallowest();
        auto best = minimize(std::move(core));
        int attempts = 0;
        // Another clash of the same part may be shorter: it is without one of these edges.
        for (bool again = true; again && lines_of(best) > kShort;) {
            again = false;
            auto members = best.list();
            std::reverse(members.begin(), members.end());
            for (const auto id : members) {
                if (edges_[id].kind != Edge::Kind::Asks) continue;
                if (++attempts > kMostAttempts) return best;
                auto other = part;
                other.remove(id);
                auto found = believed(other);
                if (!found) continue;
                auto fewer = minimize(*std::move(found));
                if (lines_of(fewer) >= lines_of(best)) continue;
                best = std::move(fewer);
                part = std::move(other);
                again = true;
                break;
            }
        }
        return best;
    }

private:
    /// A clash of so few lines is not worth an attempt.
    static constexpr std::size_t kShort = 4;

    /// The edges up to the first level that has no solution, and those that this rests on.
    std::pair<EdgeSet, EdgeSet> shallowest() const {
        int step = 1;
        for (int level = 0; level < edges_.deepest(); level += step) {
            auto part = edges_.up_to(level);
            if (auto core = believed(part)) return {std::move(part), *std::move(core)};
            if (level >= 4) step *= 2;
        }
        auto all = edges_.up_to(edges_.deepest());
        auto core = believed(all);
        return {all, core ? *std::move(core) : all};
    }

    /// Fewer edges that `set` has no solution for; nothing where it has one. What libsolv gives as
    /// the reason saves time, and is believed once it has no solution itself.
    std::optional<EdgeSet> believed(const EdgeSet& set) const {
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
    EdgeSet minimize(EdgeSet core) const {
        // What is far from the request goes first.
        auto members = core.list();
        std::stable_sort(
            members.begin(), members.end(), [&](auto a, auto b) { return rank(a) > rank(b); });
        for (const auto id : members) {
            if (!core.contains(id)) continue;
            auto without = core;
            without.remove(id);
            if (auto rest = believed(without)) core = *std::move(rest);
        }
        return core;
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
        std::set<NameId> from;
        std::set<NameId> to;
        std::size_t lines = 0;
        for (const auto id : clash.list()) {
            const auto& edge = edges_[id];
            if (edge.kind == Edge::Kind::Asks) from.insert(edge.from);
            if (edge.kind != Edge::Kind::Machine) ++lines;
            if (edge.to != kNone) to.insert(edge.to);
        }
        std::erase_if(to, [&](auto name) { return from.contains(name); });
        return lines + to.size();
    }

    const Edges& edges_;
    const Parts& parts_;
};

}  // namespace

EdgeSet minimal_clash(const Edges& edges, const Parts& parts) { return Search(edges, parts).run(); }

}  // namespace gpkg::solver
