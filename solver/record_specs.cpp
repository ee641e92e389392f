#include "solver/record_specs.hpp"

#include <algorithm>
#include <utility>

namespace gpkg::solver {
namespace {

/// Marks an index spec that could not be read, so that it is tried once.
constexpr SpecId kUnreadable = kNone - 1;

}  // namespace

void Dependencies::add(SpecId id) {
    const auto when = table_.specs()[id].when;
    if (when == kNever) return;
    (when == kAlways ? specs_ : conditional_).push_back(id);
    will_not_run_ = will_not_run_ || (when == kAlways && table_.specs()[id].will_not_run);
}

void Dependencies::add_constrain(SpecId id) {
    specs_.push_back(table_.without_condition(id));
    will_not_run_ = will_not_run_ || table_.specs()[specs_.back()].will_not_run_constrained;
}

SpecList Dependencies::keep() && {
    SpecList list;
    for (const auto id : specs_) {
        const auto& spec = table_.specs()[id];
        list.accelerator.take(spec.accelerator);
        list.closeness.take(spec.closeness);
    }
    list.will_not_run = will_not_run_;
    list.specs = table_.keep(std::move(specs_));
    list.conditional = table_.keep(std::move(conditional_));
    return list;
}

void RecordSpecs::begin() {
    depends_.clear();
    constrains_.clear();
    extras_.clear();
}

/// kUnreadable for one that cannot be read.
Result<SpecId> RecordSpecs::take(const ChannelIndex& index, ChannelIndex::SpecNumber number) {
    auto& known = of_index_[&index];
    if (known.empty()) known.assign(index.spec_count(), kNone);
    if (known[number] == kNone) {
        GPKG_TRY(const auto text, index.spec(number));
        known[number] = table_.intern(text).value_or(kUnreadable);
    }
    return known[number];
}

template <typename Read>
Result<SpecList> RecordSpecs::once(Known& known, ChannelIndex::List list, const Read& read) {
    if (list == 0) return SpecList{};
    if (const auto found = known.find(list); found != known.end()) return found->second;
    Dependencies dependencies(table_);
    GPKG_TRY(const bool is_readable, read(dependencies));
    SpecList kept;
    if (is_readable) {
        kept = std::move(dependencies).keep();
    } else {
        kept.is_readable = false;
    }
    return known.emplace(list, kept).first->second;
}

Result<SpecList> RecordSpecs::depends(const ChannelRecord& record) {
    const auto list = record.row->depends;
    return once(depends_, list, [&](Dependencies& dependencies) -> Result<bool> {
        for (const auto number : record.home->specs(list)) {
            GPKG_TRY(const auto id, take(*record.index, number));
            if (id == kUnreadable) return false;
            dependencies.add(id);
        }
        return true;
    });
}

Result<SpecList> RecordSpecs::constrains(const ChannelRecord& record) {
    const auto list = record.row->constrains;
    return once(constrains_, list, [&](Dependencies& dependencies) -> Result<bool> {
        for (const auto number : record.home->specs(list)) {
            GPKG_TRY(const auto id, take(*record.index, number));
            if (id == kUnreadable) return false;
            dependencies.add_constrain(id);
        }
        return true;
    });
}

Result<SpecList> RecordSpecs::extras(NameId name, const ChannelRecord& record) {
    const auto list = record.row->extras;
    return once(extras_, list, [&](Dependencies& dependencies) -> Result<bool> {
        const auto& home = *record.home;
        const auto span = home.extras(list);
        std::vector<ChannelIndex::Extra> extras(span.begin(), span.end());
        std::sort(extras.begin(), extras.end(), [&](const auto& a, const auto& b) {
            return home.text(a.group) < home.text(b.group);
        });
        for (const auto& extra : extras) {
            for (const auto number : home.specs(extra.specs)) {
                GPKG_TRY(const auto text, record.index->spec(number));
                const auto id = table_.intern_extra(text, name, home.text(extra.group));
                if (!id) return false;
                dependencies.add(*id);
            }
        }
        return true;
    });
}

}  // namespace gpkg::solver
