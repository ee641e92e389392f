#include "libcore/redist/component_recipe.hpp"

#include "libcore/base/text.hpp"
#include "libcore/redist/component_split_internal.hpp"
#include "libcore/redist/staging_script.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

std::string summary_of(const ComponentSplit& split, const std::string& package) {
    const auto& component = split.input.component;
    const auto& title = component.title.empty() ? component.key : component.title;
    const auto inside = split.parts_of(package);
    if (package == split.facts.package || inside.empty()) return title;
    switch (*inside.begin()) {
    case RedistPart::Docs: return title + ": documents, samples and sources";
    case RedistPart::Stubs: return title + ": stubs for linking without the driver";
    case RedistPart::Static: return title + ": static libraries";
    case RedistPart::Dev: return title + ": headers and development files";
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

class Writer {
public:
    explicit Writer(const ComponentRecipeInput& input) : split_(input) {}

    ComponentRecipe write() {
        ComponentRecipe made;
        made.package = split_.facts.package;
        made.packages = split_.packages();
        head();
        staging();
        for (const auto& name : made.packages) package(name);
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
        const auto& component = split_.input.component;
        // Its name, not its place: the same manifest makes the same recipe everywhere.
        const auto name = fs::path(split_.input.manifest.where).filename().native();
        line("# {} of {}, written by gpkg redist import.", component.key, printable(name));
        line("# The archive is under the licence of NVIDIA: see its LICENSE.");
        line("schema_version: 1");
        line("");
        line("recipe:");
        line("  name: {}", yaml::quote(split_.facts.package));
        line("  version: {}", yaml::quote(component.version));
        line("");
        line("build:");
        line("  skip: {}",
             yaml::quote(fmt::format("target_platform != '{}'", split_.input.subdir)));
        if (const auto keys = variant_keys(); !keys.empty())
            line("  variant: {{use_keys: [{}]}}", fmt::join(keys, ", "));
        line("");
        line("about:");
        line("  license: {}", yaml::quote(license_expression(component.license)));
        line("  license_file: LICENSE");
        line("  homepage: https://developer.nvidia.com/{}",
             split_.input.manifest.product == "cuda" ? "cuda-toolkit"
                                                     : split_.input.manifest.product);
        line("");
        line("outputs:");
    }

    void staging() {
        line("  - staging: {{name: {}}}", yaml::quote(split_.facts.package + "-archive"));
        line("    source:");
        list(6, "url", split_.input.urls);
        line("      sha256: {}", split_.input.choice.archive.sha256);
        line("    build:");
        line("      script: |");
        const auto script = staging_script(split_.layout, split_.parts);
        for (const auto row : split(script, '\n')) {
            if (row.empty()) {
                out_ += '\n';
            } else {
                line("        {}", row);
            }
        }
        while (out_.ends_with("\n\n")) out_.pop_back();
    }

    void package(const std::string& name) {
        const auto inside = split_.parts_of(name);
        line("");
        line("  - package: {{name: {}}}", yaml::quote(name));
        line("    inherit: {}", yaml::quote(split_.facts.package + "-archive"));
        const auto files = split_.files_of(name);
        line("    build:");
        line("      files:");
        list(8, "include", files.include);
        list(8, "exclude", files.exclude);
        requirements(name);
        tests(inside);
        line("    about:");
        line("      summary: {}", yaml::quote(summary_of(split_, name)));
    }

    void requirements(const std::string& name) {
        const auto needs = needs_of(split_, name, unknown_);
        if (needs.empty()) return;
        line("    requirements:");
        list(6, "run", needs.run);
        list(6, "run_constraints", needs.run_constraints);
        if (needs.strong_exports.empty()) {
            list(6, "run_exports", needs.weak_exports);
        } else {
            line("      run_exports:");
            list(8, "weak", needs.weak_exports);
            list(8, "strong", needs.strong_exports);
        }
    }

    void tests(const std::set<RedistPart>& inside) {
        Texts exists;
        Texts absent;
        const auto has = [&](RedistPart part) { return inside.contains(part); };
        // Without a look into the archive nobody knows what there is.
        if (split_.listing != nullptr && has(RedistPart::Runtime))
            exists = {split_.layout.target + "/lib/**/*.so*"};
        if (split_.listing != nullptr && has(RedistPart::Static)) exists.emplace_back("**/*.a");
        if (!has(RedistPart::Static)) absent.emplace_back("**/*.a");
        if (has(RedistPart::Runtime) && !has(RedistPart::Dev) && !has(RedistPart::Tools)) {
            for (const auto* glob : {"**/*.h", "**/*.hpp", "**/*.cuh", "**/*.pc", "bin/**"})
                absent.emplace_back(glob);
            if (split_.layout.plain_libraries.empty()) absent.emplace_back("lib/*.so");
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
        if (!split_.cuda.empty()) keys.emplace_back("cuda_version");
        if (split_.input.subdir == "linux-aarch64") keys.emplace_back("arm_variant_type");
        return keys;
    }

    /// Hashed into the build strings: a component may have the same version in two manifests.
    std::string variants() const {
        std::string text;
        if (!split_.cuda.empty()) text += fmt::format("cuda_version: [\"{}\"]\n", split_.cuda);
        if (split_.input.subdir == "linux-aarch64")
            text += fmt::format("arm_variant_type: [{}]\n", split_.input.tegra ? "tegra" : "sbsa");
        return text;
    }

    ComponentSplit split_;
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
    return fmt::format(
        R"(# Like the package of conda-forge: all CUDA packages depend on one version of it.
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
  summary: The CUDA version of an environment
)",
        version,
        major);
}

}  // namespace gpkg
