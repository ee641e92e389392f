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

/// Goes with each: of no kind, or "generic", as builds of pytorch call it.
bool is_generic(std::string_view kind) { return kind.empty() || kind == "generic"; }

bool differ(const Kind& a, const Kind& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!a[i].empty() && !b[i].empty() && a[i] != b[i]) return true;
    }
    return false;
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

Keeping::Keeping(const Request& request) : accelerators_(request.accelerators) {
    for (const auto& record : request.installed) names_[record.name].was = &record;
    for (const auto& record : request.gone) {
        auto& about = names_[record.name];
        if (about.was != nullptr) continue;
        about.was = &record;
        about.is_gone = true;
    }
    has_former_ = !names_.empty();
    for (const auto& spec : request.specs) names_[spec.name].specs.push_back(&spec);
    for (const auto& constraint : request.constraints) {
        if (constraint.spec.has_one_name())
            names_[constraint.spec.name].specs.push_back(&constraint.spec);
    }
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

/// "pytorch=2.10=*cuda*" where what is installed is another build.
bool Keeping::is_in_another_build(const std::string& name) const {
    const auto* about = this->about(name);
    if (about == nullptr) return false;
    return std::any_of(about->specs.begin(), about->specs.end(), [&](const MatchSpec* spec) {
        return speaks_of_builds(*spec) && (about->was == nullptr || !spec->matches(*about->was));
    });
}

/// "conda-forge" of "conda-forge::pytorch", where what is installed is of another.
std::set<std::string> Keeping::other_channels(const About& about) {
    std::set<std::string> channels;
    for (const auto* spec : about.specs) {
        if (spec->channel && about.was != nullptr &&
            !channel_matches(*spec->channel, about.was->channel))
            channels.insert(*spec->channel);
    }
    return channels;
}

/// Whether a channel has it, and all specs of its name take it.
bool Keeping::is_as_asked(const Candidate& candidate, const About& about) {
    return candidate.is_offered() &&
           std::all_of(about.specs.begin(), about.specs.end(), [&](const MatchSpec* spec) {
               return candidate.offered.matches(*spec);
           });
}

/// Where nobody asks for the package from another.
bool Keeping::keeps_channel(const About& about) {
    const auto names_channel = [](const MatchSpec* spec) { return spec->channel.has_value(); };
    return about.was != nullptr && !about.was->channel.empty() &&
           std::none_of(about.specs.begin(), about.specs.end(), names_channel);
}

bool Keeping::may_come_of(const std::string& name, std::string_view channel) const {
    const auto* about = this->about(name);
    if (about == nullptr) return false;
    if (keeps_channel(*about) && is_same_channel(channel, about->was->channel)) return true;
    const auto& followed = about->follows_to;
    return std::any_of(followed.begin(), followed.end(), [&](const std::string& one) {
        return channel_matches(one, channel);
    });
}

std::optional<Keeping::Kept> Keeping::kept_of(const std::string& name) const {
    const auto* about = this->about(name);
    if (about == nullptr || about->was == nullptr) return std::nullopt;
    const auto& specs = about->specs;
    Kept kept;
    kept.keeping = this;
    kept.name = &name;
    kept.keeps_channel = keeps_channel(*about);
    if (about->follows_build) return kept;
    const bool is_build_asked = std::any_of(
        specs.begin(), specs.end(), [](const auto* spec) { return speaks_of_builds(*spec); });
    if (!accelerators_.is_bound(name) && !accelerators_.is_asked(name)) {
        auto& was = is_build_asked ? kept.accelerator_if_any : kept.accelerator;
        was = accelerator_of(*about->was).accelerator;
    }
    if (is_build_asked) return kept;
    kept.kind = kind_of(*about->was);
    for (std::size_t i = 0; i < kept.kind.size(); ++i) {
        if (may_change_[i]) kept.kind[i].clear();
    }
    return kept;
}

/// "pytorch=*=*generic*" asks for no other accelerator, where there are such builds for each.
void Keeping::Kept::settle(std::span<const Candidate> candidates) {
    if (!accelerator_if_any) return;
    const auto& about = *keeping->about(*name);
    const bool is_any =
        std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return candidate.accelerator == *accelerator_if_any && is_as_asked(candidate, about);
        });
    if (is_any) accelerator = accelerator_if_any;
}

std::optional<LeftOut::Why> Keeping::Kept::why_not(const Candidate& candidate) const {
    if (candidate.is_installed || !candidate.is_offered()) return std::nullopt;
    if (keeps_channel && !keeping->may_come_of(*name, candidate.offered.index->source().channel))
        return LeftOut::Why::OtherChannel;
    if (accelerator && candidate.accelerator != *accelerator) return LeftOut::Why::OtherAccelerator;
    if (kind[0].empty() && kind[1].empty()) return std::nullopt;
    const auto other = candidate.record();
    return other && differ(kind, kind_of(*other)) ? std::optional(LeftOut::Why::OtherVariant)
                                                  : std::nullopt;
}

bool Keeping::leads(const std::string& name) const {
    if (accelerators_.of_package.contains(name)) return true;
    const auto* about = this->about(name);
    return about != nullptr && (about->follows_build || !about->follows_to.empty() ||
                                is_in_another_build(name) || !other_channels(*about).empty());
}

std::optional<Keeping> Keeping::with_followers(const std::vector<Leader>& leaders,
                                               const std::vector<Spec>& specs,
                                               const std::vector<Name>& names) const {
    std::optional<Keeping> led;
    for (const auto& leader : leaders) {
        if (!led) led = *this;
        lead(leader, specs, names, *led);
    }
    if (!led || !std::exchange(led->is_led_, false)) return std::nullopt;
    return led;
}

void Keeping::lead(const Leader& leader,
                   const std::vector<Spec>& specs,
                   const std::vector<Name>& names,
                   Keeping& led) const {
    static const About nothing;
    const auto& [name, candidates] = leader;
    const auto* said = this->about(*name);
    const auto& about = said == nullptr ? nothing : *said;
    const bool is_other_build = is_in_another_build(*name);
    const bool is_other_accelerator =
        accelerators_.is_asked(*name) && accelerators_.is_bound(*name);
    if (has_former_ && (is_other_build || is_other_accelerator)) lead_kind(about, candidates, led);
    const bool leads_build = about.follows_build || is_other_build;
    const bool has_accelerator = accelerators_.of_package.contains(*name);
    auto channels = about.follows_to;
    channels.merge(other_channels(about));
    for (const auto& candidate : candidates) {
        for (const auto dependency : candidate.depends) {
            const auto& spec = specs[dependency];
            const auto& part = names[spec.name].text;
            // Where libtorch, of which each build of pytorch wants one, is of the kind that was.
            if (leads_build && spec.match.build && !candidate.is_installed &&
                !std::exchange(led.names_[part].follows_build, true))
                led.is_led_ = true;
            if (has_accelerator) {
                const bool is_part =
                    spec.match.build && accelerator_of_build(spec.match.build->text());
                lead_accelerator(*name, part, is_part, led);
            }
            for (const auto& channel : channels) {
                if (candidate.is_offered() &&
                    channel_matches(channel, candidate.offered.index->source().channel) &&
                    led.names_[part].follows_to.insert(channel).second)
                    led.is_led_ = true;
            }
        }
    }
}

/// What is said of the other itself goes before. Where nothing is to be for a GPU but this, what it
/// needs may be.
void Keeping::lead_accelerator(const std::string& name,
                               const std::string& needed,
                               bool is_part,
                               Keeping& led) const {
    auto choice = accelerators_.of_package.at(name);
    if (!is_part) {
        const bool is_for_gpus = vendor_of(choice) || choice == AcceleratorChoice::Auto;
        if (!is_for_gpus || accelerators_.all != AcceleratorChoice::None) return;
        choice = AcceleratorChoice::Auto;
    }
    if (!led.accelerators_.of_package.try_emplace(needed, choice).second) return;
    led.is_led_ = true;
    if (is_part && accelerators_.asked_packages.contains(name))
        led.accelerators_.asked_packages.insert(needed);
}

/// What is installed is with; empty where nothing says it.
const Keeping::Kinds& Keeping::kinds_of_environment() const {
    if (kinds_of_environment_) return *kinds_of_environment_;
    auto& kinds = kinds_of_environment_.emplace();
    for (const auto& [name, about] : names_) {
        if (about.was == nullptr || about.is_gone) continue;
        const auto own = kind_of(*about.was);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (!is_generic(own[i])) kinds[i].insert(own[i]);
        }
    }
    return kinds;
}

/// Where all that is asked for of a name is of a kind that not everything is of, the whole
/// environment may become so: an environment has one BLAS, and what is linked with one MPI does not
/// go with another.
void Keeping::lead_kind(const About& about,
                        std::span<const Candidate> candidates,
                        Keeping& led) const {
    const auto& before = kinds_of_environment();
    const auto is_new = [&](std::size_t i, const std::string& kind) {
        return !is_generic(kind) && (before[i].size() != 1 || !before[i].contains(kind));
    };
    std::array<bool, 2> is_other{};
    bool is_first = true;
    for (const auto& candidate : candidates) {
        if (!is_as_asked(candidate, about)) continue;
        const auto record = candidate.record();
        if (!record) continue;
        const auto kind = kind_of(*record);
        for (std::size_t i = 0; i < kind.size(); ++i)
            is_other[i] = (is_first || is_other[i]) && is_new(i, kind[i]);
        is_first = false;
    }
    for (std::size_t i = 0; i < is_other.size(); ++i) {
        if (is_other[i] && !std::exchange(led.may_change_[i], true)) led.is_led_ = true;
    }
}

}  // namespace gpkg::solver
