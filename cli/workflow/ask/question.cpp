#include "cli/workflow/ask/question.hpp"

#include "cli/workflow/ask/accelerators.hpp"
#include "cli/workflow/ask/reach.hpp"
#include "cli/workflow/wishes/earlier_wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/solve/machine_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

/// Those of the environment, then those of the configuration.
Result<std::vector<Pin>> pins_of(const Config& config, const fs::path& path) {
    std::vector<Pin> pins;
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

/// A change of python's minor version re-links half of an environment: only on request.
std::optional<MatchSpec> python_pin(const Present& present, const std::set<std::string>& named) {
    const auto* python = find_record(present.records, "python");
    if (python == nullptr || named.contains("python")) return std::nullopt;
    const auto parts = split(python->package.version, '.');
    if (parts.size() < 2) return std::nullopt;
    auto pin = MatchSpec::parse(fmt::format("python {}.{}.*", parts[0], parts[1]));
    return pin ? std::optional(*std::move(pin)) : std::nullopt;
}

/// Nor is CUDA's major version, which all that is for GPUs goes with, and what is compiled with it
/// outside of the environment too. One that the machine does not run is not held.
std::vector<MatchSpec> cuda_pins(const Present& present,
                                 const std::set<std::string>& named,
                                 const std::vector<PackageRecord>& machine) {
    std::vector<MatchSpec> pins;
    if (std::ranges::any_of(named, tells_cuda_version)) return pins;
    const CudaLimits limits(machine);
    for (const auto name : kCudaVersionPackages) {
        const auto* cuda = find_record(present.records, name);
        if (cuda == nullptr || limits.obstacle_of(cuda->package)) continue;
        const auto major = split(cuda->package.version, '.').front();
        if (auto pin = MatchSpec::parse(fmt::format("{} {}.*", name, major)))
            pins.push_back(*std::move(pin));
    }
    return pins;
}

/// Of names alone, which are there: a version or a build that was not asked for before, what is
/// new, or another accelerator, may take from the rest what it needs.
bool is_plain_update(const ChangeRequest& wanted, const Present& present) {
    const auto& names = wanted.update;
    const auto& wishes = present.wishes;
    return !names.empty() && wanted.accelerators.empty() &&
           std::all_of(wanted.specs.begin(), wanted.specs.end(), [&](const MatchSpec& spec) {
               MatchSpec bare;
               bare.name = spec.name;
               const bool is_old =
                   spec == bare || std::find(wishes.begin(), wishes.end(), spec) != wishes.end();
               return is_old && std::find(names.begin(), names.end(), spec.name) != names.end();
           });
}

/// Whether it asks for a CPU that the machine has not, as _x86_64-microarch-level does of another
/// node: an update of what goes with it is to bring what runs here.
bool is_of_other_cpu(const PackageRecord& record, const std::vector<PackageRecord>& machine) {
    return std::ranges::any_of(unmet_needs(record, machine, true), [](const auto& need) {
        return need.spec.name == "__archspec" && need.there != nullptr;
    });
}

/// Python's, those of what is named and those of what was asked for earlier. What does not run on
/// the machine may be replaced by what is older and does.
std::vector<MatchSpec> floors(const ChangeRequest& wanted,
                              const Present& present,
                              const std::vector<PackageRecord>& machine) {
    const CudaLimits limits(machine);
    std::set<std::string> names(wanted.update.begin(), wanted.update.end());
    names.insert("python");
    for (const auto& wish : present.wishes) names.insert(wish.name);
    std::vector<MatchSpec> floors;
    for (const auto& name : names) {
        const auto* record = find_record(present.records, name);
        if (record == nullptr || limits.obstacle_of(record->package) ||
            is_of_other_cpu(record->package, machine))
            continue;
        if (auto floor = MatchSpec::parse(fmt::format("{} >={}", name, record->package.version)))
            floors.push_back(*std::move(floor));
    }
    return floors;
}

bool is_needed_by(const std::string& name,
                  const std::vector<std::string>& users,
                  const std::vector<PrefixRecord>& records) {
    return std::ranges::any_of(users, [&](const auto& user) {
        const auto* record = find_record(records, user);
        return user == name ||
               (record != nullptr &&
                std::ranges::any_of(record->package.depends, [&](const auto& depend) {
                    return name_in_spec(depend) == name;
                }));
    });
}

/// Whether an update is to bring another build of what is for another CPU.
bool is_left_out(const PrefixRecord& record,
                 const ChangeRequest& wanted,
                 const Present& present,
                 const std::vector<PackageRecord>& machine) {
    return !present.keeps_other_cpu &&
           (wanted.update_all || is_needed_by(record.name(), wanted.update, present.records)) &&
           is_of_other_cpu(record.package, machine);
}

Result<Request> request_of(const ChangeRequest& wanted,
                           const Present& present,
                           const std::vector<PackageRecord>& machine) {
    Request request;
    request.accelerators = accelerators_of(wanted.accelerators, present.state);
    request.accelerators.all = request.accelerators.in_turn_on(machine).front();
    request.names_cuda = request.accelerators.in_turn == std::vector{AcceleratorChoice::Auto} &&
                         std::ranges::any_of(wanted.specs, [](const auto& spec) {
                             return tells_cuda_version(spec.name);
                         });
    request.specs = wanted.specs;
    request.update = wanted.update;
    request.update_all = wanted.update_all;
    request.no_dependencies = wanted.reach.no_deps;
    for (const auto& pin : present.pins) request.constraints.push_back({pin.spec});

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
                {*std::move(pin),
                 "holds: python keeps its minor version unless it is named",
                 Constraint::Holds::UntilNamed});
        for (auto& pin : cuda_pins(present, named, machine))
            request.constraints.push_back({std::move(pin),
                                           "holds: CUDA keeps its major version unless it is named",
                                           Constraint::Holds::WherePossible});
        if (is_plain_update(wanted, present)) {
            for (auto& floor : floors(wanted, present, machine))
                request.constraints.push_back({std::move(floor),
                                               "holds: an update takes no version from it",
                                               Constraint::Holds::WherePossible});
            for (auto& build : builds_kept(wanted, present))
                request.constraints.push_back({std::move(build),
                                               "holds: an update keeps the build asked for earlier",
                                               Constraint::Holds::WherePossible});
        }
    }
    for (const auto& record : present.records) {
        if (!is_left_out(record, wanted, present, machine))
            request.installed.push_back(record.package);
        // What nobody asks for any more leaves a lock.
        if (!wanted.prune && !wanted.is_for_lock) request.keep.push_back(record.name());
    }
    if (wanted.is_for_lock) request.of_what = "the lock";
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
    const auto& asked = request.accelerators.asked_packages;
    names.insert(names.end(), asked.begin(), asked.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
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
    GPKG_TRY(problem.request, request_of(wanted, question.present, sources.virtual_packages));
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
            const auto& [wanted, present, problem, channels, machine] = *question;
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
        return fail(ErrorKind::NotFound,
                    fmt::format("an accelerator is asked for {}, of which the channels have "
                                "nothing for {}",
                                name,
                                join_some(platforms, "or", platforms.size())),
                    near.empty()
                        ? "in an environment.yml, what another platform has takes a selector, as "
                          "in '# [linux and aarch64]'"
                        : fmt::format("did you mean {}?", join_or(near)));
    }
    return {};
}

std::vector<MatchSpec> builds_kept(const ChangeRequest& wanted, const Present& present) {
    std::vector<MatchSpec> kept;
    if (!is_plain_update(wanted, present)) return kept;
    for (const auto& wish : present.wishes) {
        const bool is_named = std::ranges::find(wanted.update, wish.name) != wanted.update.end();
        if (!is_named || !wish.build || wish.build->is_exact() || wish.build->is_any()) continue;
        MatchSpec build;
        build.name = wish.name;
        build.build = wish.build;
        kept.push_back(std::move(build));
    }
    return kept;
}

Result<Present> look_at(const fs::path& path) {
    Present present;
    if (path.empty() || !Prefix::is_environment(path)) return present;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(present.records, prefix.records());
    GPKG_TRY(present.state, prefix.state());
    present.on_disk = present.state;
    GPKG_TRY(const auto history, prefix.history());
    present.wishes = wishes_in(history);
    std::erase_if(present.wishes, [&](const MatchSpec& wish) {
        return find_record(present.records, wish.name) == nullptr;
    });
    if (present.wishes.empty()) present.leaves = leaves_of(present.records);
    return present;
}

Result<Question> question_of(Context& context,
                             const SourceOptions& options,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(context.config, wanted));
    GPKG_TRY(const auto request, request_of(wanted, present, {}));
    GPKG_TRY(const auto sources, open_sources(context, options, names_of(request)));
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

Result<Question> asked_again(Question question) {
    auto accelerators = question.problem.request.accelerators;
    GPKG_TRY(question, with_changes(std::move(question), {}));
    question.problem.request.accelerators = std::move(accelerators);
    return question;
}

bool leaves_out_other_cpu(const Question& question) {
    return std::ranges::any_of(question.present.records, [&](const PrefixRecord& record) {
        return is_left_out(
            record, question.wanted, question.present, question.problem.virtual_packages);
    });
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
                // What was said of its accelerator goes with it to another name.
                auto& of_package = wanted.accelerators.of_package;
                if (auto said = of_package.extract(wanted.specs[change.index].name)) {
                    said.key() = spec.name;
                    of_package.insert(std::move(said));
                }
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
            if (asked.accelerator)
                wanted.accelerators.of_package[asked.spec.name] = *asked.accelerator;
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
    // What an update holds to depends on the machine.
    GPKG_TRY(problem, gpkg::with_changes(std::move(problem), outside));
    GPKG_TRY(problem.request, request_of(wanted, present, problem.virtual_packages));
    return question;
}

}  // namespace gpkg::cli
