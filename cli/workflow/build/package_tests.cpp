#include "cli/workflow/build/package_tests.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/build/trial.hpp"
#include "cli/workflow/fetch.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/process/process.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/recipe/package_test.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
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
    options.folders = environment_folders(context.config);
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
    const auto said = last_lines_of(command.log, 20);
    return fail(ErrorKind::Io,
                said.empty() ? fmt::format("a test failed with exit status {} and no output", code)
                             : fmt::format("a test failed with exit status {}:\n{}", code, said));
}

Result<void> check_contents(const PackageTest& test, const fs::path& unpacked) {
    GPKG_TRY(const auto entries, read_paths(unpacked));
    std::vector<std::string> paths;
    paths.reserve(entries.size());
    for (const auto& entry : entries) paths.push_back(entry.path);
    const auto faults = content_faults(test, paths);
    if (faults.empty()) return {};
    return fail(ErrorKind::Io,
                fmt::format("a test of the package contents failed: {}", join_some(faults, "and")));
}

/// A folder below `folder` with the files of test number `i`.
Result<fs::path> folder_of_test(const Context& context,
                                std::size_t i,
                                const fs::path& unpacked,
                                const fs::path& folder) {
    auto own = folder / fmt::format("test-{}", i);
    GPKG_CHECK(make_folders(own));
    const auto files = unpacked / "info/tests" / std::to_string(i);
    std::error_code code;
    if (fs::is_directory(files, code))
        GPKG_CHECK(copy_tree(files, own, false, [&] { return context.stop.stop_requested(); }));
    return own;
}

/// A package whose tests are run.
struct TestedPackage {
    std::string name;
    std::vector<std::string> specs;  ///< what every environment for its tests holds
    std::vector<PackageTest> tests;
    bool is_downstream = false;  ///< tested for the sake of another one
    fs::path log{};              ///< what the tests said
};

/// Adds what test number `i` said to what those before it said.
Result<void> keep_log(const fs::path& folder, const TestedPackage& subject, std::size_t i) {
    const auto said = read_file(folder / "test.log");
    if (!said || said->empty()) return {};
    std::error_code ignored;
    fs::remove(folder / "test.log", ignored);
    const auto before = read_file(subject.log);
    return write_file_atomically(
        subject.log,
        fmt::format("{}== test {} of {}\n{}", before.value_or(""), i, subject.name, *said));
}

std::string exact_spec(const PackageRecord& record) {
    return fmt::format("{}=={}={}", record.name, record.version, record.build);
}

/// Runs those of the tests that ask for this environment, also after one that failed.
Result<void> run_in_environment(Context& context,
                                BuildSources& sources,
                                const TestedPackage& subject,
                                const std::vector<std::string>& wanted,
                                std::vector<Error>& failures) {
    auto specs = subject.specs;
    specs.insert(specs.end(), wanted.begin(), wanted.end());
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-test-"));
    const auto prefix = folder.path() / "prefix";
    GPKG_TRY(auto solved, sources.solve(specs));
    GPKG_TRY(const auto made, make_trial(context, std::move(solved), prefix, prefix));
    const auto own = std::find_if(made.records.begin(), made.records.end(), [&](const auto& one) {
        return one.name == subject.name;
    });
    const auto& unpacked = made.unpacked[static_cast<std::size_t>(own - made.records.begin())];
    for (std::size_t i = 0; i < subject.tests.size(); ++i) {
        const auto& test = subject.tests[i];
        const auto all = test_environments(test);
        if (std::find(all.begin(), all.end(), wanted) == all.end()) continue;
        GPKG_TRY(const auto own_folder, folder_of_test(context, i, unpacked, folder.path()));
        auto tested = test.kind == PackageTest::Kind::Contents
                          ? check_contents(test, unpacked)
                          : run_test(context, test, prefix, own_folder);
        GPKG_CHECK(keep_log(folder.path(), subject, i));
        if (tested) continue;
        if (tested.error().kind == ErrorKind::Interrupted) return pass(std::move(tested).error());
        auto error = std::move(tested).error();
        if (!wanted.empty())
            error.message = fmt::format("with {}: {}", fmt::join(wanted, ", "), error.message);
        failures.push_back(std::move(error));
    }
    return {};
}

/// What fails, one after the other; an error where it cannot be known.
Result<std::vector<Error>> run_tests(Context& context,
                                     BuildSources& sources,
                                     const TestedPackage& subject);

/// The tests of another package, in environments that hold this one as well. A new release that
/// nothing can use yet is no fault of it (other builders see it so too), and is told.
Result<std::vector<Error>> run_downstream(Context& context,
                                          BuildSources& sources,
                                          const TestedPackage& subject,
                                          const std::string& downstream) {
    auto specs = subject.specs;
    specs.push_back(downstream);
    auto solved = sources.solve(specs);
    if (!solved && (solved.error().kind == ErrorKind::Unsatisfiable ||
                    solved.error().kind == ErrorKind::NotFound)) {
        context.out.warn(
            fmt::format("{}: the tests of {} were skipped, no environment can hold both: {}",
                        subject.name,
                        downstream,
                        solved.error().message));
        return std::vector<Error>();
    }
    if (!solved) return pass(std::move(solved).error());
    TestedPackage other;
    other.name = dependency_name(downstream);
    const auto record = std::find_if(solved->records.begin(),
                                     solved->records.end(),
                                     [&](const auto& one) { return one.name == other.name; });
    other.specs = subject.specs;
    other.specs.push_back(exact_spec(*record));
    const auto store = open_store(context);
    GPKG_TRY(const auto unpacked, make_available(context, store, {*record}, solved->channels, {}));
    GPKG_TRY(other.tests, read_tests(unpacked.front()));
    other.is_downstream = true;
    other.log = subject.log;
    GPKG_TRY(auto failures, run_tests(context, sources, other));
    for (auto& failure : failures)
        failure.message =
            fmt::format("in the tests of {}: {}", other.specs.back(), failure.message);
    return failures;
}

Result<std::vector<Error>> run_tests(Context& context,
                                     BuildSources& sources,
                                     const TestedPackage& subject) {
    std::vector<Error> failures;
    std::set<std::vector<std::string>> environments;
    for (const auto& test : subject.tests) {
        if (test.kind == PackageTest::Kind::Downstream) {
            if (subject.is_downstream) continue;
            GPKG_TRY(auto more, run_downstream(context, sources, subject, test.downstream));
            std::move(more.begin(), more.end(), std::back_inserter(failures));
        } else {
            for (auto& one : test_environments(test)) environments.insert(std::move(one));
        }
    }
    for (const auto& wanted : environments)
        GPKG_CHECK(run_in_environment(context, sources, subject, wanted, failures));
    return failures;
}

/// The same of a package that was just built.
Result<std::vector<Error>> run_tests(Context& context,
                                     BuildSources& sources,
                                     const BuiltPackage& package,
                                     const fs::path& log) {
    std::error_code ignored;
    fs::remove(log, ignored);
    GPKG_TRY(const auto name, FileName::parse(package.file.filename().native()));
    const TestedPackage subject{
        name.name,
        {fmt::format("{}=={}={}", name.name, name.version, name.build)},
        package.tests,
        false,
        log,
    };
    GPKG_TRY(auto failures, run_tests(context, sources, subject));
    for (auto& failure : failures) {
        failure.message = fmt::format("{}: {}", package.distribution, failure.message);
        if (fs::exists(log, ignored))
            failure.message += fmt::format("\nfull output of the tests: {}", log.native());
    }
    return failures;
}

}  // namespace

Result<std::vector<FailedPackage>> test_packages(Context& context,
                                                 BuildSources& sources,
                                                 const std::vector<BuiltPackage>& packages,
                                                 const Publisher& publisher) {
    std::vector<FailedPackage> failed;
    for (const auto& package : packages) {
        if (package.tested || package.tests.empty()) continue;
        GPKG_CHECK(check_stop(context));
        auto failures = run_tests(context, sources, package, publisher.test_log(package));
        if (!failures && failures.error().kind == ErrorKind::Interrupted)
            return pass(std::move(failures).error());
        if (!failures)
            failures = std::vector{
                std::move(failures).error().while_doing("testing " + package.distribution)};
        if (failures->empty()) {
            GPKG_CHECK(publisher.remember_tested(package));
            continue;
        }
        GPKG_TRY(const auto place, publisher.withhold(package));
        for (auto& failure : *failures) {
            if (failure.hint.empty())
                failure.hint =
                    package.is_published ? place : place + "; use --no-test to publish it untested";
            failed.push_back({package.distribution, std::move(failure)});
        }
    }
    return failed;
}

Result<std::vector<FailedPackage>> withhold_heirs(const std::vector<BuiltPackage>& packages,
                                                  const std::set<std::string>& gone,
                                                  const Publisher& publisher) {
    std::vector<FailedPackage> failed;
    for (const auto& [package, with] : heirs_of(packages, gone)) {
        GPKG_TRY(auto place, publisher.withhold(*package));
        failed.push_back(
            {package->distribution,
             Error{ErrorKind::NotFound,
                   fmt::format(
                       "{}: built with {}, which was not published", package->distribution, with),
                   std::move(place),
                   {}}});
    }
    return failed;
}

}  // namespace gpkg::cli
