#include "libcore/index/dependency_names.hpp"

#include "libcore/spec/condition.hpp"
#include "libcore/spec/match_spec.hpp"

#include <utility>

namespace gpkg {
namespace {

/// Collects the names by which a dependency may be met.
class NameCollector {
public:
    explicit NameCollector(NameSet& names) : names_(names) {}

    void add(std::string_view spec) {
        if (auto name = name_in_spec(spec); !name.empty()) names_.insert(std::move(name));
        if (spec.find("when") != std::string_view::npos) add_condition_of(spec);
    }

private:
    void add_condition_of(std::string_view text) {
        const auto spec = MatchSpec::parse(text);
        if (!spec || !spec->when) return;  // the solver tells of what it cannot read
        if (const auto condition = Condition::parse(*spec->when)) add_condition(*condition);
    }
    void add_condition(const Condition& condition) {
        if (condition.spec && condition.spec->has_one_name()) names_.insert(condition.spec->name);
        for (const auto& part : condition.parts) add_condition(part);
    }

    NameSet& names_;
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
