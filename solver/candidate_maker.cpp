#include "solver/candidate_maker.hpp"

#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"

#include <utility>

namespace gpkg::solver {

void CandidateMaker::begin(const NameRecords& home) {
    specs_.begin();
    home_versions_.assign(home.version_count(), std::nullopt);
}

/// kNone where the text is no version.
VersionId CandidateMaker::add_version(Result<Version> version) {
    if (!version) return kNone;
    versions_.push_back(*std::move(version));
    return static_cast<VersionId>(versions_.size() - 1);
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
    GPKG_TRY(const auto depends, specs_.depends(record));
    GPKG_TRY(const auto constrains, specs_.constrains(record));
    GPKG_TRY(const auto extras, specs_.extras(name, record));
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
    Dependencies dependencies(table_);
    Dependencies restrictions(table_);
    for (const auto& text : record.depends) {
        if (const auto id = table_.intern(text)) dependencies.add(*id);
    }
    for (const auto& [group, texts] : record.extra_depends) {
        for (const auto& text : texts) {
            if (const auto id = table_.intern_extra(text, name, group)) dependencies.add(*id);
        }
    }
    for (const auto& text : record.constrains) {
        if (const auto id = table_.intern(text)) restrictions.add_constrain(*id);
    }
    complete(candidate, std::move(dependencies).keep(), std::move(restrictions).keep());
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
    if (!is_vendor_part(table_.names()[candidate.name].text)) {
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
