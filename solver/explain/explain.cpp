#include "solver/explain/explain.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/explain/asks.hpp"
#include "solver/explain/clash.hpp"
#include "solver/explain/offers.hpp"
#include "solver/explain/parts.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <set>

namespace gpkg::solver {
namespace {

/// The most specs without a package that are shown.
constexpr std::size_t kMostClashes = 8;

using Line = ExplanationLine;
using Set = std::vector<CandidateId>;

Set intersection(const Set& a, const Set& b) {
    Set both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

Set sum(const Set& a, const Set& b) {
    Set both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

/// A clash as a tree: the user's own specs first, below each what its candidates ask for, at the
/// ends what there is instead.
class Tree {
public:
    Tree(const Universe& universe,
         const Edges& edges,
         const Parts& parts,
         const EdgeSet& clash,
         bool is_minimal)
        : universe_(universe),
          edges_(edges),
          parts_(parts),
          clash_(clash),
          is_minimal_(is_minimal) {
        for (const auto id : clash) {
            const auto& edge = edges[id];
            switch (edge.kind) {
            case Edge::Kind::Request: places_[edge.to].in.push_back(id); break;
            case Edge::Kind::Asks:
                places_[edge.from].out.push_back(id);
                if (edge.from != edge.to) places_[edge.to].in.push_back(id);
                break;
            default: break;
            }
        }
        for (const auto id : clash) {
            if (edges[id].kind != Edge::Kind::Constraint) continue;
            for (auto& [name, place] : places_) {
                if (!constraints_on(id, name).empty()) place.in.push_back(id);
            }
        }
        for (auto& [name, place] : places_) place.waiting = place.in.size();
    }

    Explanation::Clash run() {
        for (const auto id : clash_) {
            const auto kind = edges_[id].kind;
            if (kind == Edge::Kind::Request || kind == Edge::Kind::Constraint) say_root(id);
        }
        // Cycles: somebody has to be first.
        for (auto next = stuck(); next != kNone; next = stuck()) {
            places_[next].waiting = 0;
            expand(next, *places_[next].last);
        }
        Explanation::Clash told;
        told.is_minimal = is_minimal_;
        for (const auto& root : roots_) flatten(root, 0, told.lines);
        return told;
    }

private:
    struct Node {
        Line line;
        std::list<Node> children;
    };

    /// What the clash says of one name.
    struct Place {
        std::vector<EdgeId> in;   ///< who restricts it or asks for it
        std::vector<EdgeId> out;  ///< what its candidates ask for
        Set possible;             ///< candidates that the lines above leave
        bool is_necessary = false;
        std::size_t waiting = 0;        ///< of `in`, those not told yet
        Node* last = nullptr;           ///< of `in`, the one told last
        std::map<EdgeId, Set> members;  ///< by out: the candidates that it is about
        bool is_expanded = false;
    };

    const Spec& spec_of(SpecId id) const { return universe_.specs()[id]; }

    std::vector<SpecId> constraints_on(EdgeId id, NameId name) const {
        std::vector<SpecId> found;
        const auto& constraints = universe_.constraints();
        for (std::size_t i = 0; i < constraints.size(); ++i) {
            if (universe_.constraint_index(i) == edges_[id].index &&
                spec_of(constraints[i]).name == name)
                found.push_back(constraints[i]);
        }
        return found;
    }

    int level(NameId name) const {
        const auto& in = places_.at(name).in;
        int lowest = edges_.deepest();
        for (const auto id : in) lowest = std::min(lowest, edges_[id].level);
        return lowest;
    }

    /// The specs on the name of an edge that restricts it.
    Asked asked_by(EdgeId id, NameId name) const {
        const auto& edge = edges_[id];
        Asked asked;
        if (edge.kind == Edge::Kind::Request) {
            asked.ways = {Way{universe_.requested()[edge.index]}};
        } else if (edge.kind == Edge::Kind::Constraint) {
            asked.ways = {constraints_on(id, name)};
        } else if (const auto& members = places_.at(edge.from).members; members.contains(id)) {
            asked = asked_of(universe_, members.at(id), name);
        }
        return asked;
    }

    /// The possible candidates of a name, once those of the names that ask for it are known.
    /// Several specs on a name that need not be installed leave what any of them allows.
    void find_possible(NameId name) {
        auto& place = places_[name];
        Set all;
        for (auto id = universe_.names()[name].begin; id < universe_.names()[name].end; ++id)
            all.push_back(id);
        Set some;
        bool is_optional = false;
        for (const auto id : place.in) {
            const auto& edge = edges_[id];
            const auto asked = asked_by(id, name);
            if (asked.ways.empty()) continue;
            Set allowed;
            for (const auto& way : asked.ways) allowed = sum(allowed, allowed_by(universe_, way));
            const bool may_be_absent =
                edge.kind == Edge::Kind::Asks &&
                (!places_[edge.from].is_necessary || asked.some_restrict || asked.has_conditions ||
                 asked.members < places_[edge.from].possible.size());
            if (may_be_absent) {
                some = sum(some, allowed);
                is_optional = true;
                continue;
            }
            all = intersection(all, allowed);
            if (edge.kind != Edge::Kind::Constraint) place.is_necessary = true;
        }
        if (is_optional && !place.is_necessary) all = intersection(all, some);
        place.possible = std::move(all);
        share_out(place);
    }

    /// The candidates that each outgoing edge is about: each candidate counts for the edge that
    /// excludes it, or for all its edges if only several together do.
    void share_out(Place& place) {
        std::map<std::vector<Way>, std::vector<EdgeId>> known;
        for (const auto id : place.possible) {
            std::vector<Way> ways;
            for (const auto edge : place.out)
                ways.push_back(way_of(universe_, id, edges_[edge].to));
            auto [entry, is_new] = known.try_emplace(std::move(ways));
            if (is_new) entry->second = failing(id, place.out);
            for (const auto edge : entry->second) place.members[edge].push_back(id);
        }
    }

    /// The first of `out` that rules the candidate out alone, else all that it speaks of.
    std::vector<EdgeId> failing(CandidateId id, const std::vector<EdgeId>& out) const {
        std::vector<EdgeId> spoken;
        for (const auto edge : out) {
            if (!way_of(universe_, id, edges_[edge].to).empty()) spoken.push_back(edge);
        }
        if (spoken.size() < 2) return spoken;
        for (const auto edge : spoken) {
            auto only = clash_;
            for (const auto other : out) {
                if (other != edge) only.erase(other);
            }
            if (parts_.core(only, id)) return {edge};
        }
        return spoken;
    }

    static Node& add(std::list<Node>& to, Line line) {
        return to.emplace_back(Node{std::move(line), {}});
    }

    void say_root(EdgeId id) {
        const auto& edge = edges_[id];
        Line line;
        line.index = edge.index;
        if (edge.kind == Edge::Kind::Constraint) {
            const auto& constraint = universe_.problem().request.constraints[edge.index];
            line.kind = Line::Kind::Pin;
            line.name = constraint.spec.name;
            line.specs = {written(constraint.spec)};
            line.reason = constraint.reason;
            auto& node = add(roots_, std::move(line));
            for (const auto& [name, place] : places_) {
                if (std::find(place.in.begin(), place.in.end(), id) != place.in.end())
                    arrive(name, node);
            }
            return;
        }
        const auto spec = universe_.requested()[edge.index];
        line.kind = Line::Kind::Request;
        const auto& requested = universe_.problem().request.specs[edge.index];
        line.name = requested.name;
        line.specs = {as_typed(requested)};
        if (is_implied(universe_, edge)) {
            line.specs = {written(without_checksums(spec_of(spec).match))};
            line.reason = universe_.problem().request.implied_reason;
        }
        if (spec_of(spec).matches.empty() && !universe_.name_of(spec_of(spec)).is_virtual) {
            line.askers = 1;
            tell_offer(universe_, edge.to, {spec}, line);
            add(roots_, std::move(line));
            places_[edge.to].is_expanded = true;
            return;
        }
        auto& node = add(roots_, std::move(line));
        arrive(edge.to, node);
    }

    void arrive(NameId name, Node& node) {
        auto& place = places_[name];
        place.last = &node;
        if (place.waiting > 0 && --place.waiting == 0) expand(name, node);
    }

    NameId stuck() const {
        NameId found = kNone;
        for (const auto& [name, place] : places_) {
            if (!place.is_expanded && place.last != nullptr &&
                (found == kNone || level(name) < level(found)))
                found = name;
        }
        return found;
    }

    void expand(NameId name, Node& at) {
        auto& place = places_[name];
        if (place.is_expanded) return;
        place.is_expanded = true;
        find_possible(name);
        if (place.out.empty()) {
            say_end(name, at);
            return;
        }
        for (const auto id : place.out) {
            // The request has said it.
            if (universe_.names()[name].is_request) {
                arrive(edges_[id].to, at);
                continue;
            }
            auto& node = add(at.children, asks_line(place, id));
            if (edges_[id].to != name) arrive(edges_[id].to, node);
        }
    }

    Line asks_line(const Place& place, EdgeId id) const {
        const auto& edge = edges_[id];
        const auto found = place.members.find(id);
        const auto& members = found == place.members.end() ? place.possible : found->second;
        const auto asked = asked_of(universe_, members, edge.to);
        Line line;
        line.kind = Line::Kind::Asks;
        line.name = universe_.names()[edge.from].text;
        line.target = universe_.names()[edge.to].text;
        line.specs = all_texts(universe_, asked.ways);
        line.asks = short_texts(universe_, edge.to, asked.ways);
        line.some_need = asked.some_need;
        line.some_restrict = asked.some_restrict;
        line.builds.count = asked.members;
        line.builds.of = place.possible.size();
        if (!members.empty()) {
            const auto [low, high] =
                std::minmax_element(members.begin(), members.end(), [&](auto a, auto b) {
                    return universe_.version_of(a) < universe_.version_of(b);
                });
            line.builds.lowest = universe_.version_of(*low).to_string();
            line.builds.highest = universe_.version_of(*high).to_string();
            if (members.size() == 1)
                line.builds.build = std::string(universe_.candidates()[*low].build());
        }
        tell_kind(edge.from, line.builds);
        return line;
    }

    /// Where builds of another kind are left out, those that are counted are not all.
    void tell_kind(NameId name, Line::Builds& builds) const {
        const auto& own = universe_.names()[name];
        if (own.lacks(LeftOut::Why::Accelerator))
            builds.accelerator = to_string(*universe_.preferred_accelerator(name));
        const auto former = universe_.former(name);
        if (!former) return;
        std::vector<std::string> variants;
        for (const auto why : {LeftOut::Why::OtherBlas, LeftOut::Why::OtherMpi}) {
            if (own.lacks(why)) variants.push_back(trait_of(why, former->record));
        }
        builds.variant = join_some(variants, "and");
        const bool keeps_accelerator =
            builds.accelerator.empty() && own.lacks(LeftOut::Why::OtherAccelerator);
        if (keeps_accelerator)
            builds.accelerator = trait_of(LeftOut::Why::OtherAccelerator, former->record);
        if (!keeps_accelerator && variants.empty()) return;
        builds.as_before = as_before(universe_.problem());
    }

    /// What there is of a name whose candidates ask for nothing that matters here.
    void say_end(NameId name, Node& at) {
        const auto& place = places_[name];
        Line line;
        line.kind = universe_.names()[name].is_virtual ? Line::Kind::Machine : Line::Kind::Offer;
        line.name = universe_.names()[name].text;
        line.askers = place.in.size();
        std::set<SpecId> asked;
        std::set<Way> ways;
        for (const auto id : place.in) {
            auto by_edge = asked_by(id, name).ways;
            for (const auto& way : by_edge) asked.insert(way.begin(), way.end());
            if (edges_[id].kind == Edge::Kind::Asks) ways.merge(by_edge);
        }
        line.specs = all_texts(universe_, ways);
        line.asks = ways.empty() ? std::vector<std::string>{} : short_texts(universe_, name, ways);
        const std::vector<SpecId> specs(asked.begin(), asked.end());
        const auto is_met = [&](CandidateId id) {
            return std::ranges::all_of(
                specs, [&](SpecId spec) { return universe_.specs()[spec].allows(id); });
        };
        if (line.kind == Line::Kind::Offer && std::ranges::any_of(place.possible, is_met)) {
            // Where a limit was reached first, nothing may be in the way here.
            if (is_minimal_) say_present(name, at);
            return;
        }
        if (line.askers < 2 || line.kind == Line::Kind::Machine) {
            tell_offer(universe_, name, specs, line);
        }
        add(at.children, std::move(line));
    }

    /// Nothing clashes here: that the package is there is what a condition rests on.
    void say_present(NameId name, Node& at) {
        Line line;
        line.kind = Line::Kind::Present;
        line.name = universe_.names()[name].text;
        std::set<Version> versions;
        for (const auto id : places_[name].possible) versions.insert(universe_.version_of(id));
        for (auto version = versions.rbegin(); version != versions.rend(); ++version)
            line.versions.push_back(version->to_string());
        add(at.children, std::move(line));
    }

    static void flatten(const Node& node, int depth, std::vector<Line>& lines) {
        lines.push_back(node.line);
        lines.back().depth = depth;
        for (const auto& child : node.children) flatten(child, depth + 1, lines);
    }

    const Universe& universe_;
    const Edges& edges_;
    const Parts& parts_;
    const EdgeSet& clash_;
    bool is_minimal_;
    std::map<NameId, Place> places_;
    std::list<Node> roots_;
};

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
        explanation.clashes.push_back(Tree(universe, edges, parts, clash, is_minimal).run());
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
