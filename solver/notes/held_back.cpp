#include "solver/notes/held_back.hpp"

#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg::solver {
namespace {

class HeldBack {
public:
    HeldBack(const Universe& universe,
             MachineLimit& machine,
             const std::vector<CandidateId>& chosen,
             const WithSpec& with_spec)
        : universe_(universe), machine_(machine), with_spec_(with_spec) {
        for (const auto id : universe.requested()) restrict(id);
        for (const auto id : universe.constraints()) restrict(id);
        std::set<std::pair<NameId, NameId>> needs;
        for (const auto id : chosen) {
            const auto& candidate = universe.candidates()[id];
            for (const auto depend : candidate.depends) {
                restrict(depend);
                needs.emplace(candidate.name, universe.specs()[depend].name);
            }
        }
        // What it needs would move with it: libtorch goes with one pytorch, and not the other way.
        for (const auto id : chosen) {
            const auto& candidate = universe.candidates()[id];
            for (const auto constrain : candidate.constrains) {
                if (!needs.contains({universe.specs()[constrain].name, candidate.name}))
                    restrict(constrain);
            }
        }
    }

    std::optional<std::string> note_on(CandidateId id) {
        const auto& chosen = universe_.candidates()[id];
        const auto& name = universe_.names()[chosen.name];
        if (!universe_.former(chosen.name) || !may_move(name.text)) return std::nullopt;
        const auto& version = universe_.version(chosen.version);
        const auto* newest =
            newest_left_out(chosen, [&](const Version& other) { return version < other; });
        if (newest == nullptr || tries_++ >= kMostTries) return std::nullopt;
        const auto spec = spec_allowing(universe_, chosen.name, *newest);
        const auto brought = with_spec_(name.text, spec);
        if (!brought || !(version < brought->version) || has_as_new(name, brought->version))
            return std::nullopt;
        const auto* told = newest_left_out(
            chosen, [&](const Version& other) { return other == brought->version; });
        if (told == nullptr || spec_allowing(universe_, chosen.name, *told) != spec)
            return std::nullopt;
        return fmt::format("{}; {} is not considered ({}); {} selects it",
                           where_it_stays(id),
                           brought->version.to_string(),
                           left_out_text(universe_, chosen.name, *told),
                           spec);
    }

    /// Of what was named it is told as well that something newer is there.
    std::optional<std::string> note_on_named(CandidateId id) {
        const auto& chosen = universe_.candidates()[id];
        const auto& name = universe_.names()[chosen.name];
        if (!universe_.former(chosen.name) || !is_named(name.text)) return std::nullopt;
        std::optional<CandidateId> newest;
        for (auto other = name.begin; other < name.end; ++other) {
            if (is_newer(other, newest.value_or(id)) && universe_.is_as_requested(other) &&
                !machine_.why_never(other))
                newest = other;
        }
        if (!newest) return std::nullopt;
        const auto& version = universe_.version(universe_.candidates()[*newest].version);
        const auto text = version.to_string();
        return fmt::format(
            "{} although {} is available{}",
            where_it_stays(id),
            text,
            how_to_see_why(universe_.problem(), fmt::format("{}=={}", name.text, text)));
    }

private:
    /// Each costs a solve.
    static constexpr int kMostTries = 8;

    template <typename Counts>
    const LeftOut* newest_left_out(const Candidate& chosen, const Counts& counts) const {
        const LeftOut* newest = nullptr;
        std::optional<Version> newest_version;
        for (const auto& out : universe_.names()[chosen.name].left_out) {
            if (!out.is_other_than_installed() || is_of_lower_channel(out, chosen)) continue;
            auto other = Version::parse(out.record.version());
            if (!other || !counts(*other) || (newest_version && !(*newest_version < *other)) ||
                !goes_with_all(chosen.name, out.record) || !is_for_machine(universe_, out))
                continue;
            newest = &out;
            newest_version = *std::move(other);
        }
        return newest;
    }

    void restrict(SpecId id) { asked_[universe_.specs()[id].name].insert(id); }

    /// Whether all that is asked of the name by what was chosen allows a record of it.
    bool goes_with_all(NameId name, const ChannelRecord& record) const {
        const auto asked = asked_.find(name);
        return asked == asked_.end() ||
               std::all_of(asked->second.begin(), asked->second.end(), [&](SpecId id) {
                   return record.matches(universe_.specs()[id].match);
               });
    }

    /// Whether there is one of the kind that stays: then that is not what is in its way, but what
    /// is asked for.
    bool has_as_new(const Name& name, const Version& version) {
        for (auto id = name.begin; id < name.end; ++id) {
            if (!(universe_.version(universe_.candidates()[id].version) < version) &&
                !machine_.is_ruled_out(id))
                return true;
        }
        return false;
    }

    bool may_move(const std::string& name) const {
        return universe_.problem().request.may_move(name);
    }

    bool is_named(const std::string& name) const {
        const auto& update = universe_.problem().request.update;
        return std::find(update.begin(), update.end(), name) != update.end();
    }

    /// And no second choice for another reason.
    bool is_newer(CandidateId one, CandidateId other) const {
        const auto& a = universe_.candidates()[one];
        const auto& b = universe_.candidates()[other];
        return a.is_offered() && !a.has_track_features && !a.will_not_run &&
               a.channel <= b.channel &&
               universe_.version(b.version) < universe_.version(a.version);
    }

    /// "pytorch stays at 2.6.0"
    std::string where_it_stays(CandidateId id) const {
        const auto& chosen = universe_.candidates()[id];
        const auto version = universe_.version(chosen.version).to_string();
        const bool has_moved = universe_.former(chosen.name)->record.version != version;
        return fmt::format("{} {} {}",
                           universe_.names()[chosen.name].text,
                           has_moved ? "is updated only to" : "stays at",
                           version);
    }

    /// What its version would not have helped.
    bool is_of_lower_channel(const LeftOut& out, const Candidate& chosen) const {
        const auto& indexes = universe_.problem().indexes;
        if (universe_.problem().priority == ChannelPriority::Disabled || !chosen.is_offered())
            return false;
        const auto place = [&](const ChannelIndex* wanted) {
            return std::find_if(indexes.begin(), indexes.end(), [&](const auto& index) {
                return index->source().channel == wanted->source().channel;
            });
        };
        return place(out.record.index) > place(chosen.offered.index);
    }

    const Universe& universe_;
    MachineLimit& machine_;
    const WithSpec& with_spec_;
    int tries_ = 0;
    std::map<NameId, std::set<SpecId>> asked_;  ///< by those who are chosen
};

}  // namespace

std::vector<std::string> notes_on_held_back(const Universe& universe,
                                            MachineLimit& machine,
                                            const std::vector<CandidateId>& chosen,
                                            const WithSpec& with_spec,
                                            std::optional<CandidateId> told) {
    const auto& request = universe.problem().request;
    std::vector<std::string> notes;
    if (!request.update_all && request.update.empty()) return notes;  // nothing was to move
    HeldBack held_back(universe, machine, chosen, with_spec);
    for (const auto id : chosen) {
        if (id == told) continue;
        auto note = held_back.note_on(id);
        if (!note) note = held_back.note_on_named(id);
        if (note) notes.push_back(*std::move(note));
    }
    return notes;
}

}  // namespace gpkg::solver
