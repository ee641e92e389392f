#include "libcore/env/prefix_record.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/record_json_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_set>
#include <utility>

namespace gpkg {
namespace {

using env_json::number_of;
using env_json::text_of;
using env_json::texts_of;
using env_json::truth_of;
using Element = simdjson::dom::element;
using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, PrefixPathType>, 5> kPathTypes{{
    {"hardlink", PrefixPathType::HardLink},
    {"softlink", PrefixPathType::SoftLink},
    {"directory", PrefixPathType::Directory},
    {"pyc_file", PrefixPathType::PycFile},
    {"unix_python_entry_point", PrefixPathType::UnixPythonEntryPoint},
}};

/// Stays below the prefix. Backslashes are ordinary here: records of Linux hold such names.
bool stays_inside(std::string_view path) {
    if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
        return false;
    const auto parts = split(path, '/');
    return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

PrefixPath read_path(simdjson::dom::object object) {
    PrefixPath path;
    env_json::Members unknown;
    for (const auto [key, value] : object) {
        if (key == "_path") {
            path.path = text_of(value);
        } else if (key == "path_type") {
            const auto text = text_of(value);
            const auto* known = std::find_if(kPathTypes.begin(),
                                             kPathTypes.end(),
                                             [&](const auto& row) { return row.first == text; });
            path.type = known == kPathTypes.end() ? PrefixPathType::Other : known->second;
            if (known == kPathTypes.end()) path.type_text = text;
        } else if (key == "sha256") {
            path.sha256 = text_of(value);
        } else if (key == "sha256_in_prefix") {
            path.sha256_in_prefix = text_of(value);
        } else if (key == "size_in_bytes") {
            path.size = number_of(value);
        } else if (key == "prefix_placeholder") {
            path.prefix_placeholder = text_of(value);
        } else if (key == "file_mode") {
            path.binary = text_of(value) == "binary";
        } else if (key == "no_link") {
            path.no_link = truth_of(value);
        } else {
            unknown.add(key, value);
        }
    }
    path.unknown_keys = std::move(unknown).text();
    return path;
}

std::vector<PrefixPath> read_paths_data(Element value) {
    std::vector<PrefixPath> out;
    simdjson::dom::array list;
    if (value.at_key("paths").get(list) != simdjson::SUCCESS) return out;
    out.reserve(list.size());
    for (const auto item : list) {
        simdjson::dom::object object;
        if (item.get(object) == simdjson::SUCCESS) out.push_back(read_path(object));
    }
    return out;
}

void read_link(PrefixRecord& record, Element value) {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return;
    for (const auto [key, member] : object) {
        if (key == "source") record.link_source = text_of(member);
        if (key != "type") continue;
        const auto number = number_of(member);
        const bool known = number && *number >= 1 && *number <= 4;
        record.link_type = known ? static_cast<LinkType>(*number) : LinkType::HardLink;
    }
}

/// Keys that describe the installation. False: not one of them.
bool read_installed_key(PrefixRecord& record,
                        std::string& requested_spec,
                        std::string_view key,
                        Element value) {
    if (key == "files") {
        record.files = texts_of(value);
    } else if (key == "paths_data") {
        record.paths = read_paths_data(value);
    } else if (key == "link") {
        read_link(record, value);
    } else if (key == "requested_specs") {
        record.requested_specs = texts_of(value);
    } else if (key == "requested_spec") {
        requested_spec = text_of(value);
    } else if (key == "extracted_package_dir") {
        record.extracted_package_dir = text_of(value);
    } else if (key == "package_tarball_full_path") {
        record.package_tarball_full_path = text_of(value);
    } else {
        return false;
    }
    return true;
}

/// Where a noarch python package has a path, if it is one that an environment moves. conda writes
/// paths_data as in the package: "site-packages/a.py", "python-scripts/a".
class NoarchPaths {
public:
    explicit NoarchPaths(const PrefixRecord& record)
        : files_(record.files.begin(), record.files.end()) {
        for (const auto& path : record.paths) {
            if (!path.path.starts_with(kModules) || files_.contains(path.path)) continue;
            const auto ending = "/" + path.path;
            const auto found = std::ranges::find_if(
                record.files, [&](const auto& file) { return file.ends_with(ending); });
            if (found == record.files.end()) continue;
            folder_ = found->substr(0, found->size() - path.path.size());
            break;
        }
    }

    /// The path itself where no other is known.
    std::string target_of(const std::string& path) const {
        if (files_.contains(path)) return path;
        auto target =
            path.starts_with(kScripts) ? "bin/" + path.substr(kScripts.size()) : folder_ + path;
        return files_.contains(target) ? target : path;
    }

private:
    static constexpr std::string_view kModules = "site-packages/";
    static constexpr std::string_view kScripts = "python-scripts/";
    std::unordered_set<std::string> files_;
    std::string folder_;  ///< "lib/python3.12/"
};

/// arch and platform, which old readers expect, out of the subdir.
void write_platform(Json& out, const std::string& subdir) {
    const auto dash = subdir.find('-');
    if (dash == std::string::npos) {
        out["arch"] = nullptr;
        out["platform"] = nullptr;
        return;
    }
    const auto machine = subdir.substr(dash + 1);
    out["arch"] = machine == "64" ? "x86_64" : machine == "32" ? "x86" : machine;
    out["platform"] = subdir.substr(0, dash);
}

Json path_json(const PrefixPath& path) {
    Json out;
    out["_path"] = path.path;
    const auto* known = std::find_if(kPathTypes.begin(), kPathTypes.end(), [&](const auto& row) {
        return row.second == path.type;
    });
    if (known != kPathTypes.end()) {
        out["path_type"] = known->first;
    } else if (!path.type_text.empty()) {
        out["path_type"] = path.type_text;
    }
    if (!path.prefix_placeholder.empty()) {
        out["prefix_placeholder"] = path.prefix_placeholder;
        out["file_mode"] = path.binary ? "binary" : "text";
    }
    if (path.no_link) out["no_link"] = true;
    if (!path.sha256.empty()) out["sha256"] = path.sha256;
    if (!path.sha256_in_prefix.empty()) out["sha256_in_prefix"] = path.sha256_in_prefix;
    if (path.size) out["size_in_bytes"] = *path.size;
    env_json::add_unknown(out, path.unknown_keys);
    return out;
}

}  // namespace

Result<PrefixRecord> PrefixRecord::parse(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto object, env_json::parse_object(parser, text, what));

    PrefixRecord record;
    std::string requested_spec;
    env_json::Members unknown;
    for (const auto [key, value] : object) {
        if (!env_json::read_package_key(record.package, key, value) &&
            !read_installed_key(record, requested_spec, key, value))
            unknown.add(key, value);
    }
    record.unknown_keys = std::move(unknown).text();
    if (record.requested_specs.empty() && !requested_spec.empty() && requested_spec != "None")
        record.requested_specs.push_back(requested_spec);
    env_json::settle_channel(record.package);

    const auto& package = record.package;
    if (package.name.empty() || package.version.empty() || package.build.empty())
        return fail(
            ErrorKind::Parse,
            fmt::format("{}: not a package record: name, version or build is missing", what));
    if (package.distribution().find('/') != std::string::npos)
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: {} is not a package name", what, package.distribution()));
    if (record.files.empty()) {
        for (const auto& path : record.paths) record.files.push_back(path.path);
    }
    if (package.noarch == "python" || package.subdir == "noarch") {
        const NoarchPaths targets(record);
        for (auto& path : record.paths) path.path = targets.target_of(path.path);
    }
    const auto check = [&](const std::string& path) -> Result<void> {
        if (stays_inside(path)) return {};
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: the path '{}' leads out of the environment", what, path));
    };
    for (const auto& path : record.files) GPKG_CHECK(check(path));
    for (const auto& path : record.paths) GPKG_CHECK(check(path.path));
    return record;
}

Result<PrefixRecord> PrefixRecord::read(const fs::path& file) {
    GPKG_TRY(const auto text, read_file(file));
    return parse(text, file.native());
}

std::string PrefixRecord::to_json() const {
    Json out;
    env_json::write_package(out, package);
    out["extracted_package_dir"] = extracted_package_dir;
    out["package_tarball_full_path"] = package_tarball_full_path;
    out["link"] = {{"source", link_source}, {"type", static_cast<int>(link_type)}};
    out["requested_specs"] = requested_specs;
    out["requested_spec"] = requested_specs.empty() ? "None" : requested_specs.front();
    out["files"] = files;
    auto list = Json::array();
    for (const auto& path : paths) list.push_back(path_json(path));
    out["paths_data"] = {{"paths_version", 1}, {"paths", std::move(list)}};
    env_json::add_unknown(out, unknown_keys);
    if (!out.contains("arch") && !out.contains("platform")) write_platform(out, package.subdir);
    return json_text(out, 2) + "\n";
}

}  // namespace gpkg
