#include "cli/workflow/build/lint.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/build/rendering.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/find_recipes.hpp"
#include "libcore/recipe/render.hpp"
#include "libcore/recipe/replace_dependency.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LintOptions {
    SourceOptions sources;
    std::vector<std::string> words;
    std::string channel;
    bool fix = false;
    VariantOptions variants;
};

/// A package to look at, in the channel that it belongs to.
struct Subject {
    fs::path channel;
    fs::path package;
    fs::path recipe{};  ///< that made it; empty: not known
};

/// By its extension: no recipe has one of these.
bool is_package_file(const fs::path& path) {
    return path.extension() == ".conda" || path.native().ends_with(".tar.bz2");
}

/// The packages that a recipe makes, as they lie in the channel.
Result<void> add_made(const fs::path& file,
                      const fs::path& channel,
                      const RenderOptions& options,
                      std::vector<Subject>& subjects) {
    GPKG_TRY(const auto recipe, load_recipe(file));
    GPKG_TRY(const auto outputs, render_recipe(recipe, options));
    for (const auto& output : outputs) {
        const auto stem = (channel / output.subdir / output.distribution()).native();
        std::error_code code;
        const auto before = subjects.size();
        for (const auto* ending : {".conda", ".tar.bz2"}) {
            if (fs::exists(stem + ending, code) && subjects.size() == before)
                subjects.push_back({channel, stem + ending, file});
        }
        if (subjects.size() == before)
            return fail(
                ErrorKind::NotFound,
                fmt::format("{} is not in {}: gpkg lint reads built packages",
                            output.distribution(),
                            channel.native()),
                fmt::format("build it first: gpkg build {0} --output-dir {1}; to check the recipe "
                            "alone: gpkg build {0} --render",
                            shell_word(file.native()),
                            shell_word(channel.native())));
    }
    return {};
}

Result<std::vector<Subject>> subjects_of(const Context& context, const LintOptions& options) {
    std::vector<Subject> subjects;
    const auto channel =
        absolute_path(options.channel.empty() ? "output" : options.channel, context.home);
    for (const auto& word : options.words) {
        const auto path = absolute_path(word, context.home);
        std::error_code code;
        if (!fs::exists(path, code))
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: no such file or folder", path.native()));
        if (is_package_file(path)) {
            subjects.push_back(
                {options.channel.empty() ? path.parent_path().parent_path() : channel, path});
            continue;
        }
        GPKG_TRY(const auto render, render_options(context, options.sources, options.variants));
        GPKG_TRY(const auto recipes, find_recipes(path));
        if (recipes.empty())
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: not a package or recipe, and no recipe.yaml below it",
                                    path.native()),
                        "for the packages of a channel: gpkg lint CHANNEL/linux-64/*.conda");
        for (const auto& recipe : recipes) GPKG_CHECK(add_made(recipe, channel, render, subjects));
    }
    return subjects;
}

std::string use_text(const ToolkitUse& use) {
    return fmt::format("{} ({}{})", use.what, use.part, use.is_named ? ", loaded by name" : "");
}

std::string needs_text(const ToolkitFinding& finding) {
    std::vector<std::string> uses;
    for (const auto& use : finding.uses) uses.push_back(use_text(use));
    for (const auto& library : finding.only_whole) uses.push_back(library);
    return uses.empty() ? "none of it" : "only " + join_some(uses, "and", uses.size());
}

void print(Output& out, const ToolkitFinding& finding) {
    out.result(fmt::format("{}: depends on the whole toolkit {} but uses {}",
                           finding.package,
                           finding.dependency,
                           needs_text(finding)));
    if (!finding.can_be_replaced()) {
        out.result(
            fmt::format("  no smaller package in the channel has {}; gpkg redist import writes "
                        "recipes for the components of the toolkit",
                        join_some(finding.only_whole, "and")));
        return;
    }
    out.result(finding.instead.empty() ? "  remove it from requirements.run"
                                       : "  replace it in requirements.run with:");
    for (const auto& spec : finding.instead) out.result("    - " + spec);
}

/// Once for a package: two toolkits may bring the same.
void print_saved(Output& out, const ToolkitFinding& finding) {
    if (finding.before && finding.after)
        out.result(
            fmt::format("  download size with dependencies: {} instead of {}, {} saved",
                        human_size(*finding.after),
                        human_size(*finding.before),
                        human_size(*finding.before - std::min(*finding.after, *finding.before))));
    else
        out.result("  saved size unknown: the channels lack some of the dependencies");
}

Json json_of(const ToolkitFinding& finding) {
    auto uses = Json::array();
    for (const auto& use : finding.uses)
        uses.push_back({{"what", use.what}, {"package", use.part}, {"by_name", use.is_named}});
    const auto number = [](const std::optional<std::uint64_t>& bytes) {
        return bytes ? Json(*bytes) : Json();
    };
    return {{"rule", "whole-toolkit"},
            {"package", finding.package},
            {"dependency", finding.dependency},
            {"uses", std::move(uses)},
            {"only_in_toolkit", finding.only_whole},
            {"replace_with", finding.instead},
            {"before", number(finding.before)},
            {"after", number(finding.after)},
            {"saves",
             finding.before && finding.after && *finding.after <= *finding.before
                 ? Json(*finding.before - *finding.after)
                 : Json()}};
}

/// What was found, and in which recipe it can be mended.
struct FoundFault {
    fs::path recipe;
    ToolkitFinding finding;
    bool is_fixed = false;
};

/// Writes the parts into the recipe in place of the whole. Packages of several variants may use
/// several parts: all of them are written.
Result<void> fix(Context& context, std::vector<FoundFault>& all) {
    std::map<std::pair<fs::path, std::string>, std::vector<FoundFault*>> by_place;
    for (auto& found : all) by_place[{found.recipe, found.finding.dependency}].push_back(&found);
    for (auto& [place, group] : by_place) {
        const auto& [file, dependency] = place;
        std::vector<std::string> instead;
        bool can_be_replaced = !file.empty();
        for (const auto* found : group) {
            can_be_replaced = can_be_replaced && found->finding.can_be_replaced();
            for (const auto& spec : found->finding.instead) {
                if (std::find(instead.begin(), instead.end(), spec) == instead.end())
                    instead.push_back(spec);
            }
        }
        if (!can_be_replaced) continue;
        GPKG_TRY(const auto recipe, load_recipe(file));
        GPKG_TRY(const auto text, replace_run_dependency(recipe, dependency, instead));
        GPKG_CHECK(write_file_atomically(file, text));
        for (auto* found : group) found->is_fixed = true;
        context.out.print(fmt::format(
            "{}: {} {}; build it again",
            file.native(),
            instead.empty() ? "removed" : "replaced",
            instead.empty() ? dependency
                            : dependency + " with " + join_some(instead, "and", instead.size())));
    }
    return {};
}

Result<int> lint(Context& context, const LintOptions& options) {
    GPKG_TRY(const auto subjects, subjects_of(context, options));
    auto given = options.sources;
    given.override_channels = true;  // configured channels need not be downloaded to check
    std::vector<FoundFault> findings;
    std::optional<BuildSources> sources;
    fs::path open;
    for (const auto& subject : subjects) {
        GPKG_CHECK(check_stop(context));
        if (!sources || open != subject.channel) {
            GPKG_TRY(auto opened, BuildSources::of(context, given, subject.channel));
            sources.emplace(std::move(opened));
        }
        open = subject.channel;
        auto found = lint_package(context, *sources, subject.channel, subject.package);
        if (!found)
            return pass(std::move(found).error().while_doing("checking " +
                                                             subject.package.filename().native()));
        for (auto& finding : *found) findings.push_back({subject.recipe, std::move(finding)});
    }
    if (!context.out.json_mode()) {
        for (auto found = findings.begin(); found != findings.end(); ++found) {
            print(context.out, found->finding);
            const bool has_more = std::any_of(found + 1, findings.end(), [&](const auto& other) {
                return other.finding.package == found->finding.package &&
                       other.finding.can_be_replaced();
            });
            if (found->finding.can_be_replaced() && !has_more)
                print_saved(context.out, found->finding);
        }
    }
    if (options.fix) GPKG_CHECK(fix(context, findings));
    const bool is_well = std::all_of(
        findings.begin(), findings.end(), [](const auto& found) { return found.is_fixed; });
    if (context.out.json_mode()) {
        auto list = Json::array();
        for (const auto& found : findings) {
            list.push_back(json_of(found.finding));
            list.back()["fixed"] = found.is_fixed;
        }
        context.out.json(
            {{"success", is_well}, {"packages", subjects.size()}, {"findings", std::move(list)}});
    } else if (findings.empty()) {
        std::set<fs::path> recipes;
        for (const auto& subject : subjects) {
            if (!subject.recipe.empty()) recipes.insert(subject.recipe);
        }
        context.out.print(
            fmt::format("{} checked for dependencies on whole GPU toolkits: none{}",
                        recipes.empty() ? count_text(subjects.size(), "package")
                                        : count_text(recipes.size(), "recipe"),
                        recipes.empty() ? "" : " (gpkg build checks everything else)"));
    }
    return is_well ? 0 : 1;
}

}  // namespace

Action bind_lint(CLI::App& app) {
    const auto options = std::make_shared<LintOptions>();
    app.add_option("what", options->words, "package files, or recipes whose packages are built")
        ->required()
        ->type_name("PACKAGE|RECIPE");
    app.add_option("--output-dir",
                   options->channel,
                   "channel folder with the packages (default: the folder of the package file, or "
                   "output)")
        ->type_name("FOLDER");
    app.add_flag(
        "--fix", options->fix, "replace the toolkit in the recipes by the packages that are used");
    add_variant_options(app, options->variants);
    add_source_options(app, options->sources);
    app.footer(
        "Finds dependencies on a whole GPU toolkit (cudatoolkit, cuda-toolkit, cuda-libraries, "
        "rocm, ...). Lists the packages of the toolkit that the files need, and how much smaller "
        "the download would be. Exits with status 1 if it finds a problem that --fix did not "
        "solve.\n"
        "\n"
        "  gpkg lint channel/linux-64/app-1-h1234567_0.conda -c conda-forge\n"
        "  gpkg lint recipes/app --output-dir ./channel --fix");
    return [options](Context& context) { return lint(context, *options); };
}

}  // namespace gpkg::cli
