#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/environment_export.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/manifest/environment_yml.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EnvExportOptions {
    TargetOptions target;
    ExportOptions how;
    std::string file;
    bool explicit_urls = false;
    bool md5 = false;
};

/// The file's name decides how it will be read.
Result<void> check_file_name(const EnvExportOptions& options) {
    if (options.file.empty() || is_environment_yml(options.file) != options.explicit_urls)
        return {};
    return fail(ErrorKind::Usage,
                fmt::format("{}: {}",
                            options.file,
                            options.explicit_urls
                                ? "a file with this name would be read as an environment.yml"
                                : "the name of an environment file ends in .yml, .yaml or .json"),
                options.explicit_urls ? "choose a name that ends in .txt"
                                      : "to write a list of package URLs: --explicit");
}

bool has_line(const fs::path& path, std::string_view beginning) {
    const auto text = read_file(path, kLongestWritten);
    if (!text) return false;
    const auto lines = split(*text, '\n');
    return std::ranges::any_of(lines, [&](auto line) { return line.starts_with(beginning); });
}

Result<void> put(Context& context, const EnvExportOptions& options, std::string text) {
    if (!options.file.empty()) {
        const auto path = absolute_path(options.file, context.home);
        const auto* kind = options.explicit_urls ? "a list of package URLs" : "an environment.yml";
        GPKG_CHECK(check_replaceable(path, kind, [&](const fs::path& file) {
            return options.explicit_urls
                       ? has_line(file, "@EXPLICIT")
                       : has_line(file, "dependencies:") || has_line(file, "  \"dependencies\":");
        }));
        GPKG_CHECK(write_file_atomically(path, text));
        context.out.note(fmt::format("wrote {}", options.file));
        return {};
    }
    text.pop_back();  // verbatim() ends the line
    context.out.verbatim(text);
    return {};
}

/// Conda's shape, where the prefix always is; "accelerator" is ours.
Json json_of(const Context& context, const Prefix& prefix, const EnvironmentYml& environment) {
    Json document{{"name", environment_folders(context.config).name_of(prefix.path())},
                  {"channels", environment.channels},
                  {"dependencies", environment.dependencies}};
    if (!environment.pip.empty())
        document["dependencies"].push_back(Json{{"pip", environment.pip}});
    if (!environment.variables.empty()) document["variables"] = environment.variables;
    const auto& several = environment.accelerator;
    const Json all = several.size() == 1 ? Json(several.front()) : Json(several);
    if (!environment.package_accelerators.empty()) {
        auto accelerators = Json::object();
        if (!several.empty()) accelerators["default"] = all;
        accelerators.update(Json(environment.package_accelerators));
        document["accelerator"] = std::move(accelerators);
    } else if (!several.empty()) {
        document["accelerator"] = all;
    }
    document["prefix"] = prefix.path().native();
    return document;
}

/// environment.json, as conda writes it: the document without what this machine alone knows.
std::string json_file(const Context& context,
                      const Prefix& prefix,
                      const EnvironmentYml& environment) {
    auto document = json_of(context, prefix, environment);
    if (!environment.name) document.erase("name");
    if (!environment.prefix) document.erase("prefix");
    return json_text(document, 2) + "\n";
}

Result<int> export_explicit(Context& context,
                            const EnvExportOptions& options,
                            const Installed& installed) {
    const auto& [prefix, records] = installed;
    std::vector<PackageRecord> packages;
    packages.reserve(records.size());
    for (const auto& record : records) packages.push_back(record.package);
    GPKG_TRY(auto text,
             explicit_text(context,
                           prefix.path(),
                           std::move(packages),
                           options.md5 ? ExplicitChecksum::Md5 : ExplicitChecksum::Best));
    GPKG_CHECK(warn_of_what_files_lack(context, prefix.path(), records));
    if (context.out.json_mode()) {
        auto lines = Json::array();
        for (const auto line : split(text, '\n')) {
            if (!line.empty() && line.front() != '#' && line.front() != '@') lines.push_back(line);
        }
        context.out.json({{"prefix", prefix.path().native()},
                          {"platform", context.config.platform.value},
                          {"explicit", std::move(lines)}});
        if (options.file.empty()) return 0;
    }
    GPKG_CHECK(put(context, options, std::move(text)));
    return 0;
}

Result<int> export_environment(Context& context, const EnvExportOptions& options) {
    GPKG_CHECK(check_file_name(options));
    GPKG_TRY(const auto installed, read_installed(context, options.target));
    if (options.explicit_urls) return export_explicit(context, options, installed);
    GPKG_TRY(const auto environment, exported(context, installed, options.how));
    if (!options.file.empty() || !context.out.json_mode())
        GPKG_CHECK(put(context,
                       options,
                       fs::path(options.file).extension() == ".json"
                           ? json_file(context, installed.prefix, environment)
                           : to_text(environment)));
    if (context.out.json_mode()) context.out.json(json_of(context, installed.prefix, environment));
    return 0;
}

}  // namespace

Action bind_env_export(CLI::App& app) {
    const auto options = std::make_shared<EnvExportOptions>();
    add_target_options(app, options->target);
    app.add_option(
           "-f,--file,-o,--output", options->file, "write to this file instead of standard output")
        ->type_name("FILE");
    auto& how = options->how;
    auto* from_history =
        app.add_flag("--from-history", how.from_history, "only the requested specs, as requested");
    auto* no_builds = app.add_flag("--no-builds", how.no_builds, "leave out build strings");
    auto* channels = app.add_option("-c,--channel", how.channels, "list this channel first")
                         ->type_name("CHANNEL")
                         ->expected(1)
                         ->take_all();
    auto* only =
        app.add_flag(
               "--override-channels", how.override_channels, "list only the channels given with -c")
            ->needs(channels);
    auto* ignore = app.add_flag("--ignore-channels",
                                how.ignore_channels,
                                "list the configured channels, not those of the packages")
                       ->excludes(only);
    auto* with_prefix =
        app.add_flag("--with-prefix", how.with_prefix, "include the path of the environment");
    auto* explicit_urls =
        app.add_flag("--explicit",
                     options->explicit_urls,
                     "write package URLs and checksums, to install without solving");
    for (auto* other : {from_history, no_builds, channels, only, ignore, with_prefix})
        explicit_urls->excludes(other);
    app.add_flag("--md5", options->md5, "with --explicit: write MD5 instead of SHA-256")
        ->needs(explicit_urls);
    app.footer(
        "Writes an environment.yml from which `gpkg env create` and conda can create the "
        "environment again.\n"
        "\n"
        "  gpkg env export -n ml -f environment.yml\n"
        "  gpkg env export -n ml --from-history  # for other platforms\n"
        "  gpkg env export -n ml --explicit -f ml.txt\n");

    return [options](Context& context) { return export_environment(context, *options); };
}

}  // namespace gpkg::cli
