#include "solver/unmatched.hpp"

#include "libcore/base/text.hpp"
#include "solver/wording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace gpkg::solver {
namespace {

class Unmatched {
public:
    Unmatched(const Universe& universe,
              const std::vector<std::uint32_t>& ranks,
              const Spec& spec,
              Explanation& explanation)
        : universe_(universe),
          ranks_(ranks),
          spec_(spec),
          name_(universe.name_of(spec)),
          text_(written(spec.match)),
          explanation_(explanation) {}

    void say(int depth) {
        if (name_.is_virtual) {
            say_machine(depth);
        } else if (name_.begin != name_.end) {
            say(depth, fmt::format("{}: no such build; there is {}", text_, offers()));
            say_left_out(depth + 1);
        } else if (!name_.left_out.empty()) {
            say(depth, fmt::format("{}: no build of {} can be used", text_, name_.text));
            say_left_out(depth + 1);
        } else {
            say_unknown(depth);
        }
    }

private:
    void say(int depth, std::string text) {
        explanation_.lines.push_back({depth, std::move(text)});
    }

    void hint(std::string text) {
        auto& hints = explanation_.hints;
        if (std::find(hints.begin(), hints.end(), text) == hints.end())
            hints.push_back(std::move(text));
    }

    void say_machine(int depth) {
        const auto& machine = universe_.problem().machine;
        if (name_.begin == name_.end) {
            say(depth, fmt::format("{}: {} has no {}", text_, machine, name_.text));
        } else {
            const auto& candidate = universe_.candidates()[name_.begin];
            say(depth,
                fmt::format("{}: {} has {} {}{}",
                            text_,
                            machine,
                            name_.text,
                            universe_.version(candidate.version).to_string(),
                            candidate.build() == "0" ? "" : " " + std::string(candidate.build())));
        }
        static const std::map<std::string_view, std::string_view> overrides{
            {"__cuda", "CONDA_OVERRIDE_CUDA"},
            {"__cuda_arch", "CONDA_OVERRIDE_CUDA_ARCH"},
            {"__glibc", "CONDA_OVERRIDE_GLIBC"},
            {"__archspec", "CONDA_OVERRIDE_ARCHSPEC"},
            {"__amdgpu", "CONDA_OVERRIDE_AMDGPU"},
            {"__amdgpu_arch", "CONDA_OVERRIDE_AMDGPU_ARCH"},
            {"__rocm", "CONDA_OVERRIDE_ROCM"}};
        const auto found = overrides.find(name_.text);
        if (found == overrides.end()) return;
        hint(fmt::format("to decide for a machine that has it, set {}, e.g. {}={}",
                         found->second,
                         found->second,
                         example_value()));
    }

    std::string example_value() const {
        if (name_.text == "__archspec")
            return spec_.match.build ? spec_.match.build->text() : "x86_64_v3";
        const auto text = spec_.match.version ? spec_.match.version->to_string() : "";
        const auto first = text.find_first_of("0123456789");
        if (first == std::string::npos) return name_.text == "__cuda" ? "12.8" : "1";
        return text.substr(first, text.find_first_not_of("0123456789.", first) - first);
    }

    /// "numpy 2.2.1, 2.2.0, 2.1.3 and 40 more": versions, or builds where the version is there.
    std::string offers() const {
        std::vector<CandidateId> ids(name_.end - name_.begin);
        std::iota(ids.begin(), ids.end(), name_.begin);
        std::sort(ids.begin(), ids.end(), [&](auto a, auto b) { return ranks_[a] < ranks_[b]; });
        const auto version_fits = [&](CandidateId id) {
            return spec_.match.version && spec_.match.version->matches(universe_.version(
                                              universe_.candidates()[id].version));
        };
        const bool builds = std::any_of(ids.begin(), ids.end(), version_fits);
        std::vector<std::string> items;
        for (const auto id : ids) {
            if (builds && !version_fits(id)) continue;
            auto item = universe_.version(universe_.candidates()[id].version).to_string();
            if (builds) item += " " + std::string(universe_.candidates()[id].build());
            if (std::find(items.begin(), items.end(), item) == items.end())
                items.push_back(std::move(item));
        }
        return name_.text + " " + join_some(items, "and");
    }

    /// What would have met the spec, or where nothing would and there is nothing else either, all
    /// there is.
    void say_left_out(int depth) {
        std::vector<LeftOut> relevant;
        std::copy_if(name_.left_out.begin(),
                     name_.left_out.end(),
                     std::back_inserter(relevant),
                     [&](const LeftOut& out) { return would_match(out); });
        if (relevant.empty() && name_.begin == name_.end) relevant = name_.left_out;

        std::map<LeftOut::Why, std::vector<LeftOut>> by_reason;
        for (const auto& out : relevant) by_reason[out.why].push_back(out);
        for (const auto& [why, some] : by_reason) {
            if (why == LeftOut::Why::Hidden) {
                say_hidden(some, depth);
            } else {
                say(depth, fmt::format("{} {}", versions(some), reason(why)));
            }
        }
    }

    /// The channel is left aside: a record of another channel is left out for just that.
    bool would_match(const LeftOut& out) const {
        auto match = spec_.match;
        match.channel.reset();
        return out.record.matches(match);
    }

    static std::string reason(LeftOut::Why why) {
        switch (why) {
        case LeftOut::Why::OtherChannel: return "left out: not in the channel asked for";
        case LeftOut::Why::Newer: return "left out: newer than --exclude-newer allows";
        case LeftOut::Why::Conditional:
            return "left out: this gpkg does not solve `when` and `extras` of dependencies";
        default: return "left out: a version or a dependency cannot be read";
        }
    }

    /// "p 2.0, 1.9 and 1.8", the newest first.
    std::string versions(const std::vector<LeftOut>& some) const {
        std::map<Version, std::string> known;
        std::vector<std::string> items;
        for (const auto& out : some) {
            const std::string text(out.record.version());
            if (auto version = Version::parse(text)) {
                known.emplace(*std::move(version), text);
            } else if (std::find(items.begin(), items.end(), text) == items.end()) {
                items.push_back(text);
            }
        }
        for (const auto& [version, text] : known) items.insert(items.begin(), text);
        return name_.text + " " + join_some(items, "and");
    }

    void say_hidden(const std::vector<LeftOut>& hidden, int depth) {
        const auto& problem = universe_.problem();
        const auto& channel = hidden.front().record.index->source().channel;
        std::vector<LeftOut> same;
        std::copy_if(hidden.begin(), hidden.end(), std::back_inserter(same), [&](const auto& out) {
            return out.record.index->source().channel == channel;
        });
        say(depth,
            fmt::format("{} has {}, but {}, of higher priority, has {} too",
                        channel_text(problem, channel),
                        versions(same),
                        hiding_channel(),
                        name_.text));
    }

    /// The highest channel that is asked for the name.
    std::string hiding_channel() const {
        const auto& problem = universe_.problem();
        for (const auto& index : problem.indexes) {
            const auto is_elsewhere = [&](const LeftOut& out) {
                return out.why == LeftOut::Why::OtherChannel && out.record.index == index.get();
            };
            if (index->has(name_.text) &&
                std::none_of(name_.left_out.begin(), name_.left_out.end(), is_elsewhere))
                return channel_text(problem, index->source().channel);
        }
        return {};
    }

    void say_unknown(int depth) {
        const auto& problem = universe_.problem();
        std::vector<std::string> names;
        std::vector<std::string> subdirs;
        for (const auto& index : problem.indexes) {
            for (const auto known : index->names()) names.emplace_back(known);
            const auto& subdir = index->source().subdir;
            if (std::find(subdirs.begin(), subdirs.end(), subdir) == subdirs.end())
                subdirs.push_back(subdir);
        }
        say(depth,
            fmt::format("{}: no package of this name in {} ({})",
                        text_,
                        join_some(channel_texts(problem), "or"),
                        join_some(subdirs, "and")));
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        if (const auto near = near_names(name_.text, names); depth == 0 && !near.empty())
            hint(fmt::format("did you mean {}?", join_or(near)));
    }

    const Universe& universe_;
    const std::vector<std::uint32_t>& ranks_;
    const Spec& spec_;
    const Name& name_;
    std::string text_;
    Explanation& explanation_;
};

}  // namespace

void say_unmatched(const Universe& universe,
                   const std::vector<std::uint32_t>& ranks,
                   SpecId spec,
                   int depth,
                   Explanation& explanation) {
    Unmatched(universe, ranks, universe.specs()[spec], explanation).say(depth);
}

}  // namespace gpkg::solver
