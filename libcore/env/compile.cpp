#include "libcore/base/parallel.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/link_files_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// Sources per interpreter below which starting another one costs more than it saves.
constexpr std::size_t kWorthAProcess = 50;

/// One run of compileall.
struct Compilation {
    int status = 0;
    std::string output{};
};

/// Compiles what the journal's list number `i` names.
Result<Compilation> compile(const fs::path& interpreter,
                            const fs::path& prefix,
                            std::size_t i,
                            const TransactionOptions& options) {
    ProcessCommand command;
    // -E: variables of the user's own python do not matter here.
    command.arguments = {interpreter, "-E", "-s", "-Wi", "-m", "compileall", "-q", "-l", "-i", "-"};
    command.environment = current_environment();
    command.environment.erase("SOURCE_DATE_EPOCH");
    command.environment.erase("LD_PRELOAD");
    command.folder = prefix;
    command.input = prefix / journal_path(fmt::format("compile-{}", i));
    command.log = prefix / journal_path(fmt::format("compiled-{}", i));
    command.cancelled = options.cancelled;
    Compilation result;
    GPKG_TRY(result.status, run_command(command));
    result.output = read_file(command.log).value_or("");
    return result;
}

/// Files that are not compiled cost time at their import, and nothing else.
void warn_of_errors(const fs::path& interpreter,
                    const Result<Compilation>& compilation,
                    TransactionReport& report) {
    if (!compilation) {
        report.warnings.push_back(
            fmt::format("cannot compile python files: {}", compilation.error().message));
        return;
    }
    const auto before = report.warnings.size();
    for (const auto line : split(compilation->output, '\n')) {
        // compileall names each file it could not compile like this.
        if (!line.starts_with("***")) continue;
        auto text = std::string(trim(line.substr(3)));
        while (text.ends_with('.')) text.pop_back();
        report.warnings.push_back(std::move(text));
    }
    // It says 1 for files that it has named.
    const auto said = trim(compilation->output);
    if (compilation->status != 0 && report.warnings.size() == before)
        report.warnings.push_back(
            fmt::format("some python files may not be compiled: {} exited with status {}{}{}",
                        interpreter.native(),
                        compilation->status,
                        said.empty() ? "" : ": ",
                        said.substr(0, 500)));
}

}  // namespace

Result<void> compile_files(Disk& disk,
                           const Plan& plan,
                           const TransactionOptions& options,
                           TransactionReport& report) {
    std::vector<const LinkItem*> items;
    for (const auto& package : plan.packages) {
        for (const auto& item : package.items) {
            if (item.kind == LinkKind::Pyc && !item.skipped) items.push_back(&item);
        }
    }
    if (items.empty() || !plan.python) return {};
    if (options.progress) options.progress("compiling", 0, items.size());

    const auto jobs =
        std::clamp<std::size_t>(items.size() / kWorthAProcess, 1, std::max(options.threads, 1U));
    std::vector<std::string> lists(jobs);
    const auto& prefix = disk.prefix();
    for (std::size_t i = 0; i < items.size(); ++i)
        lists[i % jobs] += (prefix / items[i]->source).native() + "\n";

    std::vector<Result<Compilation>> compilations(jobs, Compilation{});
    for (std::size_t i = 0; i < jobs; ++i) {
        const auto list = journal_path(fmt::format("compile-{}", i));
        if (const int code = disk.write(list, lists[i], 0600); code != 0)
            return pass(disk.error(list, "write", code));
        if (const int code = disk.announce("compile", prefix); code != 0)
            return pass(io_error(prefix, "compile python files", code));
    }
    const auto interpreter = prefix / plan.python->interpreter();
    for_each_index(jobs, jobs, [&](std::size_t i) {
        compilations[i] = compile(interpreter, prefix, i, options);
    });
    for (const auto& compilation : compilations) {
        if (!compilation && compilation.error().kind == ErrorKind::Interrupted)
            return pass(compilation.error());
        warn_of_errors(interpreter, compilation, report);
    }
    report.compiled =
        static_cast<std::uint64_t>(std::count_if(items.begin(), items.end(), [&](const auto* item) {
            return disk.exists(item->target).value_or(false);
        }));
    if (options.progress) options.progress("compiling", items.size(), items.size());
    return {};
}

}  // namespace gpkg
