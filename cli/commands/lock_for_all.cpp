#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/ask/unsatisfiable.hpp"
#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/request.hpp"
#include "cli/workflow/progress.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/classes/regions.hpp"
#include "solver/solver.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Regions& found,
             const LockFile& lock,
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
    for (std::size_t i = 0; i < found.regions.size(); ++i) {
        const auto& region = found.regions[i];
        Json packages = Json::array();
        for (const auto& record : region.solution.records) packages.push_back(record.url);
        document["classes"].push_back(
            {{"name", region.name},
             {"needs", region.needs},
             {"restricts", restrictions_beside_needs(lock, lock.classes[i])},
             {"useful_with", useful_with(lock, lock.classes[i])},
             {"machines", cells(region.points)},
             {"packages", std::move(packages)}});
    }
    document["unsatisfiable"] = cells(found.unsatisfiable);
    document["take_another"] = cells(others);
    return document;
}

/// "<2.17" of "<2.4" and ">=2.4,<2.17", the first and the last of some that follow each other;
/// nothing where one of them is a name or "none".
std::optional<std::string> joined(std::string_view first, std::string_view last) {
    const auto is_range = [](std::string_view text) {
        return text.starts_with(">=") || text.starts_with('<');
    };
    if (!is_range(first) || !is_range(last)) return std::nullopt;
    const auto from = first.starts_with(">=") ? first.substr(0, first.find(',')) : "";
    const auto end = last.find('<');
    const auto to = end == std::string_view::npos ? "" : last.substr(end);
    if (from.empty() && to.empty()) return "in any version";
    return fmt::format("{}{}{}", from, from.empty() || to.empty() ? "" : ",", to);
}

/// "__cuda <12", "__cuda none": the cells of an axis that count, of which those that follow each
/// other are one.
template <typename Counts>
std::vector<std::string> cell_texts(const HardwareSpace::Axis& axis, const Counts& counts) {
    const auto& [name, cells] = axis;
    std::vector<std::string> texts;
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        if (!counts(cell)) continue;
        auto range = cells[cell].range;
        const auto first = cell;
        while (cell + 1 < cells.size() && counts(cell + 1)) {
            auto wider = joined(cells[first].range, cells[cell + 1].range);
            if (!wider) break;
            range = *std::move(wider);
            ++cell;
        }
        texts.push_back(fmt::format("{} {}", name, range));
    }
    return texts;
}

/// The machines of an axis' cells that have no answer, whatever else they are.
std::vector<std::string> hopeless_cells(const Regions& found) {
    const auto& points = found.space.points();
    const std::set<std::size_t> bad(found.unsatisfiable.begin(), found.unsatisfiable.end());
    const auto is_hopeless = [&](std::size_t axis, std::size_t cell) {
        for (std::size_t point = 0; point < points.size(); ++point) {
            if (points[point].cells[axis] == cell && !bad.contains(point)) return false;
        }
        return true;
    };
    std::vector<std::string> texts;
    for (std::size_t axis = 0; axis < found.space.axes().size(); ++axis)
        append(texts, cell_texts(found.space.axes()[axis], [&](std::size_t cell) {
                   return is_hopeless(axis, cell);
               }));
    return texts;
}

/// What tells a region's machines from those of others that need the same, where one virtual
/// package does: "__cuda_arch <7.5", which packages are not made for and none of them says.
std::vector<std::string> apart_from_likes(const Regions& found, const Region& region) {
    const auto cells_of = [&](const Region& of, std::size_t axis) {
        std::set<std::size_t> cells;
        for (const auto point : of.points) cells.insert(found.space.points()[point].cells[axis]);
        return cells;
    };
    std::vector<std::string> texts;
    for (std::size_t axis = 0; axis < found.space.axes().size(); ++axis) {
        const auto own = cells_of(region, axis);
        const bool tells = std::ranges::any_of(found.regions, [&](const Region& other) {
            if (&other == &region || other.needs != region.needs) return false;
            return std::ranges::none_of(cells_of(other, axis),
                                        [&](std::size_t cell) { return own.contains(cell); });
        });
        if (!tells) continue;
        const auto ranges = cell_texts(found.space.axes()[axis],
                                       [&](std::size_t cell) { return own.contains(cell); });
        texts.push_back(join_some(ranges, "or", ranges.size()));
    }
    return texts;
}

/// What each region has of a package that was asked for: "2.12.0 cpu_0".
struct AskedColumn {
    std::string name;
    std::vector<std::string> cells;

    bool is_same_in_all() const {
        return std::ranges::all_of(cells, [&](const auto& cell) { return cell == cells.front(); });
    }
};

std::vector<AskedColumn> asked_columns(const Regions& found, const ChangeRequest& wanted) {
    std::vector<AskedColumn> columns;
    for (const auto& spec : wanted.specs) {
        if (std::ranges::find(columns, spec.name, &AskedColumn::name) != columns.end()) continue;
        auto& column = columns.emplace_back(AskedColumn{spec.name, {}});
        for (const auto& region : found.regions) {
            const auto* of = find_record(region.solution.records, spec.name);
            column.cells.push_back(of == nullptr ? "" : of->version + " " + of->build);
        }
    }
    return columns;
}

/// The classes of the lock are the regions, in their order.
void tell(Context& context,
          const Regions& found,
          const LockFile& lock,
          const ChangeRequest& wanted) {
    constexpr std::size_t kMostSame = 5;
    auto& out = context.out;
    std::vector<std::string> same;
    auto columns = asked_columns(found, wanted);
    std::erase_if(columns, [&](const AskedColumn& column) {
        if (!column.is_same_in_all()) return false;
        if (!column.cells.front().empty()) same.push_back(column.name + " " + column.cells.front());
        return true;
    });
    Table table;
    std::vector<std::string> head{"class", "machines"};
    for (const auto& column : columns) head.push_back(column.name);
    head.emplace_back("needs");
    table.add(std::move(head));
    for (std::size_t i = 0; i < found.regions.size(); ++i) {
        const auto& region = found.regions[i];
        std::vector<std::string> row{region.name, std::to_string(region.points.size())};
        for (const auto& column : columns) row.push_back(column.cells[i]);
        auto needs = needs_text(lock, lock.classes[i]);
        if (const auto apart = apart_from_likes(found, region); !apart.empty())
            needs += fmt::format("; for machines with {}", join_some(apart, "and", apart.size()));
        row.push_back(std::move(needs));
        table.add(std::move(row));
    }
    out.print(table);
    out.print(fmt::format(
        "{} for {} kinds of machines ({} solves)",
        found.regions.size() == 1 ? "1 class" : fmt::format("{} classes", found.regions.size()),
        found.space.points().size(),
        found.solves));
    if (!same.empty())
        out.print(fmt::format("same in all classes: {}", join_some(same, "and", kMostSame)));
    if (found.unsatisfiable.empty()) return;
    const auto hopeless = hopeless_cells(found);
    out.print(fmt::format("cannot be solved for {} of these kinds{}{}",
                          found.unsatisfiable.size(),
                          hopeless.empty() ? "" : ", including all with ",
                          join_some(hopeless, "or", 8)));
}

/// What any machine of the platform has.
std::vector<PackageRecord> bare_machine(const std::string& platform) {
    virtual_packages::HardwareProfile profile;
    profile.platform = platform;
    const auto no_overrides = [](std::string_view) { return std::optional<std::string>(); };
    return virtual_packages::virtual_packages_of(profile, platform, no_overrides).records();
}

/// Of no machine that there is: none is looked at.
Result<Question> question_for_all(Context& context,
                                  const SourceOptions& options,
                                  const ChangeRequest& request) {
    Seen seen;
    GPKG_TRY(seen.machine, machine_of(context, options));
    seen.virtual_packages = bare_machine(seen.machine.platform);
    GPKG_TRY(const auto channels, wanted_channels(context, options));
    const auto names = names_of(request_of(request, Present{}, seen.virtual_packages));
    GPKG_TRY(const auto sources, open_sources(context, std::move(seen), channels, options, names));
    return question_of(context, sources, request);
}

Result<Regions> regions_of(Context& context, const Question& question) {
    Progress progress(context.out);
    return decision_regions(question.problem,
                            bare_machine(question.machine.platform),
                            solver::solve,
                            [&](std::size_t done, std::size_t total) {
                                progress.count("solving", done, total, "kinds of machines");
                            });
}

}  // namespace

Result<int> write_for_all(Context& context, const ForAllOptions& options) {
    auto sources = options.sources;
    GPKG_TRY(const auto request, lock_wishes(context, options.wishes, sources));
    GPKG_TRY(auto asked, lock_request_of(context, sources, request));
    GPKG_CHECK(check_names_any(asked.wishes));
    warn_of_pip(context, asked.wishes.pip);
    GPKG_TRY(auto question, question_for_all(context, sources, request));
    GPKG_CHECK(check_accelerator_names({&question}));
    GPKG_TRY(const auto found, regions_of(context, question));
    GPKG_CHECK(check_stop(context));
    if (found.regions.empty()) {
        auto& problem = question.problem;
        GPKG_TRY(problem.virtual_packages, detected_packages(context, question.machine));
        problem.request = request_of(request, question.present, problem.virtual_packages);
        GPKG_TRY(const auto outcome, answer_to(question));
        const auto* explanation = std::get_if<Explanation>(&outcome);
        return explanation == nullptr
                   ? fail(ErrorKind::Unsatisfiable, "cannot be solved for any machine")
                   : pass(unsatisfiable(context, question, *explanation));
    }
    GPKG_TRY(
        auto lock,
        lock_of_regions(
            found,
            {"", question.machine.platform, question.problem, request.accelerators.are_several()}));
    for (const auto& channel : question.channels) lock.channels.push_back({channel.base_url(), {}});
    lock.request = std::move(asked);
    lock.request.digest = request_digest(lock);
    const auto others = points_that_take_another(found, lock);
    if (!options.dry_run) GPKG_CHECK(write_lock(lock, LockFormat::Gpkg, options.output));
    if (context.out.json_mode()) {
        context.out.json(json_of(found, lock, others, options));
        return 0;
    }
    tell(context, found, lock, request);
    if (!others.empty())
        context.out.note(
            fmt::format("note: {} kinds of machines install another class than their own, because "
                        "the needs of a class select it",
                        others.size()));
    context.out.print(options.dry_run
                          ? kDryRun
                          : fmt::format("wrote {0}; to install it: gpkg create -n NAME --lock {0}",
                                        options.output));
    return 0;
}

}  // namespace gpkg::cli::locks
