#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/modules.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/fs/own_program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace gpkg::cli {
namespace {

struct Options {
    TargetOptions target;
    bool all = false;
    std::string format;
    std::string root;
    std::optional<std::string> name;
    bool is_default = false;
};

fs::path root_of(const Context& context, const Options& options) {
    if (options.root.empty()) return context.config.modules_folder();
    return absolute_path(options.root, context.home);
}

std::vector<ModuleFormat> formats_of(const Options& options) {
    if (options.format == "lua") return {ModuleFormat::Lua};
    if (options.format == "tcl") return {ModuleFormat::Tcl};
    return {ModuleFormat::Lua, ModuleFormat::Tcl};
}

/// Environments to write modules of. With --all, those that have a name.
Result<std::vector<fs::path>> prefixes_of(const Context& context, const Options& options) {
    if (!options.all) {
        GPKG_TRY(auto prefix, existing_prefix(context, options.target));
        return std::vector{std::move(prefix)};
    }
    std::vector<fs::path> named;
    const auto folders = environment_folders(context.config);
    for (auto& prefix : list_environments(folders, context.home)) {
        if (prefix != context.config.root_prefix.value && folders.has(prefix))
            named.push_back(std::move(prefix));
    }
    return named;
}

/// As told now, which may be nothing, else as an earlier run was told.
std::string name_for(const Options& options,
                     const fs::path& prefix,
                     const std::vector<ModuleFile>& before) {
    if (options.name) return *options.name;
    for (const auto& file : before) {
        if (file.origin.prefix == prefix) return file.origin.wanted_name;
    }
    return "";
}

struct Written {
    std::vector<std::string> written;
    std::vector<std::string> removed;

    void take(const ModuleChange& change) {
        for (const auto& path : change.written) written.push_back(path.native());
        for (const auto& path : change.removed) removed.push_back(path.native());
    }
};

Result<void> write_one(Context& context,
                       const Options& options,
                       const fs::path& prefix,
                       const std::vector<ModuleFile>& before,
                       Written& done) {
    const auto root = root_of(context, options);
    GPKG_TRY(const auto wanted, module_of(context, prefix, name_for(options, prefix, before)));
    GPKG_TRY(const auto change,
             write_module(root, wanted.room, wanted.module, formats_of(options), before));
    done.take(change);
    if (options.is_default) GPKG_CHECK(make_default(root, wanted.room, wanted.module));
    for (const auto& what : wanted.module.activation.left_out)
        context.out.warn(
            fmt::format("{}: not in the module: {}", wanted.module.origin.environment, what));
    return {};
}

Result<int> write(Context& context, const Options& options) {
    if (options.all && (options.name || !options.target.name.empty() ||
                        !options.target.prefix.empty() || options.is_default))
        return fail(ErrorKind::Usage, "--all goes with neither -n, -p, --as nor --default");
    const auto root = root_of(context, options);
    GPKG_TRY(const auto prefixes, prefixes_of(context, options));
    GPKG_TRY(const auto before, module_files(root));
    Written done;
    for (const auto& prefix : prefixes) {
        GPKG_CHECK(check_stop(context));
        GPKG_CHECK(recover_for_use(context, prefix));
        GPKG_CHECK(write_one(context, options, prefix, before, done));
    }
    if (options.all) {
        for (const auto& file : before) {
            if (Prefix::is_environment(file.origin.prefix)) continue;
            GPKG_CHECK(remove_module(root, file));
            done.removed.push_back(file.path.native());
        }
    }
    GPKG_TRY(const auto program, own_program());
    ModuleEntry entry{root, program.parent_path(), {}};
    if (const auto named = context.env("GPKG_SYSTEM_CONFIG"); named && !trim(*named).empty())
        entry.system_config = absolute_path(*named, context.home);
    GPKG_TRY(const auto change, write_module_entry(entry, GPKG_VERSION, formats_of(options)));
    done.take(change);
    auto& out = context.out;
    for (const auto& path : done.written) out.print(path);
    for (const auto& path : done.removed) out.print(fmt::format("removed {}", path));
    if (done.written.empty() && done.removed.empty()) out.note("every module is as it was");
    out.note(fmt::format("module use {}", shell_word((root / "Core").native())));
    if (out.json_mode())
        out.json({{"success", true},
                  {"root", root.native()},
                  {"written", done.written},
                  {"removed", done.removed}});
    return 0;
}

Result<int> check(Context& context, const Options& options) {
    const auto root = root_of(context, options);
    GPKG_TRY(const auto files, module_files(root));
    auto modules = nlohmann::ordered_json::array();
    std::size_t stale = 0;
    for (const auto& file : files) {
        GPKG_CHECK(check_stop(context));
        auto why = why_stale(context, file);
        const auto reason = why ? *why : why.error().message;
        stale += reason.empty() ? 0 : 1;
        if (!reason.empty()) context.out.print(fmt::format("{}: {}", file.path.native(), reason));
        modules.push_back({{"path", file.path.native()},
                           {"name", file.name},
                           {"prefix", file.origin.prefix.native()},
                           {"stale", !reason.empty()},
                           {"reason", reason}});
    }
    if (stale == 0)
        context.out.note(fmt::format("{} modules in {}, none stale", files.size(), root.native()));
    else
        context.out.note("gpkg module write -n NAME, or --all, makes them new");
    if (context.out.json_mode())
        context.out.json(
            {{"success", stale == 0}, {"root", root.native()}, {"modules", std::move(modules)}});
    return stale == 0 ? 0 : 1;
}

void add_root_option(CLI::App& app, Options& options) {
    app.add_option(
           "--root", options.root, "folder of modulefiles; else module_root of the settings")
        ->type_name("DIR");
}

Action bind_write(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_target_options(app, options->target);
    app.add_flag("--all",
                 options->all,
                 "every environment that has a name; modules of those that are gone go");
    app.add_option(
           "--format", options->format, "lua (Lmod) or tcl (Environment Modules); else both")
        ->check(CLI::IsMember({"lua", "tcl"}));
    add_root_option(app, *options);
    app.add_option("--as",
                   options->name,
                   "what it is called from now on; '' and at first: as module_name says")
        ->type_name("NAME/VERSION");
    app.add_flag("--default", options->is_default, "the version that `module load NAME` takes");
    app.footer(
        "Loading the module gives what gpkg activate gives, unloading it gives everything back, "
        "and "
        "neither runs gpkg.\n"
        "  gpkg module write -n ml --root /apps/modules --as ml/2026.11 --default\n"
        "  module use /apps/modules/Core; module load gpkg ml");
    return [options](Context& context) { return write(context, *options); };
}

Action bind_check(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_root_option(app, *options);
    app.footer(
        "Tells modules that are not what their environments are now; status 1 where there "
        "are any.\n  gpkg module check --root /apps/modules");
    return [options](Context& context) { return check(context, *options); };
}

}  // namespace

Action bind_module(CLI::App& app) {
    auto* writing = app.add_subcommand("write", "write the modulefiles of environments");
    auto* checking = app.add_subcommand("check", "tell which modulefiles are stale");
    for (auto* verb : {writing, checking}) verb->fallthrough();  // --json after the verb
    const auto write_action = bind_write(*writing);
    const auto check_action = bind_check(*checking);
    app.require_subcommand(1);
    app.footer(
        "Environments for users of modules, without a shell hook (docs/hpc.md).\n"
        "  gpkg module write -n ml");
    return [=](Context& context) {
        return writing->parsed() ? write_action(context) : check_action(context);
    };
}

}  // namespace gpkg::cli
