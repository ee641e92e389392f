#include "cli/workflow/package_tests.hpp"

#include "cli/workflow/fetch.hpp"
#include "cli/workflow/trial.hpp"
#include "libcore/build/package_test.hpp"
#include "libcore/build/process.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// The environment's own variables over a clean base: a test must not pass because of its host.
std::map<std::string, std::string> clean_environment(const RunEnvironment& run,
                                                     const fs::path& home) {
    std::map<std::string, std::string> variables{
        {"HOME", home.native()}, {"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
    for (const auto& [name, value] : run.variables) {
        if (value) variables[name] = *value;
    }
    return variables;
}

Result<bool> run_test(Context& context,
                      const PackageTest& test,
                      const fs::path& prefix,
                      const fs::path& folder,
                      const std::string& what) {
    const auto script = test_script(test);
    if (script.empty()) return true;
    const auto file = folder / "test.sh";
    GPKG_CHECK(write_file_atomically(file, script));
    const auto base = [&](std::string_view name) -> std::optional<std::string> {
        if (name == "PATH") return "/usr/bin:/bin";
        return std::nullopt;
    };
    ActivateOptions options;
    options.root_prefix = context.config.root_prefix.value;
    GPKG_TRY(const auto run, run_environment(prefix, base, {"bash", "-e", file.native()}, options));
    ProcessCommand command;
    command.arguments = run.command;
    command.environment = clean_environment(run, folder);
    command.environment["PREFIX"] = prefix.native();
    command.folder = folder;
    command.log = folder / "test.log";
    command.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto code, run_command(command));
    if (code == 0) return true;
    context.out.error(
        {ErrorKind::Io,
         fmt::format(
             "{}: a test of it failed with {}:\n{}", what, code, last_lines(command.log, 20)),
         {},
         {}});
    return false;
}

}  // namespace

Result<std::size_t> test_packages(Context& context,
                                  const SourceOptions& source_options,
                                  const std::vector<BuiltPackage>& packages) {
    std::size_t failed = 0;
    std::optional<Sources> sources;
    for (const auto& package : packages) {
        if (package.reused || package.tests.empty()) continue;
        GPKG_CHECK(check_stop(context));
        GPKG_TRY(const auto folder, TemporaryFolder::make(fs::temp_directory_path(), "gpkg-test-"));
        if (!sources) {
            GPKG_TRY(sources, open_sources(context, source_options));
        }
        GPKG_TRY(const auto name, FileName::parse(package.file.filename().native()));
        std::vector<std::string> specs{
            fmt::format("{}=={}={}", name.name, name.version, name.build)};
        for (const auto& test : package.tests)
            specs.insert(specs.end(), test.requirements.begin(), test.requirements.end());
        const auto prefix = folder.path() / "prefix";
        auto made = make_trial(context, *sources, specs, prefix);
        if (!made)
            return pass(std::move(made).error().while_doing("testing " + package.distribution));
        for (const auto& test : package.tests) {
            GPKG_TRY(const auto good,
                     run_test(context, test, prefix, folder.path(), package.distribution));
            failed += good ? 0 : 1;
        }
    }
    return failed;
}

}  // namespace gpkg::cli
