#include "solver/candidate_maker.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <utility>

namespace gpkg::solver {
namespace {

/// Marks an index spec that could not be read, so that it is tried once.
constexpr SpecId kUnreadable = kNone - 1;

}  // namespace

void CandidateMaker::begin(const NameRecords& home) {
    for (auto& lists : known_) lists.clear();
    home_versions_.assign(home.version_count(), std::nullopt);
}

/// kNone where the text is no version.
VersionId CandidateMaker::add_version(Result<Version> version) {
    if (!version) return kNone;
    versions_.push_back(*std::move(version));
    return static_cast<VersionId>(versions_.size() - 1);
}

/// kUnreadable for one that cannot be read.
Result<SpecId> CandidateMaker::intern(const ChannelIndex& index, ChannelIndex::SpecNumber number) {
    auto& known = specs_of_index_[&index];
    if (known.empty()) known.assign(index.spec_count(), kNone);
    if (known[number] == kNone) {
        GPKG_TRY(const auto text, index.spec(number));
        known[number] = table_.intern(text).value_or(kUnreadable);
    }
    return known[number];
}

/// False where the list cannot be read.
Result<bool> CandidateMaker::read(ChannelIndex::List list,
                                  const ChannelRecord& record,
                                  std::vector<SpecId>& ids) {
    for (const auto number : record.home->specs(list)) {
        GPKG_TRY(ids.emplace_back(), intern(*record.index, number));
        if (ids.back() == kUnreadable) return false;
    }
    return true;
}

/// Groups in the order of their names.
Result<bool> CandidateMaker::read_extras(NameId name,
                                         const ChannelRecord& record,
                                         std::vector<SpecId>& ids) {
    const auto& home = *record.home;
    const auto span = home.extras(record.row->extras);
    std::vector<ChannelIndex::Extra> extras(span.begin(), span.end());
    std::ranges::sort(extras, {}, [&](const auto& extra) { return home.text(extra.group); });
    for (const auto& extra : extras) {
        for (const auto number : home.specs(extra.specs)) {
            GPKG_TRY(const auto text, record.index->spec(number));
            const auto id = table_.intern_extra(text, name, home.text(extra.group));
            if (!id) return false;
            ids.push_back(*id);
        }
    }
    return true;
}

Result<CandidateMaker::SpecList> CandidateMaker::list_of(Role role,
                                                         ChannelIndex::List list,
                                                         NameId name,
                                                         const ChannelRecord& record) {
    if (list == 0) return SpecList{};
    const auto [known, is_new] = known_.at(static_cast<std::size_t>(role)).try_emplace(list);
    if (!is_new) return known->second;
    std::vector<SpecId> ids;
    GPKG_TRY(const bool is_readable,
             role == Role::Extras ? read_extras(name, record, ids) : read(list, record, ids));
    if (is_readable) {
        known->second = keep(role, ids);
    } else {
        known->second.is_readable = false;
    }
    return known->second;
}

CandidateMaker::SpecList CandidateMaker::keep(Role role, const std::vector<SpecId>& ids) {
    SpecList list;
    std::vector<SpecId> always;
    std::vector<SpecId> conditional;
    for (auto id : ids) {
        const bool is_constrain = role == Role::Constrains;
        if (is_constrain) id = table_.without_condition(id);
        const auto& spec = table_.specs()[id];
        if (spec.when == kNever) continue;
        if (spec.when != kAlways) {
            conditional.push_back(id);
            continue;
        }
        always.push_back(id);
        list.accelerator.take(spec.accelerator);
        if (!list.toolkit) list.toolkit = spec.toolkit;
        list.closeness.take(spec.closeness);
        if (is_constrain ? spec.will_not_run_constrained : spec.will_not_run)
            list.will_not_run = true;
    }
    list.specs = table_.keep(std::move(always));
    list.conditional = table_.keep(std::move(conditional));
    return list;
}

Result<std::optional<Candidate>> CandidateMaker::of_row(NameId name,
                                                        const ChannelRecord& record,
                                                        std::uint32_t channel) {
    const auto& row = *record.row;
    Candidate candidate;
    candidate.name = name;
    candidate.channel = channel;
    candidate.build_number = row.build_number;
    candidate.timestamp = row.timestamp;
    candidate.has_track_features = row.track_features != 0;
    candidate.is_noarch = record.index->source().subdir == "noarch";
    candidate.offered = record;
    // Rows are sorted by version, and most share their lists with the row before.
    auto& version = home_versions_[row.version];
    if (!version) version = add_version(Version::parse(record.version()));
    GPKG_TRY(const auto depends, list_of(Role::Depends, row.depends, name, record));
    GPKG_TRY(const auto constrains, list_of(Role::Constrains, row.constrains, name, record));
    GPKG_TRY(const auto extras, list_of(Role::Extras, row.extras, name, record));
    if (*version == kNone || !depends.is_readable || !constrains.is_readable || !extras.is_readable)
        return std::nullopt;
    candidate.version = *version;
    auto all = depends;
    if (!extras.conditional.empty()) {
        std::vector<SpecId> both(depends.conditional.begin(), depends.conditional.end());
        both.insert(both.end(), extras.conditional.begin(), extras.conditional.end());
        all.conditional = table_.keep(std::move(both));
    }
    complete(candidate, all, constrains);
    return candidate;
}

std::optional<Candidate> CandidateMaker::of_given(NameId name, const PackageRecord& record) {
    Candidate candidate;
    candidate.name = name;
    candidate.build_number = record.build_number;
    candidate.timestamp = record.timestamp;
    candidate.has_track_features = !record.track_features.empty();
    candidate.is_noarch = record.subdir == "noarch";
    candidate.given = &record;
    candidate.version = add_version(version_of(record));
    if (candidate.version == kNone) return std::nullopt;
    std::vector<SpecId> depends;
    std::vector<SpecId> constrains;
    const auto add = [](std::vector<SpecId>& to, const Result<SpecId>& id) {
        if (id) to.push_back(*id);
    };
    for (const auto& text : record.depends) add(depends, table_.intern(text));
    for (const auto& [group, texts] : record.extra_depends) {
        for (const auto& text : texts) add(depends, table_.intern_extra(text, name, group));
    }
    for (const auto& text : record.constrains) add(constrains, table_.intern(text));
    complete(candidate, keep(Role::Depends, depends), keep(Role::Constrains, constrains));
    return candidate;
}

/// By its lists: what it is for, and whether it runs here.
void CandidateMaker::complete(Candidate& candidate,
                              const SpecList& depends,
                              const SpecList& constrains) {
    candidate.depends = depends.specs;
    candidate.conditional = depends.conditional;
    candidate.constrains = constrains.specs;
    candidate.closeness = depends.closeness;
    candidate.toolkit = depends.toolkit;
    if (!table_.names()[candidate.name].is_vendor_part) {
        const auto said = accelerator_of(candidate.flags(), depends.accelerator, candidate.build());
        candidate.accelerator = said.value_or(Accelerator::None);
        candidate.says_accelerator = said.has_value();
    }
    candidate.will_not_run =
        depends.will_not_run || constrains.will_not_run || !says_it_runs(candidate);
    loosen(candidate);
}

/// Here, by its build string, or by its name and version.
bool CandidateMaker::says_it_runs(const Candidate& candidate) const {
    const auto& limits = table_.limits();
    const auto& name = table_.names()[candidate.name];
    const auto& version = versions_[candidate.version];
    return !limits.obstacle_of_version(name.text, version) &&
           !limits.obstacle_of_build(candidate.build()) &&
           !(name.is_toolkit_part && limits.obstacle_of_part(name.text, version));
}

/// What only builds needs no driver of a certain age. Where nothing is brought in, what a package
/// needs and is there has to fit. The machine is there in any case.
void CandidateMaker::loosen(Candidate& candidate) {
    if (request_.only_compiles) candidate.will_not_run = false;
    if (request_.only_compiles && tells_cuda_version(table_.names()[candidate.name].text)) {
        std::vector<SpecId> kept;
        for (const auto id : candidate.constrains) {
            if (!table_.name_of(id).is_virtual) kept.push_back(id);
        }
        candidate.constrains = table_.keep(std::move(kept));
    }
    if (!request_.no_dependencies || table_.names()[candidate.name].is_request) return;
    std::vector<SpecId> needed;
    std::vector<SpecId> restricted(candidate.constrains.begin(), candidate.constrains.end());
    for (const auto id : candidate.depends)
        (table_.name_of(id).is_virtual ? needed : restricted)
            .push_back(table_.without_condition(id));
    candidate.not_asked = candidate.depends;
    candidate.depends = table_.keep(std::move(needed));
    candidate.constrains = table_.keep(std::move(restricted));
    candidate.conditional = {};
}

}  // namespace gpkg::solver
