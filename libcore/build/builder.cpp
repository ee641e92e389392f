#include "libcore/build/builder.hpp"

#include "libcore/build/output_build.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

Result<BuiltPackage> build_or_reuse(const Recipe& recipe,
                                    const RenderedOutput& output,
                                    const BuildOptions& options) {
    const BuiltRegister built(options);
    GPKG_TRY(const auto digest, input_digest(recipe, output, options));
    // What environments hold is not known before they are made.
    const bool known_inputs = output.requirements.build.empty() && output.requirements.host.empty();
    if (!options.rebuild && known_inputs && built.holds(output, digest)) {
        BuiltPackage package;
        package.distribution = output.distribution();
        package.file = options.channel / output.subdir / output.file_name();
        package.log = options.work / "logs" / (output.distribution() + ".log");
        package.reused = true;
        package.tests = output.tests;
        package.tested = is_tested(package, options.work);
        return package;
    }
    GPKG_TRY(auto package, build_output(recipe, output, options));
    GPKG_CHECK(built.remember(output, digest));
    return package;
}

}  // namespace

Result<std::vector<BuiltPackage>> build_recipe(const Recipe& recipe, const BuildOptions& options) {
    auto absolute = options;
    std::error_code code;
    absolute.channel = fs::absolute(options.channel, code);
    absolute.work = fs::absolute(options.work, code);
    GPKG_TRY(const auto outputs, render_recipe(recipe, options.render));
    std::vector<BuiltPackage> packages;
    for (const auto& output : outputs) {
        if (options.cancelled && options.cancelled())
            return fail(ErrorKind::Interrupted, "interrupted");
        GPKG_TRY(auto package, build_or_reuse(recipe, output, absolute));
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
