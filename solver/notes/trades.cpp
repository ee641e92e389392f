#include "solver/notes/trades.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "solver/version_dates.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {
namespace {

constexpr std::size_t kMostTold = 3;  // each costs a solve

std::string version_text(const Universe& universe, CandidateId id) {
    return universe.version(universe.candidates()[id].version).to_string();
}

/// "scikit-image would be 0.20.0 (988 days older)"
std::string price(const Universe& universe, CandidateId id, const Version& then) {
    const auto& candidate = universe.candidates()[id];
    const auto& name = universe.names()[candidate.name];
    const auto ages = version_ages(universe, candidate.name);
    std::int64_t older = 0;
    for (auto one = name.begin; one < name.end; ++one) {
        if (universe.version(universe.candidates()[one].version) == then)
            older = ages[one - name.begin] - ages[id - name.begin];
    }
    return fmt::format("{} would be {} ({} older)", name.text, then.to_string(), age_text(older));
}

}  // namespace

std::vector<std::string> notes_on_trades(const Universe& universe,
                                         const std::vector<CandidateId>& chosen,
                                         const std::vector<Trade>& trades,
                                         const WithSpec& with_spec) {
    std::vector<std::string> notes;
    for (const auto& trade : trades) {
        const auto& name = universe.names()[trade.name].text;
        // Of parts of a toolkit the version tells more than the age.
        if ((trade.age <= kNoticeableAge && !is_vendor_part(name)) || notes.size() == kMostTold)
            continue;
        const auto spec = fmt::format("{}=={}", name, version_text(universe, trade.possible));
        const auto brought = with_spec(name, spec);
        if (!brought) continue;
        std::string own;
        std::vector<std::string> prices;
        for (const auto id : chosen) {
            const auto& candidate = universe.candidates()[id];
            if (candidate.name == trade.name) own = version_text(universe, id);
            const auto then = brought->requested.find(universe.names()[candidate.name].text);
            if (then == brought->requested.end()) continue;
            const auto& [version, accelerator] = then->second;
            if (version < universe.version(candidate.version))
                prices.push_back(price(universe, id, version));
            else if (accelerator != candidate.accelerator && accelerator == Accelerator::None)
                prices.push_back(
                    fmt::format("{} would be a CPU build", universe.names()[candidate.name].text));
        }
        if (prices.empty()) continue;
        notes.push_back(fmt::format(
            "{} {} is chosen instead of {}{}, with which {}; {} selects that",
            name,
            own,
            version_text(universe, trade.possible),
            trade.age > kNoticeableAge ? fmt::format(" ({} newer)", age_text(trade.age)) : "",
            join_some(prices, "and"),
            spec));
    }
    return notes;
}

}  // namespace gpkg::solver
