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
    bool all = false;
    bool quick = false;
};

bool is_sound(const Examined& examined) {
    return examined.damage.empty() && examined.lost.empty() && examined.interruption.empty() &&
           !examined.moved_from;
}

Json document_of(const Examined& examined) {
    auto list = Json::array();
    for (const auto* found : {&examined.damage, &examined.lost}) {
        for (const auto& one : *found)
            list.push_back({{"package", one.package}, {"path", one.path}, {"what", one.what}});
    }
    Json document{{"sound", is_sound(examined)},
                  {"packages", examined.packages},
                  {"interrupted", !examined.interruption.empty()},
                  {"damage", std::move(list)}};
    if (examined.moved_from) document["moved_from"] = examined.moved_from->native();
    return document;
}

/// 1 where something differs. `repair` is the command that removes the damage, `purpose` what it
/// does, with {} for "it" or "them".
int tell(Output& out,
         const Examined& examined,
         fmt::format_string<std::string_view> purpose,
         const std::string& repair,
         const std::string& moved) {
    for (const auto* found : {&examined.damage, &examined.lost}) {
        for (const auto& one : *found)
            out.result(fmt::format("{}: {} {}", one.package, printable(one.path), one.what));
    }
    if (!examined.interruption.empty())
        out.note_failure(
            fmt::format("{}; to complete or undo it: {}", examined.interruption, repair));
    if (!moved.empty()) out.note_failure(moved);
    if (examined.damaged_packages() > 0) {
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
    if (is_sound(examined))
        out.print(fmt::format("{} verified: no damage", count_text(examined.packages, "package")));
    return is_sound(examined) ? 0 : 1;
}

int tell_environment(Context& context, const fs::path& prefix, const Examined& examined) {
    const auto moved =
        examined.moved_from ? moved_text(context, prefix, *examined.moved_from) : std::string();
    return tell(context.out,
                examined,
                "to restore {}",
                "gpkg repair " + target_words(context, prefix),
                moved);
}

/// All environments, also where one cannot be read.
Result<int> verify_all(Context& context, bool quick) {
    auto& out = context.out;
    int status = 0;
    auto list = Json::array();
    for (const auto& prefix : all_environments(context)) {
        GPKG_CHECK(check_stop(context));
        out.print(fmt::format("{}:", prefix.native()));
        const auto examined = examine_environment(context, prefix, quick);
        auto document = examined ? document_of(*examined)
                                 : Json{{"sound", false}, {"error", examined.error().message}};
        document["prefix"] = prefix.native();
        list.push_back(std::move(document));
        if (!examined) out.note_failure(examined.error().to_string());
        if (!examined || tell_environment(context, prefix, *examined) != 0) status = 1;
    }
    if (out.json_mode()) out.json({{"sound", status == 0}, {"environments", std::move(list)}});
    return status;
}

}  // namespace

Action bind_verify(CLI::App& app) {
    const auto options = std::make_shared<VerifyOptions>();
    add_target_options(app, options->target);
    app.add_flag("--store", options->store, "verify the package store, not an environment")
        ->excludes("--name")
        ->excludes("--prefix");
    app.add_flag("--all", options->all, "verify all environments")
        ->excludes("--name")
        ->excludes("--prefix")
        ->excludes("--store");
    app.add_flag("--quick", options->quick, "compare types and sizes only, not contents");
    app.footer(
        "Compares every installed file with its package. The exit status is 1 if a file is missing "
        "or differs, or if the environment was moved without gpkg.\n"
        "\n"
        "  gpkg verify -n ml\n"
        "  gpkg verify -n ml --quick\n"
        "  gpkg verify --all\n"
        "  gpkg verify --store\n");

    return [options](Context& context) -> Result<int> {
        if (options->store) {
            GPKG_TRY(const auto examined, examine_store(context, options->quick));
            if (context.out.json_mode()) context.out.json(document_of(examined));
            return tell(
                context.out, examined, "to remove {} from the store", "gpkg repair --store", "");
        }
        if (options->all) return verify_all(context, options->quick);
        GPKG_TRY(const auto prefix, existing_prefix(context, options->target));
        GPKG_TRY(const auto examined, examine_environment(context, prefix, options->quick));
        if (context.out.json_mode()) context.out.json(document_of(examined));
        return tell_environment(context, prefix, examined);
    };
}

}  // namespace gpkg::cli
