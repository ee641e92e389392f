#include "cli/environments.hpp"
#include "cli/given_words.hpp"
#include "cli/workflow/ask/fitting.hpp"
#include "cli/workflow/ask/hints.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "cli/workflow/change.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/solve/accelerators.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_graph.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

/// Is what is installed the record that was chosen?
bool is_same(const PackageRecord& installed, const PackageRecord& chosen) {
    if (installed.name != chosen.name || installed.version != chosen.version ||
        installed.build != chosen.build)
        return false;
    if (!installed.sha256.empty() && !chosen.sha256.empty())
        return installed.sha256 == chosen.sha256;
    if (!installed.md5.empty() && !chosen.md5.empty()) return installed.md5 == chosen.md5;
    return installed.subdir == chosen.subdir;
}

void compare(Change& change,
             const Present& present,
             const std::vector<PackageRecord>& chosen,
             const std::vector<std::string>& reinstall) {
    std::set<std::string> remain;
    const auto* old_python = find_record(present.records, "python");
    const auto new_python = std::find_if(
        chosen.begin(), chosen.end(), [](const auto& record) { return record.name == "python"; });
    for (const auto& record : chosen) {
        remain.insert(record.name);
        const auto* old = find_record(present.records, record.name);
        if (old == nullptr) {
            change.link.push_back(record);
            continue;
        }
        const bool again =
            std::find(reinstall.begin(), reinstall.end(), record.name) != reinstall.end() ||
            (old_python != nullptr && new_python != chosen.end() &&
             needs_relink(*old, old_python->package, *new_python));
        if (is_same(old->package, record) && !again) {
            if (old->package.depends != record.depends ||
                old->package.constrains != record.constrains)
                change.mended.push_back(record);
            continue;
        }
        change.unlink.push_back(*old);
        change.link.push_back(record);
    }
    for (const auto& record : present.records) {
        if (!remain.contains(record.name())) change.unlink.push_back(record);
    }
}

/// A list may name a package file twice, but not two of one package.
Result<void> drop_repeated(std::vector<PackageRecord>& records) {
    std::map<std::string, PackageRecord> first;
    std::vector<PackageRecord> kept;
    for (auto& record : records) {
        const auto [place, fresh] = first.emplace(record.name, record);
        if (!fresh && !is_same(place->second, record))
            return fail(ErrorKind::Conflict,
                        fmt::format("{} is listed twice, as {} and as {}; an environment has one "
                                    "build of each package",
                                    record.name,
                                    place->second.fn,
                                    record.fn));
        if (fresh) kept.push_back(std::move(record));
    }
    records = std::move(kept);
    return {};
}

/// The variables to set; with `prune`, all others of the environment are unset.
Result<EnvVarChanges> variable_changes(const fs::path& path,
                                       const std::map<std::string, std::string>& variables,
                                       bool prune) {
    EnvVarChanges changes(variables.begin(), variables.end());
    if (!prune) return changes;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto present, prefix.env_vars());
    for (const auto& [name, value] : present) changes.try_emplace(name, std::nullopt);
    return changes;
}

/// Bounds of earlier requests that a bare name replaces: "numpy" after "numpy=1.24".
std::vector<std::string> notes_on_bounds(const Context& context,
                                         const std::vector<MatchSpec>& requested,
                                         const Question& question) {
    std::vector<std::string> notes;
    for (const auto& spec : requested) {
        MatchSpec bare;
        bare.name = spec.name;
        if (!(spec == bare)) continue;
        const auto& update = question.wanted.update;
        const auto* verb =
            std::ranges::find(update, spec.name) == update.end() ? "install" : "update";
        for (const auto& wish : question.present.wishes) {
            if (wish.name != spec.name || wish == bare) continue;
            // gpkg update --all tells of those at once.
            if (question.wanted.update_all && wish.build && wish.build->is_exact()) continue;
            const auto typed = as_typed(wish);
            notes.push_back(
                fmt::format("the bound {} no longer applies; to keep it: gpkg {} {} {}{}",
                            typed,
                            verb,
                            target_words(context, question.prefix),
                            shell_word(typed),
                            given_sources(context.arguments)));
        }
    }
    return notes;
}

/// The newest version in the channels that this spec excludes; empty where none is newer than the
/// installed one.
std::string newer_than_allowed(const Question& question,
                               const MatchSpec& spec,
                               const PackageRecord& installed) {
    const auto now = version_of(installed);
    if (!now || !spec.version) return {};
    std::string newest;
    std::optional<Version> best;
    for (const auto& index : question.problem.indexes) {
        const auto records = index->find(spec.name);
        if (!records) continue;
        const auto rows = records->choices(question.problem.exclude_newer);
        if (rows.empty()) continue;
        const auto text = records->version(*rows.front());
        auto version = Version::parse(text);
        if (!version || !(*now < *version) || spec.version->matches(*version)) continue;
        if (best && !(*best < *version)) continue;
        newest = text;
        best = *std::move(version);
    }
    return newest;
}

bool is_updated(const Wanted& wanted, const std::string& name) {
    return wanted.update_all || std::ranges::find(wanted.update, name) != wanted.update.end();
}

/// Packages of an update whose channel, given earlier with -c, is not searched now: a note for each
/// such channel.
std::vector<std::string> notes_on_unsearched_channels(const Context& context,
                                                      const Question& question,
                                                      const Change& change) {
    const auto is_searched = [&](const std::string& url) {
        return std::ranges::any_of(question.channels,
                                   [&](const auto& channel) { return channel.base_url() == url; });
    };
    const auto is_unlinked = [&](const PrefixRecord& record) {
        return std::ranges::any_of(change.unlink, [&](const PrefixRecord& other) {
            return other.name() == record.name();
        });
    };
    std::vector<std::string> notes;
    for (const auto& url : question.present.on_disk.channels) {
        if (is_searched(url)) continue;
        std::vector<std::string> names;
        for (const auto& record : question.present.records) {
            if (record.package.channel == url && is_updated(question.wanted, record.name()) &&
                !is_unlinked(record))
                names.push_back(record.name());
        }
        if (!names.empty()) notes.push_back(unsearched_text(context, names, url));
    }
    return notes;
}

/// Packages that an update leaves at an older version because of a pin or, where nothing changes,
/// because of the user's own request. Replaces the solver's notes on them, which name no reason.
void add_notes_on_kept_versions(const Context& context,
                                const Question& question,
                                const std::vector<PackageRecord>& records,
                                Change& change) {
    const auto& wanted = question.wanted;
    auto& notes = change.notes;
    // Whether there is a note.
    const auto note = [&](const MatchSpec& spec, std::string_view why, const std::string& hint) {
        if (!spec.has_one_name() || !is_updated(wanted, spec.name)) return false;
        const auto* before = find_record(question.present.records, spec.name);
        const auto* after = find_record(records, spec.name);
        if (before == nullptr || after == nullptr) return false;
        const auto newest = newer_than_allowed(question, spec, *after);
        if (newest.empty()) return false;
        std::erase_if(notes, [&](const Note& other) {
            return other.name == spec.name && !other.better.empty() && other.spec.empty();
        });
        auto& added = notes.emplace_back();
        added.name = spec.name;
        added.version = after->version;
        added.better = newest;
        added.aside = fmt::format("{} {}{}", why, as_typed(spec), hint);
        return true;
    };
    for (const auto& [spec, place] : question.present.pins) {
        const auto hint = place.ends_with("conda-meta/pinned")
                              ? fmt::format("; to unpin it: gpkg unpin {} {}",
                                            target_words(context, question.prefix),
                                            spec.name)
                              : fmt::format(" in {}", place);
        if (note(spec, "pinned to", hint)) change.held_by_pins.push_back(spec.name);
    }
    if (!change.is_nothing()) return;
    for (const auto& wish : question.present.wishes) {
        // The name of an update replaces its earlier request.
        if (std::ranges::find(wanted.update, wish.name) == wanted.update.end())
            note(wish, "requested as", "");
    }
}

/// With `prune`, names that were requested earlier and are not any more.
Result<std::vector<std::string>> forgotten_names(const fs::path& path,
                                                 const std::vector<MatchSpec>& requested,
                                                 bool prune) {
    std::vector<std::string> names;
    if (!prune) return names;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto history, prefix.history());
    std::set<std::string> again;
    for (const auto& spec : requested) again.insert(spec.name);
    for (const auto& [name, specs] : requested_by_name(history)) {
        if (!again.contains(name)) names.push_back(name);
    }
    return names;
}

/// What is to be remembered once `question` is answered and these records are there; nothing where
/// that is what is remembered already.
Result<std::optional<GpkgState>> state_after(const Context& context,
                                             const Question& question,
                                             const std::vector<PackageRecord>& records) {
    auto state = question.present.state;
    GPKG_CHECK(remember_channels(context, state, question.channels));
    remember(state, question.wanted.accelerators);
    remember_taken(state, question.problem.request.accelerators.all, records);
    std::erase_if(state.package_accelerators, [&](const auto& entry) {
        return std::none_of(records.begin(), records.end(), [&](const PackageRecord& record) {
            return record.name == entry.first;
        });
    });
    return state == question.present.on_disk ? std::nullopt : std::optional(std::move(state));
}

/// Whether only the order of the channels differs.
bool is_same_but_order(GpkgState a, GpkgState b) {
    std::ranges::sort(a.channels);
    std::ranges::sort(b.channels);
    return a == b;
}

/// Builds that an update kept go on to be asked for. Where such a one moves nothing, that is told.
void keep_builds(Change& change,
                 const Question& question,
                 const std::vector<PackageRecord>& records) {
    for (const auto& build : builds_kept(question.wanted, question.present)) {
        const auto* now = find_record(records, build.name);
        if (now == nullptr || !build.matches(*now)) continue;
        for (auto& spec : change.requested) {
            if (spec.name == build.name) spec = build;
        }
        const auto* before = find_record(question.present.records, build.name);
        if (before != nullptr && before->package.version == now->version &&
            before->package.build == now->build)
            change.notes.push_back(fmt::format(
                "{} keeps the build {} requested earlier; to allow any build, request '{}>=0'",
                build.name,
                build.build->text(),
                build.name));
    }
}

/// From now on somebody asked for something: what counted as asked for goes on to do so.
std::vector<MatchSpec> leaves_to_record(const std::vector<MatchSpec>& leaves,
                                        const Change& change,
                                        const Solution& solution) {
    std::vector<MatchSpec> recorded;
    std::ranges::copy_if(leaves, std::back_inserter(recorded), [&](const MatchSpec& leaf) {
        const auto is_it = [&](const auto& other) { return other.name == leaf.name; };
        return std::ranges::any_of(solution.records, is_it) &&
               std::ranges::none_of(change.requested, is_it);
    });
    return recorded;
}

/// Whether a channel has a build of the package for the accelerator.
bool has_build(const Question& question, const std::string& name, Accelerator accelerator) {
    return std::ranges::any_of(question.problem.indexes, [&](const auto& index) {
        const auto records = index->find(name);
        if (!records) return false;
        const auto rows = records->choices(question.problem.exclude_newer);
        return std::ranges::any_of(rows, [&](const auto* row) {
            const auto record = index->record(*records, *row);
            return record && accelerator_of(*record).accelerator == accelerator;
        });
    });
}

/// The vendor of the GPUs that the user named with --for; none where there are two, or an
/// accelerator is given as well.
std::optional<Accelerator> named_vendor(const Context& context, const Question& question) {
    const auto& wanted = question.wanted.accelerators;
    const auto& known = question.problem.virtual_packages;
    if (question.machine.given.empty() || !wanted.empty() ||
        !context.config.accelerator.value.empty() || !question.present.state.accelerator.empty())
        return std::nullopt;
    const auto vendors = vendors_with(known, has_device);
    return vendors.size() == 1 ? std::optional(vendors.front()) : std::nullopt;
}

/// How to give facts of the machine that are assumed, if installed packages of the solution need
/// other values.
std::optional<std::string> note_on_assumed(const Question& question,
                                           const std::vector<PackageRecord>& records) {
    const auto& known = question.problem.virtual_packages;
    std::vector<std::string> unmet;
    for (const auto& record : records) {
        for (const auto& need : unmet_needs(record, known)) {
            if (need.there != nullptr && is_assumed(*need.there))
                unmet.push_back(unmet_text(need, question.machine.name));
        }
    }
    return unmet.empty() ? std::nullopt : assumed_note(question.machine.given, known, unmet);
}

/// What the solution means for the GPUs and the driver of the machine. `link`: its new records.
std::vector<std::string> notes_on_machine(const Context& context,
                                          const Question& question,
                                          const std::vector<PackageRecord>& records,
                                          const std::vector<PackageRecord>& link) {
    std::vector<std::string> notes;
    const auto& known = question.problem.virtual_packages;
    if (auto note = note_on_cuda_minor_version(known, link)) {
        const auto* driver = find_record(known, "__cuda");
        if (is_assumed(*driver)) {
            MatchSpec any;
            any.name = driver->name;
            *note += "; to give another value: " +
                     how_to_give(question.machine.given, {std::move(any), driver});
        }
        notes.push_back(*std::move(note));
    }
    const auto vendor = named_vendor(context, question);
    const bool has_any_build = std::ranges::any_of(records, [](const PackageRecord& record) {
        return !accelerator_of(record).evidence.empty() || is_vendor_part(record.name);
    });
    if (!vendor || has_any_build || question.wanted.specs.empty()) return notes;
    std::vector<std::string> names;
    for (const auto& spec : question.wanted.specs) {
        if (has_build(question, spec.name, *vendor)) return notes;
        names.push_back(spec.name);
    }
    notes.push_back(fmt::format("{} {} no {} builds in these channels",
                                join_some(names, "and"),
                                names.size() == 1 ? "has" : "have",
                                compute_platform(*vendor)));
    return notes;
}

/// With -v, prints how long the solve and each of its steps took.
Result<Outcome> timed_answer(Output& out, Question& question) {
    Phase phase(out, "solve");
    if (out.verbosity() < 1) return answer_to(question);
    std::vector<std::pair<std::string, double>> steps;
    // A request may be put to the solver in several ways.
    question.problem.on_step = [&](std::string_view step, double seconds) {
        const auto known =
            std::ranges::find_if(steps, [&](const auto& one) { return one.first == step; });
        if (known == steps.end())
            steps.emplace_back(step, seconds);
        else
            known->second += seconds;
    };
    auto outcome = answer_to(question);
    question.problem.on_step = {};
    for (const auto& [step, seconds] : steps) phase.add(fmt::format("{} {:.3f} s", step, seconds));
    return outcome;
}

/// gpkg requests pip for a 'pip:' section; the user may never have named it.
bool lacks_only_pip(const Explanation& explanation) {
    if (explanation.clashes.size() != 1 || !explanation.more.empty()) return false;
    const auto& lines = explanation.clashes.front().lines;
    return lines.size() == 1 && lines.front().name == "pip" && !lines.front().channels.empty();
}

Result<Change> answer(Context& context, const ChangeRequest& request, Question question) {
    const auto leaves = question.present.leaves;
    GPKG_CHECK(settle_vendor(context, question));
    GPKG_TRY(auto outcome, timed_answer(context.out, question));
    GPKG_CHECK(check_stop(context));
    if (const auto* explanation = std::get_if<Explanation>(&outcome)) {
        if (!request.pip.empty() && lacks_only_pip(*explanation))
            return fail(ErrorKind::Unsatisfiable,
                        "the 'pip:' section needs the package pip, which no channel has",
                        "add a channel that has it with -c CHANNEL, or delete the 'pip:' section");
        return pass(unsatisfiable(context, question, *explanation));
    }
    auto solution = std::get<Solution>(std::move(outcome));

    Change change;
    change.prefix = request.prefix;
    change.creates = !Prefix::is_environment(request.prefix);
    change.channels = question.channels;
    change.platform = question.machine.platform;
    change.virtual_packages = question.problem.virtual_packages;
    if (question.machine.profile) change.machine = question.machine.name;
    change.requested = question.wanted.specs;
    GPKG_TRY(change.variables, variable_changes(request.prefix, request.variables, request.prune));
    GPKG_TRY(change.removed_specs,
             forgotten_names(request.prefix, question.wanted.specs, request.prune));
    GPKG_CHECK(check_pip_sections(request.pip, solution.records));
    change.pip = request.pip;
    change.notes = std::move(solution.notes);
    append(change.notes, notes_on_pins(question));
    // With the setting, every environment without GPU packages would have the note.
    if (context.config.accelerator.value.empty()) {
        if (auto note = note_on_no_gpu_build(
                question.wanted.accelerators, question.wanted.specs, solution.records))
            change.notes.push_back(*std::move(note));
    }
    append(change.notes,
           notes_on_own_choices(question.wanted.accelerators,
                                question.present.on_disk,
                                question.problem.request.update));
    keep_builds(change, question, solution.records);
    append(change.notes, notes_on_bounds(context, change.requested, question));
    GPKG_TRY(change.state, state_after(context, question, solution.records));
    compare(change, question.present, solution.records, request.reinstall);
    if (!change.is_nothing())
        append(change.notes, notes_on_machine(context, question, solution.records, change.link));
    for (const auto& record : change.link) {
        if (auto reason = build_reason(question, record); !reason.empty())
            change.build_reasons.emplace(record.name, std::move(reason));
    }
    add_notes_on_kept_versions(context, question, solution.records, change);
    append(change.notes, notes_on_unsearched_channels(context, question, change));
    if (auto note = note_on_assumed(question, solution.records))
        change.notes.push_back(*std::move(note));
    if (change.is_nothing() && change.state &&
        is_same_but_order(*change.state, question.present.on_disk))
        change.state.reset();
    if (!change.is_nothing()) {
        for (auto& leaf : leaves_to_record(leaves, change, solution))
            change.requested.push_back(std::move(leaf));
    }
    return change;
}

}  // namespace

Result<Change> decide(Context& context,
                      const SourceOptions& options,
                      const ChangeRequest& request) {
    GPKG_TRY(auto question, question_of(context, options, request));
    return answer(context, request, std::move(question));
}

Result<Change> decide(Context& context, const Sources& sources, const ChangeRequest& request) {
    GPKG_TRY(auto question, question_of(context, sources, request));
    return answer(context, request, std::move(question));
}

Result<Change> exactly(ExactRequest request) {
    GPKG_CHECK(drop_repeated(request.records));
    GPKG_TRY(const auto present, look_at(request.prefix));
    Change change;
    change.creates = !Prefix::is_environment(request.prefix);
    const bool prune = request.prune && !change.creates;
    GPKG_TRY(change.variables, variable_changes(request.prefix, request.variables, prune));
    GPKG_TRY(change.removed_specs, forgotten_names(request.prefix, request.requested, prune));
    change.prefix = std::move(request.prefix);
    change.requested = std::move(request.requested);
    change.from_archives = request.records_are_bare;
    change.channels = std::move(request.channels);
    change.notes = std::move(request.notes);
    change.if_gone = std::move(request.if_gone);
    change.lock = std::move(request.lock);
    if (request.state != GpkgState{}) {
        change.state = std::move(request.state);
        // What is asked for says nothing of these.
        const auto& before = present.on_disk;
        if (change.state->link_scripts.empty()) change.state->link_scripts = before.link_scripts;
        if (change.state->channels.empty()) change.state->channels = before.channels;
        if (change.state->unknown_keys.empty()) change.state->unknown_keys = before.unknown_keys;
    }
    GPKG_CHECK(check_pip_sections(request.pip, request.records));
    change.pip = std::move(request.pip);
    const RecordGraph graph(std::move(request.records), change.requested);
    for (const auto place : graph.dependencies_first()) {
        const auto& record = graph.records()[place];
        if (const auto* old = find_record(present.records, record.name)) {
            if (is_same(old->package, record) && !request.again) continue;
            change.unlink.push_back(*old);
        }
        change.link.push_back(record);
        if (change.platform.empty() && !record.subdir.empty() && record.subdir != "noarch")
            change.platform = record.subdir;
    }
    for (const auto& old : present.records) {
        if (prune && find_record(graph.records(), old.name()) == nullptr)
            change.unlink.push_back(old);
    }
    return change;
}

Result<Change> return_to(const Context& context,
                         const fs::path& prefix,
                         const Generation& generation) {
    GPKG_TRY(const auto present, look_at(prefix));
    Change change;
    change.prefix = prefix;
    change.restores = generation.number;
    GPKG_TRY(change.channels, wanted_channels(context, {}));
    GPKG_TRY(const auto opened, Prefix::open(prefix));
    GPKG_TRY(const auto history, opened.history());
    // All of them, so that they are asked for again in their old order.
    for (const auto& [name, specs] : requested_by_name(history))
        change.removed_specs.push_back(name);
    for (const auto& text : generation.requested) {
        GPKG_TRY(auto spec, MatchSpec::parse(text));
        change.requested.push_back(std::move(spec));
    }
    if (generation.state != present.on_disk) change.state = generation.state;
    std::vector<PackageRecord> records;
    records.reserve(generation.packages.size());
    for (const auto& package : generation.packages) records.push_back(package.record);
    const RecordGraph graph(std::move(records), change.requested);
    std::vector<PackageRecord> chosen;
    for (const auto place : graph.dependencies_first()) chosen.push_back(graph.records()[place]);
    compare(change, present, chosen, {});
    return change;
}

}  // namespace gpkg::cli
