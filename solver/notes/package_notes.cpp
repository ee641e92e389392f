#include "solver/notes/package_notes.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "solver/notes/alternatives.hpp"
#include "solver/version_dates.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gpkg::solver {
namespace {

constexpr int kMostKeptTries = 8;  // of kept packages; each costs a solve
constexpr std::size_t kMostTradesSolved = 3;

std::string build_text(Accelerator accelerator) {
    return fmt::format("a {} build", compute_platform(accelerator));
}

class PackageNotes {
public:
    PackageNotes(const Universe& universe, const Selected& selected, const WithSpec& with_spec)
        : universe_(universe), selected_(selected), with_spec_(with_spec), alternatives_(universe) {
        for (const auto id : selected.packages) {
            const auto& candidate = universe.candidates()[id];
            if (!candidate.says_accelerator_itself()) continue;
            for (const auto depend : candidate.depends)
                parts_.insert(universe.specs()[depend].name);
        }
    }

    std::vector<Note> all() {
        for (const auto id : selected_.packages) add_notes_on(id);
        add_trades();
        return std::move(notes_);
    }

private:
    /// Of the first the specs that would reverse them.
    void add_trades() {
        std::size_t solved = 0;
        std::vector<std::string> others;
        for (const auto& trade : selected_.trades) {
            if (!is_noticeable(trade)) continue;
            if (solved == kMostTradesSolved) {
                others.push_back(universe_.names()[trade.name].text);
            } else if (auto note = on_trade(trade)) {
                notes_.push_back(*std::move(note));
                ++solved;
            }
        }
        if (!others.empty())
            notes_.emplace_back(fmt::format("also older because of other requested packages: {}",
                                            join_some(others, "and")));
    }

    void add_notes_on(CandidateId id) {
        // Whether there is one.
        const auto add = [&](std::optional<Note> note) {
            const bool is_one = note.has_value();
            if (is_one) notes_.push_back(*std::move(note));
            return is_one;
        };
        if (add(on_running(id)) && selected_.not_running.contains(id)) return;
        const auto& candidate = universe_.candidates()[id];
        auto kept = on_kept(id);
        const bool brings_gpu_build = kept && !kept->platform.empty();
        bool is_told = add(std::move(kept));
        auto limit = is_told ? std::nullopt : on_newer_elsewhere(id);
        is_told = is_told || limit;
        if (!candidate.is_installed && !brings_gpu_build) {
            add(on_gpu_build(id, is_told));
            add(on_absent_gpu(id, is_told));
            is_told = add(on_named_cuda(id)) || is_told;
        }
        add(std::move(limit));
        const bool is_traded = std::ranges::find(selected_.trades, candidate.name, &Trade::name) !=
                               selected_.trades.end();
        if (!is_told && !is_traded) add(on_held_version(id));
    }

    /// The package does not run on the machine's GPUs, or perhaps not.
    std::optional<Note> on_running(CandidateId id) const {
        const auto& candidate = universe_.candidates()[id];
        if (candidate.is_installed ||
            (!universe_.is_requested(candidate.name) && parts_.contains(candidate.name)) ||
            !universe_.preferred_accelerator(candidate.name))
            return std::nullopt;
        auto note = about(id);
        // Its requested dependents do not run either: they have the warning.
        if (const auto found = selected_.not_running.find(id);
            found != selected_.not_running.end()) {
            if (!universe_.is_requested(candidate.name)) return std::nullopt;
            note.reason = fmt::format(
                "does not run on {}: it {}", universe_.problem().machine, found->second);
            note.is_warning = true;
            return note;
        }
        if (!universe_.is_requested(candidate.name) && !candidate.says_accelerator)
            return std::nullopt;
        const auto record = candidate.record();
        if (!record || candidate.accelerator != Accelerator::Nvidia) return std::nullopt;
        const auto caution = universe_.limits().caution_of(*record);
        if (!caution) return std::nullopt;
        note.reason = at_best_as_ptx(*caution);
        return note;
    }

    /// All newer versions that were requested need what the machine does not have, or do not run on
    /// it.
    std::optional<Note> on_newer_elsewhere(CandidateId id) {
        const auto& candidate = universe_.candidates()[id];
        if (candidate.is_installed || !universe_.is_requested(candidate.name)) return std::nullopt;
        const auto newest = alternatives_.machine().newest_ruled_out(id);
        if (newest.empty()) return std::nullopt;
        auto note = about(id);
        note.better = universe_.version_of(newest.front()).to_string();
        note.reason = alternatives_.machine().why_none_runs(newest);
        // The note is not about builds that the request leaves out.
        const auto& left_out = universe_.names()[candidate.name].left_out;
        const bool is_one_of_several = std::ranges::any_of(left_out, [&](const LeftOut& out) {
            if (out.why != LeftOut::Why::Accelerator) return false;
            const auto other = Version::parse(out.record.version());
            return other && universe_.version_of(id) < *other;
        });
        if (is_one_of_several) note.platform = compute_platform(candidate.accelerator);
        // What only builds may be for another machine (answer.hpp).
        if (is_for_building(note.name) &&
            has_vendor(universe_.problem().virtual_packages, Accelerator::Nvidia))
            note.reason += fmt::format(
                "; to build for another machine, request {}={}", note.name, note.better);
        else if (!is_one_of_several)
            note.reason += for_another_machine(universe_.problem(),
                                               universe_.candidates()[newest.front()].accelerator);
        return note;
    }

    /// A better package differs from the installed one in its channel, accelerator, BLAS or MPI,
    /// which only a request changes.
    std::optional<Note> on_kept(CandidateId id) {
        if (!alternatives_.may_change(id)) return std::nullopt;
        const auto name = universe_.candidates()[id].name;
        for (const auto& spec : alternatives_.specs_for_other_kinds(id)) {
            if (tries_++ >= kMostKeptTries) return std::nullopt;
            auto note = about(id);
            const auto build = try_spec(id, spec, note);
            if (!build || !build->runs ||
                !alternatives_.is_better(build->version, build->accelerator, id))
                continue;
            if (build->version != universe_.version_of(id))
                note.better = build->version.to_string();
            if (build->accelerator != universe_.candidates()[id].accelerator)
                note.platform = compute_platform(build->accelerator);
            const auto& left_out = universe_.names()[name].left_out;
            const auto out = std::ranges::find_if(left_out, [&](const LeftOut& one) {
                return one.is_other_than_installed() &&
                       Version::parse(one.record.version()) == build->version &&
                       spec_allowing(universe_, name, one) == spec;
            });
            if (out == left_out.end()) {
                note.reason = "does not go with the installed packages";
            } else {
                note.aside = what_stays(universe_, name, *out);
            }
            return note;
        }
        return std::nullopt;
    }

    /// A newer version of a package to be updated, or a noticeably newer one of a requested
    /// package, conflicts with the other packages.
    std::optional<Note> on_held_version(CandidateId id) {
        const auto& candidate = universe_.candidates()[id];
        const auto& name = universe_.names()[candidate.name];
        const auto& update = universe_.problem().request.update;
        const bool is_to_move = universe_.former(candidate.name) &&
                                std::ranges::find(update, name.text) != update.end();
        if (!is_to_move && (candidate.is_installed || !universe_.is_requested(candidate.name)))
            return std::nullopt;
        std::optional<CandidateId> newest;
        for (auto one = name.begin; one < name.end; ++one) {
            const auto& other = universe_.candidates()[one];
            // No second choice for another reason.
            if (other.is_offered() && !other.has_track_features && !other.will_not_run &&
                other.channel <= candidate.channel &&
                universe_.version_of(newest.value_or(id)) < universe_.version_of(one) &&
                universe_.is_as_requested(one) && !alternatives_.machine().is_ruled_out(one))
                newest = one;
        }
        if (!newest) return std::nullopt;
        const auto ages = version_ages(universe_, candidate.name);
        const auto age = ages[id - name.begin] - ages[*newest - name.begin];
        if (!is_to_move && age <= kNoticeableAge) return std::nullopt;
        auto note = about(id);
        note.better = universe_.version_of(*newest).to_string();
        if (age > kNoticeableAge) note.aside = age_text(age) + " newer";
        note.reason =
            "conflicts with other packages" +
            how_to_see_why(universe_.problem(), fmt::format("{}=={}", note.name, note.better));
        return note;
    }

    /// A build for the machine's GPU, or for the CUDA that is requested by name.
    std::optional<Note> on_gpu_build(CandidateId id, bool is_limit_told) {
        const auto& candidate = universe_.candidates()[id];
        const auto vendor = universe_.preferred_accelerator(candidate.name);
        const bool is_part = !candidate.says_accelerator || parts_.contains(candidate.name);
        if (!vendor || *vendor == Accelerator::None || candidate.accelerator == *vendor ||
            (!universe_.is_requested(candidate.name) && is_part) ||
            alternatives_.is_build_requested(candidate.name))
            return std::nullopt;
        const auto builds = alternatives_.gpu_builds(id, *vendor);
        if (builds.empty()) return on_hidden_build(id, *vendor);
        const auto& version = universe_.version_of(builds.front());
        const bool is_newer = universe_.version_of(id) < version;
        if (is_limit_told && is_newer && std::ranges::none_of(builds, [&](CandidateId one) {
                return alternatives_.machine().could_run(one);
            }))
            return std::nullopt;
        auto note = about(id);
        note.platform = compute_platform(*vendor);
        if (version != universe_.version_of(id)) note.better = version.to_string();
        if (!universe_.accelerators().is_bound(universe_.name_of(id).text))
            offer_build(id, *vendor, note);
        // That it is older is reason enough.
        if (note.spec.empty() || is_newer || version == universe_.version_of(id))
            note.reason = alternatives_.why_not(id, builds);
        if (!note.reason.empty()) note.reason += for_another_machine(universe_.problem(), *vendor);
        return note;
    }

    /// No build for the vendor's GPUs is usable. For a package without any GPU build there is a
    /// note only if the user asks for GPU builds.
    std::optional<Note> on_hidden_build(CandidateId id, Accelerator vendor) const {
        const auto& candidate = universe_.candidates()[id];
        auto note = about(id);
        for (const auto& out : universe_.names()[candidate.name].left_out) {
            const auto record = out.record.record();
            if (!record || accelerator_of(*record).accelerator != vendor) continue;
            if (out.why == LeftOut::Why::OtherAccelerator) return std::nullopt;
            if (out.why != LeftOut::Why::Hidden || universe_.former(candidate.name)) continue;
            note.better = record->version;
            note.platform = compute_platform(vendor);
            note.aside = left_out_text(universe_, candidate.name, out);
            return note;
        }
        const auto builds = universe_.candidates_of(candidate.name);
        const bool is_missed = universe_.accelerators().is_bound(universe_.name_of(id).text) ||
                               alternatives_.has_gpu_builds(candidate.name);
        if (!is_missed || !universe_.is_requested(candidate.name) ||
            !candidate.says_accelerator_itself() ||
            std::ranges::find(builds, vendor, &Candidate::accelerator) != builds.end())
            return std::nullopt;
        note.reason = fmt::format(
            "is {}: no version has {}", build_text(candidate.accelerator), build_text(vendor));
        return note;
    }

    /// A GPU build on a machine without such a GPU: its version is newer than that of any CPU
    /// build.
    std::optional<Note> on_absent_gpu(CandidateId id, bool is_limit_told) const {
        const auto& candidate = universe_.candidates()[id];
        const auto vendor = candidate.accelerator;
        if (vendor == Accelerator::None || !universe_.is_requested(candidate.name) ||
            tells_cuda_version(universe_.name_of(id).text) ||
            !universe_.preferred_accelerator(candidate.name) ||
            alternatives_.is_build_requested(candidate.name) ||
            has_vendor(universe_.problem().virtual_packages, vendor))
            return std::nullopt;
        auto note = about(id);
        note.reason = fmt::format("is {}, but {} has no {} GPU",
                                  build_text(vendor),
                                  universe_.problem().machine,
                                  vendor_title(vendor));
        if (!is_limit_told) note.reason += for_another_machine(universe_.problem(), vendor);
        if (!universe_.accelerators().is_bound(universe_.name_of(id).text))
            offer_build(id, Accelerator::None, note);
        return note;
    }

    /// A named CUDA costs a requested package a newer version.
    std::optional<Note> on_named_cuda(CandidateId id) const {
        const auto& candidate = universe_.candidates()[id];
        const auto& name = universe_.names()[candidate.name];
        if (candidate.accelerator != Accelerator::Nvidia ||
            !universe_.is_requested(candidate.name) ||
            universe_.accelerators().is_bound(universe_.name_of(id).text) ||
            alternatives_.is_build_requested(candidate.name))
            return std::nullopt;
        const auto cuda = alternatives_.named_cuda();
        if (!cuda) return std::nullopt;
        bool has_newer = false;
        for (auto one = name.begin; one < name.end; ++one) {
            has_newer =
                has_newer || (universe_.candidates()[one].accelerator == Accelerator::None &&
                              universe_.version_of(id) < universe_.version_of(one) &&
                              universe_.is_as_requested(one));
        }
        if (!has_newer) return std::nullopt;
        auto note = about(id);
        const auto build = try_spec(id, spec_with(candidate.name, Accelerator::None), note);
        if (!build || !(universe_.version_of(id) < build->version)) return std::nullopt;
        note.better = build->version.to_string();
        note.platform = compute_platform(Accelerator::None);
        note.aside = *cuda + " is requested";
        return note;
    }

    /// Of parts of a toolkit the version tells more than the age.
    bool is_noticeable(const Trade& trade) const {
        return trade.age > kNoticeableAge || universe_.names()[trade.name].is_vendor_part;
    }

    std::optional<Note> on_trade(const Trade& trade) const {
        const auto selected =
            std::ranges::find(selected_.packages, trade.name, [&](CandidateId id) {
                return universe_.candidates()[id].name;
            });
        if (selected == selected_.packages.end()) return std::nullopt;
        auto note = about(*selected);
        note.better = universe_.version_of(trade.possible).to_string();
        if (trade.age > kNoticeableAge) note.aside = age_text(trade.age) + " newer";
        if (!try_spec(*selected, fmt::format("{}=={}", note.name, note.better), note) ||
            note.changes.empty())
            return std::nullopt;
        return note;
    }

    Note about(CandidateId id) const {
        Note note;
        note.name = universe_.name_of(id).text;
        note.version = universe_.version_of(id).to_string();
        return note;
    }

    /// The build that `spec` selects in place of `id`; adds the spec and what it changes to the
    /// note.
    std::optional<Build> try_spec(CandidateId id, const std::string& spec, Note& note) const {
        const auto builds = with_spec_(spec);
        if (!builds) return std::nullopt;
        const auto found = builds->find(universe_.name_of(id).text);
        if (found == builds->end()) return std::nullopt;
        note.spec = spec;
        // To name an installed CUDA without a version keeps it.
        if (const auto cuda = builds->find(spec); cuda != builds->end() && tells_cuda_version(spec))
            note.spec = fmt::format("{}={}", spec, version_part(cuda->second.version, 0));
        note.changes = changes(*builds, universe_.candidates()[id].name);
        return found->second;
    }

    /// Adds the spec that selects a build for the accelerator, if it does.
    void offer_build(CandidateId id, Accelerator accelerator, Note& note) const {
        auto tried = note;
        const auto build =
            try_spec(id, spec_with(universe_.candidates()[id].name, accelerator), tried);
        if (!build || !build->runs || build->accelerator != accelerator) return;
        note = std::move(tried);
        const auto version = build->version.to_string();
        const auto& better = note.better.empty() ? note.version : note.better;
        if (note.platform != compute_platform(accelerator) || version != better)
            note.selects = version + ", " + build_text(accelerator);
    }

    /// Other requested packages that would be older or lose their GPU build.
    std::vector<std::string> changes(const Builds& builds, NameId but) const {
        std::vector<std::string> changes;
        for (const auto id : selected_.packages) {
            const auto& candidate = universe_.candidates()[id];
            const auto then = builds.find(universe_.name_of(id).text);
            if (candidate.name == but || then == builds.end() ||
                !universe_.is_requested(candidate.name))
                continue;
            const auto& [version, accelerator, runs] = then->second;
            const bool is_older = version < universe_.version_of(id);
            const bool gives_up =
                accelerator != candidate.accelerator &&
                candidate.accelerator == universe_.preferred_accelerator(candidate.name);
            if (!is_older && !gives_up) continue;
            changes.push_back(fmt::format("{} would be {}{}{}",
                                          then->first,
                                          version.to_string(),
                                          is_older ? age_difference(id, version) : "",
                                          gives_up ? ", " + build_text(accelerator) : ""));
        }
        return changes;
    }

    /// " (988 days older)"; empty for less than a month.
    std::string age_difference(CandidateId id, const Version& other) const {
        const auto& candidate = universe_.candidates()[id];
        const auto& name = universe_.names()[candidate.name];
        const auto ages = version_ages(universe_, candidate.name);
        for (auto one = name.begin; one < name.end; ++one) {
            const auto older = ages[one - name.begin] - ages[id - name.begin];
            if (universe_.version_of(one) == other && older > kNoticeableAge)
                return fmt::format(" ({} older)", age_text(older));
        }
        return "";
    }

    /// Of the channel that it is requested of: "conda-forge::pytorch[accel=nvidia]".
    std::string spec_with(NameId name, Accelerator accelerator) const {
        std::string channel;
        for (const auto id : universe_.requested()) {
            const auto& spec = universe_.specs()[id];
            if (spec.name == name && spec.match.channel) channel = *spec.match.channel + "::";
        }
        return fmt::format(
            "{}{}[accel={}]", channel, universe_.names()[name].text, to_string(accelerator));
    }

    const Universe& universe_;
    const Selected& selected_;
    const WithSpec& with_spec_;
    Alternatives alternatives_;
    std::vector<Note> notes_;
    std::set<NameId> parts_;  ///< dependencies of builds that say what they are for
    int tries_ = 0;
};

}  // namespace

std::vector<Note> package_notes(const Universe& universe,
                                const Selected& selected,
                                const WithSpec& with_spec) {
    return PackageNotes(universe, selected, with_spec).all();
}

}  // namespace gpkg::solver
