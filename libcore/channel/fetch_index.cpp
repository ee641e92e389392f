#include "libcore/channel/fetch_index.hpp"

#include "libcore/base/text.hpp"
#include "libcore/channel/mirror_manifest.hpp"
#include "libcore/channel/one_index_internal.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/trust/signed_text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

/// "did you mean conda-forge?" for "-c conda-forg"; empty for other names.
std::string hint_at_known_channel(const Channel& channel) {
    constexpr std::string_view kKnown[] = {"anaconda",
                                           "bioconda",
                                           "conda-forge",
                                           "defaults",
                                           "intel",
                                           "nvidia",
                                           "pytorch",
                                           "rapidsai"};
    constexpr std::size_t kSlips = 2;
    std::vector<std::string> near;
    for (const auto known : kKnown) {
        const auto slips = edit_distance(channel.name(), known, kSlips);
        if (slips == 0) return {};
        if (slips <= kSlips) near.emplace_back(known);
    }
    return did_you_mean(near);
}

/// `error` about a channel, which it names, with those hints where they fit.
Error with_channel_hint(Error error, const Channel& channel) {
    if (error.kind == ErrorKind::Interrupted) return error;
    error.unread_channel = channel.base_url();
    if (const auto hint = hint_at_known_channel(channel); !hint.empty())
        error.hint = error.hint.empty() ? hint : fmt::format("{} Or: {}", hint, error.hint);
    if (const auto hint = hint_at_folder(channel, "-c"); !hint.empty())
        error.hint += (error.hint.empty() ? "" : "; ") + hint;
    return error;
}

/// For the folder of a mirror, whose channels are folders in it; empty for any other folder.
std::string hint_on_mirror(const fs::path& folder) {
    const auto bytes = read_file(folder / kMirrorManifest, kLongestWritten);
    const auto text =
        bytes ? SignedText::parse(*bytes, "") : Result<SignedText>(pass(bytes.error()));
    const auto manifest =
        text ? MirrorManifest::parse(text->text(), "") : Result<MirrorManifest>(pass(text.error()));
    if (!manifest || manifest->channels.empty()) return {};
    std::vector<std::string> names;
    names.reserve(manifest->channels.size());
    for (const auto& [name, url] : manifest->channels) names.push_back((folder / name).native());
    return fmt::format("it is a mirror; {} {}; to use all of it: GPKG_SYSTEM_CONFIG={}",
                       names.size() == 1 ? "its channel is" : "its channels are",
                       join_some(names, "and"),
                       (folder / "config.yaml").native());
}

bool has_index(const fs::path& folder) {
    std::error_code ignored;
    return std::ranges::any_of(known_subdirs(), [&](std::string_view subdir) {
        return fs::exists(folder / subdir / "repodata.json", ignored) ||
               fs::exists(folder / subdir / "repodata.json.zst", ignored);
    });
}

bool has_package_files(const fs::path& folder) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (!package_extension(entry.path().native()).empty()) return true;
    }
    return false;
}

/// For a folder without an index: the channel in it, or how to make it one; empty for others.
std::string hint_on_folder(const fs::path& folder) {
    auto hint = hint_on_mirror(folder);
    if (!hint.empty()) return hint;
    constexpr std::size_t kMostProposed = 3;
    std::vector<std::string> channels;
    bool has_packages = has_package_files(folder);
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (!entry.is_directory(code)) continue;
        if (has_index(entry.path())) channels.push_back(entry.path().native());
        has_packages = has_packages || (is_known_subdir(entry.path().filename().native()) &&
                                        has_package_files(entry.path()));
    }
    std::sort(channels.begin(), channels.end());
    channels.resize(std::min(channels.size(), kMostProposed));
    if (has_packages) return "to make it a channel: gpkg index " + folder.native();
    return channels.empty() ? "" : fmt::format("did you mean {}?", join_or(channels));
}

/// Why a local channel has no index at all.
Error no_local_channel(const Channel& channel, const std::vector<std::string>& asked) {
    const auto folder = channel.folder();
    std::error_code ignored;
    if (!fs::exists(folder, ignored)) {
        Error error{ErrorKind::NoChannel, folder.native() + ": no such folder", "", {}};
        error.missing_path = folder.native();
        return error;
    }
    if (!fs::is_directory(folder, ignored)) {
        const bool is_package = !package_extension(folder.native()).empty();
        return {ErrorKind::NoChannel,
                folder.native() + ": a file, not a channel folder",
                is_package ? fmt::format("gpkg install {} installs a package file", folder.native())
                           : "",
                {}};
    }
    return {ErrorKind::NoChannel,
            fmt::format("{}: not a channel: no {} found", channel.base_url(), join_or(asked)),
            hint_on_folder(folder),
            {}};
}

/// The rules about what a channel must have.
Result<void> judge_channel(std::span<FetchedIndex> of_channel) {
    const auto& channel = of_channel.front().channel;
    const auto has = [](const FetchedIndex& index) { return !index.missing; };
    const bool has_any = std::any_of(of_channel.begin(), of_channel.end(), has);
    for (auto& index : of_channel) {
        // Some servers send a page for what they lack, but a login page must not hide the packages
        // of the platform.
        const bool is_page = index.refusal && index.refusal->kind == ErrorKind::Integrity;
        if (index.refusal && (!has_any || (is_page && index.subdir != "noarch")))
            return pass(with_channel_hint(*std::move(index.refusal), channel));
    }
    if (has_any) {
        for (auto& index : of_channel) {
            if (index.refusal)
                index.warnings.push_back(index.refusal->message + "; assumed to be missing");
            else if (index.missing && index.subdir == "noarch")
                index.warnings.push_back(
                    fmt::format("{}: the channel has no noarch/repodata.json", channel.base_url()));
        }
        return {};
    }
    std::vector<std::string> asked;
    for (const auto& index : of_channel) asked.push_back(index.subdir + "/repodata.json");
    if (channel.is_local()) return pass(no_local_channel(channel, asked));
    Error error{ErrorKind::NoChannel,
                fmt::format("{}: not a channel: no {} found", channel.base_url(), join_or(asked)),
                "check the channel's name",
                {}};
    if (of_channel.front().from_cache) {
        // Nobody was asked, or nobody answered.
        const auto& warnings = of_channel.front().warnings;
        error.message = fmt::format("{}{}: the channel had no {} when last checked",
                                    warnings.empty() ? "" : warnings.front() + "\n",
                                    channel.base_url(),
                                    join_or(asked));
        error.hint += ", or try again later";
    }
    return pass(with_channel_hint(std::move(error), channel));
}

using TrustedChannels = std::vector<std::unique_ptr<TrustedChannel>>;

/// In the order of the channels; null for those of which nobody says that they are signed.
TrustedChannels trusted_of(std::span<const Channel> channels,
                           const IndexOptions& options,
                           std::int64_t now) {
    TrustedChannels trusted;
    trusted.reserve(channels.size());
    for (const auto& channel : channels)
        trusted.push_back(TrustedChannel::of(channel, options.trust, now));
    return trusted;
}

/// Of signed channels the statement comes first. Takes from `asking` what that settles.
Result<void> ask_for_statements(Transport& transport,
                                std::span<const Channel> channels,
                                const TrustedChannels& trusted,
                                const IndexOptions& options,
                                std::vector<OneIndex>& all,
                                std::vector<std::size_t>& asking) {
    auto transfer = options.transfer;
    transfer.on_progress = nullptr;
    const auto subdirs = all.size() / trusted.size();
    for (std::size_t channel = 0; channel < trusted.size(); ++channel) {
        const auto is_of_it = [&](std::size_t i) { return i / subdirs == channel; };
        if (!trusted[channel] || std::none_of(asking.begin(), asking.end(), is_of_it)) continue;
        auto told = trusted[channel]->fetch(transport, transfer);
        std::vector<std::size_t> left;
        for (const auto i : asking) {
            bool settled = false;
            if (is_of_it(i) && told) {
                GPKG_TRY(settled, all[i].heed(*told));
            } else if (is_of_it(i)) {
                if (auto done = all[i].go_without(told.error()); !done)
                    return pass(with_channel_hint(std::move(done).error(), channels[channel]));
                settled = true;
            }
            if (!settled) left.push_back(i);
        }
        asking = std::move(left);
    }
    return {};
}

Result<std::vector<FetchedIndex>> fetch_once(Transport& transport,
                                             std::span<const Channel> channels,
                                             std::span<const std::string> subdirs,
                                             const IndexOptions& options) {
    const auto now = options.now ? options.now() : std::int64_t{std::time(nullptr)};
    std::vector<OneIndex> all;
    all.reserve(channels.size() * subdirs.size());
    const auto trusted = trusted_of(channels, options, now);
    const auto is_only_cached = [&](const std::string& url) {
        return options.only_cached ||
               (options.transfer.offline && needs_network(transport.mirrors(), url));
    };
    for (std::size_t i = 0; i < channels.size(); ++i) {
        for (const auto& subdir : subdirs) {
            const bool only_cached = is_only_cached(channels[i].subdir_url(subdir));
            all.emplace_back(
                transport, channels[i], subdir, options, only_cached, now, trusted[i].get());
        }
    }

    // A missing folder needs no answer of a server.
    for (const auto& channel : channels) {
        std::error_code ignored;
        if (channel.is_local() && !fs::exists(channel.folder(), ignored))
            return pass(no_local_channel(channel, {}));
    }
    std::vector<std::size_t> asking;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto settled = all[i].settle_here();
        if (!settled)
            return pass(
                with_channel_hint(std::move(settled).error(), channels[i / subdirs.size()]));
        if (!*settled) asking.push_back(i);
    }
    GPKG_CHECK(ask_for_statements(transport, channels, trusted, options, all, asking));
    while (!asking.empty()) {
        std::vector<GetRequest> requests;
        requests.reserve(asking.size());
        for (const auto i : asking) requests.push_back(all[i].request());
        auto transfer = options.transfer;
        if (transfer.on_progress) {
            transfer.on_progress = [&](TransferProgress progress) {
                progress.item = asking[progress.item];
                options.transfer.on_progress(progress);
            };
        }
        auto responses = get_all(transport, requests, transfer);
        // All answers are kept before the first failure is told: the next try needs fewer.
        std::optional<Error> failure;
        std::vector<std::size_t> again;
        for (std::size_t i = 0; i < asking.size(); ++i) {
            const auto& channel = channels[asking[i] / subdirs.size()];
            auto done = all[asking[i]].accept(std::move(responses[i]));
            if (!done && !failure)
                failure = with_channel_hint(std::move(done).error(), channel);
            else if (done && !*done)
                again.push_back(asking[i]);
        }
        if (failure) return pass(*std::move(failure));
        asking = std::move(again);
    }

    std::vector<FetchedIndex> indexes;
    indexes.reserve(all.size());
    for (auto& one : all) indexes.push_back(std::move(one).take());
    for (std::size_t i = 0; i < indexes.size(); i += subdirs.size())
        GPKG_CHECK(judge_channel(std::span(indexes).subspan(i, subdirs.size())));
    for (std::size_t i = 0; i < channels.size(); ++i) {
        if (trusted[i] && !trusted[i]->warning().empty())
            indexes[i * subdirs.size()].warnings.push_back(trusted[i]->warning());
    }
    return indexes;
}

}  // namespace

std::string hint_at_folder(const Channel& channel, std::string_view usage) {
    std::error_code ignored;
    if (channel.is_local() || has_scheme(channel.name()) ||
        !fs::is_directory(channel.name(), ignored))
        return {};
    return fmt::format("for the folder {0}, use {1} ./{0}", channel.name(), usage);
}

Result<std::vector<FetchedIndex>> fetch_indexes(Transport& transport,
                                                std::span<const Channel> channels,
                                                std::span<const std::string> subdirs,
                                                const IndexOptions& options) {
    auto fetched = fetch_once(transport, channels, subdirs, options);
    // Who came while the channel was being written may have an older statement than index. The
    // statement that fits is there before the index is (indexing/publication.hpp).
    if (fetched || trust_fault(fetched.error()) != TrustFault::Tampered) return fetched;
    return fetch_once(transport, channels, subdirs, options);
}

Result<bool> forget_index(const fs::path& cache, const FetchedIndex& index) {
    const IndexCache place(cache,
                           index.sharded ? shards_url(index.channel, index.subdir)
                                         : index.channel.subdir_url(index.subdir));
    std::error_code ignored;
    const bool goes_back = index.before && fs::exists(place.path_of(*index.before), ignored);
    GPKG_CHECK(goes_back ? place.save(*index.before) : place.forget());
    return goes_back;
}

}  // namespace gpkg
