#include "cli/workflow/mirroring.hpp"

#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/mirror_content.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/fs/claim.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/indexing/patch_instructions.hpp"
#include "libcore/indexing/record_patch.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/trust/fault.hpp"
#include "libcore/trust/signed_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

namespace gpkg::cli {
namespace {

constexpr std::string_view kLockName = "gpkg.lock";
constexpr std::string_view kSettingsName = "config.yaml";

/// "conda-forge" for the channel of that name, "conda-forge-2" for another that ends so.
std::string folder_name(const std::string& url, const std::map<std::string, std::string>& taken) {
    auto stem = url.substr(url.rfind('/') + 1);
    std::replace_if(
        stem.begin(),
        stem.end(),
        [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' &&
                   c != '.';
        },
        '-');
    if (stem.empty() || stem.front() == '.') stem = "channel" + stem;
    auto name = stem;
    for (int number = 2; taken.contains(name); ++number) name = fmt::format("{}-{}", stem, number);
    return name;
}

class Mirroring {
public:
    Mirroring(Context& context, const MirrorOptions& options, MirrorContent content)
        : context_(context),
          options_(options),
          content_(std::move(content)),
          manifest_file_(options.folder / kMirrorManifest) {}

    Result<MirrorSummary> run();

private:
    Result<void> prepare();
    Result<void> look_back();
    Result<void> name_channels();
    Result<void> fetch();
    Result<bool> is_there(const PackageRecord& record) const;
    Result<void> remove_others();
    Result<void> index();
    Result<void> write_texts();
    Result<void> write_manifest();
    fs::path place_of(const PackageRecord& record) const {
        return options_.folder / folder_of_.at(record.channel) / record.subdir / record.fn;
    }

    Context& context_;
    const MirrorOptions& options_;
    MirrorContent content_;
    fs::path manifest_file_;
    std::optional<Claim> claim_;    ///< on the folder
    std::set<std::string> strays_;  ///< in the folder, and made by no run before this one
    std::vector<Channel> channels_;
    std::map<std::string, std::string> folder_of_;  ///< by base URL
    MirrorSummary summary_;
};

/// What the manifest of an earlier run says of the folder.
Result<void> Mirroring::look_back() {
    std::error_code code;
    if (!fs::exists(manifest_file_, code)) return {};
    GPKG_TRY(const auto bytes, read_file(manifest_file_, kLongestWritten));
    const auto text = SignedText::parse(bytes, manifest_file_.native());
    if (!text) return {};
    if (text->is_signed() && options_.sign_keys.empty())
        context_.out.warn(fmt::format("{}: was signed, and is not any more: --sign-key signs it",
                                      manifest_file_.native()));
    const auto before = MirrorManifest::parse(text->text(), manifest_file_.native());
    if (!before) return {};
    GPKG_TRY(auto paths, paths_in_mirror(options_.folder));
    for (auto& path : paths) {
        if (!before->files.contains(path)) strays_.insert(std::move(path));
    }
    return {};
}

/// Only a folder of ours may be changed. One without its manifest is one that was interrupted.
Result<void> Mirroring::prepare() {
    std::error_code code;
    const auto mark = options_.folder / ".gpkg-mirror";
    const bool is_ours = fs::exists(mark, code);
    if (!is_ours && fs::exists(options_.folder, code) && !fs::is_empty(options_.folder, code))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: holds something that is no mirror of gpkg's",
                                options_.folder.native()),
                    "name an empty folder, or one that does not exist");
    GPKG_CHECK(make_folders(options_.folder));
    GPKG_CHECK(write_file_atomically(mark, ""));
    const auto turn = options_.folder / ".gpkg-mirror-busy";
    auto attempt = Claim::try_to_take(turn);
    if (attempt.error != 0) return pass(io_error(turn, "make", attempt.error));
    if (!attempt.claim)
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: {} is at work on it",
                                options_.folder.native(),
                                claim_holder(read_file(turn).value_or("another gpkg mirror"))),
                    fmt::format("if it is gone, remove {}", turn.native()));
    claim_ = std::move(attempt.claim);
    GPKG_CHECK(look_back());
    fs::remove(manifest_file_, code);
    if (code) return pass(io_error(manifest_file_.native(), "remove", code.value()));
    return {};
}

Result<void> Mirroring::name_channels() {
    auto urls = content_.channels;
    for (const auto& record : content_.records) urls.push_back(record.channel);
    std::map<std::string, std::string> taken;
    for (const auto& text : urls) {
        GPKG_TRY(auto channel, Channel::parse(text, channel_context(context_)));
        if (folder_of_.contains(channel.base_url())) continue;
        const auto name = folder_name(channel.base_url(), taken);
        taken[name] = channel.base_url();
        folder_of_[channel.base_url()] = name;
        for (const auto& subdir : content_.subdirs)
            GPKG_CHECK(make_folders(options_.folder / name / subdir));
        channels_.push_back(std::move(channel));
    }
    summary_.manifest.channels = std::move(taken);
    return {};
}

Result<bool> Mirroring::is_there(const PackageRecord& record) const {
    const auto file = place_of(record);
    std::error_code code;
    if (!fs::is_regular_file(fs::symlink_status(file, code)) || record.sha256.empty()) return false;
    GPKG_TRY(const auto sha256, sha256_of_file(file));
    return sha256 == record.sha256;
}

Result<void> Mirroring::fetch() {
    std::vector<Download> downloads;
    std::uint64_t total = 0;
    for (const auto& record : content_.records) {
        GPKG_CHECK(check_stop(context_));
        GPKG_TRY(const auto have, is_there(record));
        strays_.erase(place_of(record).lexically_relative(options_.folder).native());
        if (have) continue;
        Download download;
        download.url = url_with_credentials(record, channels_);
        download.destination = place_of(record);
        download.sha256 = record.sha256;
        download.md5 = record.md5;
        download.size = record.size;
        total += record.size;
        downloads.push_back(std::move(download));
    }
    if (options_.asked.sources.offline) {
        const auto is_far = [](const auto& one) { return !one.url.starts_with("file://"); };
        const auto far = std::count_if(downloads.begin(), downloads.end(), is_far);
        if (far != 0)
            return fail(ErrorKind::Network,
                        fmt::format("{} packages are not in the mirror, and --offline forbids to "
                                    "fetch them",
                                    far));
    }
    Progress progress(context_.out);
    std::vector<std::uint64_t> received(downloads.size());
    std::size_t finished = 0;
    DownloadOptions how;
    how.parallel = static_cast<std::size_t>(context_.config.download_threads.value);
    how.stop = context_.stop;
    how.on_wait = WaitWarnings(context_.out, progress);
    const auto show = [&] {
        const auto sum = std::accumulate(received.begin(), received.end(), std::uint64_t{0});
        progress.bytes("fetching", finished, downloads.size(), sum, total);
    };
    how.on_progress = [&](const TransferProgress& step) {
        received[step.item] = step.done;
        show();
    };
    how.on_finished = [&](std::size_t) {
        ++finished;
        show();
    };
    GPKG_TRY(const auto transport, open_transport(context_));
    GPKG_CHECK(download_all(*transport, downloads, how));
    summary_.fetched = downloads.size();
    summary_.fetched_bytes = total;
    return {};
}

/// Packages of an earlier run that are not wanted any more.
Result<void> Mirroring::remove_others() {
    std::set<fs::path> wanted;
    for (const auto& record : content_.records) wanted.insert(place_of(record));
    for (const auto& [url, name] : folder_of_) {
        std::error_code code;
        fs::recursive_directory_iterator item(options_.folder / name, code);
        for (; !code && item != fs::recursive_directory_iterator(); item.increment(code)) {
            const auto& path = item->path();
            const bool is_package =
                path.extension() == ".conda" || path.native().ends_with(".tar.bz2");
            std::error_code ignored;
            if (!is_package || wanted.contains(path) || !fs::remove(path, ignored)) continue;
            ++summary_.removed;
        }
        if (code)
            return fail(
                ErrorKind::Io,
                fmt::format(
                    "{}: cannot be read: {}", (options_.folder / name).native(), code.message()));
    }
    return {};
}

Result<void> Mirroring::index() {
    std::map<fs::path, std::vector<PackageRecord>> by_subdir;
    for (const auto& record : content_.records)
        by_subdir[place_of(record).parent_path()].push_back(record);
    const auto index_json = [&](const PackageRecord& record) -> Result<std::string> {
        GPKG_TRY(auto info, read_package_info(place_of(record)));
        return std::move(info.find("index.json")->second);
    };
    for (const auto& [folder, records] : by_subdir) {
        GPKG_CHECK(check_stop(context_));
        const auto file = folder / kPatchName;
        std::string patch;
        if (content_.records_are_whole) {
            GPKG_TRY(patch, patch_towards(records, index_json));
        }
        std::error_code code;
        fs::remove(file, code);
        if (!patch.empty()) GPKG_CHECK(write_file_atomically(file, patch));
    }
    IndexerOptions how;
    how.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    how.cancelled = [&] { return context_.stop.stop_requested(); };
    for (const auto& [url, name] : folder_of_) {
        GPKG_TRY(const auto indexed, index_channel(options_.folder / name, how));
        for (const auto& [file, reason] : indexed.refused)
            return fail(ErrorKind::Integrity, fmt::format("{}: {}", file.native(), reason));
    }
    return {};
}

Result<void> Mirroring::write_texts() {
    GPKG_CHECK(write_lock(content_.lock, LockFormat::Gpkg, options_.folder / kLockName));
    std::string settings =
        "# Taken from here, in place of their servers; paths begin at this file's folder.\n"
        "mirrored_channels:\n";
    for (const auto& [url, name] : folder_of_)
        settings += fmt::format(
            "  {}: [{}]\n", json_text(nlohmann::json(url)), json_text(nlohmann::json("./" + name)));
    return write_file_atomically(options_.folder / kSettingsName, settings);
}

Result<void> Mirroring::write_manifest() {
    const auto cancelled = [&] { return context_.stop.stop_requested(); };
    GPKG_TRY(summary_.manifest.files, files_of_mirror(options_.folder, cancelled));
    // What nobody here made is nobody's here to vouch for.
    for (const auto& path : strays_) {
        if (summary_.manifest.files.erase(path) > 0)
            context_.out.warn(
                fmt::format("{}: is not of the mirror, and its manifest leaves it out",
                            (options_.folder / path).native()));
    }
    SignedText text(summary_.manifest.to_text());
    for (const auto& key : options_.sign_keys) text.sign(*key);
    return write_file_atomically(manifest_file_, text.to_json());
}

Result<MirrorSummary> Mirroring::run() {
    GPKG_CHECK(prepare());
    GPKG_CHECK(name_channels());
    GPKG_CHECK(fetch());
    GPKG_CHECK(remove_others());
    GPKG_CHECK(index());
    GPKG_CHECK(write_texts());
    GPKG_CHECK(write_manifest());
    summary_.packages = content_.records.size();
    for (const auto& record : content_.records) {
        std::error_code code;
        summary_.bytes += fs::file_size(place_of(record), code);
    }
    return std::move(summary_);
}

}  // namespace

Result<MirrorSummary> make_mirror(Context& context, const MirrorOptions& options) {
    GPKG_TRY(auto content, mirror_content(context, options));
    GPKG_CHECK(check_allowed(context, content.records));
    return Mirroring(context, options, std::move(content)).run();
}

Result<MirrorManifest> read_manifest(const fs::path& file, const std::vector<std::string>& keys) {
    GPKG_TRY(const auto bytes, read_file(file, kLongestWritten));
    GPKG_TRY(const auto text, SignedText::parse(bytes, file.native()));
    if (!keys.empty()) {
        const auto verified = text.verify({keys, 1}, file.native());
        if (!verified && text.is_signed() && trust_fault(verified.error()) == TrustFault::WrongKey)
            return distrust(
                TrustFault::WrongKey,
                fmt::format("{}: is signed by none of the keys that --key names", file.native()));
        GPKG_CHECK(verified);
    }
    return MirrorManifest::parse(text.text(), file.native());
}

Result<void> check_delta_folder(const fs::path& target, const fs::path& mirror) {
    constexpr const char* kHint = "name an empty folder, or one that does not exist";
    const auto inside = target.lexically_relative(mirror).native();
    if (!inside.starts_with("..") && !inside.empty())
        return fail(
            ErrorKind::Usage, fmt::format("{}: is in the mirror itself", target.native()), kHint);
    std::error_code code;
    if (fs::exists(target, code) && !fs::is_empty(target, code))
        return fail(
            ErrorKind::Conflict, fmt::format("{}: is there and not empty", target.native()), kHint);
    return {};
}

Result<DeltaSummary> write_delta(Context& context,
                                 const fs::path& mirror,
                                 const MirrorManifest& before,
                                 const MirrorManifest& now,
                                 const fs::path& target) {
    std::error_code code;
    DeltaSummary summary;
    const auto copy = [&](const std::string& path) -> Result<void> {
        GPKG_CHECK(check_stop(context));
        const auto file = target / path;
        GPKG_CHECK(make_folders(file.parent_path()));
        fs::create_hard_link(mirror / path, file, code);
        if (code) fs::copy_file(mirror / path, file, code);
        if (code) return pass(io_error(file.native(), "write", code.value()));
        ++summary.files;
        summary.bytes += fs::file_size(file, code);
        return {};
    };
    for (const auto& [path, file] : now.files) {
        const auto old = before.files.find(path);
        if (old == before.files.end() || old->second != file) GPKG_CHECK(copy(path));
    }
    GPKG_CHECK(copy(std::string(kMirrorManifest)));
    return summary;
}

}  // namespace gpkg::cli
