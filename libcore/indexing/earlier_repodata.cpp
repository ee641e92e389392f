#include "libcore/indexing/earlier_repodata.hpp"

#include "libcore/spec/names.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

void add(EarlierRepodata& earlier, const std::string& file_name, const Json& record) {
    if (!record.is_object()) return;
    const auto at = record.find("indexed_timestamp");
    const auto sum = record.find("sha256");
    if (at == record.end() || !at->is_number_integer()) return;
    earlier.appeared[file_name] = {
        sum != record.end() && sum->is_string() ? sum->get<std::string>() : "",
        at->get<std::int64_t>()};
}

}  // namespace

std::int64_t EarlierRepodata::appearance(const std::string& file_name,
                                         const std::string& sha256,
                                         std::int64_t now_ms) const {
    const auto found = appeared.find(file_name);
    if (found == appeared.end()) return now_ms;
    const auto& one = found->second;
    return one.sha256.empty() || one.sha256 == sha256 ? one.at_ms : now_ms;
}

EarlierRepodata read_earlier_repodata(const fs::path& file) {
    EarlierRepodata earlier;
    const auto text = read_file(file);
    const auto json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object()) return earlier;
    for (const auto* key : {"packages", "packages.conda"}) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_object()) continue;
        for (const auto& [name, record] : found->items()) add(earlier, name, record);
    }
    if (const auto v3 = json.find("v3"); v3 != json.end() && v3->is_object()) {
        for (const auto& [extension, records] : v3->items()) {
            if (!records.is_object()) continue;
            for (const auto& [stem, record] : records.items())
                add(earlier, fmt::format("{}.{}", stem, extension), record);
        }
    }
    const auto removed = json.find("removed");
    if (removed == json.end() || !removed->is_array()) return earlier;
    for (const auto& name : *removed) {
        // Others name no file of a channel.
        if (name.is_string() && FileName::parse(name.get<std::string>()))
            earlier.removed.insert(name.get<std::string>());
    }
    return earlier;
}

}  // namespace gpkg
