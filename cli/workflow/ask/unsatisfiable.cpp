#include "cli/workflow/ask/unsatisfiable.hpp"

#include "cli/workflow/ask/explanation_json.hpp"
#include "cli/workflow/ask/fix_command.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/ask/tried_fixes.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// With fewer lines each is told alone.
constexpr std::size_t kFewLines = 3;
constexpr std::string_view kUnsolvable = "the request cannot be solved";

bool is_of_pip(const MatchSpec& spec) { return spec.build && spec.build->text() == "pypi_0"; }

bool has_pip_builds(const Question& question) {
    return std::ranges::any_of(question.problem.request.specs, is_of_pip);
}

/// The file that the user can edit and ask for again; empty: none, or several.
std::string file_of_request(const Context& context, const Question& question) {
    const auto file = FixCommand(context, question, {}).edited_file();
    std::error_code code;
    return fs::is_regular_file(file, code) ? file : "";
}

/// Requested packages that no channel has.
std::vector<std::string> unknown_names(const Question& question, const Explanation& explanation) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        const auto has = [&](const auto& index) { return index->has(name); };
        if (is_package_name(name) && std::ranges::none_of(question.problem.indexes, has))
            names.push_back(name);
    };
    for (const auto& clash : explanation.clashes)
        if (clash.lines.size() == 1) add(clash.lines.front().name);
    for (const auto& name : explanation.more) add(name);
    return names;
}

/// Those of `names` that have a line "- NAME..." in the file.
std::vector<std::string> with_own_line(std::vector<std::string> names, const std::string& file) {
    const auto text = read_file(file);
    std::set<std::string, std::less<>> found;
    if (!text) return {};
    for (const auto line : split(*text, '\n')) {
        auto item = trim(line);
        if (!item.starts_with("- ")) continue;
        item = trim(item.substr(2));
        found.emplace(item.substr(0, item.find_first_of(" =<>!~")));
    }
    std::erase_if(names, [&](const auto& name) { return !found.contains(name); });
    return names;
}

/// "sed -i.bak -E '/^ *- *(libcxx|appnope)([ =<>!~]|$)/d' mac.yml"
std::string deleting_command(const std::vector<std::string>& names, const std::string& file) {
    std::string pattern;
    for (const auto& name : names) {
        if (!pattern.empty()) pattern += '|';
        for (const char c : name) {
            if (c == '.' || c == '+') pattern += '\\';
            pattern += c;
        }
    }
    return fmt::format("sed -i.bak -E '/^ *- *({})([ =<>!~]|$)/d' {}", pattern, shell_word(file));
}

constexpr std::string_view kRestOfFile = "to use the rest of the file: ";
constexpr const char* kIgnoreBuilds = "--ignore-builds";
constexpr const char* kIgnoreVersions = "--ignore-versions";

/// Whether specs stand in a file that the command reads, and `option` is not given.
bool can_ignore(const Context& context, const Question& question, std::string_view option) {
    const auto& words = context.arguments;
    const auto names_file = [](const std::string& word) {
        return word == "-f" || word == "--file" || word.starts_with("--file=");
    };
    const bool has_file =
        std::ranges::any_of(words, names_file) || !file_of_request(context, question).empty();
    return has_file && std::ranges::find(words, option) == words.end();
}

/// Uses a file without the packages that no channel has; empty where there is none to edit.
std::string command_without(const Context& context,
                            const Question& question,
                            const std::vector<std::string>& unknown,
                            const std::string& command) {
    const auto file = file_of_request(context, question);
    if (file.empty()) return {};
    const auto names = with_own_line(unknown, file);
    if (names.empty()) return {};
    return fmt::format("{} && {}", deleting_command(names, file), command);
}

/// A comment in a line of its own, before the command: what has to be done by hand.
std::string first_text(std::string_view before) {
    return before.empty() ? "" : fmt::format("# first: {}\n  ", before);
}

/// Lines that can be pasted, with a remark on what they are for.
std::string fix_text(const Context& context,
                     const Question& question,
                     const TriedFix& tried,
                     const std::string& option) {
    const auto& fix = tried.fix;
    const FixCommand command(context, question, fix, option);
    auto text = first_text(command.before_text()) + command.text();
    std::vector<std::string> remarks;
    if (const auto& dropped = command.dropped(); !dropped.empty())
        remarks.push_back("without " + join_some(dropped, "and", dropped.size()));
    if (!command.machines().empty())
        remarks.push_back("for a machine with " + join_some(command.machines(), "and"));
    if (auto gives = fix.gives_text(); !gives.empty()) remarks.push_back(std::move(gives));
    if (!tried.lowered.empty())
        remarks.push_back("downgrades " + join_some(tried.lowered, "and", tried.lowered.size()));
    if (!fix.is_smallest) remarks.emplace_back("a smaller change may exist");
    if (!remarks.empty()) text += fmt::format("  # {}", fmt::join(remarks, ": "));
    return text;
}

Json json_of(const Context& context,
             const Question& question,
             const TriedFix& tried,
             const std::string& option) {
    const FixCommand command(context, question, tried.fix, option);
    Json document{{"command", command.text()}, {"edits", command.before()}};
    document.update(fix_json(tried.fix));
    document["lowers"] = tried.lowered;
    return document;
}

/// Specs with exact builds, of which the channels lack several: a file that was exported on another
/// platform, or long ago.
struct MissingBuilds {
    std::size_t missing = 0;
    std::size_t of = 0;
};

std::optional<MissingBuilds> missing_builds(const Context& context,
                                            const Question& question,
                                            const Explanation& explanation) {
    std::set<std::string> exact;
    for (const auto& spec : question.wanted.specs) {
        if (spec.build && spec.build->is_exact() && !is_of_pip(spec)) exact.insert(spec.name);
    }
    const auto told = static_cast<std::size_t>(
        std::ranges::count_if(explanation.clashes, [&](const Explanation::Clash& clash) {
            return clash.lines.size() == 1 && exact.contains(clash.lines.front().name);
        }));
    const auto missing = std::min(told + explanation.more.size(), exact.size());
    if (missing < 2 || told == 0 || !can_ignore(context, question, kIgnoreBuilds))
        return std::nullopt;
    return MissingBuilds{missing, exact.size()};
}

/// What an option takes out of the specs of files.
std::vector<ProblemChange> ignored_parts(const Context& context,
                                         const Question& question,
                                         bool ignores_versions) {
    std::vector<ProblemChange> changes;
    const FixCommand command(context, question, {});
    for (std::size_t i = 0; i < question.wanted.specs.size(); ++i) {
        const auto& spec = question.problem.request.specs.at(i);
        auto rest = spec;
        ignore_parts(std::span(&rest, 1), ignores_versions);
        if (rest == spec || command.is_argument(i)) continue;
        ProblemChange change;
        change.kind = ProblemChange::Kind::ReplaceSpec;
        change.index = i;
        change.before = as_typed(spec);
        change.spec = as_typed(rest);
        changes.push_back(std::move(change));
    }
    return changes;
}

/// The tree, with all names that no channel has in one line; `most` of the rest are told.
std::string short_tree(const Question& question,
                       const Explanation& explanation,
                       const std::vector<std::string>& unknown,
                       std::size_t most) {
    const auto is_unknown = [&](const std::string& name) {
        return std::ranges::find(unknown, name) != unknown.end();
    };
    auto rest = explanation;
    std::erase_if(rest.clashes, [&](const Explanation::Clash& clash) {
        return clash.lines.size() == 1 && is_unknown(clash.lines.front().name);
    });
    std::erase_if(rest.more, is_unknown);
    if (rest.clashes.size() > most) {
        std::vector<std::string> names;
        for (auto i = most; i < rest.clashes.size(); ++i)
            names.push_back(rest.clashes[i].lines.front().name);
        rest.more.insert(rest.more.begin(), names.begin(), names.end());
        rest.clashes.resize(most);
    }
    std::string text;
    if (!unknown.empty())
        text = fmt::format("{} not found in the channels ({}): {}",
                           unknown.size() == 1 ? "package" : "packages",
                           question.machine.platform,
                           join_some(unknown, "and", unknown.size()));
    const auto tree = rest.tree();
    return text + (text.empty() || tree.empty() ? "" : "\n") + tree;
}

/// Three of them stand for all.
std::string message_of(const MissingBuilds& builds,
                       const Question& question,
                       const Explanation& explanation,
                       const std::vector<std::string>& unknown) {
    constexpr std::size_t kMostTold = 3;
    return fmt::format("{} of {} requested builds do not exist for {}\n{}",
                       builds.missing,
                       builds.of,
                       question.machine.platform,
                       short_tree(question, explanation, unknown, kMostTold));
}

/// The title and the tree, which is the title where it is one line. If several accelerators were
/// tried, the explanation is about the first.
std::string message_of(const Question& question, const Explanation& explanation) {
    const auto& problem = question.problem;
    const auto tried = problem.request.accelerators.in_turn_on(problem.virtual_packages);
    auto tree = explanation.tree();
    if (tried.size() < 2) {
        const bool is_one_line = tree.find('\n') == std::string::npos;
        return is_one_line ? tree : fmt::format("{}\n{}", kUnsolvable, tree);
    }
    std::vector<std::string> names;
    names.reserve(tried.size());
    for (const auto choice : tried) names.emplace_back(to_string(choice));
    return fmt::format(
        "{} with accelerator {}; with {}:\n{}", kUnsolvable, join_or(names), names.front(), tree);
}

/// Whether all of it is that the channels have no package of a requested name.
bool is_about_unknown_names(const Explanation& explanation) {
    return std::ranges::all_of(explanation.clashes, [](const Explanation::Clash& clash) {
        return clash.lines.size() == 1 && !clash.lines.front().channels.empty();
    });
}

/// Adds fixes to an error and to its details.
class Proposals {
public:
    Proposals(const Context& context, Error& error) : context_(context), error_(error) {}

    void add(const Question& question, const TriedFix& fix, const std::string& option = {}) {
        fixes_.push_back(json_of(context_, question, fix, option));
        error_.fixes.push_back(fix_text(context_, question, fix, option));
    }

    /// A command that the hint tells.
    void add_hinted(const Question& question, const Fix& fix, const std::string& command) {
        auto document = json_of(context_, question, {fix}, {});
        document["command"] = command;
        document["edits"] = Json::array();
        fixes_.push_back(std::move(document));
    }

    const Json& fixes() const { return fixes_; }

private:
    const Context& context_;
    Error& error_;
    Json fixes_ = Json::array();
};

bool drops_only(const Fix& fix, const std::vector<std::string>& names) {
    return std::ranges::all_of(fix.changes, [&](const ProblemChange& change) {
        const auto spec = MatchSpec::parse(change.before);
        return change.kind == ProblemChange::Kind::DropSpec && spec &&
               std::ranges::find(names, spec->name) != names.end();
    });
}

/// Where many lines of a file would have to change, or nothing else helps: to keep only the names.
std::string hint_on_versions(const Context& context,
                             const Question& question,
                             const Proposals& proposals) {
    const auto& fixes = proposals.fixes();
    if (!can_ignore(context, question, kIgnoreVersions) ||
        (!fixes.empty() && fixes.front()["edits"].size() < kFewLines))
        return {};
    const auto changes = ignored_parts(context, question, true);
    if (changes.empty()) return {};
    auto changed = with_changes(question, changes);
    if (!changed) return {};
    const auto solution = solution_of(*changed);
    if (!solution || !*solution) return {};
    return "to use only the package names of the file: " +
           FixCommand(context, question, {}, kIgnoreVersions).text();
}

/// Proposes to ignore all builds of a file, with what is to be changed besides. Gives the hint;
/// nothing if the request has no solution that way.
std::optional<std::string> propose_ignoring(const Context& context,
                                            const Question& question,
                                            const std::vector<std::string>& unknown,
                                            const std::vector<const Question*>& others,
                                            Proposals& proposals) {
    const Fix ignoring{ignored_parts(context, question, false), {}};
    auto changed = with_changes(question, ignoring.changes);
    if (!changed) return std::nullopt;
    const auto outcome = answer_to(*changed);
    if (!outcome) return std::nullopt;
    const auto command = FixCommand(context, question, {}, kIgnoreBuilds).text();
    const auto* explanation = std::get_if<Explanation>(&*outcome);
    if (explanation == nullptr) {
        proposals.add_hinted(question, ignoring, command);
        return "to ignore the build strings: " + command;
    }
    const auto fixes = tried_fixes(context, *changed, explanation->fixes, others);
    if (fixes.empty()) return std::nullopt;
    if (drops_only(fixes.front().fix, unknown)) {
        const auto whole = command_without(context, question, unknown, command);
        if (!whole.empty()) {
            proposals.add_hinted(*changed, fixes.front().fix, whole);
            return fmt::format("{}{}", kRestOfFile, whole);
        }
    }
    for (const auto& fix : fixes) proposals.add(*changed, fix, kIgnoreBuilds);
    if (auto hint = hint_on_versions(context, question, proposals); !hint.empty()) return hint;
    return "builds differ between platforms, and channels remove old ones; for a file that works "
           "on all: conda env export --from-history";
}

}  // namespace

Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others) {
    if (question.channels.empty()) return no_channels();
    Json details{{"clashes", clashes_json(explanation)}};
    if (!explanation.more.empty()) details["more_clashes"] = explanation.more.size();
    for (const auto& [name, meant] : guesses(question, explanation))
        if (!meant.empty()) details["did_you_mean"][name] = meant;
    if (!std::ranges::all_of(explanation.clashes, &Explanation::Clash::is_minimal))
        details["minimal"] = false;
    if (explanation.has_untried_fixes) details["all_fixes_tried"] = false;
    Error error{ErrorKind::Unsatisfiable, {}, {}, {}};
    const auto unknown = unknown_names(question, explanation);
    error.unknown_packages = unknown;
    if (is_about_unknown_names(explanation)) error.exception_name = kNotInChannels;
    Proposals proposals(context, error);
    std::optional<std::string> hint;
    const auto builds = missing_builds(context, question, explanation);
    if (builds) {
        error.message = message_of(*builds, question, explanation, unknown);
        hint = propose_ignoring(context, question, unknown, others, proposals);
    }
    if (!hint) {
        for (const auto& fix : tried_fixes(context, question, explanation.fixes, others))
            proposals.add(question, fix);
    }
    const auto rest =
        unknown.size() < kFewLines || !others.empty() || has_pip_builds(question) || builds
            ? std::string()
            : command_without(context, question, unknown, FixCommand(context, question, {}).text());
    if (!rest.empty())
        hint = fmt::format("{}; {}{}", in_another_channel("them"), kRestOfFile, rest);
    if (error.message.empty())
        error.message =
            rest.empty()
                ? message_of(question, explanation)
                : fmt::format(
                      "{}\n{}",
                      kUnsolvable,
                      short_tree(question, explanation, unknown, explanation.clashes.size()));
    if (explanation.has_untried_fixes)
        error.message += "\n(not all fixes were tried: the search for them reached its time limit)";
    if (!hint) hint = hint_on_versions(context, question, proposals);
    if (hint->empty()) hint = hint_for(context, question, explanation, others);
    error.hint = *std::move(hint);
    details["fixes"] = proposals.fixes();
    error.details = json_text(details);
    return error;
}

}  // namespace gpkg::cli
