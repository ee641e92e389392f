#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
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
    GPKG_TRY(outcome.built, build_all(recipes, options));
    if (!request.verify || !outcome.built.failures.empty()) return {};
    GPKG_TRY(outcome.differences, verify_builds(recipes, outcome.built, options));
    if (outcome.differences.empty())
        context.out.print("built twice, every package came out the same");
    return {};
}

Result<void> check_words(const BuildRequest& request) {
    if (request.slurm && request.verify)
        return fail(ErrorKind::Usage, "--verify builds here, and --slurm elsewhere");
    if (!request.slurm_options.empty() && !request.slurm)
        return fail(ErrorKind::Usage, "--slurm-options: means nothing without --slurm");
    return {};
}

Result<int> build(Context& context, const BuildRequest& request) {
    GPKG_CHECK(check_words(request));
    if (!request.slurm_task.empty()) return run_slurm_task(context, request);
    GPKG_TRY(const auto recipes, recipe_files(context, request.recipes));
    if (request.render) {
        GPKG_TRY(const auto render, render_options(context, request.sources, request.variants));
        return print_rendered(context, recipes, render);
    }
    GPKG_TRY(const auto limit, closure_limit(request));
    const Orphanage orphanage;
    BuildOutcome outcome;
    outcome.channel = channel_of(context, request);
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
            GPKG_TRY(const auto plan, plan_builds(recipes, options));
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
    // Of what a cluster built the tests were run there.
    const bool tests = !request.no_test && !request.slurm;
    GPKG_CHECK(judge(context, {tests, limit}, sources, publisher, outcome));
    GPKG_CHECK(publish(context, publisher, indexing, outcome));
    report_outcome(context, outcome);
    return outcome.is_success() ? 0 : 1;
}

}  // namespace

Action bind_build(CLI::App& app) {
    const auto options = std::make_shared<BuildRequest>();
    app.add_option("recipes", options->recipes, "recipe files, or folders that hold them")
        ->required();
    app.add_option("--output-dir", options->channel, "the channel that receives the packages")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option(
           "--work-dir", options->work, "for sources and builds (default: beside the channel)")
        ->type_name("FOLDER");
    app.add_option("-j,--jobs",
                   options->jobs,
                   "outputs at a time (default: one per core; with --slurm, any number)")
        ->check(whole_number_from(1))
        ->type_name("N");
    app.add_option("--package-format", options->format, "conda, or tar-bz2 for old clients")
        ->check(CLI::IsMember({"conda", "tar-bz2"}))
        ->capture_default_str();
    app.add_option("--zstd-level", options->zstd_level, "compression of .conda, 1 to 22")
        ->check(CLI::Range(1, 22))
        ->capture_default_str();
    app.add_flag("--rebuild", options->rebuild, "also what is unchanged");
    app.add_option("--max-closure",
                   options->max_closure,
                   "publish nothing that brings more than this with it: 3GB to download")
        ->type_name("SIZE")
        ->check(not_empty("names no size"));
    app.add_flag("--no-test", options->no_test, "do not run the packages' own tests");
    app.add_flag("--keep-work", options->keep_work, "leave the folders of successful builds");
    add_variant_options(app, options->variants);
    app.add_flag("--render", options->render, "print the recipes as they would be built, and stop");
    app.add_flag("--plan", options->plan, "say what would be built, and why, and stop");
    app.add_flag("--verify",
                 options->verify,
                 "build everything twice, in two places, and name what differs");
    app.add_option("--sandbox",
                   options->sandbox,
                   "keep build scripts from the network and from undeclared files: auto (where it "
                   "can be), required or off")
        ->check(CLI::IsMember({"auto", "required", "off"}))
        ->capture_default_str();
    app.add_flag("--network", options->network, "let build scripts use the network");
    app.add_option("--source-cache",
                   options->source_cache,
                   "where sources are kept (default: in the work folder)")
        ->type_name("FOLDER");
    app.add_option("--source-mirror",
                   options->mirrors,
                   "FROM=TO: ask for sources whose URL begins with FROM under TO first")
        ->type_name("URL=URL")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_flag("--slurm",
                 options->slurm,
                 "build on a Slurm cluster, each variant as a task of a job array, and gather what "
                 "they make in the channel; the same command again goes on where it was cut off");
    app.add_option("--slurm-options",
                   options->slurm_options,
                   "further options of sbatch: '--partition=build --cpus-per-task=8 --mem=16G'")
        ->type_name("WORDS")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--slurm-task", options->slurm_task)->group("");  // of the jobs themselves
    add_signing_options(app, options->signing);
    add_source_options(app, options->sources);
    app.footer(
        "What was built from the same inputs is not built again.\n"
        "  gpkg build recipes/hello-gpkg --output-dir ./channel\n"
        "  gpkg build recipes/hello-gpkg --render --variant python=3.11,3.12\n"
        "  gpkg build recipes --plan\n"
        "  gpkg build recipes --slurm --slurm-options '--mem=16G' --output-dir /shared/channel\n"
        "  gpkg build recipes/hello-gpkg --verify");

    return [options](Context& context) { return build(context, *options); };
}

}  // namespace gpkg::cli
