#include "cli/workflow/mirror/delta.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr std::string_view kDeltaName = "delta.json";
constexpr int kFormat = 1;

/// The digest of the manifest that the delta is laid over.
Result<std::string> base_of_delta(const fs::path& delta) {
    const auto file = delta / kDeltaName;
    const auto bytes = read_file(file, kLongestWritten);
    if (!bytes && bytes.error().kind == ErrorKind::NotFound)
        return fail(
            ErrorKind::NotFound,
            fmt::format(
                "{}: missing; {} is not a complete mirror delta", file.native(), delta.native()),
            "gpkg mirror --delta MANIFEST --delta-out DIR writes one");
    if (!bytes) return pass(bytes.error());
    const auto document = OrderedJson::parse(*bytes, nullptr, false);
    const auto has = [&](const char* key) {
        return document.is_object() && document.contains(key);
    };
    if (has("format") && document["format"].is_number_integer() && document["format"] != kFormat)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{}: unsupported format {}", file.native(), document["format"].dump()),
            "use a newer gpkg");
    if (!has("format") || !has("base") || !document["base"].is_string())
        return fail(ErrorKind::Parse,
                    fmt::format("{}: 'format' or 'base' is missing", file.native()),
                    "copy the delta again");
    return document["base"].get<std::string>();
}

/// A mirror on its way to what a delta makes of it.
class Applying {
public:
    Applying(Context& context, const fs::path& delta, const fs::path& mirror)
        : context_(context), delta_(delta), mirror_(mirror), stage_(mirror / ".gpkg-delta") {}

    Result<AppliedDelta> run(const std::vector<std::string>& keys);

private:
    Result<void> read_base();
    Result<void> stage();
    Result<void> stage_file(const std::string& path, const MirrorFile& file);
    Result<void> check_is_there(const std::string& path, const MirrorFile& file) const;
    Result<void> place();
    Result<void> replace_manifest();
    Result<void> remove_others();

    Context& context_;
    const fs::path& delta_;
    const fs::path& mirror_;
    fs::path stage_;  ///< hidden: of no mirror
    MirrorManifest base_;
    ReadManifest now_;
    std::vector<std::string> staged_;
    AppliedDelta summary_;
};

/// Of a mirror that is of now already, other signatures may be all that is new.
Result<void> Applying::read_base() {
    GPKG_TRY(const auto digest, base_of_delta(delta_));
    GPKG_TRY(auto base, read_manifest(mirror_ / kMirrorManifest, {}));
    if (base.digest != digest && base.digest != now_.digest)
        return fail(
            ErrorKind::Conflict,
            fmt::format("{}: made for another version of the mirror than {}",
                        delta_.native(),
                        mirror_.native()),
            fmt::format("make a new delta with --delta {}", (mirror_ / kMirrorManifest).native()));
    base_ = std::move(base.manifest);
    return {};
}

/// What is not in the delta has to lie in the mirror; `gpkg mirror verify` reads it as well.
Result<void> Applying::check_is_there(const std::string& path, const MirrorFile& file) const {
    std::error_code code;
    const auto size = fs::file_size(mirror_ / path, code);
    if (!code && size == file.size) return {};
    return fail(ErrorKind::Integrity,
                fmt::format("{}: missing or different from the mirror's manifest",
                            (mirror_ / path).native()),
                fmt::format("to list all differences: gpkg mirror verify {}",
                            shell_word(mirror_.native())));
}

Result<void> Applying::stage_file(const std::string& path, const MirrorFile& file) {
    const auto target = stage_ / path;
    GPKG_CHECK(make_folders(target.parent_path()));
    std::error_code code;
    fs::copy_file(delta_ / path, target, code);
    if (code) return pass(io_error(delta_ / path, "copy", code.value()));
    GPKG_TRY(const auto sha256, sha256_of_file(target));
    if (sha256 != file.sha256)
        return fail(
            ErrorKind::Integrity,
            fmt::format("{}: different from the delta's manifest", (delta_ / path).native()),
            "copy the delta again");
    staged_.push_back(path);
    ++summary_.files;
    summary_.bytes += file.size;
    return {};
}

Result<void> Applying::stage() {
    GPKG_CHECK(remove_tree(stage_));
    for (const auto& [path, file] : now_.manifest.files) {
        GPKG_CHECK(check_stop(context_));
        const auto old = base_.files.find(path);
        if (old != base_.files.end() && old->second == file) {
            GPKG_CHECK(check_is_there(path, file));
        } else {
            GPKG_CHECK(stage_file(path, file));
        }
    }
    return {};
}

/// Packages first, then other files that are new, shards among them, then those that change:
/// what is served meanwhile names nothing that is not there.
Result<void> Applying::place() {
    const auto rank = [&](const std::string& path) {
        if (!package_extension(path).empty()) return 0;
        return base_.files.contains(path) ? 2 : 1;
    };
    std::stable_sort(staged_.begin(), staged_.end(), [&](const auto& a, const auto& b) {
        return rank(a) < rank(b);
    });
    for (const auto& path : staged_) {
        GPKG_CHECK(make_folders((mirror_ / path).parent_path()));
        GPKG_CHECK(rename_path(stage_ / path, mirror_ / path));
    }
    return {};
}

Result<void> Applying::replace_manifest() {
    const auto file = mirror_ / kMirrorManifest;
    GPKG_TRY(const auto before, read_file(file, kLongestWritten));
    GPKG_CHECK(write_file_atomically(mirror_ / kManifestBefore, before));
    GPKG_TRY(const auto now, read_file(delta_ / kMirrorManifest, kLongestWritten));
    return write_file_atomically(file, now);
}

/// What the manifest of before lists and that of now does not. Where a run was cut off, that of
/// before is still there.
Result<void> Applying::remove_others() {
    const auto file = mirror_ / kManifestBefore;
    if (!is_there(file)) return {};
    GPKG_TRY(const auto now, read_manifest(mirror_ / kMirrorManifest, {}));
    GPKG_TRY(const auto before, read_manifest(file, {}));
    std::vector<std::string> gone;
    for (const auto& [path, listed] : before.manifest.files) {
        if (!now.manifest.files.contains(path)) gone.push_back(path);
    }
    GPKG_TRY(const auto removed, remove_from_mirror(mirror_, gone, before.manifest.channels));
    summary_.removed += removed;
    return remove_tree(file);
}

Result<AppliedDelta> Applying::run(const std::vector<std::string>& keys) {
    GPKG_TRY(now_, read_manifest(delta_ / kMirrorManifest, keys));
    // Nothing that is a link may be followed.
    GPKG_CHECK(paths_in_mirror(mirror_));
    GPKG_CHECK(remove_others());
    GPKG_CHECK(read_base());
    auto done = stage();
    if (done) done = place();
    GPKG_CHECK(remove_tree(stage_));
    GPKG_CHECK(done);
    GPKG_CHECK(replace_manifest());
    GPKG_CHECK(remove_others());
    return summary_;
}

}  // namespace

Result<ReadManifest> read_base(const fs::path& file, const fs::path& mirror) {
    const auto before = mirror / kManifestBefore;
    std::error_code code;
    const bool is_own = file.filename() == kMirrorManifest &&
                        fs::equivalent(file.parent_path(), mirror, code) && !code;
    return read_manifest(is_own && !is_there(file) && is_there(before) ? before : file, {});
}

Result<void> check_delta_folder(const fs::path& target, const fs::path& mirror) {
    constexpr const char* kHint = "choose an empty or a new folder";
    std::error_code code;
    const auto real = [&](const fs::path& path) {
        auto resolved = fs::weakly_canonical(path, code);
        return code ? path : resolved;
    };
    const auto inside = real(target).lexically_relative(real(mirror)).native();
    if (inside != ".." && !inside.starts_with("../"))
        return fail(ErrorKind::Usage, fmt::format("{}: inside the mirror", target.native()), kHint);
    if (fs::exists(target, code) && !fs::is_empty(target, code))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: exists and is not empty", target.native()),
                    kHint);
    return {};
}

Result<DeltaSummary> write_delta(Context& context,
                                 const fs::path& mirror,
                                 const ReadManifest& base,
                                 const MirrorManifest& now,
                                 const std::string& manifest,
                                 const fs::path& target) {
    DeltaSummary summary;
    for (const auto& [path, file] : now.files) {
        const auto old = base.manifest.files.find(path);
        if (old != base.manifest.files.end() && old->second == file) continue;
        GPKG_CHECK(check_stop(context));
        const auto copied = target / path;
        GPKG_CHECK(make_folders(copied.parent_path()));
        std::error_code code;
        fs::create_hard_link(mirror / path, copied, code);
        if (code) fs::copy_file(mirror / path, copied, code);
        if (code) return pass(io_error(copied, "write", code.value()));
        ++summary.files;
        summary.bytes += file.size;
    }
    GPKG_CHECK(write_file_atomically(target / kMirrorManifest, manifest));
    // Last: a delta that has it is whole.
    const OrderedJson about{{"format", kFormat}, {"base", base.digest}};
    GPKG_CHECK(write_file_atomically(target / kDeltaName, json_text(about) + "\n"));
    return summary;
}

Result<AppliedDelta> apply_delta(Context& context,
                                 const fs::path& delta,
                                 const fs::path& mirror,
                                 const std::vector<std::string>& keys) {
    if (!is_there(mirror / kMirrorManifest) && !is_there(mirror / kManifestBefore))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: not a mirror: it has no {}", mirror.native(), kMirrorManifest),
                    "copy the whole mirror there first; deltas update it");
    GPKG_TRY(const auto claim, claim_mirror(mirror));
    return Applying(context, delta, mirror).run(keys);
}

}  // namespace gpkg::cli
