#include "solver/explain/explain.hpp"

#include "solver/explain/clash.hpp"
#include "solver/explain/parts.hpp"
#include "solver/explain/tree.hpp"

namespace gpkg::solver {
namespace {

/// The most specs without a package that are shown.
constexpr std::size_t kMostClashes = 8;

}  // namespace

Explanation explain(const Universe& universe, const Decide& decide) {
    const auto& limit = universe.problem().limits.explanation;
    const auto started = std::chrono::steady_clock::now();
    const Edges edges(universe);
    const Parts parts(universe, edges, started + limit / 2);
    std::vector<EdgeSet> clashes;
    std::vector<std::string> unmatched;  // names, one for each of these clashes
    // Unknown names are shown all at once: each is a separate clash, and mostly a typing mistake.
    for (EdgeId i = 0; i < universe.requested().size(); ++i) {
        const auto& spec = universe.specs()[universe.requested()[i]];
        if (!spec.matches.empty() || universe.name_of(spec).is_virtual) continue;
        clashes.push_back({i});
        unmatched.push_back(universe.name_of(spec).text);
    }
    bool is_minimal = true;
    if (clashes.empty()) {
        auto found = short_clash(edges, parts);
        is_minimal = found.is_minimal;
        clashes.push_back(std::move(found.edges));
    }
    Explanation explanation;
    for (const auto& clash : clashes) {
        if (explanation.clashes.size() == kMostClashes) break;
        explanation.clashes.push_back(tell_clash(universe, edges, parts, clash, is_minimal));
    }
    for (auto i = kMostClashes; i < unmatched.size(); ++i) explanation.more.push_back(unmatched[i]);
    if (universe.problem().wants_fixes) {
        const auto deadline = started + limit;
        explanation.fixes = find_fixes(universe, edges, clashes, decide, deadline);
        explanation.has_untried_fixes = std::chrono::steady_clock::now() >= deadline;
    }
    return explanation;
}

}  // namespace gpkg::solver
