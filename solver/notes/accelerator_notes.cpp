#include "solver/notes/accelerator_notes.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"
#include "solver/running.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace gpkg::solver {

AcceleratorNotes::AcceleratorNotes(const Universe& universe,
                                   MachineLimit& machine,
                                   const std::vector<CandidateId>& chosen,
                                   const NotRunning& not_running,
                                   const WithSpec& with_spec)
    : universe_(universe),
      machine_(machine),
      with_spec_(with_spec),
      chosen_(chosen),
      not_running_(not_running) {
    for (const auto id : chosen) {
        const auto& candidate = universe.candidates()[id];
        if (!candidate.says_accelerator || candidate.is_accelerator_inferred) continue;
        for (const auto depend : candidate.depends) parts_.insert(universe.specs()[depend].name);
    }
}

std::optional<std::string> AcceleratorNotes::on(CandidateId id, bool is_limit_told) {
    const auto& chosen = universe_.candidates()[id];
    const auto wanted = universe_.preferred_accelerator(chosen.name);
    if (!wanted) return std::nullopt;
    if (auto note = on_kept_accelerator(id, *wanted)) return note;
    if (chosen.is_installed) return std::nullopt;
    if (auto note = on_code(id)) return note;
    if (is_build_requested(chosen.name)) return std::nullopt;
    if (!is_requested(id) && is_part_of_another(id)) return std::nullopt;
    if (*wanted == Accelerator::None) return on_machine_without(id, is_limit_told);
    if (auto note = on_named_cuda(id)) return note;
    if (chosen.accelerator == *wanted)
        return is_for_absent_gpu(id) ? on_absent_gpu(id) : on_newer_builds(id, is_limit_told);
    if (auto note = on_cuda_not_running(id)) return note;
    const auto newest = newest_usable(chosen.name, *wanted);
    if (!newest) return on_no_build(id, *wanted);
    if (is_limit_told && !could_run(*newest) && is_older(chosen.version, *newest))
        return std::nullopt;
    // One of its own version that cannot run is there all the same.
    if (build_alike(id, *wanted)) return on_other_build(id, *newest);
    if (is_older(universe_.candidates()[*newest].version, id)) return on_other_version(id, *newest);
    const auto before = is_requested(id) ? std::nullopt : newest_before(id, *wanted);
    return before ? on_other_version(id, *before) : on_other_build(id, *newest);
}

/// What is installed keeps its accelerator, and is named now or to go with a CUDA that is: there
/// are builds for the GPU that is here.
std::optional<std::string> AcceleratorNotes::on_kept_accelerator(CandidateId id,
                                                                 Accelerator wanted) const {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name];
    if (wanted == Accelerator::None || chosen.accelerator == wanted || !is_requested(id) ||
        !(is_named(name.text) || names_cuda()) ||
        std::ranges::none_of(name.left_out, [&](const LeftOut& out) {
            return out.why == LeftOut::Why::OtherAccelerator && is_for_machine(universe_, out);
        }))
        return std::nullopt;
    const auto brought =
        with_spec_(name.text, fmt::format("{}[accel={}]", name.text, to_string(wanted)));
    if (!brought || !brought->runs || brought->accelerator != wanted) return std::nullopt;
    return fmt::format(
        "{} is a {} build like the installed one; {}[accel={}] selects {}, a {} build{}",
        text_of(id),
        compute_platform(chosen.accelerator),
        asked_as(chosen.name),
        to_string(wanted),
        brought->version.to_string(),
        compute_platform(wanted),
        price_of(*brought));
}

bool AcceleratorNotes::is_named(const std::string& name) const {
    const auto& request = universe_.problem().request;
    const auto named = std::span(request.specs).first(request.named);
    return request.may_move(name) ||
           std::ranges::find(named, name, &MatchSpec::name) != named.end();
}

bool AcceleratorNotes::names_cuda() const {
    const auto& request = universe_.problem().request;
    return std::ranges::any_of(std::span(request.specs).first(request.named),
                               [](const auto& spec) { return tells_cuda_version(spec.name); });
}

/// Of what does not run on the GPUs here, or not as it is.
std::optional<std::string> AcceleratorNotes::on_code(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    if (!is_requested(id) && is_part_of_another(id)) return std::nullopt;
    // What needs it does not run either, and was asked for.
    if (const auto not_running = not_running_.find(id); not_running != not_running_.end())
        return is_requested(id) ? std::optional(fmt::format("{} does not run on {}: it {}",
                                                            text_of(id),
                                                            machine(),
                                                            not_running->second))
                                : std::nullopt;
    const auto record = chosen.record();
    const auto caution = record && chosen.accelerator == Accelerator::Nvidia
                             ? universe_.limits().caution_of(*record)
                             : std::nullopt;
    if (!caution) return std::nullopt;
    return fmt::format("{} {}", text_of(id), at_best_as_ptx(*caution));
}

/// One for none beside the CUDA that the request is for, which does not run.
std::optional<std::string> AcceleratorNotes::on_cuda_not_running(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name].text;
    if (!is_requested(id) || chosen.accelerator != Accelerator::None || !chosen.says_accelerator)
        return std::nullopt;
    const auto cuda = std::ranges::find_if(not_running_, [&](const auto& entry) {
        return is_requested(entry.first) &&
               tells_cuda_version(universe_.names()[universe_.candidates()[entry.first].name].text);
    });
    if (cuda == not_running_.end()) return std::nullopt;
    auto text = fmt::format("{} is a CPU build because {} does not run on {}",
                            text_of(id),
                            text_of(cuda->first),
                            machine());
    const auto brought = with_spec_(name, name + "[accel=nvidia]");
    if (brought && brought->accelerator == Accelerator::Nvidia)
        text += fmt::format("; {}[accel=nvidia] selects {}, a CUDA build, anyway{}",
                            asked_as(chosen.name),
                            brought->version.to_string(),
                            price_of(*brought));
    return text;
}

/// A build for GPUs where there is none: newer than those for none, which is what counts more. Or
/// one for none, where the request speaks of CUDA.
std::optional<std::string> AcceleratorNotes::on_machine_without(CandidateId id,
                                                                bool is_limit_told) const {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name].text;
    if (!is_requested(id) || tells_cuda_version(name)) return std::nullopt;
    if (chosen.accelerator == Accelerator::None) {
        const auto cuda = asked_cuda();
        const auto choice = universe_.accelerators().choice(name);
        if (!cuda || choice != AcceleratorChoice::Auto || !chosen.says_accelerator ||
            !newest_for(chosen.name, builds_for(Accelerator::Nvidia), Of::Requested))
            return std::nullopt;
        auto text = fmt::format("{} is a CPU build because {} has no GPU", text_of(id), machine());
        if (brought_for(chosen.name, Accelerator::Nvidia))
            text += fmt::format("; for the CUDA build with {}, request {}[accel=nvidia]",
                                *cuda,
                                asked_as(chosen.name));
        return text;
    }
    auto text = for_absent_gpu(id);
    if (!is_limit_told) text += for_another_machine(universe_.problem());
    if (const auto brought = brought_for(chosen.name, Accelerator::None))
        text += fmt::format("; {}[accel=none] selects {}, a CPU build{}",
                            asked_as(chosen.name),
                            brought->version.to_string(),
                            price_of(*brought));
    return text;
}

/// Among the builds that are left out for their accelerator.
bool AcceleratorNotes::has_newer_without_gpu(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    return std::ranges::any_of(universe_.names()[chosen.name].left_out, [&](const LeftOut& out) {
        if (out.why != LeftOut::Why::Accelerator) return false;
        const auto version = Version::parse(out.record.version());
        return version && universe_.version(chosen.version) < *version;
    });
}

/// A CUDA is named, which may cost a requested package versions for a GPU build.
std::optional<std::string> AcceleratorNotes::on_named_cuda(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    const auto& name = universe_.names()[chosen.name].text;
    const auto cuda = asked_cuda();
    if (!universe_.accelerators().binds_requested_alone || !cuda || !is_requested(id) ||
        chosen.accelerator != Accelerator::Nvidia || tells_cuda_version(name) ||
        !has_newer_without_gpu(id))
        return std::nullopt;
    const auto brought = with_spec_(name, name + "[accel=none]");
    if (!brought || !(universe_.version(chosen.version) < brought->version)) return std::nullopt;
    return fmt::format(
        "{} is the newest CUDA build for {}; {}[accel=none] selects {}, a CPU build{}",
        text_of(id),
        *cuda,
        asked_as(chosen.name),
        brought->version.to_string(),
        price_of(*brought));
}

/// "t 2 is a CUDA build, but this machine has no NVIDIA GPU"
std::string AcceleratorNotes::for_absent_gpu(CandidateId id) const {
    const auto vendor = universe_.candidates()[id].accelerator;
    return fmt::format("{} is a {} build, but {} has no {} GPU",
                       text_of(id),
                       compute_platform(vendor),
                       machine(),
                       vendor_title(vendor));
}

bool AcceleratorNotes::is_for_absent_gpu(CandidateId id) const {
    return is_requested(id) && !has_vendor(universe_.problem().virtual_packages,
                                           universe_.candidates()[id].accelerator);
}

/// As on a login node: what needs the driver is out of reach, and what does not is old.
std::string AcceleratorNotes::on_absent_gpu(CandidateId id) {
    const auto vendor = universe_.candidates()[id].accelerator;
    auto text = for_absent_gpu(id);
    const auto newest =
        newest_for(universe_.candidates()[id].name, builds_for(vendor), Of::Requested);
    if (newest && is_older(universe_.candidates()[id].version, *newest) && !could_run(*newest))
        text += " and does not meet the requirements of newer builds";
    return text + for_another_machine(universe_.problem());
}

/// It is for what was wanted, and newer versions that are too cannot be had.
std::optional<std::string> AcceleratorNotes::on_newer_builds(CandidateId id,
                                                             bool is_limit_told) const {
    const auto& chosen = universe_.candidates()[id];
    if (is_limit_told || !is_requested(id) || !is_bound(chosen.name) || is_to_stay(id))
        return std::nullopt;
    const auto fits = [&](CandidateId one) {
        return builds_for(chosen.accelerator)(one) && !is_of_later_channel(one, id);
    };
    const auto newest = newest_for(chosen.name, fits, Of::Requested);
    if (!newest || !is_older(chosen.version, *newest)) return std::nullopt;
    return fmt::format(
        "{0} is a {1} build; newer {1} builds, up to {2}, conflict with other packages or the "
        "machine{3}",
        text_of(id),
        compute_platform(chosen.accelerator),
        version_text(*newest),
        command_for_reason(*newest));
}

/// Of no version that was asked for.
std::optional<std::string> AcceleratorNotes::on_no_build(CandidateId id, Accelerator wanted) {
    const auto& chosen = universe_.candidates()[id];
    const auto hidden = hidden_with(chosen.name, wanted);
    // Nobody thinks of a package that has none for a GPU at all, but who asks for those of all; nor
    // of what nobody named and had some in earlier major versions.
    const bool is_asked = is_bound(chosen.name) && is_requested(id) && chosen.says_accelerator &&
                          !chosen.is_accelerator_inferred;
    const auto is_any = [&](CandidateId one) {
        return universe_.candidates()[one].accelerator != Accelerator::None &&
               !universe_.candidates()[one].is_accelerator_inferred &&
               (is_requested(id) || major_of(one) == major_of(id));
    };
    if (hidden.empty() && !is_asked && !newest_for(chosen.name, is_any, Of::All))
        return std::nullopt;
    if (const auto other = newest_for(chosen.name, builds_for(wanted), Of::All))
        return on_other_version(id, *other);
    const auto what = chosen.says_accelerator
                          ? fmt::format(" is a {} build", compute_platform(chosen.accelerator))
                          : std::string();
    return fmt::format("{}{}: no version has a {} build{}{}",
                       text_of(id),
                       what,
                       compute_platform(wanted),
                       hidden,
                       hidden.empty() ? cpu_build_instead(id) : "");
}

/// Where one of this very version is, another was asked for. For what nobody named nobody goes back
/// to another major version: libarrow has had none for NVIDIA's GPUs since 24.
std::optional<std::string> AcceleratorNotes::on_other_version(CandidateId id, CandidateId newest) {
    const auto& version = universe_.version(universe_.candidates()[newest].version);
    if (version == universe_.version(universe_.candidates()[id].version)) return std::nullopt;
    if (!is_requested(id) && major_of(newest) != major_of(id)) return std::nullopt;
    const auto accelerator = universe_.candidates()[newest].accelerator;
    const auto& name = universe_.candidates()[id].name;
    const auto of_all = newest_for(name, builds_for(accelerator), Of::All);
    const bool is_of_all = !of_all || !is_older(universe_.candidates()[newest].version, *of_all);
    const auto brought = brought_for(name, accelerator);
    // It is asked for, there, and cannot be had.
    const auto is_it = [&](CandidateId one) { return one == newest; };
    if (is_requested(id) && !brought && newest_for(name, is_it, Of::Requested))
        return on_other_build(id, newest);
    return fmt::format(
        "{} has no {} build; the newest{} version with one is {}{}",
        text_of(id),
        compute_platform(accelerator),
        is_of_all          ? ""
        : is_requested(id) ? " requested"
                           : " earlier",
        version_text(newest),
        is_bound(name) || !brought ? "" : what_brings(newest, *brought, accelerator));
}

/// "; pytorch[accel=nvidia] selects it", for a version already named, and what else changes then.
std::string AcceleratorNotes::what_brings(CandidateId told,
                                          const Brought& brought,
                                          Accelerator accelerator) const {
    const auto& candidate = universe_.candidates()[told];
    const bool is_it = universe_.version(candidate.version) == brought.version;
    return fmt::format(
        "; {}[accel={}] selects {}{}",
        asked_as(candidate.name),
        to_string(accelerator),
        is_it ? "it"
              : fmt::format(
                    "{}, a {} build", brought.version.to_string(), compute_platform(accelerator)),
        price_of(brought));
}

/// There is one of this version or of a newer, and another was chosen. `newest` as newest_usable()
/// has it.
std::string AcceleratorNotes::on_other_build(CandidateId id, CandidateId newest) {
    const auto& chosen = universe_.candidates()[id];
    const auto wanted = universe_.candidates()[newest].accelerator;
    const auto alike = build_alike(id, wanted);
    auto note = alike ? fmt::format("the {} build of {} is not used: it {}",
                                    compute_platform(wanted),
                                    text_of(id),
                                    why_not(id, *alike))
                      : fmt::format("{} has no {} build; {} has one, but it {}",
                                    text_of(id),
                                    compute_platform(wanted),
                                    version_text(newest),
                                    why_not(id, newest));
    if (is_bound(chosen.name) || !could_run(newest)) return note;
    if (const auto brought = brought_for(chosen.name, wanted))
        note += what_brings(alike ? *alike : newest, *brought, wanted);
    return note;
}

/// Another build of its version, for the accelerator.
std::optional<CandidateId> AcceleratorNotes::build_alike(CandidateId id, Accelerator wanted) const {
    const auto& chosen = universe_.candidates()[id];
    const auto is_alike = [&](CandidateId one) {
        return builds_for(wanted)(one) && universe_.candidates()[one].version == chosen.version;
    };
    return newest_for(chosen.name, is_alike, Of::All);
}

bool AcceleratorNotes::is_bound(NameId name) const {
    return universe_.accelerators().is_bound(universe_.names()[name].text);
}

/// Whether its version is the one that is installed, which nobody asked to change.
bool AcceleratorNotes::is_to_stay(CandidateId id) const {
    const auto name = universe_.candidates()[id].name;
    const auto former = universe_.former(name);
    return former && former->record.version == version_text(id) &&
           !universe_.problem().request.may_move(universe_.names()[name].text);
}

/// Whether something else speaks for it: what is a part of a build that says what it is for goes
/// with that.
bool AcceleratorNotes::is_part_of_another(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    return !chosen.says_accelerator || parts_.contains(chosen.name);
}

bool AcceleratorNotes::is_requested(CandidateId id) const {
    return universe_.is_requested(universe_.candidates()[id].name);
}

std::string AcceleratorNotes::text_of(CandidateId id) const {
    return universe_.names()[universe_.candidates()[id].name].text + " " + version_text(id);
}

AcceleratorNotes::Fits AcceleratorNotes::builds_for(Accelerator wanted) const {
    return [this, wanted](CandidateId id) {
        const auto& candidate = universe_.candidates()[id];
        return candidate.accelerator == wanted && !candidate.is_accelerator_inferred;
    };
}

bool AcceleratorNotes::could_run(CandidateId id) {
    return !universe_.candidates()[id].will_not_run && !machine_.why_never(id);
}

/// The newest that is asked for and for the accelerator, of those that could run if there are any.
std::optional<CandidateId> AcceleratorNotes::newest_usable(NameId id, Accelerator wanted) {
    const auto fits = [&](CandidateId one) { return builds_for(wanted)(one) && could_run(one); };
    const auto usable = newest_for(id, fits, Of::Requested);
    return usable ? usable : newest_for(id, builds_for(wanted), Of::Requested);
}

/// Of older versions of its major version that could run, the newest for the accelerator.
std::optional<CandidateId> AcceleratorNotes::newest_before(CandidateId id, Accelerator wanted) {
    const auto fits = [&](CandidateId one) {
        return builds_for(wanted)(one) && could_run(one) && major_of(one) == major_of(id) &&
               is_older(universe_.candidates()[one].version, id);
    };
    return newest_for(universe_.candidates()[id].name, fits, Of::Requested);
}

/// What NAME[accel=...] gives; nothing where there is none that goes with the rest.
std::optional<Brought> AcceleratorNotes::brought_for(NameId id, Accelerator wanted) const {
    if (!newest_for(id, builds_for(wanted), Of::Requested)) return std::nullopt;
    const auto& name = universe_.names()[id].text;
    auto brought = with_spec_(name, fmt::format("{}[accel={}]", name, to_string(wanted)));
    if (!brought || !brought->runs) return std::nullopt;
    // A package that only brings others together is for CPUs, and they are not.
    return wanted == Accelerator::None && brought->needs_build_for_gpu ? std::nullopt
                                                                       : std::move(brought);
}

/// The name, with the channel that it is asked of: "conda-forge::pytorch".
std::string AcceleratorNotes::asked_as(NameId name) const {
    const auto& text = universe_.names()[name].text;
    for (const auto id : universe_.requested()) {
        const auto& spec = universe_.specs()[id];
        if (spec.name == name && spec.match.channel) return *spec.match.channel + "::" + text;
    }
    return text;
}

/// Other requested packages that would be older or lose their GPU build: "; jax would be 0.7.0".
std::string AcceleratorNotes::price_of(const Brought& brought) const {
    std::vector<std::string> changes;
    for (const auto id : chosen_) {
        const auto& candidate = universe_.candidates()[id];
        const auto then = brought.requested.find(universe_.names()[candidate.name].text);
        if (then == brought.requested.end()) continue;
        const auto& [version, accelerator] = then->second;
        const bool is_older = version < universe_.version(candidate.version);
        const bool gives_up =
            accelerator != candidate.accelerator &&
            candidate.accelerator == universe_.preferred_accelerator(candidate.name);
        if (is_older || gives_up)
            changes.push_back(fmt::format(
                "{} would be {}{}",
                then->first,
                version.to_string(),
                gives_up ? fmt::format(", a {} build", compute_platform(accelerator)) : ""));
    }
    return changes.empty() ? "" : "; " + join_some(changes, "and");
}

/// "; jax[accel=none] selects 0.7, a CPU build", for a build for GPUs where there is one.
std::string AcceleratorNotes::cpu_build_instead(CandidateId id) const {
    const auto& chosen = universe_.candidates()[id];
    if (chosen.accelerator == Accelerator::None) return "";
    const auto brought = brought_for(chosen.name, Accelerator::None);
    if (!brought) return "";
    return fmt::format("; {}[accel=none] selects {}, a CPU build{}",
                       asked_as(chosen.name),
                       brought->version.to_string(),
                       price_of(*brought));
}

/// The first spec of the request that says which CUDA: "pytorch-cuda=12.1".
std::optional<std::string> AcceleratorNotes::asked_cuda() const {
    for (const auto id : universe_.requested()) {
        const auto& spec = universe_.specs()[id];
        const auto& name = universe_.names()[spec.name].text;
        if (tells_cuda_version(name)) return spec.text;
    }
    return std::nullopt;
}

/// Of builds that an earlier channel hides.
std::string AcceleratorNotes::hidden_with(NameId name, Accelerator wanted) const {
    if (universe_.former(name)) return "";  // whose channel stays
    for (const auto& out : universe_.names()[name].left_out) {
        if (out.why != LeftOut::Why::Hidden) continue;
        const auto record = out.record.index->record(*out.record.home, *out.record.row);
        if (record && accelerator_of(*record).accelerator == wanted)
            return fmt::format(
                " except {} ({})", record->version, left_out_text(universe_, name, out));
    }
    return "";
}

bool AcceleratorNotes::is_build_requested(NameId name) const {
    const auto& requested = universe_.requested();
    return std::any_of(requested.begin(), requested.end(), [&](SpecId id) {
        const auto& spec = universe_.specs()[id];
        return spec.name == name && spec.match.build;
    });
}

/// Which under flexible priority counts more than versions and accelerators.
bool AcceleratorNotes::is_of_later_channel(CandidateId one, CandidateId than) const {
    return universe_.problem().priority == ChannelPriority::Flexible &&
           universe_.candidates()[than].channel < universe_.candidates()[one].channel;
}

bool AcceleratorNotes::is_older(VersionId version, CandidateId than) const {
    return universe_.version(version) < universe_.version(universe_.candidates()[than].version);
}

int AcceleratorNotes::major_of(CandidateId id) const {
    return version_part(universe_.version(universe_.candidates()[id].version), 0);
}

std::string AcceleratorNotes::version_text(CandidateId id) const {
    return universe_.version(universe_.candidates()[id].version).to_string();
}

/// Of all builds of a version for one accelerator: the machine where it is what they all lack.
/// Else the one for the python of what was chosen is asked about.
std::string AcceleratorNotes::why_not(CandidateId chosen, CandidateId id) {
    const auto& one = universe_.candidates()[id];
    const auto& name = universe_.names()[one.name];
    std::optional<CandidateId> possible;
    std::vector<CandidateId> alike;
    std::vector<CandidateId> could;
    for (auto other = name.begin; other < name.end; ++other) {
        const auto& candidate = universe_.candidates()[other];
        const bool is_alike =
            candidate.version == one.version && candidate.accelerator == one.accelerator;
        if (is_alike) alike.push_back(other);
        if (!is_alike || !could_run(other)) continue;
        could.push_back(other);
        if (!possible || (!has_python_of(chosen, *possible) && has_python_of(chosen, other)))
            possible = other;
    }
    if (possible && is_of_later_channel(*possible, chosen))
        return "is in a channel with lower priority";
    if (auto missing = machine_.why_missing(could)) return *std::move(missing);
    if (possible) return "conflicts with other packages" + command_for_reason(*possible);
    if (auto why = machine_.why_never(alike)) return *std::move(why);
    return obstacle_of(universe_, id);
}

bool AcceleratorNotes::has_python_of(CandidateId one, CandidateId other) const {
    const auto& asked = universe_.candidates()[one].depends;
    const auto& asks = universe_.candidates()[other].depends;
    return std::any_of(asks.begin(), asks.end(), [&](SpecId id) {
        return universe_.name_of(universe_.specs()[id]).text == "python_abi" &&
               std::find(asked.begin(), asked.end(), id) != asked.end();
    });
}

/// The command that shows the reason; none does for a lock.
std::string AcceleratorNotes::command_for_reason(CandidateId id) const {
    const auto& name = universe_.names()[universe_.candidates()[id].name].text;
    return how_to_see_why(universe_.problem(),
                          fmt::format("{}={}={}", name, version_text(id), build_or_glob(id)));
}

/// "cuda*" of cuda129_mkl_py314_h245c5d3_300 where that means builds of this version for the same
/// accelerator alone, else the build.
std::string AcceleratorNotes::build_or_glob(CandidateId id) const {
    const auto& one = universe_.candidates()[id];
    std::string build(one.build());
    const auto letters = build.substr(0, build.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
    if (letters.size() < 3 || letters == build) return build;
    const auto& name = universe_.names()[one.name];
    for (auto other = name.begin; other < name.end; ++other) {
        const auto& candidate = universe_.candidates()[other];
        if (candidate.version == one.version && candidate.accelerator != one.accelerator &&
            candidate.build().starts_with(letters))
            return build;
    }
    return letters + "*";
}

std::optional<CandidateId> AcceleratorNotes::newest_for(NameId id,
                                                        const Fits& fits,
                                                        Of versions) const {
    const auto& name = universe_.names()[id];
    std::optional<CandidateId> newest;
    for (auto other = name.begin; other < name.end; ++other) {
        if (!fits(other)) continue;
        if (versions == Of::Requested && !universe_.is_as_requested(other)) continue;
        if (!newest || is_older(universe_.candidates()[*newest].version, other)) newest = other;
    }
    return newest;
}

}  // namespace gpkg::solver
