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
/// does.
int tell(Output& out,
         const Examined& examined,
         std::string_view purpose,
         const std::string& repair) {
    auto list = Json::array();
    for (const auto* found : {&examined.damage, &examined.lost}) {
        for (const auto& one : *found) {
            list.push_back({{"package", one.package}, {"path", one.path}, {"what", one.what}});
            out.result(fmt::format("{}: {} {}", one.package, printable(one.path), one.what));
        }
    }
    const bool is_sound = list.empty() && !examined.is_interrupted;
    if (out.json_mode())
        out.json({{"sound", is_sound},
                  {"packages", examined.packages},
                  {"interrupted", examined.is_interrupted},
                  {"damage", list}});
    if (examined.is_interrupted)
        out.note(
            fmt::format("an earlier command was interrupted; to complete or undo it: {}", repair));
    if (!list.empty())
        out.note(fmt::format("{} of {} {} damaged; {}: {}",
                             examined.damaged_packages(),
                             count_text(examined.packages, "package"),
                             examined.damaged_packages() == 1 ? "is" : "are",
                             purpose,
                             repair));
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
        "or differs.\n"
        "\n"
        "  gpkg verify -n ml\n"
        "  gpkg verify -n ml --quick\n"
        "  gpkg verify --store\n");

    return [options](Context& context) -> Result<int> {
        if (options->store) {
            GPKG_TRY(const auto examined, examine_store(context, options->quick));
            return tell(
                context.out, examined, "to remove them from the store", "gpkg repair --store");
        }
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_TRY(const auto examined, examine_environment(context, prefix, options->quick));
        return tell(context.out,
                    examined,
                    "to relink them",
                    "gpkg repair " + target_words(context, prefix));
    };
}

}  // namespace gpkg::cli
