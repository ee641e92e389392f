#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
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

Result<int> write(Context& context, const CLI::App& app, MirrorVerbOptions options) {
    auto& mirror = options.mirror;
    if (options.folder.empty()) return missing_argument(app, "--out DIR");
    if (options.delta.empty() != options.delta_folder.empty())
        return fail(ErrorKind::Usage, "--delta and --delta-out must be used together");
    if (!mirror.lock.file.empty() &&
        (!mirror.asked.wishes.specs.empty() || !mirror.asked.wishes.files.empty()))
        return fail(ErrorKind::Usage, "--lock cannot be used with specs or -f");
    if (mirror.lock.file.empty() && mirror.asked.wishes.specs.empty() &&
        mirror.asked.wishes.files.empty())
        return fail(ErrorKind::Usage,
                    "nothing to mirror: no packages, file or lock given",
                    "gpkg mirror -f environment.yml --out " + shell_word(options.folder));
    mirror.folder = absolute_path(options.folder, context.home);
    GPKG_TRY(mirror.sign_keys, read_sign_keys(context, options.sign_keys));
    if (!options.delta.empty()) {
        mirror.delta_base = absolute_path(options.delta, context.home);
        mirror.delta_folder = absolute_path(options.delta_folder, context.home);
    }
    GPKG_TRY(const auto made, make_mirror(context, mirror));
    auto& out = context.out;
    out.print(fmt::format("{}: {}, {}; {} downloaded, {} removed",
                          mirror.folder.native(),
                          count_text(made.packages, "package"),
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
    if (!mirror.sign_keys.empty()) {
        std::vector<std::string> keys;
        for (const auto& key : mirror.sign_keys) keys.push_back(key->public_key());
        out.print("signed with " + join_some(keys, "and", keys.size()));
    }
    if (made.delta) {
        const auto target = mirror.delta_folder.native();
        out.print(fmt::format("{}: {}, {}, for gpkg mirror apply",
                              target,
                              count_text(made.delta->files, "file"),
                              human_size(made.delta->bytes)));
        document["delta"] = {
            {"folder", target}, {"files", made.delta->files}, {"bytes", made.delta->bytes}};
    }
    out.note(fmt::format("to use it: GPKG_SYSTEM_CONFIG={} gpkg create -n NAME --lock {}",
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
                        "to print the public key of a private key: gpkg keys show FILE");
    }
    return {};
}

Result<void> check_is_mirror(const fs::path& folder) {
    std::error_code code;
    if (fs::exists(folder / kMirrorManifest, code) || fs::exists(folder / kManifestBefore, code))
        return {};
    const bool is_folder = fs::is_directory(folder, code);
    return fail(
        ErrorKind::NotFound,
        is_folder ? fmt::format("{}: not a mirror: it has no {}", folder.native(), kMirrorManifest)
                  : fmt::format("{}: no such folder", folder.native()),
        is_folder ? "gpkg mirror --out DIR writes one; for a channel: gpkg keys verify " +
                        shell_word(folder.native())
                  : "");
}

Result<int> verify(Context& context, const MirrorVerbOptions& options) {
    GPKG_CHECK(check_keys(options.keys));
    const auto folder = absolute_path(options.folder, context.home);
    GPKG_CHECK(check_is_mirror(folder));
    GPKG_TRY(const auto read, read_manifest(folder / kMirrorManifest, options.keys));
    const auto cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(const auto found, files_of_mirror(folder, cancelled));
    const auto faults = compare(read.manifest, found);
    auto& out = context.out;
    for (const auto& path : faults.missing) out.print(path + ": missing");
    for (const auto& path : faults.changed) out.print(path + ": different from the manifest");
    for (const auto& path : faults.unknown) out.print(path + ": not in the manifest");
    const auto count = faults.missing.size() + faults.changed.size() + faults.unknown.size();
    const bool good = count == 0;
    if (good)
        out.note(fmt::format(
            "{}: {} verified: no damage", folder.native(), count_text(found.size(), "file")));
    else if (!out.json_mode())
        out.error({ErrorKind::Integrity,
                   fmt::format("{}: {} missing, different or unknown",
                               folder.native(),
                               count_text(count, "file")),
                   "to repair it, run the gpkg mirror command that wrote it again; at a site "
                   "without a network, copy the files again",
                   {}});
    if (good && !options.keys.empty()) out.note("signature verified");
    if (good && read.is_signed && options.keys.empty())
        out.note("signature not checked; to check it: --key PUBLIC-KEY");
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
    out.print(fmt::format("{}: {}, {}; {} removed",
                          folder.native(),
                          count_text(applied.files, "file"),
                          human_size(applied.bytes),
                          count_text(applied.removed, "package")));
    out.note(fmt::format("to verify it: gpkg mirror verify {}", shell_word(folder.native())));
    if (out.json_mode())
        out.json({{"success", true},
                  {"folder", folder.native()},
                  {"files", applied.files},
                  {"bytes", applied.bytes},
                  {"removed", applied.removed}});
    return 0;
}

void add_key_option(CLI::App& app, MirrorVerbOptions& options) {
    app.add_option(
           "--key", options.keys, "require a signature with this key; repeat to allow several")
        ->type_name("KEY")
        ->expected(1);
}

Action bind_apply_delta(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    app.add_option("delta", options->delta, "folder written by --delta-out")
        ->required()
        ->type_name("DELTA");
    app.add_option("folder", options->folder, "mirror to update")->required()->type_name("DIR");
    add_key_option(app, *options);
    app.footer(
        "Verifies the whole delta before it changes the mirror. A delta for another version of the "
        "mirror is refused.\n\n"
        "  gpkg mirror apply /media/delta /srv/mirror --key 3b6a27bc...");
    return [options](Context& context) { return apply(context, *options); };
}

Action bind_verify_mirror(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    app.add_option("folder", options->folder, "mirror to verify")->required()->type_name("DIR");
    add_key_option(app, *options);
    app.footer(
        "Compares every file with the manifest. The exit status is 1 if a file is missing, changed "
        "or unknown.\n\n"
        "  gpkg mirror verify /srv/mirror --key 3b6a27bc...");
    return [options](Context& context) { return verify(context, *options); };
}

}  // namespace

Action bind_mirror(CLI::App& app) {
    const auto options = std::make_shared<MirrorVerbOptions>();
    auto& asked = options->mirror.asked;
    add_channel_options(app, asked.sources);
    add_platform_option(app, asked.sources);
    add_devices_option(app, asked.sources);
    add_wish_options(app, asked.wishes);
    add_machines_option(app,
                        asked.machines,
                        "machine to solve for, or a kind of machine in --lock; may be repeated");
    add_lock_options(app, "--lock", "mirror the packages of this lock file", options->mirror.lock);
    app.add_option("-o,--out", options->folder, "folder of the mirror")->type_name("DIR");
    app.add_option("--delta",
                   options->delta,
                   "manifest of an older copy of the mirror, to make a delta for")
        ->type_name("MANIFEST");
    app.add_option(
           "--delta-out", options->delta_folder, "folder for the files that the older copy lacks")
        ->type_name("DIR");
    app.add_option("--sign-key", options->sign_keys, "sign the manifest with this private key")
        ->type_name("FILE");
    auto* verifying = app.add_subcommand("verify", "compare a mirror with its manifest");
    verifying->fallthrough();  // --json after the verb
    set_effect(*verifying, Effect::Reads);
    const auto verify_action = bind_verify_mirror(*verifying);
    auto* applying = app.add_subcommand("apply", "update a mirror from a delta");
    applying->fallthrough();
    const auto apply_action = bind_apply_delta(*applying);
    app.footer(
        "Downloads the packages that a request needs on all these machines and indexes them as "
        "channels, for machines without a network. Run it again to update the mirror.\n\n"
        "  gpkg mirror -f environment.yml --for a100 --for cpu --out /srv/mirror\n"
        "  gpkg mirror --lock gpkg.lock --out /srv/mirror --sign-key site.key\n"
        "  gpkg mirror verify /srv/mirror --key 3b6a27bc...\n"
        "  gpkg mirror apply /media/delta /srv/mirror");
    return [=, &app](Context& context) -> Result<int> {
        if (verifying->parsed()) return verify_action(context);
        if (applying->parsed()) return apply_action(context);
        return write(context, app, *options);
    };
}

}  // namespace gpkg::cli
