#include "libcore/classes/reached_specs.hpp"

#include "libcore/index/channel_index.hpp"
#include "libcore/spec/match_spec.hpp"

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpkg {
namespace {

class ReachedSpecs {
public:
    explicit ReachedSpecs(const Problem& problem) : problem_(problem) {
        for (const auto& index : problem.indexes) seen_.emplace_back(index->spec_count(), false);
    }

    Result<MachineSpecs> run() && {
        for (const auto& spec : problem_.request.specs) {
            specs_.take_dependency(spec.to_string());
            reach(spec.name);
        }
        for (const auto& constraint : problem_.request.constraints)
            specs_.take_constraint(constraint.spec.to_string());
        while (!open_.empty()) {
            const auto name = std::move(open_.front());
            open_.pop_front();
            for (std::size_t i = 0; i < seen_.size(); ++i) GPKG_CHECK(look(i, name));
        }
        return std::move(specs_);
    }

private:
    void reach(std::string name) {
        if (name.empty() || name.starts_with("__")) return;
        if (reached_.insert(name).second) open_.push_back(std::move(name));
    }

    Result<void> look(std::size_t place, const std::string& name) {
        const auto& index = *problem_.indexes[place];
        if (!index.has(name)) return {};
        GPKG_TRY(const auto records, index.find(name));
        for (const auto* row : records.choices(problem_.exclude_newer)) {
            specs_.take_record(name, records.version(*row), records.build(*row));
            for (const auto number : records.specs(row->depends)) GPKG_CHECK(depend(place, number));
            for (const auto& extra : records.extras(row->extras)) {
                for (const auto number : records.specs(extra.specs))
                    GPKG_CHECK(depend(place, number));
            }
            for (const auto number : records.specs(row->constrains)) {
                GPKG_TRY(const auto text, index.spec(number));
                specs_.take_constraint(text);
            }
        }
        return {};
    }

    Result<void> depend(std::size_t place, ChannelIndex::SpecNumber number) {
        if (seen_[place][number]) return {};
        seen_[place][number] = true;
        GPKG_TRY(const auto text, problem_.indexes[place]->spec(number));
        if (!specs_.take_dependency(text)) reach(name_in_spec(text));
        return {};
    }

    const Problem& problem_;
    std::vector<std::vector<bool>> seen_;  ///< by index, then by the number of a spec
    MachineSpecs specs_;
    std::set<std::string> reached_;
    std::deque<std::string> open_;
};

}  // namespace

Result<MachineSpecs> reached_specs(const Problem& problem) { return ReachedSpecs(problem).run(); }

}  // namespace gpkg
