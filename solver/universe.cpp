#include "solver/universe.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::solver {
namespace {

/// Marks an index spec that could not be read, so that it is tried once.
constexpr SpecId kUnreadable = kNone - 1;
/// The same for one that has `when` or `extras`.
constexpr SpecId kConditional = kNone - 2;

std::vector<std::string> owned(const NameRecords& home, ChannelIndex::List list) {
    std::vector<std::string> texts;
    for (const auto text : home.texts(list)) texts.emplace_back(home.text(text));
    return texts;
}

/// True for most specs: "numpy", "numpy >=1.26,<2".
bool asks_only_version(const MatchSpec& spec) {
    MatchSpec rest;
    rest.name = spec.name;
    rest.version = spec.version;
    return rest == spec;
}

bool names_match(const MatchSpec& spec, std::string_view name) {
    if (spec.has_one_name()) return spec.name == name;
    return spec.name == "*" || spec.name_matcher->matches(name);
}

bool given_matches(const MatchSpec& spec, const PackageRecord& record, const Version& version) {
    MatchTarget target;
    target.name = record.name;
    target.version = &version;
    target.build = record.build;
    target.build_number = record.build_number;
    target.fn = record.fn;
    target.sha256 = record.sha256;
    target.channel = record.channel;
    target.subdir = record.subdir;
    target.url = record.url;
    target.md5 = record.md5;
    target.license = record.license;
    target.license_family = record.license_family;
    target.flags = &record.flags;
    target.track_features = &record.track_features;
    return spec.matches(target);
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

bool ChannelRecord::matches(const MatchSpec& spec) const {
    const auto parsed = Version::parse(version());
    if (!parsed) return false;
    return matches(spec, *parsed);
}

/// What few specs ask for is only made for those.
bool ChannelRecord::matches(const MatchSpec& spec, const Version& parsed) const {
    const auto hex = [](bool wanted, bool is_there, std::span<const std::uint8_t> digest) {
        return wanted && is_there ? to_hex(digest) : std::string();
    };
    const auto flags = spec.flags.empty() ? std::vector<std::string>() : owned(*home, row->flags);
    const auto features = spec.track_features.empty() ? std::vector<std::string>()
                                                      : owned(*home, row->track_features);
    const auto fn = spec.fn || spec.url ? home->fn(*row) : std::string();
    const auto url = spec.url ? index->url(fn) : std::string();
    const auto md5 = hex(spec.md5.has_value(), row->has_md5, row->md5);
    const auto sha256 = hex(spec.sha256.has_value(), row->has_sha256, row->sha256);
    MatchTarget target;
    target.name = home->name();
    target.version = &parsed;
    target.build = home->build(*row);
    target.build_number = row->build_number;
    target.fn = fn;
    target.sha256 = sha256;
    target.channel = index->source().channel;
    target.subdir = index->source().subdir;
    target.url = url;
    target.md5 = md5;
    target.license = home->text(row->license);
    target.license_family = home->text(row->license_family);
    target.flags = &flags;
    target.track_features = &features;
    return spec.matches(target);
}

std::string Candidate::sha256() const {
    if (!is_offered()) return given->sha256;
    return offered.row->has_sha256 ? to_hex(offered.row->sha256) : std::string();
}

Result<PackageRecord> Candidate::record() const {
    if (!is_offered()) return *given;
    return offered.index->record(*offered.home, *offered.row);
}

std::optional<NameId> Universe::find_name(std::string_view text) const {
    const auto found = name_ids_.find(std::string(text));
    return found == name_ids_.end() ? std::nullopt : std::optional(found->second);
}

NameId Universe::intern_name(std::string_view text) {
    auto [entry, added] =
        name_ids_.try_emplace(std::string(text), static_cast<NameId>(names_.size()));
    if (added) {
        Name name;
        name.text = entry->first;
        name.is_virtual = text.starts_with("__");
        names_.push_back(std::move(name));
    }
    return entry->second;
}

SpecId Universe::intern_spec(const MatchSpec& match, std::string text) {
    auto [entry, added] =
        spec_ids_.try_emplace(std::move(text), static_cast<SpecId>(specs_.size()));
    if (added) {
        Spec spec;
        spec.match = match;
        spec.name = intern_name(match.name);
        spec.text = entry->first;
        names_[spec.name].specs.push_back(entry->second);
        specs_.push_back(std::move(spec));
    }
    return entry->second;
}

Result<SpecId> Universe::intern_spec(std::string_view text) {
    const auto known = spec_ids_.find(std::string(text));
    if (known != spec_ids_.end()) return known->second;
    GPKG_TRY(const auto match, MatchSpec::parse(text));
    if (!match.has_one_name())
        return fail(ErrorKind::Parse, fmt::format("{}: a dependency needs a plain name", text));
    if (match.when || !match.extras.empty())
        return fail(ErrorKind::Unsupported, fmt::format("{}: needs conditions or extras", text));
    return intern_spec(match, std::string(text));
}

/// kNone where the text is no version.
VersionId Universe::add_version(std::string_view text) {
    auto version = Version::parse(text);
    if (!version) return kNone;
    versions_.push_back(*std::move(version));
    return static_cast<VersionId>(versions_.size() - 1);
}

Result<Universe> Universe::collect(const Problem& problem) {
    Universe universe;
    universe.problem_ = &problem;
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

    GPKG_CHECK(universe.take_request());
    while (!universe.queue_.empty()) {
        const auto name = universe.queue_.back();
        universe.queue_.pop_back();
        GPKG_CHECK(universe.collect_candidates(name));
    }
    universe.link_specs();
    universe.excuse_installed();
    universe.note_left_out();
    return universe;
}

Result<void> Universe::take_request() {
    const auto& request = problem_->request;
    for (const auto& spec : request.specs) {
        // Ignoring these would give an environment that is not what was asked for.
        if (spec.when || !spec.extras.empty())
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: this gpkg cannot solve for `when` and `extras`",
                                    spec.to_string()));
        if (!spec.has_one_name()) return refuse_glob(spec, *problem_);
        requested_.push_back(intern_spec(spec, spec.to_string()));
    }
    for (const auto& name : request.keep) kept_.push_back(intern_name(name));

    // In this order, so that ids, and with them every tie, do not depend on the records' order.
    for (const auto id : requested_) reach(specs_[id].name);
    for (const auto id : kept_) reach(id);
    return {};
}

void Universe::take_constraints(NameId name) {
    for (const auto& constraint : problem_->request.constraints) {
        const auto text = names_[name].text;
        auto spec = constraint.spec;
        if (!names_match(spec, text) || (names_[name].is_virtual && !spec.has_one_name())) continue;
        spec.name = text;
        spec.name_matcher.reset();
        constraints_.push_back(intern_spec(spec, spec.to_string()));
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

void Universe::reach_from(std::span<const SpecId> depends, std::span<const SpecId> constrains) {
    for (const auto id : depends) reach(specs_[id].name);
    // What a package constrains need not be there, but the machine is.
    for (const auto id : constrains) {
        if (names_[specs_[id].name].is_virtual) reach(specs_[id].name);
    }
}

Result<void> Universe::collect_candidates(NameId name) {
    names_[name].begin = static_cast<CandidateId>(candidates_.size());
    take_constraints(name);
    if (names_[name].is_virtual) {
        for (const auto& record : problem_->virtual_packages) {
            if (record.name == names_[name].text) add_given(name, record, false);
        }
        names_[name].end = static_cast<CandidateId>(candidates_.size());
        return {};
    }

    GPKG_CHECK(collect_rows(name));
    collect_installed(name);
    names_[name].end = static_cast<CandidateId>(candidates_.size());
    return {};
}

/// A request may name a channel: then the others do not offer the package at all, and strict
/// priority has nothing to hide.
bool Universe::offers(const ChannelIndex& index, NameId name) const {
    return std::all_of(requested_.begin(), requested_.end(), [&](SpecId id) {
        const auto& spec = specs_[id];
        return spec.name != name || !spec.match.channel ||
               channel_matches(*spec.match.channel, index.source().channel);
    });
}

Result<void> Universe::collect_rows(NameId name) {
    const std::string text = names_[name].text;
    std::optional<std::uint32_t> first_channel;
    for (std::size_t i = 0; i < problem_->indexes.size(); ++i) {
        const auto& index = *problem_->indexes[i];
        GPKG_TRY(const auto found, index.find(text));
        if (found.rows().empty()) continue;
        const auto& home = homes_.emplace_back(found);
        home_lists_.clear();
        home_versions_.assign(home.version_count(), std::nullopt);
        const auto channel = channel_of_index_[i];
        std::optional<LeftOut::Why> why;
        if (!offers(index, name)) {
            why = LeftOut::Why::OtherChannel;
        } else if (problem_->priority == ChannelPriority::Strict && first_channel &&
                   *first_channel != channel) {
            why = LeftOut::Why::Hidden;
        } else {
            first_channel = channel;
        }
        const auto leave_out = [&](LeftOut::Why reason, const ChannelIndex::Row& row) {
            names_[name].left_out.push_back({reason, {&index, &home, &row}});
        };
        if (why) {
            for (const auto* row : home.choices(std::nullopt)) leave_out(*why, *row);
            continue;
        }
        for (const auto* row : home.choices(problem_->exclude_newer)) {
            GPKG_TRY(const auto out, add_row(name, {&index, &home, row}, channel));
            if (out) leave_out(*out, *row);
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

std::span<const SpecId> Universe::keep_list(std::vector<SpecId> list) {
    if (list.empty()) return {};
    return lists_.emplace_back(std::move(list));
}

Result<Universe::List> Universe::take_list(const ChannelRecord& record, ChannelIndex::List list) {
    if (list == 0) return List{};
    if (const auto found = home_lists_.find(list); found != home_lists_.end()) return found->second;
    auto& known = index_specs_[record.index];
    if (known.empty()) known.assign(record.index->spec_count(), kNone);
    List taken;
    std::vector<SpecId> specs;
    for (const auto number : record.home->specs(list)) {
        auto& id = known[number];
        if (id == kNone) {
            GPKG_TRY(const auto text, record.index->spec(number));
            const auto spec = intern_spec(text);
            const bool conditional = !spec && spec.error().kind == ErrorKind::Unsupported;
            id = spec ? *spec : conditional ? kConditional : kUnreadable;
        }
        if (id == kUnreadable) taken.why = LeftOut::Why::Unreadable;
        if (id == kConditional) taken.why = LeftOut::Why::Conditional;
        if (taken.why) break;
        specs.push_back(id);
    }
    if (!taken.why) taken.specs = keep_list(std::move(specs));
    return home_lists_.emplace(list, taken).first->second;
}

Result<std::optional<LeftOut::Why>> Universe::add_row(NameId name,
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
    if (!version) version = add_version(record.version());
    if (*version == kNone) return LeftOut::Why::Unreadable;
    GPKG_TRY(const auto depends, take_list(record, row.depends));
    if (depends.why) return depends.why;
    GPKG_TRY(const auto constrains, take_list(record, row.constrains));
    if (constrains.why) return constrains.why;
    candidate.depends = depends.specs;
    candidate.constrains = constrains.specs;
    candidate.version = *version;
    reach_from(candidate.depends, candidate.constrains);
    candidates_.push_back(candidate);
    return std::nullopt;
}

void Universe::add_given(NameId name, const PackageRecord& record, bool installed) {
    Candidate candidate;
    candidate.name = name;
    candidate.build_number = record.build_number;
    candidate.timestamp = record.timestamp;
    candidate.has_track_features = !record.track_features.empty();
    candidate.is_noarch = record.subdir == "noarch";
    candidate.is_installed = installed;
    candidate.given = &record;
    const auto version = add_version(record.version);
    if (version == kNone) {
        notes_.push_back(fmt::format("{}: has no readable version and cannot be solved for",
                                     record.distribution()));
        return;
    }
    candidate.version = version;
    // An installed package stays usable even where its metadata is older than today's rules.
    const auto readable = [&](const std::vector<std::string>& texts) {
        std::vector<SpecId> list;
        for (const auto& text : texts) {
            if (const auto id = intern_spec(text)) list.push_back(*id);
        }
        return keep_list(std::move(list));
    };
    candidate.depends = readable(record.depends);
    candidate.constrains = readable(record.constrains);
    reach_from(candidate.depends, candidate.constrains);
    candidates_.push_back(candidate);
}

void Universe::link_specs() {
    for (auto& spec : specs_) {
        const auto& name = names_[spec.name];
        const bool only_version = asks_only_version(spec.match);
        // Rows of one version mostly stand together, so the last answer is mostly the next one.
        VersionId last = kNone;
        bool last_matches = false;
        for (auto id = name.begin; id < name.end; ++id) {
            const auto& candidate = candidates_[id];
            if (spec.match.version) {
                if (candidate.version != last) {
                    last = candidate.version;
                    last_matches = spec.match.version->matches(versions_[last]);
                }
                if (!last_matches) continue;
            }
            if (only_version) {
                spec.matches.push_back(id);
                continue;
            }
            const auto& version = versions_[candidate.version];
            const bool fits = candidate.is_offered()
                                  ? candidate.offered.matches(spec.match, version)
                                  : given_matches(spec.match, *candidate.given, version);
            if (fits) spec.matches.push_back(id);
        }
    }
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
    note(LeftOut::Why::Conditional, "this gpkg does not solve `when` and `extras` of dependencies");
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
