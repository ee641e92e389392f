#include "libcore/base/text.hpp"
#include "libcore/env/child_process_internal.hpp"
#include "libcore/env/link_files_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// Sources per interpreter below which starting another one costs more than it saves.
constexpr std::size_t kWorthAProcess = 50;

/// Each line of compileall that starts with "***" names a file it could not compile.
void warn_of_errors(const std::string& output, TransactionReport& report) {
    for (const auto line : split(output, '\n')) {
        if (!line.starts_with("***")) continue;
        auto text = std::string(trim(line.substr(3)));
        while (text.ends_with('.')) text.pop_back();
        report.warnings.push_back(std::move(text));
    }
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
        std::clamp<std::size_t>(items.size() / kWorthAProcess, 1, options.threads + 1);
    std::vector<std::string> lists(std::min<std::size_t>(jobs, std::max(options.threads, 1U)));
    const auto& prefix = disk.prefix();
    for (std::size_t i = 0; i < items.size(); ++i)
        lists[i % lists.size()] += (prefix / items[i]->source).native() + "\n";

    std::vector<pid_t> running;
    Result<void> done;
    for (std::size_t i = 0; i < lists.size() && done; ++i) {
        const auto input = journal_path(fmt::format("compile-{}", i));
        if (const int code = disk.write(input, lists[i], 0600); code != 0) {
            done = pass(disk.error(input, "write", code));
            break;
        }
        if (const int code = disk.announce("compile", prefix); code != 0) {
            done = pass(io_error(prefix, "compile python files in", code));
            break;
        }
        ChildProcess child;
        // -E: variables of the user's own python do not matter here.
        child.command = {prefix / plan.python->interpreter(),
                         "-E",
                         "-s",
                         "-Wi",
                         "-m",
                         "compileall",
                         "-q",
                         "-l",
                         "-i",
                         "-"};
        child.without_variables = {"SOURCE_DATE_EPOCH", "LD_PRELOAD"};
        child.folder = prefix;
        child.input = prefix / input;
        child.output = prefix / journal_path(fmt::format("compiled-{}", i));
        const auto pid = start(child);
        if (pid) {
            running.push_back(*pid);
        } else {
            report.warnings.push_back(
                fmt::format("python files are not compiled: {}", pid.error().message));
            break;
        }
    }
    for (std::size_t i = 0; i < running.size(); ++i) {
        const int status = wait_for(running[i]);
        const auto output =
            read_file(prefix / journal_path(fmt::format("compiled-{}", i))).value_or("");
        const auto before = report.warnings.size();
        warn_of_errors(output, report);
        // compileall says 1 for files it could not compile and has named.
        if (status != 0 && report.warnings.size() == before)
            report.warnings.push_back(
                fmt::format("python files may not be compiled: {} ended with status {}{}{}",
                            (prefix / plan.python->interpreter()).native(),
                            status,
                            trim(output).empty() ? "" : ": ",
                            trim(output).substr(0, 500)));
    }
    GPKG_CHECK(done);
    report.compiled = static_cast<std::uint64_t>(std::count_if(
        items.begin(), items.end(), [&](const auto* item) { return disk.exists(item->target); }));
    if (options.progress) options.progress("compiling", items.size(), items.size());
    return {};
}

}  // namespace gpkg
