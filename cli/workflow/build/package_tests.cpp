#include "cli/workflow/build/package_tests.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/build/trial.hpp"
#include "cli/workflow/fetch.hpp"
#include "libcore/base/number.hpp"
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

/// The commands of a test in one line, for a message.
std::string commands_text(const PackageTest& test) {
    constexpr std::size_t kMost = 1000;
    auto text = test_script(test);
    while (text.ends_with('\n')) text.pop_back();
    for (auto& c : text) c = c == '\n' ? ';' : c;
    if (text.size() > kMost) text = text.substr(0, kMost) + "...";
    return text;
}

/// The line of the script that failed. `note` is its number and the command that failed in it:
/// "3:grep -q 1.2". Just the command where that comes from another file.
std::string failed_line(std::string_view note, std::string_view script) {
    const auto colon = std::min(note.find(':'), note.size());
    const auto number = whole_number<std::size_t>(note.substr(0, colon));
    const auto command = note.substr(std::min(colon + 1, note.size()));
    const auto lines = split(script, '\n');
    if (!number || *number == 0 || *number > lines.size()) return std::string(command);
    const auto line = trim(lines[*number - 1]);
    return std::string(line.find(command) == std::string_view::npos ? command : line);
}

/// Runs a test in `folder`, which has the files that the recipe gave it, with `folder` as its home.
/// `label` is what a message calls it: "test 2".
Result<void> run_test(const Context& context,
                      const PackageTest& test,
                      const std::string& label,
                      const fs::path& prefix,
                      const fs::path& folder) {
    const auto script = test_script(test);
    if (script.empty()) return {};
    const auto file = prefix.parent_path() / "test.sh";
    // The trap is in the first line, so that the lines of the script keep their numbers.
    const auto failed = prefix.parent_path() / "failed-command";
    const auto note =
        fmt::format(R"(printf %s "$LINENO:$BASH_COMMAND" > {})", shell_word(failed.native()));
    GPKG_CHECK(remove_tree(failed));
    GPKG_CHECK(
        write_file_atomically(file, fmt::format("trap {} ERR; {}", shell_word(note), script)));
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
    // No command failed where the script exits by itself.
    const auto culprit = read_file(failed);
    return fail(ErrorKind::Io,
                fmt::format("{} failed with exit status {}: {}{}",
                            label,
                            code,
                            culprit && !culprit->empty() ? failed_line(*culprit, script)
                                                         : commands_text(test),
                            said.empty() ? "" : "\n" + said));
}

Result<void> check_contents(const PackageTest& test,
                            const std::string& label,
                            const fs::path& unpacked) {
    GPKG_TRY(const auto entries, read_paths(unpacked));
    std::vector<std::string> paths;
    paths.reserve(entries.size());
    for (const auto& entry : entries) paths.push_back(entry.path);
    const auto faults = content_faults(test, paths);
    if (faults.empty()) return {};
    return fail(ErrorKind::Io,
                fmt::format("{} (package contents) failed: {}", label, join_some(faults, "and")));
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
        fmt::format("{}== test {} of {}\n{}", before.value_or(""), i + 1, subject.name, *said));
}

/// "test 2", "test 2 of down==1=0 with python 3.10.*": counted from 1, as people count in a recipe.
std::string label_of(const TestedPackage& subject,
                     std::size_t i,
                     const std::vector<std::string>& wanted) {
    return fmt::format("test {}{}{}",
                       i + 1,
                       subject.is_downstream ? " of " + subject.specs.back() : "",
                       wanted.empty() ? "" : fmt::format(" with {}", fmt::join(wanted, ", ")));
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
        const auto label = label_of(subject, i, wanted);
        auto tested = test.kind == PackageTest::Kind::Contents
                          ? check_contents(test, label, unpacked)
                          : run_test(context, test, label, prefix, own_folder);
        GPKG_CHECK(keep_log(folder.path(), subject, i));
        if (tested) continue;
        if (tested.error().kind == ErrorKind::Interrupted) return pass(std::move(tested).error());
        failures.push_back(std::move(tested).error());
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
    return run_tests(context, sources, other);
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
    for (auto& failure : failures)
        failure.message = fmt::format("{}: {}", package.distribution, failure.message);
    if (!failures.empty() && fs::exists(log, ignored))
        failures.back().message += fmt::format("\nlog of the tests: {}", log.native());
    return failures;
}

/// What to change, before "; " of the hint.
std::string_view advice_on(const Error& failure) {
    if (failure.kind == ErrorKind::Unsatisfiable) return "";
    if (failure.message.find("failed with exit status 127") != std::string::npos)
        return "a command is not in the test environment: add its package to requirements.run, or "
               "to requirements of the test; ";
    return "correct the test or the program; ";
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
        // Of several failures, the last one says where the package is.
        auto& last = failures->back();
        last.message += "\n" + place;
        if (last.hint.empty() && !package.is_published)
            last.hint = fmt::format("{}--no-test publishes the package untested", advice_on(last));
        for (auto& failure : *failures)
            failed.push_back({package.distribution, std::move(failure)});
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
