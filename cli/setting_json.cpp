#include "cli/setting_json.hpp"

#include "libcore/net/url.hpp"

#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

Json list_of(const std::vector<std::string>& values) {
    auto list = Json::array();
    for (const auto& value : values) list.push_back(hide_secrets(value));
    return list;
}

}  // namespace

Json setting_json(const ShownSetting& setting) {
    using Shape = ConfigKey::Shape;
    if (setting.shape == Shape::List) return list_of(setting.values);
    if (setting.shape == Shape::Value)
        return setting.values.empty() ? Json() : Json(hide_secrets(setting.values.front()));
    auto map = Json::object();
    for (const auto& [name, values] : setting.entries)
        map[name] = values.size() == 1 ? Json(hide_secrets(values.front())) : list_of(values);
    return map;
}

}  // namespace gpkg::cli
