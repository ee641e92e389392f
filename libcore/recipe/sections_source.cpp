// `source:` of a recipe.

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/recipe/sections.hpp"
#include "libcore/recipe/sections_internal.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

using namespace sections;

Result<std::vector<fs::path>> existing_files(const Tree& tree, const fs::path& folder) {
    std::vector<fs::path> files;
    GPKG_TRY(const auto names, tree.as_texts("file names"));
    for (const auto& name : names) {
        auto file = (folder / name).lexically_normal();
        std::error_code ignored;
        if (!fs::is_regular_file(file, ignored))
            return tree.fail(fmt::format("file not found: {}", file.native()));
        files.push_back(std::move(file));
    }
    return files;
}

Result<void> check_no_git_keys(const Tree& tree) {
    for (const auto* key : {"branch", "tag", "rev", "depth", "lfs"}) {
        if (const auto* value = tree.find(key))
            return value->fail(fmt::format("'{}' is only allowed with 'git'", key));
    }
    return {};
}

/// CEP 14: one of branch, tag and rev, or what the repository shows first.
Result<void> read_git(const Tree& tree, const fs::path& folder, RecipeSource& source) {
    for (const auto* key : {"sha256", "md5", "file_name"}) {
        if (const auto* value = tree.find(key))
            return value->fail(fmt::format("'{}' is not allowed with 'git'", key));
    }
    GPKG_CHECK(take(tree, "git", source.git));
    if (source.git.empty() || source.git.starts_with('-'))
        return tree.find("git")->fail(fmt::format("invalid git repository '{}'", source.git));
    std::error_code ignored;
    const bool is_address = source.git.find(':') != std::string::npos;
    if (!is_address) {
        const auto local = (folder / source.git).lexically_normal();
        if (!fs::exists(local, ignored))
            return tree.find("git")->fail(fmt::format("{} does not exist", local.native()));
        source.git = local.native();
    }
    const Tree* chosen = nullptr;
    for (const auto& [key, place] : {std::pair{"branch", "refs/heads/"},
                                     std::pair{"tag", "refs/tags/"},
                                     std::pair{"rev", ""}}) {
        const auto* value = tree.find(key);
        if (value == nullptr) continue;
        if (chosen != nullptr) return value->fail("use only one of 'branch', 'tag' and 'rev'");
        chosen = value;
        GPKG_TRY(const auto name, value->as_text("a name"));
        if (name.empty() || name.starts_with('-') ||
            name.find_first_of(" :~^?*[\\") != std::string::npos)
            return value->fail(fmt::format("invalid {1} '{0}'", name, key));
        source.git_reference = place + name;
    }
    GPKG_CHECK(take(tree, "lfs", source.git_lfs));
    if (const auto* depth = tree.find("depth")) {
        GPKG_TRY(const auto number, depth->as_int("depth"));
        if (tree.find("rev") != nullptr) return depth->fail("'depth' cannot be used with 'rev'");
        if (number == 0 || number < -1 || number > 1'000'000)
            return depth->fail("depth must be a number of commits, or -1 for all");
        source.git_depth = number < 0 ? 0 : static_cast<int>(number);
    }
    return {};
}

Result<RecipeSource> read_source(const Tree& tree, const fs::path& folder) {
    GPKG_CHECK(tree.only_keys("a source",
                              {"url",
                               "sha256",
                               "md5",
                               "file_name",
                               "path",
                               "use_gitignore",
                               "filter",
                               "git",
                               "branch",
                               "tag",
                               "rev",
                               "depth",
                               "lfs",
                               "patches",
                               "target_directory"}));
    GPKG_CHECK(refuse(tree, "a source", {"filter"}));
    RecipeSource source;
    source.folder = folder;
    GPKG_CHECK(take(tree, "url", source.urls));
    GPKG_CHECK(take(tree, "sha256", source.sha256));
    GPKG_CHECK(take(tree, "md5", source.md5));
    GPKG_CHECK(take(tree, "file_name", source.file_name));
    GPKG_CHECK(take(tree, "target_directory", source.target_directory));
    GPKG_CHECK(take(tree, "use_gitignore", source.use_gitignore));
    if (const auto* patches = tree.find("patches")) {
        GPKG_TRY(source.patches, existing_files(*patches, folder));
    }
    for (const auto* key : {"file_name", "target_directory"}) {
        const auto* value = tree.find(key);
        if (value != nullptr && !is_safe_relative(value->value.to_text()))
            return value->fail(
                fmt::format("'{}' points outside the work folder", value->value.to_text()));
    }
    const auto* path = tree.find("path");
    const auto* git = tree.find("git");
    const auto kinds =
        (path != nullptr ? 1 : 0) + (git != nullptr ? 1 : 0) + (source.urls.empty() ? 0 : 1);
    if (kinds != 1) return tree.fail("a source needs exactly one of 'url', 'path' and 'git'");
    GPKG_CHECK(git != nullptr ? read_git(tree, folder, source) : check_no_git_keys(tree));
    if (git != nullptr) return source;
    if (path != nullptr) {
        GPKG_TRY(const auto text, path->as_text("a path"));
        source.path = (folder / text).lexically_normal();
        std::error_code ignored;
        if (!fs::exists(source.path, ignored))
            return path->fail(fmt::format("{} does not exist", source.path.native()),
                              "a path is relative to the folder of the recipe");
        return source;
    }
    source.sha256 = to_lower(source.sha256);
    if (source.sha256.empty())
        return tree.fail("a url source needs sha256", "add it, so that a changed file is detected");
    if (!is_hex(source.sha256, 64))
        return tree.find("sha256")->fail("a sha256 must have 64 hexadecimal digits");
    return source;
}

}  // namespace

Result<std::vector<RecipeSource>> read_sources(const Tree& tree, const fs::path& folder) {
    std::vector<RecipeSource> sources;
    if (tree.is_null()) return sources;
    if (!tree.is_list()) {
        GPKG_TRY(auto source, read_source(tree, folder));
        sources.push_back(std::move(source));
        return sources;
    }
    for (const auto& item : tree.items) {
        GPKG_TRY(auto source, read_source(item, folder));
        sources.push_back(std::move(source));
    }
    return sources;
}

}  // namespace gpkg
