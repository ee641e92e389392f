#include "libcore/base/number.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/redist/component_split_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

/// 12 of "12.9"; nothing of what begins with no number.
std::optional<int> major_of(const std::string& version) {
    return whole_number<int>(std::string_view(version).substr(0, version.find('.')));
}

/// From this version on, below the next major: what was tested together, and what replaces it.
std::string bounds(const std::string& version) {
    const auto major = major_of(version);
    if (!major) return fmt::format(">={}", version);
    return fmt::format(">={},<{}.0a0", version, *major + 1);
}

class Needs {
public:
    Needs(const ComponentSplit& split, const std::string& name, std::set<std::string>& unknown)
        : split_(split), name_(name), inside_(split.parts_of(name)), unknown_(unknown) {}

    ComponentNeeds run() {
        if (!split_.cuda.empty() && inside_ != std::set{RedistPart::Docs})
            needs_.run.emplace_back("cuda-version ${{ cuda_version }}.*");
        if (has(RedistPart::Activation)) add_compiler();
        if (has(RedistPart::Runtime)) add_runtime();
        if (split_.listing != nullptr) add_libraries();
        if (has(RedistPart::Dev)) add_dev();
        if (split_.input.subdir == "linux-aarch64" && !split_.cuda.empty()) add_arm_variant();
        if (has(RedistPart::Dev) && is_elsewhere(RedistPart::Runtime))
            needs_.weak_exports = {
                fmt::format("${{{{ pin_subpackage('{}', upper_bound={}) }}}}",
                            split_.facts.package,
                            major_of(split_.input.component.version) ? "'x'" : "None")};
        // What the compiler makes runs with every CUDA of its major from its own on.
        if (has(RedistPart::Activation) && !split_.cuda.empty())
            needs_.strong_exports = {fmt::format("cuda-version {}", bounds(split_.cuda))};
        return std::move(needs_);
    }

private:
    bool has(RedistPart part) const { return inside_.contains(part); }
    bool is_elsewhere(RedistPart part) const {
        return split_.parts.contains(part) && split_.facts.package_of(part) != name_;
    }

    void add_runtime() {
        for (const auto& key : split_.facts.opens) add(sibling(key, RedistPart::Runtime));
        // The archive itself tells better.
        if (split_.listing != nullptr) return;
        for (const auto& key : split_.facts.links) add(sibling(key, RedistPart::Runtime));
    }

    void add_dev() {
        if (is_elsewhere(RedistPart::Runtime)) needs_.run.push_back(exact(split_.facts.package));
        for (const auto& key : split_.facts.dev_needs) add_headers(key);
        if (is_elsewhere(RedistPart::Static)) {
            const auto archives = split_.facts.package_of(RedistPart::Static);
            if (split_.facts.dev_needs_static) {
                needs_.run.push_back(exact(archives));
            } else {
                needs_.run_constraints.push_back(
                    fmt::format("{} >={}", archives, split_.input.component.version));
            }
        }
        if (split_.listing != nullptr && split_.listing->newest_gcc > 0)
            needs_.run_constraints.push_back(
                fmt::format("gcc_impl_{} <{}",
                            split_.input.subdir,
                            split_.listing->newest_gcc + 1));  // conda-forge's gcc
    }

    static std::string exact(const std::string& package) {
        return fmt::format("${{{{ pin_subpackage('{}', exact=True) }}}}", package);
    }

    /// A package of another component: of the version that this manifest has of it.
    std::string sibling(const std::string& key, RedistPart part) const {
        auto name = facts_of(key).package_of(part);
        const auto* other = split_.input.manifest.find(key);
        if (other == nullptr || !has_platform(*other, split_.input.choice.platform)) return name;
        return fmt::format("{} {}", name, bounds(other->version));
    }

    void add(std::string spec) {
        auto& run = needs_.run;
        if (std::find(run.begin(), run.end(), spec) == run.end()) run.push_back(std::move(spec));
    }

    /// The headers of another component, where this manifest has it. Up to CUDA 12 those of
    /// cuda_crt are in the compiler's archive.
    void add_headers(const std::string& key) {
        const bool is_there = split_.input.manifest.find(key) != nullptr;
        if (!is_there && split_.input.manifest.product == "cuda") {
            if (key == "cuda_crt") add_headers("cuda_nvcc");
            return;
        }
        if (facts_of(key).package != split_.facts.package) add(sibling(key, RedistPart::Dev));
    }

    void add_compiler() {
        for (const auto& [key, part] : split_.facts.compiler) {
            if (facts_of(key).package == split_.facts.package) {
                if (split_.parts.contains(part))
                    needs_.run.push_back(exact(split_.facts.package_of(part)));
                continue;
            }
            const auto* listing = listing_of(split_.input, key);
            const bool may_be = listing == nullptr || listing->parts.contains(part);
            if (may_be && split_.input.manifest.find(key) != nullptr)
                needs_.run.push_back(sibling(key, part));
        }
    }

    /// What the package's programs and libraries are linked with. Which glibc they ask for is the
    /// builder's business.
    void add_libraries() {
        for (const auto part : inside_) {
            const auto found = split_.listing->needs.find(part);
            if (found == split_.listing->needs.end()) continue;
            for (const auto& library : found->second) {
                auto spec = giver_of(library);
                if (!spec.empty()) add(std::move(spec));
            }
        }
    }

    /// What the archives say goes before what is known of names. Empty: no component.
    std::string component_with(const std::string& library) const {
        for (const auto& [key, listing] : split_.input.listings) {
            const auto found = listing.libraries.find(library);
            if (found != listing.libraries.end() && found->second == RedistPart::Runtime)
                return key;
        }
        return component_of_library(library);
    }

    /// The dependency that gives a library; empty: the package itself, or the machine.
    std::string giver_of(const std::string& library) {
        const auto own = split_.listing->libraries.find(library);
        if (own != split_.listing->libraries.end()) {
            const auto package = split_.facts.package_of(own->second);
            return package == name_ ? std::string() : exact(package);
        }
        if (is_glibc_library(library) || is_driver_library(library)) return {};
        const auto key = component_with(library);
        if (!key.empty()) return sibling(key, RedistPart::Runtime);
        auto package = package_of_library(library);
        if (package.empty()) unknown_.insert(library);
        return package;
    }

    /// Servers and Tegra share a subdir: conda-forge's arm-variant keeps their packages apart.
    void add_arm_variant() {
        auto spec = fmt::format("arm-variant * {}", split_.input.tegra ? "tegra" : "sbsa");
        const bool is_base =
            split_.input.component.key == "cuda_cudart" && has(RedistPart::Runtime);
        auto& list = is_base || split_.input.tegra ? needs_.run : needs_.run_constraints;
        list.push_back(std::move(spec));
    }

    const ComponentSplit& split_;
    const std::string& name_;
    std::set<RedistPart> inside_;
    std::set<std::string>& unknown_;
    ComponentNeeds needs_;
};

}  // namespace

ComponentNeeds needs_of(const ComponentSplit& split,
                        const std::string& package,
                        std::set<std::string>& unknown) {
    return Needs(split, package, unknown).run();
}

}  // namespace gpkg
