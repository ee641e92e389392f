#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace gpkg::cli {
namespace {

struct EnvUpdateOptions {
    TargetOptions target;
    SourceOptions sources;
    ChangeOptions change;
    ReachOptions reach;
    WishOptions wishes;
    bool prune = false;
};

/// What the flags say, else what the file says, else the active environment.
Result<fs::path> prefix_meant(Context& context,
                              const EnvUpdateOptions& options,
                              const Wishes& wishes) {
    auto prefix = existing_prefix(context, target_meant(options.target, wishes));
    if (!prefix && prefix.error().kind == ErrorKind::NoEnvironment)
        prefix.error().hint += fmt::format("; to create it: gpkg env create{} -f {}{}",
                                           target_flags(options.target),
                                           shell_word(options.wishes.files.front()),
                                           given_sources(context.arguments));
    return prefix;
}

Result<int> update(Context& context, EnvUpdateOptions& options) {
    options.change.offline = options.sources.offline;
    if (options.wishes.files.empty()) options.wishes.files = {"environment.yml"};
    options.wishes.ignore_names = !options.target.name.empty() || !options.target.prefix.empty();
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, options.sources));
    if (!wishes.files.empty())
        return fail(ErrorKind::Usage,
                    "a list of package files cannot be used to update",
                    "to install the files: gpkg install -f FILE");
    GPKG_TRY(const auto path, prefix_meant(context, options, wishes));
    GPKG_CHECK(begin_change(context, path, options.change));
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto installed, prefix.records());

    auto request = change_request(std::move(wishes));
    request.prefix = path;
    for (auto& section : request.pip) section.upgrade = true;
    for (const auto& spec : request.specs) {
        if (find_record(installed, spec.name) != nullptr) request.update.push_back(spec.name);
    }
    // The file alone counts, as for a new one.
    if (options.prune) GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.prune = options.prune;
    request.reach = options.reach;
    request.is_dry_run = options.change.dry_run;
    GPKG_TRY(auto change, decide(context, options.sources, request));
    const auto& files = options.wishes.files;
    if (options.prune) change.pruned_to = join_some(files, "and", files.size());
    return carry_out(context, std::move(change), options.change);
}

}  // namespace

Action bind_env_update(CLI::App& app) {
    const auto options = std::make_shared<EnvUpdateOptions>();
    add_target_options(app, options->target);
    add_source_options(app, options->sources);
    add_change_options(app, options->change);
    add_reach_options(app, options->reach, ReachVerb::Update);
    add_wish_options(app, options->wishes);
    app.add_flag(
           "--prune", options->prune, "remove packages, variables and accelerators not in the file")
        ->excludes("--freeze-installed")
        ->excludes("--no-deps");
    app.footer(
        "Installs the packages of the file, or updates them to the newest versions that fit. "
        "Without -n and -p, the name in the file selects the environment. The default file is "
        "environment.yml.\n"
        "\n"
        "  gpkg env update -f environment.yml\n"
        "  gpkg env update -n ml -f environment.yml --prune\n");

    return [options](Context& context) { return update(context, *options); };
}

}  // namespace gpkg::cli
