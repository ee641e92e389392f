#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/workflow/build/redist_import.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {
namespace {

Action bind_import(CLI::App& app) {
    const auto options = std::make_shared<RedistImport>();
    app.add_option("manifest", options->manifest, "redistrib_X.Y.Z.json, a file or a URL")
        ->required();
    app.add_option("--output,-o", options->output, "a folder for each recipe goes in here")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--component", options->components, "only these; else all of the platform")
        ->type_name("NAME");
    app.add_option("--platform,--subdir", options->platform, "linux-64, linux-aarch64")
        ->type_name("SUBDIR");
    app.add_flag("--tegra", options->tegra, "of linux-aarch64 the archives for Tegra, not servers");
    app.add_option("--mirror", options->mirror, "where the archives are, laid out as at NVIDIA")
        ->type_name("FOLDER|URL");
    app.add_option("--source-cache", options->source_cache, "of gpkg build: archives are there too")
        ->type_name("FOLDER");
    app.add_flag("--fetch", options->fetch, "download what is not at hand into --source-cache");
    app.add_option("--cuda-variant", options->cuda_variant, "of archives for several CUDAs, this")
        ->type_name("MAJOR");
    app.add_flag("--with-cuda-version",
                 options->with_cuda_version,
                 "also a recipe for cuda-version, for channels without conda-forge's");
    app.add_flag("--force", options->force, "write over recipes that say something else");
    app.footer(
        "Writes a recipe for each component, which gpkg build makes packages of: NAME (libraries), "
        "NAME-dev, NAME-static,\nNAME-stubs, NAME-tools and NAME-docs. With the archives at hand "
        "(--mirror) there are only those that have files.\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart --component libcurand\n"
        "  gpkg redist import redistrib_12.9.1.json --mirror /srv/redist -o recipes/cuda-12.9\n"
        "  gpkg build recipes/cuda-12.9 --output-dir ./channel");
    return [options](Context& context) { return import_redist(context, *options); };
}

}  // namespace

Action bind_redist(CLI::App& app) {
    auto* import = app.add_subcommand("import", "write recipes for the components of a manifest");
    import->fallthrough();  // --json after the verb
    auto action = bind_import(*import);
    app.require_subcommand(1);
    app.footer(
        "NVIDIA's redistributable archives, as packages (docs/redist.md).\n"
        "  gpkg redist import redistrib_12.9.1.json --component cuda_cudart");
    return action;
}

}  // namespace gpkg::cli
