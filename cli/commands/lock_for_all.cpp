#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/answer.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/regions.hpp"
#include "cli/workflow/lock/request.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Regions& found,
             const std::vector<std::size_t>& others,
             const ForAllOptions& options) {
    Json document{{"success", true},
                  {"dry_run", options.dry_run},
                  {"file", options.output},
                  {"solves", found.solves},
                  {"axes", Json::array()},
                  {"classes", Json::array()}};
    for (const auto& axis : found.space.axes()) {
        Json ranges = Json::array();
        for (const auto& cell : axis.cells) ranges.push_back(cell.range);
        document["axes"].push_back({{"name", axis.name}, {"ranges", std::move(ranges)}});
    }
    const auto cells = [&](const std::vector<std::size_t>& points) {
        Json list = Json::array();
        for (const auto point : points) list.push_back(found.space.points()[point].cells);
        return list;
    };
    for (const auto& region : found.regions) {
        Json packages = Json::array();
        for (const auto& record : region.solution.records) packages.push_back(record.url);
        document["classes"].push_back({{"name", region.name},
                                       {"needs", region.needs},
                                       {"machines", cells(region.points)},
                                       {"packages", std::move(packages)}});
    }
    document["unsatisfiable"] = cells(found.unsatisfiable);
    document["take_another"] = cells(others);
    return document;
}

/// The machines of an axis' cells that have no answer, whatever else they are.
std::vector<std::string> hopeless_cells(const Regions& found) {
    std::vector<std::string> texts;
    const auto& axes = found.space.axes();
    const auto& points = found.space.points();
    const std::set<std::size_t> bad(found.unsatisfiable.begin(), found.unsatisfiable.end());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        for (std::size_t cell = 0; cell < axes[axis].cells.size(); ++cell) {
            bool all_bad = true;
            for (std::size_t point = 0; point < points.size() && all_bad; ++point)
                all_bad = points[point].cells[axis] != cell || bad.contains(point);
            if (all_bad) texts.push_back(axes[axis].name + " " + axes[axis].cells[cell].range);
        }
    }
    return texts;
}

void tell(Context& context, const Regions& found, const ChangeRequest& wanted) {
    auto& out = context.out;
    Table table;
    std::vector<std::string> head{"class", "machines"};
    for (const auto& spec : wanted.specs) head.push_back(spec.name);
    head.emplace_back("needs");
    table.add(std::move(head));
    for (const auto& region : found.regions) {
        std::vector<std::string> row{region.name, std::to_string(region.points.size())};
        for (const auto& spec : wanted.specs) {
            const auto& records = region.solution.records;
            const auto of = std::find_if(records.begin(), records.end(), [&](const auto& record) {
                return record.name == spec.name;
            });
            row.push_back(of == records.end() ? "" : of->version + " " + of->build);
        }
        row.push_back(fmt::format("{}", fmt::join(region.needs, ", ")));
        table.add(std::move(row));
    }
    for (const auto& line : table.lines()) out.print(line);
    out.print(fmt::format(
        "{} for {} kinds of machines that packages tell apart; {} solves",
        found.regions.size() == 1 ? "1 answer" : fmt::format("{} answers", found.regions.size()),
        found.space.points().size(),
        found.solves));
    if (found.unsatisfiable.empty()) return;
    const auto hopeless = hopeless_cells(found);
    out.print(fmt::format("no answer for {} of them{}{}",
                          found.unsatisfiable.size(),
                          hopeless.empty() ? "" : ", among them all with ",
                          join_some(hopeless, "or", 8)));
}

}  // namespace

Result<int> write_for_all(Context& context, const ForAllOptions& options) {
    auto sources = options.sources;
    GPKG_TRY(const auto request, lock_wishes(context, options.wishes, sources));
    GPKG_TRY(auto asked, lock_request_of(context, sources, request));
    GPKG_TRY(auto question, question_of(context, sources, request));
    GPKG_TRY(const auto found, decision_regions(context, question));
    if (found.regions.empty()) {
        GPKG_TRY(const auto outcome, answer_to(question));
        const auto* explanation = std::get_if<Explanation>(&outcome);
        return explanation == nullptr ? fail(ErrorKind::Unsatisfiable, "no machine has an answer")
                                      : pass(unsatisfiable(context, question, *explanation));
    }
    GPKG_TRY(auto lock, lock_of_regions(found, question, std::move(asked)));
    lock.request.digest = request_digest(lock);
    const auto others = points_that_take_another(found, lock);
    if (!options.dry_run) GPKG_CHECK(write_lock(lock, LockFormat::Gpkg, options.output));
    if (context.out.json_mode()) {
        context.out.json(json_of(found, others, options));
        return 0;
    }
    tell(context, found, request);
    if (!others.empty())
        context.out.note(
            fmt::format("note: {} of them take another class of the lock than their "
                        "own: a lock chooses by what a class needs",
                        others.size()));
    if (!options.dry_run)
        context.out.print(
            fmt::format("wrote {0}:  gpkg create -n NAME --lock {0}", options.output));
    return 0;
}

}  // namespace gpkg::cli::locks
