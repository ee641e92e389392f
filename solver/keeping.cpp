#include "solver/keeping.hpp"

#include "libcore/hardware/variant_columns.hpp"
#include "libcore/spec/names.hpp"

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

/// A mirror of a channel is the same.
bool is_same_channel(std::string_view a, std::string_view b) {
    return a == b || channel_name(a) == channel_name(b);
}

bool differ(const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && a != b;
}

}  // namespace

bool speaks_of_builds(const MatchSpec& spec) {
    return spec.build || spec.build_number || spec.fn || spec.url || spec.md5 || spec.sha256 ||
           !spec.flags.empty() || !spec.track_features.empty();
}

Kind kind_of(const PackageRecord& record) {
    auto columns = variant_columns(record);
    return {std::move(columns.blas), std::move(columns.mpi)};
}

Keeping::Keeping(const Request& request)
    : accelerators_(request.accelerators),
      frees_accelerators_(!request.accelerators.asked_packages.empty()) {
    for (const auto& record : request.installed) names_[record.name].was = &record;
    for (const auto& record : request.gone) {
        auto& about = names_[record.name];
        if (about.was != nullptr) continue;
        about.was = &record;
        about.is_gone = true;
    }
    if (names_.empty()) return;
    const auto add = [&](const MatchSpec& spec) {
        auto& about = names_[spec.name];
        about.specs.push_back(&spec);
        free_what_it_asks(spec, about.was);
    };
    for (const auto& spec : request.specs) add(spec);
    for (const auto& constraint : request.constraints) {
        if (constraint.spec.has_one_name()) add(constraint.spec);
    }
}

/// "pytorch=2.10=*cuda*", "conda-forge::pytorch", if the installed one is another build, or from
/// another channel.
void Keeping::free_what_it_asks(const MatchSpec& spec, const PackageRecord* was) {
    if (spec.channel && was != nullptr && !channel_matches(*spec.channel, was->channel))
        freed_channels_.insert(*spec.channel);
    if (!spec.build || (was != nullptr && spec.matches(*was))) return;
    if (accelerator_of_build(spec.build->text())) frees_accelerators_ = true;
    PackageRecord build;
    build.name = spec.name;
    build.build = spec.build->text();
    std::ranges::replace(build.build, '*', '_');
    const auto kind = kind_of(build);
    for (std::size_t i = 0; i < kind.size(); ++i)
        frees_kind_[i] = frees_kind_[i] || !kind[i].empty();
}

const Keeping::About* Keeping::about(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
}

std::optional<Former> Keeping::former(const std::string& name) const {
    const auto* about = this->about(name);
    if (about == nullptr || about->was == nullptr) return std::nullopt;
    return Former{*about->was, about->is_gone};
}

/// Whether a channel has it, and all specs on its name match.
bool Keeping::is_as_asked(const Candidate& candidate, const About& about) {
    return candidate.is_offered() &&
           std::all_of(about.specs.begin(), about.specs.end(), [&](const MatchSpec* spec) {
               return candidate.offered.matches(*spec);
           });
}

/// Unless the request names another channel for the package.
bool Keeping::keeps_channel(const About& about) {
    const auto names_channel = [](const MatchSpec* spec) { return spec->channel.has_value(); };
    return about.was != nullptr && !about.was->channel.empty() &&
           std::none_of(about.specs.begin(), about.specs.end(), names_channel);
}

bool Keeping::may_come_of(const std::string& name, std::string_view channel) const {
    const auto is_it = [&](const std::string& one) { return channel_matches(one, channel); };
    if (std::ranges::any_of(freed_channels_, is_it)) return true;
    const auto* about = this->about(name);
    return about != nullptr && keeps_channel(*about) &&
           is_same_channel(channel, about->was->channel);
}

std::optional<Keeping::Kept> Keeping::kept_of(const std::string& name,
                                              std::span<const Candidate> candidates) const {
    const auto* about = this->about(name);
    if (about == nullptr || about->was == nullptr) return std::nullopt;
    const auto& specs = about->specs;
    Kept kept;
    kept.keeping = this;
    kept.name = &name;
    kept.keeps_channel = keeps_channel(*about);
    const bool is_build_asked = std::any_of(
        specs.begin(), specs.end(), [](const auto* spec) { return speaks_of_builds(*spec); });
    if (!frees_accelerators_ && !accelerators_.is_bound(name) && !accelerators_.is_asked(name)) {
        const auto was = accelerator_of(*about->was).accelerator;
        // "pytorch=*=*generic*" does not change it if there are such builds for each.
        const bool is_kept =
            !is_build_asked || std::ranges::any_of(candidates, [&](const Candidate& candidate) {
                return candidate.accelerator == was && is_as_asked(candidate, *about);
            });
        if (is_kept) kept.accelerator = was;
    }
    if (is_build_asked) return kept;
    kept.kind = kind_of(*about->was);
    for (std::size_t i = 0; i < kept.kind.size(); ++i) {
        if (frees_kind_[i]) kept.kind[i].clear();
    }
    return kept;
}

std::optional<LeftOut::Why> Keeping::Kept::why_not(const Candidate& candidate) const {
    if (candidate.is_installed || !candidate.is_offered()) return std::nullopt;
    if (keeps_channel && !keeping->may_come_of(*name, candidate.offered.channel()))
        return LeftOut::Why::OtherChannel;
    if (accelerator && candidate.accelerator != *accelerator) return LeftOut::Why::OtherAccelerator;
    if (kind[0].empty() && kind[1].empty()) return std::nullopt;
    const auto record = candidate.record();
    const auto own = record ? kind_of(*record) : Kind();
    if (differ(own[0], kind[0])) return LeftOut::Why::OtherBlas;
    if (differ(own[1], kind[1])) return LeftOut::Why::OtherMpi;
    return std::nullopt;
}

}  // namespace gpkg::solver
