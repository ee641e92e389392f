#include "libcore/index/queries.hpp"

#include <algorithm>
#include <utility>

namespace gpkg {
namespace {

using Row = ChannelIndex::Row;
using SpecNumber = ChannelIndex::SpecNumber;

bool any_marked(std::span<const SpecNumber> specs, const SpecMarks& marks) {
    return std::any_of(specs.begin(), specs.end(), [&](auto number) { return marks[number]; });
}

bool is_dependent(const NameRecords& of, const Row& row, const SpecMarks& marks) {
    if (any_marked(of.specs(row.depends), marks)) return true;
    const auto extras = of.extras(row.extras);
    return std::any_of(extras.begin(), extras.end(), [&](const auto& extra) {
        return any_marked(of.specs(extra.specs), marks);
    });
}

/// Specs that name no package: few, if any, and patterns among them.
Result<void> mark_patterns(const ChannelIndex& index,
                           std::string_view name,
                           const std::function<bool(const MatchSpec&)>& is_meant,
                           SpecMarks& marks) {
    const auto [first, end] = index.specs_on("");
    for (auto number = first; number < end; ++number) {
        GPKG_TRY(const auto text, index.spec(number));
        const auto spec = MatchSpec::parse(text);
        if (!spec || spec->has_one_name()) continue;
        if (spec->name_matcher && !spec->name_matcher->matches(name)) continue;
        if (is_meant(*spec)) marks[number] = true;
    }
    return {};
}

}  // namespace

Result<void> each_match(const ChannelIndex& index,
                        std::string_view name,
                        const MatchSpec& spec,
                        std::optional<std::int64_t> newest,
                        const std::function<bool(PackageRecord)>& take) {
    GPKG_TRY(const auto found, index.find(name));
    enum class Answer : char { Unknown, Yes, No };
    std::vector<Answer> fits(found.version_count(), Answer::Unknown);  // by Row::version
    for (const auto* row : found.choices(newest)) {
        auto& answer = fits[row->version];
        if (answer == Answer::Unknown) {
            const auto version = Version::parse(found.version(*row));
            const bool is_match = version && (!spec.version || spec.version->matches(*version));
            answer = is_match ? Answer::Yes : Answer::No;
        }
        if (answer == Answer::No || (spec.build && !spec.build->matches(found.build(*row))))
            continue;
        GPKG_TRY(auto record, index.record(found, *row));
        if (spec.matches(record) && !take(std::move(record))) break;
    }
    return {};
}

Providers::Providers(std::vector<PackageRecord> records) {
    for (auto& record : records) {
        auto version = Version::parse(record.version);
        if (!version) continue;
        auto same = std::find_if(versions_.begin(), versions_.end(), [&](const auto& known) {
            return known.records.front().version == record.version;
        });
        if (same == versions_.end())
            same = versions_.insert(versions_.end(), {*std::move(version), {}});
        same->records.push_back(std::move(record));
    }
}

bool Providers::meet(const MatchSpec& spec) const {
    return std::any_of(versions_.begin(), versions_.end(), [&](const OfVersion& of) {
        if (spec.version && !spec.version->matches(of.version)) return false;
        return std::any_of(of.records.begin(), of.records.end(), [&](const auto& record) {
            return (!spec.build || spec.build->matches(record.build)) && spec.matches(record);
        });
    });
}

Result<void> mark_specs_on(const ChannelIndex& index, std::string_view name, SpecMarks& marks) {
    const auto [first, end] = index.specs_on(name);
    std::fill(marks.begin() + first, marks.begin() + end, true);
    return mark_patterns(
        index, name, [](const auto&) { return true; }, marks);
}

Result<void> mark_specs_on(const ChannelIndex& index,
                           std::string_view name,
                           const std::function<bool(const MatchSpec&)>& is_meant,
                           SpecMarks& marks) {
    const auto [first, end] = index.specs_on(name);
    for (auto number = first; number < end; ++number) {
        GPKG_TRY(const auto text, index.spec(number));
        const auto spec = MatchSpec::parse(text);
        if (spec && is_meant(*spec)) marks[number] = true;
    }
    return mark_patterns(index, name, is_meant, marks);
}

Result<std::vector<Dependents>> dependents(const ChannelIndex& index,
                                           const SpecMarks& marks,
                                           std::optional<std::int64_t> newest) {
    std::vector<Dependents> found;
    if (std::find(marks.begin(), marks.end(), true) == marks.end()) return found;
    for (const auto name : index.names()) {
        GPKG_TRY(const auto records, index.find(name));
        auto rows = records.choices(newest);
        std::erase_if(rows, [&](const auto* row) { return !is_dependent(records, *row, marks); });
        if (!rows.empty()) found.push_back({records, std::move(rows)});
    }
    return found;
}

Result<std::vector<MarkedSpec>> marked_specs(const ChannelIndex& index,
                                             const NameRecords& of,
                                             const Row& row,
                                             const SpecMarks& marks) {
    std::vector<MarkedSpec> found;
    const auto take = [&](std::span<const SpecNumber> specs,
                          std::string_view extra) -> Result<void> {
        for (const auto number : specs) {
            if (!marks[number]) continue;
            GPKG_TRY(const auto text, index.spec(number));
            found.push_back({text, extra});
        }
        return {};
    };
    GPKG_CHECK(take(of.specs(row.depends), ""));
    for (const auto& extra : of.extras(row.extras))
        GPKG_CHECK(take(of.specs(extra.specs), of.text(extra.group)));
    return found;
}

}  // namespace gpkg
