#include "libcore/base/text.hpp"
#include "virtual-packages/detector_file_internal.hpp"
#include "virtual-packages/forms_internal.hpp"
#include "virtual-packages/package_names_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20U;
constexpr std::size_t kLongestPattern = 1024;
constexpr Form kDetectorForm{
    "detector", "gpkg_detector", "docs/reference/hardware-profile.md explains the format", 10'000};

/// Absolute, and it does not climb.
bool is_plain_path(std::string_view path) {
    return path.size() <= kLongestPattern && path.starts_with('/') &&
           path.find('\0') == std::string_view::npos &&
           !std::ranges::any_of(split(path, '/'), [](auto part) { return part == ".."; });
}

Result<void> check_path(const yaml::Node& node, std::string_view path) {
    if (is_plain_path(path)) return {};
    return node.fail(
        fmt::format("expected a path from / without .., found \"{}\"", printable(path, 60)));
}

/// The key that says where to look.
struct Where {
    std::string_view key;
    Look::Kind kind;
};
constexpr Where kWhere[] = {{"file", Look::Kind::File},
                            {"link", Look::Kind::Link},
                            {"path", Look::Kind::Path},
                            {"library", Look::Kind::Library}};

Result<Look> read_where(const yaml::Node& node) {
    const yaml::Node* place = nullptr;
    Look look;
    for (const auto& [key, kind] : kWhere) {
        const auto* found = node.find(key);
        if (found == nullptr) continue;
        if (place != nullptr) return node.fail("use only one of file, link, path and library");
        place = found;
        look.kind = kind;
    }
    if (place == nullptr) return node.fail("expected `file:`, `link:`, `path:` or `library:`");
    GPKG_TRY(look.where, place->as_text("where to look"));
    if (look.kind != Look::Kind::Library || look.where.find('/') != std::string::npos)
        GPKG_CHECK(check_path(*place, look.where));
    else if (look.where.empty() || look.where.size() > kLongestPattern)
        return place->fail("expected a library's name like libze_loader.so.1");
    return look;
}

/// `groups`: how many its expression has to have; 0: any number, and it may be left out.
Result<Look> read_look(const yaml::Node& node, int groups) {
    if (!node.is_map())
        return node.fail(fmt::format(
            "expected a map with file:, link:, path: or library:, found {}", node.kind_name()));
    if (groups > 0)
        GPKG_CHECK(check_keys(node, {"file", "link", "path", "matches"}));
    else
        GPKG_CHECK(check_keys(node, {"file", "link", "path", "library", "matches"}));
    GPKG_TRY(auto look, read_where(node));
    GPKG_TRY(auto expression, find_text(&node, "matches"));
    if (!expression && groups > 0)
        return node.fail("expected `matches:` with an expression whose group is the version");
    if (!expression) return look;
    const auto& at = *node.find("matches");
    if (look.kind == Look::Kind::Library) return at.fail("matches: cannot be used with library:");
    if (expression->empty() || expression->size() > kLongestPattern)
        return at.fail(
            fmt::format("expected an expression of 1 to {} characters", kLongestPattern));
    if (const auto fault = fault_of_expression(*expression, groups))
        return at.fail(fmt::format("\"{}\": {}", printable(*expression, 60), printable(*fault)));
    look.matches = *std::move(expression);
    return look;
}

Result<SeenPackage> read_package(const yaml::Node& node) {
    SeenPackage seen;
    const auto* version = node.find("version");
    if (version == nullptr || !version->is_map()) {
        GPKG_TRY(seen.package, read_virtual_package(node));
        return seen;
    }
    GPKG_TRY(seen.package, read_name_and_build(node));
    GPKG_TRY(seen.version_from, read_look(*version, 1));
    return seen;
}

Result<void> read_packages(const yaml::Node& root, Detector& detector) {
    GPKG_TRY(const auto* list, find_list(root, "virtual_packages", "virtual packages"));
    if (list == nullptr) return {};
    for (const auto& item : list->items()) {
        GPKG_TRY(auto seen, read_package(item));
        detector.packages.push_back(std::move(seen));
    }
    return {};
}

Result<void> read_program(const yaml::Node& root, Detector& detector) {
    const auto* run = root.find("run");
    for (const auto* key : {"yields", "devices"}) {
        const auto* node = root.find(key);
        if (node != nullptr && run == nullptr)
            return node->fail(fmt::format("{}: needs a program in `run:`", key));
    }
    if (run == nullptr) return {};
    if (root.find("virtual_packages") != nullptr)
        return run->fail("use only one of run and virtual_packages");
    GPKG_TRY(detector.run, run->as_texts("a program and its arguments"));
    const auto& words = detector.run;
    if (words.empty() || words.front().empty() || std::ranges::any_of(words, [](const auto& word) {
            return word.find('\0') != std::string::npos;
        }))
        return run->fail("expected a program and its arguments");
    const auto* yields = root.find("yields");
    if (yields == nullptr)
        return run->fail("expected `yields:` with the virtual packages it can find");
    GPKG_TRY(detector.yields, yields->as_texts("a virtual package's name"));
    for (const auto& name : detector.yields) {
        if (const auto fits = check_free_name(name); !fits)
            return yields->fail(fits.error().message, fits.error().hint);
    }
    const auto* devices = root.find("devices");
    if (devices == nullptr) return {};
    GPKG_TRY(detector.devices, devices->as_texts("a device's path"));
    for (const auto& device : detector.devices) {
        GPKG_CHECK(check_path(*devices, device));
        if (!device.starts_with("/dev/"))
            return devices->fail(printable(device, 60) + ": not in /dev");
    }
    return {};
}

}  // namespace

std::vector<std::string> Detector::names() const {
    auto names = yields;
    for (const auto& seen : packages) names.push_back(seen.package.name);
    return names;
}

Result<Detector> read_detector(const fs::path& file) {
    // Others, such as pipes, may keep who opens them waiting.
    std::error_code code;
    const auto status = fs::status(file, code);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return fail(ErrorKind::Io, fmt::format("{}: not a regular file", file.native()));
    GPKG_TRY(auto text, read_file(file, kLongestFile));
    GPKG_TRY(const auto root, parse_form(text, file.native(), kDetectorForm));
    GPKG_CHECK(check_keys(
        root, {"gpkg_detector", "when", "virtual_packages", "run", "yields", "devices"}));
    Detector detector;
    detector.file = file;
    GPKG_TRY(const auto* when, find_list(root, "when", "conditions"));
    if (when != nullptr) {
        for (const auto& item : when->items()) {
            GPKG_TRY(auto look, read_look(item, 0));
            detector.when.push_back(std::move(look));
        }
    }
    GPKG_CHECK(read_packages(root, detector));
    GPKG_CHECK(read_program(root, detector));
    if (root.find("virtual_packages") == nullptr && detector.run.empty())
        return root.fail("detects nothing: expected `virtual_packages:` or `run:`");
    detector.text = std::move(text);
    return detector;
}

}  // namespace gpkg::virtual_packages
