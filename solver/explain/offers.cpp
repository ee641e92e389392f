#include "solver/explain/offers.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/record_version.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg::solver {
namespace {

/// Installed and virtual packages count as part of every channel.
bool is_of(const Candidate& candidate, const std::optional<std::string>& channel) {
    return !channel || !candidate.is_offered() ||
           channel_matches(*channel, candidate.offered.channel());
}

class Offer {
public:
    Offer(const Universe& universe,
          NameId name,
          const std::vector<SpecId>& asked,
          ExplanationLine& line)
        : universe_(universe),
          id_(name),
          name_(universe.names()[name]),
          asked_(asked),
          line_(line) {}

    void tell() {
        if (name_.is_virtual) {
            line_.machine = universe_.problem().machine;
            for (auto id = name_.begin; id < name_.end; ++id) {
                line_.given = *universe_.candidates()[id].given;
                line_.versions.emplace_back(value_told(*line_.given));
            }
            return;
        }
        tell_candidates();
        tell_left_out();
        if (name_.begin != name_.end || !name_.left_out.empty()) return;
        line_.channels = channel_titles(universe_.problem());
        for (const auto& index : universe_.problem().indexes) {
            const auto& subdir = index->source().subdir;
            if (std::find(line_.subdirs.begin(), line_.subdirs.end(), subdir) ==
                line_.subdirs.end())
                line_.subdirs.push_back(subdir);
        }
    }

private:
    /// Records that cannot be used for one reason.
    struct Reason {
        std::vector<ChannelRecord> records;
        std::string lacked_build;  ///< where they are for another accelerator
    };

    /// The versions, or where one that is asked for is there, those and their builds.
    void tell_candidates() {
        std::map<Version, std::set<std::string>> builds;
        std::set<Version> fitting;
        std::set<std::string> flags;
        for (const auto& candidate : universe_.candidates_of(id_)) {
            if (is_elsewhere(candidate)) continue;
            const auto& version = universe_.version(candidate.version);
            builds[version].emplace(candidate.build());
            if (!fits(version)) continue;
            fitting.insert(version);
            for (auto& flag : candidate.flags()) flags.insert(std::move(flag));
        }
        if (!fitting.empty() && asks_for_flags())
            line_.other_flags.emplace(flags.begin(), flags.end());
        for (auto entry = builds.rbegin(); entry != builds.rend(); ++entry) {
            const auto& [version, some] = *entry;
            if (!fitting.empty() && !fitting.contains(version)) continue;
            line_.versions.push_back(version.to_string());
            if (!fitting.empty())
                line_.other_builds.insert(line_.other_builds.end(), some.begin(), some.end());
        }
    }

    /// In a channel that none of the specs means.
    bool is_elsewhere(const Candidate& candidate) const {
        return !asked_.empty() && std::none_of(asked_.begin(), asked_.end(), [&](SpecId id) {
            return is_of(candidate, universe_.specs()[id].match.channel);
        });
    }

    bool asks_for_flags() const {
        return std::any_of(asked_.begin(), asked_.end(), [&](SpecId id) {
            return !universe_.specs()[id].match.flags.empty();
        });
    }

    bool fits(const Version& version) const {
        return std::any_of(asked_.begin(), asked_.end(), [&](SpecId id) {
            const auto& match = universe_.specs()[id].match;
            return !match.version || match.version->matches(version);
        });
    }

    /// Left-out records that would match a spec; all of them if none would and the name has no
    /// versions.
    void tell_left_out() {
        std::map<std::string, Reason> all;
        std::map<std::string, Reason> relevant;
        const auto add =
            [&](const ChannelRecord& record, const Reason& reason, const std::string& why) {
                all.try_emplace(why, reason).first->second.records.push_back(record);
                if (would_match(record))
                    relevant.try_emplace(why, reason).first->second.records.push_back(record);
            };
        for (const auto& out : name_.left_out) {
            const bool is_other = out.why == LeftOut::Why::Accelerator;
            add(out.record,
                {{}, is_other ? requested_build(universe_, id_) : ""},
                left_out_text(universe_, id_, out));
        }
        for (const auto& candidate : universe_.candidates_of(id_)) {
            if (is_elsewhere(candidate))
                add(candidate.offered,
                    {},
                    fmt::format("in {}, not in the requested channel",
                                channel_title(universe_.problem(), candidate.offered.channel())));
        }
        const bool is_all_told = relevant.empty() && line_.versions.empty();
        for (const auto& [why, reason] : is_all_told ? all : relevant)
            line_.left_out.push_back({why, versions(reason.records), reason.lacked_build});
    }

    /// The channel is left aside: a record of another channel is left out for just that.
    bool would_match(const ChannelRecord& record) const {
        return std::any_of(asked_.begin(), asked_.end(), [&](SpecId id) {
            auto match = universe_.specs()[id].match;
            match.channel.reset();
            return record.matches(match);
        });
    }

    /// The newest first.
    static std::vector<std::string> versions(const std::vector<ChannelRecord>& some) {
        std::map<Version, std::string> known;
        std::vector<std::string> items;
        for (const auto& record : some) {
            const std::string text(record.version());
            if (auto version = Version::parse(text)) {
                known.emplace(*std::move(version), text);
            } else if (std::find(items.begin(), items.end(), text) == items.end()) {
                items.push_back(text);
            }
        }
        for (const auto& [version, text] : known) items.insert(items.begin(), text);
        return items;
    }

    const Universe& universe_;
    NameId id_;
    const Name& name_;
    const std::vector<SpecId>& asked_;
    ExplanationLine& line_;
};

}  // namespace

void tell_offer(const Universe& universe,
                NameId name,
                const std::vector<SpecId>& asked,
                ExplanationLine& line) {
    Offer(universe, name, asked, line).tell();
}

std::vector<Version> versions_of(const Universe& universe,
                                 NameId name,
                                 const std::optional<std::string>& channel) {
    std::set<Version> versions;
    for (const auto& candidate : universe.candidates_of(name)) {
        if (is_of(candidate, channel)) versions.insert(universe.version(candidate.version));
    }
    return {versions.rbegin(), versions.rend()};
}

}  // namespace gpkg::solver
