#include "tests/unit/solver/explained.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/index/repodata.hpp"
#include "solver/solver.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::tests {
namespace {

using Line = ExplanationLine;
using Kind = ExplanationLine::Kind;

/// What some lines of an explanation let count.
struct Said {
    std::set<std::string> names;
    std::set<std::pair<std::string, std::string>> asks;
    std::set<std::string> free;
    std::set<std::size_t> requests, constraints;

    Said(const std::vector<Line>& all, std::size_t left_out) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& line = all[i];
            names.insert(line.name);
            if (!line.target.empty()) names.insert(line.target);
            if (i == left_out) {
                if (line.kind == Kind::Machine || line.kind == Kind::Offer ||
                    line.kind == Kind::Present)
                    free.insert(line.name);
                continue;
            }
            if (line.kind == Kind::Request) requests.insert(line.index);
            if (line.kind == Kind::Pin) constraints.insert(line.index);
            if (line.kind == Kind::Asks) asks.emplace(line.name, line.target);
        }
    }

    bool counts(const std::string& from, const std::string& text) const {
        const auto spec = MatchSpec::parse(text);
        if (!spec) return true;  // what makes a record no candidate stays
        return asks.contains({from, spec->name}) && !free.contains(spec->name);
    }

    std::vector<std::string> counting(const std::string& from,
                                      std::vector<std::string> texts) const {
        std::erase_if(texts, [&](const auto& text) { return !counts(from, text); });
        return texts;
    }

    PackageRecord counting(PackageRecord record) const {
        // What a build is for stays what it is without the dependency that says so.
        record.flags = {fmt::format("accel:{}", to_string(accelerator_of(record).accelerator))};
        record.depends = counting(record.name, std::move(record.depends));
        record.constrains = counting(record.name, std::move(record.constrains));
        for (auto& [group, texts] : record.extra_depends)
            texts = counting(record.name, std::move(texts));
        return record;
    }
};

using Entries = std::vector<std::pair<std::string, nlohmann::json>>;

/// As repodata has a record.
std::pair<std::string, nlohmann::json> entry(const PackageRecord& record) {
    nlohmann::json fields{{"name", record.name},
                          {"version", record.version},
                          {"build", record.build},
                          {"build_number", record.build_number},
                          {"depends", record.depends},
                          {"constrains", record.constrains},
                          {"extra_depends", record.extra_depends},
                          {"timestamp", record.timestamp}};
    if (!record.flags.empty()) fields["flags"] = record.flags;
    if (!record.sha256.empty()) fields["sha256"] = record.sha256;
    std::string features;
    for (const auto& feature : record.track_features)
        features += (features.empty() ? "" : " ") + feature;
    if (!features.empty()) fields["track_features"] = features;
    return {record.fn, std::move(fields)};
}

std::shared_ptr<const ChannelIndex> index_of(const Entries& entries, const IndexSource& source) {
    nlohmann::ordered_json document{{"packages", nlohmann::ordered_json::object()},
                                    {"packages.conda", nlohmann::ordered_json::object()}};
    for (const auto& [fn, fields] : entries)
        document[fn.ends_with(".conda") ? "packages.conda" : "packages"][fn] = fields;
    auto read = read_repodata(document.dump(), source);
    REQUIRE(read);
    return std::make_shared<const ChannelIndex>(*std::move(read));
}

std::shared_ptr<const ChannelIndex> reduced(const ChannelIndex& index, const Said& said) {
    Entries entries;
    for (const auto& name : said.names) {
        const auto found = index.find(name).value();
        for (const auto& row : found.rows()) {
            const auto record = index.record(found, row).value();
            entries.push_back(entry(said.counting(record)));
        }
    }
    return index_of(entries, index.source());
}

template <typename T>
std::vector<T> chosen(const std::vector<T>& from, const std::set<std::size_t>& places) {
    std::vector<T> some;
    some.reserve(places.size());
    for (const auto place : places) some.push_back(from.at(place));
    return some;
}

}  // namespace

Problem only_what_is_said(const Problem& problem,
                          const std::vector<Line>& all,
                          std::size_t left_out) {
    const Said said(all, left_out);
    auto part = problem;
    part.request.specs = chosen(problem.request.specs, said.requests);
    part.request.constraints = chosen(problem.request.constraints, said.constraints);
    std::erase_if(part.request.specs,
                  [&](const auto& spec) { return said.free.contains(spec.name); });
    std::erase_if(part.request.constraints,
                  [&](const auto& constraint) { return said.free.contains(constraint.spec.name); });
    for (auto& record : part.request.installed) record = said.counting(record);
    for (auto& index : part.indexes) index = reduced(*index, said);
    return part;
}

Problem in_reverse(const Problem& problem) {
    auto other = problem;
    for (auto& index : other.indexes) {
        Entries entries;
        for (const auto name : index->names()) {
            const auto found = index->find(name).value();
            for (const auto& row : found.rows()) {
                const auto record = index->record(found, row).value();
                entries.push_back(entry(record));
            }
        }
        std::reverse(entries.begin(), entries.end());
        index = index_of(entries, index->source());
    }
    return other;
}

bool has_unsaid_build(const Problem& problem, const Explanation::Clash& clash) {
    const Said said(clash.lines, kNothing);
    const auto& request = problem.request;
    if (request.installed.empty()) return false;
    for (std::size_t i = 0; i < request.constraints.size(); ++i) {
        if (!said.constraints.contains(i) && request.constraints[i].spec.build) return true;
    }
    for (std::size_t i = 0; i < request.specs.size(); ++i) {
        if (!said.requests.contains(i) && request.specs[i].build) return true;
    }
    return false;
}

bool has_solution(const Problem& problem) {
    const auto outcome = solver::solve(problem);
    INFO((outcome ? "" : outcome.error().to_string()));
    REQUIRE(outcome);
    return std::holds_alternative<Solution>(*outcome);
}

void check_minimal(const Problem& problem, const Explanation& explanation) {
    REQUIRE_FALSE(explanation.clashes.empty());
    for (const auto& clash : explanation.clashes) {
        REQUIRE_FALSE(clash.lines.empty());
        if (has_unsaid_build(problem, clash)) continue;
        {
            INFO("all lines together");
            REQUIRE_FALSE(has_solution(only_what_is_said(problem, clash.lines, kNothing)));
        }
        for (std::size_t i = 0; i < clash.lines.size(); ++i) {
            INFO("without: " << clash.lines[i].text());
            REQUIRE(has_solution(only_what_is_said(problem, clash.lines, i)));
        }
    }
}

void check_every_wish_clashes(const Problem& problem, const Explanation& explanation) {
    for (const auto& clash : explanation.clashes) {
        for (std::size_t i = 0; i < clash.lines.size(); ++i) {
            const auto kind = clash.lines[i].kind;
            if (kind != Kind::Request && kind != Kind::Pin) continue;
            const Said said(clash.lines, i);
            auto part = problem;
            part.request.specs = chosen(problem.request.specs, said.requests);
            part.request.constraints = chosen(problem.request.constraints, said.constraints);
            part.request.implied = 0;
            INFO("without: " << clash.lines[i].text());
            REQUIRE(has_solution(part));
        }
    }
}

void check_fixes(const Problem& problem, const Explanation& explanation) {
    REQUIRE(explanation.fixes.size() <= 3);
    for (const auto& fix : explanation.fixes) {
        REQUIRE_FALSE(fix.changes.empty());
        INFO("fix: " << fix.changes.front().text());
        const auto changed = with_changes(problem, fix.changes);
        REQUIRE(changed);
        const auto outcome = solver::solve(*changed);
        REQUIRE(outcome);
        const auto* solution = std::get_if<Solution>(&*outcome);
        REQUIRE(solution != nullptr);
        for (const auto& package : fix.gives) {
            const auto found = std::find_if(
                solution->records.begin(), solution->records.end(), [&](const auto& record) {
                    return record.name == package.name;
                });
            REQUIRE(found != solution->records.end());
            CHECK(found->name + " " + found->version + " " + found->build ==
                  package.name + " " + package.version + " " + package.build);
        }
    }
}

}  // namespace gpkg::tests
