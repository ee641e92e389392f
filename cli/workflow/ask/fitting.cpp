#include "cli/workflow/ask/fitting.hpp"

#include "cli/workflow/ask/question.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace gpkg::cli {
namespace {

/// A fact of the machine without the virtual package in parentheses at its end, which the need
/// before it has named.
std::string without_package(std::string fact) {
    if (fact.ends_with(')')) fact.erase(std::min(fact.rfind(" (__"), fact.size()));
    return fact;
}

/// What the build itself asks of the machine and does not find there.
std::string missing_here(const PackageRecord& record, const Sources& sources) {
    const auto unmet = unmet_needs(record, sources.virtual_packages);
    return unmet.empty() ? "" : unmet_text(unmet.front(), sources.machine.name);
}

/// A pin, else the end of the first clash: what something that the build needs asks for in vain.
std::string reason_of(const Explanation& explanation) {
    const auto& lines = explanation.clashes.front().lines;
    std::string reason;
    for (const auto& line : lines) {
        if (line.kind == ExplanationLine::Kind::Pin) return line.text();
        if (line.kind == ExplanationLine::Kind::Asks) reason = line.text();
        if (line.kind == ExplanationLine::Kind::Machine)
            return reason + ", but " + without_package(line.text());
    }
    return "its dependencies conflict (to see why: gpkg solve)";
}

}  // namespace

std::string unmet_text(const UnmetNeed& need, std::string_view machine) {
    return fmt::format("needs {}, but {}",
                       written(need.spec),
                       without_package(machine_fact(machine, need.spec.name, need.there)));
}

Result<std::string> obstacle_of(Context& context,
                                const Sources& sources,
                                const PackageRecord& record) {
    if (auto missing = missing_here(record, sources); !missing.empty()) return missing;
    // What is to build with need not run what it builds.
    const bool has_to_run = !is_for_building(record.name);
    const CudaLimits limits(sources.virtual_packages);
    if (auto reason = has_to_run ? limits.obstacle_of(record) : std::nullopt)
        return *std::move(reason);
    GPKG_TRY(auto spec,
             MatchSpec::parse(fmt::format("{}=={}={}", record.name, record.version, record.build)));
    spec.channel = record.channel;
    spec.subdir = record.subdir;
    ChangeRequest request;
    request.specs.push_back(std::move(spec));
    request.accelerators.all = {AcceleratorChoice::Auto};
    GPKG_TRY(auto question, question_of(context, sources, request));
    // What it needs is to be for what it is for, and to run.
    question.problem.request.accelerators.preferred = accelerator_of(record).accelerator;
    question.problem.wants_fixes = false;
    question.problem.wants_notes = false;
    GPKG_TRY(const auto outcome, answer_to(question));
    GPKG_CHECK(check_stop(context));
    if (const auto* explanation = std::get_if<Explanation>(&outcome))
        return reason_of(*explanation);
    const auto* not_running = std::get<Solution>(outcome).find_not_running(record.name);
    return not_running == nullptr || !has_to_run ? std::string() : not_running->why;
}

}  // namespace gpkg::cli
