#include "cli/workflow/ask/fix_command.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/asking/earlier_wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"
#include "virtual-packages/machines.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

using Kind = ProblemChange::Kind;

/// "2.20" of "h100,glibc=2.20"; empty where no such fact follows the machine.
std::string given_value(std::string_view machine, std::string_view key) {
    const auto fact = fmt::format(",{}=", key);
    const auto start = machine.find(fact);
    if (start == std::string_view::npos) return {};
    const auto rest = machine.substr(start + fact.size());
    return std::string(rest.substr(0, rest.find(',')));
}

/// Gives the fact behind the machine's name, in place of the value that it has there.
void give_fact(std::string& machine, std::string_view key, const std::string& value) {
    const auto fact = fmt::format(",{}=", key);
    const auto start = machine.find(fact);
    if (start == std::string::npos) {
        machine += fact + value;
    } else {
        machine.replace(start + fact.size(), given_value(machine, key).size(), value);
    }
}

}  // namespace

bool drops_accel_option(const Context& context, const Question& question, const Fix& fix) {
    const auto& specs = question.wanted.specs;
    if (specs.size() != 1 || !question.present.records.empty() || question.wanted.is_for_lock ||
        question.specs_stand != ChangeRequest::SpecsStand::InWords)
        return false;
    const bool frees_it = std::ranges::any_of(fix.changes, [&](const ProblemChange& change) {
        return change.kind == Kind::SetAccelerator && change.name == specs.front().name;
    });
    return frees_it && std::ranges::any_of(context.arguments, [](const std::string& word) {
               return word == "--accel" || word.starts_with("--accel=");
           });
}

FixCommand::FixCommand(const Context& context,
                       const Question& question,
                       const Fix& fix,
                       const std::string& option)
    : context_(context), question_(question), words_(context.arguments) {
    if (!words_.empty()) words_.front() = "gpkg";
    if (!option.empty()) options_.push_back(option);
    for (const auto& change : fix.changes) apply(change);
    gives_facts_ = give_facts(fix);
    if (drops_accel_option(context, question, fix)) remove_option("--accel");
}

void FixCommand::apply(const ProblemChange& change) {
    switch (change.kind) {
    case Kind::ReplaceSpec: return replace(change);
    case Kind::DropSpec: return drop(change);
    case Kind::DropConstraint: return drop_constraint(change);
    case Kind::SetPriority:
        remove_option("--channel-priority");
        options_.emplace_back("--channel-priority");
        options_.emplace_back("flexible");
        return;
    case Kind::AllowNewer:
        remove_option("--exclude-newer");
        if (are_specs_words() || is_recipe()) return;
        options_.emplace_back("--exclude-newer");  // a lock remembers the one that was said
        options_.emplace_back("none");
        return;
    case Kind::SetMachine: return set_machine(change);
    case Kind::LetChange: return let_change(change.spec);
    case Kind::SetAccelerator: return set_accelerator(change.name, AcceleratorChoice::Auto);
    }
}

std::string FixCommand::text() const {
    std::vector<std::string> words;
    if (!question_.is_dry_run) {
        for (auto& step : steps()) {
            words.push_back(std::move(step));
            words.emplace_back("&&");
        }
    }
    if (!gives_facts_) {
        for (const auto& [name, value] : environment_)
            words.push_back(fmt::format("{}={}", name, shell_word(value)));
    }
    const auto end_of_options = std::find(words_.begin(), words_.end(), "--");
    const auto add = [&](auto begin, auto end) {
        for (; begin != end; ++begin) {
            if (!begin->empty()) words.push_back(shell_word(*begin));
        }
    };
    add(words_.begin(), end_of_options);
    add(options_.begin(), options_.end());
    add(end_of_options, words_.end());
    return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> FixCommand::before() const {
    auto before = edits_;
    for (const auto& line : deleted_) before.push_back("remove " + line);
    append(before, pin_edits_);
    if (question_.is_dry_run) append(before, steps());
    return before;
}

std::string FixCommand::before_text() const {
    constexpr std::size_t kMostLines = 3;
    auto before = edits_;
    if (deleted_.size() == 1) before.push_back("remove " + deleted_.front());
    if (deleted_.size() > 1)
        before.push_back("remove these lines: " + join_some(deleted_, "and", kMostLines));
    const auto file = edited_file();
    if (!before.empty() && !file.empty()) {
        auto& last = before.back();
        const auto* preposition = last.starts_with("remove ") ? "from"
                                  : last.starts_with("add ")  ? "to"
                                                              : "in";
        last += fmt::format(" {} {}", preposition, file);
    }
    append(before, pin_edits_);
    if (question_.is_dry_run) append(before, steps());
    return join_some(before, "and", before.size());
}

std::string FixCommand::edited_file() const {
    if (is_recipe()) return "the recipe";
    std::vector<std::string> files;
    for (std::size_t i = 1; i < words_.size(); ++i) {
        if (words_[i].starts_with("--file=")) files.push_back(words_[i].substr(7));
        if (words_[i - 1] == "-f" || words_[i - 1] == "--file") files.push_back(words_[i]);
    }
    if (files.size() == 1) return files.front();
    const bool has_default = words_.size() > 1 && (words_[1] == "lock" || words_[1] == "sync");
    return files.empty() && has_default ? "environment.yml" : "";
}

/// "gpkg unpin -n ml a", "gpkg remove -n ml b c"
std::vector<std::string> FixCommand::steps() const {
    std::vector<std::string> steps;
    const auto target = target_words(context_, question_.prefix);
    const auto add = [&](std::string_view command, const std::vector<std::string>& names) {
        if (!names.empty())
            steps.push_back(fmt::format("gpkg {} {} {}", command, target, shell_words(names)));
    };
    add("unpin", unpinned_);
    add("remove", removed_);
    return steps;
}

/// The word that the user wrote for a spec; it may stand in a file instead. What is told last
/// is the likelier one: the name of an environment may be that of a package.
std::optional<std::size_t> FixCommand::word_of(std::size_t index) const {
    if (!are_specs_words() || index >= question_.wanted.specs.size()) return std::nullopt;
    const auto& places = context_.positionals;
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
        const auto i = *place;
        auto asked = AskedSpec::parse(words_[i]);
        if (!asked) continue;
        auto* spec = &asked->spec;
        const auto& wanted = question_.wanted.specs[index];
        // "./channel::p" was read as the place that it means from here.
        if (spec->channel && (spec->channel->starts_with('.') || spec->channel->starts_with('~')))
            spec->channel = wanted.channel;
        if (i > 1 && *spec == wanted) return i;
    }
    return std::nullopt;
}

/// "python=3.11.9" of "python==3.11.9" where builds are ignored: the file has
/// "python=3.11.9=h932a869_0".
std::string FixCommand::as_in_file(std::string spec) const {
    const auto ignores_builds = [](const std::string& word) {
        return word == "--ignore-builds" || word == "--no-builds";
    };
    const auto at = spec.find("==");
    if (at != std::string::npos && (std::ranges::any_of(words_, ignores_builds) ||
                                    std::ranges::any_of(options_, ignores_builds)))
        spec.erase(at, 1);
    return spec;
}

bool FixCommand::are_specs_words() const {
    return question_.specs_stand == ChangeRequest::SpecsStand::InWords;
}

bool FixCommand::is_recipe() const {
    return question_.specs_stand == ChangeRequest::SpecsStand::InRecipe;
}

void FixCommand::ask_for(const std::string& spec) {
    if (are_specs_words() || (is_package_name(spec) && !is_recipe())) {
        words_.push_back(spec);
    } else {
        edits_.push_back("add " + spec);
    }
}

bool FixCommand::is_of_earlier(std::size_t index) const {
    return index >= question_.wanted.specs.size();
}

void FixCommand::replace(const ProblemChange& change) {
    if (is_of_earlier(change.index) && are_specs_words()) {
        words_.push_back(change.spec);  // to name it again replaces the earlier wish
    } else if (const auto word = word_of(change.index)) {
        const auto asked = AskedSpec::parse(words_[*word]);
        words_[*word] = change.spec;
        // What it says of the accelerator counts for the name.
        auto changed = AskedSpec::parse(change.spec);
        if (asked && asked->accelerator && changed) {
            changed->accelerator = asked->accelerator;
            words_[*word] = as_typed(*changed);
        }
    } else {
        edits_.push_back(
            fmt::format("change {} to {}", as_in_file(change.before), as_in_file(change.spec)));
    }
}

/// Words are taken out of the line in the end, so that places stay what they are.
void FixCommand::drop(const ProblemChange& change) {
    if (is_of_earlier(change.index) && are_specs_words()) {
        removed_.push_back(question_.problem.request.specs.at(change.index).name);
    } else if (const auto word = word_of(change.index)) {
        words_[*word].clear();
        dropped_.push_back(change.before);
    } else {
        deleted_.push_back(as_in_file(change.before));
    }
}

/// --no-pin lifts all pins: where there are others, they are to hold.
void FixCommand::drop_constraint(const ProblemChange& change) {
    const auto& constraint = question_.problem.request.constraints.at(change.index);
    const auto& pins = question_.present.pins;
    if (change.index >= pins.size()) {
        words_.push_back(constraint.spec.name);  // what is named may move
    } else if (pins.size() == 1 && !question_.wanted.is_for_lock) {
        options_.emplace_back("--no-pin");
        dropped_.push_back("the pin " + change.before);
    } else if (!question_.prefix.empty() &&
               pins[change.index].place == (question_.prefix / "conda-meta/pinned").native()) {
        unpinned_.push_back(constraint.spec.name);
    } else {
        pin_edits_.push_back(
            fmt::format("remove {} from {}", change.before, pins[change.index].place));
    }
}

void FixCommand::let_change(const std::string& spec) {
    const auto asked = AskedSpec::parse(spec);
    if (asked && asked->accelerator && as_typed(asked->spec) == asked->spec.name)
        return set_accelerator(asked->spec.name, *asked->accelerator);
    ask_for(spec);
}

/// In the word that speaks of its accelerator already, else in the first that names it, else in one
/// that asks for what was asked for earlier.
void FixCommand::set_accelerator(const std::string& name, AcceleratorChoice choice) {
    std::string* naming = nullptr;
    std::optional<AskedSpec> named;
    for (const auto place : context_.positionals) {
        auto asked = AskedSpec::parse(words_[place]);
        if (place < 2 || !asked || asked->spec.name != name ||
            (naming != nullptr && !asked->accelerator))
            continue;
        naming = &words_[place];
        named = *std::move(asked);
        if (named->accelerator) break;
    }
    if (naming == nullptr) {
        ask_for(as_typed(AskedSpec{as_asked_before(name, question_.present.wishes), choice}));
    } else {
        named->accelerator = choice;
        *naming = as_typed(*named);
    }
}

/// Takes "--name value" or "--name=value" out.
void FixCommand::remove_option(const std::string& name) {
    for (std::size_t i = 1; i < words_.size(); ++i) {
        if (words_[i] != name && !words_[i].starts_with(name + "=")) continue;
        if (words_[i] == name && i + 1 < words_.size()) words_[i + 1].clear();
        words_[i].clear();
    }
}

/// Today a variable stands for a machine that one does not sit at.
void FixCommand::set_machine(const ProblemChange& change) {
    machines_.push_back(change.text());
    auto& value = environment_[override_variable(std::string_view(change.name).substr(2))];
    value = change.name == "__archspec" ? change.build : change.version;
    // A kernel's version and a compute capability have two numbers, and a GPU has a driver.
    if ((change.name == "__linux" || change.name == "__cuda_arch") &&
        value.find('.') == std::string::npos)
        value += ".0";
    if (change.name == "__cuda_arch" &&
        find_record(question_.problem.virtual_packages, "__cuda") == nullptr)
        environment_.try_emplace(override_variable("cuda"), kUsualCuda);
}

/// Of a machine named with --for, gives another value to each fact that gpkg only assumes, or that
/// the user gave behind the name. False if the fix changes more of the machine.
bool FixCommand::give_facts(const Fix& fix) {
    std::map<std::string, std::string> facts;
    for (const auto& change : fix.changes) {
        if (change.kind != Kind::SetMachine) continue;
        const auto key = virtual_packages::given_key(change.name);
        const auto* there = find_record(question_.problem.virtual_packages, change.name);
        if (!key) return false;
        if (there == nullptr) {
            // What ROCm an AMD machine has, a name does not tell.
            if (change.name != "__rocm" || question_.machine.given.empty() ||
                find_record(question_.problem.virtual_packages, "__amdgpu") == nullptr)
                return false;
            facts[*key] = change.version;
            continue;
        }
        // A variable may override the value that was given.
        const auto& told = change.name == "__archspec" ? there->build : there->version;
        if (!is_assumed(*there) && given_value(question_.machine.given, *key) != told) return false;
        facts[*key] = environment_.at(override_variable(std::string_view(change.name).substr(2)));
    }
    if (facts.empty()) return false;
    constexpr std::string_view kFor = "--for";
    bool is_given = false;
    for (std::size_t i = 1; i < words_.size(); ++i) {
        auto& word = words_[i];
        const bool is_joined = word.starts_with("--for=");
        if (!is_joined && words_[i - 1] != kFor) continue;
        auto machines =
            virtual_packages::machines_in(is_joined ? word.substr(kFor.size() + 1) : word);
        for (auto& machine : machines) {
            const bool is_it = machine == question_.machine.given;
            for (const auto& [key, value] : is_it ? facts : system_facts(fix, machine))
                give_fact(machine, key, value);
            is_given = is_given || is_it;
        }
        word = fmt::format("{}{}", is_joined ? "--for=" : "", fmt::join(machines, ","));
    }
    return is_given;
}

/// The fix's facts of the system that gpkg only assumes of another machine of the line, too. Those
/// of GPUs and CPUs differ between machines.
std::map<std::string, std::string> FixCommand::system_facts(const Fix& fix,
                                                            const std::string& machine) const {
    SourceOptions sources;
    sources.for_machine = machine;
    const auto other = machine_of(context_, sources);
    if (!other) return {};
    const auto known = virtual_packages_with(context_, *other, context_.env);
    std::map<std::string, std::string> facts;
    for (const auto& change : fix.changes) {
        if (change.kind != Kind::SetMachine ||
            (change.name != "__glibc" && change.name != "__linux" && change.name != "__osx"))
            continue;
        const auto* there = find_record(known, change.name);
        if (there == nullptr || !is_assumed(*there)) continue;
        facts[*virtual_packages::given_key(change.name)] =
            environment_.at(override_variable(std::string_view(change.name).substr(2)));
    }
    return facts;
}

}  // namespace gpkg::cli
