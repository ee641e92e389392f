#include "libcore/indexing/record_patch.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/indexing/patch_instructions.hpp"
#include "libcore/package/info.hpp"

#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Of a record nothing but what instructions may say.
Result<OrderedJson> patchable(PackageRecord record) {
    record.fn.clear();
    record.url.clear();
    record.channel.clear();
    record.md5.clear();
    record.sha256.clear();
    record.size = 0;
    record.indexed_timestamp = 0;
    // What the .tar.bz2 of a .conda was is of no use where that is not.
    record.legacy_bz2_md5.reset();
    record.legacy_bz2_size.reset();
    GPKG_TRY(const auto text, repodata_record_json(record, ""));
    auto fields = OrderedJson::parse(text);
    for (const auto* fixed :
         {"build", "build_number", "channel", "fn", "name", "subdir", "url", "version"})
        fields.erase(fixed);
    return fields;
}

/// What has to be said for `own` to become `wanted`.
OrderedJson differences(const OrderedJson& own, const OrderedJson& wanted) {
    auto changes = OrderedJson::object();
    for (const auto& [key, value] : wanted.items()) {
        if (!own.contains(key) || own[key] != value) changes[key] = value;
    }
    for (const auto& [key, value] : own.items()) {
        if (!wanted.contains(key)) changes[key] = nullptr;
    }
    return changes;
}

}  // namespace

Result<std::string> patch_towards(
    const std::vector<PackageRecord>& records,
    const std::function<Result<std::string>(const PackageRecord& record)>& index_json) {
    auto archives = OrderedJson::object();
    auto condas = OrderedJson::object();
    for (const auto& record : records) {
        GPKG_TRY(const auto text, index_json(record));
        GPKG_TRY(const auto inside, parse_index_json(text, record.fn));
        GPKG_TRY(const auto own, patchable(inside));
        GPKG_TRY(const auto wanted, patchable(record));
        auto changes = differences(own, wanted);
        if (!changes.empty())
            (record.fn.ends_with(".conda") ? condas : archives)[record.fn] = std::move(changes);
    }
    if (archives.empty() && condas.empty()) return std::string();
    const OrderedJson document{{"patch_instructions_version", 1},
                               {"packages", std::move(archives)},
                               {"packages.conda", std::move(condas)}};
    return json_text(document, 1) + "\n";
}

}  // namespace gpkg
