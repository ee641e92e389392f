#include "cli/workflow/ask/question.hpp"

#include "cli/workflow/ask/why_not_command.hpp"
#include "cli/workflow/confirm.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/solve/accelerators.hpp"
#include "solver/solver.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

/// Those of the environment, then those of the configuration.
Result<std::vector<PinnedSpec>> pins_of(const Config& config, const fs::path& path) {
    std::vector<PinnedSpec> pins;
    const auto add = [&](const std::vector<std::string>& texts,
                         const std::string& place) -> Result<void> {
        for (const auto& text : texts) {
            auto pin = MatchSpec::parse(text);
            if (!pin) return pass(std::move(pin).error().while_doing(place));
            pins.push_back({*std::move(pin), place});
        }
        return {};
    };
    if (!path.empty() && Prefix::is_environment(path)) {
        GPKG_TRY(const auto prefix, Prefix::open(path));
        GPKG_TRY(const auto texts, prefix.pinned_specs());
        GPKG_CHECK(add(texts, fmt::format("{}/conda-meta/pinned", path.native())));
    }
    const auto& configured = config.pinned_packages;
    GPKG_CHECK(add(configured.value, fmt::format("pinned_packages ({})", configured.source)));
    return pins;
}

Result<Present> present_for(const Config& config, const ChangeRequest& request) {
    GPKG_TRY(auto present, look_at(request.prefix));
    if (!request.reach.no_pin) {
        GPKG_TRY(present.pins, pins_of(config, request.prefix));
    }
    if (request.prune) {
        present.wishes.clear();
        present.leaves.clear();
        present.state.accelerator.clear();
        present.state.accelerator_asked.clear();
        present.state.package_accelerators.clear();
    }
    return present;
}

Result<Question> put(const Context& context,
                     const Sources& sources,
                     const ChangeRequest& wanted,
                     Present present) {
    auto question = question_on(context, sources);
    question.wanted = static_cast<const Wanted&>(wanted);
    question.prefix = wanted.prefix;
    question.specs_stand = wanted.specs_stand;
    question.is_dry_run = wanted.is_dry_run;
    question.present = std::move(present);
    question.problem.request =
        request_of(wanted, question.present, question.problem.virtual_packages);
    if (!wanted.is_for_lock) GPKG_CHECK(check_accelerator_names({&question}));
    return question;
}

}  // namespace

Result<void> check_accelerator_names(const std::vector<const Question*>& questions) {
    std::set<std::string> asked;
    std::vector<std::string> platforms;
    for (const auto* question : questions) {
        const auto& names = question->problem.request.accelerators.asked_packages;
        asked.insert(names.begin(), names.end());
        const auto& platform = question->machine.platform;
        if (std::ranges::find(platforms, platform) == platforms.end())
            platforms.push_back(platform);
    }
    const auto is_known = [&](const std::string& name) {
        return std::ranges::any_of(questions, [&](const Question* question) {
            const auto& problem = question->problem;
            // What is named itself is told of when it is looked for.
            return std::ranges::any_of(problem.request.specs,
                                       [&](const auto& spec) { return spec.name == name; }) ||
                   std::ranges::any_of(problem.indexes,
                                       [&](const auto& index) { return index->has(name); });
        });
    };
    for (const auto& name : asked) {
        if (is_known(name)) continue;
        std::vector<std::string> names{"default"};  // for all others, in an environment.yml
        for (const auto* question : questions) {
            for (const auto& index : question->problem.indexes) {
                for (const auto known : index->names()) names.emplace_back(known);
            }
        }
        const auto near = near_names(name, names);
        return fail(
            ErrorKind::NotFound,
            fmt::format("an accelerator is set for package '{}', which is not found for {}",
                        name,
                        join_some(platforms, "or", platforms.size())),
            did_you_mean(near,
                         "if another platform has it, add a selector in the environment.yml, e.g. "
                         "'# [linux and aarch64]'"));
    }
    return {};
}

Question question_on(const Context& context, const Sources& sources) {
    Question question;
    question.channels = sources.channels;
    question.machine = sources.machine;
    auto& problem = question.problem;
    problem.indexes = sources.indexes;
    problem.priority = sources.priority;
    problem.virtual_packages = sources.virtual_packages;
    problem.exclude_newer = sources.exclude_newer;
    problem.stop = context.stop_or_unread;
    problem.limits = {static_cast<std::uint64_t>(context.config.solve_limit.value),
                      std::chrono::seconds(context.config.explain_limit.value)};
    problem.machine = sources.machine.name;
    problem.how_to_give = [given = sources.machine.given](const MatchSpec& need,
                                                          const PackageRecord& there) {
        return how_to_give(given, {need, &there});
    };
    problem.why_not_command = [&context](const std::string& spec, const Request& request) {
        return why_not_command(context, spec, request);
    };
    return question;
}

Result<Question> question_of(Context& context,
                             const SourceOptions& options,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(context.config, wanted));
    const auto request = request_of(wanted, present, {});
    // What a pattern matches is told, of all that there is.
    const bool has_names = std::ranges::all_of(request.specs, &MatchSpec::has_one_name);
    GPKG_TRY(const auto sources,
             has_names ? open_sources(context, options, names_of(request))
                       : open_whole_sources(context, options));
    return put(context, sources, wanted, std::move(present));
}

Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(context.config, wanted));
    return put(context, sources, wanted, std::move(present));
}

Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& wanted,
                             Present present) {
    GPKG_TRY(present.pins, pins_of(context.config, wanted.prefix));
    return put(context, sources, wanted, std::move(present));
}

Result<Question> with_changes(Question question, const std::vector<ProblemChange>& changes) {
    GPKG_CHECK(make_changes(question, changes));
    return question;
}

Result<Outcome> answer_to(Question& question) { return answer_to(question, solver::solve); }

Result<std::optional<Solution>> solution_of(Question& question) {
    return solution_of(question, solver::solve);
}

Result<std::optional<std::string>> prefer_vendor(Question& question) {
    return prefer_vendor(question, solver::solve);
}

std::string build_reason(const Question& question, const PackageRecord& record) {
    const auto of = accelerator_of(record);
    if (of.evidence.empty() || of.is_for_either) return "";
    const auto& problem = question.problem;
    const auto& asked = problem.request.accelerators;
    const auto choice = asked.choice(record.name);
    std::string reason;
    if (!asked.is_bound(record.name))
        reason = machine_reason(problem.machine, problem.virtual_packages, of.accelerator);
    else if (vendor_of(choice).value_or(Accelerator::None) == of.accelerator)
        reason = fmt::format("accelerator {} is requested", to_string(choice));
    return reason.empty()
               ? ""
               : fmt::format("{} build because {}", compute_platform(of.accelerator), reason);
}

Result<void> settle_vendor(Context& context, Question& question) {
    GPKG_TRY(const auto what, prefer_vendor(question));
    if (!what) return {};
    if (!context.out.can_ask())
        return fail(ErrorKind::Usage,
                    *what,
                    "use --accel nvidia, --accel amd or --accel none, or select GPUs with "
                    "--devices");
    const auto answer =
        context.out.ask(*what + "\nWhich accelerator: nvidia, amd or none?", context.stop);
    if (!answer) return cancelled();
    GPKG_TRY(const auto choice, parse_accelerator_choice(trim(*answer)));
    auto& wanted = question.wanted.accelerators;
    wanted.override_with({{choice}, {}, {}});
    question.problem.request.accelerators = accelerators_of(wanted, question.present.state);
    return {};
}

}  // namespace gpkg::cli
