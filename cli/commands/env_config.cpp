// `env config vars`: the variables that an environment sets when it is entered (conda-meta/state).

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/locked_prefix.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EnvConfigOptions {
    TargetOptions target;
    bool override_frozen = false;
    std::vector<std::string> assignments;  ///< NAME=VALUE
    std::vector<std::string> names;
};

Result<int> list(Context& context, const EnvConfigOptions& options) {
    GPKG_TRY(const auto path, existing_prefix(context, options.target));
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto variables, prefix.env_vars());
    if (context.out.json_mode()) {
        context.out.json(Json(variables));
        return 0;
    }
    GPKG_TRY(const auto counted, environment_variables(path));
    for (const auto& warning : counted.warnings) context.out.warn(warning);
    for (const auto& [name, value] : variables)
        context.out.result(fmt::format("{} = {}", name, value));
    return 0;
}

/// "gpkg env config vars set -n ml", with the environment as it was given; none if one is active.
std::string vars_command(const Context& context,
                         std::string_view verb,
                         const TargetOptions& given) {
    const auto environment = !given.name.empty()           ? " -n " + shell_word(given.name)
                             : !given.prefix.empty()       ? " -p " + shell_word(given.prefix)
                             : context.env("CONDA_PREFIX") ? std::string()
                                                           : std::string(" -n NAME");
    return fmt::format("gpkg env config vars {}{}", verb, environment);
}

/// Of a word that is not NAME=VALUE: "set ml A=1", "set A 1".
std::string hint_for_assignment(const Context& context,
                                const EnvConfigOptions& options,
                                const std::string& word) {
    const auto& words = options.assignments;
    if (is_environment_name(context.config, word))
        return fmt::format("did you mean -n {}?", shell_word(word));
    const bool is_pair =
        words.size() == 2 && words.front() == word && words.back().find('=') == std::string::npos;
    return fmt::format("{} {}={}",
                       vars_command(context, "set", options.target),
                       shell_word(word),
                       is_pair ? shell_word(words.back()) : "VALUE");
}

Result<EnvVarChanges> assigned(const Context& context, const EnvConfigOptions& options) {
    EnvVarChanges changes;
    for (const auto& text : options.assignments) {
        const auto equals = text.find('=');
        if (equals == std::string::npos)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: expected NAME=VALUE", text),
                        hint_for_assignment(context, options, text));
        const auto name = text.substr(0, equals);
        GPKG_CHECK(check_variable_name(name));
        const auto value = text.substr(equals + 1);
        if (value == kUnsetVariable)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: conda uses this value to mark an unset variable", value),
                        fmt::format("{} {}", vars_command(context, "unset", options.target), name));
        if (!is_utf8(value))
            return fail(ErrorKind::Usage, fmt::format("{}: the value is not UTF-8", name));
        changes[name] = value;
    }
    return changes;
}

Result<EnvVarChanges> removed(const Context& context,
                              const EnvConfigOptions& options,
                              const fs::path& path,
                              const std::map<std::string, std::string>& present) {
    EnvVarChanges changes;
    std::vector<std::string> known;
    known.reserve(present.size());
    for (const auto& [name, value] : present) known.push_back(name);
    for (const auto& name : options.names) {
        if (!present.contains(name)) {
            const auto near = near_names(name, known);
            return fail(ErrorKind::NotFound,
                        fmt::format("variable '{}' is not set in {}", name, path.native()),
                        did_you_mean(near,
                                     "to list the variables: " +
                                         vars_command(context, "list", options.target)));
        }
        changes[name] = std::nullopt;
    }
    return changes;
}

/// "set A and B in ml", "unset C in ml"
std::string outcome_text(const EnvVarChanges& changes, const std::string& environment) {
    std::vector<std::string> names;
    bool is_set = false;
    for (const auto& [name, value] : changes) {
        names.push_back(name);
        is_set = is_set || value.has_value();
    }
    return fmt::format("{} {} in {}",
                       is_set ? "set" : "unset",
                       join_some(names, "and", names.size()),
                       environment);
}

/// What is there may be another's doing until the lock is held.
Result<int> change(Context& context, const EnvConfigOptions& options) {
    GPKG_TRY(auto changes, assigned(context, options));
    GPKG_TRY(const auto locked, lock_prefix(context, options.target, options.override_frozen));
    const auto& prefix = locked.prefix;
    const auto& path = prefix.path();
    GPKG_TRY(const auto present, prefix.env_vars());
    GPKG_TRY(auto gone, removed(context, options, path, present));
    changes.merge(gone);
    GPKG_CHECK(change_env_vars(path, changes));
    GPKG_TRY(const auto after, prefix.env_vars());
    const auto folders = environment_folders(context.config);
    context.out.print(outcome_text(changes, folders.name_of(path)));
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"prefix", path.native()}, {"env_vars", Json(after)}});
    else if (context.env("CONDA_PREFIX") == path.native())
        context.out.note(
            fmt::format("to apply the change in this shell: gpkg activate {}",
                        shell_word(folders.has(path) ? folders.name_of(path) : path.native())));
    return 0;
}

}  // namespace

Action bind_env_config(CLI::App& app) {
    const auto options = std::make_shared<EnvConfigOptions>();
    auto* vars =
        app.add_subcommand("vars", "list, set and unset the variables that activation sets");
    auto* list_verb = vars->add_subcommand("list", "list the variables");
    auto* set = vars->add_subcommand("set", "set variables");
    auto* unset = vars->add_subcommand("unset", "unset variables");
    app.require_subcommand(1);
    vars->require_subcommand(1);
    set_effect(*list_verb, Effect::Reads);
    for (auto* sub : {vars, list_verb, set, unset}) sub->fallthrough();  // --json after the verb
    for (auto* verb : {list_verb, set, unset}) add_target_options(*verb, options->target);
    for (auto* verb : {set, unset})
        verb->add_flag("--override-frozen",
                       options->override_frozen,
                       "change the environment even if it is marked as frozen");
    set->add_option("variables", options->assignments, "variables to set")
        ->required()
        ->type_name(kVariableType);
    unset->add_option("names", options->names, "variables to unset")->required()->type_name("NAME");
    app.footer("  gpkg env config vars list -n ml\n");
    vars->footer(
        "Activation sets these variables, deactivation restores the earlier values. `gpkg run` "
        "sets "
        "them too.\n\n"
        "  gpkg env config vars set -n ml OMP_NUM_THREADS=8 DATA=/scratch/data\n"
        "  gpkg env config vars list -n ml\n"
        "  gpkg env config vars unset -n ml DATA\n");
    list_verb->footer("  gpkg env config vars list -n ml\n");
    set->footer("  gpkg env config vars set -n ml OMP_NUM_THREADS=8 DATA=/scratch/data\n");
    unset->footer("  gpkg env config vars unset -n ml DATA\n");

    return [=](Context& context) -> Result<int> {
        if (*list_verb) return list(context, *options);
        return change(context, *options);
    };
}

}  // namespace gpkg::cli
