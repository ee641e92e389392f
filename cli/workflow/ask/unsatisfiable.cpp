#include "cli/workflow/ask/unsatisfiable.hpp"

#include "cli/workflow/ask/explanation_json.hpp"
#include "cli/workflow/ask/fix_command.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/ask/tried_fixes.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One line that can be pasted, with a remark on what it is for.
std::string fix_text(const Context& context, const Question& question, const TriedFix& tried) {
    const auto& fix = tried.fix;
    const FixCommand command(context, question, fix);
    auto text = command.text();
    std::vector<std::string> remarks;
    if (const auto before = command.before(); !before.empty())
        remarks.push_back("after " + join_some(before, "and", before.size()));
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

}  // namespace

Error unsatisfiable(const Context& context,
                    const Question& question,
                    const Explanation& explanation,
                    const std::vector<const Question*>& others) {
    if (question.channels.empty()) return no_channels();
    Json details{{"clashes", clashes_json(explanation)}};
    if (explanation.more > 0) details["more_clashes"] = explanation.more;
    const auto fixes = tried_fixes(context, question, explanation.fixes, others);
    details["fixes"] = Json::array();
    for (const auto& fix : fixes) details["fixes"].push_back(json_of(context, question, fix));

    auto message = message_of(question, explanation);
    if (!fixes.empty()) message += kFixesHeading;
    for (const auto& fix : fixes) message += "\n  " + fix_text(context, question, fix);
    Error error{ErrorKind::Unsatisfiable, std::move(message), {}, {}, {}};
    error.hint = hint_for(context, question, explanation, others);
    error.details = json_text(details);
    return error;
}

}  // namespace gpkg::cli
