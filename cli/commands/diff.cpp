#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/record_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DiffOptions {
    TargetOptions target;
    std::uint64_t before = 0;
    std::uint64_t after = 0;  ///< 0: what is installed now
};

std::string text_of(const PackageRecord& record) {
    return fmt::format("{} {} {}", record.version, record.build, short_channel(record.channel));
}

void print(Output& out, const std::vector<PackageDifference>& changes) {
    Table table;
    for (const auto& change : changes) {
        if (change.before == nullptr)
            table.add({"+ " + change.name(), "", text_of(*change.after)});
        else if (change.after == nullptr)
            table.add({"- " + change.name(), text_of(*change.before)});
        else
            table.add({"~ " + change.name(), text_of(*change.before), text_of(*change.after)});
    }
    for (const auto& line : table.lines()) out.result(line);
    out.note(changes.empty() ? "no packages differ" : counted(changes));
}

Result<int> show(Context& context, const fs::path& prefix, const DiffOptions& options) {
    GPKG_TRY(const auto before, generation_named(context, prefix, options.before));
    GPKG_TRY(const auto after,
             options.after == 0 ? present_generation(prefix)
                                : generation_named(context, prefix, options.after));
    const auto changes = differences(before, after);
    if (!context.out.json_mode()) {
        print(context.out, changes);
        return 0;
    }
    auto list = Json::array();
    for (const auto& change : changes)
        list.push_back({{"name", change.name()},
                        {"before", change.before == nullptr ? Json() : record_json(*change.before)},
                        {"after", change.after == nullptr ? Json() : record_json(*change.after)}});
    context.out.json(list);
    return 0;
}

}  // namespace

Action bind_diff(CLI::App& app) {
    const auto options = std::make_shared<DiffOptions>();
    app.add_option("before", options->before, "number of the first generation")
        ->required()
        ->type_name("GENERATION")
        ->check(whole_number_from(1));
    app.add_option("after",
                   options->after,
                   "number of the second generation (default: the installed packages)")
        ->type_name("GENERATION")
        ->check(whole_number_from(1));
    add_target_options(app, options->target);
    app.footer(
        "Shows the packages added (+), removed (-) and changed (~) between two generations. `gpkg "
        "history` lists the generations, `gpkg list --diff` compares two environments.\n"
        "\n"
        "  gpkg diff 3 5 -n ml  # from generation 3 to generation 5\n"
        "  gpkg diff 3 -n ml    # from generation 3 to the installed packages\n");

    return [options](Context& context) -> Result<int> {
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        return show(context, prefix, *options);
    };
}

}  // namespace gpkg::cli
