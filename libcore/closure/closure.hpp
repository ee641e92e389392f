#pragma once

// What a set of packages weighs and why: which bytes a package brings alone, which it shares, and
// which would go if one dependency were cut. Sizes are handed in; here nobody asks what they are
// of.

#include "libcore/spec/record_graph.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpkg {

/// One package needs another, by one or more specs.
struct ClosureEdge {
    std::size_t from = 0;
    std::size_t to = 0;
    std::vector<std::string> specs;  ///< as `from` has them
    std::uint64_t saves = 0;         ///< bytes that nothing would lead to without this edge
};

struct ClosurePackage {
    std::uint64_t size = 0;  ///< its own; 0 also where it is not known
    bool size_is_known = true;
    std::uint64_t closure = 0;  ///< with all that it leads to
    std::uint64_t unique = 0;   ///< with all that nothing would lead to without it
    bool is_requested = false;
    bool is_orphan = false;  ///< there although nothing that is requested leads to it
    /// The nearest package that every way to it leads through; none where it is requested, or where
    /// requests that have nothing in common lead to it.
    std::optional<std::size_t> held_by;

    /// What it leads to and others do too.
    std::uint64_t shared() const { return closure - unique; }
};

class Closure {
public:
    /// `sizes` are those of the graph's records; `requested` are places of records. What they do
    /// not lead to is kept by nobody, and counts as if it were requested.
    Closure(RecordGraph graph,
            const std::vector<std::optional<std::uint64_t>>& sizes,
            const std::vector<std::size_t>& requested);

    const RecordGraph& graph() const { return graph_; }
    const PackageRecord& record(std::size_t place) const { return graph_.records()[place]; }
    /// By place.
    const std::vector<ClosurePackage>& packages() const { return packages_; }
    std::uint64_t total() const { return total_; }
    /// Of how many packages the size is not known.
    std::size_t unknown_sizes() const { return unknown_; }

    /// Those that save something first, the heaviest before others; then by names.
    const std::vector<ClosureEdge>& edges() const { return edges_; }
    const ClosureEdge* edge(std::size_t from, std::size_t to) const;

    /// Places, the heaviest by their own size first; then by name.
    std::vector<std::size_t> heaviest() const;
    /// What holds it, from what is requested down: every way to it leads through each of these.
    std::vector<std::size_t> holders(std::size_t place) const;

    /// What would still be there if those marked were not.
    std::vector<bool> without(const std::vector<bool>& gone) const;

    /// A way by which a package is there: places from what is requested to the package itself.
    using Way = std::vector<std::size_t>;
    /// For everything that needs it, and would be there without it too, a shortest way that ends
    /// so; where it is requested also the way of itself alone. The shortest first.
    std::vector<Way> ways(std::size_t place) const;

private:
    void collect_edges();
    void adopt_orphans(const std::vector<std::size_t>& requested);
    void weigh();

    RecordGraph graph_;
    std::vector<ClosurePackage> packages_;
    std::vector<ClosureEdge> edges_;
    std::uint64_t total_ = 0;
    std::size_t unknown_ = 0;
};

}  // namespace gpkg
