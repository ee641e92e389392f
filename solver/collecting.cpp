// What the request can reach, name after name, and which records of a name are candidates at all:
// for the accelerators that the request allows, and, of what is installed, those that keep what is
// kept of it.

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "solver/candidate_maker.hpp"
#include "solver/derived_dependencies.hpp"
#include "solver/running.hpp"
#include "solver/universe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace gpkg::solver {
namespace {

// More than most requests reach. Reserved memory that is not used costs nothing; growing the
// vectors copies every candidate.
constexpr std::size_t kLikelyCandidates = std::size_t{1} << 17U;

bool names_match(const MatchSpec& spec, std::string_view name) {
    if (spec.has_one_name()) return spec.name == name;
    return spec.name == "*" || spec.name_matcher->matches(name);
}

/// Whether one of the name's records matches the spec, which may ask for no more than the name.
Result<bool> has_match(const ChannelIndex& index, std::string_view name, const MatchSpec& spec) {
    MatchSpec bare;
    bare.name = spec.name;
    bare.name_matcher = spec.name_matcher;
    if (bare == spec) return true;
    GPKG_TRY(const auto home, index.find(name));
    return std::ranges::any_of(home.rows(), [&](const ChannelIndex::Row& row) {
        return ChannelRecord{&index, &home, &row}.matches(spec);
    });
}

/// Taking every package that a glob fits is never what was meant. "*[md5=...]" mostly means one.
Result<void> refuse_glob(const MatchSpec& spec, const Problem& problem) {
    std::set<std::string> found;
    for (const auto& index : problem.indexes) {
        for (const auto name : index->names()) {
            if (!names_match(spec, name)) continue;
            GPKG_TRY(const bool matches, has_match(*index, name, spec));
            if (matches) found.emplace(name);
        }
    }
    if (found.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("no package in the channels matches '{}'", spec.to_string()));
    auto hint = std::string("request one of them by name");
    if (found.size() == 1) {
        auto named = spec;
        named.name = *found.begin();
        named.name_matcher.reset();
        hint = fmt::format("request '{}'", named.to_string());
    }
    const std::vector<std::string> names(found.begin(), found.end());
    return fail(ErrorKind::Usage,
                fmt::format("'{}' is a pattern, not a package name; it matches {}",
                            spec.to_string(),
                            join_some(names, "and")),
                std::move(hint));
}

/// What of a name the requested accelerators allow:
///
///   of a package that is requested, only builds for the accelerator, where there are GPU builds
///   of a dependency the same where it has builds for the accelerator
///   of any, no builds for other GPUs
///
/// What is installed stays until somebody asks for a change.
class AllowedAccelerators {
public:
    AllowedAccelerators(const Universe& universe, NameId id, std::span<const Candidate> candidates)
        : wanted_(*universe.preferred_accelerator(id)) {
        const auto& accelerators = universe.accelerators();
        const auto& name = universe.names()[id].text;
        const auto has = [&](const auto& fits) { return std::ranges::any_of(candidates, fits); };
        is_own_choice_ = accelerators.of_package.contains(name);
        is_named_ = universe.is_requested(id) || is_own_choice_;
        binds_without_any_ = is_named_ && accelerators.is_bound_without_any(name);
        may_stay_ = !accelerators.is_asked(name);
        has_choice_ = has([&](const auto& one) {
            return one.says_accelerator_itself() &&
                   (one.accelerator != Accelerator::None || binds_without_any_);
        });
        for (const auto& one : candidates) {
            if (one.says_accelerator_itself() && one.accelerator == wanted_)
                with_wanted_.insert(one.version);
        }
        is_strict_ = is_named_ || !with_wanted_.empty();
    }

    bool allow(const Candidate& candidate) const {
        if (candidate.accelerator == wanted_ || (candidate.is_installed && may_stay_)) return true;
        // What is brought is bound by itself, and may be freed by itself.
        const bool is_bound = candidate.says_accelerator_itself() || is_own_choice_;
        if (is_bound && candidate.accelerator != Accelerator::None) return false;
        if (!has_choice_ || !is_strict_) return true;
        return !candidate.says_accelerator_itself() && !binds_without_any_ &&
               (is_named_ ? with_wanted_.empty() : !with_wanted_.contains(candidate.version));
    }

private:
    Accelerator wanted_;
    bool is_own_choice_;
    bool is_named_;
    bool binds_without_any_;
    bool may_stay_;
    bool has_choice_;
    bool is_strict_;
    std::set<VersionId> with_wanted_;  ///< versions that have builds for the accelerator
};

}  // namespace

class Collecting {
public:
    explicit Collecting(const Problem& problem)
        : problem_(problem),
          universe_(problem),
          maker_(problem.request, table_, universe_.versions_) {}

    Result<void> collect_reached() {
        candidates_.reserve(kLikelyCandidates);
        universe_.versions_.reserve(kLikelyCandidates);
        count_channels();
        const auto& request = problem_.request;
        universe_.found_accelerator_ =
            request.accelerators.preferred ? request.accelerators.preferred
            : universe_.names_cuda()
                ? Accelerator::Nvidia
                : found_accelerator(request.installed, problem_.virtual_packages);
        GPKG_CHECK(take_request());
        while (!queue_.empty()) {
            if (problem_.stop.stop_requested()) return fail(ErrorKind::Interrupted, "interrupted");
            const auto name = queue_.back();
            queue_.pop_back();
            GPKG_CHECK(collect(name));
        }
        return {};
    }

    Result<Universe> finish() && {
        GPKG_CHECK(check_extras());
        table_.link(candidates_, universe_.versions_);
        DerivedDependencies derived(problem_, table_, candidates_, universe_.versions_);
        leave_out_accelerators(derived);
        derived.read_toolkits();
        excuse_installed();
        universe_.derived_ = derived.add(universe_.unpublished_);
        universe_.require(Universe::Together::Required);
        mark_dependents(table_, candidates_);
        note_ignored_condition();
        GPKG_CHECK(note_unknown_in_conditions());
        note_unreadable();
        return std::move(universe_);
    }

private:
    void count_channels() {
        std::string last_channel;
        for (const auto& index : problem_.indexes) {
            const auto& channel = index->source().channel;
            auto& ranks = channel_of_index_;
            if (ranks.empty()) {
                ranks.push_back(0);
            } else {
                ranks.push_back(channel == last_channel ? ranks.back() : ranks.back() + 1);
            }
            last_channel = channel;
        }
    }

    Result<void> take_request() {
        const auto& request = problem_.request;
        for (const auto& constraint : request.constraints) {
            if (constraint.spec.when)
                return fail(
                    ErrorKind::Usage,
                    fmt::format("{}: when= is allowed only in requested specs and dependencies",
                                constraint.spec.to_string()),
                    "pin it without when=");
        }
        for (const auto& spec : request.specs) {
            if (!spec.has_one_name()) GPKG_CHECK(refuse_glob(spec, problem_));
            GPKG_TRY(const auto id,
                     spec.when ? take_conditional(spec) : Result<SpecId>(table_.intern(spec)));
            universe_.requested_.push_back(id);
        }
        // Parts of a toolkit are there for GPU builds, and go with these.
        const bool gives_up_gpu = request.accelerators.all_is_asked &&
                                  request.accelerators.all == AcceleratorChoice::None;
        for (const auto& name : request.keep) {
            if (!gives_up_gpu || !is_toolkit_part(name))
                universe_.kept_.push_back(table_.intern_name(name));
        }

        // In this order, so that ids, and with them every tie, do not depend on the records' order.
        for (const auto id : universe_.requested_) reach(specs()[id].name);
        for (const auto id : universe_.kept_) reach(id);
        return {};
    }

    /// CEP 43. A condition that the machine alone decides leaves a plain spec, or one that asks for
    /// nothing.
    Result<SpecId> take_conditional(const MatchSpec& spec) {
        const auto text = spec.to_string();
        GPKG_TRY(const auto dependency, table_.intern(text));
        if (specs()[dependency].when == kAlways) {
            auto plain = spec;
            plain.when.reset();
            return table_.intern(std::move(plain));
        }
        MatchSpec whole;
        whole.name = "request of " + text;
        const auto id = table_.intern(whole);
        auto& name = name_at(specs()[id].name);
        if (std::exchange(name.is_request, true)) return id;
        universe_.conditional_.push_back(dependency);
        auto& record = universe_.unpublished_.emplace_back();
        record.name = whole.name;
        record.version = "0";
        record.depends = {text};
        return id;
    }

    void take_constraints(NameId name) {
        for (const auto& constraint : problem_.request.constraints) {
            const auto& text = names()[name].text;
            if (!names_match(constraint.spec, text) ||
                (names()[name].is_virtual && !constraint.spec.has_one_name()))
                continue;
            auto spec = constraint.spec;
            spec.name = text;
            spec.name_matcher.reset();
            universe_.constraints_.push_back(table_.intern(std::move(spec)));
            universe_.constraint_of_.push_back(&constraint);
        }
    }

    void reach(NameId name) {
        if (names()[name].is_reached) return;
        name_at(name).is_reached = true;
        queue_.push_back(name);
    }

    /// Conditions reach nothing: what nobody brings is not there, and they do not hold.
    void reach_from(const Candidate& candidate) {
        for (const auto id : candidate.depends) reach(specs()[id].name);
        for (const auto id : candidate.conditional) reach(specs()[id].name);
        if (universe_.is_requested(candidate.name)) {
            for (const auto id : candidate.not_asked) reach(specs()[id].name);
        }
        // What a package constrains need not be there, but the machine is.
        for (const auto id : candidate.constrains) {
            if (table_.name_of(id).is_virtual) reach(specs()[id].name);
        }
    }

    Result<void> collect(NameId name) {
        name_at(name).begin = static_cast<CandidateId>(candidates_.size());
        take_constraints(name);
        if (names()[name].is_virtual || names()[name].is_request) {
            const auto add = [&](const PackageRecord& record) {
                if (record.name == names()[name].text) add_given(name, record, false);
            };
            std::ranges::for_each(problem_.virtual_packages, add);
            std::ranges::for_each(universe_.unpublished_, add);
        } else {
            GPKG_CHECK(collect_rows(name));
            collect_installed(name);
            leave_out_changed_builds(name);
            bind(name, std::span<const Candidate>(candidates_).subspan(names()[name].begin));
            leave_out(name, [&](const Candidate& candidate) {
                return candidate.says_accelerator ? why_not_allowed(candidate) : std::nullopt;
            });
        }
        name_at(name).end = static_cast<CandidateId>(candidates_.size());
        for (const auto& candidate : std::span(candidates_).subspan(names()[name].begin))
            reach_from(candidate);
        return {};
    }

    /// A request or a pin may name the channel: then its spec rules the others out.
    bool is_named(NameId name, const ChannelIndex& index) const {
        const auto names_it = [&](SpecId id) {
            const auto& spec = specs()[id];
            return spec.name == name && spec.match.channel &&
                   channel_matches(*spec.match.channel, index.source().channel);
        };
        return std::ranges::any_of(universe_.requested_, names_it) ||
               std::ranges::any_of(universe_.conditional_, names_it) ||
               std::ranges::any_of(universe_.constraints_, names_it);
    }

    Result<void> collect_rows(NameId name) {
        const std::string text = names()[name].text;
        std::optional<std::uint32_t> first_channel;
        for (std::size_t i = 0; i < problem_.indexes.size(); ++i) {
            const auto& index = *problem_.indexes[i];
            GPKG_TRY(const auto found, index.find(text));
            if (found.rows().empty()) continue;
            const auto& home = universe_.homes_.emplace_back(found);
            maker_.begin(home);
            const auto channel = channel_of_index_[i];
            if (!first_channel) first_channel = channel;
            const bool is_hidden = problem_.priority == ChannelPriority::Strict &&
                                   channel != first_channel && !is_named(name, index) &&
                                   !keeping_.may_come_of(text, index.source().channel);
            const auto leave_out = [&](LeftOut::Why reason, const ChannelIndex::Row& row) {
                name_at(name).left_out.push_back({reason, {&index, &home, &row}, channel});
            };
            if (is_hidden) {
                for (const auto* row : home.choices(std::nullopt))
                    leave_out(LeftOut::Why::Hidden, *row);
                continue;
            }
            for (const auto* row : home.choices(problem_.exclude_newer)) {
                GPKG_TRY(const auto candidate, maker_.of_row(name, {&index, &home, row}, channel));
                if (candidate) {
                    candidates_.push_back(*candidate);
                } else {
                    leave_out(LeftOut::Why::Unreadable, *row);
                }
            }
            if (!problem_.exclude_newer) continue;
            for (const auto* row : home.choices(std::nullopt)) {
                if (row->appeared() > *problem_.exclude_newer) leave_out(LeftOut::Why::Newer, *row);
            }
        }
        return {};
    }

    void collect_installed(NameId name) {
        for (const auto& record : problem_.request.installed) {
            if (record.name != names()[name].text) continue;
            const auto same =
                std::find_if(candidates_.begin() + names()[name].begin,
                             candidates_.end(),
                             [&](const Candidate& candidate) {
                                 if (!candidate.is_offered() || candidate.build() != record.build ||
                                     universe_.versions_[candidate.version].to_string() !=
                                         to_lower(record.version))
                                     return false;
                                 if (!record.sha256.empty() && !candidate.sha256().empty())
                                     return record.sha256 == candidate.sha256();
                                 return candidate.offered.channel() == record.channel;
                             });
            if (same != candidates_.end()) {
                same->is_installed = true;
            } else {
                add_given(name, record, true);
            }
        }
    }

    /// Of a record that its channel does not have any more. From a channel that is not asked, it
    /// counts as one of the best that has the name: the version then decides.
    std::uint32_t channel_of(NameId name, const PackageRecord& record) const {
        for (std::size_t i = 0; i < problem_.indexes.size(); ++i) {
            if (problem_.indexes[i]->source().channel == record.channel)
                return channel_of_index_[i];
        }
        const auto first = names()[name].begin;
        return first < candidates_.size() ? candidates_[first].channel : 0;
    }

    void add_given(NameId name, const PackageRecord& record, bool is_installed) {
        auto candidate = maker_.of_given(name, record);
        if (!candidate) {
            universe_.notes_.push_back(
                fmt::format("{}: invalid version; ignored", record.distribution()));
            return;
        }
        candidate->is_installed = is_installed;
        candidate->channel = channel_of(name, record);
        candidates_.push_back(*candidate);
    }

    /// A group that only some records have is fine (CEP 44); one that none has is a slip.
    Result<void> check_extras() const {
        auto requested = universe_.requested_;
        requested.insert(
            requested.end(), universe_.conditional_.begin(), universe_.conditional_.end());
        for (const auto id : requested) {
            const auto& spec = specs()[id];
            const auto& name = names()[spec.name];
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
                return fail(ErrorKind::NotFound,
                            fmt::format("{}: no build of {} has the extra '{}'",
                                        spec.match.to_string(),
                                        name.text,
                                        group),
                            !near.empty()   ? fmt::format("did you mean {}?", join_some(near, "or"))
                            : known.empty() ? name.text + " has no extras"
                                            : "available extras: " + join_some(known, "and"));
            }
        }
        return {};
    }

    void note_ignored_condition() {
        if (const auto id = table_.first_ignored())
            universe_.notes_.push_back(
                fmt::format("{} in constrains: when= is ignored", specs()[*id].text));
    }

    /// A condition of the request on a name that nobody has never holds: mostly a slip.
    Result<void> note_unknown_in_conditions() {
        for (const auto id : universe_.conditional_) {
            for (const auto leaf : universe_.leaves(specs()[id].when)) {
                const auto& name = names()[specs()[leaf].name];
                bool is_known = name.is_virtual || name.begin != name.end;
                for (const auto& index : problem_.indexes) {
                    if (is_known) break;
                    GPKG_TRY(const auto found, index->find(name.text));
                    is_known = !found.rows().empty();
                }
                if (!is_known)
                    universe_.notes_.push_back(fmt::format(
                        "{} is ignored: no searched channel has {}", specs()[id].text, name.text));
            }
        }
        return {};
    }

    void note_unreadable() {
        std::size_t count = 0;
        for (const auto& name : names())
            count += static_cast<std::size_t>(
                std::ranges::count(name.left_out, LeftOut::Why::Unreadable, &LeftOut::why));
        if (count > 0)
            universe_.notes_.push_back(
                fmt::format("ignored {} record{} with an invalid version or dependency",
                            count,
                            count == 1 ? "" : "s"));
    }

    /// An installed package is there whether or not this machine could use it: an environment for
    /// GPUs is managed from login nodes that have none.
    void excuse_installed() {
        for (auto& candidate : candidates_) {
            if (!candidate.is_installed) continue;
            const auto lacking = [&](SpecId id) {
                return table_.name_of(id).is_virtual && specs()[id].matches.empty();
            };
            const auto broken = [&](SpecId id) {
                const auto& name = table_.name_of(id);
                return name.begin != name.end && lacking(id);
            };
            std::vector<SpecId> excused;
            const auto excuse = [&](std::span<const SpecId>& from, const auto& is_unmet) {
                std::vector<SpecId> kept;
                for (const auto id : from) (is_unmet(id) ? excused : kept).push_back(id);
                if (kept.size() < from.size()) from = table_.keep(std::move(kept));
            };
            excuse(candidate.depends, lacking);
            excuse(candidate.constrains, broken);
            candidate.excused = table_.keep(std::move(excused));
            // Whether these apply is not known, so nothing is said of them.
            excuse(candidate.conditional, lacking);
        }
    }

    /// Gives `why_not` each candidate of the name, and leaves it out where that has a reason.
    template <typename WhyNot>
    void leave_out(NameId name, const WhyNot& why_not) {
        auto& left_out = name_at(name).left_out;
        const auto begin = candidates_.begin() + names()[name].begin;
        const auto kept = std::stable_partition(
            begin, candidates_.end(), [&](const auto& candidate) { return !why_not(candidate); });
        for (auto gone = kept; gone != candidates_.end(); ++gone) {
            if (gone->is_offered())
                left_out.push_back({*why_not(*gone), gone->offered, gone->channel});
        }
        candidates_.erase(kept, candidates_.end());
    }

    void leave_out_changed_builds(NameId name) {
        const auto kept = keeping_.kept_of(names()[name].text,
                                           std::span(candidates_).subspan(names()[name].begin));
        if (!kept) return;
        leave_out(name, [&](const Candidate& candidate) { return kept->why_not(candidate); });
    }

    /// What builds do not say themselves they leave to what they need: there it counts that
    /// somebody asked for an accelerator.
    void pass_on_accelerators() {
        auto& accelerators = universe_.accelerators_;
        std::vector<NameId> asking;
        for (const auto& [text, choice] : accelerators.of_package) {
            const auto name = table_.find_name(text);
            if (name && accelerators.is_bound(text)) asking.push_back(*name);
        }
        for (std::size_t i = 0; i < asking.size(); ++i) {
            const auto& name = names()[asking[i]];
            for (const auto& candidate : universe_.candidates_of(asking[i])) {
                if (candidate.says_accelerator) continue;
                for (const auto spec : candidate.depends) {
                    const auto& needed = table_.name_of(spec);
                    if (needed.is_virtual || accelerators.of_package.contains(needed.text) ||
                        (accelerators.is_bound(needed.text) &&
                         universe_.is_requested(specs()[spec].name)))
                        continue;
                    const auto choice = accelerators.choice(name.text);
                    if (!accelerators.of_dependency.emplace(needed.text, choice).second) continue;
                    if (accelerators.is_asked(name.text))
                        accelerators.asked_packages.insert(needed.text);
                    asking.push_back(specs()[spec].name);
                    bind(asking.back(), universe_.candidates_of(asking.back()));
                }
            }
        }
    }

    /// Where one package has an accelerator of its own, what nobody requested may be for that.
    bool is_bound(NameId id) const {
        const auto& accelerators = universe_.accelerators();
        const auto& name = names()[id].text;
        return accelerators.is_bound(name) &&
               (accelerators.of_package.empty() || accelerators.of_package.contains(name) ||
                accelerators.of_dependency.contains(name) || universe_.is_requested(id));
    }

    void bind(NameId id, std::span<const Candidate> candidates) {
        if (is_bound(id)) allowed_.try_emplace(id, universe_, id, candidates);
    }

    std::optional<LeftOut::Why> why_not_allowed(const Candidate& candidate) const {
        const auto of = allowed_.find(candidate.name);
        return of == allowed_.end() || of->second.allow(candidate)
                   ? std::nullopt
                   : std::optional(LeftOut::Why::Accelerator);
    }

    /// Builds that do not say themselves what they are for: that depends on what is left of the
    /// packages that they need.
    void leave_out_accelerators(DerivedDependencies& derived) {
        derived.infer_accelerators();
        pass_on_accelerators();
        if (allowed_.empty()) return;
        if (!universe_.accelerators().of_dependency.empty()) {
            leave_out_of_all([&](const Candidate& candidate) {
                return candidate.says_accelerator ? why_not_allowed(candidate) : std::nullopt;
            });
            derived.infer_accelerators();
        }
        leave_out_of_all([&](const Candidate& candidate) { return why_not_allowed(candidate); });
    }

    template <typename WhyNot>
    void leave_out_of_all(const WhyNot& why_not) {
        std::vector<Candidate> all;
        std::swap(all, candidates_);
        for (NameId id = 0; id < names().size(); ++id) {
            const auto name = names()[id];
            name_at(id).begin = static_cast<CandidateId>(candidates_.size());
            candidates_.insert(candidates_.end(), all.begin() + name.begin, all.begin() + name.end);
            if (name.begin != name.end) leave_out(id, why_not);
            name_at(id).end = static_cast<CandidateId>(candidates_.size());
        }
        table_.link(candidates_, universe_.versions_);
    }

    const std::vector<Name>& names() const { return table_.names(); }
    const std::vector<Spec>& specs() const { return table_.specs(); }
    Name& name_at(NameId id) { return table_.name(id); }

    const Problem& problem_;
    Universe universe_;
    SpecTable& table_ = universe_.table_;
    std::vector<Candidate>& candidates_ = universe_.candidates_;
    const Keeping& keeping_ = universe_.keeping_;
    CandidateMaker maker_;
    std::vector<NameId> queue_;
    std::vector<std::uint32_t> channel_of_index_;
    std::map<NameId, AllowedAccelerators> allowed_;  ///< of names that are bound
};

Result<Universe> Universe::collect(const Problem& problem) {
    Collecting collecting(problem);
    GPKG_CHECK(collecting.collect_reached());
    return std::move(collecting).finish();
}

}  // namespace gpkg::solver
