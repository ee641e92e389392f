#include "libcore/build/python_layout.hpp"

#include "libcore/base/path_glob.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

namespace gpkg {
namespace {

// lib/python3.11/site-packages/x -> x
std::optional<std::string> below_site_packages(const std::string& path) {
    const auto parts = split(path, '/');
    if (parts.size() < 4 || parts[0] != "lib" || !parts[1].starts_with("python") ||
        parts[2] != "site-packages")
        return std::nullopt;
    const auto at = path.find("/site-packages/");
    return path.substr(at + std::string_view("/site-packages/").size());
}

bool is_byte_code(std::string_view path) {
    return path.ends_with(".pyc") || path.ends_with("/__pycache__");
}

// What an import during the build left: good for the times of this build's files alone (PEP 552).
// An unreadable one is left for others to tell of.
bool goes_by_time(const fs::path& file) {
    constexpr std::size_t kMagic = 4;
    std::array<char, kMagic + 4> head{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(head.data(), head.size())) return false;
    return (static_cast<unsigned char>(head[kMagic]) & 1U) == 0;
}

// Folders that were only on the way to `path` are not part of the package.
void leave(const fs::path& prefix, const std::string& path) {
    std::error_code code;
    for (auto folder = (prefix / path).parent_path(); folder != prefix;
         folder = folder.parent_path()) {
        if (!fs::is_empty(folder, code) || code || !fs::remove(folder, code)) return;
    }
}

Result<void> move_file(const fs::path& prefix, const std::string& from, const std::string& to) {
    std::error_code code;
    if (is_there(prefix / to))
        return fail(ErrorKind::Conflict, fmt::format("{} and {} are the same file", from, to));
    GPKG_CHECK(make_folders((prefix / to).parent_path()));
    GPKG_CHECK(rename_path(prefix / from, prefix / to));
    leave(prefix, from);
    return {};
}

Result<void> drop_file(const fs::path& prefix, const std::string& path) {
    GPKG_CHECK(remove_tree(prefix / path));
    leave(prefix, path);
    return {};
}

Result<void> drop_imported(const fs::path& prefix, const std::set<std::string>& before) {
    GPKG_TRY(const auto files, list_prefix(prefix));
    for (const auto& path : files) {
        if (before.contains(path) || !path.ends_with(".pyc") || !goes_by_time(prefix / path))
            continue;
        GPKG_CHECK(drop_file(prefix, path));
    }
    return {};
}

bool is_entry_point(const RecipeBuild& build, std::string_view command) {
    return std::any_of(
        build.entry_points.begin(), build.entry_points.end(), [&](const auto& point) {
            return trim(std::string_view(point).substr(0, point.find('='))) == command;
        });
}

Result<void> lay_out_noarch(const fs::path& prefix,
                            const std::set<std::string>& before,
                            const RecipeBuild& build) {
    GPKG_TRY(const auto files, list_prefix(prefix));
    for (const auto& path : files) {
        std::error_code code;
        const auto type = fs::symlink_status(prefix / path, code).type();
        if (before.contains(path) || type == fs::file_type::not_found) continue;
        if (is_byte_code(path)) {
            GPKG_CHECK(drop_file(prefix, path));
            continue;
        }
        if (type == fs::file_type::directory) continue;
        if (const auto inner = below_site_packages(path)) {
            GPKG_CHECK(move_file(prefix, path, "site-packages/" + *inner));
        } else if (path.starts_with("bin/")) {
            const auto command = path.substr(4);
            if (is_entry_point(build, command)) {
                GPKG_CHECK(drop_file(prefix, path));
            } else {
                GPKG_CHECK(move_file(prefix, path, "python-scripts/" + command));
            }
        }
    }
    return {};
}

std::string program_of(const EntryPoint& point, const fs::path& prefix) {
    const auto root = point.function.substr(0, point.function.find('.'));
    return fmt::format(
        "#!{}/bin/python\n"
        "import sys\n"
        "\n"
        "from {} import {}\n"
        "\n"
        "if __name__ == \"__main__\":\n"
        "    sys.exit({}())\n",
        prefix.native(),
        point.module,
        root,
        point.function);
}

/// "d/x.py" of "d/__pycache__/x.cpython-311.opt-1.pyc"; empty for others.
std::string source_of(std::string_view byte_code) {
    constexpr std::string_view kFolder = "__pycache__";
    const auto folder = parent_of(byte_code);
    if (!byte_code.ends_with(".pyc") || file_name_of(folder) != kFolder) return {};
    const auto name = file_name_of(byte_code);
    return joined_path(parent_of(folder), fmt::format("{}.py", name.substr(0, name.find('.'))));
}

/// The package's own modules that are to have byte code, relative to the prefix, without what byte
/// code they have.
Result<std::vector<std::string>> modules_to_compile(const fs::path& prefix,
                                                    const std::set<std::string>& before,
                                                    const RecipeBuild& build) {
    GPKG_TRY(const auto files, list_prefix(prefix));
    std::vector<std::string> modules;
    for (const auto& path : files) {
        if (before.contains(path) || !below_site_packages(path)) continue;
        if (files.contains(source_of(path))) {
            GPKG_CHECK(remove_tree(prefix / path));
        } else if (path.ends_with(".py") &&
                   !any_path_glob_matches(build.skip_pyc_compilation, path)) {
            modules.push_back(path);
        }
    }
    return modules;
}

}  // namespace

Result<std::vector<std::string>> compile_python(const fs::path& prefix,
                                                const std::set<std::string>& before,
                                                const RecipeBuild& build,
                                                const Cancelled& cancelled) {
    if (build.is_linked_as_noarch_python() || !before.contains("bin/python"))
        return std::vector<std::string>();
    GPKG_TRY(const auto modules, modules_to_compile(prefix, before, build));
    if (modules.empty()) return std::vector<std::string>();
    GPKG_TRY(const auto list, TemporaryFolder::make(prefix.parent_path()));
    ProcessCommand command;
    // -S: nothing of the package itself is run. Relative names, as they go into the byte code.
    command.arguments = {(prefix / "bin/python").native(), "-E", "-s", "-S", "-Wi"};
    command.arguments.insert(command.arguments.end(),
                             {"-m", "compileall", "--invalidation-mode", "checked-hash"});
    command.arguments.insert(command.arguments.end(), {"-q", "-q", "-l", "-i", "-"});
    command.folder = prefix;
    command.umask = 022;
    command.input = list.path() / "modules";
    GPKG_CHECK(write_file_atomically(command.input, fmt::format("{}\n", fmt::join(modules, "\n"))));
    command.cancelled = cancelled;
    const auto done = run_and_capture(command);
    GPKG_CHECK(check_cancelled(cancelled));
    // 1: there are files that it could not compile.
    if (done && done->exit_code <= 1 && trim(done->output).empty())
        return std::vector<std::string>();
    return std::vector{
        fmt::format("cannot compile all Python modules: {}",
                    done ? last_lines(trim(done->output), 3) : done.error().message)};
}

Result<void> lay_out_python(const fs::path& prefix,
                            const std::set<std::string>& before,
                            const RecipeBuild& build) {
    if (build.is_linked_as_noarch_python()) return lay_out_noarch(prefix, before, build);
    GPKG_CHECK(drop_imported(prefix, before));
    for (const auto& text : build.entry_points) {
        GPKG_TRY(const auto point, EntryPoint::parse(text));
        const auto file = prefix / "bin" / point.command;
        GPKG_CHECK(write_file_atomically(file, program_of(point, prefix)));
        std::error_code code;
        fs::permissions(file, fs::perms(0755), code);
    }
    return {};
}

}  // namespace gpkg
