// The rendered recipe as YAML.

#include "libcore/build/recipe/rendered.hpp"
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

    std::string text;

private:
    void line(std::string_view content) {
        text.append(static_cast<std::size_t>(indent_), ' ');
        text.append(content);
        text += '\n';
    }
    int indent_ = 0;
};

std::vector<std::string> file_names(const std::vector<fs::path>& paths) {
    std::vector<std::string> names;
    names.reserve(paths.size());
    for (const auto& path : paths) names.push_back(path.filename().native());
    return names;
}

void write_sources(Writer& out, const std::vector<RecipeSource>& sources) {
    if (sources.empty()) return;
    out.open("source");
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const auto& source = sources[i];
        // A map of numbers would not be a recipe: each source is a list item of one flow of keys.
        Writer item;
        item.list("url", source.urls);
        // Where the recipe lay on the build machine is no part of what was built.
        if (!source.path.empty()) item.field("path", source.path.filename().native());
        item.field("sha256", source.sha256);
        item.field("md5", source.md5);
        item.field("file_name", source.file_name);
        item.field("target_directory", source.target_directory);
        item.list("patches", file_names(source.patches));
        std::string_view rest = item.text;
        for (bool first = true; !rest.empty(); first = false) {
            const auto end = rest.find('\n');
            out.text += (first ? "  - " : "    ") + std::string(rest.substr(0, end + 1));
            rest.remove_prefix(end + 1);
        }
    }
    out.close();
}

void write_build(Writer& out, const RenderedOutput& output) {
    const auto& build = output.build;
    out.open("build");
    out.plain("number", std::to_string(build.number));
    out.field("string", output.build_string);
    out.field("noarch", build.noarch);
    if (build.python_version_independent) {
        out.open("python");
        out.plain("version_independent", "true");
        out.close();
    }
    out.open("script");
    if (!build.script.file.empty()) out.field("file", build.script.file.filename().native());
    if (build.script.file.empty()) out.plain("content", yaml::quote(build.script.content));
    out.map("env", build.script.environment);
    out.close();
    if (!build.files_include.empty() || !build.files_exclude.empty()) {
        out.open("files");
        out.list("include", build.files_include);
        out.list("exclude", build.files_exclude);
        out.close();
    }
    out.list("always_copy_files", build.always_copy_files);
    out.list("always_include_files", build.always_include_files);
    if (!build.entry_points.empty()) {
        out.open("python");
        out.list("entry_points", build.entry_points);
        out.close();
    }
    out.open("dynamic_linking");
    out.list("rpaths", build.dynamic_linking.rpaths);
    if (build.dynamic_linking.relocate_only.empty()) {
        out.plain("binary_relocation", build.dynamic_linking.binary_relocation ? "true" : "false");
    } else {
        out.list("binary_relocation", build.dynamic_linking.relocate_only);
    }
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
    if (!(exports == RunExports{})) {
        out.open("run_exports");
        out.list("weak", exports.weak);
        out.list("strong", exports.strong);
        out.list("noarch", exports.noarch);
        out.list("weak_constraints", exports.weak_constrains);
        out.list("strong_constraints", exports.strong_constrains);
        out.close();
    }
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
    out.open("package");
    out.field("name", output.name);
    out.plain("version", fmt::format("\"{}\"", output.version));
    out.close();
    write_sources(out, output.sources);
    write_build(out, output);
    write_requirements(out, output.requirements);
    write_about(out, output.about);
    if (!output.tests.empty()) {
        out.open("tests");
        out.close();
        std::string_view rest;
        const auto tests = tests_text(output.tests);
        for (rest = tests; !rest.empty();) {
            const auto end = rest.find('\n');
            out.text += "    " + std::string(rest.substr(0, end + 1));
            rest.remove_prefix(end + 1);
        }
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
