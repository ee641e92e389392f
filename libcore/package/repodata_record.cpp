// info/repodata_record.json as it is written beside unpacked packages.

#include "libcore/base/json_text.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/json_internal.hpp"

#include <nlohmann/json.hpp>

namespace gpkg {

Result<std::string> repodata_record_json(const PackageRecord& record, std::string_view index_json) {
    auto json = nlohmann::json::object();
    if (!index_json.empty()) {
        // simdjson first: it bounds the depth, which the writer below follows by recursion.
        simdjson::dom::parser parser;
        GPKG_CHECK(parse_json_object(parser, index_json, record.fn + ": info/index.json"));
        json = nlohmann::json::parse(index_json, nullptr, false);
        if (!json.is_object())
            return fail(ErrorKind::Parse, record.fn + ": info/index.json: not valid JSON");
    }
    const auto set = [&](const char* key, const auto& value) {
        if (!value.empty()) {
            json[key] = value;
        } else {
            json.erase(key);
        }
    };
    json["name"] = record.name;
    json["version"] = record.version;
    json["build"] = record.build;
    json["build_number"] = record.build_number;
    json["depends"] = record.depends;
    json["constrains"] = record.constrains;
    set("extra_depends", record.extra_depends);
    set("flags", record.flags);
    std::string features;
    for (const auto& feature : record.track_features)
        features += (features.empty() ? "" : " ") + feature;
    set("track_features", features);
    set("noarch", record.noarch);
    set("license", record.license);
    set("license_family", record.license_family);
    set("subdir", record.subdir);
    set("channel", record.channel);
    set("fn", record.fn);
    set("url", record.url);
    set("md5", record.md5);
    set("sha256", record.sha256);
    const auto set_number = [&](const char* key, auto value) {
        if (value != 0) {
            json[key] = value;
        } else {
            json.erase(key);
        }
    };
    set_number("size", record.size);
    set_number("timestamp", record.timestamp);
    set_number("indexed_timestamp", record.indexed_timestamp);
    if (record.python_site_packages_path)
        json["python_site_packages_path"] = *record.python_site_packages_path;
    if (record.legacy_bz2_md5) json["legacy_bz2_md5"] = *record.legacy_bz2_md5;
    if (record.legacy_bz2_size) json["legacy_bz2_size"] = *record.legacy_bz2_size;
    return json_text(json, 2) + "\n";
}

}  // namespace gpkg
