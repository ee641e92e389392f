#include "cli/workflow/mirror/mirroring.hpp"

#include "cli/workflow/channel_rules.hpp"
#include "cli/workflow/fetch.hpp"
#include "cli/workflow/mirror/content.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/indexing/indexer.hpp"
#include "libcore/indexing/patch_instructions.hpp"
#include "libcore/indexing/record_patch.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/net/download.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"
#include "libcore/package/unpack.hpp"
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
constexpr std::string_view kManifestBegun = ".manifest.begun";

/// "conda-forge" for the channel of that name, "conda-forge-2" for another that ends so, or that is
/// called as a file of the mirror's own.
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
    const auto is_taken = [&](const std::string& name) {
        return taken.contains(name) || name == kLockName || name == kSettingsName ||
               name == kMirrorManifest;
    };
    auto name = stem;
    for (int number = 2; is_taken(name); ++number) name = fmt::format("{}-{}", stem, number);
    return name;
}

class Mirroring {
public:
    Mirroring(Context& context,
              const MirrorOptions& options,
              MirrorContent content,
              std::optional<ReadManifest> delta_base)
        : context_(context),
          options_(options),
          content_(std::move(content)),
          delta_base_(std::move(delta_base)) {}

    Result<MirrorSummary> run();

private:
    Result<void> prepare();
    Result<void> look_back();
    Result<void> name_channels();
    Result<void> warn_of_signatures();
    Result<void> begin();
    Result<void> fetch();
    Result<bool> is_there(const PackageRecord& record) const;
    Result<void> write_patches();
    Result<void> index();
    Result<void> write_texts();
    Result<void> write_manifest();
    Result<void> remove_others();
    bool is_of_index(const fs::path& file) const;
    bool is_left_over(const std::string& path) const;

    fs::path place_of(const PackageRecord& record) const {
        return options_.folder / folder_of_.at(record.channel) / record.subdir / record.fn;
    }
    std::string in_mirror(const fs::path& file) const {
        return file.lexically_relative(options_.folder).native();
    }

    Context& context_;
    const MirrorOptions& options_;
    MirrorContent content_;
    std::optional<ReadManifest> delta_base_;
    std::optional<Claim> claim_;                ///< on the folder
    std::map<std::string, std::string> names_;  ///< channels' URLs by folder, all that were given
    std::set<std::string> known_;               ///< paths of what earlier runs made
    std::set<std::string> ours_;                ///< paths of what this one has put or found there
    std::map<std::string, std::string> folder_of_;  ///< by base URL
    std::set<fs::path> subdirs_;                    ///< of channels that are asked for
    MirrorSummary summary_;
};

/// What earlier runs made of the folder, were it that they did not end.
Result<void> Mirroring::look_back() {
    // Nothing that is a link may be followed.
    GPKG_CHECK(paths_in_mirror(options_.folder));
    bool was_signed = false;
    for (const auto name : {kMirrorManifest, kManifestBefore, kManifestBegun}) {
        const auto file = options_.folder / name;
        if (!gpkg::is_there(file)) continue;
        const auto read = read_manifest(file, {});
        if (!read)
            return fail(
                read.error().kind,
                read.error().message,
                fmt::format(
                    "if it is damaged, remove {}; then check the names of the channel folders",
                    file.native()));
        was_signed = was_signed || read->is_signed;
        names_.insert(read->manifest.channels.begin(), read->manifest.channels.end());
        for (const auto& [path, listed] : read->manifest.files) known_.insert(path);
    }
    if (was_signed && options_.sign_keys.empty())
        context_.out.warn(
            fmt::format("{}: was signed before but not by this run; sign it with --sign-key",
                        (options_.folder / kMirrorManifest).native()));
    return {};
}

/// Only a folder of ours may be changed.
Result<void> Mirroring::prepare() {
    std::error_code code;
    const auto mark = options_.folder / ".gpkg-mirror";
    remove_dead_temporaries_of(mark);
    const bool is_ours = fs::exists(mark, code);
    if (!is_ours && fs::exists(options_.folder, code) && !fs::is_empty(options_.folder, code))
        return fail(ErrorKind::Conflict,
                    fmt::format("{}: not empty and not a gpkg mirror", options_.folder.native()),
                    "choose an empty or a new folder");
    GPKG_CHECK(make_folders(options_.folder));
    GPKG_CHECK(write_file_atomically(mark, ""));
    GPKG_TRY(claim_, claim_mirror(options_.folder));
    return look_back();
}

/// A folder that was given to a channel stays that channel's: sites have it in their settings.
Result<void> Mirroring::name_channels() {
    auto urls = content_.channels;
    for (const auto& record : content_.records) urls.push_back(record.channel);
    auto subdirs = content_.subdirs;
    subdirs.insert("noarch");
    for (const auto& text : urls) {
        GPKG_TRY(const auto channel, Channel::parse(text, channel_context(context_)));
        const auto& url = channel.base_url();
        if (folder_of_.contains(url)) continue;
        const auto given = std::find_if(
            names_.begin(), names_.end(), [&](const auto& one) { return one.second == url; });
        const auto name = given != names_.end() ? given->first : folder_name(url, names_);
        names_[name] = url;
        folder_of_[url] = name;
        summary_.channels[name] = url;
        for (const auto& subdir : subdirs) subdirs_.insert(options_.folder / name / subdir);
    }
    for (const auto& record : content_.records) subdirs_.insert(place_of(record).parent_path());
    return {};
}

/// A mirror has fewer packages than its channel, so that the channel's signature is not of its
/// indexes.
Result<void> Mirroring::warn_of_signatures() {
    GPKG_TRY(const auto trust, trust_options(context_));
    for (const auto& [url, folder] : folder_of_) {
        const auto trusted = trust.names.find(url);
        if (trusted == trust.names.end()) continue;
        context_.out.warn(fmt::format(
            "{}: the channel is signed, the indexes of its mirror are not; machines with "
            "trusted_keys for it refuse the mirror. Use it without trusted_keys.{}, and check it "
            "with gpkg mirror verify --key{}",
            url,
            trusted->second,
            options_.sign_keys.empty() ? " (make the mirror with --sign-key)" : ""));
    }
    return {};
}

/// Says what this run may leave if it does not end, then takes the manifest of before out of force.
Result<void> Mirroring::begin() {
    for (const auto& record : content_.records) ours_.insert(in_mirror(place_of(record)));
    MirrorManifest begun;
    begun.channels = names_;
    const MirrorFile not_known{0, std::string(64, '0')};
    for (const auto* paths : {&known_, &ours_}) {
        for (const auto& path : *paths) begun.files[path] = not_known;
    }
    for (const auto& subdir : subdirs_) begun.files[in_mirror(subdir / kPatchName)] = not_known;
    for (const auto name : {kLockName, kSettingsName}) begun.files[std::string(name)] = not_known;
    GPKG_CHECK(write_file_atomically(options_.folder / kManifestBegun,
                                     SignedText(begun.to_text()).to_json()));
    for (const auto& subdir : subdirs_) GPKG_CHECK(make_folders(subdir));
    const auto manifest = options_.folder / kMirrorManifest;
    if (!gpkg::is_there(manifest)) return {};
    return rename_path(manifest, options_.folder / kManifestBefore);
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
        if (have) continue;
        Download download;
        download.url = url_with_credentials(record, content_.named);
        download.destination = place_of(record);
        download.sha256 = record.sha256;
        download.md5 = record.md5;
        download.size = record.size;
        total += record.size;
        downloads.push_back(std::move(download));
    }
    GPKG_TRY(const auto transport, open_transport(context_));
    if (options_.asked.sources.offline) {
        const auto is_far = [&](const auto& one) {
            return needs_network(transport->mirrors(), one.url);
        };
        const auto far = std::count_if(downloads.begin(), downloads.end(), is_far);
        if (far != 0)
            return fail(
                ErrorKind::Network,
                fmt::format("{} {} not in the mirror and cannot be downloaded with --offline",
                            count_text(static_cast<std::size_t>(far), "package"),
                            far == 1 ? "is" : "are"));
    }
    Progress progress(context_.out);
    std::vector<std::uint64_t> received(downloads.size());
    std::size_t finished = 0;
    DownloadOptions how;
    how.parallel = static_cast<std::size_t>(context_.config.download_threads.value);
    how.offline = options_.asked.sources.offline;
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
    GPKG_CHECK(download_all(*transport, downloads, how));
    summary_.fetched = downloads.size();
    summary_.fetched_bytes = total;
    return {};
}

/// By which the indexes say of packages what their channels say.
Result<void> Mirroring::write_patches() {
    std::map<fs::path, std::vector<PackageRecord>> by_subdir;
    for (const auto& subdir : subdirs_) by_subdir[subdir];
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
        if (patch.empty()) continue;
        GPKG_CHECK(write_file_atomically(file, patch));
        ours_.insert(in_mirror(file));
    }
    return {};
}

/// Whether that file of an index is of a channel and a subdir that are asked for.
bool Mirroring::is_of_index(const fs::path& file) const {
    const auto folder = file.parent_path();
    if (subdirs_.contains(folder) || subdirs_.contains(folder.parent_path())) return true;
    return folder.parent_path() == options_.folder &&
           summary_.channels.contains(folder.filename().native());
}

Result<void> Mirroring::index() {
    IndexerOptions how;
    how.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    how.cancelled = [&] { return context_.stop.stop_requested(); };
    how.belongs = [&](const fs::path& file) { return ours_.contains(in_mirror(file)); };
    // What an older index names goes as well.
    how.unused_shards_for = {};
    for (const auto& [name, url] : names_) {
        // One that is not asked for any more as well: what goes is in no index.
        std::error_code code;
        if (!fs::is_directory(options_.folder / name, code)) continue;
        GPKG_TRY(const auto indexed, index_channel(options_.folder / name, how));
        for (const auto& [file, reason] : indexed.refused)
            return fail(ErrorKind::Integrity, fmt::format("{}: {}", file.native(), reason));
        for (const auto& file : indexed.files)
            (is_of_index(file) ? ours_ : known_).insert(in_mirror(file));
    }
    return {};
}

Result<void> Mirroring::write_texts() {
    GPKG_CHECK(write_lock(content_.lock, LockFormat::Gpkg, options_.folder / kLockName));
    std::string settings =
        "# The channels of the request, and folders to use instead of their servers. Paths are "
        "relative to this file.\nmirrored_channels:\n";
    for (const auto& [url, name] : folder_of_)
        settings += fmt::format(
            "  {}: [{}]\n", json_text(nlohmann::json(url)), json_text(nlohmann::json("./" + name)));
    if (!content_.channels.empty()) settings += "channels:\n";
    for (const auto& text : content_.channels) {
        GPKG_TRY(const auto channel, Channel::parse(text, channel_context(context_)));
        settings += fmt::format("  - {}\n", json_text(nlohmann::json(channel.base_url())));
    }
    ours_.insert({std::string(kLockName), std::string(kSettingsName)});
    return write_file_atomically(options_.folder / kSettingsName, settings);
}

/// Of what this run made or found right, and nothing else. The delta comes before it: where that
/// fails, the manifest that it begins at is still there.
Result<void> Mirroring::write_manifest() {
    const auto cancelled = [&] { return context_.stop.stop_requested(); };
    MirrorManifest manifest;
    manifest.channels = names_;
    const std::vector<std::string> paths(ours_.begin(), ours_.end());
    GPKG_TRY(manifest.files, files_of_mirror(options_.folder, paths, cancelled));
    SignedText text(manifest.to_text());
    for (const auto& key : options_.sign_keys) text.sign(*key);
    const auto json = text.to_json();
    if (delta_base_) {
        GPKG_TRY(
            summary_.delta,
            write_delta(
                context_, options_.folder, *delta_base_, manifest, json, options_.delta_folder));
    }
    return write_file_atomically(options_.folder / kMirrorManifest, json);
}

/// Whether an earlier run made it, or was cut off while it did.
bool Mirroring::is_left_over(const std::string& path) const {
    const std::string begun(name_of_unfinished(path));
    return known_.contains(path) || known_.contains(begun) || ours_.contains(begun);
}

/// Once nothing names it any more. What nobody here made is nobody's here to remove.
Result<void> Mirroring::remove_others() {
    GPKG_TRY(const auto paths, paths_in_mirror(options_.folder));
    std::vector<std::string> gone;
    for (const auto& path : paths) {
        if (ours_.contains(path)) continue;
        if (is_left_over(path)) {
            gone.push_back(path);
        } else {
            context_.out.warn(fmt::format("{}: not part of the mirror; left out of its manifest",
                                          (options_.folder / path).native()));
        }
    }
    GPKG_TRY(summary_.removed, remove_from_mirror(options_.folder, gone, names_));
    GPKG_CHECK(remove_tree(options_.folder / kManifestBegun));
    return remove_tree(options_.folder / kManifestBefore);
}

Result<MirrorSummary> Mirroring::run() {
    GPKG_CHECK(prepare());
    GPKG_CHECK(name_channels());
    GPKG_CHECK(warn_of_signatures());
    GPKG_CHECK(begin());
    GPKG_CHECK(fetch());
    GPKG_CHECK(write_patches());
    GPKG_CHECK(index());
    GPKG_CHECK(write_texts());
    GPKG_CHECK(write_manifest());
    GPKG_CHECK(remove_others());
    summary_.packages = content_.records.size();
    for (const auto& record : content_.records) {
        std::error_code code;
        summary_.bytes += fs::file_size(place_of(record), code);
    }
    return std::move(summary_);
}

}  // namespace

Result<MirrorSummary> make_mirror(Context& context, const MirrorOptions& options) {
    std::optional<ReadManifest> base;
    if (!options.delta_base.empty()) {
        GPKG_TRY(base, read_base(options.delta_base, options.folder));
        GPKG_CHECK(check_delta_folder(options.delta_folder, options.folder));
    }
    GPKG_TRY(auto content, mirror_content(context, options));
    GPKG_CHECK(check_allowed(context, content.records));
    return Mirroring(context, options, std::move(content), std::move(base)).run();
}

}  // namespace gpkg::cli
