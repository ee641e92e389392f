#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/build/outcome.hpp"
#include "cli/workflow/build/report.hpp"
#include "cli/workflow/build/request.hpp"
#include "cli/workflow/build/slurm_plan.hpp"
#include "cli/workflow/build/slurm_run.hpp"
#include "cli/workflow/build/slurm_task.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/plan_builds.hpp"
#include "libcore/build/run_claim.hpp"
#include "libcore/build/verify_builds.hpp"
#include "libcore/process/process.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

Result<void> build_here(Context& context,
                        const BuildRequest& request,
                        const std::vector<fs::path>& recipes,
                        BuildOptions& options,
                        BuildOutcome& outcome) {
    GPKG_TRY(options.sandbox, sandbox_of(context, request.sandbox));
    options.needs_run = !request.no_test;
    GPKG_TRY(outcome.built, build_all(recipes, options));
    if (!request.verify || !outcome.built.failures.empty()) return {};
    GPKG_TRY(outcome.differences, verify_builds(recipes, outcome.built, options));
    outcome.is_verified = outcome.differences.empty();
    return {};
}

Result<void> check_options(const BuildRequest& request) {
    if (request.recipes.empty())
        return fail(ErrorKind::Usage,
                    "gpkg build: missing argument: RECIPE",
                    "this folder has no recipe.yaml; name one, or its folder: gpkg build RECIPE");
    if (request.slurm && request.verify)
        return fail(ErrorKind::Usage, "--verify cannot be used with --slurm");
    if (!request.slurm_options.empty() && !request.slurm)
        return fail(ErrorKind::Usage, "--slurm-options needs --slurm");
    return {};
}

Result<int> build(Context& context, const BuildRequest& request) {
    GPKG_CHECK(check_options(request));
    if (!request.slurm_task.empty()) return run_slurm_task(context, request);
    GPKG_TRY(const auto recipes, recipe_files(context, request.recipes));
    GPKG_TRY(const auto render, render_options(context, request.sources, request.variants));
    warn_of_selector_comments(context, recipes);
    warn_of_unused_keys(context, recipes, request.variants, render);
    if (request.render) {
        return print_rendered(context, recipes, render);
    }
    GPKG_TRY(const auto limit, closure_limit(request));
    const Orphanage orphanage;
    BuildOutcome outcome;
    outcome.channel = channel_of(context, request);
    std::error_code code;
    const bool is_new = !fs::exists(outcome.channel, code);
    GPKG_CHECK(make_folders(outcome.channel));
    auto indexing = build_indexer_options(context);
    GPKG_CHECK(set_signing(context, request.signing, indexing));
    if (!request.plan) GPKG_CHECK(check_can_index(outcome.channel, indexing));
    const auto work = work_folder_of(context, request);
    GPKG_TRY(auto sources, BuildSources::of(context, request.sources, outcome.channel));
    {
        Progress progress(context.out);
        GPKG_TRY(auto options, build_options(context, request, work, sources, progress));
        if (request.plan) {
            const auto planned = plan_builds(recipes, options);
            if (is_new) fs::remove(outcome.channel, code);  // fails if something is in it
            GPKG_TRY(const auto plan, planned);
            return request.slurm ? print_slurm_plan(context, request, plan, options)
                                 : print_plan(context, plan);
        }
        if (request.slurm)
            GPKG_CHECK(build_by_slurm(context, request, recipes, options, progress, outcome));
        else
            GPKG_CHECK(build_here(context, request, recipes, options, outcome));
    }
    if (const auto& lack = outcome.built.claim->warning(); !lack.empty()) context.out.warn(lack);
    const Publisher publisher(outcome.channel, work);
    // Slurm tasks run the tests themselves.
    const bool tests = !request.no_test && !request.slurm;
    outcome.runs_tests = !request.no_test;
    GPKG_CHECK(judge(context, {tests, limit}, sources, publisher, outcome));
    GPKG_CHECK(publish(context, publisher, indexing, outcome));
    report_outcome(context, outcome);
    return outcome.is_success() ? 0 : 1;
}

}  // namespace

Action bind_build(CLI::App& app) {
    const auto options = std::make_shared<BuildRequest>();
    auto* recipes = app.add_option(
        "recipes",
        options->recipes,
        "recipe files, or folders that are searched for recipe.yaml; default: ./recipe.yaml");
    recipes->type_name("RECIPE");  // required, but CLI11 would read "plan-variants" as one
    auto* plan_variants =
        app.add_subcommand("plan-variants", "find the fewest builds for given GPUs");
    plan_variants->fallthrough();  // --json after the subcommand
    set_effect(*plan_variants, Effect::Reads);
    const auto run_plan_variants = bind_build_plan_variants(*plan_variants);
    app.add_option("--output-dir", options->channel, "channel folder to write the packages to")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--work-dir",
                   options->work,
                   "folder for sources and builds (default: beside the channel)")
        ->type_name("FOLDER");
    app.add_option("-j,--jobs",
                   options->jobs,
                   "outputs to build at a time (default: one per core; with --slurm: no limit)")
        ->check(whole_number_from(1))
        ->type_name("N");
    app.add_option("--package-format", options->format, "conda, or tar-bz2 for old clients")
        ->check(one_of({"conda", "tar-bz2"}))
        ->type_name("FORMAT")
        ->capture_default_str();
    app.add_option(
           "--zstd-level", options->zstd_level, "compression level of .conda packages, 1 to 22")
        ->check(CLI::Range(1, 22))
        ->type_name("LEVEL")
        ->capture_default_str();
    app.add_flag(
        "--rebuild", options->rebuild, "build packages again even if their inputs are unchanged");
    app.add_option("--max-closure",
                   options->max_closure,
                   "do not publish packages whose download with dependencies is larger: 3GB")
        ->type_name("SIZE")
        ->check(not_empty("the size is empty"));
    app.add_flag("--no-test", options->no_test, "do not run the tests of the packages");
    app.add_flag("--keep-work", options->keep_work, "keep the folders of successful builds");
    add_variant_options(app, options->variants);
    app.add_flag("--render", options->render, "print the rendered recipes and stop");
    app.add_flag("--plan", options->plan, "print what would be built, and why, and stop");
    app.add_flag("--verify",
                 options->verify,
                 "build everything twice, in different folders, and report differences");
    app.add_option("--sandbox",
                   options->sandbox,
                   "isolate build scripts from the network and from files outside of /usr that are "
                   "not declared: auto (if possible), required or off")
        ->check(one_of({"auto", "required", "off"}))
        ->type_name("MODE")
        ->capture_default_str();
    app.add_flag("--network", options->network, "let build scripts use the network");
    app.add_option("--source-cache",
                   options->source_cache,
                   "folder that keeps downloaded sources (default: in the work folder)")
        ->type_name("FOLDER");
    app.add_option("--source-mirror",
                   options->mirrors,
                   "FROM=TO: try TO first for source URLs that begin with FROM; may be repeated")
        ->type_name("FROM=TO")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_flag("--slurm",
                 options->slurm,
                 "build on a Slurm cluster, one job array task per variant; run the same command "
                 "again to resume");
    app.add_option("--slurm-options",
                   options->slurm_options,
                   "more options for sbatch: '--partition=build --mem=16G'; may be repeated")
        ->type_name("OPTIONS")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--slurm-task", options->slurm_task)->group("");  // of the jobs themselves
    add_signing_options(app, options->signing);
    add_source_options(app, options->sources);
    app.get_option("--devices")
        ->description(
            "GPUs of the machine to build and test for, as `gpkg hardware` numbers them: all, "
            "compute "
            "(no display cards) or 0,2; for GPU types to cover, see plan-variants");
    app.footer(
        "Builds packages and adds them to a channel. Packages whose inputs are unchanged are not "
        "built again. Build and test environments use the output channel and the channels of -c. "
        "Without -c they use the configured channels for what the output channel lacks.\n"
        "\n"
        "  gpkg build recipes/hello-gpkg --output-dir ./channel\n"
        "  gpkg build recipes/hello-gpkg --output-dir ./channel -c conda-forge\n"
        "  gpkg build recipes/hello-gpkg --render --variant python=3.11,3.12\n"
        "  gpkg build recipes --plan\n"
        "  gpkg build recipes --slurm --slurm-options '--mem=16G'\n"
        "  gpkg build recipes/hello-gpkg --verify");

    return [options, plan_variants, run_plan_variants, &app](Context& context) -> Result<int> {
        if (!plan_variants->parsed()) {
            std::error_code code;
            if (options->recipes.empty() && fs::is_regular_file("recipe.yaml", code))
                options->recipes = {"recipe.yaml"};
            return build(context, *options);
        }
        GPKG_CHECK(check_own_options_unused(app, *plan_variants));
        return run_plan_variants(context);
    };
}

}  // namespace gpkg::cli
