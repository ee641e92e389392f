#include "solver/notes.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cascade.hpp"
#include "libcore/hardware/cuda.hpp"
#include "solver/explain/wording.hpp"
#include "solver/machine_limit.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg::solver {
namespace {

/// Installed packages that stay although this machine could not use them, in one line.
std::optional<std::string> note_on_excused(const Universe& universe, std::vector<CandidateId> all) {
    std::erase_if(all, [&](auto id) { return universe.candidates()[id].excused.empty(); });
    if (all.empty()) return std::nullopt;
    const auto item = [&](CandidateId id) {
        const auto& candidate = universe.candidates()[id];
        return fmt::format("{} ({})",
                           universe.names()[candidate.name].text,
                           universe.specs()[candidate.excused.front()].text);
    };
    std::vector<std::string> items(all.size());
    std::transform(all.begin(), all.end(), items.begin(), item);
    std::sort(items.begin(), items.end());
    return fmt::format("{} {} as installed, although this machine does not have what {}",
                       join_some(items, "and"),
                       items.size() == 1 ? "stays" : "stay",
                       items.size() == 1 ? "it needs" : "they need");
}

/// Requested extras that the chosen candidate does not have: other builds or versions do.
void note_missing_extras(const Universe& universe,
                         const std::vector<CandidateId>& chosen,
                         std::vector<std::string>& notes) {
    for (const auto id : universe.requested()) {
        const auto& spec = universe.specs()[id];
        for (const auto candidate : chosen) {
            if (universe.candidates()[candidate].name != spec.name) continue;
            const auto groups = universe.candidates()[candidate].groups();
            for (const auto& group : spec.match.extras) {
                if (std::find(groups.begin(), groups.end(), group) == groups.end())
                    notes.push_back(
                        fmt::format("{} has no extra {}", universe.describe(candidate), group));
            }
        }
    }
}

/// What the preference for a GPU's builds came to, for what is named and for what says that it is
/// for none.
class AcceleratorNotes {
public:
    AcceleratorNotes(const Universe& universe,
                     MachineLimit& machine,
                     const std::vector<CandidateId>& chosen,
                     const WithAccelerator& with_accelerator)
        : universe_(universe),
          machine_(machine),
          with_accelerator_(with_accelerator),
          cascade_(universe.problem().virtual_packages) {
        for (const auto id : chosen) {
            const auto& candidate = universe.candidates()[id];
            if (!candidate.says_accelerator) continue;
            for (const auto depend : candidate.depends)
                parts_.insert(universe.specs()[depend].name);
        }
    }

    /// `is_limit_told`: what keeps newer versions out is told already.
    std::optional<std::string> on(CandidateId id, bool is_limit_told) {
        const auto& chosen = universe_.candidates()[id];
        const auto wanted = universe_.preferred_accelerator(chosen.name);
        const bool is_requested = universe_.is_requested(chosen.name);
        if (!wanted || chosen.is_installed) return std::nullopt;
        const auto text = universe_.names()[chosen.name].text + " " + version_text(id);
        if (is_requested && chosen.will_not_run)
            return fmt::format("{} does not run on {}: it {}", text, machine(), obstacle_of(id));
        if (is_requested && chosen.accelerator == Accelerator::Nvidia) {
            if (const auto caution = caution_of(id))
                return fmt::format("{} {}: there it runs as PTX, where it has some, or not at all",
                                   text,
                                   *caution);
        }
        if (is_build_requested(chosen.name)) return std::nullopt;
        // What is a part of something that says so itself goes with it.
        if (!is_requested && (!chosen.says_accelerator || parts_.contains(chosen.name)))
            return std::nullopt;
        if (*wanted == Accelerator::None) return on_machine_without(id);
        const auto newest = newest_for(chosen.name, builds_for(*wanted), Of::Requested);
        const bool is_newer = newest && is_older(chosen.version, *newest);
        const auto vendor = to_string(*wanted);
        if (chosen.accelerator == *wanted) {
            if (!is_newer || is_limit_told || !is_requested || !is_bound(chosen.name))
                return std::nullopt;
            return fmt::format(
                "{} is for {}; builds for it of newer versions, up to {}, do not go "
                "with the rest or with the machine; {}",
                text,
                vendor,
                version_text(*newest),
                who_tells_why(*newest));
        }
        if (!newest) {
            const auto hidden = hidden_with(chosen.name, *wanted);
            const auto is_any = std::not_fn(builds_for(Accelerator::None));
            if (hidden.empty() && !newest_for(chosen.name, is_any, Of::All)) return std::nullopt;
            if (const auto other = newest_for(chosen.name, builds_for(*wanted), Of::All))
                return no_build(text, vendor, *other);
            return fmt::format("{}: no version has a build for {}{}{}",
                               text,
                               vendor,
                               hidden,
                               what_it_is(id, hidden.empty()));
        }
        if (is_older(universe_.candidates()[*newest].version, id))
            return no_build(text, vendor, *newest);
        const auto is_alike = [&](CandidateId one) {
            return builds_for(*wanted)(one) &&
                   universe_.candidates()[one].version == chosen.version;
        };
        const auto nearest = newest_for(chosen.name, is_alike, Of::All).value_or(*newest);
        auto note =
            fmt::format("{} is not the build for {}, {}", text, vendor, why_not(id, nearest));
        if (is_requested && !is_bound(chosen.name) && is_usable(chosen.name, *wanted) &&
            version_for(chosen.name, *wanted))
            note +=
                fmt::format("; {}[accel={}] takes one that does, in an older version if need be",
                            universe_.names()[chosen.name].text,
                            vendor);
        return note;
    }

private:
    bool is_bound(NameId name) const {
        return universe_.accelerators().is_bound(universe_.names()[name].text);
    }

    /// What a build says of why it does not run here.
    std::string obstacle_of(CandidateId id) const {
        const auto record = universe_.candidates()[id].record();
        return record ? cascade_.obstacle_of(*record).value_or("") : "";
    }

    std::optional<std::string> caution_of(CandidateId id) const {
        const auto record = universe_.candidates()[id].record();
        return record ? cascade_.caution_of(*record) : std::nullopt;
    }

    std::function<bool(CandidateId)> builds_for(Accelerator wanted) const {
        return [this, wanted](CandidateId id) {
            return universe_.candidates()[id].accelerator == wanted;
        };
    }

    bool could_run(CandidateId id) {
        return !universe_.candidates()[id].will_not_run && !machine_.why_never(id);
    }

    /// Whether the machine could use a build for the accelerator, of a version that is asked for.
    bool is_usable(NameId id, Accelerator wanted) {
        const auto fits = [&](CandidateId one) {
            return builds_for(wanted)(one) && could_run(one);
        };
        return newest_for(id, fits, Of::Requested).has_value();
    }

    /// The version that NAME[accel=...] gives; nothing where there is none that goes with the rest.
    std::optional<Version> version_for(NameId id, Accelerator wanted) const {
        if (!newest_for(id, builds_for(wanted), Of::Requested)) return std::nullopt;
        return with_accelerator_(universe_.names()[id].text, wanted);
    }

    /// "; this one is for nvidia", and whether there is one for none.
    std::string what_it_is(CandidateId id, bool is_to_be_told) const {
        const auto& chosen = universe_.candidates()[id];
        if (chosen.accelerator == Accelerator::None || !is_to_be_told) return "";
        auto text = fmt::format("; this one is for {}", to_string(chosen.accelerator));
        if (const auto version = version_for(chosen.name, Accelerator::None))
            text += fmt::format(", and {}[accel=none] asks for {}, which is for none",
                                universe_.names()[chosen.name].text,
                                version->to_string());
        return text;
    }

    /// The first spec of the request that says which CUDA: "pytorch-cuda=12.1".
    std::optional<std::string> asked_cuda() const {
        for (const auto id : universe_.requested()) {
            const auto& spec = universe_.specs()[id];
            const auto& name = universe_.names()[spec.name].text;
            if (tells_cuda_version(name)) return spec.text;
        }
        return std::nullopt;
    }

    /// A build for GPUs where there is none: newer than those for none, which is what counts more.
    /// Or one for none, where the request speaks of CUDA.
    std::optional<std::string> on_machine_without(CandidateId id) const {
        const auto& chosen = universe_.candidates()[id];
        if (!universe_.is_requested(chosen.name)) return std::nullopt;
        const auto& name = universe_.names()[chosen.name].text;
        if (tells_cuda_version(name)) return std::nullopt;
        if (chosen.accelerator == Accelerator::None) {
            const auto cuda = asked_cuda();
            const auto choice = universe_.accelerators().choice(name);
            if (!cuda || choice != AcceleratorChoice::Auto || !chosen.says_accelerator ||
                !newest_for(chosen.name, builds_for(Accelerator::Nvidia), Of::Requested))
                return std::nullopt;
            auto text = fmt::format(
                "{} {} is for none, as {} has no GPU", name, version_text(id), machine());
            if (version_for(chosen.name, Accelerator::Nvidia))
                text += fmt::format(
                    "; {}[accel=nvidia] asks for the build for nvidia, where {} is for that",
                    name,
                    *cuda);
            return text;
        }
        auto text = fmt::format("{} {} is for {}, of which {} has none",
                                name,
                                version_text(id),
                                to_string(chosen.accelerator),
                                machine());
        if (const auto version = version_for(chosen.name, Accelerator::None))
            text += fmt::format(
                "; {}[accel=none] asks for {}, which is for none", name, version->to_string());
        return text;
    }

    const std::string& machine() const { return universe_.problem().machine; }

    /// Of builds that an earlier channel hides.
    std::string hidden_with(NameId name, Accelerator wanted) const {
        if (universe_.former(name)) return "";  // whose channel stays
        for (const auto& out : universe_.names()[name].left_out) {
            if (out.why != LeftOut::Why::Hidden) continue;
            const auto record = out.record.index->record(*out.record.home, *out.record.row);
            if (record && accelerator_of(*record).accelerator == wanted)
                return fmt::format(
                    " but {} {}", record->version, left_out_text(universe_, name, out));
        }
        return "";
    }

    bool is_build_requested(NameId name) const {
        const auto& requested = universe_.requested();
        return std::any_of(requested.begin(), requested.end(), [&](SpecId id) {
            const auto& spec = universe_.specs()[id];
            return spec.name == name && spec.match.build;
        });
    }

    bool is_older(VersionId version, CandidateId than) const {
        return universe_.version(version) < universe_.version(universe_.candidates()[than].version);
    }

    std::string version_text(CandidateId id) const {
        return universe_.version(universe_.candidates()[id].version).to_string();
    }

    /// Of all builds of a version for one accelerator: the machine where it is what they all lack.
    /// Else the one for the python of what was chosen is asked about.
    std::string why_not(CandidateId chosen, CandidateId id) {
        const auto& one = universe_.candidates()[id];
        const auto& name = universe_.names()[one.name];
        std::optional<CandidateId> possible;
        std::vector<CandidateId> alike;
        for (auto other = name.begin; other < name.end; ++other) {
            const auto& candidate = universe_.candidates()[other];
            const bool is_alike =
                candidate.version == one.version && candidate.accelerator == one.accelerator;
            if (is_alike) alike.push_back(other);
            if (!is_alike || !could_run(other)) continue;
            if (!possible || (!has_python_of(chosen, *possible) && has_python_of(chosen, other)))
                possible = other;
        }
        if (possible)
            return "which does not go with the rest or with the machine; " +
                   who_tells_why(*possible);
        if (const auto why = machine_.why_never(alike)) return "which " + *why;
        return "which " + obstacle_of(id);
    }

    bool has_python_of(CandidateId one, CandidateId other) const {
        const auto& asked = universe_.candidates()[one].depends;
        const auto& asks = universe_.candidates()[other].depends;
        return std::any_of(asks.begin(), asks.end(), [&](SpecId id) {
            return universe_.name_of(universe_.specs()[id]).text == "python_abi" &&
                   std::find(asked.begin(), asked.end(), id) != asked.end();
        });
    }

    std::string who_tells_why(CandidateId id) const {
        const auto& candidate = universe_.candidates()[id];
        const bool is_for_environment = !universe_.problem().request.installed.empty();
        return fmt::format("gpkg why-not {}{}={}={}{} tells why",
                           is_for_environment ? "-n NAME " : "",
                           universe_.names()[candidate.name].text,
                           version_text(id),
                           candidate.build(),
                           is_for_environment ? "" : ", with the same request,");
    }

    std::string no_build(const std::string& text,
                         std::string_view vendor,
                         CandidateId newest) const {
        return fmt::format("{} has no build for {}; the newest that has one is {}",
                           text,
                           vendor,
                           version_text(newest));
    }

    enum class Of { Requested, All };  ///< versions that the user asks for, or any

    template <typename Fits>
    std::optional<CandidateId> newest_for(NameId id, const Fits& fits, Of versions) const {
        const auto& name = universe_.names()[id];
        std::optional<CandidateId> newest;
        for (auto other = name.begin; other < name.end; ++other) {
            if (!fits(other)) continue;
            if (versions == Of::Requested && !universe_.is_as_requested(other)) continue;
            if (!newest || is_older(universe_.candidates()[*newest].version, other)) newest = other;
        }
        return newest;
    }

    const Universe& universe_;
    MachineLimit& machine_;
    const WithAccelerator& with_accelerator_;
    const Cascade cascade_;
    std::set<NameId> parts_;  ///< needed by what says what it is for
};

/// NAME[accel=...] of packages that come in one form: nothing heeds it, though what they need may
/// come in several.
class IdleAccelerators {
public:
    IdleAccelerators(const Universe& universe, const std::vector<CandidateId>& chosen)
        : universe_(universe) {
        for (const auto id : chosen) chosen_[universe.candidates()[id].name] = id;
    }

    std::optional<std::string> note_on(const std::string& name) const {
        const auto& accelerators = universe_.accelerators();
        const auto choice = accelerators.choice(name);
        const auto id = universe_.find_name(name);
        if (choice == AcceleratorChoice::Auto || choice == AcceleratorChoice::Conda || !id)
            return std::nullopt;
        const auto chosen = chosen_.find(*id);
        if (chosen == chosen_.end() || has_builds(*id)) return std::nullopt;
        if (choice == AcceleratorChoice::None &&
            universe_.candidates()[chosen->second].says_accelerator)
            return std::nullopt;
        auto text =
            fmt::format("{0}[accel={1}] changes nothing: {0} has no builds for accelerators",
                        name,
                        to_string(choice));
        const auto others = needed_with_builds(chosen->second);
        if (!others.empty())
            text += fmt::format("; of what it needs, these have: {}", join_some(others, "and"));
        return text;
    }

private:
    bool has_builds(NameId id) const {
        const auto& name = universe_.names()[id];
        for (auto other = name.begin; other < name.end; ++other) {
            if (universe_.candidates()[other].accelerator != Accelerator::None) return true;
        }
        return std::any_of(name.left_out.begin(), name.left_out.end(), [](const LeftOut& out) {
            return out.why == LeftOut::Why::Accelerator ||
                   out.why == LeftOut::Why::OtherAccelerator;
        });
    }

    std::vector<std::string> needed_with_builds(CandidateId from) const {
        std::vector<std::string> names;
        std::set<CandidateId> seen{from};
        std::vector<CandidateId> queue{from};
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const auto depend : universe_.candidates()[queue[i]].depends) {
                const auto& spec = universe_.specs()[depend];
                const auto needed = chosen_.find(spec.name);
                if (needed == chosen_.end() || !seen.insert(needed->second).second) continue;
                queue.push_back(needed->second);
                if (has_builds(spec.name)) names.push_back(universe_.name_of(spec).text);
            }
        }
        return names;
    }

    const Universe& universe_;
    std::map<NameId, CandidateId> chosen_;
};

/// What was to move and would be newer if it might change in kind, and for no other reason.
class HeldBack {
public:
    HeldBack(const Universe& universe,
             MachineLimit& machine,
             const std::vector<CandidateId>& chosen)
        : universe_(universe), machine_(machine) {
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
        const LeftOut* newest = nullptr;
        std::optional<Version> newest_version;
        for (const auto& out : name.left_out) {
            if (!out.is_other_than_installed() || is_of_lower_channel(out, chosen)) continue;
            auto other = Version::parse(out.record.version());
            if (!other || !(version < *other) || (newest_version && !(*newest_version < *other)) ||
                !goes_with_all(chosen.name, out.record))
                continue;
            newest = &out;
            newest_version = *std::move(other);
        }
        if (newest == nullptr || has_as_new(name, *newest_version)) return std::nullopt;
        return fmt::format("{} stays at {}: {} {}; {} asks for it",
                           name.text,
                           version.to_string(),
                           newest_version->to_string(),
                           left_out_text(universe_, chosen.name, *newest),
                           spec_allowing(universe_, chosen.name, *newest));
    }

private:
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
    std::map<NameId, std::set<SpecId>> asked_;  ///< by those who are chosen
};

}  // namespace

std::vector<std::string> notes_on(const Universe& universe,
                                  const std::vector<CandidateId>& chosen,
                                  const WithAccelerator& with_accelerator) {
    auto notes = universe.notes();
    if (auto note = note_on_excused(universe, chosen)) notes.push_back(*std::move(note));
    note_missing_extras(universe, chosen, notes);
    MachineLimit machine_limit(universe);
    AcceleratorNotes on_accelerators(universe, machine_limit, chosen, with_accelerator);
    for (const auto id : chosen) {
        auto limit = machine_limit.note_on(id);
        if (auto note = on_accelerators.on(id, limit.has_value()))
            notes.push_back(*std::move(note));
        if (limit) notes.push_back(*std::move(limit));
    }
    const IdleAccelerators idle(universe, chosen);
    for (const auto& name : universe.problem().request.accelerators.asked_packages) {
        if (auto note = idle.note_on(name)) notes.push_back(*std::move(note));
    }
    const auto& request = universe.problem().request;
    if (!request.update_all && request.update.empty()) return notes;  // nothing was to move
    HeldBack held_back(universe, machine_limit, chosen);
    for (const auto id : chosen) {
        if (auto note = held_back.note_on(id)) notes.push_back(*std::move(note));
    }
    return notes;
}

}  // namespace gpkg::solver
