#include "libcore/indexing/patch_instructions.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/run_exports_json.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

constexpr int kNewestVersion = 2;
constexpr std::string_view kNobodyHasIt = "package_has_been_revoked";

/// What clients check a download by, or what the file's name says too.
constexpr auto kFixed = std::to_array<std::string_view>({"build",
                                                         "build_number",
                                                         "fn",
                                                         "indexed_timestamp",
                                                         "md5",
                                                         "name",
                                                         "sha256",
                                                         "size",
                                                         "subdir",
                                                         "url",
                                                         "version"});

/// Of a .conda the .tar.bz2 that it may have been made of; empty for others.
std::string older_twin(const std::string& file) {
    if (package_extension(file) != "conda") return {};
    return file.substr(0, file.size() - std::string_view("conda").size()) + "tar.bz2";
}

bool holds(const std::set<std::string>& files, const std::string& file) {
    return files.contains(file) || files.contains(older_twin(file));
}

/// The instructions of one file, made so that they can be put over a record.
class FieldReader {
public:
    FieldReader(const std::string& what, const std::string& file) : what_(what), file_(file) {}

    Result<Json> read(const Json& given, int version) const {
        if (!given.is_object()) return wrong("is not an object");
        Json fields = Json::object();
        for (const auto& [key, value] : given.items()) {
            if (std::find(kFixed.begin(), kFixed.end(), key) != kFixed.end())
                return wrong(fmt::format("patches cannot change {}", printable(key)));
            if (key == "run_exports") {
                if (version < 2) continue;  // CEP 21
                GPKG_TRY(fields[key], run_exports(value));
                continue;
            }
            if (key == "depends" || key == "constrains") GPKG_CHECK(check_specs(key, value));
            fields[key] = value.is_null() && key == "depends" ? Json::array() : value;
        }
        return fields;
    }

private:
    tl::unexpected<Error> wrong(const std::string& how) const {
        return fail(ErrorKind::Parse, fmt::format("{}: {}: {}", what_, printable(file_), how));
    }

    Result<void> check_specs(const std::string& key, const Json& specs) const {
        if (specs.is_null()) return {};
        if (!specs.is_array()) return wrong(fmt::format("{} is not a list", key));
        for (const auto& item : specs) {
            if (!item.is_string()) return wrong(fmt::format("{} is not a list of strings", key));
            const auto spec = MatchSpec::parse(item.get<std::string>());
            if (!spec) return wrong(fmt::format("{}: {}", key, spec.error().message));
        }
        return {};
    }

    Result<Json> run_exports(const Json& value) const {
        if (value.is_null()) return Json::object();
        const auto exports = parse_run_exports(json_text(value), "run_exports");
        if (!exports) return wrong(exports.error().message);
        return run_exports_json(*exports);
    }

    const std::string& what_;
    const std::string& file_;
};

Result<std::set<std::string>> file_names(const Json& json,
                                         const char* key,
                                         const std::string& what) {
    std::set<std::string> names;
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return names;
    const auto is_text = [](const Json& item) { return item.is_string(); };
    if (!found->is_array() || !std::all_of(found->begin(), found->end(), is_text))
        return fail(ErrorKind::Parse, fmt::format("{}: {} is not a list of file names", what, key));
    for (const auto& name : *found) names.insert(name.get<std::string>());
    return names;
}

Result<int> version_of(const Json& json, const std::string& what) {
    const auto version = json.find("patch_instructions_version");
    if (version == json.end() || !version->is_number_integer())
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: not patch instructions: patch_instructions_version is missing", what));
    if (const auto number = version->get<std::int64_t>(); number < 1 || number > kNewestVersion)
        return fail(
            ErrorKind::Unsupported,
            fmt::format(
                "{}: unsupported patch instructions version {} (this gpkg supports 1 to {})",
                what,
                number,
                kNewestVersion));
    return version->get<int>();
}

}  // namespace

Result<PatchInstructions> PatchInstructions::parse(std::string_view text, const std::string& what) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const Json::parse_error& error) {
        return fail(ErrorKind::Parse, fmt::format("{}: not JSON: {}", what, error.what()));
    }
    if (!json.is_object()) return fail(ErrorKind::Parse, what + ": not a JSON object");
    PatchInstructions patch;
    GPKG_TRY(const int version, version_of(json, what));
    for (const auto* key : {"packages", "packages.conda"}) {
        const auto found = json.find(key);
        if (found == json.end() || found->is_null()) continue;
        if (!found->is_object())
            return fail(ErrorKind::Parse, fmt::format("{}: {} is not an object", what, key));
        for (const auto& [file, given] : found->items()) {
            GPKG_TRY(const auto fields, FieldReader(what, file).read(given, version));
            patch.fields_[file] = json_text(fields);
        }
    }
    GPKG_TRY(patch.revoked_, file_names(json, "revoke", what));
    GPKG_TRY(patch.removed_, file_names(json, "remove", what));
    return patch;
}

bool PatchInstructions::removes(const std::string& file) const { return holds(removed_, file); }

bool PatchInstructions::changes(const std::string& file) const {
    return fields_.contains(file) || fields_.contains(older_twin(file)) || holds(revoked_, file);
}

PatchInstructions::Patched PatchInstructions::apply(const std::string& file,
                                                    const IndexedPackage& package) const {
    auto record = Json::parse(package.record);
    Patched patched;
    // What is said of the .conda itself counts for more.
    for (const auto& name : {older_twin(file), file}) {
        const auto found = fields_.find(name);
        if (found == fields_.end()) continue;
        const auto fields = Json::parse(found->second);
        for (const auto& [key, value] : fields.items()) {
            if (key == "run_exports") {
                patched.run_exports = json_text(value);
            } else if (value.is_null()) {
                record.erase(key);
            } else {
                record[key] = value;
            }
        }
    }
    if (holds(revoked_, file)) {
        record["revoked"] = true;
        if (!record.contains("depends")) record["depends"] = Json::array();
        record["depends"].push_back(kNobodyHasIt);
    }
    for (const auto* key : {"depends", "constrains"}) {
        if (!package.is_v3 || !record.contains(key)) continue;
        for (auto& spec : record[key]) {
            // What cannot be read was refused.
            if (auto text = bracket_form(spec.get<std::string>())) spec = *std::move(text);
        }
    }
    patched.record = json_text(record);
    return patched;
}

std::vector<std::string> PatchInstructions::unmatched(
    const std::map<std::string, IndexedPackage>& files) const {
    const auto is_there = [&](const std::string& file) {
        if (files.contains(file)) return true;
        constexpr std::string_view kOld = ".tar.bz2";
        return file.ends_with(kOld) &&
               files.contains(file.substr(0, file.size() - kOld.size()) + ".conda");
    };
    std::set<std::string> missing;
    const auto look_for = [&](const std::string& file) {
        if (!is_there(file)) missing.insert(file);
    };
    for (const auto& [file, fields] : fields_) look_for(file);
    for (const auto& file : revoked_) look_for(file);
    for (const auto& file : removed_) look_for(file);
    return {missing.begin(), missing.end()};
}

}  // namespace gpkg
