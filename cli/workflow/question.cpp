#include "cli/workflow/question.hpp"

#include "cli/workflow/reach.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "virtual-packages/host.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

Result<std::vector<MatchSpec>> pins_of(const fs::path& path) {
    std::vector<MatchSpec> pins;
    if (path.empty() || !Prefix::is_environment(path)) return pins;
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
        // Also what is only looked at may be named to be moved.
        named.insert(wanted.update.begin(), wanted.update.end());
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

/// The names from which all that bears on it can be reached.
std::vector<std::string> names_of(const Request& request) {
    std::vector<std::string> names = request.keep;
    const auto add = [&](const MatchSpec& spec) {
        if (spec.has_one_name()) names.push_back(spec.name);
    };
    for (const auto& spec : request.specs) add(spec);
    for (const auto& constraint : request.constraints) add(constraint.spec);
    for (const auto& record : request.installed) names.push_back(record.name);
    names.insert(names.end(), request.update.begin(), request.update.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Result<Present> present_for(const ChangeRequest& request) {
    GPKG_TRY(auto present, look_at(request.prefix));
    if (!request.reach.no_pin) {
        GPKG_TRY(present.pins, pins_of(request.prefix));
    }
    return present;
}

Question put(const Context& context,
             const Sources& sources,
             const ChangeRequest& wanted,
             Present present,
             Request request) {
    Question question;
    question.wanted = wanted;
    question.present = std::move(present);
    question.channels = sources.channels;
    question.machine = sources.machine;
    auto& problem = question.problem;
    problem.indexes = sources.indexes;
    problem.priority = sources.priority;
    problem.virtual_packages = sources.virtual_packages;
    problem.exclude_newer = sources.exclude_newer;
    problem.stop = context.stop;
    problem.machine = sources.machine.name;
    problem.request = std::move(request);
    return question;
}

}  // namespace

Result<Present> look_at(const fs::path& path) {
    Present present;
    if (path.empty() || !Prefix::is_environment(path)) return present;
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

Result<Question> question_of(Context& context,
                             const SourceOptions& options,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(wanted));
    auto request = request_of(wanted, present);
    GPKG_TRY(const auto sources, open_sources(context, options, names_of(request)));
    return put(context, sources, wanted, std::move(present), std::move(request));
}

Result<Question> question_of(Context& context,
                             const Sources& sources,
                             const ChangeRequest& wanted) {
    GPKG_TRY(auto present, present_for(wanted));
    auto request = request_of(wanted, present);
    return put(context, sources, wanted, std::move(present), std::move(request));
}

}  // namespace gpkg::cli
