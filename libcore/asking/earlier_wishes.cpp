#include "libcore/asking/earlier_wishes.hpp"

#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

namespace gpkg {

std::vector<MatchSpec> wishes_in(const std::vector<HistoryEntry>& history) {
    std::vector<MatchSpec> specs;
    for (const auto& text : requested_specs(history)) {
        if (auto spec = MatchSpec::parse(text)) specs.push_back(*std::move(spec));
    }
    return specs;
}

std::vector<MatchSpec> wishes_of(const fs::path& path) {
    std::vector<MatchSpec> specs;
    const auto prefix = Prefix::open(path);
    if (!prefix) return specs;
    const auto history = prefix->history();
    if (!history) return specs;
    return wishes_in(*history);
}

MatchSpec as_asked_before(const std::string& name, const std::vector<MatchSpec>& wishes) {
    const auto wish = std::ranges::find(wishes, name, &MatchSpec::name);
    if (wish != wishes.end()) return *wish;
    MatchSpec bare;
    bare.name = name;
    return bare;
}

std::vector<MatchSpec> leaves_of(const std::vector<PrefixRecord>& records) {
    std::set<std::string, std::less<>> needed;
    for (const auto& record : records) {
        for (const auto& depend : record.package.depends) needed.insert(name_in_spec(depend));
    }
    std::vector<MatchSpec> leaves;
    for (const auto& record : records) {
        if (!needed.contains(record.name())) leaves.emplace_back().name = record.name();
    }
    return leaves;
}

}  // namespace gpkg
