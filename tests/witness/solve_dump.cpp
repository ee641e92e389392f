// Answers solves over channel folders on disk, so that other programs can compare their answers
// with gpkg's: many in one process, an index being read once. A question is a few lines and ends
// with "solve"; the answer is one line of JSON.
//   channel FOLDER         in the order of priority; FOLDER has linux-64/ and noarch/
//   priority strict|flexible|disabled
//   virtual NAME=VERSION[=BUILD]
//   exclude-newer MILLISECONDS
//   spec TEXT              requested
//   constraint TEXT        restricts without asking
//   solve

#include "libcore/base/text.hpp"
#include "libcore/index/repodata.hpp"
#include "solver/solver.hpp"

#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

using namespace gpkg;
using nlohmann::json;

namespace {

using Indexes = std::vector<std::shared_ptr<const ChannelIndex>>;

Result<Indexes> read_channel(const std::string& folder) {
    Indexes indexes;
    for (const char* subdir : {"linux-64", "noarch"}) {
        const auto place = fs::path(folder) / subdir;
        for (const char* file : {"repodata.json.zst", "repodata.json"}) {
            const auto path = place / file;
            if (!fs::exists(path)) continue;
            const IndexSource source{"file://" + folder, subdir, "file://" + path.native()};
            GPKG_TRY(auto index, read_repodata_file(path, source));
            indexes.push_back(std::make_shared<const ChannelIndex>(std::move(index)));
            break;
        }
    }
    if (indexes.empty()) return fail(ErrorKind::NotFound, folder + ": no repodata");
    return indexes;
}

Result<Indexes> channel(const std::string& folder) {
    static std::map<std::string, Indexes> known;
    if (!known.contains(folder)) {
        GPKG_TRY(known[folder], read_channel(folder));
    }
    return known[folder];
}

PackageRecord virtual_package(std::string_view text) {
    const auto parts = split(text, '=');
    PackageRecord record;
    record.name = parts[0];
    record.version = parts.size() > 1 ? parts[1] : "0";
    record.build = parts.size() > 2 ? parts[2] : "0";
    return record;
}

ChannelPriority priority(std::string_view text) {
    if (text == "flexible") return ChannelPriority::Flexible;
    return text == "disabled" ? ChannelPriority::Disabled : ChannelPriority::Strict;
}

Result<void> take(const std::string& line, Problem& problem) {
    const auto space = line.find(' ');
    const auto key = line.substr(0, space);
    const auto value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "channel") {
        GPKG_TRY(const auto indexes, channel(value));
        problem.indexes.insert(problem.indexes.end(), indexes.begin(), indexes.end());
    } else if (key == "priority") {
        problem.priority = priority(value);
    } else if (key == "virtual") {
        problem.virtual_packages.push_back(virtual_package(value));
    } else if (key == "exclude-newer") {
        problem.exclude_newer = std::stoll(value);
    } else if (key == "spec" || key == "constraint") {
        GPKG_TRY(auto spec, MatchSpec::parse(value));
        if (key == "spec") {
            problem.request.specs.push_back(std::move(spec));
        } else {
            problem.request.constraints.push_back({std::move(spec)});
        }
    } else {
        return fail(ErrorKind::Usage, line + ": not a line of a question");
    }
    return {};
}

json answer(const Problem& problem) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = solver::solve(problem);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    json reply{{"milliseconds", spent.count()}};
    if (!outcome) {
        reply["error"] = outcome.error().to_string();
    } else if (const auto* explanation = std::get_if<Explanation>(&*outcome)) {
        reply["explanation"] = explanation->to_string();
    } else {
        const auto& solution = std::get<Solution>(*outcome);
        reply["notes"] = texts_of(solution.notes);
        reply["records"] = json::array();
        for (const auto& record : solution.records)
            reply["records"].push_back({{"name", record.name},
                                        {"version", record.version},
                                        {"build", record.build},
                                        {"channel", record.channel},
                                        {"subdir", record.subdir},
                                        {"fn", record.fn}});
    }
    return reply;
}

}  // namespace

int main() try {
    std::ios::sync_with_stdio(false);
    Problem problem;
    std::string failure;
    for (std::string line; std::getline(std::cin, line);) {
        if (line != "solve") {
            if (auto taken = take(line, problem); !taken) failure = taken.error().to_string();
            continue;
        }
        const auto reply = failure.empty() ? answer(problem) : json{{"error", failure}};
        std::cout << reply.dump() << std::endl;
        problem = Problem();
        failure.clear();
    }
} catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
}
