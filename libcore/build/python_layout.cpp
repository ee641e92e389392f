#include "libcore/build/python_layout.hpp"

#include "libcore/base/text.hpp"
#include "libcore/build/payload.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

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
    if (fs::exists(fs::symlink_status(prefix / to, code)))
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

}  // namespace

Result<void> lay_out_python(const fs::path& prefix,
                            const std::set<std::string>& before,
                            const RecipeBuild& build) {
    if (build.is_linked_as_noarch_python()) return lay_out_noarch(prefix, before, build);
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
