#include "libcore/lock/class_needs.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg {
namespace {

/// A spec that is nothing but a range: ">=2.17,<3.0.a0", of which either end may be open.
struct Range {
    std::optional<Version> from;
    std::optional<Version> to;

    static std::optional<Range> of(const MatchSpec& spec) {
        MatchSpec rest;
        rest.name = spec.name;
        rest.version = spec.version;
        if (!(rest == spec)) return std::nullopt;
        Range range;
        if (!spec.version) return range;
        const auto text = spec.version->to_string();
        if (text.find_first_of("|()") != std::string::npos) return std::nullopt;
        for (const auto part : split(text, ',')) {
            const bool is_lower = part.starts_with(">=");
            const bool is_upper = part.starts_with('<') && !part.starts_with("<=");
            if (!is_lower && !is_upper) return std::nullopt;
            auto version = Version::parse(part.substr(is_lower ? 2 : 1));
            if (!version) return std::nullopt;
            Range part_range;
            (is_lower ? part_range.from : part_range.to) = *std::move(version);
            range.take(part_range);
        }
        return range;
    }

    /// Both: the higher start and the lower end.
    void take(const Range& other) {
        if (other.from && (!from || *from < *other.from)) from = other.from;
        if (other.to && (!to || *other.to < *to)) to = other.to;
    }

    std::string text(const std::string& name) const {
        std::vector<std::string> parts;
        if (from) parts.push_back(">=" + from->to_string());
        if (to) parts.push_back("<" + to->to_string());
        return parts.empty() ? name : fmt::format("{} {}", name, fmt::join(parts, ","));
    }
};

/// What is asked of one virtual package.
struct Need {
    Range range;
    std::set<std::string> others;  ///< specs that are no ranges, as they are
};

std::optional<Range> range_of(const std::string& text) {
    const auto spec = MatchSpec::parse(text);
    return spec ? Range::of(*spec) : std::nullopt;
}

}  // namespace

bool demand(const std::vector<std::string>& needs, const std::string& asked) {
    const auto spec = MatchSpec::parse(asked);
    const auto wanted = range_of(asked);
    for (const auto& need : needs) {
        if (name_in_spec(need) != name_in_spec(asked)) continue;
        // "__archspec=1=zen4" is typed, and "__archspec 1 zen4" is written.
        if (const auto same = MatchSpec::parse(need); spec && same && *same == *spec) return true;
        auto range = range_of(need);
        if (!wanted || !range) continue;
        const auto own = range->text("");
        range->take(*wanted);
        if (range->text("") == own) return true;
    }
    return false;
}

std::vector<std::string> least_needs(const std::vector<PackageRecord>& records,
                                     const std::vector<std::string>& asked) {
    std::map<std::string, Need> needs;
    const auto take = [&](const std::string& text, bool only_known) {
        if (!text.starts_with("__")) return;
        const auto name = name_in_spec(text);
        if (only_known && !needs.contains(name)) return;
        const auto spec = MatchSpec::parse(text);
        // What is asked on a condition, a machine that does not meet it need not have.
        if (spec && spec->when) return;
        const auto range = spec ? Range::of(*spec) : std::nullopt;
        if (range) {
            needs[name].range.take(*range);
        } else {
            needs[name].others.insert(text);
        }
    };
    for (const auto& text : asked) take(text, false);
    for (const auto& record : records) {
        for (const auto& text : record.depends) take(text, false);
    }
    // What restricts a package of the machine counts where the machine has to have it.
    for (const auto& record : records) {
        for (const auto& text : record.constrains) take(text, true);
    }
    std::vector<std::string> texts;
    for (const auto& [name, need] : needs) {
        const bool is_bare = !need.range.from && !need.range.to;
        if (!is_bare || need.others.empty()) texts.push_back(need.range.text(name));
        texts.insert(texts.end(), need.others.begin(), need.others.end());
    }
    return texts;
}

}  // namespace gpkg
