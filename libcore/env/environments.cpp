#include "libcore/env/environments.hpp"

#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/prefix_lock.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/fs/file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

namespace gpkg {
namespace {

fs::path registry(const fs::path& home) { return home / ".conda" / "environments.txt"; }

std::vector<std::string> registered(const fs::path& home) {
    std::vector<std::string> out;
    const auto text = read_file(registry(home));
    if (!text) return out;
    for (const auto raw : split(*text, '\n')) {
        const auto line = trim(raw);
        if (!line.empty() && line.front() != '#') out.emplace_back(line);
    }
    return out;
}

}  // namespace

Result<void> check_environment_name(std::string_view name) {
    const auto refuse = [&](std::string_view why) -> Result<void> {
        return fail(ErrorKind::Usage,
                    fmt::format("'{}' cannot be the name of an environment: {}", name, why),
                    "for an environment at a path: -p PATH");
    };
    if (name.empty()) return refuse("it is empty");
    if (!is_utf8(name)) return refuse("it is not UTF-8");
    if (name == "." || name == "..") return refuse("it is a reserved folder name");
    if (name == "base" || name == "root") return refuse("it means the root prefix");
    if (name.front() == '-') return refuse("it starts with '-'");
    for (const char c : name) {
        if (c == '/' || c == ':' || c == '#' || c == ' ')
            return refuse(fmt::format("it contains '{}'", c));
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            return refuse("it contains a control character");
    }
    // What is made or removed has a longer name for a while.
    if (name.size() > 200) return refuse("it is longer than 200 bytes");
    return {};
}

namespace {

/// Where environments may be, the root prefix first, then sorted: some twice, under two paths.
std::vector<fs::path> candidates(const EnvironmentFolders& folders, const fs::path& home) {
    std::vector<fs::path> found;
    std::error_code code;
    for (const auto& folder : folders.envs) {
        for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
             entry.increment(code))
            found.push_back(prefix_of_rest(entry->path()).value_or(entry->path()));
    }
    for (const auto& line : registered(home)) found.emplace_back(line);
    std::sort(found.begin(), found.end());
    found.insert(found.begin(), folders.root_prefix);
    return found;
}

/// The paths that satisfy `is_wanted`, each folder once.
template <typename Predicate>
std::vector<fs::path> each_once(const std::vector<fs::path>& paths, Predicate is_wanted) {
    std::error_code code;
    std::vector<fs::path> out;
    std::vector<fs::path> seen;  // without links on the way: one environment, one line
    for (const auto& path : paths) {
        if (!is_wanted(path)) continue;
        auto real = fs::weakly_canonical(path, code);
        if (std::find(seen.begin(), seen.end(), real) != seen.end()) continue;
        seen.push_back(std::move(real));
        out.push_back(path);
    }
    return out;
}

}  // namespace

std::vector<fs::path> list_environments(const EnvironmentFolders& folders, const fs::path& home) {
    return each_once(candidates(folders, home), Prefix::is_environment);
}

std::vector<fs::path> interrupted_environments(const EnvironmentFolders& folders,
                                               const fs::path& home) {
    return each_once(candidates(folders, home), [](const fs::path& path) {
        return prefix_condition(path) == PrefixCondition::Interrupted;
    });
}

std::vector<fs::path> unfinished_folders(const EnvironmentFolders& folders) {
    std::vector<fs::path> found;
    for (const auto& folder : folders.envs) {
        for (const auto& path : paths_in(folder).value_or(std::vector<fs::path>())) {
            if (prefix_of_rest(path) && !PrefixLock::is_held(path)) found.push_back(path);
        }
    }
    return found;
}

std::vector<fs::path> environments_inside(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code code;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator entry(folder, options, code), end; !code && entry != end;
         entry.increment(code)) {
        if (entry->path().filename() != "conda-meta" || entry.depth() == 0) continue;
        entry.disable_recursion_pending();
        if (Prefix::is_environment(entry->path().parent_path()))
            found.push_back(entry->path().parent_path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

fs::path EnvironmentFolders::path_of(std::string_view name) const {
    std::error_code code;
    for (const auto& folder : envs) {
        // An interrupted creation has its journal, though not yet its history.
        if (fs::exists(folder / name / "conda-meta", code)) return folder / name;
    }
    const auto open = std::find_if(envs.begin(), envs.end(), [](const auto& folder) {
        return check_writable_folder(folder).has_value();
    });
    return (open == envs.end() ? envs.front() : *open) / name;
}

fs::path EnvironmentFolders::path_for_new(std::string_view name) const {
    auto there = path_of(name);
    std::error_code code;
    if (!fs::exists(there / "conda-meta", code) || check_writable_folder(there / "conda-meta"))
        return there;
    for (const auto& folder : envs) {
        if (folder == there.parent_path()) break;
        if (check_writable_folder(folder)) return folder / name;
    }
    return there;
}

bool EnvironmentFolders::has(const fs::path& prefix) const {
    return prefix == root_prefix || path_of(prefix.filename().native()) == prefix;
}

std::string EnvironmentFolders::name_of(const fs::path& prefix) const {
    if (!root_prefix.empty() && prefix == root_prefix) return "base";
    const auto folder = prefix.parent_path();
    const bool is_named =
        folder.filename() == "envs" || std::find(envs.begin(), envs.end(), folder) != envs.end();
    return is_named ? prefix.filename() : prefix;
}

bool is_registered(const fs::path& prefix, const fs::path& home) {
    const auto lines = registered(home);
    return std::find(lines.begin(), lines.end(), prefix.native()) != lines.end();
}

Result<void> register_environment(const fs::path& prefix, const fs::path& home) {
    if (is_registered(prefix, home)) return {};
    if (prefix.native().find('\n') != std::string::npos)
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: a path with a line break cannot be registered", prefix.native()));
    const auto file = registry(home);
    GPKG_CHECK(make_folders(file.parent_path()));
    std::string text = prefix.native() + "\n";
    const auto before = read_file(file);
    if (before && !before->empty() && !before->ends_with('\n')) text.insert(0, 1, '\n');

    // One appending write: of two creates at the same time neither loses its line.
    Descriptor list(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    if (!list || !write_fully(list.get(), text) || !list.close())
        return pass(io_error(file, "write", errno));
    return {};
}

Result<void> unregister_environment(const fs::path& prefix, const fs::path& home) {
    const auto text = read_file(registry(home));
    if (!text) return {};
    std::string kept;
    for (const auto line : split(*text, '\n')) {
        if (!trim(line).empty() && trim(line) != prefix.native()) kept += std::string(line) + "\n";
    }
    if (kept == *text) return {};
    const auto file = registry(home);
    std::error_code code;
    if (!kept.empty() || fs::is_symlink(file, code)) return write_file_atomically(file, kept);
    if (fs::remove(file, code); code) return pass(io_error(file, "remove", code.value()));
    fs::remove(file.parent_path(), code);  // fails if the folder is not empty
    return {};
}

}  // namespace gpkg
