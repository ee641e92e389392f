#include "cli/workflow/change.hpp"
#include "cli/workflow/reach.hpp"
#include "cli/workflow/unsatisfiable.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/spec/record_graph.hpp"
#include "solver/solver.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <fmt/format.h>
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

/// What is there already, as far as it bears on a new request.
struct Present {
    std::vector<PrefixRecord> records;
    std::vector<MatchSpec> wishes;  ///< specs of earlier requests
    std::vector<MatchSpec> pins;
};

Result<Present> look_at(const fs::path& path) {
    Present present;
    if (!Prefix::is_environment(path)) return present;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(present.records, prefix.records());
    GPKG_TRY(const auto history, prefix.history());
    for (const auto& [name, text] : requested_specs(history)) {
        // A spec another tool wrote may be beyond reading; the package then is kept as installed.
        if (auto spec = MatchSpec::parse(text);
            spec && find_record(present.records, name) != nullptr)
            present.wishes.push_back(*std::move(spec));
    }
    return present;
}

Result<std::vector<MatchSpec>> pins_of(const fs::path& path) {
    std::vector<MatchSpec> pins;
    if (!Prefix::is_environment(path)) return pins;
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto texts, prefix.pinned_specs());
    for (const auto& text : texts) {
        auto pin = MatchSpec::parse(text);
        if (!pin)
            return pass(std::move(pin).error().while_doing(
                fmt::format("{}/conda-meta/pinned", path.native())));
        pins.push_back(*std::move(pin));
    }
    return pins;
}

/// A change of python's minor version re-links half of an environment: only on request.
std::optional<MatchSpec> python_pin(const Present& present, const std::set<std::string>& named) {
    const auto* python = find_record(present.records, "python");
    if (python == nullptr || named.contains("python")) return std::nullopt;
    const auto parts = split(python->package.version, '.');
    if (parts.size() < 2) return std::nullopt;
    auto pin = MatchSpec::parse(fmt::format("python {}.{}.*", parts[0], parts[1]));
    return pin ? std::optional(*std::move(pin)) : std::nullopt;
}

Request request_of(const ChangeRequest& wanted, const Present& present) {
    Request request;
    request.specs = wanted.specs;
    request.update = wanted.update;
    request.update_all = wanted.update_all;
    request.no_dependencies = wanted.reach.no_deps;
    for (const auto& pin : present.pins) request.constraints.push_back({pin});

    std::set<std::string> named;
    for (const auto& spec : wanted.specs) named.insert(spec.name);
    if (wanted.reach.freeze_installed || wanted.reach.no_deps) {
        freeze(request,
               present.records,
               named,
               wanted.reach.no_deps ? "--no-deps" : "--freeze-installed");
    } else {
        for (const auto& wish : present.wishes) {
            if (!named.contains(wish.name)) request.specs.push_back(wish);
        }
        if (auto pin = python_pin(present, named))
            request.constraints.push_back(
                {*std::move(pin), "holds: python keeps its minor version unless it is named"});
    }
    for (const auto& record : present.records) {
        request.installed.push_back(record.package);
        request.keep.push_back(record.name());
    }
    return request;
}

/// A request, and where it is put.
struct Question {
    const ChangeRequest& wanted;
    Present present;
    Request request;
};

Result<Question> question_of(const ChangeRequest& wanted) {
    GPKG_TRY(auto present, look_at(wanted.prefix));
    if (!wanted.reach.no_pin) {
        GPKG_TRY(present.pins, pins_of(wanted.prefix));
    }
    auto request = request_of(wanted, present);
    return Question{wanted, std::move(present), std::move(request)};
}

/// The names from which all that bears on it can be reached.
std::vector<std::string> names_of(const Request& request) {
    std::vector<std::string> names = request.keep;
    const auto add = [&](const MatchSpec& spec) {
        if (spec.has_one_name()) names.push_back(spec.name);
    };
    for (const auto& spec : request.specs) add(spec);
    for (const auto& constraint : request.constraints) add(constraint.spec);
    for (const auto& record : request.installed) names.push_back(record.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
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
        if (is_same(old->package, record) && !again) continue;
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
                        fmt::format("{}: listed as {} and as {}; one environment holds one",
                                    record.name,
                                    place->second.fn,
                                    record.fn));
        if (fresh) kept.push_back(std::move(record));
    }
    records = std::move(kept);
    return {};
}

Result<Solution> solve(Context& context, const Problem& problem, const Question& question) {
    GPKG_TRY(auto outcome, solver::solve(problem));
    GPKG_CHECK(check_stop(context));
    if (const auto* explanation = std::get_if<Explanation>(&outcome)) {
        const Asked asked{context, question.wanted, question.request, question.present.pins.size()};
        return pass(unsatisfiable(asked, *explanation));
    }
    return std::get<Solution>(std::move(outcome));
}

Result<Change> answer(Context& context, const Sources& sources, const Question& question) {
    const auto& [wanted, present, request] = question;
    Problem problem;
    problem.indexes = sources.indexes;
    problem.priority = sources.priority;
    problem.virtual_packages = sources.virtual_packages;
    problem.exclude_newer = sources.exclude_newer;
    if (sources.platform != virtual_packages::this_machine().native_platform)
        problem.machine = fmt::format("a target {}", sources.platform);
    problem.request = request;
    GPKG_TRY(auto solution, solve(context, problem, question));
    if (wanted.reach.update_deps) {
        const auto needed = needed_by(wanted.specs, solution);
        problem.request.update.insert(problem.request.update.end(), needed.begin(), needed.end());
        GPKG_TRY(solution, solve(context, problem, question));
    }

    Change change;
    change.prefix = wanted.prefix;
    change.creates = !Prefix::is_environment(wanted.prefix);
    change.channels = sources.channels;
    change.platform = sources.platform;
    change.requested = wanted.specs;
    change.variables = wanted.variables;
    change.notes = std::move(solution.notes);
    if (wanted.reach.only_deps)
        leave_named_out(solution.records, change.requested, present.records, present.wishes);
    compare(change, present, solution.records, wanted.reinstall);
    return change;
}

}  // namespace

Result<Change> decide(Context& context,
                      const SourceOptions& options,
                      const ChangeRequest& request) {
    GPKG_TRY(const auto question, question_of(request));
    GPKG_TRY(const auto sources, open_sources(context, options, names_of(question.request)));
    return answer(context, sources, question);
}

Result<Change> decide(Context& context, const Sources& sources, const ChangeRequest& request) {
    GPKG_TRY(const auto question, question_of(request));
    return answer(context, sources, question);
}

Result<Change> exactly(ExactRequest request) {
    GPKG_CHECK(drop_repeated(request.records));
    GPKG_TRY(const auto present, look_at(request.prefix));
    Change change;
    change.creates = !Prefix::is_environment(request.prefix);
    change.prefix = std::move(request.prefix);
    change.requested = std::move(request.requested);
    change.variables = std::move(request.variables);
    change.from_archives = request.records_are_bare;
    const RecordGraph graph(std::move(request.records), change.requested);
    for (const auto place : graph.dependencies_first()) {
        const auto& record = graph.records()[place];
        if (const auto* old = find_record(present.records, record.name)) {
            if (is_same(old->package, record) && !request.again) continue;
            change.unlink.push_back(*old);
        }
        change.link.push_back(record);
    }
    return change;
}

}  // namespace gpkg::cli
