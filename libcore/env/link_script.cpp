#include "libcore/env/link_script_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <system_error>
#include <utility>

namespace gpkg {
constexpr std::size_t kShownLines = 10;

std::string link_script_path(std::string_view name, std::string_view action) {
    return fmt::format("bin/.{}-{}.sh", name, action);
}

Result<void> run_link_script(Disk& disk,
                             const LinkScript& script,
                             const TransactionOptions& options) {
    const auto& prefix = disk.prefix();
    if (const int code = disk.announce("run", script.script); code != 0)
        return pass(io_error(script.script, "run", code));
    std::error_code ignored;
    ProcessCommand command;
    command.arguments = {fs::exists("/bin/bash", ignored) ? "/bin/bash" : "/bin/sh", script.script};
    command.environment = current_environment();
    auto& path = command.environment["PATH"];
    path = fmt::format("{}:{}:{}",
                       script.script.parent_path().native(),
                       (prefix / "bin").native(),
                       path.empty() ? "/usr/bin:/bin" : path);
    const std::map<std::string, std::string> own = {
        {"ROOT_PREFIX", options.root_prefix},
        {"PREFIX", prefix},
        {"CONDA_PREFIX", prefix},
        {"SOURCE_DIR", prefix},
        {"PKG_NAME", script.package->name},
        {"PKG_VERSION", script.package->version},
        {"PKG_BUILDNUM", fmt::format("{}", script.package->build_number)}};
    for (const auto& [name, value] : own) command.environment[name] = value;
    command.folder = prefix;
    command.cancelled = options.cancelled;
    GPKG_TRY(const auto done, run_and_capture(std::move(command)));
    if (done.exit_code == 0) return {};
    const auto output = last_lines(done.output, kShownLines);
    return fail(ErrorKind::Integrity,
                fmt::format("{}: its {} script failed with status {}{}{}",
                            script.package->distribution(),
                            script.action,
                            done.exit_code,
                            output.empty() ? "" : ":\n",
                            output));
}

Result<void> run_package_script(Disk& disk,
                                const PrefixRecord& record,
                                std::string_view action,
                                const TransactionOptions& options) {
    const auto script = link_script_path(record.package.name, action);
    const auto& files = record.files;
    if (std::find(files.begin(), files.end(), script) == files.end() || !disk.exists(script))
        return {};
    return run_link_script(disk, {&record.package, action, disk.prefix() / script}, options);
}

}  // namespace gpkg
