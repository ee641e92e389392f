#include "libcore/spec/record_graph.hpp"

#include "libcore/spec/condition.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace gpkg {
namespace {

/// What a record says that it depends on; whether it does may hang on other records.
struct Dependency {
    std::size_t from = 0;
    std::string_view extra;
    std::string_view text;
    std::string name;
    std::vector<std::string> asked;  ///< extras of that name
    std::unique_ptr<const Condition> when;
};

void take(std::vector<Dependency>& all,
          std::size_t from,
          std::string_view extra,
          const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
        // Extras and conditions stand in brackets; of most specs the name is all that counts here.
        if (text.find('[') == std::string::npos) {
            if (auto name = name_in_spec(text); !name.empty())
                all.push_back({from, extra, text, std::move(name), {}, nullptr});
            continue;
        }
        auto spec = MatchSpec::parse(text);
        if (!spec) continue;
        std::unique_ptr<const Condition> when;
        if (spec->when) {
            if (auto condition = Condition::parse(*spec->when))
                when = std::make_unique<const Condition>(*std::move(condition));
        }
        all.push_back({from, extra, text, spec->name, std::move(spec->extras), std::move(when)});
    }
}

/// Those marked, and all to which `needs` leads from them; `next` is the end that it leads to.
std::vector<bool> closure(std::vector<bool> reached,
                          const std::vector<std::vector<Need>>& needs,
                          std::size_t Need::*next) {
    std::vector<std::size_t> queue;
    for (std::size_t place = 0; place < reached.size(); ++place) {
        if (reached[place]) queue.push_back(place);
    }
    while (!queue.empty()) {
        const auto place = queue.back();
        queue.pop_back();
        for (const auto& need : needs[place]) {
            if (reached[need.*next]) continue;
            reached[need.*next] = true;
            queue.push_back(need.*next);
        }
    }
    return reached;
}

}  // namespace

RecordGraph::RecordGraph(std::vector<PackageRecord> records,
                         const std::vector<MatchSpec>& requested)
    : records_(std::move(records)),
      by_name_(records_.size()),
      needs_(records_.size()),
      outside_(records_.size()),
      needed_by_(records_.size()) {
    std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
    std::stable_sort(by_name_.begin(), by_name_.end(), [&](auto a, auto b) {
        return records_[a].name < records_[b].name;
    });
    link(requested);
}

void RecordGraph::link(const std::vector<MatchSpec>& requested) {
    std::vector<Dependency> all;
    for (const auto place : by_name_) {
        take(all, place, "", records_[place].depends);
        for (const auto& [extra, texts] : records_[place].extra_depends)
            take(all, place, extra, texts);
    }
    std::set<std::pair<std::string, std::string>> asked;  // names and their extras
    const auto ask = [&](const std::string& name, const std::vector<std::string>& extras) {
        bool is_new = false;
        for (const auto& extra : extras) is_new = asked.emplace(name, extra).second || is_new;
        return is_new;
    };
    const auto applies = [&](const Dependency& one) {
        return (one.extra.empty() ||
                asked.contains({records_[one.from].name, std::string(one.extra)})) &&
               (!one.when || holds(*one.when));
    };
    for (const auto& spec : requested) {
        const auto when = spec.when ? Condition::parse(*spec.when) : fail(ErrorKind::Parse, "");
        if (!spec.when || (when && holds(*when))) ask(spec.name, spec.extras);
    }
    // An extra may ask for others.
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& one : all) {
            if (!one.asked.empty() && applies(one)) grown = ask(one.name, one.asked) || grown;
        }
    }
    for (const auto& one : all) {
        if (!applies(one)) continue;
        const auto to = find(one.name);
        if (!to)
            outside_[one.from].push_back({one.name, std::string(one.text), std::string(one.extra)});
        if (!to || *to == one.from) continue;
        const Need need{one.from, *to, std::string(one.text), std::string(one.extra)};
        needs_[one.from].push_back(need);
        needed_by_[*to].push_back(need);
    }
}

bool RecordGraph::holds(const Condition& condition) const {
    const auto part_holds = [&](const Condition& part) { return holds(part); };
    const auto& parts = condition.parts;
    switch (condition.kind) {
    case Condition::Kind::And: return std::all_of(parts.begin(), parts.end(), part_holds);
    case Condition::Kind::Or: return std::any_of(parts.begin(), parts.end(), part_holds);
    case Condition::Kind::Leaf: break;
    }
    const auto& spec = *condition.spec;
    if (spec.name.starts_with("__")) return true;
    const auto matches = [&](const PackageRecord& record) { return spec.matches(record); };
    if (!spec.has_one_name()) return std::any_of(records_.begin(), records_.end(), matches);
    const auto place = find(spec.name);
    return place && matches(records_[*place]);
}

std::optional<std::size_t> RecordGraph::find(std::string_view name) const {
    const auto found = std::lower_bound(
        by_name_.begin(), by_name_.end(), name, [&](std::size_t place, std::string_view wanted) {
            return records_[place].name < wanted;
        });
    if (found == by_name_.end() || records_[*found].name != name) return std::nullopt;
    return *found;
}

std::vector<RecordGraph::Way> RecordGraph::ways(std::span<const std::size_t> roots,
                                                std::size_t target) const {
    // From the target back, so that one walk serves all roots: each record's next step towards it.
    std::vector<const Need*> next(records_.size());
    std::vector<bool> seen(records_.size());
    std::deque<std::size_t> queue{target};
    seen[target] = true;
    while (!queue.empty()) {
        const auto place = queue.front();
        queue.pop_front();
        for (const auto& need : needed_by_[place]) {
            if (seen[need.from]) continue;
            seen[need.from] = true;
            next[need.from] = &need;
            queue.push_back(need.from);
        }
    }
    std::vector<Way> found;
    for (const auto root : roots) {
        if (!seen[root]) continue;
        Way way{root, {}};
        for (auto place = root; place != target; place = next[place]->to)
            way.steps.push_back(*next[place]);
        found.push_back(std::move(way));
    }
    return found;
}

RecordGraph::AllWays RecordGraph::all_ways(std::span<const std::size_t> roots,
                                           std::size_t target,
                                           std::size_t most) const {
    // Ways can be exponentially many, and so can their beginnings.
    constexpr std::size_t kMostBeginnings = 200'000;
    std::vector<bool> is_root(records_.size());
    for (const auto root : roots) is_root[root] = true;
    const auto is_reachable = all_needed_by(is_root);

    // From the target back, breadth first. A beginning is a need and the beginning that it
    // precedes.
    struct Beginning {
        const Need* need = nullptr;  ///< null: the target itself
        std::size_t next = 0;
    };
    std::vector<Beginning> beginnings{{}};
    const auto place_of = [&](std::size_t i) {
        return beginnings[i].need == nullptr ? target : beginnings[i].need->from;
    };
    const auto passes = [&](std::size_t i, std::size_t place) {
        for (; i != 0; i = beginnings[i].next) {
            if (place_of(i) == place) return true;
        }
        return place == target;
    };
    AllWays found;
    for (std::size_t i = 0; i < beginnings.size(); ++i) {
        const auto place = place_of(i);
        if (is_root[place]) {
            if (found.ways.size() == most) {
                found.is_complete = false;
                return found;
            }
            Way way{place, {}};
            for (auto at = i; at != 0; at = beginnings[at].next)
                way.steps.push_back(*beginnings[at].need);
            found.ways.push_back(std::move(way));
        }
        for (const auto& need : needed_by_[place]) {
            if (!is_reachable[need.from] || passes(i, need.from)) continue;
            if (beginnings.size() == kMostBeginnings) {
                found.is_complete = false;
                break;
            }
            beginnings.push_back({&need, i});
        }
    }
    return found;
}

std::vector<bool> RecordGraph::all_needed_by(std::vector<bool> start) const {
    return closure(std::move(start), needs_, &Need::to);
}

std::vector<bool> RecordGraph::all_needing(std::vector<bool> start) const {
    return closure(std::move(start), needed_by_, &Need::from);
}

std::vector<std::size_t> RecordGraph::dependencies_first() const {
    std::vector<std::size_t> order;
    std::vector<bool> seen(records_.size());
    struct Visit {
        std::size_t place;
        std::size_t next = 0;  ///< of its needs
    };
    std::vector<Visit> open;
    const auto enter = [&](std::size_t place) {
        if (!seen[place]) open.push_back({place});
        seen[place] = true;
    };
    for (const auto root : by_name_) {
        enter(root);
        while (!open.empty()) {
            auto& [place, next] = open.back();
            if (next < needs_[place].size()) {
                enter(needs_[place][next++].to);
            } else {
                order.push_back(place);
                open.pop_back();
            }
        }
    }
    return order;
}

}  // namespace gpkg
