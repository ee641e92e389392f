#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace gpkg::cli {

Action bind_env(CLI::App& app) {
    struct Verb {
        const char* name;
        const char* summary;
        Action (*bind)(CLI::App& app);
        Effect effect;
    };
    static constexpr Verb kVerbs[] = {
        {"create",
         "create an environment from an environment.yml",
         bind_env_create,
         Effect::ChangesAtomically},
        {"update",
         "update an environment from an environment.yml",
         bind_env_update,
         Effect::ChangesAtomically},
        {"export", "write an environment.yml from an environment", bind_env_export, Effect::Reads},
        {"remove", "remove an environment", bind_env_remove, Effect::ChangesAtomically},
        {"config",
         "list, set and unset variables of an environment",
         bind_env_config,
         Effect::Changes},
    };
    auto* list = app.add_subcommand("list", "list all environments");
    list->fallthrough();  // --json after the verb
    const auto with_sizes = std::make_shared<bool>(false);
    list->add_flag("--size", *with_sizes, "also show the size of each environment");
    list->footer(
        "Lists all environments, also those of conda and mamba. The active one is marked with "
        "*.\n\n"
        "  gpkg env list\n"
        "  gpkg env list --size\n"
        "  gpkg env list --json\n");
    std::vector<std::pair<const CLI::App*, Action>> actions;
    for (const auto& verb : kVerbs) {
        auto* sub = app.add_subcommand(verb.name, verb.summary);
        sub->fallthrough();
        set_effect(*sub, verb.effect);
        actions.emplace_back(sub, verb.bind(*sub));
    }
    app.require_subcommand(1);
    app.footer(
        "  gpkg env list\n"
        "  gpkg env create -f environment.yml\n"
        "  gpkg env export -n ml -f environment.yml\n");

    return [actions, with_sizes](Context& context) -> Result<int> {
        for (const auto& [verb, action] : actions) {
            if (verb->parsed()) return action(context);
        }
        print_environments(context, *with_sizes);
        return 0;
    };
}

}  // namespace gpkg::cli
