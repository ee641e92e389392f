// Every file of tests/fixtures/solver holds scenarios: packages, a machine, a request, and the
// expected environment or explanation. A new solver bug is a new scenario.

#include "libcore/base/text.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/index/repodata.hpp"
#include "libcore/yaml/node.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

using namespace gpkg;

namespace scenario_test {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::vector<std::string> list(const yaml::Node& node, std::string_view key) {
    const auto* found = node.find(key);
    return found == nullptr ? std::vector<std::string>{} : found->as_texts("texts").value();
}

std::string text(const yaml::Node& node, std::string_view key, const std::string& otherwise = "") {
    const auto* found = node.find(key);
    return found == nullptr ? otherwise : found->text();
}

/// "name version build number: dep; dep"; {} adds constrains, extras and fields.
struct Package {
    std::string name, version, build = "0", number = "0";
    std::vector<std::string> depends, constrains;
    std::map<std::string, std::vector<std::string>> extras;
    std::map<std::string, std::string> more;
    std::string channel;  ///< of what is installed; empty: not known

    static Package read(const yaml::Node& node) {
        Package package;
        std::string line = node.is_map() ? text(node, "package") : node.text();
        const auto colon = line.find(": ");
        std::string head = line.substr(0, colon);
        std::vector<std::string> words;
        for (std::size_t at = 0; at < head.size();) {
            const auto end = std::min(head.find(' ', at), head.size());
            words.push_back(head.substr(at, end - at));
            at = end + 1;
        }
        package.name = words.at(0);
        package.version = words.at(1);
        if (words.size() > 2) package.build = words[2];
        if (words.size() > 3) package.number = words[3];
        if (colon != std::string::npos) {
            std::string rest = line.substr(colon + 2);
            for (std::size_t at = 0; at < rest.size();) {
                const auto end = std::min(rest.find("; ", at), rest.size());
                package.depends.push_back(rest.substr(at, end - at));
                at = end + 2;
            }
        }
        package.constrains = list(node, "constrains");
        package.channel = text(node, "channel");
        if (const auto* groups = node.find("extras")) {
            for (const auto& [group, texts] : groups->entries())
                package.extras[group] = texts.as_texts("texts").value();
        }
        for (const auto& key : {"track_features", "timestamp", "flags", "noarch"}) {
            if (node.find(key) != nullptr) package.more[key] = text(node, key);
        }
        return package;
    }

    std::string json() const {
        const auto quote_all = [](const auto& items) {
            std::string joined;
            for (const auto& item : items)
                joined += (joined.empty() ? "" : ",") + quoted(std::string(item));
            return "[" + joined + "]";
        };
        auto json = fmt::format(
            R"("{0}-{1}-{2}.conda":{{"name":"{0}","version":"{1}","build":"{2}","build_number":{3},"depends":{4},"constrains":{5})",
            name,
            version,
            build,
            number,
            quote_all(depends),
            quote_all(constrains));
        std::string groups;
        for (const auto& [group, texts] : extras)
            groups +=
                fmt::format("{}{}:{}", groups.empty() ? "" : ",", quoted(group), quote_all(texts));
        if (!groups.empty()) json += ",\"extra_depends\":{" + groups + "}";
        for (const auto& [key, value] : more) {
            const auto text = key == "timestamp" ? value
                              : key == "flags"   ? quote_all(split(value, ' '))
                                                 : quoted(value);
            json += fmt::format(",\"{}\":{}", key, text);
        }
        return json + "}";
    }

    PackageRecord record() const {
        PackageRecord record;
        record.name = name;
        record.version = version;
        record.build = build;
        record.build_number = static_cast<std::uint64_t>(std::stoull(number));
        record.depends = depends;
        record.constrains = constrains;
        record.extra_depends = extras;
        record.channel = channel.empty() ? "" : "https://host/" + channel;
        return record;
    }
};

std::shared_ptr<const ChannelIndex> index_of(const yaml::Node& packages,
                                             const std::string& channel) {
    std::string json;
    for (const auto& node : packages.items())
        json += (json.empty() ? "" : ",") + Package::read(node).json();
    auto index = read_repodata("{\"packages.conda\":{" + json + "}}",
                               {"https://host/" + channel,
                                "linux-64",
                                "https://host/" + channel + "/linux-64/repodata.json"});
    INFO((index ? "" : index.error().to_string()));
    REQUIRE(index);
    return std::make_shared<const ChannelIndex>(*std::move(index));
}

std::vector<MatchSpec> specs(const std::vector<std::string>& texts) {
    std::vector<MatchSpec> parsed;
    parsed.reserve(texts.size());
    for (const auto& one : texts) parsed.push_back(MatchSpec::parse(one).value());
    return parsed;
}

Problem problem_of(const yaml::Node& scenario) {
    Problem problem;
    if (const auto* packages = scenario.find("packages"))
        problem.indexes.push_back(index_of(*packages, "main"));
    if (const auto* channels = scenario.find("channels")) {
        for (const auto& [name, packages] : channels->entries())
            problem.indexes.push_back(index_of(packages, name));
    }
    for (const auto& line : list(scenario, "machine")) {
        yaml::Node node = yaml::Node::parse(quoted(line), "machine").value();
        problem.virtual_packages.push_back(Package::read(node).record());
    }
    if (const auto* installed = scenario.find("installed")) {
        for (const auto& node : installed->items()) {
            problem.request.installed.push_back(Package::read(node).record());
            problem.request.keep.push_back(problem.request.installed.back().name);
        }
    }
    problem.request.specs = specs(list(scenario, "request"));
    problem.request.named = std::stoul(text(scenario, "named", "0"));
    for (auto& pin : specs(list(scenario, "pins")))
        problem.request.constraints.push_back({std::move(pin)});
    problem.request.update = list(scenario, "update");
    problem.request.update_all = text(scenario, "update_all") == "true";
    const auto priority = text(scenario, "priority", "strict");
    problem.priority = priority == "strict"     ? ChannelPriority::Strict
                       : priority == "flexible" ? ChannelPriority::Flexible
                                                : ChannelPriority::Disabled;
    auto& accelerators = problem.request.accelerators;
    accelerators.all = parse_accelerator_choice(text(scenario, "accelerator", "conda")).value();
    accelerators.in_turn = {accelerators.all};
    accelerators.all_is_asked = text(scenario, "asked") == "true";
    if (const auto* packages = scenario.find("accelerators")) {
        for (const auto& [name, choice] : packages->entries()) {
            accelerators.of_package[name] = parse_accelerator_choice(choice.text()).value();
            accelerators.asked_packages.insert(name);
        }
    }
    if (const auto* cutoff = scenario.find("exclude_newer"))
        problem.exclude_newer = cutoff->as_int("a time").value();
    return problem;
}

std::string answer(const Problem& problem) {
    const auto outcome = solver::solve(problem);
    if (!outcome) return outcome.error().to_string();
    if (const auto* explanation = std::get_if<Explanation>(&*outcome))
        return explanation->to_string();
    std::vector<std::string> lines;
    for (const auto& record : std::get<Solution>(*outcome).records)
        lines.push_back(fmt::format("{} {} {}", record.name, record.version, record.build));
    std::sort(lines.begin(), lines.end());
    for (const auto& note : std::get<Solution>(*outcome).notes)
        lines.push_back((note.is_warning ? "warning: " : "note: ") + note.text());
    return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

TEST_CASE("solver scenarios", "[solver]") {
    for (const auto& file : fs::directory_iterator(fs::path(GPKG_FIXTURES) / "solver")) {
        const auto source = read_file(file.path());
        REQUIRE(source);
        const auto document = yaml::Node::parse(*source, file.path().filename().native());
        INFO((document ? "" : document.error().to_string()));
        REQUIRE(document);
        for (const auto& [title, scenario] : document->entries()) {
            INFO(file.path().filename().native() << ": " << title);
            auto expected = text(scenario, "expect");
            while (expected.ends_with('\n')) expected.pop_back();
            CHECK(answer(problem_of(scenario)) == expected);
        }
    }
}

}  // namespace scenario_test
