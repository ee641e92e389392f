#include "libcore/lock/class_needs.hpp"

#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/version_range.hpp"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

namespace gpkg {
namespace {

/// What is asked of one virtual package.
struct Need {
    VersionRange range;
    std::set<std::string> others;  ///< specs that are no ranges, as they are
};

}  // namespace

bool demand(const std::vector<std::string>& needs, const std::string& asked) {
    const auto spec = MatchSpec::parse(asked);
    if (!spec) return false;
    const auto wanted = VersionRange::of(*spec);
    for (const auto& text : needs) {
        const auto need = MatchSpec::parse(text);
        if (!need || need->name != spec->name) continue;
        // "__archspec=1=zen4" is typed, and "__archspec 1 zen4" is written.
        if (*need == *spec) return true;
        auto range = VersionRange::of(*need);
        if (!wanted || !range) continue;
        const auto own = range->to_string();
        range->narrow_to(*wanted);
        if (range->to_string() == own) return true;
    }
    return false;
}

std::vector<std::string> least_needs(const std::vector<PackageRecord>& records,
                                     const std::vector<std::string>& asked,
                                     RunConstraints constraints) {
    std::map<std::string, Need> needs;
    const auto take = [&](const std::string& text, bool only_known) {
        if (!text.starts_with("__")) return;
        const auto name = name_in_spec(text);
        if (only_known && !needs.contains(name)) return;
        const auto spec = MatchSpec::parse(text);
        // What is asked on a condition, a machine that does not meet it need not have.
        if (spec && spec->when) return;
        const auto range = spec ? VersionRange::of(*spec) : std::nullopt;
        if (range) {
            needs[name].range.narrow_to(*range);
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
        if (constraints == RunConstraints::Ignore) break;
        for (const auto& text : record.constrains) take(text, true);
    }
    std::vector<std::string> texts;
    for (const auto& [name, need] : needs) {
        const auto range = need.range.to_string();
        if (range.empty() && need.others.empty()) texts.push_back(name);
        if (!range.empty()) texts.push_back(fmt::format("{} {}", name, range));
        texts.insert(texts.end(), need.others.begin(), need.others.end());
    }
    return texts;
}

}  // namespace gpkg
