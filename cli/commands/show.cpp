// `show`: everything about one package: the installed one of an environment, else the newest of
// the channels.

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/wishes/package_files.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

struct ShowOptions {
    TargetOptions target;
    SourceOptions sources;
    std::string spec;
};

Result<Found> installed_package(const fs::path& path, const MatchSpec& spec) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto records, prefix.records());
    GPKG_TRY(const auto matches, find_installed(spec, records, path));
    Found found;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (matches[i]) found.records.push_back(records[i].package);
    }
    return found;
}

Result<int> show(Context& context, const ShowOptions& options) {
    if (is_package_place(options.spec))
        return fail(ErrorKind::Usage,
                    fmt::format("{} is a package file, not a spec", options.spec),
                    "to show a package file: gpkg inspect " + shell_word(options.spec));
    GPKG_TRY(const auto spec, parse_spec(options.spec));
    if (!spec.has_one_name())
        return fail(
            ErrorKind::Usage,
            fmt::format("'{}' does not name one package", options.spec),
            fmt::format("to list matching packages: gpkg search {}", shell_word(options.spec)));
    const bool is_installed = !options.target.name.empty() || !options.target.prefix.empty();
    Found found;
    std::size_t builds = 0;
    if (is_installed) {
        GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
        GPKG_TRY(found, installed_package(prefix, spec));
    } else {
        GPKG_TRY(found, search_channels(context, spec, options.sources));
        builds = found.records.size();
        if (builds > 1) found.records.erase(found.records.begin(), std::prev(found.records.end()));
    }
    if (context.out.json_mode()) {
        context.out.json(search_json(found.records.back()));
        return 0;
    }
    print_found(context, spec, found, true);
    if (!is_installed) {
        auto command = "gpkg search " + spec.name;
        for (const auto& channel : options.sources.channels)
            command += " -c " + shell_word(channel);
        if (options.sources.override_channels) command += " --override-channels";
        context.out.note(builds > 1 ? fmt::format("newest of {} builds; to list all: {}",
                                                  with_thousands(builds),
                                                  command)
                                    : fmt::format("the only build; to list it: {}", command));
    }
    return 0;
}

}  // namespace

Action bind_show(CLI::App& app) {
    const auto options = std::make_shared<ShowOptions>();
    app.add_option("spec", options->spec, "package name or spec: 'numpy=1.26'")
        ->required()
        ->type_name("SPEC");
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    app.footer(
        "Shows version, build, license, size and dependencies of the newest build in the channels, "
        "or with -n or -p of the installed package.\n\n"
        "  gpkg show numpy\n"
        "  gpkg show 'numpy=1.26' -c bioconda\n"
        "  gpkg show numpy -n ml");
    return [options](Context& context) { return show(context, *options); };
}

}  // namespace gpkg::cli
