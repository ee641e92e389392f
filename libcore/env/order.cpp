#include "libcore/env/order.hpp"

#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <map>

namespace gpkg {
namespace {

class Walk {
public:
    explicit Walk(const std::vector<PackageRecord>& records)
        : records_(records), seen_(records.size()) {
        for (std::size_t i = 0; i < records.size(); ++i) by_name_.emplace(records[i].name, i);
    }

    std::vector<std::size_t> all() {
        for (const auto& [name, place] : by_name_) visit(place);
        // A name that stands twice is refused later; until then nothing is lost.
        for (std::size_t i = 0; i < records_.size(); ++i) visit(i);
        return std::move(order_);
    }

private:
    void visit(std::size_t place) {
        if (seen_[place]) return;
        seen_[place] = true;
        for (const auto& text : records_[place].depends) {
            const auto spec = MatchSpec::parse(text);
            if (!spec) continue;
            if (const auto found = by_name_.find(spec->name); found != by_name_.end())
                visit(found->second);
        }
        order_.push_back(place);
    }

    const std::vector<PackageRecord>& records_;
    std::vector<bool> seen_;
    std::map<std::string, std::size_t> by_name_;
    std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> dependencies_first(const std::vector<PackageRecord>& records) {
    return Walk(records).all();
}

std::vector<PrefixRecord> dependents_first(std::vector<PrefixRecord> installed) {
    std::vector<PackageRecord> packages;
    packages.reserve(installed.size());
    for (const auto& record : installed) packages.push_back(record.package);
    auto places = dependencies_first(packages);
    std::reverse(places.begin(), places.end());
    std::vector<PrefixRecord> ordered;
    ordered.reserve(installed.size());
    for (const auto place : places) ordered.push_back(std::move(installed[place]));
    return ordered;
}

}  // namespace gpkg
