#include "cli/workflow/ask/hints.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/old_names.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/near_packages.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "virtual-packages/host.hpp"
#include "virtual-packages/machines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>

namespace gpkg::cli {
namespace {

using Kind = ProblemChange::Kind;

/// "CONDA_OVERRIDE_CUDA=11 overrides __cuda of this machine", for virtual packages in the clash.
std::string hint_on_overrides(const Context& context,
                              const Question& question,
                              const Explanation& explanation) {
    const auto configured = configured_overrides(context, question.machine.profile.has_value());
    std::set<std::string> texts;
    for (const auto& clash : explanation.clashes) {
        for (const auto& line : clash.lines) {
            if (line.kind != ExplanationLine::Kind::Machine || !line.name.starts_with("__"))
                continue;
            const auto variable = override_variable(std::string_view(line.name).substr(2));
            std::string said;
            if (const auto value = context.env(variable))
                said = fmt::format("{}={}", variable, *value);
            else if (configured.contains(variable))
                said = fmt::format("override_virtual_packages in {}",
                                   context.config.override_virtual_packages.source);
            if (!said.empty())
                texts.insert(fmt::format("{} overrides {} of {}", said, line.name, line.machine));
        }
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

/// Where an assumed value of the machine is in the way and no fix gives another.
std::string hint_on_assumed(const Question& question, const Explanation& explanation) {
    const auto gives = [](const ProblemChange& change) { return change.kind == Kind::SetMachine; };
    if (std::ranges::any_of(explanation.fixes, [&](const Fix& fix) {
            return std::ranges::any_of(fix.changes, gives);
        }))
        return {};
    for (const auto& clash : explanation.clashes) {
        for (const auto& line : clash.lines) {
            if (line.kind != ExplanationLine::Kind::Machine || !line.given ||
                !is_assumed(*line.given))
                continue;
            MatchSpec any;
            any.name = line.name;
            return fmt::format("{} {} of {} is an assumption; to give another value: {}",
                               line.name,
                               value_told(*line.given),
                               line.machine,
                               how_to_give(question.machine.given, {any, &*line.given}));
        }
    }
    return {};
}

/// "--for h100 glibc=2.36", where the fact became a requested package.
std::string hint_on_facts(const Question& question, const Explanation& explanation) {
    const auto& given = question.machine.given;
    if (given.empty()) return {};
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        if (clash.lines.size() != 1 || line.channels.empty() || line.specs.empty() ||
            !virtual_packages::given_key("__" + line.name))
            continue;
        return fmt::format("facts of the machine belong to its name: --for {},{}",
                           shell_word(given),
                           line.specs.front());
    }
    return {};
}

/// Where the accelerator that is in the way was never typed.
std::string hint_on_accelerator(const Context& context,
                                const Question& question,
                                const Explanation& explanation) {
    const auto& usual = context.config.accelerator;
    const bool is_in_the_way = std::ranges::any_of(explanation.fixes, [](const Fix& fix) {
        return std::ranges::any_of(fix.changes, [](const ProblemChange& change) {
            return change.kind == Kind::SetAccelerator;
        });
    });
    const auto choices = parse_accelerator_choices(usual.value);
    if (usual.value.empty() || !is_in_the_way || !choices ||
        *choices != question.wanted.accelerators.all ||
        std::ranges::any_of(context.arguments,
                            [](const auto& word) { return word.starts_with("--accel"); }))
        return {};
    return fmt::format(
        "accelerator: {} is set in {}; override it with --accel", usual.value, usual.source);
}

/// Where the environment remembers the accelerator that is in the way.
std::string hint_on_environment(const Context& context,
                                const Question& question,
                                const Explanation& explanation) {
    const auto& accelerator = question.present.state.accelerator;
    const auto choice = parse_accelerator_choice(accelerator);
    if (question.prefix.empty() || !choice || !question.wanted.accelerators.all.empty()) return {};
    const auto vendor = vendor_of(*choice).value_or(Accelerator::None);
    if (to_string(vendor) != to_string(*choice)) return {};  // auto and conda keep nothing out
    const bool is_in_the_way = std::ranges::any_of(explanation.clashes, [](const auto& clash) {
        return std::ranges::any_of(clash.lines, [](const auto& line) {
            return std::ranges::any_of(line.left_out,
                                       [](const auto& out) { return !out.lacked_build.empty(); });
        });
    });
    if (!is_in_the_way) return {};
    return fmt::format(
        "environment {} takes {} builds only (accelerator {}); override it with --accel",
        environment_name(context, question.prefix),
        compute_platform(vendor),
        accelerator);
}

bool is_unknown(const Explanation::Clash& clash) { return !clash.lines.front().channels.empty(); }

/// Where there is nothing at all for the platform, a name need not be wrong.
std::string on_other_channels(const Question& question, std::string_view what) {
    const auto& platform = question.machine.platform;
    if (std::ranges::any_of(question.problem.indexes, [&](const auto& index) {
            return index->source().subdir == platform && !index->names().empty();
        }))
        return in_another_channel(what);
    return fmt::format(
        "the channels have no packages for {}; add one that has them with -c CHANNEL", platform);
}

/// Where a name that the class' platform has nothing of is to be had for another class.
std::string hint_on_platforms(const Explanation& explanation,
                              const std::vector<const Question*>& others) {
    for (const auto& clash : explanation.clashes) {
        if (!is_unknown(clash)) continue;
        const auto& line = clash.lines.front();
        for (const auto* other : others) {
            if (std::ranges::any_of(other->problem.indexes,
                                    [&](const auto& index) { return index->has(line.name); }))
                return fmt::format(
                    "{} is available for {}; request it only there with a selector in the "
                    "environment.yml",
                    line.name,
                    other->machine.platform);
        }
    }
    return {};
}

/// Whether the record is from a channel with a URL that is not searched.
bool is_from_unsearched(const Question& question, const PrefixRecord& record) {
    const auto url = without_secrets(record.package.channel);
    return has_scheme(url) && std::ranges::none_of(question.channels, [&](const Channel& one) {
               return without_secrets(one.base_url()) == url;
           });
}

/// Where a requested package was installed from a channel that is not searched.
std::string hint_on_own_channel(const Context& context,
                                const Question& question,
                                const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        if (clash.lines.size() != 1) continue;
        const auto* record = find_record(question.present.records, clash.lines.front().name);
        if (record != nullptr && is_from_unsearched(question, *record))
            return unsearched_text(
                context, {record->name()}, without_secrets(record->package.channel));
    }
    return {};
}

/// Where no channel has a name, and the environment has packages from one that is not searched.
std::string hint_on_installed(const Context& context,
                              const Question& question,
                              const Explanation& explanation) {
    if (!std::ranges::any_of(explanation.clashes, is_unknown)) return {};
    for (const auto& record : question.present.records) {
        if (!is_from_unsearched(question, record)) continue;
        const auto title = channel_title(context, record.package.channel);
        return fmt::format(
            "environment {} has packages from {}, which is not searched; to search it: add -c {}",
            environment_name(context, question.prefix),
            title,
            shell_word(title));
    }
    return {};
}

/// "torch=2.6.0=pypi_0", as `list --export` has what pip installed.
std::string hint_on_pip(const Question& question) {
    for (const auto& spec : question.problem.request.specs) {
        if (spec.build && spec.build->text() == "pypi_0")
            return fmt::format(
                "{} with build pypi_0 was installed by pip; list it under 'pip:' in an "
                "environment.yml",
                spec.name);
    }
    return {};
}

/// The requested specs that first lines of clashes are about.
std::vector<MatchSpec> clashing_specs(const Question& question, const Explanation& explanation) {
    const auto& specs = question.problem.request.specs;
    std::vector<MatchSpec> clashing;
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        if (line.kind == ExplanationLine::Kind::Request && line.askers > 0 &&
            line.index < specs.size())
            clashing.push_back(specs[line.index]);
    }
    return clashing;
}

/// "numpy==1,24", where the comma was meant as a dot: no version is both 1 and 24.
std::string hint_on_commas(const Question& question, const Explanation& explanation) {
    for (const auto& spec : clashing_specs(question, explanation)) {
        if (!spec.version) continue;
        // "==1,==24" or "1.*,==24"
        constexpr std::string_view kNextExact = ",==";
        const auto text = spec.version->to_string();
        const auto comma = text.find(kNextExact);
        if (comma == std::string::npos) continue;
        const auto next = std::string_view(text).substr(comma + kNextExact.size());
        auto first = std::string_view(text).substr(0, comma);
        const bool is_exact = first.starts_with("==");
        if (is_exact)
            first.remove_prefix(2);
        else if (first.ends_with(".*"))
            first.remove_suffix(2);
        const auto is_plain = [](std::string_view version) {
            return version.find_first_not_of("0123456789.") == std::string_view::npos;
        };
        if (!is_plain(first) || !is_plain(next)) continue;
        return fmt::format("a comma means 'and'; did you mean {}{}{}.{}?",
                           spec.name,
                           is_exact ? "==" : "=",
                           first,
                           next);
    }
    return {};
}

/// "pytorch=2.5=cuda*", where there is only a 2.5.1.
std::string hint_on_exact_versions(const Question& question, const Explanation& explanation) {
    for (const auto& spec : clashing_specs(question, explanation)) {
        auto hint = hint_on_exact_version(question.problem.indexes, spec);
        if (!hint.empty()) return hint;
    }
    return {};
}

/// "tensorflow-gpu", where there is a tensorflow.
std::string hint_on_builds(const Question& question, const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        const auto& line = clash.lines.front();
        const auto built = is_unknown(clash) ? build_in_name(line.name) : std::nullopt;
        const auto has = [&](const auto& index) { return index->has(built->package); };
        if (built && std::ranges::any_of(question.problem.indexes, has))
            return fmt::format("{} is an outdated package name; use '{}[accel={}]'",
                               line.name,
                               built->package,
                               to_string(built->accelerator));
    }
    return {};
}

std::vector<std::string> all_names(const Question& question) {
    std::vector<std::string> names;
    for (const auto& index : question.problem.indexes) {
        for (const auto known : index->names()) names.emplace_back(known);
    }
    return names;
}

bool tells_unknown(const Explanation& explanation) {
    return std::ranges::any_of(explanation.clashes, is_unknown);
}

/// What an old name has become.
std::string on_old_names(const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        const auto* old = is_unknown(clash) ? old_name(clash.lines.front().name) : nullptr;
        if (old != nullptr)
            return fmt::format(
                "{} is an outdated way to {}: {}", old->name, old->purpose, old->instead);
    }
    return {};
}

/// A package that another one needs and no channel has. What the recipe of a build needs may be
/// misspelled.
std::string hint_on_dependencies(const Question& question, const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        const auto unknown = std::ranges::find_if(
            clash.lines, [](const ExplanationLine& line) { return !line.channels.empty(); });
        if (unknown == clash.lines.end()) continue;
        if (question.specs_stand != ChangeRequest::SpecsStand::InRecipe)
            return in_another_channel(unknown->name);
        return fmt::format(
            "{}: {}",
            unknown->name,
            did_you_mean(near_packages(unknown->name, all_names(question)),
                         "correct the name in requirements, or add a channel with -c CHANNEL"));
    }
    return {};
}

/// The spec for the name of a package file, or a part of it: "numpy=1.24.2" for "numpy-1.24.2".
/// Empty if no channel has the package.
std::string spec_of_file_name(const Question& question, std::string_view name) {
    for (auto dash = name.find('-'); dash != std::string_view::npos;
         dash = name.find('-', dash + 1)) {
        const std::string package(name.substr(0, dash));
        if (dash + 1 == name.size() || !is_digit(name[dash + 1]) ||
            std::ranges::none_of(question.problem.indexes,
                                 [&](const auto& index) { return index->has(package); }))
            continue;
        auto spec = package + '=' + std::string(name.substr(dash + 1));
        std::ranges::replace(
            spec.begin() + static_cast<std::ptrdiff_t>(dash), spec.end(), '-', '=');
        return spec;
    }
    return {};
}

/// What the user may have meant by a name that no channel has.
std::vector<std::string> meant_by(const Question& question, std::string_view name) {
    if (auto spec = spec_of_file_name(question, name); !spec.empty()) return {std::move(spec)};
    return near_packages(name, all_names(question));
}

/// "did you mean numpy?"; of several unknown names "did you mean numpy for nunpy? another channel
/// may have xylophone". Empty where nothing is like any of them.
std::string on_similar_names(const Question& question, const Explanation& explanation) {
    std::vector<std::string> texts;
    std::vector<std::string> others;
    const auto all = guesses(question, explanation);
    for (const auto& [name, meant] : all) {
        if (meant.empty())
            others.push_back(name);
        else
            texts.push_back(join_or(meant) + (all.size() > 1 ? " for " + name : ""));
    }
    if (texts.empty()) return {};
    auto hint = fmt::format("did you mean {}?", join_some(texts, "and", texts.size()));
    if (!others.empty())
        hint += " " + on_other_channels(question, join_some(others, "and", others.size()));
    return hint;
}

/// Of a Python module, whose package has another name and is not in the channels either.
std::string on_module_names(const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        const auto& name = clash.lines.front().name;
        const auto package = is_unknown(clash) ? package_of_module(name) : std::nullopt;
        if (package)
            return fmt::format(
                "{} is usually packaged as {}, which was not found either; add a channel with -c "
                "CHANNEL",
                name,
                *package);
    }
    return {};
}

}  // namespace

std::string in_another_channel(std::string_view what) {
    return fmt::format("another channel may have {}; add one with -c CHANNEL", what);
}

std::vector<std::string> notes_on_pins(const Question& question) {
    const auto& indexes = question.problem.indexes;
    const auto& installed = question.present.records;
    std::vector<std::string> notes;
    for (const auto& [spec, place] : question.present.pins) {
        const auto& name = spec.name;
        const auto has_it = [&](const auto& index) { return index->has(name); };
        if (indexes.empty() || !spec.has_one_name() || name.starts_with("__") ||
            find_record(installed, name) != nullptr || std::ranges::any_of(indexes, has_it))
            continue;
        std::vector<std::string> names;
        names.reserve(installed.size() + question.wanted.specs.size());
        for (const auto& record : installed) names.push_back(record.name());
        for (const auto& wanted : question.wanted.specs) names.push_back(wanted.name);
        auto near = near_names(name, names);
        if (near.empty()) near = near_packages(name, all_names(question));
        notes.push_back(fmt::format("pin '{}' in {} has no effect: no package '{}'{}",
                                    as_typed(spec),
                                    place,
                                    name,
                                    near.empty() ? "" : "; " + did_you_mean(near)));
    }
    return notes;
}

std::vector<Guess> guesses(const Question& question, const Explanation& explanation) {
    std::vector<Guess> all;
    for (const auto& clash : explanation.clashes) {
        if (!is_unknown(clash)) continue;
        const auto& name = clash.lines.front().name;
        all.push_back({name, meant_by(question, name)});
    }
    return all;
}

std::string hint_on_names(const Question& question, const Explanation& explanation) {
    auto hint = on_old_names(explanation);
    if (hint.empty()) hint = on_similar_names(question, explanation);
    return hint.empty() && tells_unknown(explanation) ? in_another_channel("it") : hint;
}

std::string hint_on_exact_version(const std::vector<SharedIndex>& indexes, const MatchSpec& spec) {
    const auto fuzzy = spec.build ? with_fuzzy_version(spec) : std::nullopt;
    if (!fuzzy) return {};
    std::optional<Version> newest;
    for (const auto& index : indexes) {
        const auto records = index->find(spec.name);
        if (!records) continue;
        for (const auto* row : records->choices(std::nullopt)) {
            auto version = Version::parse(records->version(*row));
            if (!version || !spec.build->matches(records->build(*row))) continue;
            if (spec.version->matches(*version)) return {};
            if (fuzzy->version->matches(*version) && (!newest || *newest < *version))
                newest = *std::move(version);
        }
    }
    if (!newest) return {};
    return fmt::format("with a build, = is exact; {} matches {}",
                       shell_word(as_typed(*fuzzy)),
                       newest->to_string());
}

std::string hint_for(const Context& context,
                     const Question& question,
                     const Explanation& explanation,
                     const std::vector<const Question*>& others) {
    auto hint = hint_on_pip(question);
    if (hint.empty()) hint = hint_on_facts(question, explanation);
    if (hint.empty()) hint = hint_on_own_channel(context, question, explanation);
    if (hint.empty()) hint = hint_on_exact_versions(question, explanation);
    if (hint.empty()) hint = hint_on_commas(question, explanation);
    if (hint.empty()) hint = hint_on_platforms(explanation, others);
    if (hint.empty()) hint = hint_on_builds(question, explanation);
    if (hint.empty()) hint = on_old_names(explanation);
    if (hint.empty()) hint = on_similar_names(question, explanation);
    if (hint.empty()) hint = hint_on_installed(context, question, explanation);
    if (hint.empty()) hint = on_module_names(explanation);
    if (hint.empty() && tells_unknown(explanation)) {
        const bool are_several = std::ranges::count_if(explanation.clashes, is_unknown) > 1;
        hint = on_other_channels(question, are_several ? "them" : "it");
        const auto& mirrored = context.config.mirrored_channels;
        if (!mirrored.value.empty())
            hint += fmt::format(
                "; a mirror may lack it (mirrored_channels of {}): run its gpkg mirror command "
                "again with the package added",
                mirrored.source);
    }
    if (hint.empty()) hint = hint_on_dependencies(question, explanation);
    if (hint.empty()) hint = hint_on_overrides(context, question, explanation);
    if (hint.empty()) hint = hint_on_assumed(question, explanation);
    if (hint.empty()) hint = hint_on_accelerator(context, question, explanation);
    if (hint.empty()) hint = hint_on_environment(context, question, explanation);
    return hint;
}

}  // namespace gpkg::cli
