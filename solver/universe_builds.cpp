// Which builds of a name are candidates at all: for the accelerators that the request allows, and,
// of what is installed, of the channel and the kind that is installed.

#include "libcore/spec/names.hpp"
#include "libcore/spec/variant_columns.hpp"
#include "solver/universe.hpp"

#include <algorithm>
#include <utility>

namespace gpkg::solver {
namespace {

/// "conda-forge" of ".../conda-forge" and of ".../conda-forge/linux-64"; "a/label/b" of a label.
std::string_view channel_name(std::string_view channel) {
    const auto take_last = [&](std::string_view& rest) {
        while (rest.ends_with('/')) rest.remove_suffix(1);
        const auto slash = rest.rfind('/');
        const auto last = slash == std::string_view::npos ? rest : rest.substr(slash + 1);
        rest.remove_suffix(std::min(rest.size(), last.size() + 1));
        return last;
    };
    auto rest = channel;
    auto last = take_last(rest);
    if (is_known_subdir(last)) last = take_last(rest);
    auto above = rest;
    if (take_last(above) == "label" && !above.empty()) {
        const auto owner = take_last(above);
        return {owner.data(), static_cast<std::size_t>(last.end() - owner.begin())};
    }
    return last;
}

bool speaks_of_builds(const MatchSpec& spec) {
    return spec.build || spec.build_number || spec.fn || spec.url || spec.md5 || spec.sha256 ||
           !spec.flags.empty() || !spec.track_features.empty();
}

bool differ(const Kind& a, const Kind& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].empty() && !b[i].empty() && a[i] != b[i]) return true;
    }
    return false;
}

}  // namespace

Kind kind_of(const PackageRecord& record) {
    const auto columns = variant_columns(record);
    const auto column = [&](std::string_view name) {
        const auto* place = std::find(kVariantColumns.begin(), kVariantColumns.end(), name);
        return columns[static_cast<std::size_t>(place - kVariantColumns.begin())];
    };
    return {column("blas"), column("mpi")};
}

/// A mirror of a channel is the same.
bool is_same_channel(std::string_view a, std::string_view b) {
    return a == b || channel_name(a) == channel_name(b);
}

std::optional<Accelerator> Universe::accelerator_of_row(const Candidate& candidate,
                                                        const List& depends) const {
    if (is_vendor_part(names_[candidate.name].text)) return std::nullopt;
    if (candidate.offered.row->flags != 0) {
        for (const auto& flag : candidate.flags()) {
            if (const auto found = accelerator_of_flag(flag)) return found;
        }
    }
    const auto& said = depends.accelerator;
    if (said.is_for_either) return std::nullopt;
    if (said.hint != AcceleratorHint::Nothing) return said.accelerator;
    return accelerator_of_build(candidate.build());
}

bool Universe::is_requested(NameId name) const {
    return std::any_of(
        requested_.begin(), requested_.end(), [&](SpecId id) { return specs_[id].name == name; });
}

bool Universe::is_as_requested(CandidateId id) const {
    const auto allows = [&](SpecId of) {
        return specs_[of].name != candidates_[id].name || specs_[of].allows(id);
    };
    return std::all_of(requested_.begin(), requested_.end(), allows) &&
           std::all_of(constraints_.begin(), constraints_.end(), allows);
}

std::optional<Universe::Former> Universe::former(NameId name) const {
    const auto& request = problem_->request;
    for (const auto* records : {&request.installed, &request.gone}) {
        const auto found = std::find_if(records->begin(), records->end(), [&](const auto& one) {
            return one.name == names_[name].text;
        });
        if (found != records->end()) return Former{*found, records == &request.gone};
    }
    return std::nullopt;
}

std::optional<Accelerator> Universe::preferred_accelerator(NameId name) const {
    switch (problem_->request.accelerators.choice(names_[name].text)) {
    case AcceleratorChoice::Auto: return found_accelerator_;
    case AcceleratorChoice::Nvidia: return Accelerator::Nvidia;
    case AcceleratorChoice::Amd: return Accelerator::Amd;
    case AcceleratorChoice::None: return Accelerator::None;
    case AcceleratorChoice::Conda: break;
    }
    return std::nullopt;
}

bool Universe::is_bound_to_accelerator(NameId name) const {
    const auto choice = problem_->request.accelerators.choice(names_[name].text);
    return choice != AcceleratorChoice::Auto && choice != AcceleratorChoice::Conda;
}

/// What the request wants of the name, and what it restricts of it alone.
std::vector<const MatchSpec*> Universe::said_of(NameId name) const {
    std::vector<const MatchSpec*> specs;
    for (const auto id : requested_) {
        if (specs_[id].name == name) specs.push_back(&specs_[id].match);
    }
    for (const auto& constraint : problem_->request.constraints) {
        const auto& spec = constraint.spec;
        if (spec.has_one_name() && spec.name == names_[name].text) specs.push_back(&spec);
    }
    return specs;
}

Universe::Freedom Universe::freedom_of(NameId name) const {
    Freedom freedom;
    for (const auto* spec : said_of(name)) {
        freedom.channel = freedom.channel || spec->channel;
        freedom.build = freedom.build || speaks_of_builds(*spec);
    }
    return freedom;
}

/// The channel of what was there, where nobody asks for the package from another.
std::optional<std::string> Universe::kept_channel(NameId name) const {
    const auto was = former(name);
    if (!was || was->record.channel.empty()) return std::nullopt;
    return freedom_of(name).channel ? std::nullopt : std::optional(was->record.channel);
}

template <typename WhyNot>
void Universe::leave_out(NameId name, const WhyNot& why_not) {
    auto& left_out = names_[name].left_out;
    const auto begin = candidates_.begin() + names_[name].begin;
    const auto kept = std::stable_partition(
        begin, candidates_.end(), [&](const auto& candidate) { return !why_not(candidate); });
    for (auto gone = kept; gone != candidates_.end(); ++gone) {
        if (gone->is_offered()) left_out.push_back({*why_not(*gone), gone->offered});
    }
    candidates_.erase(kept, candidates_.end());
}

void Universe::leave_out_changed_builds(NameId name) {
    const auto was = former(name);
    if (!was) return;
    const bool is_free = names_[name].follows_asked || freedom_of(name).build;
    const auto channel = kept_channel(name);
    const auto kind = is_free ? Kind() : kept_kind(name);
    const bool has_kind = kind != Kind();
    const auto accelerator = accelerator_of(was->record).accelerator;
    const bool keeps_accelerator = !is_free && !is_bound_to_accelerator(name) &&
                                   !problem_->request.accelerators.is_asked(names_[name].text);
    leave_out(name, [&](const Candidate& candidate) -> std::optional<LeftOut::Why> {
        if (candidate.is_installed || !candidate.is_offered()) return std::nullopt;
        const auto& own = candidate.offered.index->source().channel;
        if (channel && !is_same_channel(own, *channel) && !may_come_of(name, own))
            return LeftOut::Why::OtherChannel;
        if (keeps_accelerator && candidate.accelerator != accelerator)
            return LeftOut::Why::OtherAccelerator;
        if (!has_kind) return std::nullopt;
        const auto other = candidate.record();
        return other && differ(kind, kind_of(*other)) ? std::optional(LeftOut::Why::OtherVariant)
                                                      : std::nullopt;
    });
}

/// "pytorch[accel=nvidia]", or "pytorch=2.10=*cuda*" where what is installed is another build.
bool Universe::is_asked_in_another_build(NameId name) const {
    if (problem_->request.accelerators.is_asked(names_[name].text)) return true;
    const auto specs = said_of(name);
    return std::any_of(specs.begin(), specs.end(), [&](const MatchSpec* spec) {
        if (!speaks_of_builds(*spec)) return false;
        const auto was = former(name);
        return !was || !spec->matches(was->record);
    });
}

/// "conda-forge" of "conda-forge::pytorch", where what is installed is of another.
std::set<std::string> Universe::other_channels_asked(NameId name) const {
    std::set<std::string> channels;
    for (const auto* spec : said_of(name)) {
        if (!spec->channel) continue;
        const auto was = former(name);
        if (was && !channel_matches(*spec->channel, was->record.channel))
            channels.insert(*spec->channel);
    }
    return channels;
}

bool Universe::may_come_of(NameId name, const std::string& channel) const {
    const auto& channels = names_[name].follows_to;
    return std::any_of(channels.begin(), channels.end(), [&](const auto& one) {
        return channel_matches(one, channel);
    });
}

/// What goes over to another channel takes along what it needs there, as far as that has to move.
void Universe::follow_to_channels(NameId name) {
    auto channels = names_[name].follows_to;
    channels.merge(other_channels_asked(name));
    if (channels.empty()) return;
    for (auto id = names_[name].begin; id < names_[name].end; ++id) {
        const auto& candidate = candidates_[id];
        if (!candidate.is_offered()) continue;
        for (const auto& channel : channels) {
            if (!channel_matches(channel, candidate.offered.index->source().channel)) continue;
            for (const auto dependency : candidate.depends) {
                const auto target = specs_[dependency].name;
                if (!names_[target].follows_to.insert(channel).second) continue;
                reach_first(target);
            }
        }
    }
}

/// Where all that is asked for of a name is of another kind, the whole environment may become so:
/// an environment has one BLAS, and what is linked with one MPI does not go with another.
void Universe::let_kind_change(NameId name) {
    if (!is_asked_in_another_build(name)) return;
    const auto specs = said_of(name);
    const auto was = former(name);
    const auto before = was ? kind_of(was->record) : Kind();
    std::array<bool, 2> is_other{true, true};
    bool has_any = false;
    for (auto id = names_[name].begin; id < names_[name].end; ++id) {
        const auto& candidate = candidates_[id];
        const auto is_met = [&](const MatchSpec* spec) { return candidate.offered.matches(*spec); };
        if (!candidate.is_offered() || !std::all_of(specs.begin(), specs.end(), is_met)) continue;
        const auto record = candidate.record();
        if (!record) continue;
        const auto kind = kind_of(*record);
        has_any = true;
        for (std::size_t i = 0; i < kind.size(); ++i)
            is_other[i] = is_other[i] && !kind[i].empty() && kind[i] != before[i];
    }
    for (std::size_t i = 0; i < is_other.size(); ++i)
        may_change_[i] = may_change_[i] || (has_any && is_other[i]);
}

/// Of what was there, where nobody asks for another.
Kind Universe::kept_kind(NameId name) const {
    const auto was = former(name);
    auto kind = was ? kind_of(was->record) : Kind();
    for (std::size_t i = 0; i < kind.size(); ++i) {
        if (may_change_[i]) kind[i].clear();
    }
    return kind;
}

/// Where libtorch, of which each build of pytorch wants one, is of the kind that was: what is asked
/// for chooses the builds of its parts.
void Universe::let_parts_follow(NameId name) {
    if (!names_[name].follows_asked && !is_asked_in_another_build(name)) return;
    for (auto id = names_[name].begin; id < names_[name].end; ++id) {
        if (candidates_[id].is_installed) continue;
        for (const auto dependency : candidates_[id].depends) {
            const auto& spec = specs_[dependency];
            if (!spec.match.build || std::exchange(names_[spec.name].follows_asked, true)) continue;
            reach_first(spec.name);
        }
    }
}

/// Where a name has builds for the accelerator that is asked for, the others are none; versions
/// that know of no accelerator are, but not of what the user names. What is installed stays until
/// somebody asks for a change.
void Universe::leave_out_accelerators(NameId name) {
    if (!is_bound_to_accelerator(name)) return;
    const auto wanted = *preferred_accelerator(name);
    const auto begin = candidates_.begin() + names_[name].begin;
    const bool is_named = is_requested(name);
    bool has_any = false;
    std::vector<VersionId> with_wanted;
    for (auto candidate = begin; candidate != candidates_.end(); ++candidate) {
        has_any = has_any || candidate->accelerator != Accelerator::None ||
                  (is_named && candidate->says_accelerator && wanted != Accelerator::None);
        if (candidate->accelerator == wanted) with_wanted.push_back(candidate->version);
    }
    if (!has_any || (with_wanted.empty() && !is_named && wanted != Accelerator::None)) return;
    const bool may_change = problem_->request.accelerators.is_asked(names_[name].text);
    leave_out(name, [&](const Candidate& candidate) -> std::optional<LeftOut::Why> {
        const bool is_neutral =
            !candidate.says_accelerator && !is_named &&
            std::find(with_wanted.begin(), with_wanted.end(), candidate.version) ==
                with_wanted.end();
        if (candidate.accelerator == wanted || is_neutral ||
            (candidate.is_installed && !may_change))
            return std::nullopt;
        return LeftOut::Why::Accelerator;
    });
}

}  // namespace gpkg::solver
