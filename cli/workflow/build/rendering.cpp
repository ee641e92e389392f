#include "cli/workflow/build/rendering.hpp"

#include "cli/context.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/recipe/variant_files.hpp"

#include <CLI/CLI.hpp>

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

}  // namespace gpkg::cli
