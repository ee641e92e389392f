#include "solver/preference.hpp"

#include "libcore/base/text.hpp"
#include "solver/running.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace gpkg::solver {
namespace {

/// What a dependency spec can bring at best.
struct Reach {
    bool tracked = false;
    VersionId version = kNone;
};

enum class Key {
    Release,
    Held,
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

/// The order, as preference.hpp tells it. What is behind it, Rest, is looked at in groups that are
/// equal so far.
constexpr auto kOrder = std::to_array<Key>({Key::Release,
                                            Key::Held,
                                            Key::Runs,
                                            Key::TrackFeatures,
                                            Key::Channel,
                                            Key::NamedCuda,
                                            Key::Version,
                                            Key::Accelerator,
                                            Key::Toolkit,
                                            Key::Closeness,
                                            Key::BuildNumber});

/// What stays of what is installed.
struct Held {
    std::uint32_t version;  ///< its place in the order of versions
    bool is_build_too;
};

// clang-tidy 14 takes the 0 that an ordering is compared with for a null pointer.
// NOLINTBEGIN(modernize-use-nullptr)
class Preference {
public:
    explicit Preference(const Universe& universe) : universe_(universe) {
        const auto& candidates = universe.candidates();
        version_order_ = order_versions();
        const auto& request = universe.problem().request;
        may_hold_.resize(universe.names().size(),
                         !request.update_all && !request.installed.empty());
        for (const auto& text : request.update) {
            if (const auto name = universe.find_name(text)) may_hold_[*name] = false;
        }
        order_accelerators();
        best_of_spec_.resize(universe.specs().size());
        only_tracked_.resize(universe.specs().size());
        lists_with_.resize(universe.names().size());
        for (auto* places :
             {&ranking_.standings, &ranking_.versions, &ranking_.accelerators, &ranking_.ranks})
            places->resize(candidates.size());
    }

    /// What puts the first of one name before the second, which is told of the first.
    std::string advantage(CandidateId a, CandidateId b) && {
        const auto& one = universe_.candidates()[a];
        const auto& two = universe_.candidates()[b];
        held_ = held_of(one.name);
        const auto [key, order] = decide(a, b);
        if (order > 0) return "allows the preferred builds of other packages";
        switch (key) {
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
        for (NameId id = 0; id < may_hold_.size(); ++id) {
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
        held_ = held_of(named);
        std::vector<CandidateId> ids(name.end - name.begin);
        std::iota(ids.begin(), ids.end(), name.begin);
        // The rows of an index come in this order as far as no request has a say in it.
        const auto is_better = [&](auto a, auto b) { return main_order(a, b) < 0; };
        if (!std::is_sorted(ids.begin(), ids.end(), is_better))
            std::sort(ids.begin(), ids.end(), is_better);
        // Which key tells each from the one before it.
        std::vector<Key> keys(ids.size(), Key::Rest);
        for (std::size_t i = 1; i < ids.size(); ++i) keys[i] = decide(ids[i - 1], ids[i]).first;
        for (std::size_t begin = 0; begin < ids.size();) {
            auto end = begin + 1;
            while (end < ids.size() && keys[end] == Key::Rest) ++end;
            const auto at = [&](std::size_t i) {
                return ids.begin() + static_cast<std::ptrdiff_t>(i);
            };
            if (end - begin > 1) order_group(at(begin), at(end));
            begin = end;
        }
        number(ids, keys);
    }

    /// Gives the candidates of a name, the best first, their places by each part of the order.
    void number(const std::vector<CandidateId>& ids, const std::vector<Key>& keys) {
        std::uint32_t standing = 0;
        std::uint32_t version = 0;
        std::uint32_t accelerator = 0;
        for (std::uint32_t place = 0; place < ids.size(); ++place) {
            if (place > 0) {
                if (keys[place] <= Key::Accelerator) ++accelerator;
                if (keys[place] <= Key::Version) ++version;
                if (keys[place] <= Key::NamedCuda) ++standing;
            }
            ranking_.standings[ids[place]] = standing;
            ranking_.versions[ids[place]] = version;
            ranking_.accelerators[ids[place]] = accelerator;
            ranking_.ranks[ids[place]] = place;
        }
    }

    std::span<const Candidate> candidates_of(NameId id) const {
        const auto& name = universe_.names()[id];
        return std::span(universe_.candidates()).subspan(name.begin, name.end - name.begin);
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
        return std::ranges::any_of(candidates_of(id), [&](const Candidate& candidate) {
            return candidate.accelerator == *preferred;
        });
    }

    /// What is installed, else its version where the build is to be for another accelerator. Where
    /// what is asked for rules that out, a change is what is asked for.
    std::optional<Held> held_of(NameId id) const {
        if (!may_hold_[id]) return std::nullopt;
        const auto& name = universe_.names()[id];
        const auto preferred = universe_.preferred_accelerator(id);
        if (!preferred && has_several_[id] && universe_.accelerators().is_asked(name.text))
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

    /// Where a name has builds for several accelerators and one is preferred: which.
    void order_accelerators() {
        preferred_.resize(universe_.names().size());
        has_several_.resize(universe_.names().size());
        heeds_machine_.resize(universe_.names().size());
        wants_cuda_.resize(universe_.names().size());
        const bool names_cuda = universe_.names_cuda();
        for (NameId id = 0; id < preferred_.size(); ++id) {
            const auto& name = universe_.names()[id];
            if (name.begin == name.end || name.is_virtual) continue;
            heeds_machine_[id] =
                universe_.accelerators().choice(name.text) != AcceleratorChoice::Conda;
            const auto candidates = candidates_of(id);
            const auto is_other = [](const LeftOut& out) {
                return out.why == LeftOut::Why::Accelerator ||
                       out.why == LeftOut::Why::OtherAccelerator;
            };
            // A request that takes them out changes nothing of what the rest is.
            has_several_[id] = std::ranges::any_of(name.left_out, is_other) ||
                               std::ranges::any_of(candidates, [&](const Candidate& candidate) {
                                   return candidate.accelerator != candidates.front().accelerator;
                               });
            if (has_several_[id]) preferred_[id] = universe_.preferred_accelerator(id);
            wants_cuda_[id] = names_cuda && universe_.is_requested(id) &&
                              universe_.accelerators().choice(name.text) == AcceleratorChoice::Auto;
        }
    }

    /// Smaller is better. Of what is not preferred, builds for none go before those for what is not
    /// there.
    int accelerator_place(const Candidate& candidate) const {
        const auto& preferred = preferred_[candidate.name];
        if (!preferred) return 0;
        if (candidate.accelerator == *preferred) return 0;
        return candidate.accelerator == Accelerator::None ? 1 : 2;
    }

    /// What is for a CUDA that the driver does not run would be of no use, however new.
    bool will_not_run(const Candidate& candidate) const {
        return candidate.will_not_run && heeds_machine_[candidate.name];
    }

    /// Where accelerators decide, features that are tracked to keep such builds back do not.
    bool is_kept_back(const Candidate& candidate) const {
        return candidate.has_track_features && candidate.accelerator != preferred_[candidate.name];
    }

    /// What is installed and not to be updated stays, else its version does. Smaller is better.
    int held_place(const Candidate& candidate) const {
        if (!held_) return 0;
        if (held_->is_build_too && candidate.is_installed) return 0;
        return version_order_[candidate.version] == held_->version ? 1 : 2;
    }

    /// Negative when `a` is better. Keys 0 to 9, of one name.
    std::strong_ordering main_order(CandidateId a, CandidateId b) const {
        return decide(a, b).second;
    }

    /// The first key that tells the two apart, and how; Rest where none does.
    std::pair<Key, std::strong_ordering> decide(CandidateId a, CandidateId b) const {
        const auto& one = universe_.candidates()[a];
        const auto& two = universe_.candidates()[b];
        for (const auto key : kOrder) {
            if (const auto order = compare(key, one, two); order != 0) return {key, order};
        }
        return {Key::Rest, std::strong_ordering::equal};
    }

    std::strong_ordering compare(Key key, const Candidate& one, const Candidate& two) const {
        switch (key) {
        case Key::Release:
            if (universe_.names()[one.name].toolkit_of) return toolkit_order(one, two);
            break;
        case Key::Held: return held_place(one) <=> held_place(two);
        case Key::Runs: return will_not_run(one) <=> will_not_run(two);
        case Key::TrackFeatures: return is_kept_back(one) <=> is_kept_back(two);
        case Key::Channel:
            if (universe_.problem().priority == ChannelPriority::Flexible)
                return one.channel <=> two.channel;
            break;
        case Key::NamedCuda:
            if (wants_cuda_[one.name]) return accelerator_place(one) <=> accelerator_place(two);
            break;
        case Key::Version: return version_order_[two.version] <=> version_order_[one.version];
        case Key::Accelerator: return accelerator_place(one) <=> accelerator_place(two);
        case Key::Toolkit:
            if (heeds_machine_[one.name]) return toolkit_order(one, two);
            break;
        case Key::Closeness: return two.closeness <=> one.closeness;
        case Key::BuildNumber: return two.build_number <=> one.build_number;
        case Key::Rest: break;
        }
        return std::strong_ordering::equal;
    }

    static std::strong_ordering toolkit_order(const Candidate& one, const Candidate& two) {
        return one.toolkit_fit <=> two.toolkit_fit;
    }

    using Iterator = std::vector<CandidateId>::iterator;

    /// Keys 10 (what the dependencies can bring), 11 (timestamp) and the tie-breaks.
    void order_group(Iterator begin, Iterator end) {
        // Builds mostly share their list of dependencies: each list is looked at once.
        std::vector<std::span<const SpecId>> lists;
        std::vector<std::pair<std::size_t, CandidateId>> members;
        list_places_.clear();
        for (auto id = begin; id != end; ++id) {
            const auto& candidate = universe_.candidates()[*id];
            const auto depends =
                candidate.not_asked.empty() ? candidate.depends : candidate.not_asked;
            const auto [known, is_new] = list_places_.try_emplace(depends.data(), lists.size());
            members.emplace_back(known->second, *id);
            if (is_new) lists.push_back(depends);
        }
        const auto places = order_lists(lists);
        std::sort(members.begin(), members.end(), [&](const auto& a, const auto& b) {
            if (places[a.first] != places[b.first]) return places[a.first] < places[b.first];
            return last_order(a.second, b.second) < 0;
        });
        std::transform(
            members.begin(), members.end(), begin, [](const auto& entry) { return entry.second; });
    }

    /// The place of each list among them, by what it can bring; equal for lists that bring the
    /// same.
    std::vector<std::size_t> order_lists(const std::vector<std::span<const SpecId>>& lists) {
        std::vector<std::size_t> places(lists.size());
        if (lists.size() < 2) return places;
        // What needs something that no channel has is not to be had on any machine, and has no say
        // in what tells the others apart.
        auto reachable = lists;
        std::erase_if(reachable, [&](const auto& list) {
            return std::ranges::any_of(list, [&](SpecId id) {
                const auto& spec = universe_.specs()[id];
                return spec.matches.empty() && !universe_.name_of(spec).is_virtual;
            });
        });
        const auto names = common_names(reachable.empty() ? lists : reachable);
        std::vector<std::vector<std::optional<Reach>>> scores;
        scores.reserve(lists.size());
        for (const auto& list : lists) scores.push_back(score(list, names));
        const auto order = [&](std::size_t a, std::size_t b) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (const auto by = reach_order(scores[a][i], scores[b][i]); by != 0) return by;
            }
            return std::strong_ordering::equal;
        };
        std::vector<std::size_t> sorted(lists.size());
        std::iota(sorted.begin(), sorted.end(), std::size_t{0});
        std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return order(a, b) < 0; });
        for (std::size_t i = 1; i < sorted.size(); ++i)
            places[sorted[i]] =
                places[sorted[i - 1]] + (order(sorted[i - 1], sorted[i]) < 0 ? 1 : 0);
        return places;
    }

    /// The names that all lists speak of, alphabetically.
    std::vector<NameId> common_names(const std::vector<std::span<const SpecId>>& lists) {
        std::vector<NameId> met;
        std::vector<NameId> common;
        for (std::size_t i = 0; i < lists.size(); ++i) {
            for (const auto spec : lists[i]) {
                const auto name = universe_.specs()[spec].name;
                auto& count = lists_with_[name];
                if (count == 0 && i == 0) met.push_back(name);
                if (count == i) ++count;  // else the list names it twice, or one before did not
            }
        }
        for (const auto name : met) {
            if (lists_with_[name] == lists.size()) common.push_back(name);
        }
        for (const auto& list : lists) {
            for (const auto spec : list) lists_with_[universe_.specs()[spec].name] = 0;
        }
        std::sort(common.begin(), common.end(), [&](auto a, auto b) {
            return universe_.names()[a].text < universe_.names()[b].text;
        });
        return common;
    }

    std::vector<std::optional<Reach>> score(std::span<const SpecId> list,
                                            const std::vector<NameId>& names) {
        std::vector<std::optional<Reach>> scores;
        for (const auto name : names) {
            std::optional<Reach> lowest;
            bool unreachable = false;
            for (const auto spec : list) {
                if (universe_.specs()[spec].name != name) continue;
                const auto best = best_of(spec);
                if (!best) {
                    unreachable = true;
                } else if (!lowest ||
                           version_order_[best->version] < version_order_[lowest->version]) {
                    lowest = best;
                }
            }
            scores.push_back(unreachable ? std::nullopt : lowest);
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

    /// The highest version that the spec can get, and whether track_features are its price.
    std::optional<Reach> best_of(SpecId id) {
        auto& entry = best_of_spec_[id];
        if (entry) return *entry;
        std::optional<Reach> best;
        for (const auto match : universe_.specs()[id].matches) {
            const auto& candidate = universe_.candidates()[match];
            const Reach here{costs_features(candidate), candidate.version};
            if (!best || version_order_[here.version] > version_order_[best->version]) {
                best = here;
            } else if (version_order_[here.version] == version_order_[best->version]) {
                best->tracked = best->tracked && here.tracked;
            }
        }
        entry = best;
        return best;
    }

    std::strong_ordering reach_order(const std::optional<Reach>& a,
                                     const std::optional<Reach>& b) const {
        if (a.has_value() != b.has_value()) return b.has_value() <=> a.has_value();
        if (!a) return std::strong_ordering::equal;
        if (a->tracked != b->tracked) return a->tracked <=> b->tracked;
        return version_order_[b->version] <=> version_order_[a->version];
    }

    std::strong_ordering last_order(CandidateId a, CandidateId b) const {
        const auto& one = universe_.candidates()[a];
        const auto& two = universe_.candidates()[b];
        if (one.timestamp != two.timestamp) return two.timestamp <=> one.timestamp;
        if (one.channel != two.channel) return one.channel <=> two.channel;
        if (one.is_noarch != two.is_noarch) return one.is_noarch <=> two.is_noarch;
        if (one.is_conda() != two.is_conda()) return two.is_conda() <=> one.is_conda();
        if (const int order = one.build().compare(two.build()); order != 0) return order <=> 0;
        return one.sha256().compare(two.sha256()) <=> 0;
    }

    const Universe& universe_;
    std::vector<std::uint32_t> version_order_;
    std::vector<bool> may_hold_;     ///< by name: is not to be updated, if there
    std::optional<Held> held_;       ///< of the name that is being ranked
    std::vector<bool> has_several_;  ///< by name: there are builds for several accelerators
    std::vector<std::optional<Accelerator>> preferred_;  ///< by name
    std::vector<bool> heeds_machine_;                    ///< by name: not as conda does
    std::vector<bool> wants_cuda_;                       ///< by name: rather than a newer version
    std::vector<std::optional<std::optional<Reach>>> best_of_spec_;
    std::vector<std::optional<bool>> only_tracked_;  ///< by spec
    // For one group at a time.
    std::unordered_map<const SpecId*, std::size_t> list_places_;
    std::vector<std::size_t> lists_with_;  ///< by name: how many of the lists speak of it
    Ranking ranking_;
};

// NOLINTEND(modernize-use-nullptr)

}  // namespace

Ranking rank_candidates(const Universe& universe) { return Preference(universe).rank(); }

std::string advantage(const Universe& universe, CandidateId better, CandidateId other) {
    return Preference(universe).advantage(better, other);
}

}  // namespace gpkg::solver
