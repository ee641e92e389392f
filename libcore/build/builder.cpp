#include "libcore/build/builder.hpp"

#include "libcore/build/built_register.hpp"
#include "libcore/build/folder_lock.hpp"
#include "libcore/build/output_build.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gpkg {
namespace {

/// The staging outputs of one recipe, each built when the first output that inherits it is.
class StagingArea {
public:
    StagingArea(const Recipe& recipe, const BuildOptions& options)
        : recipe_(recipe), options_(options) {}
    ~StagingArea() {
        for (const auto& [name, entry] : staged_) {
            std::ignore = remove_tree(entry.folder);
        }
    }
    StagingArea(const StagingArea&) = delete;
    StagingArea& operator=(const StagingArea&) = delete;

    /// Null when `output` inherits nothing.
    Result<const StagedOutput*> provide(const std::shared_ptr<const RenderedOutput>& output) {
        if (!output) return nullptr;
        const auto found = staged_.find(output->distribution());
        if (found != staged_.end()) return &found->second.output;
        GPKG_TRY(const auto* base, provide(output->inherited));
        const auto folder = options_.work / "staged" / output->distribution();
        GPKG_CHECK(make_folders(folder.parent_path()));
        // Held until the last who inherits it is built.
        GPKG_TRY(auto lock, FolderLock::take(folder.native() + ".lock", output->name));
        GPKG_TRY(auto made, stage_output(recipe_, *output, base, folder, options_));
        const auto [entry, is_new] = staged_.emplace(
            output->distribution(), Entry{folder, std::move(lock), std::move(made)});
        return &entry->second.output;
    }

private:
    struct Entry {
        fs::path folder;
        FolderLock lock;
        StagedOutput output;
    };

    const Recipe& recipe_;
    const BuildOptions& options_;
    std::map<std::string, Entry> staged_;
};

Result<BuiltPackage> build_or_reuse(const Recipe& recipe,
                                    const RenderedOutput& output,
                                    StagingArea& staging,
                                    const BuildOptions& options) {
    const BuiltRegister built(options);
    GPKG_TRY(const auto inputs, build_inputs(recipe, output, options));
    if (!options.rebuild) {
        GPKG_TRY(const auto reason, built.why_build(output, inputs));
        if (!reason) {
            BuiltPackage package;
            package.distribution = output.distribution();
            package.file = options.channel / output.subdir / output.file_name();
            package.log = options.work / "logs" / (output.distribution() + ".log");
            package.reused = true;
            package.tests = output.tests;
            package.tested = is_tested(package, options.work);
            return package;
        }
    }
    GPKG_TRY(const auto* base, staging.provide(output.inherited));
    GPKG_TRY(auto result, build_output(recipe, output, base, options));
    GPKG_CHECK(built.remember(output, inputs, result.uses));
    return std::move(result.package);
}

BuildOptions with_absolute_paths(const BuildOptions& options) {
    auto absolute = options;
    std::error_code code;
    absolute.channel = fs::absolute(options.channel, code);
    absolute.work = fs::absolute(options.work, code);
    return absolute;
}

}  // namespace

Result<std::vector<BuiltPackage>> build_recipe(const Recipe& recipe, const BuildOptions& options) {
    const auto absolute = with_absolute_paths(options);
    GPKG_TRY(const auto outputs, render_recipe(recipe, options.render));
    StagingArea staging(recipe, absolute);
    std::vector<BuiltPackage> packages;
    for (const auto& output : outputs) {
        if (options.cancelled && options.cancelled())
            return fail(ErrorKind::Interrupted, "interrupted");
        GPKG_TRY(auto package, build_or_reuse(recipe, output, staging, absolute));
        packages.push_back(std::move(package));
    }
    return packages;
}

Result<std::vector<fs::path>> find_recipes(const fs::path& folder) {
    std::error_code code;
    if (fs::is_regular_file(folder, code)) return std::vector{folder};
    if (fs::is_regular_file(folder / "recipe.yaml", code))
        return std::vector{folder / "recipe.yaml"};
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (entry.is_directory(code) && !entry.is_symlink(code)) folders.push_back(entry.path());
    }
    if (code)
        return fail(
            code == std::errc::no_such_file_or_directory ? ErrorKind::NotFound : ErrorKind::Io,
            fmt::format("{}: cannot look for recipes: {}", folder.native(), code.message()));
    std::sort(folders.begin(), folders.end());
    std::vector<fs::path> recipes;
    for (const auto& inner : folders) {
        GPKG_TRY(const auto found, find_recipes(inner));
        recipes.insert(recipes.end(), found.begin(), found.end());
    }
    return recipes;
}

}  // namespace gpkg
