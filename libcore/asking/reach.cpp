#include "libcore/asking/reach.hpp"

#include "libcore/env/prefix.hpp"
#include "libcore/spec/record_graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

/// Meets this record alone: another channel may have a build of the same name.
MatchSpec spec_of(const PackageRecord& record) {
    const auto checksum = !record.sha256.empty() ? fmt::format("[sha256={}]", record.sha256)
                          : !record.md5.empty()  ? fmt::format("[md5={}]", record.md5)
                                                 : std::string();
    auto exact = MatchSpec::parse(
        fmt::format("{}=={}={}{}", record.name, record.version, record.build, checksum));
    if (exact) return *std::move(exact);
    // What cannot be said of it is left to the solver, which changes nothing without need.
    MatchSpec spec;
    spec.name = record.name;
    return spec;
}

}  // namespace

void freeze(Request& request,
            const std::vector<PrefixRecord>& installed,
            const std::set<std::string>& named,
            std::string_view flag) {
    request.implied_reason = fmt::format("is installed and kept ({})", flag);
    for (const auto& record : installed) {
        const auto& package = record.package;
        if (named.contains(package.name)) continue;
        request.specs.push_back(spec_of(package));
        ++request.implied;
    }
}

/// The names of what these specs need in a solution, directly or not.
std::vector<std::string> needed_by(const std::vector<MatchSpec>& specs, const Solution& solution) {
    const RecordGraph graph(solution.records, specs);
    std::vector<bool> named(solution.records.size());
    for (const auto& spec : specs) {
        if (const auto place = graph.find(spec.name)) named[*place] = true;
    }
    const auto all = graph.all_needed_by(named);
    std::vector<std::string> names;
    for (std::size_t place = 0; place < all.size(); ++place) {
        if (all[place] && !named[place]) names.push_back(graph.records()[place].name);
    }
    return names;
}

void leave_named_out(std::vector<PackageRecord>& records,
                     std::vector<MatchSpec>& requested,
                     const std::vector<PrefixRecord>& installed,
                     const std::vector<MatchSpec>& wishes) {
    const RecordGraph graph(records, requested);
    std::vector<bool> out(records.size());
    const auto goes = [&](std::size_t place) {
        const auto users = graph.needed_by(place);
        return !out[place] && find_record(installed, records[place].name) == nullptr &&
               std::all_of(
                   users.begin(), users.end(), [&](const auto& need) { return out[need.from]; });
    };
    for (bool more = true; std::exchange(more, false);) {
        for (const auto& spec : requested) {
            const auto place = graph.find(spec.name);
            if (place && goes(*place)) out[*place] = more = true;
        }
    }

    std::erase_if(requested, [&](const MatchSpec& spec) {
        const auto place = graph.find(spec.name);
        return place && out[*place];
    });
    std::set<std::string> known;
    for (const auto* specs : {&std::as_const(requested), &wishes}) {
        for (const auto& spec : *specs) known.insert(spec.name);
    }
    std::vector<PackageRecord> staying;
    for (std::size_t place = 0; place < records.size(); ++place) {
        if (!out[place]) {
            staying.push_back(std::move(records[place]));
            continue;
        }
        for (const auto& need : graph.needs(place)) {
            if (out[need.to] || !known.insert(graph.records()[need.to].name).second) continue;
            auto spec = MatchSpec::parse(need.spec);
            if (!spec) continue;
            spec->when.reset();
            requested.push_back(*std::move(spec));
        }
    }
    records = std::move(staying);
}

}  // namespace gpkg
