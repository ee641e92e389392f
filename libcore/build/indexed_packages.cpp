#include "libcore/build/indexed_packages.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/run_exports_json_internal.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg {
namespace {

using Json = nlohmann::json;

// Raised when what is remembered changes its meaning.
constexpr int kCacheFormat = 2;
// CEP 48: from this schema on, records stand in "v3" only.
constexpr int kV3Schema = 3;

struct Sums {
    std::string sha256;
    std::string md5;
    std::uint64_t size = 0;
};

Result<Sums> sums_of(const fs::path& file) {
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return pass(io_error(file, "open", errno));
    Hasher sha256(DigestKind::Sha256);
    Hasher md5(DigestKind::Md5);
    Sums sums;
    std::string buffer(1U << 18U, '\0');
    ssize_t count = 0;
    while ((count = ::read(opened.get(), buffer.data(), buffer.size())) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return pass(io_error(file, "read", errno));
        const auto piece = std::string_view(buffer).substr(0, static_cast<std::size_t>(count));
        sha256.update(piece);
        md5.update(piece);
        sums.size += piece.size();
    }
    sums.sha256 = std::move(sha256).hex();
    sums.md5 = std::move(md5).hex();
    return sums;
}

tl::unexpected<Error> refuse(std::string reason) {
    return fail(ErrorKind::Integrity, std::move(reason));
}

Result<void> check_specs(const Json& record, const char* key) {
    const auto found = record.find(key);
    if (found == record.end()) return {};
    if (!found->is_array()) return refuse(fmt::format("index.json: {} is no list", key));
    for (const auto& item : *found) {
        if (!item.is_string()) return refuse(fmt::format("index.json: {} holds no texts", key));
        const auto spec = MatchSpec::parse(item.get<std::string>());
        if (!spec) return refuse(fmt::format("index.json: {}: {}", key, spec.error().message));
    }
    return {};
}

/// Dependencies of v3 records are a bare name, or a name and brackets (CEP 48): "numpy >=1.26 py*"
/// becomes numpy[version=">=1.26",build="py*"]. Texts of that form stay as they are.
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
            return refuse(fmt::format("its {} is {} in its index.json and {} in its file name",
                                      key,
                                      found->get<std::string>(),
                                      text));
    }
    if (!is_package_name(name.name))
        return refuse(fmt::format("'{}' is no package name", name.name));
    GPKG_TRY(const auto version, Version::parse(name.version));
    const auto own = record.find("subdir");
    if (own != record.end() && own->is_string() && own->get<std::string>() != subdir)
        return refuse(fmt::format("it was built for {}", own->get<std::string>()));
    return {};
}

bool is_v3(const Json& record) {
    const auto schema = record.find("schema_version");
    return schema != record.end() && schema->is_number_integer() && schema->get<int>() >= kV3Schema;
}

std::string compact(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<IndexedPackage> read_for_index(const fs::path& file, const std::string& subdir) {
    GPKG_TRY(const auto info, read_package_info(file));
    auto record = Json::parse(info.at("index.json"), nullptr, false);
    if (!record.is_object()) return refuse("index.json is no JSON object");
    GPKG_CHECK(check_name(record, file.filename().native(), subdir));
    GPKG_CHECK(check_specs(record, "depends"));
    GPKG_CHECK(check_specs(record, "constrains"));
    if (is_v3(record)) GPKG_CHECK(bring_into_v3_form(record));

    IndexedPackage package;
    package.run_exports = "{}";
    if (const auto found = info.find("run_exports.json"); found != info.end()) {
        GPKG_TRY(const auto exports, parse_run_exports(found->second, "run_exports.json"));
        package.run_exports = compact(run_exports_json(exports));
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
    GPKG_TRY(const auto sums, sums_of(file));
    record["sha256"] = sums.sha256;
    record["md5"] = sums.md5;
    record["size"] = sums.size;
    record["subdir"] = subdir;
    package.record = compact(record);
    package.variant = compact(used);
    package.is_v3 = is_v3(record);
    return package;
}

IndexedPackages read_indexed_packages(const fs::path& file) {
    IndexedPackages cache;
    const auto text = read_file(file);
    if (!text) return cache;
    const auto json = Json::parse(*text, nullptr, false);
    try {
        if (json.at("version") != kCacheFormat) return cache;
        for (const auto& [name, entry] : json.at("files").items()) {
            if (!entry.at("record").at("sha256").is_string()) return {};
            IndexedPackage package;
            package.record = compact(entry.at("record"));
            package.run_exports = compact(entry.at("run_exports"));
            package.variant = compact(entry.at("variant"));
            package.oddity = entry.value("oddity", "");
            package.is_v3 = is_v3(entry.at("record"));
            package.size = entry.at("size").get<std::uint64_t>();
            package.changed_ns = entry.at("changed_ns").get<std::int64_t>();
            cache.emplace(name, std::move(package));
        }
    } catch (const Json::exception&) {
        return {};
    }
    return cache;
}

Result<void> write_indexed_packages(const fs::path& file, const IndexedPackages& cache) {
    // The parts are JSON already.
    std::string files;
    for (const auto& [name, package] : cache)
        files += fmt::format(
            "{}\n{}:{{\"record\":{},\"run_exports\":{},\"variant\":{},{}\"size\":{},"
            "\"changed_ns\":{}}}",
            files.empty() ? "" : ",",
            compact(Json(name)),
            package.record,
            package.run_exports,
            package.variant,
            package.oddity.empty() ? "" : fmt::format("\"oddity\":{},", compact(package.oddity)),
            package.size,
            package.changed_ns);
    return write_file_atomically(
        file, fmt::format("{{\"version\":{},\"files\":{{{}\n}}}}\n", kCacheFormat, files));
}

}  // namespace gpkg
