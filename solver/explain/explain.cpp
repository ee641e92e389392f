#include "solver/explain/explain.hpp"

#include "solver/explain/clash.hpp"
#include "solver/explain/parts.hpp"
#include "solver/explain/tree.hpp"

namespace gpkg::solver {
namespace {

/// Of specs without a package, those that are told.
constexpr std::size_t kMostClashes = 8;

}  // namespace

Explanation explain(const Universe& universe,
                    const std::vector<std::uint32_t>& ranks,
                    const Decide& decide) {
    const Edges edges(universe);
    const Parts parts(universe, edges, ranks);
    std::vector<EdgeSet> clashes;
    std::vector<std::string> unmatched;  // names, one for each of these clashes
    // What nobody has is told all at once: each is a clash of its own, and mostly a slip.
    for (EdgeId i = 0; i < universe.requested().size(); ++i) {
        const auto& spec = universe.specs()[universe.requested()[i]];
        if (!spec.matches.empty() || universe.name_of(spec).is_virtual) continue;
        clashes.emplace_back(edges.size());
        clashes.back().add(i);
        unmatched.push_back(universe.name_of(spec).text);
    }
    if (clashes.empty()) clashes.push_back(short_clash(edges, parts));
    Explanation explanation;
    for (const auto& clash : clashes) {
        if (explanation.clashes.size() == kMostClashes) break;
        explanation.clashes.push_back(tell_clash(universe, edges, parts, clash));
    }
    for (auto i = kMostClashes; i < unmatched.size(); ++i) explanation.more.push_back(unmatched[i]);
    if (universe.problem().wants_fixes)
        explanation.fixes = find_fixes(universe, edges, clashes, decide);
    return explanation;
}

}  // namespace gpkg::solver
