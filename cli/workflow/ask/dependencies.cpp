#include "cli/workflow/ask/dependencies.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/order.hpp"
#include "libcore/index/queries.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace gpkg::cli {
namespace {

using MetBy = Dependency::MetBy;

/// By what NameRecords sorts; for records of one name in different subdirs.
bool is_better(const PackageRecord& a, const PackageRecord& b) {
    if (a.track_features.empty() != b.track_features.empty()) return a.track_features.empty();
    const auto version_a = Version::parse(a.version);
    const auto version_b = Version::parse(b.version);
    if (version_a && version_b && *version_a != *version_b) return *version_b < *version_a;
    return std::pair(a.build_number, a.timestamp) > std::pair(b.build_number, b.timestamp);
}

/// Whether it needs the virtual package of another operating system (CEP 30), as one of two noarch
/// builds does.
bool is_for_other_system(const PackageRecord& record, std::string_view platform) {
    const auto system = platform.substr(0, platform.find('-'));
    return std::any_of(record.depends.begin(), record.depends.end(), [&](std::string_view spec) {
        const auto name = name_in_spec(spec);
        if (!is_system_package(name)) return false;
        return name == "__unix" ? system == "win" : name.substr(2) != system;
    });
}

Result<std::optional<PackageRecord>> newest_match(const Searched& searched,
                                                  const std::string& name,
                                                  const MatchSpec& spec) {
    std::optional<PackageRecord> best;
    std::optional<PackageRecord> other;
    const auto take = [&](PackageRecord record) {
        const bool fits = !is_for_other_system(record, searched.platform);
        auto& place = fits ? best : other;
        if (!place || is_better(record, *place)) place = std::move(record);
        return !fits;
    };
    for (const auto& index : searched.indexes) {
        if (best && best->channel != index->source().channel) break;
        GPKG_CHECK(each_match(*index, name, spec, searched.exclude_newer, take));
    }
    return best ? best : other;
}

/// Follows dependencies through the records of channels.
class Walk {
public:
    Walk(const Searched& searched, Depth depth) : searched_(searched), depth_(depth) {}

    Result<void> add_root(PackageRecord record, const MatchSpec& spec) {
        const auto place = add(std::move(record));
        graph_.roots.push_back(place);
        ask(place, "");
        if (depth_ == Depth::One) {
            for (const auto& [extra, specs] : graph_.records[place].extra_depends)
                ask(place, extra);
        }
        for (const auto& extra : spec.extras) ask(place, extra);
        return {};
    }

    Result<DependencyGraph> finish() && {
        while (!queue_.empty()) {
            const auto [place, extra] = std::move(queue_.front());
            queue_.pop_front();
            GPKG_CHECK(follow(place, extra));
        }
        return std::move(graph_);
    }

private:
    std::size_t add(PackageRecord record) {
        const auto place = graph_.records.size();
        by_name_.emplace(record.name, place);
        graph_.records.push_back(std::move(record));
        graph_.needs.emplace_back();
        return place;
    }

    /// Of a record its depends, or one group of its extras, once.
    void ask(std::size_t place, const std::string& extra) {
        if (asked_.emplace(place, extra).second) queue_.emplace_back(place, extra);
    }

    Result<void> follow(std::size_t place, const std::string& extra) {
        auto specs = graph_.records[place].depends;
        if (!extra.empty()) {
            const auto& extras = graph_.records[place].extra_depends;
            const auto found = extras.find(extra);
            specs = found == extras.end() ? std::vector<std::string>() : found->second;
        }
        for (auto& text : specs) {
            GPKG_TRY(auto met, meet(text));
            // An extra may be made of others of the same package.
            if (met.met_by == MetBy::Package && met.place == place) continue;
            met.extra = extra;
            graph_.needs[place].push_back(std::move(met));
        }
        return {};
    }

    Result<Dependency> meet(const std::string& text) {
        if (const auto known = known_.find(text); known != known_.end()) return known->second;
        Dependency dependency{text, "", MetBy::Nobody, 0};
        const auto spec = MatchSpec::parse(text);
        if (spec && spec->name.starts_with("__")) {
            dependency.met_by = MetBy::Machine;
        } else if (spec) {
            GPKG_TRY(const auto place, place_of(*spec));
            if (place) {
                dependency.met_by = MetBy::Package;
                dependency.place = *place;
                if (depth_ == Depth::All) {
                    ask(*place, "");
                    for (const auto& group : spec->extras) ask(*place, group);
                }
            }
        }
        return known_.emplace(text, dependency).first->second;
    }

    /// A record that is there already and does, else the newest that does.
    Result<std::optional<std::size_t>> place_of(const MatchSpec& spec) {
        const auto [begin, end] = by_name_.equal_range(spec.name);
        const auto there = std::find_if(begin, end, [&](const auto& entry) {
            return spec.matches(graph_.records[entry.second]);
        });
        if (there != end) return there->second;
        GPKG_TRY(auto newest, newest_match(searched_, spec.name, spec));
        if (!newest) return std::nullopt;
        return add(*std::move(newest));
    }

    const Searched& searched_;
    Depth depth_;
    DependencyGraph graph_;
    std::multimap<std::string, std::size_t> by_name_;
    std::unordered_map<std::string, Dependency> known_;  ///< by spec, without the extra
    std::set<std::pair<std::size_t, std::string>> asked_;
    std::deque<std::pair<std::size_t, std::string>> queue_;
};

/// The names that the records depend on, their own first.
std::vector<std::string> names_around(const std::vector<PackageRecord>& records) {
    std::set<std::string> names;
    const auto take = [&](const std::vector<std::string>& specs) {
        for (const auto& text : specs) {
            if (auto name = name_in_spec(text); !name.empty()) names.insert(std::move(name));
        }
    };
    for (const auto& record : records) {
        names.insert(record.name);
        take(record.depends);
        for (const auto& [extra, specs] : record.extra_depends) take(specs);
    }
    return {names.begin(), names.end()};
}

/// Records of an environment and their dependencies, without roots.
DependencyGraph needs_of(const RecordGraph& all) {
    DependencyGraph graph;
    graph.records = all.records();
    graph.needs.resize(graph.records.size());
    for (std::size_t place = 0; place < graph.records.size(); ++place) {
        for (const auto& need : all.needs(place)) {
            const auto spec = MatchSpec::parse(need.spec);
            const bool fits = spec && spec->matches(graph.records[need.to]);
            graph.needs[place].push_back(
                {need.spec, need.extra, fits ? MetBy::Package : MetBy::Mismatch, need.to});
        }
        for (const auto& need : all.outside_needs(place)) {
            const auto met_by = need.name.starts_with("__") ? MetBy::Machine : MetBy::Nobody;
            graph.needs[place].push_back({need.spec, need.extra, met_by, 0});
        }
    }
    return graph;
}

}  // namespace

std::vector<bool> DependencyGraph::reached() const {
    std::vector<bool> marked(records.size());
    auto queue = roots;
    for (const auto root : roots) marked[root] = true;
    while (!queue.empty()) {
        const auto place = queue.back();
        queue.pop_back();
        for (const auto& need : needs[place]) {
            if (!need.has_package() || marked[need.place]) continue;
            marked[need.place] = true;
            queue.push_back(need.place);
        }
    }
    return marked;
}

Result<DependencyGraph> installed_dependencies(const MatchSpec& spec,
                                               const std::vector<PrefixRecord>& installed,
                                               const fs::path& prefix) {
    GPKG_TRY(const auto matching, find_installed(spec, installed, prefix));
    auto graph = needs_of(graph_of(installed, {spec}));
    for (std::size_t place = 0; place < installed.size(); ++place) {
        if (matching[place]) graph.roots.push_back(place);
    }
    return graph;
}

DependencyGraph environment_dependencies(const std::vector<PrefixRecord>& installed) {
    const auto all = graph_of(installed, {});
    auto graph = needs_of(all);
    for (const bool requested : {true, false}) {
        for (std::size_t place = 0; place < installed.size(); ++place) {
            const bool is_requested = !installed[place].requested_specs.empty();
            if (is_requested != requested) continue;
            if (is_requested || all.needed_by(place).empty()) graph.roots.push_back(place);
        }
    }
    return graph;
}

Result<DependencyGraph> channel_dependencies(Context& context,
                                             const MatchSpec& spec,
                                             const SourceOptions& options,
                                             Depth depth) {
    GPKG_TRY(auto inquiry, Inquiry::begin(context, spec, options, Extent::Named));
    auto& [channels, searched] = inquiry;
    GPKG_TRY(const auto names, names_meant(inquiry, spec));
    GPKG_TRY(searched.indexes,
             depth == Depth::All ? channels.reach(names) : channels.look_up(names));
    std::vector<PackageRecord> roots;
    for (const auto& name : names) {
        GPKG_TRY(auto newest, newest_match(searched, name, spec));
        if (newest) roots.push_back(*std::move(newest));
    }
    if (roots.empty()) return nothing_found(spec, searched);
    if (depth == Depth::One && !channels.are_whole()) {
        GPKG_TRY(searched.indexes, channels.look_up(names_around(roots)));
    }
    Walk walk(searched, depth);
    for (auto& root : roots) GPKG_CHECK(walk.add_root(std::move(root), spec));
    return std::move(walk).finish();
}

std::string dependency_text(std::string_view spec, std::string_view extra) {
    const auto whole = [](std::string_view text) { return printable(text, MatchSpec::kLongest); };
    const auto for_extra = extra.empty() ? "" : fmt::format(" for its extra {}", printable(extra));
    auto parsed = MatchSpec::parse(spec);
    if (!parsed) return printable(spec) + for_extra;
    const auto when = std::exchange(parsed->when, std::nullopt);
    const auto extras = std::exchange(parsed->extras, {});
    auto text = whole(written(*parsed));
    if (!extras.empty())
        text += fmt::format(" with its {} {}",
                            extras.size() == 1 ? "extra" : "extras",
                            join_some(extras, "and", extras.size()));
    if (when) text += " if " + whole(*when);
    return text + for_extra;
}

}  // namespace gpkg::cli
