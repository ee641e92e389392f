// `build:` of a recipe.

#include "libcore/recipe/script_programs.hpp"
#include "libcore/recipe/sections.hpp"
#include "libcore/recipe/sections_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace gpkg {
namespace {

using namespace sections;

Result<BuildScript> script_file(const Tree& at, const std::string& name, const fs::path& folder) {
    BuildScript script;
    script.file = (folder / name).lexically_normal();
    std::error_code ignored;
    if (!fs::is_regular_file(script.file, ignored)) script.file += ".sh";
    if (!fs::is_regular_file(script.file, ignored))
        return at.fail(fmt::format("script not found: {}", (folder / name).native()));
    return script;
}

Result<std::string> script_lines(const Tree& tree) {
    GPKG_TRY(const auto lines, tree.as_texts("commands"));
    std::string content;
    for (const auto& line : lines) {
        content += line;
        if (!content.ends_with('\n')) content += '\n';
    }
    return content;
}

Result<BuildScript> read_script(const Tree& tree, const fs::path& folder) {
    if (tree.is_map()) return read_script_map(tree, "build.script", folder);
    if (!tree.is_list() && !tree.is_null()) {
        GPKG_TRY(const auto text, tree.as_text("a script"));
        const bool one_line = text.find_first_of("\n ") == std::string::npos;
        if (one_line && text.ends_with(".sh")) return script_file(tree, text, folder);
        if (one_line && text.ends_with(".bat"))
            return tree.unsupported("build scripts must be bash scripts");
    }
    BuildScript script;
    GPKG_TRY(script.content, script_lines(tree));
    return script;
}

Result<std::vector<std::string>> read_flags(const Tree& tree) {
    GPKG_TRY(auto flags, tree.as_texts("flags"));
    for (const auto& flag : flags) {
        if (!is_flag(flag))
            return tree.fail(fmt::format("invalid flag '{}'", flag),
                             "use lower case letters, digits and _, with at most one :");
    }
    return flags;
}

Result<void> read_behavior(const Tree& tree, std::string_view key, bool& is_error) {
    std::string behavior;
    GPKG_CHECK(take(tree, key, behavior));
    if (behavior.empty()) return {};
    if (behavior != "ignore" && behavior != "error")
        return tree.find(key)->fail(
            fmt::format("{} must be ignore or error, not '{}'", key, behavior));
    is_error = behavior == "error";
    return {};
}

Result<DynamicLinking> read_dynamic_linking(const Tree& tree) {
    GPKG_CHECK(tree.only_keys("build.dynamic_linking",
                              {"rpaths",
                               "binary_relocation",
                               "missing_dso_allowlist",
                               "rpath_allowlist",
                               "overdepending_behavior",
                               "overlinking_behavior"}));
    DynamicLinking linking;
    GPKG_CHECK(take(tree, "rpaths", linking.rpaths));
    for (auto& entry : linking.rpaths) {
        if (entry.starts_with("$ORIGIN") || is_safe_relative(entry)) continue;
        return tree.find("rpaths")->fail(
            fmt::format("the library path '{}' points outside the prefix", entry),
            "use a folder below the prefix such as lib/, or $ORIGIN/...");
    }
    GPKG_CHECK(take(tree, "missing_dso_allowlist", linking.missing_dso_allowlist));
    GPKG_CHECK(take(tree, "rpath_allowlist", linking.rpath_allowlist));
    GPKG_CHECK(read_behavior(tree, "overlinking_behavior", linking.refuse_overlinking));
    GPKG_CHECK(read_behavior(tree, "overdepending_behavior", linking.refuse_overdepending));
    const auto* relocation = tree.find("binary_relocation");
    if (relocation == nullptr) return linking;
    if (relocation->is_list()) {
        GPKG_TRY(linking.relocate_only, relocation->as_texts("globs"));
        linking.binary_relocation = !linking.relocate_only.empty();
    } else {
        GPKG_TRY(linking.binary_relocation, relocation->as_bool("binary_relocation"));
    }
    return linking;
}

Result<PrefixDetection> read_prefix_detection(const Tree& tree) {
    GPKG_CHECK(tree.only_keys("build.prefix_detection",
                              {"force_file_type", "ignore", "ignore_binary_files"}));
    PrefixDetection detection;
    GPKG_CHECK(take(tree, "ignore_binary_files", detection.ignore_binary_files));
    if (const auto* force = tree.find("force_file_type")) {
        GPKG_CHECK(force->only_keys("force_file_type", {"text", "binary"}));
        GPKG_CHECK(take(*force, "text", detection.force_text));
        GPKG_CHECK(take(*force, "binary", detection.force_binary));
    }
    if (const auto* ignore = tree.find("ignore")) {
        if (ignore->is_list()) {
            GPKG_TRY(detection.ignore_globs, ignore->as_texts("globs"));
        } else {
            GPKG_TRY(detection.ignore, ignore->as_bool("ignore"));
        }
    }
    return detection;
}

Result<void> read_python(const Tree& tree, RecipeBuild& build) {
    GPKG_CHECK(tree.only_keys("build.python",
                              {"entry_points",
                               "skip_pyc_compilation",
                               "site_packages_path",
                               "use_python_app_entrypoint",
                               "preserve_egg_dir",
                               "version_independent"}));
    // The first is macOS's; and no folder of an egg is unpacked or thrown away here.
    for (const auto* key : {"use_python_app_entrypoint", "preserve_egg_dir"}) {
        bool without_effect = false;
        GPKG_CHECK(take(tree, key, without_effect));
    }
    GPKG_CHECK(take(tree, "version_independent", build.python_version_independent));
    GPKG_CHECK(take(tree, "site_packages_path", build.python_site_packages_path));
    if (const auto* skip = tree.find("skip_pyc_compilation")) {
        if (skip->as_bool(""))
            return skip->fail("expected globs for skip_pyc_compilation", "use '**' for all files");
        GPKG_TRY(build.skip_pyc_compilation, skip->as_texts("globs"));
    }
    const auto* points = tree.find("entry_points");
    if (points == nullptr) return {};
    GPKG_TRY(build.entry_points, points->as_texts("entry points"));
    for (const auto& point : build.entry_points) {
        const auto parsed = EntryPoint::parse(point);
        if (!parsed) return points->fail(parsed.error().message);
    }
    return {};
}

Result<void> read_files(const Tree& tree, RecipeBuild& build) {
    if (!tree.is_map()) {
        GPKG_TRY(build.files_include, tree.as_texts("globs"));
        return {};
    }
    GPKG_CHECK(tree.only_keys("build.files", {"include", "exclude"}));
    GPKG_CHECK(take(tree, "include", build.files_include));
    return take(tree, "exclude", build.files_exclude);
}

}  // namespace

Result<BuildScript> sections::read_script_map(const Tree& tree,
                                              std::string_view what,
                                              const fs::path& folder) {
    GPKG_CHECK(tree.only_keys(what, {"interpreter", "env", "secrets", "content", "file", "cwd"}));
    const auto* file = tree.find("file");
    const auto* content = tree.find("content");
    if ((file == nullptr) == (content == nullptr))
        return tree.fail("a script needs either 'file' or 'content'");
    BuildScript script;
    if (file != nullptr) {
        GPKG_TRY(const auto name, file->as_text("a file name"));
        GPKG_TRY(script, script_file(*file, name, folder));
    } else {
        GPKG_TRY(script.content, script_lines(*content));
    }
    if (const auto* by_name = script_program_for(script.file.extension().native()))
        script.interpreter = by_name->interpreter;
    GPKG_CHECK(take(tree, "interpreter", script.interpreter));
    if (script_program(script.interpreter) == nullptr)
        return tree.find("interpreter")
            ->unsupported(fmt::format("unsupported interpreter '{}'", script.interpreter),
                          fmt::format("use {}", script_interpreters()));
    GPKG_CHECK(take(tree, "cwd", script.folder));
    if (!script.folder.empty() && !is_safe_relative(script.folder))
        return tree.find("cwd")->fail(
            fmt::format("'{}' points outside the work folder", script.folder));
    if (const auto* environment = tree.find("env")) {
        if (!environment->is_map()) return environment->fail("expected a map of variables");
        for (const auto& [name, value] : environment->entries) {
            GPKG_TRY(auto text, value.as_text("a string"));
            if (name.empty() || name.find('=') != std::string::npos)
                return value.fail(fmt::format("invalid variable name '{}'", name));
            script.environment.emplace(name, std::move(text));
        }
    }
    GPKG_CHECK(take(tree, "secrets", script.secrets));
    for (const auto& name : script.secrets) {
        if (name.empty() || name.find('=') != std::string::npos)
            return tree.find("secrets")->fail(fmt::format("invalid variable name '{}'", name));
        if (script.environment.contains(name))
            return tree.find("secrets")->fail(fmt::format(
                "the secret '{}' is also in env, which is readable in the package", name));
    }
    return script;
}

Result<RecipeBuild> read_build(const Tree& tree, const fs::path& folder) {
    GPKG_CHECK(tree.only_keys("build",
                              {"number",
                               "string",
                               "skip",
                               "noarch",
                               "script",
                               "files",
                               "merge_build_and_host_envs",
                               "always_include_files",
                               "always_copy_files",
                               "variant",
                               "python",
                               "prefix_detection",
                               "dynamic_linking",
                               "flags",
                               "post_process"}));
    GPKG_CHECK(refuse(tree, "build", {"post_process"}));
    RecipeBuild build;
    if (const auto* number = tree.find("number")) {
        GPKG_TRY(const auto value, number->as_int("build.number"));
        if (value < 0) return number->fail("the build number cannot be negative");
        build.number = static_cast<std::uint64_t>(value);
    }
    if (const auto* noarch = tree.find("noarch")) {
        GPKG_TRY(build.noarch, noarch->as_text("generic or python"));
        if (build.noarch != "generic" && build.noarch != "python")
            return noarch->fail(
                fmt::format("noarch must be generic or python, not '{}'", build.noarch));
    }
    if (const auto* script = tree.find("script")) {
        GPKG_TRY(build.script, read_script(*script, folder));
    } else if (std::error_code ignored; fs::is_regular_file(folder / "build.sh", ignored)) {
        build.script.file = folder / "build.sh";
    }
    if (const auto* files = tree.find("files")) GPKG_CHECK(read_files(*files, build));
    if (const auto* flags = tree.find("flags")) {
        GPKG_TRY(build.flags, read_flags(*flags));
    }
    GPKG_CHECK(take(tree, "merge_build_and_host_envs", build.merge_build_and_host));
    GPKG_CHECK(take(tree, "always_copy_files", build.always_copy_files));
    GPKG_CHECK(take(tree, "always_include_files", build.always_include_files));
    if (const auto* linking = tree.find("dynamic_linking")) {
        GPKG_TRY(build.dynamic_linking, read_dynamic_linking(*linking));
    }
    if (const auto* detection = tree.find("prefix_detection")) {
        GPKG_TRY(build.prefix_detection, read_prefix_detection(*detection));
    }
    if (const auto* python = tree.find("python")) GPKG_CHECK(read_python(*python, build));
    if (build.python_version_independent && !build.noarch.empty())
        return tree.find("noarch")->fail("python.version_independent cannot be used with noarch");
    return build;
}

Result<VariantKeys> read_variant_keys(const Tree& build) {
    VariantKeys keys;
    const auto* variant = build.find("variant");
    if (variant == nullptr) return keys;
    GPKG_CHECK(variant->only_keys("build.variant",
                                  {"use_keys", "ignore_keys", "down_prioritize_variant"}));
    if (const auto* down = variant->find("down_prioritize_variant")) {
        GPKG_TRY(const auto number, down->as_int("down_prioritize_variant"));
        // Recipes write it with and without the sign.
        keys.down_priority = static_cast<int>(std::min(std::llabs(number), 100LL));
    }
    GPKG_CHECK(take(*variant, "use_keys", keys.use));
    GPKG_CHECK(take(*variant, "ignore_keys", keys.ignore));
    for (auto* names : {&keys.use, &keys.ignore}) {
        for (auto& name : *names) name = variant_key(name);
    }
    return keys;
}

}  // namespace gpkg
