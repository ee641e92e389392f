// The rendered recipe as YAML.

#include "libcore/recipe/rendered.hpp"
#include "libcore/yaml/node.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

/// Writes maps and lists by indentation; empty values are left out.
class Writer {
public:
    void open(std::string_view key) { line(fmt::format("{}:", key)), indent_ += 2; }
    void close() { indent_ -= 2; }

    void field(std::string_view key, std::string_view value) {
        if (!value.empty()) line(fmt::format("{}: {}", key, yaml::quote(value)));
    }
    void plain(std::string_view key, std::string_view value) {
        line(fmt::format("{}: {}", key, value));
    }
    void list(std::string_view key, const std::vector<std::string>& items) {
        if (items.empty()) return;
        line(fmt::format("{}:", key));
        for (const auto& item : items) line(fmt::format("  - {}", yaml::quote(item)));
    }
    void map(std::string_view key, const std::map<std::string, std::string>& entries) {
        if (entries.empty()) return;
        open(key);
        for (const auto& [name, value] : entries)
            line(fmt::format("{}: {}", yaml::quote(name), yaml::quote(value)));
        close();
    }

    /// `inner` below `key`, unless it is empty.
    void section(std::string_view key, const Writer& inner) {
        if (inner.text.empty()) return;
        open(key);
        for (std::string_view rest = inner.text; !rest.empty();) {
            const auto end = rest.find('\n');
            line(rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
        close();
    }

    std::string text;

private:
    void line(std::string_view content) {
        text.append(static_cast<std::size_t>(indent_), ' ');
        text.append(content);
        text += '\n';
    }
    int indent_ = 0;
};

/// As the recipe names it, where that is below its folder. Where the recipe lay on the build
/// machine is no part of what was built.
std::string beside_recipe(const fs::path& path, const RecipeSource& source) {
    const auto relative = path.lexically_relative(source.folder);
    if (!relative.empty() && *relative.begin() != "..") return relative.native();
    return (path.has_filename() ? path : path.parent_path()).filename().native();
}

void write_git(Writer& out, const RecipeSource& source) {
    constexpr std::string_view kBranch = "refs/heads/", kTag = "refs/tags/";
    const std::string_view reference = source.git_reference;
    const bool is_local = source.git.starts_with('/');
    out.field("git", is_local ? fs::path(source.git).filename().native() : source.git);
    if (reference.starts_with(kBranch)) {
        out.field("branch", reference.substr(kBranch.size()));
    } else if (reference.starts_with(kTag)) {
        out.field("tag", reference.substr(kTag.size()));
    } else if (reference != "HEAD") {
        out.field("rev", reference);
    }
    if (source.git_depth > 0) out.plain("depth", std::to_string(source.git_depth));
    if (source.git_lfs) out.plain("lfs", "true");
}

void write_sources(Writer& out, const std::vector<RecipeSource>& sources) {
    if (sources.empty()) return;
    out.open("source");
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& source = sources[i];
        // A map of numbers would not be a recipe: each source is a list item of one flow of keys.
        Writer item;
        item.list("url", source.urls);
        if (!source.path.empty()) item.field("path", beside_recipe(source.path, source));
        if (!source.git.empty()) write_git(item, source);
        item.field("sha256", source.sha256);
        item.field("md5", source.md5);
        item.field("file_name", source.file_name);
        item.field("target_directory", source.target_directory);
        if (!source.use_gitignore) item.plain("use_gitignore", "false");
        std::vector<std::string> patches;
        for (const auto& patch : source.patches) patches.push_back(beside_recipe(patch, source));
        item.list("patches", patches);
        std::string_view rest = item.text;
        for (bool first = true; !rest.empty(); first = false) {
            const auto end = rest.find('\n');
            out.text += (first ? "  - " : "    ") + std::string(rest.substr(0, end + 1));
            rest.remove_prefix(end + 1);
        }
    }
    out.close();
}

void write_python(Writer& out, const RecipeBuild& build) {
    Writer inner;
    if (build.python_version_independent) inner.plain("version_independent", "true");
    inner.list("entry_points", build.entry_points);
    inner.field("site_packages_path", build.python_site_packages_path);
    inner.list("skip_pyc_compilation", build.skip_pyc_compilation);
    out.section("python", inner);
}

void write_detection(Writer& out, const PrefixDetection& detection) {
    Writer forced;
    forced.list("text", detection.force_text);
    forced.list("binary", detection.force_binary);
    Writer inner;
    inner.section("force_file_type", forced);
    if (detection.ignore) inner.plain("ignore", "true");
    inner.list("ignore", detection.ignore_globs);
    if (detection.ignore_binary_files) inner.plain("ignore_binary_files", "true");
    out.section("prefix_detection", inner);
}

void write_build(Writer& out, const RenderedOutput& output) {
    const auto& build = output.build;
    out.open("build");
    out.plain("number", std::to_string(build.number));
    out.field("string", output.build_string);
    out.field("noarch", build.noarch);
    out.list("flags", build.flags);
    if (build.merge_build_and_host) out.plain("merge_build_and_host_envs", "true");
    if (build.down_priority > 0) {
        out.open("variant");
        out.plain("down_prioritize_variant", std::to_string(-build.down_priority));
        out.close();
    }
    out.open("script");
    if (build.script.interpreter != "bash") out.field("interpreter", build.script.interpreter);
    out.field("cwd", build.script.folder);
    if (!build.script.file.empty()) out.field("file", build.script.file.filename().native());
    if (build.script.file.empty()) out.plain("content", yaml::quote(build.script.content));
    out.map("env", build.script.environment);
    out.list("secrets", build.script.secrets);
    out.close();
    if (!build.files_include.empty() || !build.files_exclude.empty()) {
        out.open("files");
        out.list("include", build.files_include);
        out.list("exclude", build.files_exclude);
        out.close();
    }
    out.list("always_copy_files", build.always_copy_files);
    out.list("always_include_files", build.always_include_files);
    write_python(out, build);
    write_detection(out, build.prefix_detection);
    out.open("dynamic_linking");
    out.list("rpaths", build.dynamic_linking.rpaths);
    if (build.dynamic_linking.relocate_only.empty()) {
        out.plain("binary_relocation", build.dynamic_linking.binary_relocation ? "true" : "false");
    } else {
        out.list("binary_relocation", build.dynamic_linking.relocate_only);
    }
    out.list("missing_dso_allowlist", build.dynamic_linking.missing_dso_allowlist);
    out.list("rpath_allowlist", build.dynamic_linking.rpath_allowlist);
    if (!build.dynamic_linking.refuse_overlinking) out.plain("overlinking_behavior", "ignore");
    if (!build.dynamic_linking.refuse_overdepending) out.plain("overdepending_behavior", "ignore");
    out.close();
    out.close();
}

void write_requirements(Writer& out, const RecipeRequirements& requirements) {
    const auto& exports = requirements.run_exports;
    if (requirements == RecipeRequirements{}) return;
    out.open("requirements");
    out.list("build", requirements.build);
    out.list("host", requirements.host);
    out.list("run", requirements.run);
    out.list("run_constraints", requirements.run_constraints);
    Writer groups;
    for (const auto& [group, specs] : requirements.extras) groups.list(group, specs);
    out.section("extras", groups);
    Writer inner;
    inner.list("weak", exports.weak);
    inner.list("strong", exports.strong);
    inner.list("noarch", exports.noarch);
    inner.list("weak_constraints", exports.weak_constrains);
    inner.list("strong_constraints", exports.strong_constrains);
    out.section("run_exports", inner);
    Writer ignored;
    ignored.list("by_name", requirements.ignore_run_exports_by_name);
    ignored.list("from_package", requirements.ignore_run_exports_from_package);
    out.section("ignore_run_exports", ignored);
    out.close();
}

void write_about(Writer& out, const RecipeAbout& about) {
    if (about == RecipeAbout{}) return;
    out.open("about");
    out.field("summary", about.summary);
    out.field("description", about.description);
    out.field("license", about.license);
    out.field("license_family", about.license_family);
    out.list("license_file", about.license_files);
    out.field("homepage", about.homepage);
    out.field("repository", about.repository);
    out.field("documentation", about.documentation);
    out.close();
}

}  // namespace

std::string rendered_recipe_text(const RenderedOutput& output) {
    Writer out;
    out.plain("rendered_recipe_version", "1");
    out.open("recipe");
    out.plain("schema_version", "1");
    out.open(output.is_staging ? "staging" : "package");
    out.field("name", output.name);
    if (!output.is_staging) out.plain("version", fmt::format("\"{}\"", output.version));
    out.close();
    if (output.inherited) {
        out.open("inherit");
        out.field("from", output.inherited->name);
        out.plain("run_exports", output.inherits_run_exports ? "true" : "false");
        out.close();
    }
    write_sources(out, output.sources);
    write_build(out, output);
    write_requirements(out, output.requirements);
    write_about(out, output.about);
    if (!output.tests.empty()) {
        Writer tests;
        tests.text = tests_text(output.tests);
        out.section("tests", tests);
    }
    // JSON is YAML.
    if (output.extra_json != "{}") out.plain("extra", output.extra_json);
    out.close();
    out.open("build_configuration");
    out.field("target_platform", output.subdir);
    out.field("host_platform", output.target_platform);
    out.open("variant");
    for (const auto& [key, value] : output.used_variant)
        out.plain(yaml::quote(key), value.is_plain ? value.text : yaml::quote(value.text));
    out.close();
    out.open("hash");
    out.field("hash", variant_hash(output.used_variant));
    out.close();
    out.close();
    return out.text;
}

}  // namespace gpkg
