#include "cli/workflow/package_tests.hpp"

#include "cli/workflow/fetch.hpp"
#include "cli/workflow/trial.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/process/process.hpp"
#include "libcore/recipe/package_test.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

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

/// Runs a test in `folder`, which has the files that the recipe gave it, with `folder` as its home.
Result<void> run_test(const Context& context,
                      const PackageTest& test,
                      const fs::path& prefix,
                      const fs::path& folder) {
    const auto script = test_script(test);
    if (script.empty()) return {};
    const auto file = prefix.parent_path() / "test.sh";
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
    command.environment["PYTHON"] = (prefix / "bin/python").native();
    command.folder = folder;
    command.log = prefix.parent_path() / "test.log";
    GPKG_CHECK(write_file_atomically(command.log, ""));
    command.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto code, run_command(command));
    if (code == 0) return {};
    return fail(
        ErrorKind::Io,
        fmt::format("a test of it failed with {}:\n{}", code, last_lines_of(command.log, 20)));
}

/// "python 3.10.*" and the like for each environment that the tests ask for; empty: any python.
std::set<std::string> pythons_of(const std::vector<PackageTest>& tests) {
    std::set<std::string> pythons;
    for (const auto& test : tests) {
        for (const auto& version : test.python_versions) pythons.insert("python " + version);
        if (test.python_versions.empty()) pythons.insert("");
    }
    return pythons;
}

bool runs_with(const PackageTest& test, const std::string& python) {
    const auto& versions = test.python_versions;
    return python.empty()
               ? versions.empty()
               : std::find(versions.begin(), versions.end(), python.substr(7)) != versions.end();
}

Result<void> check_contents(const PackageTest& test, const fs::path& unpacked) {
    GPKG_TRY(const auto entries, read_paths(unpacked));
    std::vector<std::string> paths;
    paths.reserve(entries.size());
    for (const auto& entry : entries) paths.push_back(entry.path);
    const auto faults = content_faults(test, paths);
    if (faults.empty()) return {};
    return fail(ErrorKind::Io,
                fmt::format("a test of its contents failed: {}", join_some(faults, "and")));
}

/// A folder below `folder` with the files of test number `i`.
Result<fs::path> folder_of_test(std::size_t i, const fs::path& unpacked, const fs::path& folder) {
    auto own = folder / fmt::format("test-{}", i);
    GPKG_CHECK(make_folders(own));
    const auto files = unpacked / "info/tests" / std::to_string(i);
    std::error_code code;
    if (fs::is_directory(files, code)) GPKG_CHECK(copy_tree(files, own, false));
    return own;
}

/// The tests that run with one python, in an environment of their own. Every one is run, also after
/// one that failed.
Result<void> run_in_environment(Context& context,
                                const Sources& sources,
                                const BuiltPackage& package,
                                const std::string& python,
                                std::vector<Error>& failures) {
    GPKG_TRY(const auto name, FileName::parse(package.file.filename().native()));
    std::vector<std::string> specs{fmt::format("{}=={}={}", name.name, name.version, name.build)};
    if (!python.empty()) specs.push_back(python);
    for (const auto& test : package.tests) {
        if (runs_with(test, python))
            specs.insert(specs.end(), test.requirements.begin(), test.requirements.end());
    }
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-test-"));
    const auto prefix = folder.path() / "prefix";
    GPKG_TRY(const auto made, make_trial(context, sources, specs, prefix));
    const auto own = std::find_if(made.records.begin(), made.records.end(), [&](const auto& one) {
        return one.name == name.name;
    });
    const auto& unpacked = made.unpacked[static_cast<std::size_t>(own - made.records.begin())];
    for (std::size_t i = 0; i < package.tests.size(); ++i) {
        const auto& test = package.tests[i];
        if (!runs_with(test, python)) continue;
        GPKG_TRY(const auto own_folder, folder_of_test(i, unpacked, folder.path()));
        auto tested = test.kind == PackageTest::Kind::Contents
                          ? check_contents(test, unpacked)
                          : run_test(context, test, prefix, own_folder);
        if (tested) continue;
        if (tested.error().kind == ErrorKind::Interrupted) return pass(std::move(tested).error());
        auto error = std::move(tested).error();
        error.message = fmt::format("{}{}{}: {}",
                                    package.distribution,
                                    python.empty() ? "" : " with ",
                                    python,
                                    error.message);
        failures.push_back(std::move(error));
    }
    return {};
}

Result<std::vector<Error>> run_tests(Context& context,
                                     const Sources& sources,
                                     const BuiltPackage& package) {
    std::vector<Error> failures;
    for (const auto& python : pythons_of(package.tests))
        GPKG_CHECK(run_in_environment(context, sources, package, python, failures));
    return failures;
}

/// What was built with a package that is not published is not published either.
Result<void> withhold_dependents(const std::vector<BuiltPackage>& packages,
                                 const fs::path& work,
                                 std::vector<FailedPackage>& failed) {
    std::set<std::string> gone;
    for (const auto& one : failed) gone.insert(one.distribution);
    for (bool again = !gone.empty(); again;) {
        again = false;
        for (const auto& package : packages) {
            const auto found = std::find_if(package.built_with.begin(),
                                            package.built_with.end(),
                                            [&](const auto& name) { return gone.contains(name); });
            if (found == package.built_with.end() || !gone.insert(package.distribution).second)
                continue;
            GPKG_TRY(const auto withheld, withhold(package, work));
            failed.push_back({package.distribution,
                              Error{ErrorKind::NotFound,
                                    fmt::format("{}: it was built with {}, which is not published",
                                                package.distribution,
                                                *found),
                                    withheld.to_string(),
                                    {}}});
            again = true;
        }
    }
    return {};
}

}  // namespace

Result<std::vector<FailedPackage>> test_packages(Context& context,
                                                 BuildSources& sources,
                                                 const std::vector<BuiltPackage>& packages,
                                                 const fs::path& work) {
    std::vector<FailedPackage> failed;
    for (const auto& package : packages) {
        if (package.tested || package.tests.empty()) continue;
        GPKG_CHECK(check_stop(context));
        GPKG_TRY(const auto* now, sources.now());
        auto failures = run_tests(context, *now, package);
        if (!failures && failures.error().kind == ErrorKind::Interrupted)
            return pass(std::move(failures).error());
        if (!failures)
            failures = std::vector{
                std::move(failures).error().while_doing("testing " + package.distribution)};
        if (failures->empty()) {
            GPKG_CHECK(remember_tested(package, work));
            continue;
        }
        GPKG_TRY(const auto withheld, withhold(package, work));
        for (auto& failure : *failures) {
            if (failure.hint.empty())
                failure.hint = withheld.to_string() + "; --no-test publishes without testing";
            failed.push_back({package.distribution, std::move(failure)});
        }
    }
    GPKG_CHECK(withhold_dependents(packages, work, failed));
    return failed;
}

}  // namespace gpkg::cli
