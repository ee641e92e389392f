#include "libcore/base/text.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/record_json_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <utility>

namespace gpkg::env_json {
namespace {

using Element = simdjson::dom::element;
using Json = nlohmann::ordered_json;

/// track_features: a list, or a text with spaces or commas between.
std::vector<std::string> features_of(Element value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return texts_of(value);
    std::vector<std::string> out;
    std::string plain(text);
    std::replace(plain.begin(), plain.end(), ',', ' ');
    for (const auto piece : split(plain, ' ')) {
        if (!piece.empty()) out.emplace_back(piece);
    }
    return out;
}

std::map<std::string, std::vector<std::string>> groups_of(Element value) {
    std::map<std::string, std::vector<std::string>> out;
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return out;
    for (const auto member : object) out[std::string(member.key)] = texts_of(member.value);
    return out;
}

using ReadPackage = void (*)(PackageRecord&, Element);
constexpr std::array<std::pair<std::string_view, ReadPackage>, 24> kPackageKeys{{
    {"name", [](PackageRecord& p, Element v) { p.name = text_of(v); }},
    {"version", [](PackageRecord& p, Element v) { p.version = text_of(v); }},
    {"build", [](PackageRecord& p, Element v) { p.build = text_of(v); }},
    {"build_number",
     [](PackageRecord& p, Element v) { p.build_number = number_of(v).value_or(0); }},
    {"subdir", [](PackageRecord& p, Element v) { p.subdir = text_of(v); }},
    {"channel", [](PackageRecord& p, Element v) { p.channel = text_of(v); }},
    {"fn", [](PackageRecord& p, Element v) { p.fn = text_of(v); }},
    {"url", [](PackageRecord& p, Element v) { p.url = text_of(v); }},
    {"md5", [](PackageRecord& p, Element v) { p.md5 = text_of(v); }},
    {"sha256", [](PackageRecord& p, Element v) { p.sha256 = text_of(v); }},
    {"size", [](PackageRecord& p, Element v) { p.size = number_of(v).value_or(0); }},
    {"timestamp",
     [](PackageRecord& p, Element v) {
         p.timestamp = static_cast<std::int64_t>(number_of(v).value_or(0));
     }},
    {"indexed_timestamp",
     [](PackageRecord& p, Element v) {
         p.indexed_timestamp = static_cast<std::int64_t>(number_of(v).value_or(0));
     }},
    {"depends", [](PackageRecord& p, Element v) { p.depends = texts_of(v); }},
    {"constrains", [](PackageRecord& p, Element v) { p.constrains = texts_of(v); }},
    {"extra_depends", [](PackageRecord& p, Element v) { p.extra_depends = groups_of(v); }},
    {"flags", [](PackageRecord& p, Element v) { p.flags = texts_of(v); }},
    {"track_features", [](PackageRecord& p, Element v) { p.track_features = features_of(v); }},
    {"noarch", [](PackageRecord& p, Element v) { p.noarch = text_of(v); }},
    {"python_site_packages_path",
     [](PackageRecord& p, Element v) {
         if (v.is_string()) p.python_site_packages_path = text_of(v);
     }},
    {"license", [](PackageRecord& p, Element v) { p.license = text_of(v); }},
    {"license_family", [](PackageRecord& p, Element v) { p.license_family = text_of(v); }},
    {"legacy_bz2_md5",
     [](PackageRecord& p, Element v) {
         if (v.is_string()) p.legacy_bz2_md5 = text_of(v);
     }},
    {"legacy_bz2_size", [](PackageRecord& p, Element v) { p.legacy_bz2_size = number_of(v); }},
}};

}  // namespace

bool read_package_key(PackageRecord& package, std::string_view key, Element value) {
    const auto* known = std::find_if(kPackageKeys.begin(),
                                     kPackageKeys.end(),
                                     [&](const auto& row) { return row.first == key; });
    if (known == kPackageKeys.end()) return false;
    known->second(package, value);
    return true;
}

void settle_channel(PackageRecord& package) {
    auto& channel = package.channel;
    const auto ending = "/" + package.subdir;
    if (channel.find("://") == std::string::npos && !package.fn.empty() &&
        package.url.ends_with(ending + "/" + package.fn))
        channel = package.url.substr(0, package.url.size() - package.fn.size() - 1);
    while (channel.ends_with('/')) channel.pop_back();
    if (!package.subdir.empty() && channel.ends_with(ending))
        channel.resize(channel.size() - ending.size());
}

void write_package(Json& out, const PackageRecord& package) {
    const auto text = [&out](const char* key, const std::string& value) {
        if (!value.empty()) out[key] = value;
    };
    const auto number = [&out](const char* key, auto value) {
        if (value != 0) out[key] = value;
    };
    out["name"] = package.name;
    out["version"] = package.version;
    out["build"] = package.build;
    out["build_number"] = package.build_number;
    out["subdir"] = package.subdir;
    text("channel", package.channel);
    text("fn", package.fn);
    text("url", package.url);
    text("md5", package.md5);
    text("sha256", package.sha256);
    number("size", package.size);
    number("timestamp", package.timestamp);
    number("indexed_timestamp", package.indexed_timestamp);
    out["depends"] = package.depends;
    out["constrains"] = package.constrains;
    if (!package.extra_depends.empty()) out["extra_depends"] = package.extra_depends;
    if (!package.flags.empty()) out["flags"] = package.flags;
    text("track_features", fmt::format("{}", fmt::join(package.track_features, " ")));
    text("noarch", package.noarch);
    if (package.python_site_packages_path)
        out["python_site_packages_path"] = *package.python_site_packages_path;
    text("license", package.license);
    text("license_family", package.license_family);
    if (package.legacy_bz2_md5) out["legacy_bz2_md5"] = *package.legacy_bz2_md5;
    if (package.legacy_bz2_size) out["legacy_bz2_size"] = *package.legacy_bz2_size;
}

}  // namespace gpkg::env_json
