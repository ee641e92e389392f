#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/workflow/mirror/mirroring.hpp"
#include "libcore/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

struct MirrorVerbOptions {
    MirrorOptions mirror;
    std::string folder;
    std::string delta;
    std::string delta_folder;
    std::vector<std::string> sign_keys;
    std::vector<std::string> keys;  ///< whose signature counts
};

Result<int> write(Context& context, MirrorVerbOptions options) {
    auto& mirror = options.mirror;
    if (options.folder.empty())
        return fail(ErrorKind::Usage,
                    "where the mirror is to be was not said",
                    "gpkg mirror pytorch --for a100 --out /srv/mirror");
    if (options.delta.empty() != options.delta_folder.empty())
        return fail(ErrorKind::Usage, "--delta and --delta-out go together");
    if (!mirror.lock.file.empty() &&
        (!mirror.asked.wishes.specs.empty() || !mirror.asked.wishes.files.empty()))
        return fail(ErrorKind::Usage,
                    "a lock says what is mirrored: --lock goes with neither specs nor -f");
    mirror.folder = absolute_path(options.folder, context.home);
    GPKG_TRY(mirror.sign_keys, read_sign_keys(context, options.sign_keys));
    if (!options.delta.empty()) {
        mirror.delta_base = absolute_path(options.delta, context.home);
        mirror.delta_folder = absolute_path(options.delta_folder, context.home);
    }
    GPKG_TRY(const auto made, make_mirror(context, mirror));
    auto& out = context.out;
    out.print(fmt::format("{}: {} packages, {}; {} fetched, {} removed",
                          mirror.folder.native(),
                          made.packages,
                          human_size(made.bytes),
                          made.fetched,
                          made.removed));
    nlohmann::ordered_json document{{"success", true},
                                    {"folder", mirror.folder.native()},
                                    {"channels", made.channels},
                                    {"packages", made.packages},
                                    {"bytes", made.bytes},
                                    {"fetched", made.fetched},
                                    {"fetched_bytes", made.fetched_bytes},
                                    {"removed", made.removed}};
    if (made.delta) {
        const auto target = mirror.delta_folder.native();
        out.print(fmt::format("{}: {} files, {}, for gpkg mirror apply",
                              target,
                              made.delta->files,
                              human_size(made.delta->bytes)));
        document["delta"] = {
            {"folder", target}, {"files", made.delta->files}, {"bytes", made.delta->bytes}};
    }
    out.note(fmt::format("GPKG_SYSTEM_CONFIG={} gpkg create -n NAME --lock {}",
                         shell_word((mirror.folder / "config.yaml").native()),
                         shell_word((mirror.folder / "gpkg.lock").native())));
    if (out.json_mode()) out.json(document);
    return 0;
}

Result<void> check_keys(const std::vector<std::string>& keys) {
    for (const auto& key : keys) {
        if (!is_public_key(key))
            return fail(ErrorKind::Usage,
                        fmt::format("{}: expected a public key of 64 hex digits", key),
                        "gpkg keys show FILE tells that of a private key");
    }
    return {};
}

Result<int> verify(Context& context, const MirrorVerbOptions& options) {
    GPKG_CHECK(check_keys(options.keys));
    const auto folder = absolute_path(options.folder, context.home);
    GPKG_TRY(const auto read, read_manifest(folder / kMirrorManifest, options.keys));
    const auto cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto found, files_of_mirror(folder, cancelled));
    const auto faults = compare(read.manifest, found);
    auto& out = context.out;
    for (const auto& path : faults.missing) out.print(path + ": is missing");
    for (const auto& path : faults.changed) out.print(path + ": is not what the manifest says");
    for (const auto& path : faults.unknown) out.print(path + ": the manifest says nothing of it");
    const bool good = faults.missing.empty() && faults.changed.empty() && faults.unknown.empty();
    if (good)
        out.note(fmt::format("{}: {} files, all as they are to be", folder.native(), found.size()));
    if (good && options.keys.empty())
        out.note("who signed the manifest was not looked at: --key PUBLIC-KEY");
    if (out.json_mode())
        out.json({{"success", good},
                  {"folder", folder.native()},
                  {"files", found.size()},
                  {"missing", faults.missing},
                  {"changed", faults.changed},
                  {"unknown", faults.unknown}});
    return good ? 0 : 1;
}

Result<int> apply(Context& context, const MirrorVerbOptions& options) {
    GPKG_CHECK(check_keys(options.keys));
    const auto delta = absolute_path(options.delta, context.home);
    const auto folder = absolute_path(options.folder, context.home);
    GPKG_TRY(const auto applied, apply_delta(context, delta, folder, options.keys));
    auto& out = context.out;
    out.print(fmt::format("{}: {} files, {}; {} packages removed",
                          folder.native(),
                          applied.files,
                          human_size(applied.bytes),
                          applied.removed));
    out.note(fmt::format("gpkg mirror verify {}", shell_word(folder.native())));
    if (out.json_mode())
        out.json({{"success", true},
                  {"folder", folder.native()},
                  {"files", applied.files},
                  {"bytes", applied.bytes},
                  {"removed", applied.removed}});
    return 0;
}

void add_key_option(CLI::App& app, MirrorVerbOptions& options) {
    app.add_option("--key", options.keys, "a public key that must have signed it, or one of them")
        ->type_name("KEY")
        ->expected(1);
}

Action bind_apply_delta(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    app.add_option("delta", options->delta, "what --delta-out has written")->required();
    app.add_option("folder", options->folder, "the mirror of then, of which it makes that of now")
        ->required();
    add_key_option(app, *options);
    app.footer(
        "Refuses a delta that is not of this mirror, and changes nothing before all of it is there "
        "and found right.\n"
        "  gpkg mirror apply /media/delta /srv/mirror --key 3b6a27bc...");
    return [options](Context& context) { return apply(context, *options); };
}

Action bind_verify_mirror(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    app.add_option("folder", options->folder, "the mirror")->required();
    add_key_option(app, *options);
    app.footer(
        "Compares every file with the manifest; status 1 where one is missing, changed or "
        "unknown.\n"
        "  gpkg mirror verify /srv/mirror --key 3b6a27bc...");
    return [options](Context& context) { return verify(context, *options); };
}

}  // namespace

Action bind_mirror(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    auto& asked = options->mirror.asked;
    add_source_options(app, asked.sources);
    add_wish_options(app, asked.wishes);
    app.remove_option(app.get_option("--for"));
    add_machines_option(
        app, asked.machines, "what this machine comes to: a profile or a name; of a lock a class");
    add_lock_options(app, "--lock", "what this lock holds, without solving", options->mirror.lock);
    app.add_option("-o,--out", options->folder, "the mirror's folder")->type_name("DIR");
    app.add_option("--delta", options->delta, "the manifest of the mirror that is elsewhere ...")
        ->type_name("MANIFEST");
    app.add_option(
           "--delta-out", options->delta_folder, "... and where to put what that lacks, for apply")
        ->type_name("DIR");
    app.add_option("--sign-key", options->sign_keys, "sign the manifest (gpkg keys generate)")
        ->type_name("FILE");
    auto* verifying = app.add_subcommand("verify", "compare a mirror with its manifest");
    verifying->fallthrough();  // --json after the verb
    const auto verify_action = bind_verify_mirror(*verifying);
    auto* applying = app.add_subcommand("apply", "bring a mirror up to date with a delta");
    applying->fallthrough();
    const auto apply_action = bind_apply_delta(*applying);
    app.footer(
        "The packages that requests come to on all these machines, with indexes of their own, for "
        "places without a network (docs/hpc.md).\n"
        "  gpkg mirror -f environment.yml --for a100 --for cpu --out /srv/mirror\n"
        "  gpkg mirror --lock gpkg.lock --out /srv/mirror --sign-key site.key\n"
        "  gpkg mirror apply /media/delta /srv/mirror\n"
        "  gpkg mirror verify /srv/mirror --key 3b6a27bc...");
    return [=](Context& context) -> Result<int> {
        if (verifying->parsed()) return verify_action(context);
        if (applying->parsed()) return apply_action(context);
        return write(context, *options);
    };
}

}  // namespace gpkg::cli
