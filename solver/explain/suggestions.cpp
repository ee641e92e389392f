#include "solver/explain/suggestions.hpp"

#include "libcore/hardware/old_names.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/spec_text.hpp"
#include "solver/explain/asks.hpp"
#include "solver/explain/offers.hpp"
#include "solver/machine_limit.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <set>

namespace gpkg::solver {
namespace {

using Change = ProblemChange::Kind;

// What the user loses, least first: builds before versions before pins before packages. A step is
// so high that a dozen of one kind cost less than one of the next.
constexpr int kSuccessor = 1;
constexpr int kOtherBuild = 1;    // or channel
constexpr int kNearVersion = 20;  // where the requested one does not exist
constexpr int kWithoutExtras = 22;
constexpr int kOtherVersion = 24;
constexpr int kOtherKind = 26;  // of channel, variant or accelerator; an older priority or date
constexpr int kWithoutPin = 28;
constexpr int kOtherMachine = 30;
constexpr int kWithout = 500;

std::vector<Version> literals(const MatchSpec& spec) {
    return spec.version ? spec.version->literals() : std::vector<Version>();
}

/// "3.10" of 3.10.14: what people ask for. Nothing where the version does not begin like that.
std::optional<std::string> minor_of(const std::string& version) {
    static const std::regex pattern(R"(([0-9]+\.[0-9]+)(\..*)?)");
    std::smatch parts;
    if (!std::regex_match(version, parts, pattern)) return std::nullopt;
    return parts[1].str();
}

class Suggesting {
public:
    Suggesting(const Universe& universe, const Edges& edges, const EdgeSet& clash)
        : universe_(universe), edges_(edges), clash_(clash) {}

    std::vector<Suggestion> run() {
        std::set<NameId> names;
        // Who is named first is the most important, so the last is changed first.
        for (const auto id : std::vector<EdgeId>(clash_.rbegin(), clash_.rend())) {
            const auto& edge = edges_[id];
            if (edge.to != kNone) names.insert(edge.to);
            switch (edge.kind) {
            case Edge::Kind::Request:
                if (is_implied(universe_, edge)) {
                    name_it(edge);
                } else {
                    change_request(edge);
                }
                break;
            case Edge::Kind::Constraint: lift(edge); break;
            case Edge::Kind::Machine: change_machine(edge.to); break;
            case Edge::Kind::Asks: break;
            }
        }
        for (const auto name : names) admit_left_out(name);
        const auto is_left_out = [&](LeftOut::Why why) {
            return std::ranges::any_of(
                names, [&](NameId name) { return universe_.names()[name].lacks(why); });
        };
        if (is_left_out(LeftOut::Why::Hidden)) add(kOtherKind, change_of(Change::SetPriority));
        if (is_left_out(LeftOut::Why::Newer)) add(kOtherKind, change_of(Change::AllowNewer));
        return std::move(found_);
    }

private:
    static ProblemChange change_of(Change kind, std::size_t index = 0, std::string before = {}) {
        ProblemChange change;
        change.kind = kind;
        change.index = index;
        change.before = std::move(before);
        return change;
    }

    void add(int cost, ProblemChange change, bool is_wide = false) {
        found_.push_back({cost, std::move(change), is_wide});
    }

    /// A record that was left out for this reason: rather one that matches the request, and that is
    /// for the machine.
    const LeftOut* likeliest(NameId name, LeftOut::Why why) const {
        const LeftOut* best = nullptr;
        int best_score = -1;
        for (const auto& out : universe_.names()[name].left_out) {
            if (out.why != why) continue;
            const int score = (is_as_requested(name, out.record) ? 2 : 0) +
                              (is_for_machine(universe_, out) ? 1 : 0);
            if (score <= best_score) continue;
            best = &out;
            best_score = score;
        }
        return best;
    }

    bool is_as_requested(NameId name, const ChannelRecord& record) const {
        return std::ranges::all_of(universe_.requested(), [&](SpecId id) {
            const auto& spec = universe_.specs()[id];
            return spec.name != name || record.matches(spec.match);
        });
    }

    /// Allows the records of the name that were left out for the installed one's sake, or for the
    /// accelerator.
    void admit_left_out(NameId name) {
        for (const auto why : {LeftOut::Why::OtherChannel,
                               LeftOut::Why::OtherAccelerator,
                               LeftOut::Why::OtherBlas,
                               LeftOut::Why::OtherMpi}) {
            const auto* other = likeliest(name, why);
            if (other == nullptr) continue;
            auto change = change_of(Change::LetChange);
            change.spec = spec_allowing(universe_, name, *other);
            const bool is_known = std::ranges::any_of(
                found_, [&](const auto& one) { return one.change.spec == change.spec; });
            if (!is_known) add(kOtherKind, std::move(change));
        }
        if (!universe_.names()[name].lacks(LeftOut::Why::Accelerator)) return;
        // Of this package alone: all others stay bound.
        auto change = change_of(Change::SetAccelerator);
        change.name = universe_.names()[name].text;
        add(kOtherKind, std::move(change));
    }

    /// A requested version of the same name lifts it by another version.
    void lift(const Edge& edge) {
        const auto& constraint = universe_.problem().request.constraints[edge.index];
        const bool is_until_named = constraint.holds == Constraint::Holds::UntilNamed;
        if (is_until_named) {
            const auto& requested = universe_.requested();
            for (std::size_t i = 0; i < requested.size(); ++i) {
                const auto& spec = universe_.specs()[requested[i]];
                if (spec.match.name != constraint.spec.name || !spec.match.version) continue;
                auto change = change_of(Change::ReplaceSpec, i, as_typed(spec.match));
                change.spec = as_typed(bare_of(spec));
                return add(kOtherVersion, std::move(change), true);
            }
        }
        auto change = change_of(Change::DropConstraint, edge.index, written(constraint.spec));
        if (is_until_named) change.name = constraint.spec.name;
        add(kWithoutPin, std::move(change));
    }

    /// A named package may move.
    void name_it(const Edge& edge) {
        const auto& spec = universe_.specs()[universe_.requested()[edge.index]];
        if (universe_.name_of(spec).is_request) return;
        auto change =
            change_of(Change::ReplaceSpec, edge.index, as_typed(without_checksums(spec.match)));
        change.spec = universe_.name_of(spec).text;
        if (change.before != change.spec) add(kWithoutPin, std::move(change));
    }

    void change_request(const Edge& edge) {
        const auto& spec = universe_.specs()[universe_.requested()[edge.index]];
        const auto& name = universe_.name_of(spec);
        const auto before =
            as_typed(name.is_request ? universe_.problem().request.specs[edge.index] : spec.match);
        if (universe_.requested().size() > 1)
            add(kWithout, change_of(Change::DropSpec, edge.index, before));
        if (name.is_request) return;
        auto change = change_of(Change::ReplaceSpec, edge.index, before);
        const auto replace = [&](int cost, const MatchSpec& match, bool is_wide = false) {
            if (match == spec.match || (spec.matches.empty() && !exists(spec, match))) return;
            change.spec = as_typed(match);
            add(cost, change, is_wide);
        };
        const bool is_missing = spec.matches.empty() && !name.lacks(LeftOut::Why::Accelerator);
        if (const auto* old = is_missing ? old_name(name.text) : nullptr) {
            auto today = spec.match;
            today.name = old->successor;
            if (!old->successor.empty()) replace(kSuccessor, today);
            change.spec = old->choice;
            if (!old->choice.empty()) add(kSuccessor, change);
        }
        auto any_channel = spec.match;
        any_channel.channel.reset();
        if (!name.is_virtual) {
            replace(kOtherBuild, any_channel);
            if (const auto channel = hiding_place(spec)) {
                auto from_there = spec.match;
                from_there.channel = channel;
                replace(kOtherBuild, from_there);
            }
            auto without_extras = spec.match;
            without_extras.extras.clear();
            replace(kWithoutExtras, without_extras);
            // Else the other wish says what this one would become: this one is not needed then.
            if (!is_named_twice(spec)) widen(spec, any_channel, replace);
        }
    }

    /// Other versions and builds of the name, beyond what `any_channel` allows.
    template <typename Replace>
    void widen(const Spec& spec, const MatchSpec& any_channel, const Replace& replace) const {
        const auto bare = bare_of(spec);
        auto only_version = bare;
        only_version.version = spec.match.version;
        if (spec.matches.empty()) near_versions(spec, replace);
        if (spec.match.version) {
            if (!(only_version == any_channel)) replace(kOtherBuild, only_version);
            replace(kOtherVersion, bare, true);
        } else if (!(bare == any_channel)) {
            replace(kOtherBuild, bare);
        }
        auto from_anywhere = bare;
        from_anywhere.channel.reset();
        if (bare.channel) replace(kOtherVersion + 1, from_anywhere, true);
    }

    /// What the spec asks for first of all: the name, with its extras, of the channel it names.
    static MatchSpec bare_of(const Spec& spec) {
        MatchSpec bare;
        bare.name = spec.match.name;
        bare.extras = spec.match.extras;
        bare.channel = spec.match.channel;
        return bare;
    }

    bool is_named_twice(const Spec& spec) const {
        const auto& requested = universe_.requested();
        return std::count_if(requested.begin(), requested.end(), [&](SpecId id) {
                   return universe_.specs()[id].name == spec.name;
               }) > 1;
    }

    /// A channel with a match that strict priority hides.
    std::optional<std::string> hiding_place(const Spec& spec) const {
        const auto& left_out = universe_.name_of(spec).left_out;
        const auto found = std::find_if(left_out.begin(), left_out.end(), [&](const auto& out) {
            return out.why == LeftOut::Why::Hidden && out.record.matches(spec.match);
        });
        if (found == left_out.end()) return std::nullopt;
        return channel_text(universe_.problem(), found->record.channel());
    }

    bool is_offered(NameId name, const MatchSpec& match) const {
        return std::ranges::any_of(universe_.candidates_of(name), [&](const Candidate& one) {
            return one.is_offered() && one.offered.matches(match);
        });
    }

    /// Whether a record matches, usable or not. A relaxed spec without a match does not help.
    bool exists(const Spec& spec, const MatchSpec& match) const {
        return match.name != spec.match.name || is_offered(spec.name, match) ||
               std::ranges::any_of(universe_.name_of(spec).left_out,
                                   [&](const LeftOut& out) { return out.record.matches(match); });
    }

    /// "=3.11" for "==3.11" where there is a 3.11.2, probably the intended one.
    static std::optional<VersionSpec> loosened(const MatchSpec& spec,
                                               const std::vector<Version>& versions) {
        const auto loose = with_fuzzy_version(spec);
        if (!loose || std::none_of(versions.begin(), versions.end(), [&](const auto& version) {
                return loose->version->matches(version);
            }))
            return std::nullopt;
        return loose->version;
    }

    /// The existing versions below and above one that nobody has.
    template <typename Replace>
    void near_versions(const Spec& spec, const Replace& replace) const {
        const auto wanted = literals(spec.match);
        if (wanted.empty()) return;
        const auto versions = versions_of(universe_, spec.name, spec.match.channel);
        if (std::any_of(versions.begin(), versions.end(), [&](const auto& version) {
                return spec.match.version->matches(version);
            }))
            return;  // the version is there, the build is not
        const auto above = std::find_if(versions.rbegin(), versions.rend(), [&](const auto& one) {
            return wanted.front() < one;
        });
        const auto below = std::find_if(versions.begin(), versions.end(), [&](const auto& one) {
            return one < wanted.front();
        });
        auto match = bare_of(spec);
        if (auto loose = loosened(spec.match, versions)) {
            match.version = *std::move(loose);
            auto of_build = match;
            of_build.build = spec.match.build;
            if (!spec.match.build || !is_offered(spec.name, of_build))
                return replace(kNearVersion, match);
            replace(kNearVersion, of_build);
            return replace(kNearVersion + 1, match, true);  // if that build does not run here
        }
        const auto take = [&](int cost, const Version& version) {
            const auto minor = minor_of(version.to_string());
            const bool is_loose = spec.match.version->exact() == nullptr && minor;
            match.version = is_loose ? VersionSpec::parse("=" + *minor).value()
                                     : VersionSpec::equal_to(version);
            replace(cost, match);
        };
        if (below != versions.end()) take(kNearVersion, *below);
        if (above != versions.rend()) take(kNearVersion + 1, *above);
    }

    /// What the clash asks of a virtual package, each way for itself.
    std::set<Way> ways_to(NameId name) const {
        std::set<Way> ways;
        for (const auto id : clash_) {
            const auto& edge = edges_[id];
            if (edge.to != name) continue;
            if (edge.kind == Edge::Kind::Request) ways.insert({universe_.requested()[edge.index]});
            if (edge.kind != Edge::Kind::Asks) continue;
            const auto& from = universe_.names()[edge.from];
            for (auto candidate = from.begin; candidate < from.end; ++candidate) {
                auto way = way_of(universe_, candidate, name);
                if (!way.empty()) ways.insert(std::move(way));
            }
        }
        return ways;
    }

    /// If the machine has an older one: the oldest newer one that meets a spec, because newer
    /// drivers are harder to get. If it has none: the newest that any spec names; the solution
    /// shows which one is enough.
    void change_machine(NameId name) {
        const auto& own = universe_.names()[name];
        auto change = change_of(Change::SetMachine);
        change.name = own.text;
        change.build = "0";
        const auto ways = ways_to(name);
        if (own.text == "__archspec") {
            change.version = "1";
            for (const auto& way : ways) {
                const auto& build = universe_.specs()[way.front()].match.build;
                if (build && build->text().find_first_of("*^$|[") != std::string::npos) continue;
                change.build = build ? build->text() : "x86_64";
                add(kOtherMachine, change);
                return;
            }
            return;
        }
        auto values = values_asked(universe_, name);
        if (own.begin == own.end) {
            if (values.empty())
                values.insert(
                    *Version::parse(own.text == "__cuda" ? std::string(kUsualCuda) : "0"));
            change.version = values.rbegin()->to_string();
            add(kOtherMachine, change, true);
            return;
        }
        const auto& present = universe_.version_of(own.begin);
        for (const auto& value : values) {
            const bool is_enough = std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
                return std::all_of(way.begin(), way.end(), [&](SpecId id) {
                    const auto& match = universe_.specs()[id].match;
                    return !match.version || match.version->matches(value);
                });
            });
            if (value <= present || !is_enough) continue;
            if (own.text == "__cuda" &&
                !may_have_driver_for(value, universe_.problem().virtual_packages))
                return;
            change.version = value.to_string();
            add(kOtherMachine, change);
            return;
        }
    }

    const Universe& universe_;
    const Edges& edges_;
    const EdgeSet& clash_;
    std::vector<Suggestion> found_;
};

/// What the records of a solution ask of a virtual package. Nothing where one has a condition on
/// it: another value would need other things.
std::optional<std::vector<MatchSpec>> asked_of_machine(const Solution& solution,
                                                       const std::string& name) {
    std::vector<MatchSpec> asked;
    for (const auto& record : solution.records) {
        auto texts = record.depends;
        texts.insert(texts.end(), record.constrains.begin(), record.constrains.end());
        for (const auto& [group, more] : record.extra_depends)
            texts.insert(texts.end(), more.begin(), more.end());
        for (const auto& text : texts) {
            auto spec = MatchSpec::parse(text);
            if (!spec) continue;
            if (spec->when && spec->when->find(name) != std::string::npos) return std::nullopt;
            if (spec->name == name) asked.push_back(*std::move(spec));
        }
    }
    return asked;
}

}  // namespace

std::vector<Suggestion> suggest(const Universe& universe,
                                const Edges& edges,
                                const EdgeSet& clash) {
    return Suggesting(universe, edges, clash).run();
}

std::set<Version> values_asked(const Universe& universe, NameId name) {
    std::set<Version> values;
    for (const auto& spec : universe.specs()) {
        if (spec.name != name) continue;
        if (!spec.match.version) continue;
        for (auto& version : spec.match.version->own_literals()) values.insert(std::move(version));
    }
    return values;
}

ProblemChange narrowed(ProblemChange change, const Solution& solution) {
    if (change.kind == Change::ReplaceSpec) {
        auto match = MatchSpec::parse(change.spec);
        const auto* record = match ? find_record(solution.records, match->name) : nullptr;
        if (record == nullptr) return change;
        const auto minor = minor_of(record->version);
        auto version = VersionSpec::parse(minor ? "=" + *minor : "==" + record->version);
        if (!version) return change;
        match->version = *std::move(version);
        change.spec = as_typed(*match);
        return change;
    }
    if (change.kind != Change::SetMachine) return change;
    const auto asked = asked_of_machine(solution, change.name);
    if (!asked) return change;
    std::set<Version> values;
    for (const auto& spec : *asked) {
        for (auto& version : literals(spec)) values.insert(std::move(version));
    }
    change.is_any_version = values.empty();
    const auto enough = std::ranges::find_if(values, [&](const Version& value) {
        return std::ranges::all_of(*asked, [&](const MatchSpec& spec) {
            return !spec.version || spec.version->matches(value);
        });
    });
    if (enough != values.end()) change.version = enough->to_string();
    return change;
}

}  // namespace gpkg::solver
