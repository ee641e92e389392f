#include "libcore/env/journal_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/env/link_scripts.hpp"
#include "libcore/env/shell.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <system_error>
#include <utility>

namespace gpkg {
namespace {

constexpr std::size_t kShownLines = 10;

void add_found(const PackageRecord& package,
               const fs::path& folder,
               std::initializer_list<std::string_view> actions,
               bool runs_now,
               std::vector<FoundLinkScript>& to) {
    for (const auto action : actions) {
        FoundLinkScript found{package.name, package.distribution(), {}, {}, 0, {}, runs_now};
        found.path = link_script_path(package.name, action);
        found.file = folder / found.path;
        std::error_code code;
        found.size = fs::file_size(found.file, code);
        if (!code) to.push_back(std::move(found));
    }
}

/// What it is in its package; in the prefix it may name the prefix.
std::string sha256_in_package(const PrefixRecord& record, std::string_view script) {
    const auto& paths = record.paths;
    const auto found = std::find_if(
        paths.begin(), paths.end(), [&](const auto& path) { return path.path == script; });
    return found == paths.end() ? std::string() : found->sha256;
}

Result<void> add_leaving(const PrefixRecord& record,
                         const fs::path& prefix,
                         std::vector<FoundLinkScript>& to) {
    const auto first = to.size();
    add_found(record.package, prefix, {"pre-unlink", "post-unlink"}, true, to);
    for (auto i = first; i < to.size(); ++i) {
        to[i].sha256 = sha256_in_package(record, to[i].path);
        if (!to[i].sha256.empty()) continue;
        GPKG_TRY(to[i].sha256, sha256_of_file(to[i].file));
    }
    return {};
}

}  // namespace

Result<std::vector<FoundLinkScript>> find_link_scripts(const Transaction& transaction) {
    std::vector<FoundLinkScript> found;
    for (const auto& record : transaction.unlink)
        GPKG_CHECK(add_leaving(record, transaction.prefix, found));
    for (const auto& request : transaction.link) {
        const auto first = found.size();
        add_found(request.record, request.unpacked, {"pre-link", "post-link"}, true, found);
        add_found(request.record, request.unpacked, {"pre-unlink", "post-unlink"}, false, found);
        for (auto i = first; i < found.size(); ++i) {
            GPKG_TRY(found[i].sha256, sha256_of_file(found[i].file));
        }
    }
    return found;
}

Result<std::vector<FoundLinkScript>> find_link_scripts(const fs::path& prefix) {
    std::vector<FoundLinkScript> found;
    GPKG_TRY(const auto records, read_records(prefix));
    for (const auto& record : records) GPKG_CHECK(add_leaving(record, prefix, found));
    // A prefix goes away whole: nothing is left for a post-unlink script to tidy.
    std::erase_if(found, [](const auto& one) { return one.path.ends_with("-post-unlink.sh"); });
    return found;
}

std::string link_script_path(std::string_view name, std::string_view action) {
    return fmt::format("bin/.{}-{}.sh", name, action);
}

namespace {

/// Scripts that activation sources, in byte order of their names.
std::vector<fs::path> activation_scripts(const fs::path& prefix) {
    std::vector<fs::path> scripts;
    std::error_code code;
    for (fs::directory_iterator entry(prefix / "etc/conda/activate.d", code), end;
         !code && entry != end;
         entry.increment(code)) {
        if (entry->path().extension() == ".sh") scripts.push_back(entry->path());
    }
    std::ranges::sort(scripts, {}, [](const fs::path& path) { return path.native(); });
    return scripts;
}

/// As conda, mamba and rattler do: a script is sourced, so that it may return, and those that need
/// the package in place run in the activated environment. $0 is the script.
std::string shell_code(const fs::path& prefix, const LinkScript& script) {
    std::string code;
    if (script.action == "post-link" || script.action == "pre-unlink") {
        for (const auto& file : activation_scripts(prefix))
            code += fmt::format(". {}\n", shell_quoted(file.native(), Shell::Posix));
    }
    if (!code.empty())
        code = fmt::format(
            "trap 'echo \"an activation script exited\" >&2; exit 1' EXIT\n{}trap - EXIT\n", code);
    return code + ". \"$0\"\n";
}

}  // namespace

Result<void> run_link_script(Disk& disk,
                             const LinkScript& script,
                             const TransactionOptions& options) {
    if (options.refused_scripts.contains(link_script_path(script.package->name, script.action)))
        return {};
    const auto& prefix = disk.prefix();
    GPKG_TRY(const bool has_journal, disk.exists(std::string(kJournalFolder)));
    if (has_journal) GPKG_CHECK(mark(disk, "untold"));
    if (const int code = disk.announce("run", script.script); code != 0)
        return pass(io_error(script.script, "run", code));
    std::error_code ignored;
    ProcessCommand command;
    command.arguments = {fs::exists("/bin/bash", ignored) ? "/bin/bash" : "/bin/sh",
                         "-c",
                         shell_code(prefix, script),
                         script.script};
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
    command.ends_with_caller = true;
    GPKG_TRY(const auto done, run_and_capture(std::move(command)));
    if (done.exit_code == 0) return {};
    const auto output = last_lines(done.output, kShownLines);
    return fail(ErrorKind::Integrity,
                fmt::format("{}: the {} script failed with exit status {}{}{}",
                            script.package->distribution(),
                            script.action,
                            done.exit_code,
                            output.empty() ? "" : ":\n",
                            output));
}

Result<void> run_pre_unlink_script(Disk& disk,
                                   const PrefixRecord& record,
                                   const TransactionOptions& options,
                                   const std::function<void(const std::string& text)>& warn) {
    const auto script = link_script_path(record.package.name, "pre-unlink");
    const auto& files = record.files;
    if (std::find(files.begin(), files.end(), script) == files.end()) return {};
    GPKG_TRY(const bool there, disk.exists(script));
    if (!there) return {};
    auto ran =
        run_link_script(disk, {&record.package, "pre-unlink", disk.prefix() / script}, options);
    // Only a script that ran and failed: an interruption or a disk that fails ends the change.
    if (ran || ran.error().kind != ErrorKind::Integrity) return ran;
    if (warn) warn(fmt::format("{}; the package is removed all the same", ran.error().message));
    return {};
}

}  // namespace gpkg
