#include "libcore/build/script_run.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/sandbox.hpp"
#include "libcore/build/script_programs.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace gpkg {
namespace {

constexpr std::size_t kShownLogLines = 20;

using Variables = std::map<std::string, std::string>;

/// Where the host's python is, and where it looks for modules.
void add_python(const ScriptRun& run, Variables& variables) {
    const auto python = std::find_if(run.host.begin(), run.host.end(), [](const auto& package) {
        return package.name == "python";
    });
    if (python == run.host.end()) return;
    const auto parts = split(python->version, '.');
    if (parts.size() < 2) return;
    const auto minor = fmt::format("{}.{}", parts[0], parts[1]);
    const auto library = run.place.prefix / "lib" / ("python" + minor);
    variables["PYTHON"] = (run.place.prefix / "bin/python").native();
    variables["PY_VER"] = minor;
    variables["STDLIB_DIR"] = library.native();
    variables["SP_DIR"] = (library / "site-packages").native();
}

Variables environment_of(const ScriptRun& run, const BuildOptions& options) {
    const auto& output = run.output;
    const auto& place = run.place;
    const auto cpus = options.cpu_count > 0 ? static_cast<unsigned>(options.cpu_count)
                                            : std::max(1U, std::thread::hardware_concurrency());
    Variables variables{
        {"PREFIX", place.prefix.native()},
        {"BUILD_PREFIX", place.build_prefix.native()},
        {"SRC_DIR", place.work.native()},
        {"RECIPE_DIR", run.recipe.folder().native()},
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
        {"PATH",
         fmt::format("{}/bin:{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
                     place.build_prefix.native(),
                     place.prefix.native())}};
    add_python(run, variables);
    for (const auto& [key, value] : output.used_variant) variables.emplace(key, value.text);
    for (const auto& [key, value] : output.build.script.environment)
        variables.insert_or_assign(key, value);
    return variables;
}

/// The file that holds the script.
Result<fs::path> script_file(const ScriptRun& run) {
    const auto& script = run.output.build.script;
    if (!script.file.empty()) return script.file;
    const auto* program = script_program(script.interpreter);
    auto file = run.place.folder / fmt::format("build_script{}", program->suffix);
    GPKG_CHECK(write_file_atomically(file, script.content));
    return file;
}

}  // namespace

Result<void> run_script(const ScriptRun& run, const BuildOptions& options) {
    const auto& script = run.output.build.script;
    if (script.is_empty()) return {};
    GPKG_TRY(const auto file, script_file(run));
    ProcessCommand command;
    command.arguments = script_program(script.interpreter)->arguments;
    command.arguments.push_back(file.native());
    command.environment = environment_of(run, options);
    command.folder = run.place.work / script.folder;
    command.log = run.place.log;
    command.umask = 022;
    command.cancelled = options.cancelled;
    if (options.sandbox) {
        SandboxView view;
        view.build_folder = run.place.folder;
        view.readable = {run.recipe.folder()};
        view.network = options.network;
        command = in_sandbox(std::move(command), view);
    }
    GPKG_TRY(const int code, run_command(command));
    if (code == 0) return {};
    const auto kept_in = options.sandbox && !options.network;
    return fail(
        ErrorKind::Io,
        fmt::format("{}: the build script ended with {}; it said last:\n{}",
                    run.output.distribution(),
                    code,
                    last_lines(read_file(run.place.log).value_or(""), kShownLogLines)),
        fmt::format("all of it is in {}, the build folder is {}{}",
                    run.place.log.native(),
                    run.place.folder.native(),
                    kept_in ? "; scripts have no network and see only what the recipe declares "
                              "(--network, --sandbox off)"
                            : ""));
}

}  // namespace gpkg
