#include "libcore/image/image.hpp"

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/delivery/imaging.hpp"
#include "cli/workflow/inside.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/image_mount.hpp"
#include "libcore/image/image_run.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

constexpr int kMostOfGzip = 9;

struct ImageVerbOptions {
    ImagedOptions of;
    std::string mount_point;
    std::string format = "squashfs";
    std::string image;
    std::string disk;  ///< folder of this machine to bring the image to
    std::string
        for_module;  ///< the mount point that a module was written for; empty: no module asks
    bool is_for_module = false;
    std::vector<std::string> command;  ///< for --help alone, as in run
};

Result<fs::path> mount_point_of(const Context& context,
                                const ImageVerbOptions& options,
                                const Imaged& imaged) {
    const auto place = options.mount_point.empty()
                           ? image_mount_point(imaged.environment, imaged.name)
                           : absolute_path(options.mount_point, context.home);
    if (!place.has_relative_path())
        return fail(ErrorKind::Usage, "an environment cannot be mounted at /");
    if (!is_utf8(place.native()))
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: not a valid mount point: the path is not UTF-8", place.native()),
            "choose another path with --mount-point");
    if (place.native().find_first_of(":\n") == std::string::npos) return place;
    return fail(ErrorKind::Usage,
                fmt::format("{}: not a valid mount point: the path contains ':' or a line break",
                            place.native()),
                "choose another path with --mount-point, or another name with --as");
}

Result<int> tell_image(Context& context, const fs::path& file, const ImageInfo& info) {
    std::error_code ignored;
    const auto size = fs::file_size(file, ignored);
    GPKG_TRY(const auto sha256, sha256_of_file(file));
    if (context.out.json_mode()) {
        context.out.json({{"success", true},
                          {"image", file.native()},
                          {"size", size},
                          {"sha256", sha256},
                          {"mount_point", info.mount_point.native()},
                          {"packages", info.packages}});
        return 0;
    }
    context.out.print(fmt::format("{}: {}, {}, sha256 {}",
                                  file.native(),
                                  count_text(info.packages, "package"),
                                  human_size(size),
                                  sha256));
    context.out.print(
        fmt::format("to use it: gpkg image run {} -- COMMAND", shell_word(file.native())));
    return 0;
}

Result<int> tell_layout(Context& context, const fs::path& folder, const ImageInfo& info) {
    GPKG_TRY(const auto sha256, sha256_of_file(folder / "index.json"));
    if (context.out.json_mode()) {
        context.out.json({{"success", true},
                          {"layout", folder.native()},
                          {"sha256", sha256},
                          {"mount_point", info.mount_point.native()},
                          {"packages", info.packages}});
        return 0;
    }
    context.out.print(fmt::format("{}: {} at {}, index sha256 {}",
                                  folder.native(),
                                  count_text(info.packages, "package"),
                                  info.mount_point.native(),
                                  sha256));
    context.out.print(fmt::format("to push it: skopeo copy oci:{} docker://REGISTRY/{}",
                                  shell_word(folder.native()),
                                  shell_word(info.name)));
    return 0;
}

Result<int> build(Context& context, const ImageVerbOptions& options) {
    const bool is_layout = options.format == "oci";
    if (is_layout && options.of.level.value_or(0) > kMostOfGzip)
        return fail(
            ErrorKind::Usage,
            fmt::format("--level {}: --format oci compresses with gzip, whose highest level is {}",
                        *options.of.level,
                        kMostOfGzip));
    auto of = options.of;
    if (!is_layout) of.replaceable = kSquashfsMagic;
    of.suffix = is_layout ? "-oci" : ".sqfs";
    GPKG_TRY(auto made, imaged(context, of));
    GPKG_TRY(const auto mount_point, mount_point_of(context, options, made));
    GPKG_CHECK(add_other_files(context, made, mount_point));
    const auto can_be_mounted = check_not_of_system(mount_point);
    if (!is_layout && !can_be_mounted)
        context.out.warn(can_be_mounted.error().message +
                         "; the image works only with gpkg image run");
    // Where the default mount point is made is for the administrator to say.
    const auto users_can_mount = check_users_can_mount(mount_point);
    if (!is_layout && can_be_mounted && !options.mount_point.empty() && !users_can_mount)
        context.out.warn(users_can_mount.error().message +
                         "; modules cannot mount it, gpkg image run can");
    GPKG_TRY(const auto info,
             write_imaged(context,
                          made,
                          mount_point,
                          is_layout ? ImageForm::OciLayout : ImageForm::Squashfs,
                          options.of.level));
    return is_layout ? tell_layout(context, made.output, info)
                     : tell_image(context, made.output, info);
}

/// The image that a command names.
Result<fs::path> existing_image(const Context& context, const std::string& word) {
    auto file = absolute_path(word, context.home);
    std::error_code code;
    if (fs::exists(file, code) || code) return file;
    std::string hint;
    if (fs::exists(file.native() + ".sqfs", code))
        hint = fmt::format("did you mean {}?", shell_word(word + ".sqfs"));
    else if (is_environment_name(context.config, word))
        hint = fmt::format("{0} is an environment; to write its image: gpkg image build -n {0}",
                           shell_word(word));
    return fail(ErrorKind::NotFound, fmt::format("{}: no such file", file.native()), hint);
}

Result<int> show(Context& context, const ImageVerbOptions& options) {
    GPKG_TRY(const auto file, existing_image(context, options.image));
    GPKG_TRY(const auto info, read_image_info(file));
    auto& out = context.out;
    const auto packages = packages_of_image(file);
    if (!packages && packages.error().kind == ErrorKind::Interrupted) return pass(packages.error());
    if (out.json_mode()) {
        nlohmann::ordered_json document{{"image", file.native()},
                                        {"name", info.name},
                                        {"mount_point", info.mount_point.native()},
                                        {"platform", info.platform},
                                        {"packages", info.packages},
                                        {"made_by", info.made_by},
                                        {"package_list", nullptr}};
        if (packages) {
            auto list = nlohmann::ordered_json::array();
            for (const auto& [name, version, build] : *packages)
                list.push_back({{"name", name}, {"version", version}, {"build_string", build}});
            document["package_list"] = std::move(list);
        }
        out.json(document);
        return 0;
    }
    out.result(without_controls(fmt::format("{}: {} for {}, {}, mount point {}, built by {}",
                                            file.native(),
                                            info.name,
                                            info.platform,
                                            count_text(info.packages, "package"),
                                            info.mount_point.native(),
                                            info.made_by)));
    if (!packages) {
        out.warn(packages.error().to_string());
        return 0;
    }
    Table table;
    table.add({"# Name", "Version", "Build"});
    for (const auto& [name, version, build] : *packages) table.add({name, version, build});
    out.result(table);
    return 0;
}

Result<int> run(Context& context, const CLI::App& app, const ImageVerbOptions&) {
    auto words = words_behind_options(app, context.arguments);
    if (words.size() > 1 && words[1] == "--") words.erase(words.begin() + 1);
    if (words.size() < 2) return missing_argument(app, "COMMAND");
    GPKG_TRY(const auto file, existing_image(context, words.front()));
    words.erase(words.begin());
    GPKG_TRY(const auto info, read_image_info(file));
    ImageRunOptions how;
    how.temporary = folder_for_temporary();
    how.note = [&](const std::string& text) { context.out.note(text); };
    return run_in_image(file, info, how, [&] {
        const auto status = run_inside(
            context, info.mount_point, words, "", fmt::format("is it in {}?", file.native()));
        if (status) return *status;
        context.out.error(status.error());
        return kCannotExecute;
    });
}

Result<int> mount(Context& context, const ImageVerbOptions& options) {
    GPKG_TRY(const auto file, existing_image(context, options.image));
    GPKG_TRY(const auto info, read_image_info(file));
    const bool is_for_module = !options.for_module.empty();
    if (is_for_module && options.for_module != info.mount_point)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: its mount point is now {}, but this module was written for {}",
                                file.native(),
                                info.mount_point.native(),
                                options.for_module),
                    "update the module with gpkg module write --image");
    ImageMountOptions how;
    if (!options.disk.empty()) how.disk = absolute_path(options.disk, context.home);
    how.temporary = folder_for_temporary();
    if (is_for_module) how.shell = shell_of_module_system();
    how.note = [&](const std::string& text) { context.out.note(text); };
    how.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto use, mount_image(file, info, how));
    if (is_for_module) return 0;
    if (context.out.json_mode())
        context.out.json({{"success", true},
                          {"image", file.native()},
                          {"file", use.file.native()},
                          {"mount_point", info.mount_point.native()},
                          {"was_mounted", use.was_mounted}});
    else
        context.out.verbatim(info.mount_point.native());
    return 0;
}

/// The mount point that is meant: by itself or by its image.
Result<fs::path> mounted_place(const Context& context, const ImageVerbOptions& options) {
    const auto path = absolute_path(options.image, context.home);
    std::error_code code;
    if (!fs::is_regular_file(path, code)) return path;
    GPKG_TRY(const auto info, read_image_info(path));
    return info.mount_point;
}

Result<int> unmount(Context& context, const ImageVerbOptions& options) {
    GPKG_TRY(const auto place, mounted_place(context, options));
    const auto shell = options.is_for_module ? shell_of_module_system() : 0;
    GPKG_TRY(const auto left, unmount_image(place, shell));
    const auto stays =
        fmt::format("{}: stays mounted: in use by {}", place.native(), fmt::join(left.users, ", "));
    if (!left.users.empty() && !options.is_for_module)
        return fail(
            ErrorKind::Conflict,
            stays,
            "run gpkg image unmount again after they have ended, or unload the last module");
    if (!left.users.empty()) context.out.note(stays);
    if (!left.was_mounted && !options.is_for_module)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no image is mounted here", place.native()));
    if (left.is_roots && !options.is_for_module)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: mounted by root for all users; only root can unmount it",
                                place.native()));
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"mount_point", place.native()}});
    return 0;
}

}  // namespace

Action bind_image(CLI::App& app) {
    const auto options = std::make_shared<ImageVerbOptions>();
    app.require_subcommand(1);
    auto* build_app = app.add_subcommand("build", "write an environment to a single file");
    add_imaged_options(*build_app, options->of);
    build_app->get_option("--for")->description(
        "machine to take the packages of --from-lock for: a profile, or a name listed by `gpkg "
        "hardware list`");
    build_app->add_option("--as", options->of.name, "name of the environment in the image")
        ->type_name("NAME");
    build_app
        ->add_option("--mount-point",
                     options->mount_point,
                     "path of the environment when mounted; default: below /gpkg")
        ->type_name("PATH");
    build_app
        ->add_option("--format", options->format, "squashfs, or oci: a folder for container tools")
        ->type_name("FORMAT")
        ->check(one_of({"squashfs", "oci"}));
    build_app->fallthrough();  // --json
    auto* run_app = app.add_subcommand("run", "run a command in an image");
    run_app->add_option("command", options->command, "image, command and its arguments")
        ->required()
        ->type_name("FILE COMMAND");
    run_app->positionals_at_end();
    set_effect(*run_app, Effect::RunsProgram);
    auto* mount_app = app.add_subcommand("mount", "mount an image for all your shells");
    mount_app->fallthrough();
    mount_app->add_option("image", options->image, "image file")->required()->type_name("FILE");
    mount_app
        ->add_option("--disk",
                     options->disk,
                     "local folder to copy it to; TMPDIR for images on shared disks")
        ->type_name("DIR");
    mount_app->add_option("--for-module", options->for_module, "")->group("");
    auto* unmount_app = app.add_subcommand("unmount", "unmount an image");
    unmount_app->fallthrough();
    unmount_app->add_option("image", options->image, "image or its mount point")
        ->required()
        ->type_name("FILE");
    unmount_app->add_flag("--for-module", options->is_for_module, "")->group("");
    auto* show_app =
        app.add_subcommand("show", "show the packages and the mount point of an image");
    show_app->fallthrough();
    set_effect(*show_app, Effect::Reads);
    show_app->add_option("image", options->image, "image file")->required()->type_name("FILE");
    build_app->footer(
        "Writes all files of an environment to one squashfs file. A parallel file system then "
        "opens "
        "one file per node instead of thousands per process.\n\n"
        "  gpkg image build -n ml -o ml.sqfs\n"
        "  gpkg image build --from-lock gpkg.lock --for a100 -o ml.sqfs\n"
        "  gpkg image build -n ml --format oci -o ml-oci");
    run_app->footer(
        "Mounts the image for this command only. Root rights are not needed.\n\n"
        "  gpkg image run ml.sqfs -- python train.py");
    mount_app->footer(
        "Prints the mount point. The environment there can be used like any other until it is "
        "unmounted.\n\n"
        "  gpkg image mount ml.sqfs\n"
        "  gpkg run -p $(gpkg image mount ml.sqfs) python train.py");
    unmount_app->footer(
        "Fails while processes use the image.\n\n"
        "  gpkg image unmount ml.sqfs");
    show_app->footer(
        "Listing the packages needs unsquashfs of squashfs-tools.\n\n"
        "  gpkg image show ml.sqfs");
    app.footer(
        "One file for an environment: quick to open on parallel file systems, and easy to copy.\n\n"
        "  gpkg image build -n ml -o ml.sqfs\n"
        "  gpkg image run ml.sqfs -- python train.py\n"
        "  gpkg module write --image ml.sqfs --as ml");

    return [=, &app](Context& context) -> Result<int> {
        if (app.got_subcommand("build")) return build(context, *options);
        if (app.got_subcommand("run")) return run(context, *run_app, *options);
        if (app.got_subcommand("mount")) return mount(context, *options);
        if (app.got_subcommand("unmount")) return unmount(context, *options);
        return show(context, *options);
    };
}

}  // namespace gpkg::cli
