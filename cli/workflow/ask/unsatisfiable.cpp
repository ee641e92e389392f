#include "cli/workflow/ask/unsatisfiable.hpp"

#include "cli/workflow/ask/explanation_json.hpp"
#include "cli/workflow/ask/fix_command.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/ask/tried_fixes.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hint_on_builds(const Context& context, const Question& question) {
    const auto file = FixCommand(context, question, {}).edited_file();
    return fmt::format(
        "builds differ between platforms, and channels remove old ones; export the environment "
        "without them: conda env export --from-history (or --no-builds); or remove them from the "
        "file: sed -E 's/^( *- [^=]+=[^=]+)=[^=]+$/\\1/' {} > edited.yml",
        file.empty() ? "FILE" : shell_word(file));
}

/// A comment in a line of its own, before the command: what has to be done by hand.
std::string first_text(std::string_view before) {
    return before.empty() ? "" : fmt::format("# first: {}\n  ", before);
}

/// Lines that can be pasted, with a remark on what they are for.
std::string fix_text(const Context& context, const Question& question, const TriedFix& tried) {
    const auto& fix = tried.fix;
    const FixCommand command(context, question, fix);
    auto text = first_text(command.before_text()) + command.text();
    std::vector<std::string> remarks;
    if (const auto& dropped = command.dropped(); !dropped.empty())
        remarks.push_back("without " + join_some(dropped, "and", dropped.size()));
    if (!command.machines().empty())
        remarks.push_back("for a machine with " + join_some(command.machines(), "and"));
    if (auto gives = fix.gives_text(); !gives.empty()) remarks.push_back(std::move(gives));
    if (!tried.lowered.empty())
        remarks.push_back("downgrades " + join_some(tried.lowered, "and", tried.lowered.size()));
    if (!remarks.empty()) text += fmt::format("  # {}", fmt::join(remarks, ": "));
    return text;
}

Json json_of(const Context& context, const Question& question, const TriedFix& tried) {
    const FixCommand command(context, question, tried.fix);
    Json document{{"command", command.text()}, {"edits", command.before()}};
    document.update(fix_json(tried.fix));
    document["lowers"] = tried.lowered;
    return document;
}

/// Specs with exact builds, most of which the channels do not have: a file that was exported on
/// another platform.
struct MissingBuilds {
    std::size_t missing = 0;
    std::size_t of = 0;
};

std::optional<MissingBuilds> missing_builds(const Question& question,
                                            const Explanation& explanation) {
    constexpr std::size_t kFew = 3;
    std::set<std::string> exact;
    for (const auto& spec : question.wanted.specs) {
        const bool is_of_pip = spec.build && spec.build->text() == "pypi_0";
        if (spec.build && spec.build->is_exact() && !is_of_pip) exact.insert(spec.name);
    }
    const auto told = static_cast<std::size_t>(
        std::ranges::count_if(explanation.clashes, [&](const Explanation::Clash& clash) {
            return clash.lines.size() == 1 && exact.contains(clash.lines.front().name);
        }));
    const auto missing = std::min(told + explanation.more.size(), exact.size());
    if (told == 0 || missing < kFew || missing * 2 < exact.size()) return std::nullopt;
    return MissingBuilds{missing, exact.size()};
}

/// The request without build strings, where it has a solution then.
std::optional<TriedFix> without_builds(const Question& question) {
    Fix fix;
    const auto& specs = question.problem.request.specs;
    for (std::size_t i = 0; i < question.wanted.specs.size() && i < specs.size(); ++i) {
        if (!specs[i].build || !specs[i].build->is_exact()) continue;
        auto spec = specs[i];
        spec.build.reset();
        ProblemChange change;
        change.kind = ProblemChange::Kind::ReplaceSpec;
        change.index = i;
        change.before = as_typed(specs[i]);
        change.spec = as_typed(spec);
        fix.changes.push_back(std::move(change));
    }
    auto changed = with_changes(question, fix.changes);
    if (!changed) return std::nullopt;
    const auto solution = solution_of(*changed);
    if (!solution || !*solution) return std::nullopt;
    return TriedFix{std::move(fix)};
}

std::string text_without_builds(const Context& context,
                                const Question& question,
                                const TriedFix& tried) {
    const FixCommand command(context, question, tried.fix);
    const auto in_file = !command.before().empty();
    return (in_file ? first_text("remove the build strings from the file") : "") + command.text();
}

/// Three of them stand for all.
std::string message_of(const MissingBuilds& builds,
                       const Question& question,
                       const Explanation& explanation) {
    constexpr std::size_t kMostTold = 3;
    auto some = explanation;
    if (some.clashes.size() > kMostTold) {
        std::vector<std::string> names;
        for (auto i = kMostTold; i < some.clashes.size(); ++i)
            names.push_back(some.clashes[i].lines.front().name);
        some.more.insert(some.more.begin(), names.begin(), names.end());
        some.clashes.resize(kMostTold);
    }
    return fmt::format("{} of {} requested builds do not exist for {}\n{}",
                       builds.missing,
                       builds.of,
                       question.machine.platform,
                       some.tree());
}

/// The title and the tree, which is the title where it is one line. If several accelerators were
/// tried, the explanation is about the first.
std::string message_of(const Question& question, const Explanation& explanation) {
    const std::string title = "the request cannot be solved";
    const auto& problem = question.problem;
    const auto tried = problem.request.accelerators.in_turn_on(problem.virtual_packages);
    auto tree = explanation.tree();
    if (tried.size() < 2) {
        const bool is_one_line = tree.find('\n') == std::string::npos;
        return is_one_line ? tree : fmt::format("{}\n{}", title, tree);
    }
    std::vector<std::string> names;
    names.reserve(tried.size());
    for (const auto choice : tried) names.emplace_back(to_string(choice));
    return fmt::format(
        "{} with accelerator {}; with {}:\n{}", title, join_or(names), names.front(), tree);
}

/// Whether all of it is that the channels have no package of a requested name.
bool is_about_unknown_names(const Explanation& explanation) {
    return std::ranges::all_of(explanation.clashes, [](const Explanation::Clash& clash) {
        return clash.lines.size() == 1 && !clash.lines.front().channels.empty();
    });
}

}  // namespace

Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others) {
    if (question.channels.empty()) return no_channels();
    Json details{{"clashes", clashes_json(explanation)}};
    if (!explanation.more.empty()) details["more_clashes"] = explanation.more.size();
    // As conda calls it.
    if (is_about_unknown_names(explanation)) details["exception_name"] = "PackagesNotFoundError";
    const auto builds = missing_builds(question, explanation);
    const auto rebuilt = builds ? without_builds(question) : std::nullopt;
    const auto fixes = tried_fixes(context, question, explanation.fixes, others);
    details["fixes"] = Json::array();
    Error error{
        ErrorKind::Unsatisfiable,
        builds ? message_of(*builds, question, explanation) : message_of(question, explanation),
        builds ? hint_on_builds(context, question)
               : hint_for(context, question, explanation, fixes, others),
        {}};
    if (rebuilt) {
        details["fixes"].push_back(json_of(context, question, *rebuilt));
        error.fixes.push_back(text_without_builds(context, question, *rebuilt));
    }
    for (const auto& fix : fixes) {
        details["fixes"].push_back(json_of(context, question, fix));
        error.fixes.push_back(fix_text(context, question, fix));
    }
    error.details = json_text(details);
    return error;
}

}  // namespace gpkg::cli
