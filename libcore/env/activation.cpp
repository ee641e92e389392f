#include "libcore/env/activation.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/shell.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <system_error>

namespace gpkg {
namespace {

bool is_variable_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (name.empty() || !letter(name.front())) return false;
    return std::all_of(
        name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// What is active, as every conda tool says it.
constexpr std::array<const char*, 4> kActive{
    "CONDA_PREFIX", "CONDA_SHLVL", "CONDA_DEFAULT_ENV", "CONDA_PROMPT_MODIFIER"};

/// Read-only in one shell or another, or an array there; zsh changes the user of the process with
/// some of them, PATH with "path", and the arguments with "argv".
bool is_shells_own(std::string_view name) {
    // clang-format off
    static constexpr std::array<std::string_view, 54> kNames{
        "_", "UID", "EUID", "GID", "EGID", "PPID", "PWD", "SHLVL", "LINENO", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO",
        "status", "pipestatus", "version", "history", "path", "argv",
        "aliases", "builtins", "cdpath", "commands", "dirstack", "dis_aliases", "dis_builtins", "dis_functions",
        "dis_patchars", "dis_reswords", "fignore", "fpath", "funcfiletrace", "funcsourcetrace", "funcstack",
        "functions", "functrace", "galiases", "historywords", "jobdirs", "jobstates", "jobtexts", "keymaps",
        "mailpath", "manpath", "module_path", "nameddirs", "options", "parameters", "psvar", "reswords", "saliases",
        "signals", "userdirs", "FISH_VERSION", "fish_pid",
    };
    // clang-format on
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Activation itself depends on these.
bool is_reserved(std::string_view name) {
    return name == "PATH" || std::find(kActive.begin(), kActive.end(), name) != kActive.end() ||
           name.starts_with("CONDA_PREFIX_") || name.starts_with("CONDA_STACKED_") ||
           name.starts_with("__CONDA_SHLVL_") || name.starts_with("__GPKG_VARS_");
}

/// Why an environment cannot set a variable of that name; empty where it can.
std::string_view why_refused(std::string_view name) {
    if (!is_variable_name(name)) return "not a valid variable name";
    if (is_shells_own(name)) return "reserved: shells set this variable";
    return is_reserved(name) ? "reserved: activation sets this variable" : "";
}

/// Regular files of a folder with that extension, in byte order of their names.
std::vector<fs::path> files_in(const fs::path& folder, std::string_view extension) {
    std::vector<fs::path> out;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
        std::error_code ignored;
        if (entry->path().extension() == extension && entry->is_regular_file(ignored))
            out.push_back(entry->path());
    }
    std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
        return a.native() < b.native();
    });
    return out;
}

std::string_view script_extension(Shell shell) {
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh: return ".sh";
    case Shell::Fish: return ".fish";
    case Shell::Tcsh: return ".csh";
    case Shell::PowerShell: return ".ps1";
    }
    return ".sh";
}

std::vector<fs::path> scripts(const fs::path& prefix, std::string_view folder, Shell shell) {
    auto found = files_in(prefix / "etc/conda" / folder, script_extension(shell));
    if (folder == "deactivate.d") std::reverse(found.begin(), found.end());
    return found;
}

void add_variable(EnvironmentVariables& out,
                  const std::string& file,
                  std::string_view name,
                  simdjson::dom::element value) {
    const auto warn = [&](std::string_view why) {
        out.warnings.push_back(fmt::format("{}: variable \"{}\" ignored: {}", file, name, why));
    };
    if (const auto why = why_refused(name); !why.empty()) return warn(why);
    auto text = env_json::variable_text(value);
    if (!text) return warn("the value is not a string");
    if (text->find('\0') != std::string::npos) return warn("the value contains a NUL character");
    auto& slot = out.values[std::string(name)];
    slot = text == kUnsetVariable ? std::nullopt : std::move(text);
}

/// A damaged file costs its variables, not the activation.
void add_file(EnvironmentVariables& out, const fs::path& file, bool is_state) {
    const auto text = read_file(file);
    if (!text && text.error().kind == ErrorKind::NotFound) return;
    if (!text) return out.warnings.push_back(text.error().message);
    if (trim(*text).empty()) return;
    simdjson::dom::parser parser;
    const auto object = env_json::parse_object(parser, *text, file.native());
    if (!object) return out.warnings.push_back(object.error().message);
    auto members = *object;
    if (is_state && (*object)["env_vars"].get(members) != simdjson::SUCCESS) return;
    for (const auto [name, value] : members) add_variable(out, file.native(), name, value);
}

/// The shell's variables while an activation is put together: what was there, and what changes.
class Changes {
public:
    explicit Changes(const EnvLookup& env) : env_(env) {}

    std::optional<std::string> get(const std::string& name) const {
        for (auto change = out_.rbegin(); change != out_.rend(); ++change) {
            if (change->first == name) return change->second;
        }
        return env_(name);
    }
    void set(const std::string& name, std::optional<std::string> value) {
        if (!value && !get(name)) return;
        std::erase_if(out_, [&](const auto& change) { return change.first == name; });
        out_.emplace_back(name, std::move(value));
    }
    void unset(const std::string& name) { set(name, std::nullopt); }
    std::vector<std::pair<std::string, std::optional<std::string>>> take() && {
        return std::move(out_);
    }

private:
    const EnvLookup& env_;
    std::vector<std::pair<std::string, std::optional<std::string>>> out_;
};

/// The active environment, level 0 for none.
struct Active {
    int level = 0;
    std::string prefix;
};

Active active_environment(const EnvLookup& env) {
    Active active;
    active.prefix = env("CONDA_PREFIX").value_or("");
    active.level = whole_number<int>(trim(env("CONDA_SHLVL").value_or("0"))).value_or(-1);
    if (active.level < 0 || active.level > 10000 || active.prefix.empty()) return {};
    return active;
}

std::string numbered(std::string_view name, int level) { return fmt::format("{}{}", name, level); }

std::string saved_name(int level, std::string_view name) {
    return fmt::format("__CONDA_SHLVL_{}_{}", level, name);
}

std::string programs(std::string_view prefix) { return fmt::format("{}/bin", prefix); }

std::vector<std::string> path_entries(const Changes& changes) {
    std::vector<std::string> out;
    const auto path = changes.get("PATH");
    if (!path) return out;
    // An empty one is not none: it means the folder that one is in.
    for (const auto entry : split(*path, ':')) out.emplace_back(entry);
    return out;
}

/// Puts `added` in the place of the first `removed`, or in front. Either may be empty.
void change_path(Changes& changes, const std::string& removed, const std::string& added) {
    auto entries = path_entries(changes);
    auto place =
        removed.empty() ? entries.end() : std::find(entries.begin(), entries.end(), removed);
    place = place == entries.end() ? entries.begin() : entries.erase(place);
    if (!added.empty()) entries.insert(place, added);
    if (entries.empty()) return changes.unset("PATH");
    changes.set("PATH", fmt::format("{}", fmt::join(entries, ":")));
}

/// Variables that the environment at `level` set, as far as anything tells.
std::set<std::string> variables_set(const Changes& changes, const Active& active) {
    std::set<std::string> out;
    const auto recorded = changes.get(numbered("__GPKG_VARS_", active.level)).value_or("");
    for (const auto name : split(recorded, ':')) {
        if (is_variable_name(name) && !is_reserved(name)) out.emplace(name);
    }
    if (!recorded.empty()) return out;
    if (const auto now = environment_variables(active.prefix)) {
        for (const auto& [name, value] : now->values) out.insert(name);
    }
    return out;
}

void enter_variables(Changes& changes, const EnvironmentVariables& variables, int level) {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables.values) {
        names.push_back(name);
        changes.set(name, value);
    }
    const auto list = numbered("__GPKG_VARS_", level);
    if (names.empty()) return changes.unset(list);
    changes.set(list, fmt::format("{}", fmt::join(names, ":")));
}

void save_variables(Changes& changes, const std::set<std::string>& names, int level) {
    for (const auto& name : names) changes.set(saved_name(level, name), changes.get(name));
}

/// Gives variables the value they had below `level`; `forget`: the saved values go.
void restore_variables(Changes& changes,
                       const std::set<std::string>& names,
                       int level,
                       bool forget) {
    for (const auto& name : names) {
        const auto saved = saved_name(level - 1, name);
        changes.set(name, changes.get(saved));
        if (forget) changes.unset(saved);
    }
}

std::set<std::string> names_of(const EnvironmentVariables& variables) {
    std::set<std::string> out;
    for (const auto& [name, value] : variables.values) out.insert(name);
    return out;
}

/// Sets the variables of an environment that was entered before. What it set then and does not now
/// gets its older value back.
void renew_variables(Changes& changes, const Active& active, const EnvironmentVariables& now) {
    auto fresh = names_of(now);
    std::set<std::string> gone;
    for (const auto& name : variables_set(changes, active)) {
        if (fresh.erase(name) == 0) gone.insert(name);
    }
    restore_variables(changes, gone, active.level, true);
    save_variables(changes, fresh, active.level - 1);
    enter_variables(changes, now, active.level);
}

/// Characters that a prompt would expand do not get into it.
std::string prompt_modifier(const std::string& name, const ActivateOptions& options) {
    if (!options.change_prompt) return "";
    std::string shown = name;
    for (char& c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f ||
            std::string_view("$`\\%!\"'").find(c) != std::string::npos)
            c = '?';
    }
    return fmt::format("({}) ", shown);
}

void name_environment(Changes& changes,
                      const std::string& prefix,
                      int level,
                      const ActivateOptions& options) {
    const auto name = options.folders.name_of(prefix);
    changes.set("CONDA_PREFIX", prefix);
    changes.set("CONDA_SHLVL", fmt::format("{}", level));
    changes.set("CONDA_DEFAULT_ENV", name);
    changes.set("CONDA_PROMPT_MODIFIER", prompt_modifier(name, options));
}

/// Leaves and enters the active environment. `to_front`: on PATH it comes first, else it keeps its
/// place there.
Result<Activation> renew(const EnvLookup& env,
                         Shell shell,
                         const ActivateOptions& options,
                         bool to_front) {
    const auto active = active_environment(env);
    if (active.level == 0) return Activation{};
    Activation out;
    Changes changes(env);
    GPKG_TRY(auto variables, environment_variables(active.prefix));
    out.deactivate_scripts = scripts(active.prefix, "deactivate.d", shell);
    renew_variables(changes, active, variables);
    const auto entries = path_entries(changes);
    const bool is_there =
        std::find(entries.begin(), entries.end(), programs(active.prefix)) != entries.end();
    if (is_there && to_front) change_path(changes, programs(active.prefix), "");
    if (!is_there || to_front) change_path(changes, "", programs(active.prefix));
    out.adds_to_path = !env("PATH");
    name_environment(changes, active.prefix, active.level, options);
    out.variables = std::move(changes).take();
    out.activate_scripts = scripts(active.prefix, "activate.d", shell);
    out.warnings = std::move(variables.warnings);
    return out;
}

}  // namespace

std::optional<Shell> shell_of(std::string_view name) {
    if (name == "bash") return Shell::Bash;
    if (name == "zsh") return Shell::Zsh;
    if (name == "fish") return Shell::Fish;
    if (name == "tcsh" || name == "csh") return Shell::Tcsh;
    if (name == "powershell" || name == "pwsh") return Shell::PowerShell;
    if (name == "sh" || name == "posix" || name == "dash" || name == "ash" || name == "ksh")
        return Shell::Posix;
    return std::nullopt;
}

Result<void> check_variable_name(std::string_view name) {
    const auto why = why_refused(name);
    if (why.empty()) return {};
    return fail(
        ErrorKind::Usage,
        fmt::format("{}: {}", name, why),
        is_variable_name(name) ? "" : "use letters, digits and '_'; start with a letter or '_'");
}

Result<EnvironmentVariables> environment_variables(const fs::path& prefix) {
    EnvironmentVariables out;
    for (const auto& file : files_in(prefix / "etc/conda/env_vars.d", ".json"))
        add_file(out, file, false);
    add_file(out, prefix / "conda-meta/state", true);
    return out;
}

Result<Activation> activate(const fs::path& prefix,
                            const EnvLookup& env,
                            Shell shell,
                            const ActivateOptions& options) {
    GPKG_TRY(const auto opened, Prefix::open(prefix));
    if (prefix.native().find(':') != std::string::npos)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: a path with \":\" cannot be on PATH", prefix.native()));
    const auto active = active_environment(env);
    if (active.level > 0 && active.prefix == prefix) return renew(env, shell, options, true);
    // Going back to where one came from is leaving, as conda sees it.
    if (active.level > 1 && !options.stack &&
        env(numbered("CONDA_PREFIX_", active.level - 1)) == prefix.native())
        return deactivate(env, shell, options);

    Activation out;
    Changes changes(env);
    GPKG_TRY(auto variables, environment_variables(prefix));
    const int level = active.level + 1;
    const bool leaving = active.level > 0 && !options.stack;
    if (active.level > 0) {
        changes.set(numbered("CONDA_PREFIX_", active.level), active.prefix);
    } else {
        save_variables(changes, {kActive.begin(), kActive.end()}, 0);
    }
    const bool stacks = active.level > 0 && options.stack;
    changes.set(numbered("CONDA_STACKED_", level),
                stacks ? std::optional<std::string>("true") : std::nullopt);
    if (leaving) {
        out.deactivate_scripts = scripts(active.prefix, "deactivate.d", shell);
        restore_variables(changes, variables_set(changes, active), active.level, false);
    }
    change_path(changes, leaving ? programs(active.prefix) : "", programs(prefix.native()));
    name_environment(changes, prefix, level, options);
    save_variables(changes, names_of(variables), active.level);
    enter_variables(changes, variables, level);
    out.adds_to_path = !env("PATH");
    out.variables = std::move(changes).take();
    out.activate_scripts = scripts(prefix, "activate.d", shell);
    out.warnings = std::move(variables.warnings);
    return out;
}

Result<Activation> deactivate(const EnvLookup& env, Shell shell, const ActivateOptions& options) {
    const auto active = active_environment(env);
    if (active.level == 0) return Activation{};
    Activation out;
    Changes changes(env);
    out.deactivate_scripts = scripts(active.prefix, "deactivate.d", shell);
    restore_variables(changes, variables_set(changes, active), active.level, true);
    changes.unset(numbered("__GPKG_VARS_", active.level));

    const int level = active.level - 1;
    const auto outer_name = numbered("CONDA_PREFIX_", level);
    const auto outer = level > 0 ? env(outer_name).value_or("") : "";
    const auto stacked_name = numbered("CONDA_STACKED_", active.level);
    const bool stacked = env(stacked_name).has_value();
    changes.unset(outer_name);
    changes.unset(stacked_name);
    if (outer.empty()) {
        change_path(changes, programs(active.prefix), "");
        restore_variables(changes, {kActive.begin(), kActive.end()}, active.level, true);
        out.variables = std::move(changes).take();
        return out;
    }
    change_path(changes, programs(active.prefix), stacked ? "" : programs(outer));
    name_environment(changes, outer, level, options);
    if (!stacked) {
        GPKG_TRY(auto variables, environment_variables(outer));
        renew_variables(changes, {level, outer}, variables);
        out.activate_scripts = scripts(outer, "activate.d", shell);
        out.warnings = std::move(variables.warnings);
    }
    out.variables = std::move(changes).take();
    return out;
}

Result<Activation> reactivate(const EnvLookup& env, Shell shell, const ActivateOptions& options) {
    return renew(env, shell, options, false);
}

namespace {

/// Puts the programs of the system behind PATH, where shells look for them without one.
void add_usual_path(std::vector<std::pair<std::string, std::optional<std::string>>>& variables) {
    for (auto& [name, value] : variables) {
        if (name == "PATH" && value) *value += ":/usr/local/bin:/usr/bin:/bin";
    }
}

/// Sources what an activation sources, and becomes the command in its arguments. In bash these are
/// kept from scripts that set their own; of a script that ends the shell it says so.
std::string run_script(const Activation& activation, bool bash) {
    std::string text = bash ? "__gpkg_command=(\"$@\")\n" : "";
    text += "__gpkg_folder=$PWD\n";
    text += "trap 'echo \"gpkg run: $__gpkg_script exited; the command was not run\" >&2' EXIT\n";
    // What scripts print must not mix with the command's output.
    const auto source = [&](const std::vector<fs::path>& files) {
        for (const auto& file : files)
            text += fmt::format("__gpkg_script={0}\n{1}. {0} >&2\n",
                                shell_quoted(file.native(), Shell::Posix),
                                bash ? "" : kSurvives);
    };
    source(activation.deactivate_scripts);
    Activation only_variables;
    only_variables.variables = activation.variables;
    only_variables.adds_to_path = activation.adds_to_path;
    text += shell_commands(only_variables, Shell::Posix);
    source(activation.activate_scripts);
    text += "cd -- \"$__gpkg_folder\"\n";
    if (bash) text += "set -- \"${__gpkg_command[@]}\"\n";
    text +=
        "trap - EXIT\n"
        "command -v \"$1\" > /dev/null || { echo \"error: $1: command not found\" >&2; exit 127; "
        "}\n"
        "exec \"$@\"\n";
    return text;
}

}  // namespace

Result<RunEnvironment> run_environment(const fs::path& prefix,
                                       const EnvLookup& env,
                                       const std::vector<std::string>& command,
                                       const ActivateOptions& options) {
    RunEnvironment out;
    const auto active = active_environment(env);
    if (active.level > 0 && active.prefix == prefix) {
        // Its scripts have run; only programs that came before it on PATH are put behind.
        Changes changes(env);
        change_path(changes, programs(active.prefix), "");
        change_path(changes, "", programs(active.prefix));
        out.variables = std::move(changes).take();
        out.command = command;
        return out;
    }
    GPKG_TRY(auto activation, activate(prefix, env, Shell::Posix, options));
    out.warnings = std::move(activation.warnings);
    if (activation.activate_scripts.empty() && activation.deactivate_scripts.empty()) {
        out.variables = std::move(activation.variables);
        if (activation.adds_to_path) add_usual_path(out.variables);
        out.command = command;
        return out;
    }
    std::error_code ignored;
    const bool bash = fs::exists("/bin/bash", ignored);
    out.command = {bash ? "/bin/bash" : "/bin/sh", "-c", run_script(activation, bash), "gpkg-run"};
    out.command.insert(out.command.end(), command.begin(), command.end());
    return out;
}

}  // namespace gpkg
