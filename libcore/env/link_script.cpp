#include "libcore/base/text.hpp"
#include "libcore/env/child_process_internal.hpp"
#include "libcore/env/journal_internal.hpp"
#include "libcore/env/link_script_internal.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace gpkg {
namespace {

/// The last lines, where scripts say what went wrong.
std::string last_lines(std::string_view text) {
    text = trim(text);
    static constexpr int kMost = 10;
    std::size_t from = text.size();
    for (int i = 0; i < kMost && from != std::string_view::npos && from > 0; ++i)
        from = text.rfind('\n', from - 1);
    const bool whole = from == std::string_view::npos || from == 0;
    return std::string(whole ? text : text.substr(from + 1));
}

}  // namespace

std::string link_script_path(std::string_view name, std::string_view action) {
    return fmt::format("bin/.{}-{}.sh", name, action);
}

Result<void> run_link_script(Disk& disk, const LinkScript& script) {
    const auto& prefix = disk.prefix();
    if (const int code = disk.announce("run", script.script); code != 0)
        return pass(io_error(script.script, "run", code));
    const char* path = std::getenv("PATH");
    std::error_code ignored;
    ChildProcess child;
    child.command = {fs::exists("/bin/bash", ignored) ? "/bin/bash" : "/bin/sh", script.script};
    child.variables = {
        {"ROOT_PREFIX", script.root_prefix},
        {"PREFIX", prefix},
        {"CONDA_PREFIX", prefix},
        {"SOURCE_DIR", prefix},
        {"PKG_NAME", script.package->name},
        {"PKG_VERSION", script.package->version},
        {"PKG_BUILDNUM", fmt::format("{}", script.package->build_number)},
        {"PATH",
         fmt::format("{}:{}:{}",
                     script.script.parent_path().native(),
                     (prefix / "bin").native(),
                     path != nullptr ? path : "/usr/bin:/bin")},
    };
    child.folder = prefix;
    child.output = prefix / journal_path("output");
    GPKG_TRY(const int status, run(child));
    if (status == 0) return {};
    const auto output = last_lines(read_file(child.output).value_or(""));
    return fail(ErrorKind::Integrity,
                fmt::format("{}: its {} script failed with status {}{}{}",
                            script.package->distribution(),
                            script.action,
                            status,
                            output.empty() ? "" : ":\n",
                            output));
}

}  // namespace gpkg
