#include "libcore/indexing/indexed_package.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/package/checksums.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/run_exports_json.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

// CEP 48: from this schema on, records stand in "v3" only.
constexpr int kV3Schema = 3;

tl::unexpected<Error> refuse(std::string reason) {
    return fail(ErrorKind::Integrity, std::move(reason));
}

Result<void> check_specs(const Json& record, const char* key) {
    const auto found = record.find(key);
    if (found == record.end()) return {};
    if (!found->is_array()) return refuse(fmt::format("index.json: {} is not a list", key));
    for (const auto& item : *found) {
        if (!item.is_string())
            return refuse(fmt::format("index.json: {} is not a list of strings", key));
        const auto spec = MatchSpec::parse(item.get<std::string>());
        if (!spec) return refuse(fmt::format("index.json: {}: {}", key, spec.error().message));
    }
    return {};
}

Result<void> bring_into_v3_form(Json& record) {
    for (const auto* key : {"depends", "constrains"}) {
        const auto found = record.find(key);
        if (found == record.end()) continue;
        for (auto& spec : *found) {
            GPKG_TRY(spec, bracket_form(spec.get<std::string>()));
        }
    }
    return {};
}

Result<void> check_name(const Json& record,
                        const std::string& file_name,
                        const std::string& subdir) {
    GPKG_TRY(const auto name, FileName::parse(file_name));
    const std::array expected = {std::pair("name", name.name),
                                 std::pair("version", name.version),
                                 std::pair("build", name.build)};
    for (const auto& [key, text] : expected) {
        const auto found = record.find(key);
        if (found == record.end() || !found->is_string())
            return refuse(fmt::format("index.json has no {}", key));
        if (found->get<std::string>() != text)
            return refuse(fmt::format("its {} is {} in index.json, but {} in the file name",
                                      key,
                                      found->get<std::string>(),
                                      text));
    }
    if (!is_package_name(name.name))
        return refuse(fmt::format("'{}' is not a package name", name.name));
    GPKG_TRY(const auto version, Version::parse(name.version));
    const auto own = record.find("subdir");
    if (own != record.end() && own->is_string() && own->get<std::string>() != subdir)
        return refuse(fmt::format("built for {}", own->get<std::string>()));
    return {};
}

/// Members that every reader of an index wants to be what they are (CEP 34, 36), where they are
/// there.
Result<void> check_members(const Json& record) {
    const auto wrong = [&](const char* key, const char* what) {
        return refuse(
            fmt::format("index.json: {} is {}, must be {}", key, json_text(record[key]), what));
    };
    for (const auto* key : {"build_number", "timestamp"}) {
        const auto found = record.find(key);
        if (found == record.end() || found->is_null()) continue;
        const bool is_count = found->is_number_unsigned() ||
                              (found->is_number_integer() && found->get<std::int64_t>() >= 0);
        if (!is_count) return wrong(key, "a whole number of at least 0");
    }
    const auto noarch = record.find("noarch");
    if (noarch == record.end() || noarch->is_null() || noarch->is_boolean()) return {};
    if (*noarch != "generic" && *noarch != "python") return wrong("noarch", "generic or python");
    return {};
}

bool is_v3(const Json& record) {
    const auto schema = record.find("schema_version");
    return schema != record.end() && schema->is_number_integer() && schema->get<int>() >= kV3Schema;
}

/// The first of what may be one text or a list of them; nothing when it is neither.
Json first_text(const Json& about, const char* key) {
    const auto found = about.find(key);
    if (found == about.end()) return {};
    if (found->is_string() && !found->get<std::string>().empty()) return *found;
    if (found->is_array() && !found->empty() && found->front().is_string()) return found->front();
    return {};
}

/// What channeldata.json tells of a package's files (CEP 38).
Json flags_of(const std::string& name, const std::vector<PathEntry>& paths) {
    Json flags{{"activate.d", false},
               {"binary_prefix", false},
               {"deactivate.d", false},
               {"post_link", false},
               {"pre_link", false},
               {"pre_unlink", false},
               {"text_prefix", false}};
    for (const auto& entry : paths) {
        for (const std::string kind : {"activate.d", "deactivate.d"}) {
            if (entry.path.starts_with("etc/conda/" + kind + "/")) flags[kind] = true;
        }
        for (const std::string kind : {"post-link", "pre-link", "pre-unlink"}) {
            if (entry.path != fmt::format("bin/.{}-{}.sh", name, kind) &&
                entry.path != fmt::format("Scripts/.{}-{}.bat", name, kind))
                continue;
            auto key = kind;
            std::replace(key.begin(), key.end(), '-', '_');
            flags[key] = true;
        }
        if (entry.prefix_placeholder.empty()) continue;
        flags[entry.mode == FileMode::Binary ? "binary_prefix" : "text_prefix"] = true;
    }
    return flags;
}

/// Nothing is decided by channeldata.json: what cannot be read is not told.
Json channeldata_of(const Json& record, const PackageInfo& info) {
    std::vector<PathEntry> paths;
    if (const auto found = info.find("paths.json"); found != info.end()) {
        if (auto read = parse_paths_json(found->second, "paths.json")) paths = *std::move(read);
    }
    auto told = flags_of(record.at("name").get<std::string>(), paths);
    const auto found = info.find("about.json");
    const auto about = found == info.end() ? Json() : Json::parse(found->second, nullptr, false);
    if (about.is_object()) {
        for (const auto* key : {"dev_url", "doc_url", "home", "license", "source_url", "summary"}) {
            if (auto text = first_text(about, key); !text.is_null()) told[key] = std::move(text);
        }
    }
    if (auto license = first_text(record, "license"); !license.is_null())
        told["license"] = std::move(license);
    return told;
}

std::int64_t milliseconds_of(const Json& record) {
    // Old builders wrote seconds; conda takes what is beyond the year 9999 for milliseconds.
    constexpr std::int64_t kMostSeconds = 253402300799;
    const auto found = record.find("timestamp");
    if (found == record.end() || !found->is_number_integer()) return 0;
    const auto time = found->get<std::int64_t>();
    return time > kMostSeconds ? time : time * 1000;
}

}  // namespace

Result<std::string> bracket_form(const std::string& text) {
    const auto is_of_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    };
    const auto name_end = std::find_if_not(text.begin(), text.end(), is_of_name);
    if (name_end == text.end() || *name_end == '[') return text;

    GPKG_TRY(auto spec, MatchSpec::parse(text));
    std::vector<std::string> pairs;
    if (spec.version) pairs.push_back(fmt::format("version=\"{}\"", spec.version->to_string()));
    if (spec.build) pairs.push_back(fmt::format("build=\"{}\"", spec.build->text()));
    spec.version.reset();
    spec.build.reset();
    auto rest = spec.to_string();
    if (pairs.empty()) return rest;
    if (rest.ends_with(']')) {
        rest.back() = ',';
    } else {
        rest += '[';
    }
    return fmt::format("{}{}]", rest, fmt::join(pairs, ","));
}

Result<IndexedPackage> read_for_index(const fs::path& file,
                                      const std::string& subdir,
                                      const AppearedAt& appeared_at) {
    GPKG_TRY(const auto info, read_package_info(file));
    auto record = Json::parse(info.at("index.json"), nullptr, false);
    if (!record.is_object()) return refuse("index.json is not a JSON object");
    GPKG_CHECK(check_name(record, file.filename().native(), subdir));
    GPKG_CHECK(check_members(record));
    GPKG_CHECK(check_specs(record, "depends"));
    GPKG_CHECK(check_specs(record, "constrains"));
    if (is_v3(record)) GPKG_CHECK(bring_into_v3_form(record));

    IndexedPackage package;
    package.run_exports = "{}";
    if (const auto found = info.find("run_exports.json"); found != info.end()) {
        GPKG_TRY(const auto exports, parse_run_exports(found->second, "run_exports.json"));
        package.run_exports = json_text(run_exports_json(exports));
    }
    Json used = Json::object();
    if (const auto found = info.find("hash_input.json"); found != info.end()) {
        // Nothing depends on it: the package is as good without.
        if (const auto variant = parse_hash_input(found->second, "hash_input.json")) {
            for (const auto& [key, value] : *variant) used[key] = value;
        } else {
            package.oddity = printable(variant.error().message);
        }
    }
    GPKG_TRY(const auto sums, checksums_of(file));
    record["sha256"] = sums.sha256;
    record["md5"] = sums.md5;
    record["size"] = sums.size;
    record["subdir"] = subdir;
    package.indexed_ms = appeared_at(sums.sha256);
    package.built_ms = milliseconds_of(record);
    package.channeldata = json_text(channeldata_of(record, info));
    record["indexed_timestamp"] = package.indexed_ms;
    package.record = json_text(record);
    package.variant = json_text(used);
    package.is_v3 = is_v3(record);
    return package;
}

std::string sha256_in(const IndexedPackage& package) {
    return Json::parse(package.record).at("sha256").get<std::string>();
}

void set_indexed(IndexedPackage& package, std::int64_t indexed_ms) {
    auto record = Json::parse(package.record);
    record["indexed_timestamp"] = indexed_ms;
    package.record = json_text(record);
    package.indexed_ms = indexed_ms;
}

}  // namespace gpkg
