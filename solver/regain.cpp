#include "solver/regain.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "solver/improve.hpp"
#include "solver/preference.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::solver {
namespace {

class Regaining {
public:
    Regaining(const Universe& universe,
              Narrowing open,
              const std::vector<std::uint32_t>& ranks,
              Search& search,
              const std::vector<Goal>& goals,
              std::vector<CandidateId> chosen)
        : universe_(universe),
          open_(std::move(open)),
          ranks_(ranks),
          search_(search),
          goals_(goals),
          answer_{std::move(chosen), {}, {}, {}} {
        answer_.not_running = not_running_in(universe, answer_.chosen);
        for (const auto spec : universe.requested()) requested_.insert(universe.specs()[spec].name);
    }

    Regained run() && {
        const auto before = answer_.chosen;
        regain(lost_of(requested_), Price::Unnamed);
        regain(lost_of(needed()), Price::VendorParts);
        for (const auto id : lost_of(chosen_names())) {
            if (std::ranges::find(answer_.chosen, id) != answer_.chosen.end())
                regain({id}, Price::Nothing);
        }
        note_given_up(before);
        return std::move(answer_);
    }

private:
    /// What may get older, or worse in other ways than by its build, for it.
    enum class Price {
        Unnamed,      ///< whatever was not asked for in a version
        VendorParts,  ///< of that only what a vendor's GPUs need
        Nothing,
    };

    const Candidate& candidate(CandidateId id) const { return universe_.candidates()[id]; }
    const Version& version(CandidateId id) const {
        return universe_.version(candidate(id).version);
    }

    /// Of the names, what was chosen and is for another accelerator than is preferred, or does not
    /// run.
    std::vector<CandidateId> lost_of(const std::set<NameId>& names) const {
        std::vector<CandidateId> lost;
        const auto is_lost = [&](CandidateId id) {
            const auto preferred = universe_.preferred_accelerator(candidate(id).name);
            return names.contains(candidate(id).name) && !candidate(id).is_installed && preferred &&
                   (answer_.not_running.contains(id) ||
                    (candidate(id).accelerator != *preferred &&
                     has_build_for(candidate(id).name, *preferred)));
        };
        std::ranges::copy_if(answer_.chosen, std::back_inserter(lost), is_lost);
        return lost;
    }

    bool has_build_for(NameId id, Accelerator accelerator) const {
        const auto& name = universe_.names()[id];
        for (auto one = name.begin; one < name.end; ++one) {
            if (open_.live()[one] && candidate(one).accelerator == accelerator) return true;
        }
        return false;
    }

    std::set<NameId> needed() const {
        std::set<NameId> names;
        for (const auto id : answer_.chosen) {
            if (!requested_.contains(candidate(id).name)) continue;
            for (const auto spec : candidate(id).depends)
                names.insert(universe_.specs()[spec].name);
        }
        return names;
    }

    std::set<NameId> chosen_names() const {
        std::set<NameId> names;
        for (const auto id : answer_.chosen) names.insert(candidate(id).name);
        return names;
    }

    template <typename IsOut>
    void exclude(Narrowing& open, NameId id, const IsOut& is_out) const {
        const auto& name = universe_.names()[id];
        for (auto one = name.begin; one < name.end; ++one) {
            if (open.live()[one] && is_out(one)) open.exclude(one);
        }
    }

    bool has_any(const Narrowing& open, NameId id) const {
        const auto& name = universe_.names()[id];
        for (auto one = name.begin; one < name.end; ++one) {
            if (open.live()[one]) return true;
        }
        return false;
    }

    bool is_vendors(NameId id) const {
        const auto& name = universe_.names()[id].text;
        return tells_cuda_version(name) || is_vendor_part(name);
    }

    bool is_preferred(CandidateId id) const {
        return candidate(id).accelerator == universe_.preferred_accelerator(candidate(id).name);
    }

    /// Whether in place of what was chosen it is worse in more than its build: older, of a later
    /// channel, for what is not there. Nor is it better to be newer and not for the GPU.
    bool is_loss(CandidateId id, CandidateId other) const {
        return (ranks_[other] > ranks_[id] && !differ_in_build_alone(universe_, id, other)) ||
               (is_preferred(id) && !is_preferred(other));
    }

    /// Whether one of its name is out of the question in place of what was chosen; nothing is
    /// where that does not run.
    bool is_given_up(CandidateId id, CandidateId other) const {
        return !answer_.not_running.contains(id) && is_loss(id, other);
    }

    /// Nor by what it needs.
    void exclude_not_running(Narrowing& open) const {
        for (CandidateId one = 0; one < universe_.candidates().size(); ++one) {
            if (candidate(one).will_not_run && open.live()[one]) open.exclude(one);
        }
    }

    /// What is asked for keeps its version, and its accelerator if that is not lost. Parts of CUDA
    /// keep to what was asked of them.
    Narrowing with_versions(const std::vector<CandidateId>& lost) const {
        auto open = open_;
        for (const auto id : answer_.chosen) {
            if (!requested_.contains(candidate(id).name) || is_vendors(candidate(id).name))
                continue;
            const bool is_lost = std::ranges::find(lost, id) != lost.end();
            exclude(open, candidate(id).name, [&](CandidateId other) {
                return is_lost ? is_given_up(id, other)
                               : !differ_in_build_alone(universe_, id, other);
            });
        }
        return open;
    }

    Narrowing without_loss() const {
        auto open = open_;
        for (const auto id : answer_.chosen) {
            exclude(open, candidate(id).name, [&](CandidateId other) {
                return version(other) < version(id) || is_loss(id, other);
            });
        }
        return open;
    }

    /// What needs it goes on to: that it is not there any more would be no gain. What is asked for
    /// is there anyway.
    void keep_needing(Narrowing& open, CandidateId id) const {
        const auto needed = needed_for(candidate(id).name);
        for (const auto user : answer_.chosen) {
            for (const auto spec : candidate(user).depends) {
                const auto name = universe_.specs()[spec].name;
                if (!needed.contains(name) || requested_.contains(name)) continue;
                exclude(open, candidate(user).name, [&](CandidateId other) {
                    return !depends_on(candidate(other), name);
                });
            }
        }
    }

    bool depends_on(const Candidate& one, NameId name) const {
        return std::ranges::any_of(
            one.depends, [&](SpecId spec) { return universe_.specs()[spec].name == name; });
    }

    /// The name, and those that were chosen and need it, directly or not.
    std::set<NameId> needed_for(NameId id) const {
        std::set<NameId> names{id};
        for (bool more = true; std::exchange(more, false);) {
            for (const auto user : answer_.chosen) {
                const auto needs_one = [&](SpecId spec) {
                    const auto name = universe_.specs()[spec].name;
                    return names.contains(name) && !requested_.contains(name);
                };
                if (!names.contains(candidate(user).name) &&
                    std::ranges::any_of(candidate(user).depends, needs_one))
                    more = names.insert(candidate(user).name).second;
            }
        }
        return names;
    }

    /// What runs of the name.
    Narrowing with_running(const Narrowing& open, CandidateId id) const {
        auto narrowed = open;
        exclude(narrowed, candidate(id).name, [&](CandidateId other) {
            return candidate(other).will_not_run || is_given_up(id, other);
        });
        if (answer_.not_running.contains(id))
            exclude_not_running(narrowed);
        else
            keep_needing(narrowed, id);
        return narrowed;
    }

    /// And is for the preferred accelerator.
    Narrowing with_preferred(const Narrowing& open, CandidateId id) const {
        auto narrowed = with_running(open, id);
        const auto preferred = universe_.preferred_accelerator(candidate(id).name);
        exclude(narrowed, candidate(id).name, [&](CandidateId other) {
            return candidate(other).accelerator != preferred;
        });
        return narrowed;
    }

    std::optional<std::vector<CandidateId>> find(const Narrowing& open, NameId name) {
        return has_any(open, name) ? search_.find_better(open.live(), goals_) : std::nullopt;
    }

    void regain(const std::vector<CandidateId>& lost, Price price) {
        if (lost.empty()) return;
        auto open = price == Price::Nothing ? without_loss() : with_versions(lost);
        std::optional<std::vector<CandidateId>> first;
        std::vector<NameId> names;
        for (const auto id : lost) {
            const auto name = candidate(id).name;
            auto narrowed = with_preferred(open, id);
            auto found = find(narrowed, name);
            if (!found && answer_.not_running.contains(id)) {
                narrowed = with_running(open, id);
                found = find(narrowed, name);
            }
            if (!found) continue;
            open = std::move(narrowed);
            first = std::move(found);
            names.push_back(name);
        }
        if (!first) return;
        auto chosen = improve(universe_, open, ranks_, search_, goals_, *first);
        if (price == Price::VendorParts && has_loss(chosen)) return;
        if (price == Price::Nothing && has_new_not_running(chosen)) return;
        open_ = std::move(open);
        answer_.chosen = std::move(chosen);
        answer_.not_running = not_running_in(universe_, answer_.chosen);
        answer_.names.insert(answer_.names.end(), names.begin(), names.end());
    }

    std::map<NameId, CandidateId> by_name(const std::vector<CandidateId>& chosen) const {
        std::map<NameId, CandidateId> named;
        for (const auto id : chosen) named.emplace(candidate(id).name, id);
        return named;
    }

    void note_given_up(const std::vector<CandidateId>& before) {
        const auto now = by_name(answer_.chosen);
        for (const auto id : before) {
            const auto name = candidate(id).name;
            const auto found = now.find(name);
            if (requested_.contains(name) && is_vendors(name) && found != now.end() &&
                version(found->second) < version(id))
                answer_.given_up.push_back(id);
        }
    }

    /// Of something that is no part of what a vendor's GPUs need.
    bool has_loss(const std::vector<CandidateId>& chosen) const {
        const auto before = by_name(answer_.chosen);
        return std::ranges::any_of(chosen, [&](CandidateId id) {
            const auto found = before.find(candidate(id).name);
            return found != before.end() && is_loss(found->second, id) && !is_vendors(found->first);
        });
    }

    bool has_new_not_running(const std::vector<CandidateId>& chosen) const {
        const auto not_running = not_running_in(universe_, chosen);
        return std::ranges::any_of(not_running, [&](const auto& entry) {
            const auto name = candidate(entry.first).name;
            return std::ranges::none_of(answer_.not_running, [&](const auto& before) {
                return candidate(before.first).name == name;
            });
        });
    }

    const Universe& universe_;
    Narrowing open_;
    const std::vector<std::uint32_t>& ranks_;
    Search& search_;
    const std::vector<Goal>& goals_;
    Regained answer_;
    std::set<NameId> requested_;
};

}  // namespace

Regained regain_accelerators(const Universe& universe,
                             Narrowing open,
                             const std::vector<std::uint32_t>& ranks,
                             Search& search,
                             const std::vector<Goal>& goals,
                             std::vector<CandidateId> chosen) {
    return Regaining(universe, std::move(open), ranks, search, goals, std::move(chosen)).run();
}

}  // namespace gpkg::solver
