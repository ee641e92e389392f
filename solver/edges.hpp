#pragma once

// The restrictions of a problem, in pieces that a message can name one by one. Each belongs to
// exactly one edge: a requested spec, a constraint, a fact about the machine, or all specs of the
// candidates of one name on another name. A clash is a set of edges.

#include "solver/universe.hpp"

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

namespace gpkg::solver {

using EdgeId = std::uint32_t;

struct Edge {
    enum class Kind {
        Request,     ///< request.specs[index] is wanted
        Constraint,  ///< request.constraints[index] restricts what it fits
        Machine,     ///< of the virtual package `to` there is what the machine has
        Asks,        ///< what candidates of `from` depend on or constrain of `to`
    };
    Kind kind = Kind::Asks;
    std::uint32_t index = 0;
    NameId from = kNone;
    NameId to = kNone;
    int level = 0;  ///< steps from the request
};

/// A requested spec that nobody asked for.
bool is_implied(const Universe& universe, const Edge& edge);

/// Some of the edges.
using EdgeSet = std::set<EdgeId>;

class Edges {
public:
    /// Every edge that the request can reach, requests first, then by level and names.
    explicit Edges(const Universe& universe);

    std::size_t size() const { return edges_.size(); }
    const Edge& operator[](EdgeId id) const { return edges_[id]; }
    int deepest() const { return deepest_; }
    /// All of them up to a level.
    EdgeSet up_to(int level) const;
    EdgeId machine(NameId name) const { return machine_[name]; }
    /// kNone if no candidate of `from` has a spec on `to`.
    EdgeId asks(NameId from, NameId to) const;

private:
    std::set<NameId> add_asks(const Universe& universe, NameId from, int level);

    std::vector<Edge> edges_;
    std::vector<EdgeId> machine_;  ///< by name; kNone if no candidate has a spec on it
    std::unordered_map<std::uint64_t, EdgeId> asks_;
    int deepest_ = 0;
};

}  // namespace gpkg::solver
