#include "cli/workflow/ask/closure_json.hpp"

namespace gpkg::cli {

using Json = nlohmann::ordered_json;

Json package_json(const Closure& closure, std::size_t position) {
    const auto& package = closure.packages()[position];
    const auto& record = closure.record(position);
    return {{"name", record.name},
            {"version", record.version},
            {"build", record.build},
            {"size", package.size_is_known ? Json(package.size) : Json()},
            {"unique", package.unique},
            {"closure", package.closure},
            {"shared", package.shared()},
            {"requested", package.is_requested},
            {"orphan", package.is_orphan}};
}

Json edge_json(const Closure& closure, const ClosureEdge& edge) {
    return {{"from", closure.record(edge.from).name},
            {"to", closure.record(edge.to).name},
            {"specs", edge.specs},
            {"saves", edge.saves}};
}

}  // namespace gpkg::cli
