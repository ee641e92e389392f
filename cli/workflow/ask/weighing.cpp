#include "cli/workflow/ask/weighing.hpp"

#include "cli/workflow/ask/dependencies.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/disk_use.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

using Sizes = std::vector<std::optional<std::uint64_t>>;

/// Files that are not where their record says would make the sum look smaller than it was.
void warn_of_missing(Context& context,
                     const std::vector<PrefixRecord>& records,
                     const std::vector<DiskUse>& uses) {
    std::size_t files = 0;
    std::vector<std::string> names;
    for (std::size_t place = 0; place < uses.size(); ++place) {
        if (uses[place].missing == 0) continue;
        files += uses[place].missing;
        names.push_back(records[place].name());
    }
    if (files > 0)
        context.out.warn(fmt::format("{} file{} of {} {} missing and not counted",
                                     files,
                                     files == 1 ? "" : "s",
                                     join_some(names, "and"),
                                     files == 1 ? "is" : "are"));
}

std::vector<std::size_t> places_of(const RecordGraph& graph, const std::vector<MatchSpec>& specs) {
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < graph.records().size(); ++place) {
        const auto asks = [&](const MatchSpec& spec) {
            return spec.matches(graph.records()[place]);
        };
        if (std::any_of(specs.begin(), specs.end(), asks)) places.push_back(place);
    }
    return places;
}

}  // namespace

Result<Weighed> weigh_environment(Context& context, const TargetOptions& target) {
    GPKG_TRY(const auto installed, read_installed(context, target));
    GPKG_TRY(const auto history, installed.prefix.history());
    const auto& path = installed.prefix.path();
    const auto uses = disk_use(path, installed.records);
    warn_of_missing(context, installed.records, uses);
    if (const auto others = pip_packages(path, installed.records).size(); others > 0)
        context.out.note(fmt::format("note: {} that pip installed {} not counted",
                                     others == 1 ? "a package" : fmt::format("{} packages", others),
                                     others == 1 ? "is" : "are"));
    Sizes sizes;
    sizes.reserve(uses.size());
    for (const auto& use : uses) sizes.emplace_back(use.bytes);
    std::uint64_t downloads = 0;
    for (const auto& record : installed.records) downloads += record.package.size;
    auto graph = graph_of(installed.records);
    std::vector<std::size_t> requested;
    for (const auto& [name, specs] : requested_by_name(history)) {
        if (const auto place = graph.find(name)) requested.push_back(*place);
    }
    return Weighed{path.native(), true, Closure(std::move(graph), sizes, requested), downloads};
}

Result<Weighed> weigh_request(Context& context, const WishOptions& options, SourceOptions sources) {
    GPKG_TRY(auto wishes, read_wishes(context, options, sources));
    if (!wishes.files.empty())
        return fail(ErrorKind::Usage,
                    "gpkg closure needs an environment, specs or a lock, not package files",
                    "to see the dependencies of a package file: gpkg inspect FILE");
    if (wishes.specs.empty())
        return fail(ErrorKind::Usage, "no packages given", "gpkg closure torch");
    auto request = change_request(std::move(wishes));
    for (const auto& section : request.pip)
        context.out.note(
            fmt::format("note: {}: packages under 'pip:' are not counted", section.name()));
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    GPKG_TRY(auto answer, decide(context, sources, request));
    for (const auto& note : answer.notes) context.out.tell(note);

    std::vector<std::string> words;
    words.reserve(request.specs.size());
    for (const auto& spec : request.specs) words.push_back(dependency_text(spec.to_string(), ""));
    return weigh_records(
        fmt::format("{}", fmt::join(words, ", ")), std::move(answer.link), request.specs);
}

Weighed weigh_records(std::string what,
                      std::vector<PackageRecord> records,
                      const std::vector<MatchSpec>& specs) {
    Sizes sizes;
    sizes.reserve(records.size());
    for (const auto& record : records)
        sizes.push_back(record.size == 0 ? std::nullopt : std::optional(record.size));
    RecordGraph graph(std::move(records), specs);
    const auto requested = places_of(graph, specs);
    return Weighed{std::move(what), false, Closure(std::move(graph), sizes, requested)};
}

std::optional<Error> over_limit(const Weighed& weighed, std::uint64_t limit) {
    const auto& closure = weighed.closure;
    const auto total = closure.total();
    if (total <= limit && closure.unknown_sizes() == 0) return std::nullopt;
    if (total <= limit)
        return Error{
            ErrorKind::NotFound,
            fmt::format("{}: cannot compare with --max-closure {}: the channel gives no size "
                        "for {}; the rest is {}",
                        weighed.what,
                        human_size(limit),
                        count_text(closure.unknown_sizes(), "package"),
                        human_size(total)),
            "create an environment from it and name it with -n",
            {}};
    std::vector<std::string> heaviest;
    for (const auto place : closure.heaviest()) {
        if (heaviest.size() == 4) break;
        heaviest.push_back(fmt::format(
            "{} ({})", closure.record(place).name, human_size(closure.packages()[place].size)));
    }
    // The least dependency that would do: edges() has the heaviest first.
    const ClosureEdge* enough = nullptr;
    for (const auto& edge : closure.edges()) {
        if (edge.saves >= total - limit) enough = &edge;
    }
    return Error{
        ErrorKind::Conflict,
        fmt::format("{}: the total size is {} {}, {} over --max-closure {}; the largest are {}",
                    weighed.what,
                    human_size(total),
                    weighed.measure(),
                    human_size(total - limit),
                    human_size(limit),
                    join_some(heaviest, "and", heaviest.size())),
        enough == nullptr
            ? "no single dependency is that large; see what several cost with --without SPEC"
            : fmt::format("without the dependency of {} on {}, it would be {}",
                          closure.record(enough->from).name,
                          closure.record(enough->to).name,
                          human_size(total - enough->saves)),
        {}};
}

Result<std::size_t> place_in(const Weighed& weighed, const std::string& name) {
    if (const auto place = weighed.closure.graph().find(name)) return *place;
    std::vector<std::string> names;
    for (const auto& record : weighed.closure.graph().records()) names.push_back(record.name);
    const auto near = near_names(name, names);
    return fail(
        ErrorKind::NotFound,
        weighed.is_installed
            ? fmt::format("{} is not installed in {}", name, weighed.what)
            : fmt::format("{}: not one of the {} packages of {}", name, names.size(), weighed.what),
        did_you_mean(near));
}

}  // namespace gpkg::cli
