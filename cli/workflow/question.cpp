#include "cli/workflow/question.hpp"

#include "cli/workflow/accelerators.hpp"
#include "cli/workflow/reach.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/spec/cuda.hpp"
#include "solver/solver.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

Result<std::vector<MatchSpec>> pins_of(const fs::path& path) {
    std::vector<MatchSpec> pins;
    if (path.empty() || !Prefix::is_environment(path)) return pins;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto texts, prefix.pinned_specs());
    for (const auto& text : texts) {
        auto pin = MatchSpec::parse(text);
        if (!pin)
            return pass(std::move(pin).error().while_doing(
                fmt::format("{}/conda-meta/pinned", path.native())));
        pins.push_back(*std::move(pin));
    }
    return pins;
}

/// A change of python's minor version re-links half of an environment: only on request.
std::optional<MatchSpec> python_pin(const Present& present, const std::set<std::string>& named) {
    const auto* python = find_record(present.records, "python");
    if (python == nullptr || named.contains("python")) return std::nullopt;
    const auto parts = split(python->package.version, '.');
    if (parts.size() < 2) return std::nullopt;
    auto pin = MatchSpec::parse(fmt::format("python {}.{}.*", parts[0], parts[1]));
    return pin ? std::optional(*std::move(pin)) : std::nullopt;
}

Result<Request> request_of(const ChangeRequest& wanted, const Present& present) {
    Request request;
    GPKG_TRY(request.accelerators, accelerators_of(wanted.accelerators, present.state));
    request.specs = wanted.specs;
    request.update = wanted.update;
    request.update_all = wanted.update_all;
    request.no_dependencies = wanted.reach.no_deps;
    for (const auto& pin : present.pins) request.constraints.push_back({pin});

    std::set<std::string> named;
    for (const auto& spec : wanted.specs) named.insert(spec.name);
    if (wanted.reach.freeze_installed || wanted.reach.no_deps) {
        freeze(request,
               present.records,
               named,
               wanted.reach.no_deps ? "--no-deps" : "--freeze-installed");
    } else {
        for (const auto& wish : present.wishes) {
            if (!named.contains(wish.name)) request.specs.push_back(wish);
        }
        // Also what is only looked at may be named to be moved.
        named.insert(wanted.update.begin(), wanted.update.end());
        if (auto pin = python_pin(present, named))
            request.constraints.push_back(
                {*std::move(pin), "holds: python keeps its minor version unless it is named"});
    }
    for (const auto& record : present.records) {
        request.installed.push_back(record.package);
        if (!wanted.prune) request.keep.push_back(record.name());
    }
    return request;
}

/// The names from which all that bears on it can be reached.
std::vector<std::string> names_of(const Request& request) {
    std::vector<std::string> names = request.keep;
    const auto add = [&](const MatchSpec& spec) {
        if (spec.has_one_name()) names.push_back(spec.name);
    };
    for (const auto& spec : request.specs) add(spec);
    for (const auto& constraint : request.constraints) add(constraint.spec);
    for (const auto& record : request.installed) names.push_back(record.name);
    names.insert(names.end(), request.update.begin(), request.update.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<Present> present_for(const ChangeRequest& request) {
    GPKG_TRY(auto present, look_at(request.prefix));
    if (!request.reach.no_pin) {
        GPKG_TRY(present.pins, pins_of(request.prefix));
    }
    if (request.prune) {
        present.wishes.clear();
        present.state.accelerator.clear();
        present.state.package_accelerators.clear();
    }
    return present;
}

Question put(const Context& context,
             const Sources& sources,
             const ChangeRequest& wanted,
             Present present,
             Request request) {
    Question question;
    question.wanted = wanted;
    question.present = std::move(present);
    question.channels = sources.channels;
    question.machine = sources.machine;
    auto& problem = question.problem;
    problem.indexes = sources.indexes;
    problem.priority = sources.priority;
    problem.virtual_packages = sources.virtual_packages;
    problem.exclude_newer = sources.exclude_newer;
    problem.stop = context.stop;
    problem.machine = sources.machine.name;
    problem.request = std::move(request);
    return question;
}

}  // namespace

Result<Present> look_at(const fs::path& path) {
    Present present;
    if (path.empty() || !Prefix::is_environment(path)) return present;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(present.records, prefix.records());
    GPKG_TRY(present.state, prefix.state());
    present.on_disk = present.state;
    GPKG_TRY(const auto history, prefix.history());
    for (const auto& [name, text] : requested_specs(history)) {
        // A spec another tool wrote may be beyond reading; the package then is kept as installed.
        if (auto spec = MatchSpec::parse(text);
            spec && find_record(present.records, name) != nullptr)
            present.wishes.push_back(*std::move(spec));
    }
    return present;
}

Result<Question> question_of(Context& context,
                             const SourceOptions& options,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(wanted));
    GPKG_TRY(auto request, request_of(wanted, present));
    GPKG_TRY(const auto sources, open_sources(context, options, names_of(request)));
    return put(context, sources, wanted, std::move(present), std::move(request));
}

Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(wanted));
    GPKG_TRY(auto request, request_of(wanted, present));
    return put(context, sources, wanted, std::move(present), std::move(request));
}

Result<Question> with_changes(Question question, const std::vector<ProblemChange>& changes) {
    using Kind = ProblemChange::Kind;
    auto& [wanted, present, problem, channels, machine] = question;
    const auto own = wanted.specs.size();
    const auto pins = present.pins.size();
    std::vector<ProblemChange> outside;
    std::set<std::size_t> dropped;
    std::set<std::size_t> lifted;
    for (const auto& change : changes) {
        const bool is_own = change.index < own;
        if (change.kind == Kind::ReplaceSpec) {
            GPKG_TRY(auto spec, MatchSpec::parse(change.spec));
            if (is_own) {
                wanted.specs[change.index] = std::move(spec);
            } else {
                wanted.specs.push_back(std::move(spec));
            }
        } else if (change.kind == Kind::DropSpec && is_own) {
            dropped.insert(change.index);
        } else if (change.kind == Kind::DropSpec) {
            const auto name = problem.request.specs.at(change.index).name;
            std::erase_if(present.wishes, [&](const auto& wish) { return wish.name == name; });
            std::erase_if(present.records, [&](const auto& one) { return one.name() == name; });
        } else if (change.kind == Kind::DropConstraint && change.index < pins) {
            lifted.insert(change.index);
        } else if (change.kind == Kind::DropConstraint) {
            MatchSpec named;
            named.name = problem.request.constraints.at(change.index).spec.name;
            wanted.specs.push_back(std::move(named));
        } else if (change.kind == Kind::LetChange) {
            GPKG_TRY(auto asked, AskedSpec::parse(change.spec));
            if (asked.accelerator) wanted.accelerators.of_package[change.name] = *asked.accelerator;
            wanted.specs.push_back(std::move(asked.spec));
        } else if (change.kind == Kind::SetAccelerator) {
            wanted.accelerators.of_package[change.name] = AcceleratorChoice::Auto;
        } else {
            outside.push_back(change);
        }
    }
    // From the back, so that every place means what it meant.
    for (auto place = dropped.rbegin(); place != dropped.rend(); ++place)
        wanted.specs.erase(wanted.specs.begin() + static_cast<std::ptrdiff_t>(*place));
    for (auto place = lifted.rbegin(); place != lifted.rend(); ++place)
        present.pins.erase(present.pins.begin() + static_cast<std::ptrdiff_t>(*place));
    GPKG_TRY(problem.request, request_of(wanted, present));
    GPKG_TRY(problem, gpkg::with_changes(std::move(problem), outside));
    return question;
}

namespace {

Result<Outcome> answer_with_accelerator(Question& question) {
    auto& [wanted, present, problem, channels, machine] = question;
    GPKG_TRY(auto outcome, solver::solve(problem));
    auto& update = problem.request.update;
    std::set<std::string> moving(update.begin(), update.end());
    while (wanted.reach.update_deps && std::holds_alternative<Solution>(outcome)) {
        // What is newer may need more than what it replaces.
        bool more = false;
        for (auto& name : needed_by(wanted.specs, std::get<Solution>(outcome))) {
            if (!moving.insert(name).second) continue;
            update.push_back(std::move(name));
            more = true;
        }
        if (!more) break;
        GPKG_TRY(outcome, solver::solve(problem));
    }
    if (auto* solution = std::get_if<Solution>(&outcome); solution && wanted.reach.only_deps)
        leave_named_out(solution->records, wanted.specs, present.records, present.wishes);
    return outcome;
}

}  // namespace

namespace {

Result<Outcome> answer_with_machine(Question& question) {
    const auto order = accelerators_to_try(
        question.wanted.accelerators, question.present.state, question.problem.virtual_packages);
    for (const auto choice : order) {
        question.problem.request.accelerators.all = choice;
        GPKG_TRY(auto outcome, answer_with_accelerator(question));
        if (choice == order.back() || std::holds_alternative<Solution>(outcome)) return outcome;
    }
    return fail(ErrorKind::Usage, "no accelerator is left to try");
}

/// A record that was made for machines without a GPU, beside others that were not.
bool is_plain_variant(const PackageRecord& record) {
    const auto of = accelerator_of(record);
    return of.accelerator == Accelerator::None && !of.evidence.empty();
}

/// cuda-version goes only with drivers that run its CUDA. Who asks for a compiler wants to build
/// with it, which takes no driver: then the machine is taken as one without. That is no answer
/// where something that would run on the GPU comes in its build for none.
Result<std::optional<Outcome>> answer_for_building(const Question& question) {
    const auto& specs = question.problem.request.specs;
    const bool builds = std::any_of(specs.begin(), specs.end(), [](const MatchSpec& spec) {
        return is_for_building(spec.name);
    });
    auto without = question;
    auto& machine = without.problem.virtual_packages;
    const auto driver =
        std::find_if(machine.begin(), machine.end(), [](const PackageRecord& record) {
            return record.name == "__cuda";
        });
    if (!builds || driver == machine.end()) return std::optional<Outcome>();
    const auto version = driver->version;
    std::erase_if(machine, [](const PackageRecord& record) {
        return record.name == "__cuda" || record.name == "__cuda_arch";
    });
    GPKG_TRY(auto outcome, answer_with_machine(without));
    auto* solution = std::get_if<Solution>(&outcome);
    if (solution == nullptr ||
        std::any_of(solution->records.begin(), solution->records.end(), is_plain_variant))
        return std::optional<Outcome>();
    solution->notes.push_back(fmt::format(
        "for building: the driver of {}, for CUDA {}, does not run what this CUDA builds",
        question.problem.machine,
        version));
    return std::optional(std::move(outcome));
}

}  // namespace

Result<Outcome> answer_to(Question& question) {
    GPKG_TRY(auto outcome, answer_with_machine(question));
    if (std::holds_alternative<Solution>(outcome)) return outcome;
    GPKG_TRY(auto for_building, answer_for_building(question));
    return for_building ? *std::move(for_building) : std::move(outcome);
}

}  // namespace gpkg::cli
