#include "libcore/build/recipe/render.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/recipe/dependency.hpp"
#include "libcore/build/recipe/evaluate_sections.hpp"
#include "libcore/build/recipe/pin.hpp"
#include "libcore/build/recipe/scope.hpp"
#include "libcore/build/recipe/sections.hpp"
#include "libcore/build/recipe/variant_files.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg {
namespace {

constexpr std::array<std::string_view, 7> kOutputKeys = {
    "package", "source", "build", "requirements", "tests", "about", "extra"};

struct Identity {
    std::string name;
    std::string version;
};

/// What a recipe is with one value for each variant key.
struct Rendering {
    std::vector<RenderedOutput> outputs;  ///< in the order in which they are built
    std::set<std::string> decisive;       ///< the keys that would make another one of it
};

/// One rendering of one recipe. Outputs are rendered on demand, because an exact pin needs the
/// build string of another one.
class Renderer {
public:
    Renderer(const Recipe& recipe, const RenderOptions& options, const Variant& variant)
        : recipe_(recipe), options_(options), variant_(variant) {}

    Result<Rendering> run() {
        {
            Scope scope(context(), options_, variant_);
            GPKG_CHECK(scope.check_context());
        }
        GPKG_CHECK(find_outputs());
        std::vector<RenderedOutput> rendered;
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            GPKG_CHECK(render(i));
            const auto& output = *outputs_[i].rendered;
            for (const auto& [key, value] : output.used_variant) decisive_.insert(key);
            if (!output.build.skip) rendered.push_back(output);
        }
        Rendering rendering;
        GPKG_TRY(rendering.outputs, in_build_order(std::move(rendered)));
        rendering.decisive = std::move(decisive_);
        return rendering;
    }

private:
    struct Output {
        const yaml::Node* node = nullptr;
        Identity identity;
        bool in_progress = false;
        std::optional<RenderedOutput> rendered;
    };

    const yaml::Node* context() const { return recipe_.root.find("context"); }
    bool many() const { return recipe_.root.find("outputs") != nullptr; }

    Result<void> find_outputs() {
        Scope scope(context(), options_, variant_);
        std::vector<const yaml::Node*> nodes{&recipe_.root};
        if (const auto* list = recipe_.root.find("outputs")) {
            GPKG_TRY(nodes, selected_items(*list, scope.names()));
        }
        for (const auto* node : nodes) {
            if (many()) GPKG_CHECK(check_output(*node));
            GPKG_TRY(auto identity, read_identity(*node, scope.names()));
            for (const auto& other : outputs_) {
                if (other.identity.name == identity.name)
                    return node->fail(fmt::format("two outputs are called '{}'", identity.name));
            }
            outputs_.push_back({node, std::move(identity), false, std::nullopt});
        }
        if (many()) decisive_ = scope.used();
        return {};
    }

    static Result<void> check_output(const yaml::Node& node) {
        if (!node.is_map())
            return node.fail(fmt::format("expected an output, found {}", node.kind_name()));
        for (const auto& [key, value] : node.entries()) {
            if (key == "staging" || key == "inherit")
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format(
                        "{}: gpkg does not build recipes that use '{}'", value.key_place(), key));
            GPKG_CHECK(check_key(value, key, "an output", kOutputKeys));
        }
        if (node.find("package") == nullptr) return node.fail("the output has no 'package'");
        return {};
    }

    Result<Identity> read_identity(const yaml::Node& node, const Names& names) const {
        const auto& at = *node.find("package");
        GPKG_TRY(auto package, evaluate_tree(at, names));
        GPKG_CHECK(package.only_keys("package", {"name", "version"}));
        if (const auto* shared = recipe_.root.find("recipe")) {
            GPKG_TRY(const auto base, evaluate_tree(*shared, names));
            GPKG_CHECK(base.only_keys("recipe", {"name", "version"}));
            package = merge_trees(base, package);
        }
        const auto* name = package.find("name");
        const auto* version = package.find("version");
        if (name == nullptr) return at.fail("the package has no name");
        if (version == nullptr) return at.fail("the package has no version");
        Identity identity;
        GPKG_TRY(identity.name, name->as_text("a package name"));
        GPKG_TRY(identity.version, version->as_version("the version"));
        if (!is_package_name(identity.name) || to_lower(identity.name) != identity.name)
            return name->fail(fmt::format("'{}' is no package name", identity.name),
                              "use lower case letters, digits and single - _ . between them");
        const auto parsed = Version::parse(identity.version);
        if (!parsed) return version->fail(parsed.error().message, parsed.error().hint);
        if (identity.version.find('-') != std::string::npos || identity.version.size() > 64)
            return version->fail(
                fmt::format("the version '{}' cannot be part of a file name", identity.version),
                "write _ in place of -, and at most 64 characters");
        identity.version = parsed->to_string();
        return identity;
    }

    Result<void> render(std::size_t index) {
        auto& output = outputs_[index];
        if (output.rendered) return {};
        if (output.in_progress)
            return output.node->fail(fmt::format("'{}' is pinned to itself", output.identity.name));
        output.in_progress = true;
        GPKG_TRY(auto rendered, render_one(output));
        outputs_[index].rendered = std::move(rendered);
        return {};
    }

    Result<RenderedOutput> render_one(const Output& output) {
        Scope scope(context(), options_, variant_);
        Variant pinned;
        scope.define("pin_subpackage", [&](const CallArguments& arguments) -> Result<Value> {
            return pin_subpackage(arguments, pinned);
        });
        scope.define("pin_compatible", [](const CallArguments&) -> Result<Value> {
            return fail(ErrorKind::Unsupported,
                        "gpkg does not build recipes that use pin_compatible()",
                        "write the bounds out, e.g. \"numpy >=1.24,<2\"");
        });

        RenderedOutput result;
        result.name = output.identity.name;
        result.version = output.identity.version;
        result.target_platform = options_.target_platform;
        const auto folder = recipe_.folder();

        GPKG_TRY(const auto skip, read_skip(*output.node, scope.names()));
        if (skip) {
            result.build.skip = true;
            for (const auto& key : scope.used()) result.used_variant[key] = variant_.at(key);
            return result;
        }
        // The name and the version count as used here too.
        const auto again = read_identity(*output.node, scope.names());
        if (!again) return pass(again.error());
        GPKG_TRY(const auto sections, evaluate_sections(recipe_, *output.node, scope.names()));
        GPKG_TRY(result.build, read_build(sections.build, folder));
        GPKG_TRY(result.sources, read_sources(sections.source, folder));
        GPKG_TRY(result.requirements, read_requirements(sections.requirements));
        GPKG_CHECK(pin_to_variant(result.requirements.build, scope));
        GPKG_CHECK(pin_to_variant(result.requirements.host, scope));
        GPKG_TRY(result.tests, read_recipe_tests(sections.tests));
        GPKG_TRY(result.about, read_about(sections.about));
        if (!sections.extra.is_null() && !sections.extra.is_map())
            return sections.extra.fail("expected a map for extra");
        if (!sections.extra.is_null()) result.extra_json = tree_json(sections.extra);

        result.subdir = result.build.noarch.empty() ? options_.target_platform : "noarch";
        GPKG_TRY(const auto keys, read_variant_keys(sections.build));
        result.used_variant = used_variant(result, scope, keys);
        result.used_variant.insert(pinned.begin(), pinned.end());
        GPKG_TRY(result.build_string, build_string(result, sections, scope));
        return result;
    }

    Result<bool> read_skip(const yaml::Node& node, const Names& names) const {
        for (const auto* at : {&recipe_.root, &node}) {
            const auto* build = at->find("build");
            const auto* skip = build == nullptr ? nullptr : build->find("skip");
            if (skip == nullptr) continue;
            GPKG_TRY(const auto tree, evaluate_tree(*skip, names));
            const auto whole = tree.is_list() ? tree.items : std::vector{tree};
            for (const auto& item : whole) {
                auto value = item.value;
                if (const auto* text = value.text()) {
                    auto evaluated = evaluate_expression(*text, names);
                    if (!evaluated)
                        return item.fail(
                            fmt::format("in 'skip: {}': {}", *text, evaluated.error().message),
                            evaluated.error().hint);
                    value = *std::move(evaluated);
                }
                if (value.truthy()) return true;
            }
        }
        return false;
    }

    /// A dependency without a version takes the version that the variant gives its name: "python"
    /// is "python 3.12.*", "python 3.12.* *_cpython".
    Result<void> pin_to_variant(std::vector<std::string>& specs, Scope& scope) const {
        for (auto& spec : specs) {
            if (spec.find(' ') != std::string::npos) continue;
            const auto key = variant_key(spec);
            scope.mark_used(key);
            const auto found = variant_.find(key);
            if (found == variant_.end() || found->second.text.empty()) continue;
            const auto& value = found->second.text;
            const bool is_plain = value.find_first_of("<>=!~*,| ") == std::string::npos;
            auto pinned = dependency_text(fmt::format("{} {}{}", spec, is_plain ? "=" : "", value));
            if (!pinned)
                return fail(
                    ErrorKind::Parse,
                    fmt::format("the variant {}={}: {}", key, value, pinned.error().message),
                    pinned.error().hint);
            spec = *std::move(pinned);
        }
        return {};
    }

    Variant used_variant(const RenderedOutput& output,
                         Scope& scope,
                         const VariantKeys& keys) const {
        for (const auto* key : {"channel_targets", "channel_sources"}) scope.mark_used(key);
        for (const auto& key : keys.use) scope.mark_used(key);

        Variant used;
        for (const auto& key : scope.used()) used.emplace(key, variant_.at(key));
        for (const auto& key : keys.ignore) used.erase(key);
        used.insert_or_assign("target_platform", output.subdir);
        if (output.build.noarch == "python") used.erase("python");
        for (const auto& spec : output.requirements.run) {
            if (spec.starts_with("__"))
                used.insert_or_assign(std::string(dependency_name(spec)), spec);
        }
        return used;
    }

    static Result<std::string> build_string(const RenderedOutput& output,
                                            const Sections& sections,
                                            Scope& scope) {
        const auto* at = sections.build_string;
        if (at == nullptr || at->is_null())
            return default_build_string(
                output.used_variant, output.build.noarch == "python", output.build.number);
        scope.define_variable("hash", Value(variant_hash(output.used_variant)));
        GPKG_TRY(const auto tree, evaluate_tree(*at, scope.names()));
        GPKG_TRY(auto text, tree.as_text("a build string"));
        if (!is_build_string(text))
            return at->fail(fmt::format("'{}' is no build string", text),
                            "use letters, digits, _ . and +, at most 64");
        return text;
    }

    Result<Value> pin_subpackage(const CallArguments& arguments, Variant& pinned) {
        GPKG_TRY(const auto pin, SubpackagePin::read(arguments));
        const auto found = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& output) {
            return output.identity.name == pin.name;
        });
        if (found == outputs_.end())
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: the recipe has no output '{}'", pin.name));
        if (!pin.exact) {
            GPKG_TRY(const auto bounds, pin_bounds(found->identity.version, pin.lower, pin.upper));
            return Value(fmt::format("{} {}", pin.name, bounds));
        }
        GPKG_CHECK(render(static_cast<std::size_t>(found - outputs_.begin())));
        const auto& other = *found->rendered;
        if (other.build.skip)
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: the output '{}' is skipped here", pin.name));
        pinned[variant_key(pin.name)] = fmt::format("{} {}", other.version, other.build_string);
        return Value(fmt::format("{} =={} {}", pin.name, other.version, other.build_string));
    }

    // An output comes after those that its build or host needs name.
    Result<std::vector<RenderedOutput>> in_build_order(std::vector<RenderedOutput> outputs) const {
        std::vector<RenderedOutput> sorted;
        std::vector<bool> done(outputs.size(), false);
        const auto waits = [&](const RenderedOutput& output) {
            for (const auto* specs : {&output.requirements.build, &output.requirements.host}) {
                for (const auto& spec : *specs) {
                    for (std::size_t i = 0; i < outputs.size(); ++i) {
                        if (!done[i] && outputs[i].name != output.name &&
                            outputs[i].name == dependency_name(spec))
                            return true;
                    }
                }
            }
            return false;
        };
        while (sorted.size() < outputs.size()) {
            const auto before = sorted.size();
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                if (done[i] || waits(outputs[i])) continue;
                done[i] = true;
                sorted.push_back(outputs[i]);
            }
            if (sorted.size() == before)
                return recipe_.root.fail("the outputs need each other to be built");
        }
        return sorted;
    }

    const Recipe& recipe_;
    const RenderOptions& options_;
    const Variant& variant_;
    std::set<std::string> decisive_;
    std::vector<Output> outputs_;
};

/// Renders a recipe for every variant that makes a difference. What that is shows only when it is
/// rendered: a key may be read in one variant and not in another.
class Expansion {
public:
    Expansion(const Recipe& recipe, const RenderOptions& options, const VariantConfig& config)
        : recipe_(recipe), options_(options), config_(config) {}

    Result<std::vector<RenderedOutput>> run() && {
        GPKG_CHECK(expand({}));
        return std::move(outputs_);
    }

private:
    /// With what is `decided`, for all values of what is not.
    Result<void> expand(const Variant& decided) {
        auto variant = config_.first();
        for (const auto& [key, value] : decided) variant[key] = value;
        GPKG_TRY(auto rendering, Renderer(recipe_, options_, variant).run());
        for (const auto& key : rendering.decisive) {
            if (decided.contains(key)) continue;
            const auto choices = config_.choices(key);
            if (choices.size() < 2) continue;
            for (auto choice : choices) {
                choice.insert(decided.begin(), decided.end());
                GPKG_CHECK(expand(choice));
            }
            return {};
        }
        for (auto& output : rendering.outputs) {
            if (made_.insert(output.file_name() + hash_input_text(output.used_variant)).second)
                outputs_.push_back(std::move(output));
        }
        return {};
    }

    const Recipe& recipe_;
    const RenderOptions& options_;
    const VariantConfig& config_;
    std::set<std::string> made_;
    std::vector<RenderedOutput> outputs_;
};

/// Two packages that differ must not have one file name.
Result<void> check_names(const Recipe& recipe, const std::vector<RenderedOutput>& outputs) {
    std::map<std::string, const RenderedOutput*> by_name;
    for (const auto& output : outputs) {
        const auto [known, is_new] =
            by_name.emplace(output.subdir + "/" + output.file_name(), &output);
        if (is_new) continue;
        return recipe.root.fail(fmt::format("two variants of {} make one file, {}: {} and {}",
                                            output.name,
                                            output.file_name(),
                                            hash_input_text(known->second->used_variant),
                                            hash_input_text(output.used_variant)),
                                "put ${{ hash }} into build.string");
    }
    return {};
}

}  // namespace

Result<std::vector<RenderedOutput>> render_recipe(const Recipe& recipe,
                                                  const RenderOptions& options) {
    GPKG_TRY(const auto config, variants_for(recipe, options));
    GPKG_TRY(auto outputs, Expansion(recipe, options, config).run());
    GPKG_CHECK(check_names(recipe, outputs));
    return outputs;
}

}  // namespace gpkg
