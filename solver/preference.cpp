#include "solver/preference.hpp"

#include "libcore/base/text.hpp"
#include "solver/running.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace gpkg::solver {
namespace {

/// The order, as preference.hpp tells it. What is behind it, Rest, is looked at in groups that are
/// equal so far.
enum class Key {
    Held,
    Release,
    Runs,
    TrackFeatures,
    Channel,
    NamedCuda,
    Version,
    Accelerator,
    Toolkit,
    Closeness,
    BuildNumber,
    Rest,
};

/// Where each key but Rest puts a candidate among those of its name; less is better.
using Places = std::array<std::uint64_t, static_cast<std::size_t>(Key::Rest)>;

/// The first key that tells two apart; Rest where none does.
Key deciding(const Places& one, const Places& two) {
    return static_cast<Key>(std::ranges::mismatch(one, two).in1 - one.begin());
}

std::uint64_t place_of(const ToolkitFit& fit) {
    return std::uint64_t{static_cast<unsigned>(fit.how)} << 32U |
           static_cast<unsigned>(fit.distance);
}

std::uint64_t place_of(const Closeness& closeness) {
    return ~(std::uint64_t{static_cast<unsigned>(closeness.gpu)} << 32U |
             static_cast<unsigned>(closeness.cpu));
}

/// What stays of what is installed.
struct Held {
    std::uint32_t version;  ///< its place in the order of versions
    bool is_build_too;
};

/// What the request and the machine mean for the builds of one name.
struct Policy {
    bool heeds_machine = false;              ///< not as conda does
    bool has_several = false;                ///< there are builds for several accelerators
    std::optional<Accelerator> preferred{};  ///< of several
    bool wants_cuda = false;                 ///< rather than a newer version
    std::optional<Held> held{};
};

// clang-tidy 14 takes the 0 that an ordering is compared with for a null pointer.
// NOLINTBEGIN(modernize-use-nullptr)
class Preference {
public:
    explicit Preference(const Universe& universe)
        : universe_(universe), names_cuda_(universe.names_cuda()) {
        version_order_ = order_versions();
        reaches_.resize(universe.specs().size());
        only_tracked_.resize(universe.specs().size());
        for (auto* places : {&ranking_.standings,
                             &ranking_.named_cuda,
                             &ranking_.versions,
                             &ranking_.accelerators,
                             &ranking_.ranks})
            places->resize(universe.candidates().size());
    }

    /// What puts the first of one name before the second, which is told of the first.
    std::string advantage(CandidateId a, CandidateId b) && {
        const auto& one = universe_.candidates()[a];
        const auto& two = universe_.candidates()[b];
        policy_ = policy_of(one.name);
        const auto places = places_of(one);
        const auto others = places_of(two);
        if (others < places) return "allows the preferred builds of other packages";
        switch (deciding(places, others)) {
        case Key::Release: break;  // nobody is told of these as of packages
        case Key::Held:
            return one.is_installed ? "is installed and changes only when requested"
                                    : "has the installed version";
        case Key::Runs:
            return fmt::format(
                "runs here, and {} {}", universe_.describe(b), obstacle_of(universe_, b));
        case Key::TrackFeatures:
            return fmt::format("is preferred: {} has track_features, so its priority is lower",
                               universe_.describe(b));
        case Key::Channel: return "is in a channel with higher priority";
        case Key::NamedCuda:
            return fmt::format("is a {} build, and a CUDA is requested",
                               compute_platform(one.accelerator));
        case Key::Version: return "is a newer version";
        case Key::Accelerator:
            return fmt::format(
                "is a {} build, {}", compute_platform(one.accelerator), why_accelerator(one, two));
        case Key::Toolkit: return toolkit_advantage(one, two);
        case Key::Closeness: return "is built for hardware closer to this machine";
        case Key::BuildNumber: return "has a higher build number";
        case Key::Rest: break;
        }
        return two.timestamp < one.timestamp ? "was built later or for newer dependencies"
                                             : "is the preferred build";
    }

    Ranking rank() && {
        for (NameId id = 0; id < universe_.names().size(); ++id) {
            if (universe_.names()[id].begin != universe_.names()[id].end) rank_name(id);
        }
        return std::move(ranking_);
    }

private:
    /// "is for CUDA 12.6 or newer, which suits the driver better than CUDA 12.9 or newer"
    static std::string toolkit_advantage(const Candidate& one, const Candidate& two) {
        const auto text = [](const Candidate& candidate) {
            return candidate.toolkit ? candidate.toolkit->to_string() : "any toolkit";
        };
        return fmt::format(
            "is for {}, which suits the driver better than {}", text(one), text(two));
    }

    /// Why the accelerator of one candidate comes before that of another of its name.
    std::string why_accelerator(const Candidate& one, const Candidate& two) const {
        const auto& problem = universe_.problem();
        const auto choice = universe_.accelerators().choice(universe_.names()[one.name].text);
        if (choice != AcceleratorChoice::Auto && choice != AcceleratorChoice::Conda)
            return fmt::format("and accelerator {} is requested", to_string(choice));
        const auto reason =
            machine_reason(problem.machine, problem.virtual_packages, one.accelerator);
        return reason.empty()
                   ? fmt::format("and the other is a {} build", compute_platform(two.accelerator))
                   : "and " + reason;
    }

    /// A number for each version so that comparing the numbers of one name's compares versions.
    std::vector<std::uint32_t> order_versions() const {
        VersionId count = 0;
        for (const auto& candidate : universe_.candidates())
            count = std::max(count, candidate.version + 1);
        std::vector<std::uint32_t> order(count);
        for (const auto& name : universe_.names()) {
            std::vector<VersionId> sorted;
            for (auto id = name.begin; id < name.end; ++id) {
                const auto version = universe_.candidates()[id].version;
                if (sorted.empty() || sorted.back() != version) sorted.push_back(version);
            }
            // Mostly the rows of one index, which come with the highest first.
            const auto is_higher = [&](auto a, auto b) {
                return universe_.version(b) < universe_.version(a);
            };
            if (!std::is_sorted(sorted.begin(), sorted.end(), is_higher))
                std::sort(sorted.begin(), sorted.end(), is_higher);
            auto place = static_cast<std::uint32_t>(sorted.size());
            for (std::size_t i = 0; i < sorted.size(); ++i) {
                if (i > 0 && is_higher(sorted[i - 1], sorted[i])) --place;
                order[sorted[i]] = place;
            }
        }
        return order;
    }

    void rank_name(NameId named) {
        const auto& name = universe_.names()[named];
        policy_ = policy_of(named);
        std::vector<CandidateId> ids(name.end - name.begin);
        std::iota(ids.begin(), ids.end(), name.begin);
        std::vector<Places> places;
        places.reserve(ids.size());
        for (const auto id : ids) places.push_back(places_of(universe_.candidates()[id]));
        const auto at = [&](CandidateId id) -> const Places& { return places[id - name.begin]; };
        // The rows of an index come in this order as far as no request has a say in it.
        const auto is_better = [&](auto a, auto b) { return at(a) < at(b); };
        if (!std::is_sorted(ids.begin(), ids.end(), is_better))
            std::sort(ids.begin(), ids.end(), is_better);
        // Which key tells each from the one before it.
        std::vector<Key> keys(ids.size(), Key::Rest);
        for (std::size_t i = 1; i < ids.size(); ++i) keys[i] = deciding(at(ids[i - 1]), at(ids[i]));
        for (std::size_t begin = 0; begin < ids.size();) {
            auto end = begin + 1;
            while (end < ids.size() && keys[end] == Key::Rest) ++end;
            const auto group = std::span(ids).subspan(begin, end - begin);
            if (group.size() > 1) order_group(group);
            begin = end;
        }
        number(ids, keys);
    }

    /// Gives the candidates of a name, the best first, their places by each part of the order.
    void number(const std::vector<CandidateId>& ids, const std::vector<Key>& keys) {
        std::uint32_t standing = 0;
        std::uint32_t named_cuda = 0;
        std::uint32_t version = 0;
        std::uint32_t accelerator = 0;
        for (std::uint32_t place = 0; place < ids.size(); ++place) {
            if (place > 0) {
                if (keys[place] <= Key::Accelerator) ++accelerator;
                if (keys[place] <= Key::Version) ++version;
                if (keys[place] <= Key::NamedCuda) ++named_cuda;
                if (keys[place] <= Key::Channel) ++standing;
            }
            ranking_.standings[ids[place]] = standing;
            ranking_.named_cuda[ids[place]] = named_cuda;
            ranking_.versions[ids[place]] = version;
            ranking_.accelerators[ids[place]] = accelerator;
            ranking_.ranks[ids[place]] = place;
        }
    }

    /// Whether what is installed is for another accelerator than is asked for, of which there are
    /// builds.
    bool changes_accelerator(NameId id) const {
        const auto former = universe_.former(id);
        const auto preferred = universe_.preferred_accelerator(id);
        if (!former || former->is_gone || !preferred ||
            !universe_.accelerators().is_asked(universe_.names()[id].text) ||
            accelerator_of(former->record).accelerator == *preferred)
            return false;
        return std::ranges::any_of(universe_.candidates_of(id), [&](const Candidate& candidate) {
            return candidate.accelerator == *preferred;
        });
    }

    /// What may change its accelerator because of another package does not where it need not.
    std::optional<Accelerator> preferred_of(NameId id) const {
        const auto former = universe_.former(id);
        if (!former || !universe_.keeping().frees_accelerators() ||
            universe_.accelerators().is_asked(universe_.names()[id].text))
            return universe_.preferred_accelerator(id);
        return accelerator_of(former->record).accelerator;
    }

    Policy policy_of(NameId id) const {
        const auto& name = universe_.names()[id];
        Policy policy;
        if (!name.is_virtual) {
            const auto candidates = universe_.candidates_of(id);
            const auto is_other = [](const LeftOut& out) {
                return out.why == LeftOut::Why::Accelerator ||
                       out.why == LeftOut::Why::OtherAccelerator;
            };
            // A request that takes them out changes nothing of what the rest is.
            policy.has_several = std::ranges::any_of(name.left_out, is_other) ||
                                 std::ranges::any_of(candidates, [&](const Candidate& candidate) {
                                     return candidate.accelerator != candidates.front().accelerator;
                                 });
            if (policy.has_several) policy.preferred = preferred_of(id);
            const auto choice = universe_.accelerators().choice(name.text);
            policy.heeds_machine = universe_.heeds_machine(id);
            policy.wants_cuda =
                names_cuda_ && choice == AcceleratorChoice::Auto && universe_.is_requested(id);
        }
        policy.held = held_of(id, policy.has_several);
        return policy;
    }

    /// Whether what is installed of it is to change as little as possible.
    bool may_hold(const Name& name) const {
        const auto& request = universe_.problem().request;
        return !request.update_all && !request.installed.empty() &&
               std::ranges::find(request.update, name.text) == request.update.end();
    }

    /// What is installed, else its version where the build is to be for another accelerator. Where
    /// what is asked for rules that out, a change is what is asked for.
    std::optional<Held> held_of(NameId id, bool has_several) const {
        const auto& name = universe_.names()[id];
        if (!may_hold(name)) return std::nullopt;
        const auto preferred = universe_.preferred_accelerator(id);
        if (!preferred && has_several && universe_.accelerators().is_asked(name.text))
            return std::nullopt;  // any accelerator will do
        const bool changes = changes_accelerator(id);
        const auto before = changes ? universe_.former(id)->record.version : std::string();
        for (auto one = name.begin; one < name.end; ++one) {
            const auto& candidate = universe_.candidates()[one];
            const bool is_it = changes
                                   ? candidate.accelerator == preferred &&
                                         universe_.version(candidate.version).to_string() == before
                                   : candidate.is_installed;
            if (is_it && universe_.is_as_requested(one))
                return Held{version_order_[candidate.version], !changes};
        }
        return std::nullopt;
    }

    /// Smaller is better. Of what is not preferred, builds for none go before those for what is not
    /// there.
    std::uint64_t accelerator_place(const Candidate& candidate) const {
        if (!policy_.preferred || candidate.accelerator == *policy_.preferred) return 0;
        return candidate.accelerator == Accelerator::None ? 1 : 2;
    }

    /// What is for a CUDA that the driver does not run would be of no use, however new.
    bool will_not_run(const Candidate& candidate) const {
        return candidate.will_not_run && policy_.heeds_machine;
    }

    /// Where accelerators decide, features that are tracked to keep such builds back do not.
    bool is_kept_back(const Candidate& candidate) const {
        return candidate.has_track_features && candidate.accelerator != policy_.preferred;
    }

    /// What is installed and not to be updated stays, else its version does. Smaller is better.
    std::uint64_t held_place(const Candidate& candidate) const {
        const auto& held = policy_.held;
        if (!held || (held->is_build_too && candidate.is_installed)) return 0;
        return version_order_[candidate.version] == held->version ? 1 : 2;
    }

    /// In the order of the keys.
    Places places_of(const Candidate& candidate) const {
        const auto fit = place_of(candidate.toolkit_fit);
        const bool is_toolkit = universe_.names()[candidate.name].toolkit_of.has_value();
        const bool has_channels = universe_.problem().priority != ChannelPriority::Disabled;
        const auto accelerator = accelerator_place(candidate);
        return {held_place(candidate),
                is_toolkit ? fit : 0,
                will_not_run(candidate),
                is_kept_back(candidate),
                has_channels ? candidate.channel : 0,
                policy_.wants_cuda ? accelerator : 0,
                ~std::uint64_t{version_order_[candidate.version]},
                accelerator,
                policy_.heeds_machine ? fit : 0,
                place_of(candidate.closeness),
                ~candidate.build_number};
    }

    using List = std::span<const SpecId>;

    /// Keys 11 (what the dependencies can bring), 12 (timestamp) and the tie-breaks.
    void order_group(std::span<CandidateId> group) {
        // Builds mostly share their list of dependencies: each list is looked at once.
        std::vector<List> lists;
        std::unordered_map<const SpecId*, std::size_t> known;
        struct Placed {
            std::size_t place;  ///< of its list; first, the number of that
            CandidateId id;
        };
        std::vector<Placed> members;
        members.reserve(group.size());
        for (const auto id : group) {
            const auto& candidate = universe_.candidates()[id];
            const auto list = candidate.not_asked.empty() ? candidate.depends : candidate.not_asked;
            const auto [number, is_new] = known.try_emplace(list.data(), lists.size());
            if (is_new) lists.push_back(list);
            members.push_back({number->second, id});
        }
        const auto places = order_lists(lists);
        for (auto& member : members) member.place = places[member.place];
        std::ranges::sort(members, [&](const Placed& a, const Placed& b) {
            return a.place != b.place ? a.place < b.place : last_order(a.id, b.id) < 0;
        });
        std::ranges::transform(members, group.begin(), &Placed::id);
    }

    /// The place of each list among them, by what it can bring; equal for lists that bring the
    /// same.
    std::vector<std::size_t> order_lists(const std::vector<List>& lists) {
        std::vector<std::size_t> places(lists.size());
        if (lists.size() < 2) return places;
        // What needs something that no channel has is not to be had on any machine, and has no say
        // in what tells the others apart.
        auto reachable = lists;
        std::erase_if(reachable, [&](const List& list) {
            return std::ranges::any_of(list, [&](SpecId id) {
                const auto& spec = universe_.specs()[id];
                return spec.matches.empty() && !universe_.name_of(spec).is_virtual;
            });
        });
        const auto names = common_names(reachable.empty() ? lists : reachable);
        std::vector<std::vector<Reach>> scores;
        scores.reserve(lists.size());
        for (const auto& list : lists) scores.push_back(score(list, names));
        std::vector<std::size_t> best_first(lists.size());
        std::iota(best_first.begin(), best_first.end(), std::size_t{0});
        std::sort(best_first.begin(), best_first.end(), [&](auto one, auto other) {
            return scores[other] < scores[one];
        });
        for (std::size_t i = 1; i < best_first.size(); ++i) {
            const auto before = best_first[i - 1];
            places[best_first[i]] =
                places[before] + (scores[before] == scores[best_first[i]] ? 0 : 1);
        }
        return places;
    }

    /// The names that all lists speak of, alphabetically.
    std::vector<NameId> common_names(const std::vector<List>& lists) const {
        const auto name_of = [&](SpecId spec) { return universe_.specs()[spec].name; };
        std::vector<NameId> names;
        for (const auto spec : lists.front()) names.push_back(name_of(spec));
        for (const auto& list : lists) {
            std::erase_if(names, [&](NameId name) {
                return std::ranges::find(list, name, name_of) == list.end();
            });
        }
        std::ranges::sort(names, {}, [&](NameId name) -> const std::string& {
            return universe_.names()[name].text;
        });
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }

    /// What a spec can bring at best, the higher the better: the place of its highest version, with
    /// kWithoutFeatures where track_features are not its price; 0 where it brings nothing.
    using Reach = std::uint64_t;
    static constexpr Reach kWithoutFeatures = Reach{1} << 32U;

    /// By name, the least that the list's specs on it bring.
    std::vector<Reach> score(const List& list, const std::vector<NameId>& names) {
        std::vector<Reach> scores;
        for (const auto name : names) {
            std::optional<Reach> least;
            for (const auto spec : list) {
                if (universe_.specs()[spec].name != name) continue;
                least = std::min(least.value_or(reach_of(spec)), reach_of(spec));
            }
            scores.push_back(least.value_or(0));
        }
        return scores;
    }

    /// Whether it has features that are tracked to keep it back, or goes with nothing else: of
    /// python_abi "*_cp314t" has none, but goes with the python alone that has py_freethreading.
    bool costs_features(const Candidate& candidate) {
        const auto has_them = [&](CandidateId id) {
            return universe_.candidates()[id].has_track_features;
        };
        const auto wants_them = [&](SpecId id) {
            auto& entry = only_tracked_[id];
            if (!entry) {
                const auto& matches = universe_.specs()[id].matches;
                entry = !matches.empty() && std::all_of(matches.begin(), matches.end(), has_them);
            }
            return *entry;
        };
        return candidate.has_track_features ||
               std::any_of(candidate.depends.begin(), candidate.depends.end(), wants_them) ||
               std::any_of(candidate.constrains.begin(), candidate.constrains.end(), wants_them);
    }

    Reach reach_of(SpecId id) {
        auto& entry = reaches_[id];
        if (entry) return *entry;
        std::uint32_t highest = 0;
        bool is_tracked = true;
        for (const auto match : universe_.specs()[id].matches) {
            const auto& candidate = universe_.candidates()[match];
            const auto version = version_order_[candidate.version];
            if (version < highest) continue;
            is_tracked = (is_tracked || version > highest) && costs_features(candidate);
            highest = version;
        }
        entry = is_tracked ? highest : highest + kWithoutFeatures;
        return *entry;
    }

    std::strong_ordering last_order(CandidateId a, CandidateId b) const {
        const auto& one = universe_.candidates()[a];
        const auto& two = universe_.candidates()[b];
        const auto first = std::tuple(two.timestamp, one.channel, one.is_noarch, two.is_conda());
        const auto second = std::tuple(one.timestamp, two.channel, two.is_noarch, one.is_conda());
        if (const auto order = first <=> second; order != 0) return order;
        if (const auto order = one.build() <=> two.build(); order != 0) return order;
        return one.sha256() <=> two.sha256();
    }

    const Universe& universe_;
    bool names_cuda_;
    std::vector<std::uint32_t> version_order_;
    Policy policy_;                                  ///< of the name that is being ranked
    std::vector<std::optional<Reach>> reaches_;      ///< by spec
    std::vector<std::optional<bool>> only_tracked_;  ///< by spec
    Ranking ranking_;
};

// NOLINTEND(modernize-use-nullptr)

}  // namespace

Ranking rank_candidates(const Universe& universe) { return Preference(universe).rank(); }

std::vector<std::uint32_t> ranks_by_channel(const Universe& universe) {
    std::vector<std::uint32_t> ranks(universe.candidates().size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

std::string advantage(const Universe& universe, CandidateId better, CandidateId other) {
    return Preference(universe).advantage(better, other);
}

}  // namespace gpkg::solver
