#include "libcore/redist/manifest.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kAllOfLinux = "linux-all";

/// Of a URL the path counts, of a path the last name.
std::string_view file_name(std::string_view where) {
    return file_name_of(where.substr(0, where.find_first_of("?#")));
}

bool only_of(std::string_view text, std::string_view others) {
    return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return std::isalnum(c) != 0 || others.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

class Reader {
public:
    Reader(const std::string& where, const Json& root) : where_(where), root_(root) {}

    Result<RedistManifest> read() {
        RedistManifest manifest;
        manifest.where = where_;
        GPKG_TRY(manifest.label, text_of(root_, "release_label", ""));
        GPKG_TRY(manifest.product, text_of(root_, "release_product", ""));
        if (manifest.product.empty()) manifest.product = "cuda";  // manifests before 12.1
        if (!only_of(manifest.product, "-_."))
            return wrong("",
                         fmt::format("invalid 'release_product': {}", printable(manifest.product)));
        if (manifest.label.empty()) manifest.label = label_of_name();
        if (!only_of(manifest.label, "._+"))
            return wrong("", fmt::format("invalid 'release_label': {}", printable(manifest.label)));
        for (const auto& [key, value] : root_.items()) {
            if (!value.is_object()) continue;
            GPKG_TRY(auto component, component_of(key, value));
            manifest.components.push_back(std::move(component));
        }
        if (manifest.components.empty())
            return fail(ErrorKind::Parse,
                        fmt::format("{}: not a redistributables manifest: no components", where_),
                        "manifests are named redistrib_X.Y.Z.json");
        return manifest;
    }

private:
    tl::unexpected<Error> wrong(std::string_view component, std::string_view what) const {
        const auto in = component.empty() ? "" : fmt::format("{}: ", printable(component));
        return fail(ErrorKind::Parse,
                    fmt::format("{}: invalid redistributables manifest: {}{}", where_, in, what));
    }

    /// "12.9.1" of redistrib_12.9.1.json: manifests before 12.1 say it nowhere else.
    std::string label_of_name() const {
        auto name = file_name(where_);
        constexpr std::string_view kBegin = "redistrib_";
        constexpr std::string_view kEnd = ".json";
        if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return {};
        name.remove_prefix(kBegin.size());
        name.remove_suffix(kEnd.size());
        return only_of(name, ".") ? std::string(name) : std::string();
    }

    Result<std::string> text_of(const Json& node,
                                std::string_view key,
                                std::string_view component) const {
        const auto found = node.find(key);
        if (found == node.end()) return std::string();
        if (!found->is_string())
            return wrong(component,
                         fmt::format("'{}' must be a string, not {}", key, found->type_name()));
        auto text = found->get<std::string>();
        // It goes into a recipe, where that would be an expression.
        const bool is_odd = std::any_of(
            text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
        if (is_odd || text.find("${{") != std::string::npos)
            return wrong(component, fmt::format("invalid '{}': '{}'", key, printable(text)));
        return text;
    }

    Result<RedistComponent> component_of(const std::string& key, const Json& node) const {
        RedistComponent component;
        component.key = key;
        if (!is_package_name(key))
            return wrong(key, "invalid component name; use lower case letters, digits, - _ .");
        GPKG_TRY(component.title, text_of(node, "name", key));
        GPKG_TRY(component.license, text_of(node, "license", key));
        GPKG_TRY(component.version, text_of(node, "version", key));
        if (component.version.empty() || !only_of(component.version, "._+"))
            return wrong(key, fmt::format("invalid 'version': '{}'", printable(component.version)));
        for (const auto& [platform, value] : node.items()) {
            if (!platform.starts_with("linux-") || !value.is_object()) continue;
            if (value.contains("relative_path")) {
                GPKG_TRY(component.archives[platform][""], archive_of(key, value));
                continue;
            }
            for (const auto& [variant, inner] : value.items()) {
                if (!inner.is_object() || variant.empty() || !only_of(variant, "._-"))
                    return wrong(key,
                                 fmt::format("{} has neither 'relative_path' nor variants",
                                             printable(platform)));
                GPKG_TRY(component.archives[platform][variant], archive_of(key, inner));
            }
        }
        return component;
    }

    Result<RedistArchive> archive_of(const std::string& key, const Json& node) const {
        RedistArchive archive;
        GPKG_TRY(archive.path, text_of(node, "relative_path", key));
        if (!is_safe_relative(archive.path))
            return wrong(
                key,
                fmt::format("invalid 'relative_path': '{}' is not below the folder of the manifest",
                            printable(archive.path)));
        GPKG_TRY(const auto sum, text_of(node, "sha256", key));
        archive.sha256 = to_lower(sum);
        if (!is_hex(archive.sha256, 64))
            return wrong(key, fmt::format("invalid 'sha256': '{}'", printable(sum)));
        const auto size = node.find("size");
        if (size == node.end()) return archive;
        if (size->is_number_unsigned()) {
            archive.size = size->get<std::uint64_t>();
            return archive;
        }
        // NVIDIA writes it as a text.
        const auto text = size->is_string() ? size->get<std::string>() : json_text(*size);
        const auto number = whole_number<std::uint64_t>(text);
        if (!number)
            return wrong(
                key, fmt::format("invalid 'size': '{}' is not a number of bytes", printable(text)));
        archive.size = *number;
        return archive;
    }

    const std::string& where_;
    const Json& root_;
};

/// "12.9" of "12.9.1".
std::string major_minor(std::string_view version) {
    const auto first = version.find('.');
    if (first == std::string_view::npos) return std::string(version);
    return std::string(version.substr(0, version.find('.', first + 1)));
}

/// "13.2" of "cuda13.2".
std::string_view without_cuda(std::string_view variant) {
    return variant.starts_with("cuda") ? variant.substr(4) : variant;
}

}  // namespace

const RedistComponent* RedistManifest::find(std::string_view key) const {
    const auto found = std::find_if(
        components.begin(), components.end(), [&](const auto& one) { return one.key == key; });
    return found == components.end() ? nullptr : &*found;
}

Result<const RedistComponent*> RedistManifest::component(std::string_view name) const {
    auto key = to_lower(name);
    for (const auto& one : {key, [&] {
                                auto other = key;
                                std::replace(other.begin(), other.end(), '-', '_');
                                return other;
                            }()}) {
        if (const auto* found = find(one)) return found;
    }
    std::vector<std::string> keys;
    keys.reserve(components.size());
    for (const auto& one : components) keys.push_back(one.key);
    const auto near = near_names(key, keys);
    return fail(ErrorKind::NotFound,
                fmt::format("{}: no component '{}'", where, printable(name)),
                near.empty() ? fmt::format("available: {}", join_some(keys, "and", 12))
                             : did_you_mean(near));
}

std::string RedistManifest::default_base() const {
    return fmt::format("https://developer.download.nvidia.com/compute/{}/redist/", product);
}

Result<RedistManifest> parse_redist_manifest(std::string_view text, const std::string& where) {
    const auto root = Json::parse(text, nullptr, false);
    if (root.is_discarded() || !root.is_object())
        return fail(ErrorKind::Parse,
                    fmt::format("{}: not a redistributables manifest: not a JSON object", where),
                    "manifests are named redistrib_X.Y.Z.json");
    return Reader(where, root).read();
}

Result<std::string> redist_platform(std::string_view subdir, bool tegra) {
    if (tegra && subdir != "linux-aarch64")
        return fail(ErrorKind::Usage, "--tegra needs --platform linux-aarch64");
    if (subdir == "linux-64") return "linux-x86_64";
    if (subdir == "linux-aarch64") return tegra ? "linux-aarch64" : "linux-sbsa";
    if (subdir == "linux-ppc64le") return "linux-ppc64le";
    return fail(ErrorKind::Unsupported,
                fmt::format("platform {} is not supported", subdir),
                "use --platform linux-64, linux-aarch64 or linux-ppc64le");
}

bool has_platform(const RedistComponent& component, const std::string& platform) {
    return component.archives.contains(platform) ||
           component.archives.contains(std::string(kAllOfLinux));
}

Result<RedistChoice> choose_archive(const RedistManifest& manifest,
                                    const RedistComponent& component,
                                    const std::string& platform,
                                    std::string_view variant) {
    RedistChoice choice;
    choice.platform = platform;
    auto found = component.archives.find(platform);
    if (found == component.archives.end())
        found = component.archives.find(std::string(kAllOfLinux));
    std::vector<std::string> others;
    others.reserve(component.archives.size());
    for (const auto& [name, archives] : component.archives) others.push_back(name);
    if (found == component.archives.end() || found->second.empty())
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: no archive of {} for {}", manifest.where, component.key, platform),
            others.empty() ? "" : fmt::format("available: {}", join_some(others, "and", 6)));
    const auto& variants = found->second;
    const auto is_wanted = [&](const auto& entry) {
        return variant.empty()
                   ? variants.size() == 1
                   : entry.first.empty() || without_cuda(entry.first) == without_cuda(variant);
    };
    const auto chosen = std::find_if(variants.begin(), variants.end(), is_wanted);
    if (chosen == variants.end()) {
        std::vector<std::string> names;
        names.reserve(variants.size());
        for (const auto& [name, archive] : variants) names.push_back(name);
        const auto listed = join_some(names, "and", 6);
        return fail(variant.empty() ? ErrorKind::Usage : ErrorKind::NotFound,
                    variant.empty() ? fmt::format("{}: {} has several variants for {}: {}",
                                                  manifest.where,
                                                  component.key,
                                                  choice.platform,
                                                  listed)
                                    : fmt::format("{}: {} has no variant '{}' for {}, only {}",
                                                  manifest.where,
                                                  component.key,
                                                  printable(variant),
                                                  choice.platform,
                                                  listed),
                    fmt::format("use --cuda-variant {}", names.back()));
    }
    choice.variant = chosen->first;
    choice.archive = chosen->second;
    return choice;
}

std::string cuda_version_of(const RedistManifest& manifest, const RedistChoice& choice) {
    const auto variant = without_cuda(choice.variant);
    if (!variant.empty() && variant.front() >= '0' && variant.front() <= '9')
        return major_minor(variant);
    return manifest.product == "cuda" ? major_minor(manifest.label) : std::string();
}

}  // namespace gpkg
