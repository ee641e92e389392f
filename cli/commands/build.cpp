#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/build/environments.hpp"
#include "cli/workflow/build/outcome.hpp"
#include "cli/workflow/build/rendering.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/byte_size.hpp"
#include "libcore/build/builder.hpp"
#include "libcore/build/find_recipes.hpp"
#include "libcore/build/plan_builds.hpp"
#include "libcore/build/run_claim.hpp"
#include "libcore/build/script/sandbox.hpp"
#include "libcore/build/verify_builds.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/process/process.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace gpkg::cli {
namespace {

struct Options {
    SourceOptions sources;
    std::vector<std::string> recipes;
    std::string channel = "output";
    std::string work;
    int jobs = 0;
    std::string format = "conda";
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
    std::string max_closure;
    VariantOptions variants;
    SigningWords signing;
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
    build.staging = sources.staging();
    GPKG_TRY(build.render, render_options(context, options.sources, options.variants));
    if (const auto epoch = context.env("SOURCE_DATE_EPOCH")) {
        std::int64_t seconds = 0;
        const auto* end = epoch->data() + epoch->size();
        const auto [stop, code] = std::from_chars(epoch->data(), end, seconds);
        if (code != std::errc() || stop != end)
            return fail(ErrorKind::Usage,
                        fmt::format("SOURCE_DATE_EPOCH={}: is no number of seconds", *epoch));
        build.timestamp = seconds;
    }
    build.format = options.format == "tar-bz2" ? PackageFormat::TarBz2 : PackageFormat::Conda;
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
        GPKG_TRY(const auto transport, open_transport(context));
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
        if (event.kind == BuildEvent::Kind::Waiting) {
            progress.clear();
            context.out.note(fmt::format("waiting for {}", event.what));
            return;
        }
        if (event.kind == BuildEvent::Kind::Built && context.out.verbose())
            context.out.note("built " + event.what);
        progress.count("building", event.done, event.total, "packages");
    };
    return build;
}

/// What failed, and why, with what the error tells a program.
nlohmann::ordered_json failure_document(const char* key,
                                        const std::string& name,
                                        const Error& error) {
    nlohmann::ordered_json document{{key, name}, {"error", error.to_string()}};
    if (!error.details.empty()) document.update(nlohmann::ordered_json::parse(error.details));
    return document;
}

/// What would be built, and why.
Result<int> print_plan(Context& context,
                       const std::vector<fs::path>& recipes,
                       const BuildOptions& options) {
    GPKG_TRY(const auto plan, plan_builds(recipes, options));
    auto document = nlohmann::ordered_json::array();
    std::size_t count = 0;
    for (const auto& build : plan.builds) {
        const bool is_needed = !build.reason.empty();
        count += is_needed ? 1 : 0;
        document.push_back({{"package", build.distribution},
                            {"recipe", build.recipe.native()},
                            {"build", is_needed},
                            {"reason", build.reason}});
        if (is_needed) context.out.print(fmt::format("{}: {}", build.distribution, build.reason));
    }
    auto failures = nlohmann::ordered_json::array();
    for (const auto& failure : plan.failures) {
        failures.push_back(failure_document("recipe", failure.recipe.native(), failure.error));
        if (!context.out.json_mode()) context.out.error(failure.error);
    }
    context.out.print(
        fmt::format("{} to build, {} unchanged{}",
                    count,
                    plan.builds.size() - count,
                    failures.empty() ? "" : fmt::format(", {} failed", failures.size())));
    const bool success = failures.empty();
    if (context.out.json_mode())
        context.out.json({{"success", success}, {"plan", document}, {"failures", failures}});
    return success ? 0 : 1;
}

void print(Context& context, const BuildOutcome& outcome) {
    const auto gone = outcome.withheld();
    std::size_t reused = 0;
    for (const auto& package : outcome.built.packages) {
        reused += package.reused && !gone.contains(package.distribution) ? 1 : 0;
        for (const auto& warning : package.warnings)
            context.out.warn(fmt::format("{}: {}", package.distribution, warning));
    }
    if (context.out.json_mode()) return;
    for (const auto& failure : outcome.failed_tests) context.out.error(failure.error);
    for (const auto& failure : outcome.too_heavy) context.out.error(failure.error);
    for (const auto& failure : outcome.built.failures) context.out.error(failure.error);
    for (const auto& difference : outcome.differences)
        context.out.error(Error{ErrorKind::Integrity,
                                fmt::format("{}: built twice from the same, it is not the same: {}",
                                            difference.distribution,
                                            difference.what),
                                {},
                                {}});
    context.out.print(fmt::format("{}: {} packages built, {} unchanged, {} failed",
                                  outcome.channel.native(),
                                  outcome.built.packages.size() - reused - gone.size(),
                                  reused,
                                  outcome.built.failures.size() + gone.size()));
}

nlohmann::ordered_json document_of(const BuildOutcome& outcome) {
    const auto gone = outcome.withheld();
    auto packages = nlohmann::ordered_json::array();
    for (const auto& package : outcome.built.packages) {
        if (gone.contains(package.distribution)) continue;
        packages.push_back({{"package", package.distribution},
                            {"file", package.file.native()},
                            {"unchanged", package.reused}});
    }
    auto failures = nlohmann::ordered_json::array();
    for (const auto& failure : outcome.built.failures)
        failures.push_back(failure_document("recipe", failure.recipe.native(), failure.error));
    for (const auto* failed : {&outcome.failed_tests, &outcome.too_heavy}) {
        for (const auto& failure : *failed)
            failures.push_back(failure_document("package", failure.distribution, failure.error));
    }
    for (const auto& difference : outcome.differences)
        failures.push_back({{"package", difference.distribution}, {"difference", difference.what}});
    return {{"success", outcome.is_success()},
            {"channel", outcome.channel.native()},
            {"packages", std::move(packages)},
            {"failures", std::move(failures)},
            {"failed_tests", outcome.failed_tests.size()}};
}

/// Of --max-closure; no value where it is not given.
Result<std::optional<std::uint64_t>> limit_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    auto parsed = parse_byte_size(text);
    if (!parsed) return pass(std::move(parsed).error().while_doing("--max-closure"));
    return *parsed;
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
    app.add_option("-j,--jobs", options->jobs, "outputs at a time (default: one per core)")
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
        ->check(not_empty("--max-closure: names no size"));
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
    add_signing_options(app, options->signing);
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
            GPKG_TRY(const auto render,
                     render_options(context, options->sources, options->variants));
            return print_rendered(context, recipes, render);
        }
        GPKG_TRY(const auto limit, limit_of(options->max_closure));
        const Orphanage orphanage;
        BuildOutcome outcome;
        outcome.channel = absolute_path(options->channel, context.home);
        GPKG_CHECK(make_folders(outcome.channel));
        auto indexing = build_indexer_options(context);
        GPKG_CHECK(set_signing(context, options->signing, indexing));
        if (!options->plan) GPKG_CHECK(check_can_index(outcome.channel, indexing));
        const auto work = options->work.empty() ? fs::path(outcome.channel.native() + ".work")
                                                : absolute_path(options->work, context.home);
        GPKG_TRY(auto sources, BuildSources::of(context, options->sources, outcome.channel));
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
        if (const auto& lack = outcome.built.claim->warning(); !lack.empty())
            context.out.warn(lack);
        const Publisher publisher(outcome.channel, work);
        GPKG_CHECK(judge(context, {!options->no_test, limit}, sources, publisher, outcome));
        GPKG_CHECK(publish(context, publisher, indexing, outcome));
        print(context, outcome);
        if (context.out.json_mode()) context.out.json(document_of(outcome));
        return outcome.is_success() ? 0 : 1;
    };
}

}  // namespace gpkg::cli
