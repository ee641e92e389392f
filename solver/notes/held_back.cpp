#include "solver/notes/held_back.hpp"

#include "solver/explain/wording.hpp"

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
        const bool has_moved = universe_.former(chosen.name)->record.version != version.to_string();
        return fmt::format("{} {} {}: {} {}; {} asks for it",
                           name.text,
                           has_moved ? "goes no further than" : "stays at",
                           version.to_string(),
                           brought->version.to_string(),
                           left_out_text(universe_, chosen.name, *told),
                           spec);
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
                !goes_with_all(chosen.name, out.record))
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

    /// Whether there is one of the kind that stays: then that is not what is in its way.
    bool has_as_new(const Name& name, const Version& version) {
        for (auto id = name.begin; id < name.end; ++id) {
            if (!(universe_.version(universe_.candidates()[id].version) < version) &&
                !machine_.is_ruled_out(id))
                return true;
        }
        return false;
    }

    bool may_move(const std::string& name) const {
        const auto& request = universe_.problem().request;
        return request.update_all ||
               std::find(request.update.begin(), request.update.end(), name) !=
                   request.update.end();
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
                                            const WithSpec& with_spec) {
    const auto& request = universe.problem().request;
    std::vector<std::string> notes;
    if (!request.update_all && request.update.empty()) return notes;  // nothing was to move
    HeldBack held_back(universe, machine, chosen, with_spec);
    for (const auto id : chosen) {
        if (auto note = held_back.note_on(id)) notes.push_back(*std::move(note));
    }
    return notes;
}

}  // namespace gpkg::solver
