#include "cli/workflow/build/report.hpp"

#include "cli/workflow/build/slurm_failures.hpp"
#include "libcore/base/text.hpp"
#include "libcore/recipe/recipe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

/// What failed, and why, with what the error tells a program.
nlohmann::ordered_json failure_document(const char* key,
                                        const std::string& name,
                                        const Error& error) {
    nlohmann::ordered_json document{{key, name}, {"error", error.to_string()}};
    if (!error.details.empty()) document.update(nlohmann::ordered_json::parse(error.details));
    return document;
}

/// "output/noarch/a-1-0.conda", where that is below the current folder.
std::string place_text(const fs::path& file) {
    std::error_code code;
    const auto inside = file.lexically_relative(fs::current_path(code));
    return code || inside.empty() || *inside.begin() == ".." ? file.native() : inside.native();
}

const char* tests_text(const BuiltPackage& package, bool runs_tests) {
    if (package.tests.empty()) return "no tests";
    return runs_tests ? "tests passed" : "tests skipped";
}

/// The package whose failure is the reason of this one: "inherits X, which failed".
std::string failed_cause(const Error& error) {
    constexpr std::string_view kEnd = ", which failed";
    const auto& text = error.message;
    if (!text.ends_with(kEnd)) return {};
    for (const std::string_view verb : {"inherits ", "needs "}) {
        const auto at = text.rfind(verb);
        if (at == std::string::npos) continue;
        const auto start = at + verb.size();
        return text.substr(start, text.size() - kEnd.size() - start);
    }
    return {};
}

/// Many packages that were not built because of the same one are one line.
void print_failures(Context& context, const std::vector<FailedBuild>& failures) {
    constexpr std::size_t kFew = 2;
    std::map<std::string, std::vector<std::string>> followers;
    for (const auto& failure : failures) {
        if (auto cause = failed_cause(failure.error); !cause.empty())
            followers[std::move(cause)].push_back(failure.distribution);
    }
    const auto is_one_of_many = [&](const FailedBuild& failure) {
        const auto found = followers.find(failed_cause(failure.error));
        return found != followers.end() && found->second.size() > kFew;
    };
    for (const auto& failure : failures) {
        if (!is_one_of_many(failure)) context.out.error(failure.error);
    }
    for (const auto& [cause, names] : followers) {
        if (names.size() <= kFew) continue;
        context.out.error(Error{ErrorKind::NotFound,
                                fmt::format("{} not built, because {} failed: {}",
                                            count_text(names.size(), "package"),
                                            cause,
                                            join_some(names, "and")),
                                {},
                                {}});
    }
}

void print_skipped(Context& context, const std::vector<fs::path>& recipes) {
    for (const auto& file : recipes)
        context.out.note(fmt::format("{}: skipped in every variant (build.skip)", file.native()));
}

/// ", 1 skipped" behind the numbers of packages.
std::string skipped_count(const std::vector<fs::path>& recipes) {
    return recipes.empty() ? "" : fmt::format(", {} skipped", count_text(recipes.size(), "recipe"));
}

nlohmann::ordered_json skipped_document(const std::vector<fs::path>& recipes) {
    auto document = nlohmann::ordered_json::array();
    for (const auto& file : recipes) document.push_back(file.native());
    return document;
}

void print(Context& context, const BuildOutcome& outcome) {
    const auto gone = outcome.withheld();
    const auto count = outcome.built.packages.size();
    const bool is_unchanged = outcome.identical == count;
    std::size_t reused = 0;
    for (const auto& package : outcome.built.packages) {
        if (!gone.contains(package.distribution)) {
            reused += package.reused ? 1 : 0;
            if (!package.reused)
                context.out.print(
                    fmt::format("{} ({})",
                                outcome.is_verified && is_unchanged
                                    ? fmt::format("rebuilt {} twice", package.distribution)
                                    : "built " + place_text(package.file),
                                tests_text(package, outcome.runs_tests)));
        }
        for (const auto& warning : package.warnings)
            context.out.warn(fmt::format("{}: {}", package.distribution, warning));
    }
    if (context.out.json_mode()) return;
    for (const auto& failure : outcome.failed_tests) context.out.error(failure.error);
    for (const auto& failure : outcome.too_heavy) context.out.error(failure.error);
    print_failures(context, outcome.built.failures);
    for (const auto& difference : outcome.differences)
        context.out.error(
            Error{ErrorKind::Integrity,
                  fmt::format(
                      "{}: the second build differs: {}", difference.distribution, difference.what),
                  {},
                  {}});
    print_skipped(context, outcome.built.skipped);
    if (outcome.is_verified)
        context.out.print(fmt::format("verified: {} identical{}",
                                      count_text(count, "package"),
                                      is_unchanged ? "; channel unchanged" : " in two builds"));
    if (outcome.is_verified && is_unchanged && outcome.is_success()) return;
    context.out.print(
        fmt::format("{} built, {} unchanged, {} failed{} (channel {})",
                    count_text(outcome.built.packages.size() - reused - gone.size(), "package"),
                    reused,
                    outcome.built.failures.size() + gone.size(),
                    skipped_count(outcome.built.skipped),
                    outcome.channel.native()));
}

nlohmann::ordered_json document_of(const BuildOutcome& outcome) {
    const auto gone = outcome.withheld();
    auto packages = nlohmann::ordered_json::array();
    for (const auto& package : outcome.built.packages) {
        if (gone.contains(package.distribution)) continue;
        packages.push_back({{"package", package.distribution},
                            {"file", package.file.native()},
                            {"unchanged", package.reused}});
        if (package.job.empty()) continue;
        packages.back().update(
            {{"node", package.node}, {"job", package.job}, {"log", package.log.native()}});
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
            {"failed_tests", outcome.failed_tests.size()},
            {"skipped", skipped_document(outcome.built.skipped)}};
}

}  // namespace

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
        if (outputs.empty()) print_skipped(context, {file});
    }
    if (context.out.json_mode()) context.out.json({{"success", true}, {"outputs", document}});
    return 0;
}

nlohmann::ordered_json report_plan_failures(Context& context, const BuildPlan& plan) {
    auto failures = nlohmann::ordered_json::array();
    const auto report = [&](const char* key, const std::string& name, const Error& error) {
        failures.push_back(failure_document(key, name, error));
        if (!context.out.json_mode()) context.out.error(error);
    };
    for (const auto& failure : plan.failures)
        report("recipe", failure.recipe.native(), failure.error);
    for (const auto& build : plan.builds) {
        if (build.error) report("package", build.distribution, *build.error);
    }
    return failures;
}

void print_plan_total(Context& context, const BuildPlan& plan) {
    std::size_t needed = 0;
    std::size_t failed = plan.failures.size();
    for (const auto& build : plan.builds) {
        needed += build.is_needed() ? 1 : 0;
        failed += build.error ? 1 : 0;
    }
    const auto unchanged = plan.builds.size() + plan.failures.size() - needed - failed;
    print_skipped(context, plan.skipped);
    context.out.print(fmt::format("{} to build, {} unchanged{}{}",
                                  needed,
                                  unchanged,
                                  failed == 0 ? "" : fmt::format(", {} failed", failed),
                                  skipped_count(plan.skipped)));
}

std::string planned_text(const PlannedBuild& build) {
    const auto variant = variant_text(build.variant);
    return fmt::format("{}: {}{}",
                       build.distribution,
                       build.reason,
                       variant.empty() ? "" : fmt::format(" ({})", variant));
}

Result<int> print_plan(Context& context, const BuildPlan& plan) {
    auto document = nlohmann::ordered_json::array();
    for (const auto& build : plan.builds) {
        if (build.error) continue;
        document.push_back({{"package", build.distribution},
                            {"recipe", build.recipe.native()},
                            {"build", build.is_needed()},
                            {"reason", build.reason},
                            {"variant", build.variant}});
        if (build.is_needed()) context.out.print(planned_text(build));
    }
    const auto failures = report_plan_failures(context, plan);
    print_plan_total(context, plan);
    const bool success = failures.empty();
    if (context.out.json_mode())
        context.out.json({{"success", success},
                          {"plan", document},
                          {"failures", failures},
                          {"skipped", skipped_document(plan.skipped)}});
    return success ? 0 : 1;
}

void report_outcome(Context& context, const BuildOutcome& outcome) {
    print(context, outcome);
    if (context.out.json_mode()) context.out.json(document_of(outcome));
}

}  // namespace gpkg::cli
