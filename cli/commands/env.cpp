#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace gpkg::cli {

Action bind_env(CLI::App& app) {
    auto* list = app.add_subcommand("list", "show all environments");
    auto* create = app.add_subcommand("create", "make an environment from an environment.yml");
    auto* remove = app.add_subcommand("remove", "remove a whole environment");
    app.require_subcommand(1);
    for (auto* sub : {list, create, remove}) sub->fallthrough();  // --json after the verb
    auto create_action = bind_env_create(*create);
    auto remove_action = bind_env_remove(*remove);
    app.footer(
        "Works on environments as a whole.\n"
        "  gpkg env list\n"
        "  gpkg env create -f environment.yml");

    return [=](Context& context) -> Result<int> {
        if (*create) return create_action(context);
        if (*remove) return remove_action(context);
        print_environments(context);
        return 0;
    };
}

}  // namespace gpkg::cli
