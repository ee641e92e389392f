#include "libcore/build/recipe/renderer.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/recipe/dependency.hpp"
#include "libcore/build/recipe/evaluate_sections.hpp"
#include "libcore/build/recipe/hardware_variant.hpp"
#include "libcore/build/recipe/pin.hpp"
#include "libcore/build/recipe/scope.hpp"
#include "libcore/build/recipe/sections.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace gpkg {
namespace {

constexpr std::array<std::string_view, 9> kOutputKeys = {
    "package", "staging", "inherit", "source", "build", "requirements", "tests", "about", "extra"};

struct Identity {
    std::string name;
    std::string version;
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
            if (outputs_[i].is_staging) continue;  // rendered for those who inherit it
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
        bool is_staging = false;
        bool in_progress = false;
        std::optional<std::size_t> parent;  ///< inherited
        std::shared_ptr<const RenderedOutput> rendered;
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
            const bool is_staging = many() && node->find("staging") != nullptr;
            GPKG_TRY(auto identity,
                     is_staging ? read_staging(*node->find("staging"), scope.names())
                                : read_identity(*node, scope.names()));
            for (const auto& other : outputs_) {
                if (other.identity.name == identity.name)
                    return node->fail(fmt::format("two outputs are called '{}'", identity.name));
            }
            outputs_.push_back({node, std::move(identity), is_staging, false, {}, nullptr});
        }
        if (many()) decisive_ = scope.used();
        return {};
    }

    static Result<void> check_output(const yaml::Node& node) {
        if (!node.is_map())
            return node.fail(fmt::format("expected an output, found {}", node.kind_name()));
        for (const auto& [key, value] : node.entries())
            GPKG_CHECK(check_key(value, key, "an output", kOutputKeys));
        const auto* staging = node.find("staging");
        if ((node.find("package") == nullptr) == (staging == nullptr))
            return node.fail("an output has one of 'package' and 'staging'");
        return staging == nullptr ? Result<void>{} : check_staging(node);
    }

    /// What a staging output cannot have (CEP 41), as it makes no package.
    static Result<void> check_staging(const yaml::Node& node) {
        const auto refuse = [](const yaml::Node& value, std::string_view key) {
            return fail(ErrorKind::Parse,
                        fmt::format("{}: a staging output has no '{}'", value.key_place(), key),
                        "give it to the packages that inherit it");
        };
        for (const auto* key : {"tests", "extra"}) {
            if (const auto* value = node.find(key)) return refuse(*value, key);
        }
        const auto* build = node.find("build");
        if (build != nullptr && build->is_map()) {
            for (const auto& [key, value] : build->entries()) {
                if (key != "script") return refuse(value, "build." + key);
            }
        }
        const auto* needs = node.find("requirements");
        if (needs == nullptr || !needs->is_map()) return {};
        for (const auto* key : {"run", "run_constraints", "run_exports", "extras"}) {
            if (const auto* value = needs->find(key))
                return refuse(*value, std::string("requirements.") + key);
        }
        return {};
    }

    static Result<Identity> read_staging(const yaml::Node& at, const Names& names) {
        GPKG_TRY(const auto tree, evaluate_tree(at, names));
        GPKG_CHECK(tree.only_keys("staging", {"name"}));
        const auto* name = tree.find("name");
        if (name == nullptr) return at.fail("the staging output has no name");
        Identity identity;
        GPKG_TRY(identity.name, name->as_text("a name"));
        GPKG_CHECK(check_name(*name, identity.name));
        return identity;
    }

    static Result<void> check_name(const Tree& at, const std::string& name) {
        if (is_package_name(name) && to_lower(name) == name) return {};
        return at.fail(fmt::format("'{}' is no package name", name),
                       "use lower case letters, digits and single - _ . between them");
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
        GPKG_CHECK(check_name(*name, identity.name));
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
            return output.node->fail(
                fmt::format("'{}' is pinned to itself, or inherits itself", output.identity.name));
        output.in_progress = true;
        GPKG_CHECK(find_parent(output));
        GPKG_TRY(auto rendered, render_one(output));
        output.rendered = std::make_shared<const RenderedOutput>(std::move(rendered));
        return {};
    }

    Result<RenderedOutput> render_one(const Output& output) {
        Scope scope(context(), options_, variant_);
        Variant pinned;
        scope.define("pin_subpackage", [&](const CallArguments& arguments) -> Result<Value> {
            return pin_subpackage(arguments, pinned);
        });
        scope.define("pin_compatible", [](const CallArguments& arguments) -> Result<Value> {
            GPKG_TRY(const auto pin, Pin::read("pin_compatible", arguments));
            return Value(open_pin(pin));
        });

        RenderedOutput result;
        result.name = output.identity.name;
        result.version = output.identity.version;
        result.is_staging = output.is_staging;
        result.target_platform = options_.target_platform;
        const auto folder = recipe_.folder();

        GPKG_TRY(const auto skip, read_skip(*output.node, scope.names()));
        if (skip) {
            result.build.skip = true;
            for (const auto& key : scope.used()) result.used_variant[key] = variant_.at(key);
            return result;
        }
        // The name and the version count as used here too.
        if (!output.is_staging) {
            const auto again = read_identity(*output.node, scope.names());
            if (!again) return pass(again.error());
        }
        GPKG_CHECK(inherit(output, result, scope.names()));
        GPKG_TRY(const auto sections,
                 evaluate_sections(recipe_, *output.node, ancestors_of(output), scope.names()));
        GPKG_TRY(result.build, read_build(sections.build, folder));
        // What is inherited was built already: the recipe's build.sh is not for this one.
        if (result.inherited && sections.build.find("script") == nullptr) result.build.script = {};
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
        result.build.down_priority = keys.down_priority;
        result.used_variant = used_variant(result, scope, keys);
        GPKG_CHECK(add_hardware(result));
        result.used_variant = used_variant(result, scope, keys);
        result.used_variant.insert(pinned.begin(), pinned.end());
        if (result.inherited)
            result.used_variant.insert(result.inherited->used_variant.begin(),
                                       result.inherited->used_variant.end());
        if (output.is_staging) {
            result.build_string = "h" + variant_hash(result.used_variant);
            return result;
        }
        GPKG_TRY(result.build_string, build_string(result, sections, scope));
        return result;
    }

    /// Finds what an output inherits and renders it first.
    Result<void> find_parent(Output& output) {
        const auto* at = output.node->find("inherit");
        if (at == nullptr || at->is_null()) return {};
        Scope scope(context(), options_, variant_);
        GPKG_TRY(const auto from, read_inherit(*at, scope.names()));
        const auto found = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& other) {
            return other.identity.name == from.name;
        });
        if (found == outputs_.end())
            return at->fail(fmt::format("there is no output '{}' to inherit", from.name));
        if (output.is_staging && !found->is_staging)
            return at->fail(fmt::format(
                "a staging output can only inherit another one, and '{}' is a package", from.name));
        output.parent = static_cast<std::size_t>(found - outputs_.begin());
        return render(*output.parent);
    }

    struct Inherit {
        std::string name;
        bool run_exports = true;
    };
    /// "name", or {from: name, run_exports: false}.
    static Result<Inherit> read_inherit(const yaml::Node& at, const Names& names) {
        GPKG_TRY(const auto tree, evaluate_tree(at, names));
        Inherit inherit;
        if (!tree.is_map()) {
            GPKG_TRY(inherit.name, tree.as_text("the name of an output"));
            return inherit;
        }
        GPKG_CHECK(tree.only_keys("inherit", {"from", "run_exports"}));
        const auto* from = tree.find("from");
        if (from == nullptr) return at.fail("'inherit' does not say from which output");
        GPKG_TRY(inherit.name, from->as_text("the name of an output"));
        if (const auto* exports = tree.find("run_exports")) {
            GPKG_TRY(inherit.run_exports, exports->as_bool("run_exports"));
        }
        return inherit;
    }

    Result<void> inherit(const Output& output, RenderedOutput& result, const Names& names) const {
        if (!output.parent) return {};
        GPKG_TRY(const auto from, read_inherit(*output.node->find("inherit"), names));
        result.inherits_run_exports = from.run_exports;
        result.inherited = outputs_[*output.parent].rendered;
        return {};
    }

    /// The outputs that this one inherits, the outermost first.
    std::vector<const yaml::Node*> ancestors_of(const Output& output) const {
        std::vector<const yaml::Node*> nodes;
        for (auto at = output.parent; at; at = outputs_[*at].parent)
            nodes.insert(nodes.begin(), outputs_[*at].node);
        return nodes;
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
            if (spec.find(' ') != std::string::npos) continue;  // an open pin has some too
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

    /// What follows from the keys of the variant that say what hardware the output is for. Where
    /// the recipe names a virtual package itself, that stands.
    static Result<void> add_hardware(RenderedOutput& output) {
        GPKG_TRY(const auto hardware, hardware_output(output.used_variant));
        auto& flags = output.build.flags;
        for (const auto& flag : hardware.flags) {
            if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
        }
        auto& run = output.requirements.run;
        for (const auto& depend : hardware.depends) {
            const auto is_same = [&](const auto& spec) {
                return dependency_name(spec) == dependency_name(depend);
            };
            if (std::any_of(run.begin(), run.end(), is_same)) continue;
            GPKG_TRY(auto text, dependency_text(depend));
            run.push_back(std::move(text));
        }
        return {};
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
        GPKG_TRY(const auto pin, Pin::read("pin_subpackage", arguments));
        const auto found = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& output) {
            return output.identity.name == pin.name;
        });
        if (found == outputs_.end())
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: the recipe has no output '{}'", pin.name));
        if (found->is_staging)
            return fail(
                ErrorKind::Parse,
                fmt::format("pin_subpackage: '{}' is a staging output, no package", pin.name));
        if (!pin.exact) {
            GPKG_TRY(auto text, pin.dependency(found->identity.version, {}));
            return Value(std::move(text));
        }
        GPKG_CHECK(render(static_cast<std::size_t>(found - outputs_.begin())));
        const auto& other = *found->rendered;
        if (other.build.skip)
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: the output '{}' is skipped here", pin.name));
        pinned[variant_key(pin.name)] = fmt::format("{} {}", other.version, other.build_string);
        GPKG_TRY(auto text, pin.dependency(other.version, other.build_string));
        return Value(std::move(text));
    }

    // An output comes after those that its build or host needs name.
    Result<std::vector<RenderedOutput>> in_build_order(std::vector<RenderedOutput> outputs) const {
        std::vector<RenderedOutput> sorted;
        std::vector<bool> done(outputs.size(), false);
        const auto waits = [&](const RenderedOutput& output) {
            const auto needs = names_needed_to_build(output);
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                if (!done[i] && outputs[i].name != output.name && needs.contains(outputs[i].name))
                    return true;
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

}  // namespace

Result<Rendering> render_variant(const Recipe& recipe,
                                 const RenderOptions& options,
                                 const Variant& variant) {
    return Renderer(recipe, options, variant).run();
}

}  // namespace gpkg
