#include "cli/workflow/delivery/deploy_file.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/env/prefix_record.hpp"
#include "libcore/fs/byte_source.hpp"
#include "libcore/fs/file_system.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/pack.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sys/stat.h>

namespace gpkg::cli {
namespace {

constexpr std::string_view kImageEnd = ".sqfs";
constexpr std::string_view kPackEnd = ".tar.zst";
constexpr std::size_t kKeyLength = 16;

/// A digest over texts. Lengths keep apart what would read the same side by side.
class Key {
public:
    void add(std::string_view part) {
        hasher_.update(fmt::format("{}:", part.size()));
        hasher_.update(part);
    }
    std::string hex() && { return std::move(hasher_).hex().substr(0, kKeyLength); }

private:
    Hasher hasher_{DigestKind::Sha256};
};

/// Every file below the folder, with its content.
Result<void> add_tree(Key& key, const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code code;
    for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code))
        paths.push_back(entry->path());
    if (code) return pass(io_error(folder, "list", code.value()));
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
        key.add(path.lexically_relative(folder).native());
        const auto status = fs::symlink_status(path, code);
        if (code) return pass(io_error(path, "access", code.value()));
        key.add(fmt::format("{}", static_cast<unsigned>(status.permissions())));
        if (fs::is_symlink(status)) {
            key.add(fs::read_symlink(path, code).native());
        } else if (fs::is_regular_file(status)) {
            GPKG_TRY(const auto sha256, sha256_of_file(path));
            key.add(sha256);
        }
    }
    return {};
}

/// Over all that decides which bytes the file has.
Result<std::string> key_of(const Imaged& imaged,
                           const DeployFileOptions& options,
                           const fs::path& named) {
    Key key;
    key.add("gpkg " GPKG_VERSION);
    key.add(options.is_pack ? kPackEnd : kImageEnd);
    key.add(fmt::format("{} {}", options.of.level.value_or(0), imaged.time));
    key.add(imaged.name);
    key.add(imaged.platform);
    key.add(named.native());
    const auto& environment = imaged.environment;
    for (const auto& request : environment.link) {
        PrefixRecord record;
        record.package = request.record;
        record.requested_specs = request.requested_specs;
        key.add(record.to_json());
    }
    for (const auto& [variable, value] : environment.variables) {
        key.add(variable);
        key.add(value.value_or(""));
    }
    key.add(fmt::format("{}", environment.variables_kept_from));
    key.add(environment.state ? environment.state->to_json() : std::string());
    key.add(to_text(environment.history));
    for (const auto& path : imaged.layout.removed) key.add(path);
    if (!imaged.layout.others.empty()) GPKG_CHECK(add_tree(key, imaged.layout.others));
    return std::move(key).hex();
}

/// What an archive holds, without unpacking it to a disk: its files, rounded up as tar does.
Result<std::uint64_t> unpacked_size(const fs::path& archive) {
    GPKG_TRY(auto file, file_source(archive));
    constexpr UnpackLimit kAnySize{std::uint64_t{1} << 62U, 0};
    const auto read = zstd_source(std::move(file), archive.native(), kAnySize);
    std::uint64_t size = 0;
    std::string piece(std::size_t{1} << 18U, '\0');
    for (;;) {
        GPKG_TRY(const auto count, read(piece.data(), piece.size()));
        if (count == 0) return size;
        size += count;
    }
}

/// Blocks of the file system, and files that lie there twice for being able to move.
constexpr std::uint64_t with_blocks(std::uint64_t size) { return size + size / 5; }

/// Integrity where it is not what was built: nodes are told what they are to find by its bytes.
Result<NodePayload> measured(NodePayload payload, const std::string& name) {
    if (payload.is_pack) {
        std::error_code code;
        payload.size = fs::file_size(payload.file, code);
        if (code) return pass(io_error(payload.file, "access", code.value()));
        GPKG_TRY(payload.sha256, sha256_of_file(payload.file));
        GPKG_TRY(const auto unpacked, unpacked_size(payload.file));
        payload.room = payload.size + with_blocks(unpacked);
    } else {
        GPKG_TRY(const auto info, read_image_info(payload.file));
        GPKG_TRY(const auto digests, check_image(payload.file, info));
        payload.sha256 = digests.sha256;
        payload.size = digests.size;
        payload.room = payload.size;
    }
    payload.name = fmt::format(
        "{}-{}{}", name, payload.sha256.substr(0, 12), payload.is_pack ? "" : kImageEnd);
    return payload;
}

/// "ml" of "ml-0123456789abcdef.sqfs"; what has not such a hash stays but for its end.
std::string name_without(std::string name, std::string_view end) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
    const auto dash = name.rfind('-');
    if (dash != std::string::npos && dash > 0 && is_hex(name.substr(dash + 1), kKeyLength))
        name.resize(dash);
    return name;
}

bool is_zstd(const fs::path& path) {
    const auto file = file_source(path);
    std::string start(kZstdMagic.size(), '\0');
    return file && (*file)(start.data(), start.size()) && start == kZstdMagic;
}

Result<NodePayload> payload_of_file(Context& context, const std::string& path) {
    NodePayload payload;
    payload.file = absolute_path(path, context.home);
    std::error_code code;
    if (!fs::exists(payload.file, code))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no such file", payload.file.native()),
                    "to deploy an environment: gpkg deploy -n NAME");
    const auto name = payload.file.filename().native();
    const auto info = read_image_info(payload.file);
    if (info) return measured(std::move(payload), name_without(name, kImageEnd));
    if (info.error().kind != ErrorKind::Unsupported) return pass(info.error());
    payload.is_pack = true;
    auto pack = measured(payload, name_without(name, kPackEnd));
    if (pack || pack.error().kind == ErrorKind::Interrupted || is_zstd(payload.file)) return pack;
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{}: neither an image nor an archive of an environment", payload.file.native()),
        "create one with gpkg image build or gpkg pack");
}

std::string name_of(const ImagedOptions& options) {
    return options.lock.file.empty() ? options.name : fs::path(options.lock.file).stem().native();
}

/// How much was read and written for it is worth telling.
Result<void> make(Context& context,
                  Imaged& imaged,
                  const DeployFileOptions& options,
                  const fs::path& named) {
    context.out.note(fmt::format("writing {} (once for all jobs)", imaged.output.native()));
    remove_dead_temporaries(imaged.output.parent_path());
    GPKG_CHECK(fetch_imaged(context, imaged));
    if (options.is_pack) return write_packed(context, imaged, options.of.level);
    return write_imaged(context, imaged, named, ImageForm::Squashfs, options.of.level)
        .map([](const ImageInfo&) {});
}

}  // namespace

Result<NodePayload> payload_of(Context& context, const DeployFileOptions& options) {
    const ResultsAside aside(context.out);
    if (!options.file.empty()) return payload_of_file(context, options.file);
    auto of = options.of;
    of.name = name_of(of);
    const auto folder = folder_for_images(context);
    of.output = (folder / "new").native();
    GPKG_TRY(auto imaged, plan_imaged(context, of));
    const auto named = options.is_pack ? fs::path(kPackedPrefix)
                                       : image_mount_point(imaged.environment, imaged.name);
    GPKG_CHECK(add_other_files(context, imaged, named));
    GPKG_TRY(const auto key, key_of(imaged, options, named));
    imaged.output =
        folder / fmt::format("{}-{}{}", imaged.name, key, options.is_pack ? kPackEnd : kImageEnd);
    NodePayload payload;
    payload.file = imaged.output;
    payload.is_pack = options.is_pack;
    std::error_code code;
    if (fs::exists(imaged.output, code)) {
        auto present = measured(payload, imaged.name);
        const bool is_damaged = !present && (present.error().kind == ErrorKind::Integrity ||
                                             present.error().kind == ErrorKind::Unsupported);
        if (!is_damaged) return present;
        context.out.warn(present.error().message);
    }
    GPKG_CHECK(make(context, imaged, options, named));
    return measured(std::move(payload), imaged.name);
}

fs::path folder_for_images(const Context& context) {
    auto folder = context.config.image_cache();
    if (check_writable_folder(folder)) return folder;
    return context.config.users_cache() / "images";
}

bool is_deploy_file(const fs::path& file) {
    const auto name = file.filename().native();
    for (const auto end : {kImageEnd, kPackEnd}) {
        if (name.ends_with(end) &&
            name_without(name, end).size() + 1 + kKeyLength + end.size() == name.size())
            return true;
    }
    return false;
}

}  // namespace gpkg::cli
