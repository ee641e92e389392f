#include "libcore/redist/component_recipe.hpp"

#include "libcore/base/text.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/redist/component_facts.hpp"
#include "libcore/redist/staging_script.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

std::string summary_of(const RedistComponent& component, RedistPart part, bool is_main) {
    const auto& title = component.title.empty() ? component.key : component.title;
    if (is_main) return title;
    switch (part) {
    case RedistPart::Docs: return title + ": documents, samples and sources";
    case RedistPart::Stubs: return title + ": stubs to link with where there is no driver";
    case RedistPart::Static: return title + ": static libraries";
    case RedistPart::Dev: return title + ": headers and what linking needs";
    case RedistPart::Tools: return title + ": programs";
    case RedistPart::Runtime:
    case RedistPart::Activation: return title;
    }
    return title;
}

/// An expression without a licence's name is all that SPDX has for one of NVIDIA's.
std::string license_expression(const std::string& license) {
    if (license.empty() || license == "CUDA Toolkit")
        return "LicenseRef-NVIDIA-End-User-License-Agreement";  // conda-forge's
    std::string name = "LicenseRef-";
    for (const char c : license) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
        if (plain) name += c;
        if (!plain && name.back() != '-') name += '-';
    }
    while (name.ends_with('-')) name.pop_back();
    return name;
}

/// From this version on, below the next major: what was tested together, and what replaces it.
std::string bounds(const std::string& version) {
    const auto major = version.substr(0, version.find('.'));
    const bool is_number = !major.empty() && major.size() < 9 &&
                           std::all_of(major.begin(), major.end(), [](unsigned char c) {
                               return std::isdigit(c) != 0;
                           });
    if (!is_number) return fmt::format(">={}", version);
    return fmt::format(">={},<{}.0a0", version, std::stoi(major) + 1);
}

const RedistListing* find(const std::map<std::string, RedistListing>& listings,
                          const std::string& key) {
    const auto found = listings.find(key);
    return found == listings.end() ? nullptr : &found->second;
}

class Writer {
public:
    explicit Writer(const ComponentRecipeInput& input)
        : input_(input),
          listing_(find(input.listings, input.component.key)),
          facts_(facts_of(input.component.key)),
          layout_(layout_of(input.component, input.choice.platform)),
          cuda_(cuda_version_of(input.manifest, input.choice)) {
        if (listing_ != nullptr) layout_.plain_libraries = listing_->plain_libraries;
        for (const auto part : redist_parts()) {
            if (part == RedistPart::Activation) continue;
            const bool never = part == RedistPart::Runtime && !facts_.has_runtime;
            if (listing_ != nullptr ? listing_->parts.contains(part) : !never) parts_.insert(part);
        }
        if (facts_.main.contains(RedistPart::Activation)) parts_.insert(RedistPart::Activation);
    }

    ComponentRecipe write() {
        ComponentRecipe made;
        made.package = facts_.package;
        head();
        staging();
        // The runtime first: others are pinned to it.
        Texts done;
        for (const auto part : {RedistPart::Runtime,
                                RedistPart::Stubs,
                                RedistPart::Static,
                                RedistPart::Dev,
                                RedistPart::Tools,
                                RedistPart::Docs,
                                RedistPart::Activation}) {
            if (!parts_.contains(part)) continue;
            const auto name = facts_.package_of(part);
            if (std::find(done.begin(), done.end(), name) != done.end()) continue;
            done.push_back(name);
            package(name, part);
        }
        made.packages = std::move(done);
        made.recipe = std::move(out_);
        made.variants = variants();
        made.unknown_needs.assign(unknown_.begin(), unknown_.end());
        return made;
    }

private:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(out_), text, std::forward<Arguments>(arguments)...);
        out_ += '\n';
    }

    void list(int indent, std::string_view key, const Texts& items) {
        if (items.empty()) return;
        line("{:{}}{}:", "", indent, key);
        for (const auto& item : items) line("{:{}}- {}", "", indent + 2, yaml::quote(item));
    }

    void head() {
        const auto& component = input_.component;
        // Its name, not its place: the same manifest makes the same recipe everywhere.
        const auto name = fs::path(input_.manifest.where).filename().native();
        line("# {} of {}, made by gpkg redist import.", component.key, printable(name));
        line("# The archive is NVIDIA's, and so is what may be done with it: see its LICENSE.");
        line("schema_version: 1");
        line("");
        line("recipe:");
        line("  name: {}", yaml::quote(facts_.package));
        line("  version: {}", yaml::quote(component.version));
        line("");
        line("build:");
        line("  skip: {}", yaml::quote(fmt::format("target_platform != '{}'", input_.subdir)));
        if (const auto keys = variant_keys(); !keys.empty())
            line("  variant: {{use_keys: [{}]}}", fmt::join(keys, ", "));
        line("");
        line("about:");
        line("  license: {}", yaml::quote(license_expression(component.license)));
        line("  license_file: LICENSE");
        line("  homepage: https://developer.nvidia.com/{}",
             input_.manifest.product == "cuda" ? "cuda-toolkit" : input_.manifest.product);
        line("");
        line("outputs:");
    }

    void staging() {
        line("  - staging: {{name: {}}}", yaml::quote(facts_.package + "-archive"));
        line("    source:");
        list(6, "url", input_.urls);
        line("      sha256: {}", input_.choice.archive.sha256);
        line("    build:");
        line("      script: |");
        const auto script = staging_script(layout_, parts_);
        for (const auto row : split(script, '\n')) {
            if (row.empty()) {
                out_ += '\n';
            } else {
                line("        {}", row);
            }
        }
        while (out_.ends_with("\n\n")) out_.pop_back();
    }

    void package(const std::string& name, RedistPart part) {
        const auto inside = parts_of(name);
        const bool is_main = name == facts_.package;
        line("");
        line("  - package: {{name: {}}}", yaml::quote(name));
        line("    inherit: {}", yaml::quote(facts_.package + "-archive"));
        files(name, inside);
        requirements(name, inside);
        tests(inside);
        line("    about:");
        line("      summary: {}", yaml::quote(summary_of(input_.component, part, is_main)));
    }

    /// The parts that are in a package.
    std::set<RedistPart> parts_of(const std::string& name) const {
        std::set<RedistPart> inside;
        for (const auto part : parts_) {
            if (facts_.package_of(part) == name) inside.insert(part);
        }
        return inside;
    }

    /// Packages in the order in which they take files: of those whose globs match one, the first
    /// gets it, because the others exclude these globs. So no file is in two of them.
    Texts claim_order() const {
        Texts names;
        for (const auto part : {RedistPart::Docs, RedistPart::Stubs, RedistPart::Static}) {
            if (!facts_.main.contains(part)) names.push_back(facts_.package_of(part));
        }
        names.push_back(facts_.package);
        for (const auto part : {RedistPart::Dev, RedistPart::Tools}) {
            if (!facts_.main.contains(part)) names.push_back(facts_.package_of(part));
        }
        return names;
    }

    void files(const std::string& name, const std::set<RedistPart>& inside) {
        Texts include;
        Texts exclude;
        for (const auto part : inside) {
            const auto globs = layout_.globs(part);
            include.insert(include.end(), globs.begin(), globs.end());
        }
        for (const auto& before : claim_order()) {
            if (before == name) break;
            for (const auto part : parts_of(before)) {
                const auto globs = layout_.globs(part);
                exclude.insert(exclude.end(), globs.begin(), globs.end());
            }
        }
        line("    build:");
        line("      files:");
        list(8, "include", include);
        list(8, "exclude", exclude);
    }

    static std::string exact(const std::string& package) {
        return fmt::format("${{{{ pin_subpackage('{}', exact=True) }}}}", package);
    }

    /// A package of another component: of the version that this manifest has of it.
    std::string sibling(const std::string& key, RedistPart part) const {
        auto name = facts_of(key).package_of(part);
        const auto* other = input_.manifest.find(key);
        if (other == nullptr || !has_platform(*other, input_.choice.platform)) return name;
        return fmt::format("{} {}", name, bounds(other->version));
    }

    void requirements(const std::string& name, const std::set<RedistPart>& inside) {
        const auto has = [&](RedistPart part) { return inside.contains(part); };
        const auto is_elsewhere = [&](RedistPart part) {
            return parts_.contains(part) && facts_.package_of(part) != name;
        };
        Texts run;
        Texts constraints;
        if (!cuda_.empty() && inside != std::set{RedistPart::Docs})
            run.emplace_back("cuda-version ${{ cuda_version }}.*");
        if (has(RedistPart::Activation)) add_compiler(run);
        if (has(RedistPart::Runtime)) {
            for (const auto& key : facts_.opens) add(run, sibling(key, RedistPart::Runtime));
            if (listing_ == nullptr) {
                for (const auto& key : facts_.links) add(run, sibling(key, RedistPart::Runtime));
            }
        }
        if (listing_ != nullptr) add_needs(name, inside, run);
        if (has(RedistPart::Dev)) {
            if (is_elsewhere(RedistPart::Runtime)) run.push_back(exact(facts_.package));
            for (const auto& key : facts_.dev_needs) add_headers(key, run);
            if (is_elsewhere(RedistPart::Static)) {
                const auto archives = facts_.package_of(RedistPart::Static);
                if (facts_.dev_needs_static) {
                    run.push_back(exact(archives));
                } else {
                    constraints.push_back(
                        fmt::format("{} >={}", archives, input_.component.version));
                }
            }
        }
        if (has(RedistPart::Dev) && listing_ != nullptr && listing_->newest_gcc > 0)
            constraints.push_back(fmt::format(
                "gcc_impl_{} <{}", input_.subdir, listing_->newest_gcc + 1));  // conda-forge's gcc
        if (input_.subdir == "linux-aarch64" && !cuda_.empty())
            arm_variant(run, constraints, has(RedistPart::Runtime));
        const bool exports = has(RedistPart::Dev) && is_elsewhere(RedistPart::Runtime);
        const bool is_compiler = has(RedistPart::Activation) && !cuda_.empty();
        if (run.empty() && constraints.empty() && !exports && !is_compiler) return;
        line("    requirements:");
        list(6, "run", run);
        list(6, "run_constraints", constraints);
        if (exports)
            list(6,
                 "run_exports",
                 {fmt::format("${{{{ pin_subpackage('{}', upper_bound='x') }}}}", facts_.package)});
        if (is_compiler) {
            // What it makes runs with every CUDA of its major from its own on.
            line("      run_exports:");
            list(8, "strong", {fmt::format("cuda-version {}", bounds(cuda_))});
        }
    }

    static void add(Texts& run, std::string spec) {
        if (std::find(run.begin(), run.end(), spec) == run.end()) run.push_back(std::move(spec));
    }

    /// The headers of another component, where this manifest has it. Up to CUDA 12 those of
    /// cuda_crt are in the compiler's archive.
    void add_headers(const std::string& key, Texts& run) const {
        const bool is_there = input_.manifest.find(key) != nullptr;
        if (!is_there && input_.manifest.product == "cuda") {
            if (key == "cuda_crt") add_headers("cuda_nvcc", run);
            return;
        }
        if (facts_of(key).package != facts_.package) add(run, sibling(key, RedistPart::Dev));
    }

    void add_compiler(Texts& run) const {
        for (const auto& [key, part] : facts_.compiler) {
            if (facts_of(key).package == facts_.package) {
                if (parts_.contains(part)) run.push_back(exact(facts_.package_of(part)));
                continue;
            }
            const auto* listing = find(input_.listings, key);
            const bool may_be = listing == nullptr || listing->parts.contains(part);
            if (may_be && input_.manifest.find(key) != nullptr) run.push_back(sibling(key, part));
        }
    }

    /// What the package's programs and libraries are linked with. Which glibc they ask for is the
    /// builder's business.
    void add_needs(const std::string& name, const std::set<RedistPart>& inside, Texts& run) {
        for (const auto part : inside) {
            const auto found = listing_->needs.find(part);
            if (found == listing_->needs.end()) continue;
            for (const auto& library : found->second) {
                auto spec = giver_of(library, name);
                if (!spec.empty()) add(run, std::move(spec));
            }
        }
    }

    /// What the archives say goes before what is known of names. Empty: no component.
    std::string component_with(const std::string& library) const {
        for (const auto& [key, listing] : input_.listings) {
            const auto found = listing.libraries.find(library);
            if (found != listing.libraries.end() && found->second == RedistPart::Runtime)
                return key;
        }
        return component_of_library(library);
    }

    /// The dependency that gives a library; empty: the package `name` itself, or the machine.
    std::string giver_of(const std::string& library, const std::string& name) {
        const auto own = listing_->libraries.find(library);
        if (own != listing_->libraries.end()) {
            const auto package = facts_.package_of(own->second);
            return package == name ? std::string() : exact(package);
        }
        if (is_glibc_library(library) || is_driver_library(library)) return {};
        const auto key = component_with(library);
        if (!key.empty()) return sibling(key, RedistPart::Runtime);
        auto package = package_of_library(library);
        if (package.empty()) unknown_.insert(library);
        return package;
    }

    /// Servers and Tegra share a subdir: conda-forge's arm-variant keeps their packages apart.
    void arm_variant(Texts& run, Texts& constraints, bool has_runtime) const {
        auto spec = fmt::format("arm-variant * {}", input_.tegra ? "tegra" : "sbsa");
        const bool is_base = input_.component.key == "cuda_cudart" && has_runtime;
        (is_base || input_.tegra ? run : constraints).push_back(std::move(spec));
    }

    void tests(const std::set<RedistPart>& inside) {
        Texts exists;
        Texts absent;
        const auto has = [&](RedistPart part) { return inside.contains(part); };
        // Without a look into the archive nobody knows what there is.
        if (listing_ != nullptr && has(RedistPart::Runtime))
            exists = {layout_.target + "/lib/**/*.so*"};
        if (listing_ != nullptr && has(RedistPart::Static)) exists.emplace_back("**/*.a");
        if (!has(RedistPart::Static)) absent.emplace_back("**/*.a");
        if (has(RedistPart::Runtime) && !has(RedistPart::Dev) && !has(RedistPart::Tools)) {
            for (const auto* glob : {"**/*.h", "**/*.hpp", "**/*.cuh", "**/*.pc", "bin/**"})
                absent.emplace_back(glob);
            if (layout_.plain_libraries.empty()) absent.emplace_back("lib/*.so");
        }
        if (!has(RedistPart::Stubs)) absent.emplace_back("**/stubs/**");
        if (has(RedistPart::Docs)) absent.clear();
        if (exists.empty() && absent.empty()) return;
        line("    tests:");
        line("      - package_contents:");
        line("          files:");
        list(12, "exists", exists);
        list(12, "not_exists", absent);
    }

    Texts variant_keys() const {
        Texts keys;
        if (!cuda_.empty()) keys.emplace_back("cuda_version");
        if (input_.subdir == "linux-aarch64") keys.emplace_back("arm_variant_type");
        return keys;
    }

    /// Hashed into the build strings: a component may have the same version in two manifests.
    std::string variants() const {
        std::string text;
        if (!cuda_.empty()) text += fmt::format("cuda_version: [\"{}\"]\n", cuda_);
        if (input_.subdir == "linux-aarch64")
            text += fmt::format("arm_variant_type: [{}]\n", input_.tegra ? "tegra" : "sbsa");
        return text;
    }

    const ComponentRecipeInput& input_;
    const RedistListing* listing_;  ///< of the archive; null: it is not at hand
    ComponentFacts facts_;
    RedistLayout layout_;
    std::string cuda_;
    std::set<RedistPart> parts_;  ///< that have a package
    std::set<std::string> unknown_;
    std::string out_;
};

}  // namespace

RedistLayout layout_of(const RedistComponent& component, std::string_view platform) {
    RedistLayout layout;
    layout.target = "targets/" + target_folder(platform);
    layout.share = "share/" + facts_of(component.key).package;
    return layout;
}

ComponentRecipe component_recipe(const ComponentRecipeInput& input) {
    return Writer(input).write();
}

std::string cuda_version_recipe(const std::string& version) {
    const auto major = version.substr(0, version.find('.'));
    return fmt::format(R"(# As conda-forge's: packages of one CUDA depend on one version of it.
schema_version: 1

package:
  name: cuda-version
  version: "{0}"

build:
  noarch: generic

requirements:
  run_constraints:
    - __cuda >={1}
    - cudatoolkit {0}.*

about:
  summary: Which CUDA packages belong to
)",
                       version,
                       major);
}

}  // namespace gpkg
