#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/build_environments.hpp"
#include "cli/workflow/package_tests.hpp"
#include "cli/workflow/progress.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/recipe/variant_files.hpp"
#include "libcore/build/sandbox.hpp"
#include "libcore/build/verify_builds.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/transport.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace gpkg::cli {
namespace {

struct Options {
    SourceOptions sources;
    std::vector<std::string> recipes;
    std::string channel = "output";
    std::string work;
    int jobs = 0;
    int zstd_level = 6;
    bool rebuild = false;
    bool no_test = false;
    bool keep_work = false;
    bool render = false;
    bool plan = false;
    bool verify = false;
    bool network = false;
    std::string sandbox = "auto";
    std::string source_cache;
    std::vector<std::string> mirrors;
    std::vector<std::string> variant_files;
    std::vector<std::string> variants;
};

Result<std::vector<fs::path>> recipe_files(const Context& context,
                                           const std::vector<std::string>& texts) {
    std::vector<fs::path> files;
    for (const auto& text : texts) {
        const auto path = absolute_path(text, context.home);
        if (!fs::exists(path))
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: no such recipe or folder", path.native()));
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        GPKG_TRY(const auto found, find_recipes(path));
        if (found.empty())
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: holds no recipe.yaml, nor do its folders", path.native()));
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

Result<RenderOptions> render_options(const Context& context, const Options& options) {
    RenderOptions render;
    render.build_platform = context.config.platform.value;
    GPKG_TRY(const auto machine, machine_of(context, options.sources));
    render.target_platform = machine.platform;
    render.environment = context.env;
    for (const auto& file : options.variant_files) {
        GPKG_TRY(const auto config, read_variant_file(absolute_path(file, context.home), render));
        GPKG_CHECK(render.variants.override_with(config));
    }
    for (const auto& text : options.variants) {
        GPKG_TRY(const auto choice, parse_variant_choice(text));
        GPKG_CHECK(render.variants.override_with(choice));
    }
    return render;
}

/// The outputs of the recipes as they would be built, each a YAML document.
Result<int> print_rendered(Context& context,
                           const std::vector<fs::path>& recipes,
                           const RenderOptions& options) {
    auto document = nlohmann::ordered_json::array();
    for (const auto& file : recipes) {
        GPKG_TRY(const auto recipe, load_recipe(file));
        GPKG_TRY(const auto outputs, render_recipe(recipe, options));
        for (const auto& output : outputs) {
            auto variant = nlohmann::ordered_json::object();
            for (const auto& [key, value] : output.used_variant) variant[key] = value.text;
            auto text = rendered_recipe_text(output);
            document.push_back({{"recipe", file.native()},
                                {"package", output.distribution()},
                                {"subdir", output.subdir},
                                {"variant", std::move(variant)},
                                {"rendered", text}});
            if (!context.out.json_mode()) {
                if (text.ends_with('\n')) text.pop_back();  // result() ends the line
                context.out.result(
                    fmt::format("---\n# {}: {}\n{}", file.native(), output.distribution(), text));
            }
        }
        if (outputs.empty())
            context.out.note(fmt::format(
                "{}: is skipped for {}, in every variant", file.native(), options.target_platform));
    }
    if (context.out.json_mode()) context.out.json({{"success", true}, {"outputs", document}});
    return 0;
}

/// FROM=TO of --source-mirror.
Result<std::pair<std::string, std::string>> mirror_of(const std::string& text) {
    const auto mark = text.find('=');
    auto from = text.substr(0, mark);
    if (mark == std::string::npos || from.find("://") == std::string::npos ||
        text.find("://", mark) == std::string::npos)
        return fail(ErrorKind::Usage,
                    fmt::format("--source-mirror {}: is no URL=URL", text),
                    "for example https://example.org/=file:///srv/mirror/");
    return std::pair{std::move(from), text.substr(mark + 1)};
}

/// Whether build scripts are kept in; says so where that was wanted and cannot be.
Result<bool> sandbox_of(Context& context, const std::string& wish) {
    if (wish == "off") return false;
    const auto lack = why_no_sandbox();
    if (!lack) return true;
    if (wish == "required")
        return fail(ErrorKind::Unsupported, fmt::format("--sandbox required: {}", *lack));
    context.out.warn(
        fmt::format("build scripts are kept neither from the network nor from files "
                    "that no recipe declares: {}",
                    *lack));
    return false;
}

Result<BuildOptions> build_options(Context& context,
                                   const Options& options,
                                   const fs::path& channel,
                                   const fs::path& work,
                                   BuildSources& sources,
                                   Progress& progress) {
    BuildOptions build;
    build.channel = channel;
    build.work = work;
    GPKG_TRY(build.render, render_options(context, options));
    if (const auto epoch = context.env("SOURCE_DATE_EPOCH")) {
        std::int64_t seconds = 0;
        const auto* end = epoch->data() + epoch->size();
        const auto [stop, code] = std::from_chars(epoch->data(), end, seconds);
        if (code != std::errc() || stop != end)
            return fail(ErrorKind::Usage,
                        fmt::format("SOURCE_DATE_EPOCH={}: is no number of seconds", *epoch));
        build.timestamp = seconds;
    }
    build.zstd_level = options.zstd_level;
    build.jobs = options.jobs > 0
                     ? options.jobs
                     : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    build.rebuild = options.rebuild || options.verify;
    if (options.verify && !build.timestamp)
        build.timestamp = std::chrono::duration_cast<std::chrono::seconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
    build.keep_work = options.keep_work;
    build.network = options.network;
    build.offline = options.sources.offline;
    if (!options.source_cache.empty())
        build.source_cache = absolute_path(options.source_cache, context.home);
    for (const auto& text : options.mirrors) {
        GPKG_TRY(auto mirror, mirror_of(text));
        build.mirrors.push_back(std::move(mirror));
    }
    build.cancelled = [&context] { return context.stop.stop_requested(); };
    build.fetch = [&context](const std::string& url, const fs::path& target) -> Result<void> {
        const auto transport = make_transport(transport_options_from(context.env, context.home));
        GetRequest request;
        request.url = url;
        request.into = target;
        request.most_bytes = std::uint64_t{1} << 40U;
        TransferOptions how;
        how.stop = context.stop;
        GPKG_CHECK(get(*transport, request, how));
        return {};
    };
    build.solve_environment = [&](const std::vector<std::string>& specs) {
        return solve_environment(context, sources, specs);
    };
    build.report = [&context, &progress](const BuildEvent& event) {
        if (event.kind == BuildEvent::Kind::Started) return;
        if (event.kind == BuildEvent::Kind::Built && context.out.verbose())
            context.out.note("built " + event.what);
        progress.count("building", event.done, event.total, "recipes");
    };
    return build;
}

/// What would be built, and why.
Result<int> print_plan(Context& context,
                       const std::vector<fs::path>& recipes,
                       const BuildOptions& options) {
    GPKG_TRY(const auto plan, plan_builds(recipes, options));
    auto document = nlohmann::ordered_json::array();
    std::size_t count = 0;
    for (const auto& build : plan) {
        const bool is_needed = !build.reason.empty();
        count += is_needed ? 1 : 0;
        document.push_back({{"package", build.distribution},
                            {"recipe", build.recipe.native()},
                            {"build", is_needed},
                            {"reason", build.reason}});
        if (is_needed) context.out.print(fmt::format("{}: {}", build.distribution, build.reason));
    }
    context.out.print(fmt::format("{} to build, {} unchanged", count, plan.size() - count));
    if (context.out.json_mode()) context.out.json({{"success", true}, {"plan", document}});
    return 0;
}

/// What a run did, told when it is over: the recipes, then the tests of what they made.
struct Outcome {
    fs::path channel;
    BuildSummary built;
    std::vector<FailedPackage> failed_tests;
    std::vector<BuildDifference> differences;  ///< where it was built twice

    bool is_success() const {
        return built.failures.empty() && failed_tests.empty() && differences.empty();
    }
};

void print(Context& context, const Outcome& outcome) {
    std::size_t reused = 0;
    for (const auto& package : outcome.built.packages) {
        reused += package.reused ? 1 : 0;
        for (const auto& warning : package.warnings)
            context.out.warn(fmt::format("{}: {}", package.distribution, warning));
    }
    if (context.out.json_mode()) return;
    for (const auto& failure : outcome.failed_tests) context.out.error(failure.error);
    for (const auto& failure : outcome.built.failures) context.out.error(failure.error);
    for (const auto& difference : outcome.differences)
        context.out.error(Error{ErrorKind::Integrity,
                                fmt::format("{}: built twice from the same, it is not the same: {}",
                                            difference.distribution,
                                            difference.what),
                                {},
                                {}});
    context.out.print(fmt::format("{}: {} packages built, {} unchanged, {} recipes failed",
                                  outcome.channel.native(),
                                  outcome.built.packages.size() - reused,
                                  reused,
                                  outcome.built.failures.size()));
}

nlohmann::ordered_json document_of(const Outcome& outcome) {
    auto packages = nlohmann::ordered_json::array();
    for (const auto& package : outcome.built.packages)
        packages.push_back({{"package", package.distribution},
                            {"file", package.file.native()},
                            {"unchanged", package.reused}});
    auto failures = nlohmann::ordered_json::array();
    for (const auto& failure : outcome.built.failures)
        failures.push_back(
            {{"recipe", failure.recipe.native()}, {"error", failure.error.to_string()}});
    for (const auto& failure : outcome.failed_tests)
        failures.push_back(
            {{"package", failure.distribution}, {"error", failure.error.to_string()}});
    for (const auto& difference : outcome.differences)
        failures.push_back({{"package", difference.distribution}, {"difference", difference.what}});
    return {{"success", outcome.is_success()},
            {"channel", outcome.channel.native()},
            {"packages", std::move(packages)},
            {"failures", std::move(failures)},
            {"failed_tests", outcome.failed_tests.size()}};
}

}  // namespace

Action bind_build(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_option("recipes", options->recipes, "recipe files, or folders that hold them")
        ->required();
    app.add_option("--output-dir", options->channel, "the channel that receives the packages")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option(
           "--work-dir", options->work, "for sources and builds (default: beside the channel)")
        ->type_name("FOLDER");
    app.add_option("-j,--jobs", options->jobs, "recipes at a time (default: one per core)")
        ->type_name("N");
    app.add_option("--zstd-level", options->zstd_level, "compression, 1 to 22")
        ->check(CLI::Range(1, 22))
        ->capture_default_str();
    app.add_flag("--rebuild", options->rebuild, "also what is unchanged");
    app.add_flag("--no-test", options->no_test, "do not run the packages' own tests");
    app.add_flag("--keep-work", options->keep_work, "leave the folders of successful builds");
    app.add_option("-m,--variant-config",
                   options->variant_files,
                   "variants.yaml or conda_build_config.yaml; a later one goes before")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option(
           "--variant", options->variants, "KEY=VALUE, or several to build for: python=3.11,3.12")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
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
    add_source_options(app, options->sources);
    app.footer(
        "What was built from the same inputs is not built again.\n"
        "  gpkg build recipes/hello-gpkg --output-dir ./channel\n"
        "  gpkg build recipes/hello-gpkg --render --variant python=3.11,3.12\n"
        "  gpkg build recipes --plan\n"
        "  gpkg build recipes/hello-gpkg --verify");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto recipes, recipe_files(context, options->recipes));
        if (options->render) {
            GPKG_TRY(const auto render, render_options(context, *options));
            return print_rendered(context, recipes, render);
        }
        Outcome outcome;
        outcome.channel = absolute_path(options->channel, context.home);
        GPKG_CHECK(make_folders(outcome.channel));
        const auto work = options->work.empty() ? fs::path(outcome.channel.native() + ".work")
                                                : absolute_path(options->work, context.home);
        BuildSources sources(context, options->sources, outcome.channel);
        {
            Progress progress(context.out);
            GPKG_TRY(auto build,
                     build_options(context, *options, outcome.channel, work, sources, progress));
            if (options->plan) return print_plan(context, recipes, build);
            GPKG_TRY(build.sandbox, sandbox_of(context, options->sandbox));
            GPKG_TRY(outcome.built, build_all(recipes, build));
            if (options->verify && outcome.built.failures.empty()) {
                GPKG_TRY(outcome.differences, verify_builds(recipes, outcome.built, build));
                if (outcome.differences.empty())
                    context.out.print("built twice, every package came out the same");
            }
        }
        if (!options->no_test) {
            GPKG_TRY(outcome.failed_tests,
                     test_packages(context, sources, outcome.built.packages, work));
        }
        GPKG_TRY(const auto indexed, sources.write_index());
        for (const auto& package : indexed.refused)
            context.out.warn(
                fmt::format("{}: left out: {}", package.file.native(), package.reason));
        for (const auto& package : indexed.odd)
            context.out.warn(fmt::format(
                "{}: {}: left out of variants.json", package.file.native(), package.reason));
        print(context, outcome);
        if (context.out.json_mode()) context.out.json(document_of(outcome));
        return outcome.is_success() ? 0 : 1;
    };
}

}  // namespace gpkg::cli
