#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/workflow/build/redist_import.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {
namespace {

Action bind_import(CLI::App& app) {
    const auto options = std::make_shared<RedistImport>();
    app.add_option("manifest", options->manifest, "manifest redistrib_X.Y.Z.json")
        ->type_name("FILE|URL")
        ->required();
    app.add_option(
           "--output,-o", options->output, "folder to write the recipes to, one folder each")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--component",
                   options->components,
                   "import only this component; may be repeated (default: all)")
        ->type_name("NAME");
    app.add_option("--platform,--subdir",
                   options->platform,
                   "platform of the archives: linux-64 or linux-aarch64")
        ->type_name("PLATFORM");
    app.add_flag(
        "--tegra", options->tegra, "use the linux-aarch64 archives for Tegra, not for servers");
    app.add_option(
           "--mirror", options->mirror, "mirror of the archives, with the layout of NVIDIA's site")
        ->type_name("FOLDER|URL");
    app.add_option("--source-cache",
                   options->source_cache,
                   "source cache of gpkg build, also searched for archives")
        ->type_name("FOLDER");
    app.add_flag("--fetch", options->fetch, "download missing archives to --source-cache");
    app.add_option("--cuda-variant",
                   options->cuda_variant,
                   "CUDA version to choose from archives for several")
        ->type_name("MAJOR");
    app.add_flag("--with-cuda-version",
                 options->with_cuda_version,
                 "also write a recipe for cuda-version, for channels without it");
    app.add_flag("--force", options->force, "overwrite recipes that were changed");
    app.footer(
        "Writes one recipe for each component. gpkg build makes these packages from it: NAME "
        "(libraries), NAME-dev, NAME-static, NAME-stubs, NAME-tools and NAME-docs. If the archives "
        "are available (--mirror, --fetch), packages without files are left out.\n"
        "\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart\n"
        "  gpkg redist import redistrib_12.9.1.json --mirror /srv/redist -o recipes\n"
        "  gpkg build recipes --output-dir ./channel");
    return [options](Context& context) { return import_redist(context, *options); };
}

}  // namespace

Action bind_redist(CLI::App& app) {
    auto* import = app.add_subcommand("import", "write recipes for the components of a manifest");
    import->fallthrough();  // --json after the verb
    auto action = bind_import(*import);
    app.require_subcommand(1);
    app.footer(
        "Makes packages from the redistributable archives of NVIDIA.\n"
        "\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart");
    return action;
}

}  // namespace gpkg::cli
