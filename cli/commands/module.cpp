#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/delivery/modules.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/fs/own_program.hpp"
#include "libcore/image/image_mount.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ModuleOptions {
    TargetOptions target;
    bool all = false;
    std::string format;
    std::string root;
    std::optional<std::string> name;
    bool is_default = false;
    std::string image;
    std::string disk;
};

fs::path root_of(const Context& context, const ModuleOptions& options) {
    if (options.root.empty()) return context.config.modules_folder();
    return absolute_path(options.root, context.home);
}

std::vector<ModuleFormat> formats_of(const ModuleOptions& options) {
    if (options.format == "lua") return {ModuleFormat::Lua};
    if (options.format == "tcl") return {ModuleFormat::Tcl};
    return {ModuleFormat::Lua, ModuleFormat::Tcl};
}

/// Environments to write modules of. With --all, those that have a name.
Result<std::vector<fs::path>> prefixes_of(const Context& context, const ModuleOptions& options) {
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

struct Written {
    std::vector<std::string> names;  ///< of the modules, which may be unchanged
    std::vector<std::string> written;
    std::vector<std::string> removed;
    std::vector<std::pair<std::string, Error>> failures;  ///< by environment

    void take(const ModuleChange& change) {
        for (const auto& path : change.written) written.push_back(path.native());
        for (const auto& path : change.removed) removed.push_back(path.native());
    }
};

Result<void> write_one(Context& context,
                       const ModuleOptions& options,
                       const WantedModule& wanted,
                       const std::vector<ModuleFile>& before,
                       Written& done) {
    const auto root = root_of(context, options);
    const auto& texts = wanted.texts;
    GPKG_TRY(const auto change, write_module(root, texts, formats_of(options), before));
    done.take(change);
    done.names.push_back(texts.name);
    std::set<std::string> replaced;
    for (const auto& file : before)
        if (std::ranges::find(change.removed, file.path) != change.removed.end() &&
            file.name != texts.name)
            replaced.insert(file.name);
    for (const auto& name : replaced)
        context.out.note(fmt::format(
            "removed {0}, replaced by {1}; jobs that load {0} must load {1}", name, texts.name));
    if (options.is_default) GPKG_CHECK(make_default(root, texts.room, texts.name));
    for (const auto& what : wanted.left_out)
        context.out.warn(fmt::format("{}: not in the module: {}", texts.origin.environment, what));
    if (texts.kept_from != 0 && !change.written.empty())
        context.out.note(
            fmt::format("{}: not readable by all users, like the environment", texts.name));
    return {};
}

Result<void> write_of_prefix(Context& context,
                             const ModuleOptions& options,
                             const fs::path& prefix,
                             const std::vector<ModuleFile>& before,
                             Written& done) {
    GPKG_CHECK(recover_for_use(context, prefix));
    ModuleOrigin origin;
    origin.prefix = prefix;
    GPKG_TRY(const auto wanted,
             module_of(context, prefix, options.name.value_or(name_before(origin, before))));
    return write_one(context, options, wanted, before, done);
}

/// The entry beside the modules, and what was done.
Result<int> tell_written(Context& context, const ModuleOptions& options, Written done) {
    const auto root = root_of(context, options);
    GPKG_TRY(const auto program, own_program());
    ModuleEntry entry{root, program.parent_path(), {}};
    if (const auto named = context.env("GPKG_SYSTEM_CONFIG"); named && !trim(*named).empty())
        entry.system_config = absolute_path(*named, context.home);
    GPKG_TRY(const auto change, write_module_entry(entry, GPKG_VERSION, formats_of(options)));
    done.take(change);
    auto& out = context.out;
    for (const auto& path : done.written) out.print(path);
    for (const auto& path : done.removed) out.print(fmt::format("removed {}", path));
    for (const auto& [prefix, error] : done.failures)
        out.warn(fmt::format("{}: module not written: {}", prefix, error.to_string()));
    if (done.written.empty() && done.removed.empty() && done.failures.empty())
        out.note("all modules are up to date");
    const auto use = "module use " + shell_word((root / "Core").native());
    out.note(done.names.size() == 1
                 ? fmt::format("to use it: {}; module load gpkg {}", use, done.names.front())
                 : fmt::format("to use the modules: {}; module load gpkg NAME", use));
    if (out.json_mode()) {
        auto failures = Json::array();
        for (const auto& [prefix, error] : done.failures)
            failures.push_back({{"prefix", prefix}, {"error", error.message}});
        out.json({{"success", done.failures.empty()},
                  {"root", root.native()},
                  {"written", done.written},
                  {"removed", done.removed},
                  {"failures", std::move(failures)}});
    }
    return done.failures.empty() ? 0 : 1;
}

Result<int> write_of_image(Context& context, const ModuleOptions& options) {
    if (options.all || !options.target.name.empty() || !options.target.prefix.empty())
        return fail(ErrorKind::Usage, "--image cannot be used with --all, -n or -p");
    ModuleOrigin origin;
    origin.image = absolute_path(options.image, context.home);
    if (!options.disk.empty()) origin.disk = absolute_path(options.disk, context.home);
    GPKG_TRY(const auto info, read_image_info(origin.image));
    GPKG_CHECK(check_users_can_mount(info.mount_point));
    GPKG_TRY(const auto before, known_modules(root_of(context, options)));
    const auto name = options.name.value_or(name_before(origin, before));
    GPKG_TRY(const auto wanted,
             module_of_image(context, info, origin, name, [&](const std::string& text) {
                 context.out.note(text);
             }));
    Written done;
    GPKG_CHECK(write_one(context, options, wanted, before, done));
    return tell_written(context, options, std::move(done));
}

/// Modules of what is gone, where no other has taken their names.
Result<void> remove_gone(Context& context,
                         const fs::path& root,
                         const std::vector<ModuleFile>& before,
                         Written& done) {
    for (const auto& file : before) {
        if (!file.is_gone) continue;
        const auto text = read_file(file.path);
        const auto now = text ? origin_of_modulefile(*text) : std::nullopt;
        if (!now || !now->is_of_same(file.origin)) continue;
        GPKG_CHECK(check_stop(context));
        GPKG_CHECK(remove_module(root, file));
        done.removed.push_back(file.path.native());
        context.out.note_once(
            fmt::format("removed {}: its environment does not exist any more", file.name));
    }
    return {};
}

Result<int> write(Context& context, const ModuleOptions& options) {
    if (!options.image.empty()) return write_of_image(context, options);
    if (!options.disk.empty()) return fail(ErrorKind::Usage, "--disk needs --image");
    if (options.all && (options.name || !options.target.name.empty() ||
                        !options.target.prefix.empty() || options.is_default))
        return fail(ErrorKind::Usage, "--all cannot be used with -n, -p, --as or --default");
    const auto root = root_of(context, options);
    GPKG_TRY(const auto prefixes, prefixes_of(context, options));
    GPKG_TRY(const auto before, known_modules(root));
    Written done;
    for (const auto& prefix : prefixes) {
        GPKG_CHECK(check_stop(context));
        auto written = write_of_prefix(context, options, prefix, before, done);
        if (written) continue;
        // One that cannot be a module keeps no other from being one.
        if (!options.all || written.error().kind == ErrorKind::Interrupted)
            return pass(std::move(written).error());
        done.failures.emplace_back(prefix.native(), std::move(written).error());
    }
    if (options.all) GPKG_CHECK(remove_gone(context, root, before, done));
    return tell_written(context, options, std::move(done));
}

Result<int> check(Context& context, const ModuleOptions& options) {
    const auto root = root_of(context, options);
    std::error_code ignored;
    if (!options.root.empty() && !fs::is_directory(root, ignored))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no such folder", root.native()),
                    "to write modules there: gpkg module write --root DIR");
    GPKG_TRY(const auto files, known_modules(root));
    auto modules = Json::array();
    std::set<std::pair<fs::path, std::string>> distinct;  // a module may have a file of each format
    std::size_t stale = 0;
    std::size_t stale_images = 0;
    for (const auto& file : files) {
        GPKG_CHECK(check_stop(context));
        const auto& origin = file.origin;
        distinct.emplace(origin.image.empty() ? origin.prefix : origin.image, file.name);
        auto why = why_stale(context, file);
        const auto reason = why ? *why : why.error().message;
        stale += reason.empty() ? 0 : 1;
        stale_images += reason.empty() || file.origin.image.empty() ? 0 : 1;
        if (!reason.empty()) context.out.print(fmt::format("{}: {}", file.path.native(), reason));
        modules.push_back(
            {{"path", file.path.native()},
             {"name", file.name},
             {"prefix", file.origin.prefix.native()},
             {"image", file.origin.image.empty() ? Json() : Json(file.origin.image.native())},
             {"stale", !reason.empty()},
             {"reason", reason}});
    }
    if (files.empty())
        context.out.note(fmt::format("no modules in {}", root.native()));
    else if (stale == 0)
        context.out.note(fmt::format("{} ({}) in {}, all up to date",
                                     count_text(distinct.size(), "module"),
                                     count_text(files.size(), "file"),
                                     root.native()));
    const auto in_root = options.root.empty() ? "" : " --root " + shell_word(options.root);
    if (stale > stale_images)
        context.out.note("to update modules of environments: gpkg module write --all" + in_root);
    if (stale_images > 0)
        context.out.note("to update modules of images: gpkg module write --image FILE" + in_root);
    if (context.out.json_mode())
        context.out.json(
            {{"success", stale == 0}, {"root", root.native()}, {"modules", std::move(modules)}});
    return stale == 0 ? 0 : 1;
}

void add_root_option(CLI::App& app, ModuleOptions& options) {
    app.add_option(
           "--root", options.root, "folder of the modulefiles; default: the setting module_root")
        ->type_name("DIR");
}

Action bind_write(CLI::App& app) {
    const auto options = std::make_shared<ModuleOptions>();
    add_target_options(app, options->target);
    app.add_flag("--all", options->all, "all named environments; remove modules of deleted ones");
    app.add_option(
           "--format", options->format, "lua (Lmod) or tcl (Environment Modules); default: both")
        ->type_name("FORMAT")
        ->check(one_of({"lua", "tcl"}));
    add_root_option(app, *options);
    app.add_option("--as", options->name, "name of the module; '' restores the setting module_name")
        ->type_name("NAME[/VERSION]");
    app.add_option(
           "--image", options->image, "write the module of an image, which loading it mounts")
        ->type_name("FILE");
    app.add_option("--disk", options->disk, "local folder to copy the image to; default: TMPDIR")
        ->type_name("DIR");
    app.add_flag(
        "--default", options->is_default, "make this the version that `module load NAME` loads");
    app.footer(
        "Loading the module does what gpkg activate does; unloading it restores everything. "
        "Neither runs gpkg, except to mount an image. Run the command again when the environment "
        "has changed.\n\n"
        "  gpkg module write -n ml\n"
        "  gpkg module write -n ml --root /apps/modules --as ml/2026.11 --default\n"
        "  gpkg module write --image ml.sqfs --as ml\n"
        "  module use /apps/modules/Core; module load gpkg ml");
    return [options](Context& context) { return write(context, *options); };
}

Action bind_check(CLI::App& app) {
    const auto options = std::make_shared<ModuleOptions>();
    add_root_option(app, *options);
    app.footer(
        "Lists modules that differ from their environments. The exit status is 1 if there are "
        "any.\n\n"
        "  gpkg module check\n"
        "  gpkg module check --root /apps/modules");
    return [options](Context& context) { return check(context, *options); };
}

}  // namespace

Action bind_module(CLI::App& app) {
    auto* writing = app.add_subcommand("write", "write modulefiles of environments");
    auto* checking = app.add_subcommand("check", "list modulefiles that are out of date");
    for (auto* verb : {writing, checking}) verb->fallthrough();  // --json after the verb
    set_effect(*checking, Effect::Reads);
    const auto write_action = bind_write(*writing);
    const auto check_action = bind_check(*checking);
    app.require_subcommand(1);
    app.footer(
        "Makes environments available through Lmod or Environment Modules, without a shell "
        "hook.\n\n"
        "  gpkg module write -n ml\n"
        "  gpkg module check");
    return [=](Context& context) {
        return writing->parsed() ? write_action(context) : check_action(context);
    };
}

}  // namespace gpkg::cli
