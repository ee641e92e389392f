#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/workflow/ask/found.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

struct SearchOptions {
    SourceOptions sources;
    std::string spec = "*";
    bool info = false;
};

Result<int> search(Context& context, const SearchOptions& options) {
    GPKG_TRY(const auto spec, parse_spec(options.spec));
    GPKG_TRY(const auto found, search_channels(context, spec, options.sources));
    if (context.out.json_mode()) {
        auto document = nlohmann::ordered_json::object();
        for (const auto& name : found.names) document[name] = nlohmann::ordered_json::array();
        for (const auto& record : found.records)
            document[record.name].push_back(search_json(record));
        context.out.json(document);
    } else {
        print_found(context, spec, found, options.info);
        const auto& machine = options.sources.for_machine;
        if (!machine.empty() && !found.records.empty())
            context.out.note(fmt::format(
                "note: search lists all builds for the platform; to see which run on {}: gpkg "
                "variants {}{}",
                shell_word(machine),
                shell_word(options.spec),
                given_sources(context.arguments)));
    }
    return 0;
}

}  // namespace

Action bind_search(CLI::App& app) {
    const auto options = std::make_shared<SearchOptions>();
    app.add_option("spec", options->spec, "a name, a pattern or any spec")->type_name("SPEC");
    add_source_options(app, options->sources);
    app.add_flag("-i,--info", options->info, "show all fields of each build");
    app.footer(
        "Lists the matching builds in the channels, the newest last. If a pattern matches more "
        "than 100 package names, it lists only the names.\n\n"
        "  gpkg search 'pytorch>=2.4'\n"
        "  gpkg search -c conda-forge 'numpy[build=py312*]' --info");

    return [options](Context& context) { return search(context, *options); };
}

}  // namespace gpkg::cli
