#include "libcore/base/text.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/amd.hpp"
#include "virtual-packages/forms_internal.hpp"
#include "virtual-packages/package_names_internal.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr long long kFormat = 1;
constexpr GpuVendor kVendors[] = {GpuVendor::Nvidia, GpuVendor::Amd, GpuVendor::Intel};

std::optional<GpuVendor> vendor_of(std::string_view name) {
    for (const auto vendor : kVendors) {
        if (vendor_name(vendor) == name) return vendor;
    }
    return std::nullopt;
}

template <typename Number>
Result<Number> find_number(const yaml::Node& parent, std::string_view key) {
    const auto* node = parent.find(key);
    if (node == nullptr || node->is_null()) return Number{0};
    GPKG_TRY(const auto value, node->as_int(key));
    if (value < 0 || static_cast<unsigned long long>(value) > std::numeric_limits<Number>::max())
        return node->fail(fmt::format("{} is out of range", value));
    return static_cast<Number>(value);
}

bool is_capability_or_any(std::string_view text) {
    return text == kAnyVersion || (text.size() <= 5 && leading_version(text, 2) == text);
}

/// What the architecture should be; empty when it is that.
std::string_view wanted_architecture(const GpuDevice& gpu) {
    switch (gpu.vendor) {
    case GpuVendor::Nvidia:
        return is_capability_or_any(gpu.architecture) ? "" : "a compute capability like \"9.0\"";
    case GpuVendor::Amd:
        return gpu.architecture == kAnyVersion || gfx_version(gpu.architecture)
                   ? ""
                   : "a name like gfx90a";
    case GpuVendor::Intel: break;
    }
    return gpu.architecture.empty() || leading_version(gpu.architecture, 3) == gpu.architecture
               ? ""
               : "numbers like 12.60.7";
}

/// Where a key's value is, or the map where it is missing.
const yaml::Node& found_in(const yaml::Node& map, std::string_view key) {
    const auto* node = map.find(key);
    return node == nullptr ? map : *node;
}

std::string told(const std::optional<std::string>& value) {
    return value ? fmt::format("\"{}\"", printable(*value, 60)) : "none";
}

}  // namespace

std::string_view vendor_name(GpuVendor vendor) {
    switch (vendor) {
    case GpuVendor::Nvidia: return "nvidia";
    case GpuVendor::Amd: return "amd";
    case GpuVendor::Intel: return "intel";
    }
    return "";
}

Result<yaml::Node> parse_form(std::string_view text, const std::string& where, const Form& form) {
    GPKG_TRY(auto root, yaml::Node::parse(text, where, form.most_values));
    if (root.is_null())
        return fail(ErrorKind::Parse,
                    fmt::format("{}: expected a {}, found nothing", where, form.what));
    if (!root.is_map())
        return root.fail(fmt::format("expected a {}, found {}", form.what, root.kind_name()));
    const auto* format = root.find(form.key);
    if (format == nullptr)
        return root.fail(fmt::format("not a {}: the key {} is missing", form.what, form.key),
                         std::string(form.hint));
    GPKG_TRY(const auto version, format->as_int(form.key));
    if (version != kFormat)
        return format->fail(fmt::format("unknown format {}; this gpkg reads {}", version, kFormat),
                            "a newer gpkg may read it");
    return root;
}

/// Refuses keys that are none of `known`.
Result<void> check_keys(const yaml::Node& map, std::initializer_list<std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [key, value] : map.entries()) {
        if (std::ranges::find(names, key) != names.end()) continue;
        const auto near = near_names(key, names);
        return value.fail(
            "unknown key " + printable(key),
            near.empty() ? "known keys: " + join_or(names) : "did you mean " + join_or(near) + "?");
    }
    return {};
}

Result<std::optional<std::string>> find_text(const yaml::Node* parent, std::string_view key) {
    const auto* node = parent == nullptr ? nullptr : parent->find(key);
    if (node == nullptr || node->is_null()) return std::nullopt;
    GPKG_TRY(auto text, node->as_text(key));
    return text;
}

Result<const yaml::Node*> find_list(const yaml::Node& parent,
                                    std::string_view key,
                                    std::string_view of) {
    const auto* node = parent.find(key);
    if (node == nullptr || node->is_null()) return nullptr;
    if (!node->is_list())
        return node->fail(fmt::format("expected a list of {}, found {}", of, node->kind_name()));
    return node;
}

Result<GpuDevice> read_gpu(const yaml::Node& node) {
    if (!node.is_map())
        return node.fail(fmt::format("expected a GPU as a map, found {}", node.kind_name()));
    GPKG_CHECK(check_keys(node, {"vendor", "name", "architecture", "memory_mib", "compute_units"}));
    GpuDevice gpu;
    GPKG_TRY(const auto vendor, find_text(&node, "vendor"));
    const auto known = vendor_of(vendor.value_or(""));
    if (!known)
        return found_in(node, "vendor")
            .fail("expected `vendor: nvidia`, `vendor: amd` or `vendor: intel`, found " +
                  told(vendor));
    gpu.vendor = *known;
    GPKG_TRY(auto name, find_text(&node, "name"));
    gpu.name = std::move(name).value_or("");
    GPKG_TRY(auto architecture, find_text(&node, "architecture"));
    gpu.architecture = architecture.value_or("");
    if (const auto wanted = wanted_architecture(gpu); !wanted.empty())
        return found_in(node, "architecture")
            .fail(fmt::format(
                "expected `architecture:` with {}, found {}", wanted, told(architecture)));
    GPKG_TRY(gpu.memory_mib, find_number<std::uint64_t>(node, "memory_mib"));
    GPKG_TRY(gpu.compute_units, find_number<std::uint32_t>(node, "compute_units"));
    return gpu;
}

Result<VirtualPackage> read_name_and_build(const yaml::Node& node) {
    if (!node.is_map())
        return node.fail(
            fmt::format("expected a virtual package as a map, found {}", node.kind_name()));
    GPKG_CHECK(check_keys(node, {"name", "version", "build"}));
    VirtualPackage package;
    GPKG_TRY(auto name, find_text(&node, "name"));
    if (!name) return node.fail("expected `name:` with a name like __level_zero");
    if (const auto fits = check_free_name(*name); !fits)
        return node.find("name")->fail(fits.error().message, fits.error().hint);
    package.name = *std::move(name);
    GPKG_TRY(auto build, find_text(&node, "build"));
    if (build && !is_build_string(*build))
        return node.find("build")->fail(fmt::format(
            "expected letters, digits, _, . and +, found \"{}\"", printable(*build, 60)));
    package.build = std::move(build).value_or("0");
    return package;
}

Result<VirtualPackage> read_virtual_package(const yaml::Node& node) {
    GPKG_TRY(auto package, read_name_and_build(node));
    GPKG_TRY(auto version, find_text(&node, "version"));
    if (version && !is_version(*version))
        return node.find("version")->fail(
            fmt::format("expected a version like 1.3, found \"{}\"", printable(*version, 60)));
    package.version = std::move(version).value_or("0");
    return package;
}

}  // namespace gpkg::virtual_packages
