#include "libcore/recipe/renderer.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/recipe/evaluate_sections.hpp"
#include "libcore/recipe/hardware_variant.hpp"
#include "libcore/recipe/output_identity.hpp"
#include "libcore/recipe/pin.hpp"
#include "libcore/recipe/scope.hpp"
#include "libcore/recipe/sections.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace gpkg {
namespace {

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
            if (output.build.skip) continue;
            const auto same = [&](const auto& other) {
                return other.subdir == output.subdir &&
                       other.distribution() == output.distribution();
            };
            if (std::any_of(rendered.begin(), rendered.end(), same))
                return outputs_[i].node->fail(
                    fmt::format("two outputs have the same file name {}", output.distribution()),
                    "skip one of them, or change its build.string");
            rendered.push_back(output);
        }
        Rendering rendering;
        GPKG_TRY(rendering.outputs, in_build_order(std::move(rendered)));
        rendering.decisive = std::move(decisive_);
        return rendering;
    }

private:
    struct Output {
        const yaml::Node* node = nullptr;
        OutputIdentity identity;
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
            GPKG_TRY(auto identity, read_identity(recipe_, *node, scope.names()));
            for (const auto& other : outputs_) {
                if (other.identity.name == identity.name && (is_staging || other.is_staging))
                    return node->fail(fmt::format(
                        "a staging output and another output are both called '{}'", identity.name));
            }
            outputs_.push_back({node, std::move(identity), is_staging, false, {}, nullptr});
        }
        if (many()) decisive_ = scope.used();
        return {};
    }

    Result<void> render(std::size_t index) {
        auto& output = outputs_[index];
        if (output.rendered) return {};
        if (output.in_progress)
            return output.node->fail(
                fmt::format("'{}' pins or inherits itself", output.identity.name));
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
        // What the context reads counts, whether the output needs it or not: conda-forge's numpy
        // names is_freethreading there to get it into the hash.
        GPKG_CHECK(scope.check_context());
        if (skip) {
            result.build.skip = true;
            for (const auto& key : scope.used()) result.used_variant[key] = variant_.at(key);
            return result;
        }
        // The name and the version count as used here too.
        if (!output.is_staging) {
            const auto again = read_identity(recipe_, *output.node, scope.names());
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
        GPKG_TRY(result.tests, read_recipe_tests(sections.tests, folder));
        GPKG_TRY(result.about, read_about(sections.about));
        if (!sections.extra.is_null() && !sections.extra.is_map())
            return sections.extra.fail("expected a map for extra");
        if (!sections.extra.is_null()) result.extra_json = tree_json(sections.extra);

        result.subdir = result.build.noarch.empty() ? options_.target_platform : "noarch";
        GPKG_TRY(const auto keys, read_variant_keys(sections.build));
        result.build.down_priority = keys.down_priority;
        const auto settle_variant = [&] {
            result.used_variant = used_variant(result, scope, keys);
            result.used_variant.insert(pinned.begin(), pinned.end());
            if (result.inherited)
                result.used_variant.insert(result.inherited->used_variant.begin(),
                                           result.inherited->used_variant.end());
        };
        settle_variant();
        GPKG_CHECK(add_hardware(result));
        settle_variant();
        if (output.is_staging) {
            result.build_string = "h" + variant_hash(result.used_variant);
            return result;
        }
        // What the string reads counts as used, and so is in the hash that the string may hold.
        GPKG_CHECK(build_string(result, sections, context(), scope));
        settle_variant();
        GPKG_TRY(result.build_string, build_string(result, sections, context(), scope));
        return result;
    }

    /// Null when there is none. Of several, each for other variants, the first that is not skipped.
    Result<Output*> output_called(const std::string& name) {
        std::vector<Output*> found;
        for (auto& output : outputs_) {
            if (output.identity.name == name) found.push_back(&output);
        }
        if (found.size() > 1) {
            for (auto* output : found) {
                Scope scope(context(), options_, variant_);
                GPKG_TRY(const bool skip, read_skip(*output->node, scope.names()));
                if (!skip) return output;
            }
        }
        return found.empty() ? nullptr : found.front();
    }

    /// Finds what an output inherits and renders it first.
    Result<void> find_parent(Output& output) {
        const auto* at = output.node->find("inherit");
        if (at == nullptr || at->is_null()) return {};
        Scope scope(context(), options_, variant_);
        GPKG_TRY(const auto from, read_inherit(*at, scope.names()));
        GPKG_TRY(auto* found, output_called(from.name));
        if (found == nullptr)
            return at->fail(fmt::format("'inherit' names an unknown output '{}'", from.name));
        if (output.is_staging && !found->is_staging)
            return at->fail(
                fmt::format("a staging output cannot inherit '{}', which is a package", from.name));
        output.parent = static_cast<std::size_t>(found - outputs_.data());
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
        if (from == nullptr) return at.fail("'inherit' needs 'from', the name of an output");
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
        for (const auto& key : keys.use) {
            if (!is_of_other_accelerator(key, keys, scope)) scope.mark_used(key);
        }

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

    /// Whether a key is of an accelerator that the variant is not for: it makes no difference then,
    /// unless an expression reads it.
    bool is_of_other_accelerator(const std::string& key,
                                 const VariantKeys& keys,
                                 const Scope& scope) const {
        const bool has_accelerator =
            scope.used().contains("accel") ||
            std::find(keys.use.begin(), keys.use.end(), "accel") != keys.use.end();
        return has_accelerator && says_nothing_of_hardware(variant_, key);
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
                                            const yaml::Node* context,
                                            Scope& scope) {
        const auto* at = sections.build_string;
        if (at == nullptr || at->is_null())
            return default_build_string(
                output.used_variant, output.build.noarch == "python", output.build.number);
        scope.define_variable("hash", Value(variant_hash(output.used_variant)));
        // Not in CEP 14, but rattler-build gives it, and recipes use it.
        if (context == nullptr || context->find("build_number") == nullptr)
            scope.define_variable("build_number",
                                  Value(static_cast<long long>(output.build.number)));
        GPKG_TRY(const auto tree, evaluate_tree(*at, scope.names()));
        GPKG_TRY(auto text, tree.as_text("a build string"));
        if (!is_build_string(text))
            return at->fail(fmt::format("invalid build string '{}'", text),
                            "use at most 64 letters, digits, _ . and +");
        return text;
    }

    Result<Value> pin_subpackage(const CallArguments& arguments, Variant& pinned) {
        GPKG_TRY(const auto pin, Pin::read("pin_subpackage", arguments));
        GPKG_TRY(auto* found, output_called(pin.name));
        if (found == nullptr)
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: unknown output '{}'", pin.name));
        if (found->is_staging)
            return fail(
                ErrorKind::Parse,
                fmt::format("pin_subpackage: '{}' is a staging output, not a package", pin.name));
        if (!pin.exact) {
            GPKG_TRY(auto text, pin.dependency(found->identity.version, {}));
            return Value(std::move(text));
        }
        GPKG_CHECK(render(static_cast<std::size_t>(found - outputs_.data())));
        const auto& other = *found->rendered;
        if (other.build.skip)
            return fail(ErrorKind::Parse,
                        fmt::format("pin_subpackage: the output '{}' is skipped in this variant",
                                    pin.name));
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
                return recipe_.root.fail("circular dependency between the outputs");
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
