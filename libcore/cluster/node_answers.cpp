#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/cluster/node_step.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace gpkg {

const NodeAnswer::Line* NodeAnswer::find(std::string_view word) const {
    const auto found = std::find_if(
        lines.begin(), lines.end(), [&](const Line& line) { return line.word == word; });
    return found == lines.end() ? nullptr : &*found;
}

std::vector<NodeAnswer> parse_answers(std::string_view output,
                                      const std::vector<std::string>& nodes) {
    std::vector<NodeAnswer> answers;
    std::map<std::string, std::size_t, std::less<>> places;
    for (const auto& node : nodes) {
        places.emplace(node, answers.size());
        answers.push_back({node, {}});
    }
    for (const auto line : split(output, '\n')) {
        const auto fields = split(line, '\t');
        if (fields.size() < 3 || fields[0] != "gpkg-node") continue;
        const auto [at, is_new] = places.emplace(fields[1], answers.size());
        if (is_new) answers.push_back({std::string(fields[1]), {}});
        NodeAnswer::Line said{std::string(fields[2]), {}};
        for (std::size_t i = 3; i < fields.size(); ++i) said.values.emplace_back(fields[i]);
        answers[at->second].lines.push_back(std::move(said));
    }
    return answers;
}

std::vector<NodeFailure> failures_of(const std::vector<NodeAnswer>& answers) {
    std::vector<NodeFailure> failures;
    for (const auto& answer : answers) {
        if (const auto* error = answer.find("error"))
            failures.push_back({answer.node, error->value()});
    }
    return failures;
}

Error error_of(const std::vector<NodeFailure>& failures, std::string hint) {
    // In the order in which the faults come first.
    std::vector<std::pair<std::string, std::vector<std::string>>> faults;
    auto list = nlohmann::ordered_json::array();
    for (const auto& failure : failures) {
        list.push_back({{"node", failure.node}, {"error", failure.why}});
        auto fault = std::find_if(faults.begin(), faults.end(), [&](const auto& known) {
            return known.first == failure.why;
        });
        if (fault == faults.end()) fault = faults.insert(faults.end(), {failure.why, {}});
        fault->second.push_back(failure.node);
    }
    std::string message;
    for (const auto& [why, nodes] : faults)
        message += fmt::format(
            "{}{}: {}", message.empty() ? "" : "\n", join_some(nodes, "and"), printable(why, 1000));
    return {ErrorKind::Io,
            std::move(message),
            std::move(hint),
            {},
            json_text(nlohmann::ordered_json{{"failures", std::move(list)}})};
}

}  // namespace gpkg
