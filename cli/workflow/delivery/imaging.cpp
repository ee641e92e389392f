#include "cli/workflow/delivery/imaging.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/delivery/copying.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/fs/workplace.hpp"
#include "libcore/image/oci_layout.hpp"
#include "libcore/image/pack.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

struct WantedImage {
    Change change;
    std::string name;
    std::optional<fs::path> from;
};

Result<WantedImage> wanted_environment(Context& context,
                                       const ImagedOptions& options,
                                       const fs::path& nowhere) {
    WantedImage wanted;
    if (!options.lock.file.empty()) {
        if (!options.target.name.empty() || !options.target.prefix.empty())
            return fail(ErrorKind::Usage, "--from-lock cannot be used with -n or -p");
        GPKG_TRY(auto locked, locked_request(context, options.sources, options.lock, nowhere));
        GPKG_TRY(wanted.change, exactly(std::move(locked)));
        if (!wanted.change.pip.empty())
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{}: has pip packages, which can be installed only into an environment",
                            options.lock.file),
                "create an environment with gpkg create --lock FILE, then name it with -n");
        auto file = fs::path(options.output).filename();
        // "ml" of ml.sqfs and of ml.tar.zst
        if (file.stem().extension() == ".tar") file = file.stem();
        wanted.name = file.stem().native();
    } else {
        GPKG_TRY(wanted.from, existing_prefix(context, options.target));
        GPKG_CHECK(recover_for_use(context, *wanted.from));
        GPKG_TRY(wanted.change, copy_of(context, *wanted.from, nowhere));
        wanted.name = wanted.from->filename().native();
    }
    if (!options.name.empty()) wanted.name = options.name;
    if (wanted.name.empty() || wanted.name.find('/') != std::string::npos || !is_utf8(wanted.name))
        return fail(
            ErrorKind::Usage,
            fmt::format(
                "'{}' is not a valid environment name: it is empty, contains '/' or is not UTF-8",
                wanted.name),
            "choose another name with --as");
    return wanted;
}

bool begins_with(const fs::path& file, std::string_view magic) {
    bool is_one = false;
    return read_in_pieces(file,
                          0,
                          [&](std::string_view piece, std::uint64_t) {
                              is_one = piece.starts_with(magic);
                              return false;
                          }) &&
           is_one;
}

/// `magic` is ImagedOptions::replaceable.
Result<void> check_output(const fs::path& file, std::string_view magic) {
    std::error_code code;
    const auto status = fs::status(file, code);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: exists and is not a regular file", file.native()),
                    magic.empty() ? "choose a new folder for -o" : "choose a file for -o");
    if (magic.empty() && fs::exists(status))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: exists already", file.native()),
                    "choose a new folder for -o");
    return check_replaceable(file,
                             fmt::format("an earlier {} of an environment",
                                         magic == kSquashfsMagic ? "image" : "archive"),
                             [&](const fs::path& path) { return begins_with(path, magic); });
}

std::int64_t newest_time(const std::vector<PackageRecord>& records) {
    std::int64_t newest = 0;
    for (const auto& record : records) newest = std::max(newest, record.timestamp / 1000);
    return newest;
}

/// Whether -o names the folder for the file. An OCI layout is a folder itself.
bool names_folder(const ImagedOptions& options, const fs::path& output) {
    std::error_code ignored;
    return !options.replaceable.empty() && !options.suffix.empty() &&
           (options.output.ends_with('/') || fs::is_directory(output, ignored));
}

/// -o, else a file of the environment's name, in the current folder or the one that -o names.
Result<fs::path> output_of(const Context& context, const ImagedOptions& options) {
    auto folder = absolute_path(options.output.empty() ? "." : options.output, context.home);
    if (!options.output.empty() && !names_folder(options, folder)) return folder;
    if (!options.lock.file.empty() || options.suffix.empty())
        return fail(ErrorKind::Usage, "missing output file", "use -o FILE");
    GPKG_TRY(const auto prefix, existing_prefix(context, options.target));
    const auto name = options.name.empty() ? prefix.filename().native() : options.name;
    return folder / (name + options.suffix);
}

}  // namespace

void add_imaged_sources(CLI::App& app, ImagedOptions& options) {
    add_target_options(app, options.target);
    add_for_option(app, options.sources);
    add_lock_options(
        app, "--from-lock", "packages of this lock file instead of an environment", options.lock);
    add_inconsistent_option(app, options.lock);
    app.add_option("--level", options.level, "compression level, 1 to 22")
        ->check(CLI::Range(1, 22))
        ->type_name("N");
    app.add_flag("--offline", options.sources.offline, "use only packages on this machine");
}

void add_imaged_options(CLI::App& app, ImagedOptions& options) {
    add_imaged_sources(app, options);
    app.add_option("-o,--output",
                   options.output,
                   "file to write or replace, or a folder for it; default: this folder")
        ->type_name("FILE");
}

Result<Imaged> plan_imaged(Context& context, const ImagedOptions& options) {
    GPKG_TRY(const auto output, output_of(context, options));
    GPKG_CHECK(check_output(output, options.replaceable));
    GPKG_CHECK(make_folders(output.parent_path()));
    GPKG_TRY(auto workplace, make_workplace(folder_for_work(output.parent_path())));
    Imaged made{std::move(workplace)};
    made.output = output;
    GPKG_TRY(auto wanted,
             wanted_environment(context, options, made.workplace.path() / "environment"));
    auto& change = wanted.change;
    for (const auto& note : change.notes) context.out.tell(note);
    GPKG_CHECK(check_platform(change));
    if (change.link.empty()) return fail(ErrorKind::Usage, "the environment has no packages");

    GPKG_TRY(const auto machine, machine_of(context, options.sources));
    made.name = std::move(wanted.name);
    made.from = std::move(wanted.from);
    made.platform = machine.platform;
    made.time = newest_time(change.link);
    made.channels = change.channels;
    made.offline = options.sources.offline;
    made.environment = transaction_of(context, change, std::vector<fs::path>(change.link.size()));
    // The same environment gives the same bytes, whatever the command was and when.
    made.environment.history.command = "gpkg image build";
    made.environment.history.time =
        fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(made.time)));
    made.layout.transaction = transaction_options(context, {});
    if (made.from) made.layout.original = *made.from;
    made.layout.workplace = made.workplace.path();
    return made;
}

Result<void> fetch_imaged(Context& context, Imaged& imaged) {
    auto& link = imaged.environment.link;
    std::vector<PackageRecord> records;
    records.reserve(link.size());
    for (const auto& request : link) records.push_back(request.record);
    FetchOptions how;
    how.offline = imaged.offline;
    const auto store = open_store(context);
    GPKG_TRY(const auto folders, make_available(context, store, records, imaged.channels, how));
    for (std::size_t i = 0; i < link.size(); ++i) link[i].unpacked = folders[i];
    return check_stop(context);
}

Result<Imaged> imaged(Context& context, const ImagedOptions& options) {
    GPKG_TRY(auto made, plan_imaged(context, options));
    GPKG_CHECK(fetch_imaged(context, made));
    return made;
}

Result<void> add_other_files(Context& context, Imaged& imaged, const fs::path& named) {
    if (!imaged.from) return {};
    GPKG_TRY(const auto others, other_files(context, *imaged.from, false));
    imaged.layout.removed = others.removed;
    const auto& files = others.files;
    if (files.empty() && others.folders.empty()) return {};
    imaged.layout.others = imaged.workplace.path() / "others";
    GPKG_CHECK(make_folders(imaged.layout.others));
    GPKG_CHECK(copy_telling(context, *imaged.from, others, imaged.layout.others, named));
    if (!files.empty())
        context.out.note(fmt::format("includes {} {} not owned by a package",
                                     files.size(),
                                     files.size() == 1 ? "file" : "files"));
    return {};
}

Result<ImageInfo> write_imaged(Context& context,
                               Imaged& imaged,
                               const fs::path& mount_point,
                               ImageForm form,
                               std::optional<int> level) {
    ImageOptions image;
    image.info.name = imaged.name;
    image.info.mount_point = mount_point;
    image.info.platform = imaged.platform;
    image.info.packages = imaged.environment.link.size();
    image.info.made_by = "gpkg " GPKG_VERSION;
    image.time = imaged.time;
    image.level = level;
    image.layout = imaged.layout;
    imaged.environment.named_prefix = mount_point;
    GPKG_TRY(const auto warnings,
             form == ImageForm::OciLayout
                 ? write_oci_layout(imaged.environment, imaged.output, image)
                 : write_image(imaged.environment, imaged.output, image));
    for (const auto& warning : warnings) context.out.warn_once(warning);
    return image.info;
}

Result<void> write_packed(Context& context, Imaged& imaged, std::optional<int> level) {
    imaged.environment.named_prefix = kPackedPrefix;
    imaged.environment.history.command = "gpkg pack";
    PackOptions how;
    how.layout = imaged.layout;
    how.time = imaged.time;
    if (level) how.zstd_level = *level;
    GPKG_TRY(const auto warnings, write_pack(imaged.environment, imaged.output, how));
    for (const auto& warning : warnings) context.out.warn_once(warning);
    return {};
}

}  // namespace gpkg::cli
