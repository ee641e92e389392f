#include "libcore/index/dependency_names.hpp"

#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// Reads the texts that a dependency may name packages by; most need no parser.
class NameCollector {
public:
    explicit NameCollector(NameSet& names) : names_(names) {}

    void add(std::string_view spec) {
        const auto end = std::min(spec.find_first_not_of(kNameCharacters), spec.size());
        const bool is_plain = end == spec.size() || kEndsName.find(spec[end]) != std::string::npos;
        if (is_plain && end > 0) keep(spec.substr(0, end));
        if (!is_plain || spec.find("when") != std::string_view::npos) add_parsed(spec);
    }

private:
    static constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
    static constexpr std::string_view kEndsName = " <>=!~[";

    void keep(std::string_view name) {
        scratch_ = name;
        if (names_.find(scratch_) == names_.end()) names_.insert(scratch_);
    }
    void add_parsed(std::string_view text) {
        const auto spec = MatchSpec::parse(text);
        if (!spec) return;  // the solver will tell
        if (spec->has_one_name()) keep(spec->name);
        if (!spec->when) return;
        if (const auto condition = Condition::parse(*spec->when)) add_condition(*condition);
    }
    void add_condition(const Condition& condition) {
        if (condition.spec && condition.spec->has_one_name()) keep(condition.spec->name);
        for (const auto& part : condition.parts) add_condition(part);
    }

    NameSet& names_;
    std::string scratch_;
};

}  // namespace

NameSet dependency_names(const Shard& shard) {
    NameSet found;
    NameCollector names(found);
    for (const auto& record : shard.records) {
        for (const auto spec : record.depends) names.add(spec);
        for (const auto& extra : record.extras) {
            for (const auto spec : extra.specs) names.add(spec);
        }
    }
    return found;
}

Result<void> add_dependency_names(const ChannelIndex& index, std::string_view name, NameSet& to) {
    GPKG_TRY(const auto records, index.find(name));
    // Lists and specs are shared by most records of a name.
    std::unordered_set<ChannelIndex::List> lists;
    std::unordered_set<ChannelIndex::SpecNumber> specs;
    const auto take = [&](ChannelIndex::List list) {
        if (!lists.insert(list).second) return;
        const auto numbers = records.specs(list);
        specs.insert(numbers.begin(), numbers.end());
    };
    for (const auto& row : records.rows()) {
        take(row.depends);
        for (const auto& extra : records.extras(row.extras)) take(extra.specs);
    }
    NameCollector names(to);
    for (const auto number : specs) {
        GPKG_TRY(const auto spec, index.spec(number));
        names.add(spec);
    }
    return {};
}

}  // namespace gpkg
