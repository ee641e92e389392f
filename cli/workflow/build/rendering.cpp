#include "cli/workflow/build/rendering.hpp"

#include "cli/context.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/text.hpp"
#include "libcore/recipe/recipe.hpp"
#include "libcore/recipe/selector_comments.hpp"
#include "libcore/recipe/variant_files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <set>

namespace gpkg::cli {

void add_variant_options(CLI::App& app, VariantOptions& options) {
    app.add_option("-m,--variant-config",
                   options.files,
                   "variants.yaml or conda_build_config.yaml; later files override earlier ones")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--variant",
                   options.choices,
                   "use these values of a variant key: python=3.11,3.12; may be repeated")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
}

Result<RenderOptions> render_options(const Context& context,
                                     const SourceOptions& sources,
                                     const VariantOptions& variants) {
    RenderOptions render;
    render.build_platform = context.config.platform.value;
    GPKG_TRY(const auto machine, machine_of(context, sources));
    render.target_platform = machine.platform;
    render.environment = context.env;
    for (const auto& file : variants.files) {
        GPKG_TRY(const auto config, read_variant_file(absolute_path(file, context.home), render));
        GPKG_CHECK(render.variants.override_with(config));
    }
    for (const auto& text : variants.choices) {
        GPKG_TRY(const auto choice, parse_variant_choice(text));
        GPKG_CHECK(render.variants.override_with(choice));
    }
    return render;
}

namespace {

/// Of --variant, with the key that may have been meant.
void warn_of_unused_choices(Context& context,
                            const std::vector<std::string>& choices,
                            const std::set<std::string>& used) {
    std::vector<std::string> known(used.begin(), used.end());
    for (const auto* key : {"accel", "cuda_arch_list", "cuda_version", "gfx_list", "psabi"}) {
        if (!used.contains(key)) known.emplace_back(key);
    }
    for (const auto& text : choices) {
        const auto choice = parse_variant_choice(text);
        if (!choice) continue;
        const auto& key = choice->values.begin()->first;
        if (used.contains(key)) continue;
        const auto near = did_you_mean(near_names(key, known));
        context.out.warn(fmt::format("--variant {}: no recipe uses {} in these variants{}",
                                     text,
                                     key,
                                     near.empty() ? "" : "; " + near));
    }
}

}  // namespace

void warn_of_selector_comments(Context& context, const std::vector<fs::path>& recipes) {
    for (const auto& file : recipes) {
        const auto recipe = load_recipe(file);
        if (!recipe) continue;  // the build reports it
        for (const auto& comment : selector_comments(*recipe))
            context.out.warn(
                fmt::format("{}:{}: '# [{}]' is a comment and selects nothing; write {}",
                            file.native(),
                            comment.line,
                            comment.selector,
                            comment.replacement));
    }
}

void warn_of_unused_keys(Context& context,
                         const std::vector<fs::path>& recipes,
                         const VariantOptions& variants,
                         const RenderOptions& render) {
    if (variants.files.empty() && variants.choices.empty()) return;
    std::set<std::string> used;
    const auto add = [&](const Variant& variant) {
        for (const auto& [key, value] : variant) used.insert(key);
    };
    for (const auto& file : recipes) {
        const auto recipe = load_recipe(file);
        const auto outputs = recipe ? render_recipe(*recipe, render)
                                    : Result<std::vector<RenderedOutput>>(pass(recipe.error()));
        if (!outputs) return;  // the build reports it
        for (const auto& output : *outputs) {
            add(output.used_variant);
            for (auto base = output.inherited; base; base = base->inherited)
                add(base->used_variant);
        }
    }
    warn_of_unused_choices(context, variants.choices, used);
    for (const auto& text : variants.files) {
        const auto file = absolute_path(text, context.home);
        const auto config = read_variant_file(file, render);
        if (!config || file.filename() == "conda_build_config.yaml") continue;
        std::vector<std::string> unused;
        for (const auto& [key, values] : config->values) {
            if (!used.contains(key)) unused.push_back(key);
        }
        if (!unused.empty())
            context.out.warn(fmt::format(
                "{}: no recipe uses {} in these variants", text, join_some(unused, "or")));
    }
}

}  // namespace gpkg::cli
