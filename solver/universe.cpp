#include "solver/universe.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::solver {
namespace {

constexpr std::size_t kLikelyCandidates = std::size_t{1} << 15U;
constexpr std::size_t kLikelySpecs = std::size_t{1} << 13U;

bool names_match(const MatchSpec& spec, std::string_view name) {
    if (spec.has_one_name()) return spec.name == name;
    return spec.name == "*" || spec.name_matcher->matches(name);
}

/// Taking every package that a glob fits is never what was meant.
tl::unexpected<Error> refuse_glob(const MatchSpec& spec, const Problem& problem) {
    std::vector<std::string> found;
    for (const auto& index : problem.indexes) {
        for (const auto name : index->names()) {
            if (names_match(spec, name)) found.emplace_back(name);
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.empty())
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: no package of the channels has such a name", spec.to_string()));
    return fail(ErrorKind::Usage,
                fmt::format("{}: a request names one package, and this fits {}",
                            spec.to_string(),
                            join_some(found, "and")),
                "name one of them");
}

}  // namespace

std::optional<NameId> Universe::find_name(std::string_view text) const {
    const auto found = name_ids_.find(std::string(text));
    return found == name_ids_.end() ? std::nullopt : std::optional(found->second);
}

/// kNone where the text is no version.
VersionId Universe::add_version(Result<Version> version) {
    if (!version) return kNone;
    versions_.push_back(*std::move(version));
    return static_cast<VersionId>(versions_.size() - 1);
}

Universe::Universe(const Problem& problem)
    : problem_(&problem), cascade_(problem.virtual_packages), keeping_(problem.request) {}

Result<Universe> Universe::collect(const Problem& problem) {
    Universe universe(problem);
    // What is not used of it costs nothing; to move all that is here, again and again, would.
    universe.candidates_.reserve(kLikelyCandidates);
    universe.specs_.reserve(kLikelySpecs);
    std::string last_channel;
    for (const auto& index : problem.indexes) {
        const auto& channel = index->source().channel;
        auto& ranks = universe.channel_of_index_;
        if (ranks.empty()) {
            ranks.push_back(0);
        } else {
            ranks.push_back(channel == last_channel ? ranks.back() : ranks.back() + 1);
        }
        last_channel = channel;
    }

    const auto& accelerators = problem.request.accelerators;
    universe.found_accelerator_ =
        accelerators.preferred
            ? accelerators.preferred
            : found_accelerator(problem.request.installed, problem.virtual_packages);
    GPKG_CHECK(universe.take_request());
    while (!universe.queue_.empty()) {
        const auto name = universe.queue_.back();
        universe.queue_.pop_back();
        GPKG_CHECK(universe.collect_candidates(name));
    }
    GPKG_CHECK(universe.check_extras());
    universe.link_specs();
    universe.excuse_installed();
    universe.note_left_out();
    return universe;
}

Result<void> Universe::take_request() {
    const auto& request = problem_->request;
    const auto refuse_condition = [](const MatchSpec& spec) {
        return fail(ErrorKind::Usage,
                    fmt::format("{}: `when` belongs to the dependencies of a package; a request "
                                "has no conditions",
                                spec.to_string()),
                    "ask for it without `when`");
    };
    for (const auto& constraint : request.constraints) {
        if (constraint.spec.when) return refuse_condition(constraint.spec);
    }
    for (const auto& spec : request.specs) {
        if (spec.when) return refuse_condition(spec);
        if (!spec.has_one_name()) return refuse_glob(spec, *problem_);
        requested_.push_back(intern_spec(spec));
    }
    for (const auto& name : request.keep) kept_.push_back(intern_name(name));

    // In this order, so that ids, and with them every tie, do not depend on the records' order.
    std::vector<NameId> leading;
    const auto reach_or_lead = [&](NameId name) {
        if (keeping_.is_asked_otherwise(names_[name].text))
            leading.push_back(name);
        else
            reach(name);
    };
    for (const auto id : requested_) reach_or_lead(specs_[id].name);
    for (const auto id : kept_) reach_or_lead(id);
    // What other packages are to follow.
    for (const auto name : leading) {
        names_[name].is_reached = true;
        GPKG_CHECK(collect_candidates(name));
    }
    return {};
}

void Universe::take_constraints(NameId name) {
    for (const auto& constraint : problem_->request.constraints) {
        const auto& text = names_[name].text;
        if (!names_match(constraint.spec, text) ||
            (names_[name].is_virtual && !constraint.spec.has_one_name()))
            continue;
        auto spec = constraint.spec;
        spec.name = text;
        spec.name_matcher.reset();
        constraints_.push_back(intern_spec(std::move(spec)));
        constraint_of_.push_back(&constraint);
    }
}

std::uint32_t Universe::constraint_index(std::size_t place) const {
    return static_cast<std::uint32_t>(constraint_of_[place] - problem_->request.constraints.data());
}

void Universe::reach(NameId name) {
    if (names_[name].is_reached) return;
    names_[name].is_reached = true;
    queue_.push_back(name);
}

/// Conditions reach nothing: what nobody brings is not there, and they do not hold.
void Universe::reach_from(const Candidate& candidate) {
    for (const auto id : candidate.depends) reach(specs_[id].name);
    for (const auto id : candidate.conditional) reach(specs_[id].name);
    // What a package constrains need not be there, but the machine is.
    for (const auto id : candidate.constrains) {
        if (names_[specs_[id].name].is_virtual) reach(specs_[id].name);
    }
}

/// What only builds needs no driver of a certain age. Where nothing is brought in, what a package
/// needs and is there has to fit. The machine is there in any case.
void Universe::loosen(Candidate& candidate) {
    if (problem_->request.only_builds) candidate.will_not_run = false;
    if (problem_->request.only_builds && tells_cuda_version(names_[candidate.name].text)) {
        std::vector<SpecId> kept;
        for (const auto id : candidate.constrains) {
            if (!names_[specs_[id].name].is_virtual) kept.push_back(id);
        }
        candidate.constrains = keep_list(std::move(kept));
    }
    if (!problem_->request.no_dependencies) return;
    std::vector<SpecId> needed;
    std::vector<SpecId> restricted(candidate.constrains.begin(), candidate.constrains.end());
    for (const auto id : candidate.depends)
        (names_[specs_[id].name].is_virtual ? needed : restricted).push_back(without_condition(id));
    candidate.depends = keep_list(std::move(needed));
    candidate.constrains = keep_list(std::move(restricted));
    candidate.conditional = {};
}

Result<void> Universe::collect_candidates(NameId name) {
    if (std::exchange(names_[name].is_collected, true)) return {};
    names_[name].begin = static_cast<CandidateId>(candidates_.size());
    take_constraints(name);
    if (names_[name].is_virtual) {
        for (const auto& record : problem_->virtual_packages) {
            if (record.name != names_[name].text) continue;
            add_given(name, record, false);
            reach_from(candidates_.back());
        }
        names_[name].end = static_cast<CandidateId>(candidates_.size());
        return {};
    }

    GPKG_CHECK(collect_rows(name));
    collect_installed(name);
    leave_out_changed_builds(name);
    leave_out_accelerators(name);
    names_[name].end = static_cast<CandidateId>(candidates_.size());
    const auto own = std::span(candidates_).subspan(names_[name].begin);
    for (const auto next : keeping_.take_along(names_[name].text, own, specs_, names_)) {
        names_[next].is_reached = true;
        queue_.push_back(next);
    }
    for (auto id = names_[name].begin; id < names_[name].end; ++id) reach_from(candidates_[id]);
    return {};
}

/// A request or a pin may name the channel: then its spec rules the others out, and strict priority
/// does not hide the first that it means.
bool Universe::is_named(NameId name,
                        const ChannelIndex& index,
                        std::uint32_t channel,
                        FirstNamed& first) const {
    bool is_first = false;
    for (const auto* ids : {&requested_, &constraints_}) {
        for (const auto id : *ids) {
            const auto& spec = specs_[id];
            if (spec.name == name && spec.match.channel &&
                channel_matches(*spec.match.channel, index.source().channel))
                is_first = first.try_emplace(id, channel).first->second == channel || is_first;
        }
    }
    return is_first;
}

Result<void> Universe::collect_rows(NameId name) {
    const std::string text = names_[name].text;
    std::optional<std::uint32_t> first_channel;
    FirstNamed first_named;
    for (std::size_t i = 0; i < problem_->indexes.size(); ++i) {
        const auto& index = *problem_->indexes[i];
        GPKG_TRY(const auto found, index.find(text));
        if (found.rows().empty()) continue;
        const auto& home = homes_.emplace_back(found);
        home_depends_.clear();
        home_constrains_.clear();
        home_extras_.clear();
        home_versions_.assign(home.version_count(), std::nullopt);
        const auto channel = channel_of_index_[i];
        if (!first_channel) first_channel = channel;
        const bool is_hidden = problem_->priority == ChannelPriority::Strict &&
                               channel != first_channel &&
                               !is_named(name, index, channel, first_named) &&
                               !keeping_.may_come_of(text, index.source().channel);
        const auto leave_out = [&](LeftOut::Why reason, const ChannelIndex::Row& row) {
            names_[name].left_out.push_back({reason, {&index, &home, &row}});
        };
        if (is_hidden) {
            for (const auto* row : home.choices(std::nullopt))
                leave_out(LeftOut::Why::Hidden, *row);
            continue;
        }
        for (const auto* row : home.choices(problem_->exclude_newer)) {
            GPKG_TRY(const bool is_readable, add_row(name, {&index, &home, row}, channel));
            if (!is_readable) leave_out(LeftOut::Why::Unreadable, *row);
        }
        if (!problem_->exclude_newer) continue;
        for (const auto* row : home.choices(std::nullopt)) {
            if (row->appeared() > *problem_->exclude_newer) leave_out(LeftOut::Why::Newer, *row);
        }
    }
    return {};
}

void Universe::collect_installed(NameId name) {
    for (const auto& record : problem_->request.installed) {
        if (record.name != names_[name].text) continue;
        const auto same = std::find_if(
            candidates_.begin() + names_[name].begin,
            candidates_.end(),
            [&](const Candidate& candidate) {
                if (!candidate.is_offered() || candidate.build() != record.build ||
                    versions_[candidate.version].to_string() != to_lower(record.version))
                    return false;
                if (!record.sha256.empty() && !candidate.sha256().empty())
                    return record.sha256 == candidate.sha256();
                return candidate.offered.index->source().channel == record.channel;
            });
        if (same != candidates_.end()) {
            same->is_installed = true;
        } else {
            add_given(name, record, true);
        }
    }
}

bool Universe::is_no_code_for_machine(const Candidate& candidate) const {
    return candidate.accelerator == Accelerator::Nvidia &&
           cascade_.obstacle_of_build(candidate.build());
}

/// False where the record cannot be read.
Result<bool> Universe::add_row(NameId name, const ChannelRecord& record, std::uint32_t channel) {
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
    GPKG_TRY(const auto depends, take_depends(record, row.depends));
    GPKG_TRY(const auto constrains, take_constrains(record, row.constrains));
    GPKG_TRY(const auto extras, take_extras(name, record, row.extras));
    if (*version == kNone || !depends.is_readable || !constrains.is_readable || !extras.is_readable)
        return false;
    candidate.depends = depends.specs;
    candidate.constrains = constrains.specs;
    candidate.conditional = depends.conditional;
    if (!extras.conditional.empty()) {
        std::vector<SpecId> both(depends.conditional.begin(), depends.conditional.end());
        both.insert(both.end(), extras.conditional.begin(), extras.conditional.end());
        candidate.conditional = keep_list(std::move(both));
    }
    candidate.version = *version;
    if (const auto accelerator = accelerator_of_row(candidate, depends)) {
        candidate.accelerator = *accelerator;
        candidate.says_accelerator = true;
    }
    candidate.closeness = depends.closeness;
    candidate.will_not_run = depends.will_not_run || is_no_code_for_machine(candidate);
    loosen(candidate);
    candidates_.push_back(candidate);
    return true;
}

/// Of a record that its channel does not have any more. From a channel that is not asked, it counts
/// as one of the best that has the name: the version then decides.
std::uint32_t Universe::channel_of(NameId name, const PackageRecord& record) const {
    for (std::size_t i = 0; i < problem_->indexes.size(); ++i) {
        if (problem_->indexes[i]->source().channel == record.channel) return channel_of_index_[i];
    }
    const auto first = names_[name].begin;
    return first < candidates_.size() ? candidates_[first].channel : 0;
}

void Universe::add_given(NameId name, const PackageRecord& record, bool installed) {
    Candidate candidate;
    candidate.name = name;
    candidate.build_number = record.build_number;
    candidate.timestamp = record.timestamp;
    candidate.has_track_features = !record.track_features.empty();
    candidate.is_noarch = record.subdir == "noarch";
    candidate.is_installed = installed;
    candidate.channel = channel_of(name, record);
    candidate.given = &record;
    const auto accelerator = accelerator_of(record);
    candidate.accelerator = accelerator.accelerator;
    candidate.says_accelerator = !accelerator.evidence.empty();
    const auto version = add_version(version_of(record));
    if (version == kNone) {
        notes_.push_back(fmt::format("{}: has no readable version and cannot be solved for",
                                     record.distribution()));
        return;
    }
    candidate.version = version;
    // An installed package stays usable even where its metadata is older than today's rules: what
    // cannot be read is passed over.
    Asks asks;
    for (const auto& text : record.depends) {
        if (const auto id = intern_spec(text)) add_dependency(*id, asks);
    }
    for (const auto& [group, texts] : record.extra_depends) {
        for (const auto& text : texts) {
            if (const auto id = intern_extra(text, name, group)) add_dependency(*id, asks);
        }
    }
    std::vector<SpecId> constrains;
    for (const auto& text : record.constrains) {
        if (const auto id = intern_spec(text)) constrains.push_back(without_condition(*id));
    }
    const auto kept = keep(std::move(asks));
    candidate.depends = kept.specs;
    candidate.conditional = kept.conditional;
    candidate.constrains = keep_list(std::move(constrains));
    candidate.closeness = kept.closeness;
    candidate.will_not_run = kept.will_not_run || is_no_code_for_machine(candidate);
    loosen(candidate);
    candidates_.push_back(candidate);
}

/// A group that only some records have is fine (CEP 44); one that none has is a slip.
Result<void> Universe::check_extras() const {
    for (const auto id : requested_) {
        const auto& spec = specs_[id];
        const auto& name = names_[spec.name];
        if (spec.match.extras.empty() || name.begin == name.end) continue;
        std::vector<std::string> known;
        for (auto candidate = name.begin; candidate < name.end; ++candidate) {
            for (const auto group : candidates_[candidate].groups()) known.emplace_back(group);
        }
        for (const auto& out : name.left_out) {
            for (const auto group : out.record.groups()) known.emplace_back(group);
        }
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        for (const auto& group : spec.match.extras) {
            if (std::binary_search(known.begin(), known.end(), group)) continue;
            const auto near = near_names(group, known);
            return fail(
                ErrorKind::NotFound,
                fmt::format("{}: no {} has the extra {}", spec.match.to_string(), name.text, group),
                !near.empty()   ? fmt::format("did you mean {}?", join_some(near, "or"))
                : known.empty() ? "ask for it without extras: it has none"
                                : "it has " + join_some(known, "and"));
        }
    }
    return {};
}

void Universe::note_left_out() {
    const auto note = [&](LeftOut::Why why, std::string_view reason) {
        std::size_t count = 0;
        for (const auto& name : names_)
            count += static_cast<std::size_t>(
                std::count_if(name.left_out.begin(), name.left_out.end(), [&](auto& out) {
                    return out.why == why;
                }));
        if (count > 0)
            notes_.push_back(
                fmt::format("{} left out: {}",
                            count == 1 ? "1 record is" : fmt::format("{} records are", count),
                            reason));
    };
    note(LeftOut::Why::Unreadable, "a version or a dependency cannot be read");
}

/// An installed package is there whether or not this machine could use it: an environment for GPUs
/// is managed from login nodes that have none.
void Universe::excuse_installed() {
    for (auto& candidate : candidates_) {
        if (!candidate.is_installed) continue;
        const auto lacking = [&](SpecId id) {
            return names_[specs_[id].name].is_virtual && specs_[id].matches.empty();
        };
        const auto broken = [&](SpecId id) {
            const auto& name = names_[specs_[id].name];
            return name.begin != name.end && lacking(id);
        };
        std::vector<SpecId> excused;
        const auto excuse = [&](std::span<const SpecId>& from, const auto& is_unmet) {
            std::vector<SpecId> kept;
            for (const auto id : from) (is_unmet(id) ? excused : kept).push_back(id);
            if (kept.size() < from.size()) from = keep_list(std::move(kept));
        };
        excuse(candidate.depends, lacking);
        excuse(candidate.constrains, broken);
        candidate.excused = keep_list(std::move(excused));
        // Whether these apply is not known, so nothing is said of them.
        excuse(candidate.conditional, lacking);
    }
}

std::string Universe::describe(CandidateId id) const {
    const auto& candidate = candidates_[id];
    return fmt::format("{} {} {}",
                       names_[candidate.name].text,
                       versions_[candidate.version].to_string(),
                       candidate.build());
}

}  // namespace gpkg::solver
