#include "libcore/build/script/script_run.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/script/sandbox.hpp"
#include "libcore/process/process.hpp"
#include "libcore/recipe/script_programs.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>

namespace gpkg {
namespace {

constexpr std::size_t kShownLogLines = 20;
constexpr std::string_view kHidden = "********";

using Variables = std::map<std::string, std::string>;

/// RECIPE_DIR, as the script sees it.
fs::path recipe_folder(const ScriptRun& run, const BuildOptions& options) {
    return options.sandbox ? fs::path(kSandboxRecipe) : run.recipe.folder();
}

/// Where the host's python is, and where it looks for modules.
void add_python(const ScriptRun& run, Variables& variables) {
    const auto python = std::find_if(run.host.begin(), run.host.end(), [](const auto& package) {
        return package.name == "python";
    });
    if (python == run.host.end()) return;
    const auto parts = split(python->version, '.');
    if (parts.size() < 2) return;
    const auto minor = fmt::format("{}.{}", parts[0], parts[1]);
    const auto library = run.place.seen.prefix / "lib" / ("python" + minor);
    variables["PYTHON"] = (run.place.seen.prefix / "bin/python").native();
    variables["PY_VER"] = minor;
    variables["STDLIB_DIR"] = library.native();
    variables["SP_DIR"] = (library / "site-packages").native();
}

/// The secrets of the script that are set here.
Variables secrets_of(const BuildScript& script) {
    Variables secrets;
    if (script.secrets.empty()) return secrets;
    const auto all = current_environment();
    for (const auto& name : script.secrets) {
        if (const auto found = all.find(name); found != all.end()) secrets.insert(*found);
    }
    return secrets;
}

Variables environment_of(const ScriptRun& run, const BuildOptions& options) {
    const auto& output = run.output;
    const auto& place = run.place.seen;
    const auto there = options.own_cpus > 0 ? static_cast<unsigned>(options.own_cpus)
                                            : std::max(1U, std::thread::hardware_concurrency());
    const auto cpus = options.cpu_count > 0 ? static_cast<unsigned>(options.cpu_count) : there;
    Variables variables{
        {"PREFIX", place.prefix.native()},
        {"BUILD_PREFIX", place.build_prefix.native()},
        {"SRC_DIR", place.work.native()},
        {"RECIPE_DIR", recipe_folder(run, options).native()},
        {"PKG_NAME", output.name},
        {"PKG_VERSION", output.version},
        {"PKG_BUILDNUM", std::to_string(output.build.number)},
        {"PKG_BUILD_STRING", output.build_string},
        {"PKG_HASH", variant_hash(output.used_variant)},
        {"CPU_COUNT", std::to_string(cpus)},
        {"SUBDIR", output.target_platform},
        {"target_platform", output.target_platform},
        {"build_platform", options.render.build_platform},
        {"CONDA_BUILD", "1"},
        {"CONDA_BUILD_STATE", "BUILD"},
        {"SHLIB_EXT", output.target_platform.starts_with("osx-") ? ".dylib" : ".so"},
        {"SOURCE_DATE_EPOCH", std::to_string(run.start_ms / 1000)},
        {"HOME", (place.folder / "home").native()},
        {"TMPDIR", (place.folder / "tmp").native()},
        {"LANG", "C.UTF-8"},
        {"LC_ALL", "C.UTF-8"},
        {"TZ", "UTC"},
        {"PYTHONNOUSERSITE", "1"},
        {"PYTHONHASHSEED", "0"},  // sets in byte code have an order
        {"PATH",
         fmt::format("{}/bin:{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                     place.build_prefix.native(),
                     place.prefix.native())}};
    add_python(run, variables);
    for (const auto& [key, value] : output.used_variant) variables.emplace(key, value.text);
    for (const auto& [key, value] : output.build.script.environment)
        variables.insert_or_assign(key, value);
    variables.merge(secrets_of(output.build.script));
    return variables;
}

/// What the log says, without the values of secrets.
Result<void> hide_secrets(const fs::path& log, const BuildScript& script) {
    if (script.secrets.empty()) return {};
    GPKG_TRY(const auto text, read_file(log));
    auto shown = text;
    for (const auto& [name, value] : secrets_of(script)) shown = replace_all(shown, value, kHidden);
    return shown == text ? Result<void>{} : write_file_atomically(log, shown);
}

/// Names of secrets that gpkg's own environment does not have, for a hint.
std::vector<std::string> missing_secrets(const BuildScript& script) {
    const auto found = secrets_of(script);
    std::vector<std::string> missing;
    for (const auto& name : script.secrets) {
        if (!found.contains(name)) missing.push_back(fmt::format("the secret {} is not set", name));
    }
    return missing;
}

/// Whether a program missed a file by its full path, which the sandbox may hide:
/// "cat: /data/x: No such file or directory", "[Errno 2] No such file or directory: '/data/x'".
bool misses_full_path(std::string_view said) {
    constexpr std::string_view kMissing = "No such file or directory";
    const auto is_full = [](std::string_view path) {
        const auto quotes = path.find_first_not_of(" :'\"`\xe2\x80\x98");
        return quotes != std::string_view::npos && path[quotes] == '/';
    };
    for (const auto line : split(said, '\n')) {
        const auto at = line.find(kMissing);
        if (at == std::string_view::npos) continue;
        const auto before = line.substr(0, line.find_last_not_of(" :", at == 0 ? 0 : at - 1) + 1);
        if (is_full(before.substr(before.rfind(' ') + 1)) ||
            is_full(line.substr(at + kMissing.size())))
            return true;
    }
    return false;
}

/// Whether a script said something that programs say where the sandbox keeps them from the network
/// or from files.
bool may_come_of_sandbox(std::string_view said, bool network) {
    constexpr std::array kOfNetwork{"ould not resolve",
                                    "etwork is unreachable",
                                    "name resolution",
                                    "onnection refused",
                                    "Failed to connect",
                                    "Name or service not known"};
    constexpr std::array kOfFiles{
        "Permission denied", "Read-only file system", "Operation not permitted"};
    const auto is_said = [&](std::string_view text) {
        return said.find(text) != std::string_view::npos;
    };
    return (!network && std::any_of(kOfNetwork.begin(), kOfNetwork.end(), is_said)) ||
           std::any_of(kOfFiles.begin(), kOfFiles.end(), is_said) || misses_full_path(said);
}

// What bash runs before the script: the activation of the host environment and, over it, of the
// build environment, as for somebody who works in them. Compilers set their flags there. It ends
// with the shell's options as they were, and no shell below this one does it again.
constexpr std::string_view kActivation = R"(unset BASH_ENV
_gpkg_options=$-
set +eux
for CONDA_PREFIX in "$PREFIX" "$BUILD_PREFIX"; do
  export CONDA_PREFIX
  for _gpkg_script in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do
    if [ -r "$_gpkg_script" ]; then . "$_gpkg_script"; fi
  done
done
for _gpkg_option in e u x; do
  case $_gpkg_options in *$_gpkg_option*) set -$_gpkg_option ;; esac
done
unset _gpkg_options _gpkg_option _gpkg_script
)";

/// The file that does it, as bash sees it; empty where neither environment has such scripts.
Result<fs::path> activation_file(const ScriptRun& run) {
    std::error_code ignored;
    const auto has_scripts = [&](const fs::path& prefix) {
        return fs::is_directory(prefix / "etc/conda/activate.d", ignored);
    };
    if (!has_scripts(run.place.prefix) && !has_scripts(run.place.build_prefix)) return fs::path();
    constexpr const char* kName = "activate.sh";
    GPKG_CHECK(write_file_atomically(run.place.folder / kName, kActivation));
    return run.place.seen.folder / kName;
}

/// The file that holds the script, as it is seen by who runs it.
Result<fs::path> script_file(const ScriptRun& run, const BuildOptions& options) {
    const auto& script = run.output.build.script;
    if (!script.file.empty() && !options.sandbox) return script.file;
    if (!script.file.empty())
        return kSandboxRecipe /
               script.file.lexically_relative(run.recipe.folder().lexically_normal());
    const auto* program = script_program(script.interpreter);
    const auto name = fmt::format("build_script{}", program->suffix);
    GPKG_CHECK(write_file_atomically(run.place.folder / name, script.content));
    return run.place.seen.folder / name;
}

/// The output of a script with $PREFIX and $BUILD_PREFIX for the long paths behind them.
std::string with_prefix_variables(std::string text, const ScriptRun& run) {
    const auto& seen = run.place.seen;
    for (const auto& [path, variable] :
         {std::pair(seen.build_prefix.native(), std::string_view("$BUILD_PREFIX")),
          std::pair(seen.prefix.native(), std::string_view("$PREFIX"))}) {
        text = replace_all(text, path, variable);
    }
    return text;
}

}  // namespace

Result<void> run_script(const ScriptRun& run, const BuildOptions& options) {
    const auto& script = run.output.build.script;
    if (script.is_empty()) return {};
    GPKG_TRY(const auto file, script_file(run, options));
    ProcessCommand command;
    command.arguments = script_program(script.interpreter)->arguments;
    command.arguments.push_back(file.native());
    command.environment = environment_of(run, options);
    if (script_program(script.interpreter)->suffix == ".sh") {
        GPKG_TRY(const auto activation, activation_file(run));
        if (!activation.empty()) command.environment["BASH_ENV"] = activation.native();
    }
    command.folder = run.place.seen.work / script.folder;
    command.log = run.place.log;
    command.umask = 022;
    command.cancelled = options.cancelled;
    if (options.sandbox) {
        SandboxView view;
        view.build_folder = run.place.folder;
        view.prefix = run.place.prefix;
        view.recipe = run.recipe.folder();
        view.network = options.network;
        GPKG_TRY(command, in_sandbox(std::move(command), view));
    }
    const auto ended = run_command(command);
    GPKG_CHECK(hide_secrets(run.place.log, script));
    if (!ended) return pass(ended.error());
    const int code = *ended;
    if (code == 0) return {};
    // Ctrl-C goes to the script as well, which may be gone before gpkg looks.
    if (options.cancelled && options.cancelled())
        return fail(ErrorKind::Interrupted, "interrupted");
    const bool stays = options.scratch.empty() || options.keep_work;
    const auto said = with_prefix_variables(last_lines_of(run.place.log, kShownLogLines), run);
    constexpr int kCommandNotFound = 127;  // of a shell
    std::vector<std::string> hints;
    if (code == kCommandNotFound)
        hints.emplace_back("add the package that has the command to requirements.build");
    if (!stays) hints.emplace_back("use --keep-work to keep the build folder");
    append(hints, missing_secrets(script));
    if (options.sandbox && may_come_of_sandbox(said, options.network))
        hints.emplace_back(
            "the sandbox blocks the network and undeclared files; to allow them: --network, "
            "--sandbox off");
    return fail(ErrorKind::Io,
                fmt::format("{}: the build script failed with exit status {}; last output:\n{}\n"
                            "log: {}{}",
                            run.output.distribution(),
                            code,
                            said,
                            run.place.log.native(),
                            stays ? "\nbuild folder: " + run.place.folder.native() : ""),
                fmt::format("{}", fmt::join(hints, "; ")));
}

}  // namespace gpkg
