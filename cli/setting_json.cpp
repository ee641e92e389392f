#include "cli/setting_json.hpp"

#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json setting_json(const ShownSetting& setting) {
    using Shape = ConfigKey::Shape;
    if (setting.shape == Shape::List) return Json(setting.values);
    if (setting.shape == Shape::Value)
        return setting.values.empty() ? Json() : Json(setting.values.front());
    auto map = Json::object();
    for (const auto& [name, values] : setting.entries)
        map[name] = values.size() == 1 ? Json(values.front()) : Json(values);
    return map;
}

}  // namespace gpkg::cli
