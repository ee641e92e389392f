#include "libcore/package/run_exports_json.hpp"

#include <nlohmann/json.hpp>

namespace gpkg {

nlohmann::json run_exports_json(const RunExports& exports) {
    auto json = nlohmann::json::object();
    const auto add = [&](const char* key, const std::vector<std::string>& specs) {
        if (!specs.empty()) json[key] = specs;
    };
    add("weak", exports.weak);
    add("strong", exports.strong);
    add("noarch", exports.noarch);
    add("weak_constrains", exports.weak_constrains);
    add("strong_constrains", exports.strong_constrains);
    return json;
}

}  // namespace gpkg
