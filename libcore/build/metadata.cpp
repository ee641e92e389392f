#include "libcore/build/metadata.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/path_glob.hpp"
#include "libcore/build/sources/source.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/run_exports_json.hpp"
#include "libcore/yaml/node.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;
using Files = std::map<std::string, std::string>;

std::string pretty(const Json& json) { return json_text(json, 2) + "\n"; }

std::string index_json(const MetadataInput& input) {
    const auto& output = input.output;
    // Flags and extras came with the third version of the schema.
    const bool is_v3 = !output.build.flags.empty() || !output.requirements.extras.empty();
    Json json{{"schema_version", is_v3 ? 3 : 2},
              {"name", output.name},
              {"version", output.version},
              {"build", output.build_string},
              {"build_number", output.build.number},
              {"subdir", output.subdir},
              {"depends", input.run.depends},
              {"constrains", input.run.constrains},
              {"timestamp", input.timestamp_ms}};
    if (!output.build.noarch.empty()) json["noarch"] = output.build.noarch;
    if (output.build.python_version_independent) json["noarch"] = "python";
    if (!output.about.license.empty()) json["license"] = output.about.license;
    if (!output.about.license_family.empty()) json["license_family"] = output.about.license_family;
    if (!output.build.python_site_packages_path.empty())
        json["python_site_packages_path"] = output.build.python_site_packages_path;
    if (!output.build.flags.empty()) json["flags"] = output.build.flags;
    if (!output.requirements.extras.empty()) json["extra_depends"] = output.requirements.extras;
    std::string features;
    for (int i = 0; i < output.build.down_priority; ++i)
        features += fmt::format("{}{}-p-{}", i > 0 ? " " : "", output.name, i);
    if (!features.empty()) json["track_features"] = features;
    return pretty(json);
}

std::string about_json(const RenderedOutput& output) {
    const auto& about = output.about;
    Json extra = Json::parse(output.extra_json, nullptr, false);
    if (!extra.is_object()) extra = Json::object();
    const Json json{{"channels", Json::array()},
                    {"description", about.description},
                    {"dev_url", about.repository},
                    {"doc_url", about.documentation},
                    {"env_vars", Json::object()},
                    {"extra", extra},
                    {"home", about.homepage},
                    {"license", about.license},
                    {"license_family", about.license_family},
                    {"summary", about.summary}};
    return pretty(json);
}

std::string run_exports_file(const RunExports& exports) {
    Json json = run_exports_json(exports);
    json["schema_version"] = 2;
    return pretty(json);
}

std::string link_json(const RecipeBuild& build) {
    const Json noarch{{"type", "python"}, {"entry_points", build.entry_points}};
    return pretty(Json{{"package_metadata_version", 1}, {"noarch", noarch}});
}

/// A file of `root`, as what goes into a package's info. Sources are not to be trusted: what a link
/// leads to elsewhere is not the package's to give away, and a FIFO has no end.
Result<std::string> read_inside(const fs::path& root, const fs::path& file) {
    std::error_code code;
    const auto real = fs::canonical(file, code);
    if (code) return pass(io_error(file, "read", code.value()));
    const auto inside = real.lexically_relative(fs::canonical(root, code));
    if (inside.empty() || *inside.begin() == "..")
        return fail(ErrorKind::Integrity,
                    fmt::format("{}: points outside {}, to {}; it cannot be packaged",
                                file.native(),
                                root.native(),
                                real.native()));
    if (!fs::is_regular_file(real, code))
        return fail(ErrorKind::Unsupported, fmt::format("{}: not a regular file", file.native()));
    return read_file(real);
}

// The licence files stand in the sources or beside the recipe.
Result<void> add_licenses(const MetadataInput& input, Files& files) {
    for (const auto& name : input.output.about.license_files) {
        std::error_code code;
        auto root = input.work;
        if (!fs::exists(root / name, code)) root = input.recipe.folder();
        const auto place = root / name;
        if (!fs::exists(place, code))
            return fail(
                ErrorKind::NotFound,
                fmt::format("licence file {} not found in the sources or next to the recipe",
                            name));
        if (!fs::is_directory(place, code)) {
            GPKG_TRY(files["licenses/" + name], read_inside(root, place));
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(place, code)) {
            if (!entry.is_regular_file(code)) continue;
            const auto inner = entry.path().lexically_relative(place).native();
            GPKG_TRY(files[fmt::format("licenses/{}/{}", name, inner)],
                     read_inside(root, entry.path()));
        }
    }
    return {};
}

Result<void> add_matching(const fs::path& root,
                          const std::vector<std::string>& globs,
                          const std::string& target,
                          Files& files) {
    if (globs.empty()) return {};
    GPKG_TRY(const auto paths, list_prefix(root));
    for (const auto& path : paths) {
        std::error_code code;
        if (!any_path_glob_matches(globs, path) || !fs::is_regular_file(root / path, code))
            continue;
        GPKG_TRY(files[target + path], read_inside(root, root / path));
    }
    return {};
}

Result<void> add_tests(const MetadataInput& input, Files& files) {
    const auto& tests = input.output.tests;
    if (tests.empty()) return {};
    files["tests/tests.yaml"] = tests_text(tests);
    for (std::size_t i = 0; i < tests.size(); ++i) {
        const auto target = fmt::format("tests/{}/", i);
        GPKG_CHECK(add_matching(input.work, tests[i].source_files, target, files));
        GPKG_CHECK(add_matching(input.recipe.folder(), tests[i].recipe_files, target, files));
    }
    return {};
}

/// What the build had and what became of it (CEP 40), as the last key of the rendered recipe.
std::string finished_dependencies_text(const MetadataInput& input) {
    const auto environment = [](const std::vector<std::string>& specs,
                                const std::vector<EnvironmentPackage>& packages) {
        auto resolved = Json::array();
        for (const auto& package : packages)
            resolved.push_back({{"name", package.name},
                                {"version", package.version},
                                {"build", package.build},
                                {"subdir", package.subdir},
                                {"sha256", package.sha256}});
        return Json{{"specs", specs}, {"resolved", resolved}};
    };
    const auto& made = input.environments;
    const Json json{{"build", environment(made.requirements.build, made.build)},
                    {"host", environment(made.requirements.host, made.host)},
                    {"run",
                     {{"depends", input.run.depends},
                      {"constraints", input.run.constrains},
                      {"run_exports", run_exports_json(input.output.requirements.run_exports)}}}};
    // JSON is YAML.
    return fmt::format("finalized_dependencies: {}\n", json_text(json));
}

Result<void> add_recipe(const MetadataInput& input, Files& files) {
    const auto& output = input.output;
    files["recipe/recipe.yaml"] = input.recipe.text;
    files["recipe/rendered_recipe.yaml"] =
        rendered_recipe_text(output) + finished_dependencies_text(input);
    std::string variant;
    for (const auto& [key, value] : output.used_variant)
        variant += fmt::format(
            "{}:\n- {}\n", yaml::quote(key), value.is_plain ? value.text : yaml::quote(value.text));
    files["recipe/variant_config.yaml"] = variant;
    const auto& script = output.build.script.file;
    if (!script.empty()) {
        GPKG_TRY(files["recipe/" + script.filename().native()], read_file(script));
    }
    for (const auto& source : output.sources) {
        for (const auto& patch : source.patches) {
            GPKG_TRY(files["recipe/" + patch.filename().native()], read_file(patch));
        }
    }
    return {};
}

}  // namespace

std::string_view builder_version() { return GPKG_VERSION; }

Result<std::map<std::string, std::string>> info_files(const MetadataInput& input) {
    const auto& output = input.output;
    Files files;
    files["index.json"] = index_json(input);
    files["paths.json"] = paths_json(input.payload.paths);
    files["about.json"] = about_json(output);
    files["hash_input.json"] = hash_input_text(output.used_variant);
    files["used_build_tool.json"] = pretty(Json{{"name", "gpkg"}, {"version", builder_version()}});
    if (!(output.requirements.run_exports == RunExports{}))
        files["run_exports.json"] = run_exports_file(output.requirements.run_exports);
    if (output.build.is_linked_as_noarch_python()) files["link.json"] = link_json(output.build);
    GPKG_CHECK(add_licenses(input, files));
    GPKG_CHECK(add_tests(input, files));
    GPKG_CHECK(add_recipe(input, files));
    return files;
}

}  // namespace gpkg
