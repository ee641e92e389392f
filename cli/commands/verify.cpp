#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/health/damage.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct VerifyOptions {
    TargetOptions target;
    bool store = false;
    bool quick = false;
};

/// 1 where something differs. `repair` is the command that removes the damage, `purpose` what it
/// does, with {} for "it" or "them".
int tell(Output& out,
         const Examined& examined,
         fmt::format_string<std::string_view> purpose,
         const std::string& repair,
         const std::string& moved) {
    auto list = Json::array();
    for (const auto* found : {&examined.damage, &examined.lost}) {
        for (const auto& one : *found) {
            list.push_back({{"package", one.package}, {"path", one.path}, {"what", one.what}});
            out.result(fmt::format("{}: {} {}", one.package, printable(one.path), one.what));
        }
    }
    const bool is_sound = list.empty() && examined.interruption.empty() && !examined.moved_from;
    if (out.json_mode()) {
        Json document{{"sound", is_sound},
                      {"packages", examined.packages},
                      {"interrupted", !examined.interruption.empty()},
                      {"damage", list}};
        if (examined.moved_from) document["moved_from"] = examined.moved_from->native();
        out.json(document);
    }
    if (!examined.interruption.empty())
        out.note_failure(
            fmt::format("{}; to complete or undo it: {}", examined.interruption, repair));
    if (!moved.empty()) out.note_failure(moved);
    if (!list.empty()) {
        const bool is_one = examined.damaged_packages() == 1;
        const auto damaged = fmt::format("{} of {} {} damaged",
                                         examined.damaged_packages(),
                                         count_text(examined.packages, "package"),
                                         is_one ? "is" : "are");
        out.note_failure(fmt::format("{}; {}: {}",
                                     damaged,
                                     fmt::format(purpose, std::string_view(is_one ? "it" : "them")),
                                     repair));
    }
    if (is_sound)
        out.print(fmt::format("{} verified: no damage", count_text(examined.packages, "package")));
    return is_sound ? 0 : 1;
}

}  // namespace

Action bind_verify(CLI::App& app) {
    const auto options = std::make_shared<VerifyOptions>();
    add_target_options(app, options->target);
    app.add_flag("--store", options->store, "verify the package store, not an environment")
        ->excludes("--name")
        ->excludes("--prefix");
    app.add_flag("--quick", options->quick, "compare types and sizes only, not contents");
    app.footer(
        "Compares every installed file with its package. The exit status is 1 if a file is missing "
        "or differs, or if the environment was moved without gpkg.\n"
        "\n"
        "  gpkg verify -n ml\n"
        "  gpkg verify -n ml --quick\n"
        "  gpkg verify --store\n");

    return [options](Context& context) -> Result<int> {
        if (options->store) {
            GPKG_TRY(const auto examined, examine_store(context, options->quick));
            return tell(
                context.out, examined, "to remove {} from the store", "gpkg repair --store", "");
        }
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_TRY(const auto examined, examine_environment(context, prefix, options->quick));
        const auto moved =
            examined.moved_from ? moved_text(context, prefix, *examined.moved_from) : std::string();
        return tell(context.out,
                    examined,
                    "to restore {}",
                    "gpkg repair " + target_words(context, prefix),
                    moved);
    };
}

}  // namespace gpkg::cli
