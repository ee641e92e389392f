#include "cli/workflow/ask/built_with.hpp"

#include "cli/workflow/fetch.hpp"
#include "cli/workflow/progress.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/channel/published_variants.hpp"
#include "libcore/net/parts.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/info_member.hpp"
#include "libcore/package/unpack.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

constexpr std::string_view kFile = "hash_input.json";
/// Of a server that sends no parts of files, a package of this size is taken whole.
constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 20U;

Result<VariantInputs> read_text(const std::optional<std::string>& text, std::string_view what) {
    if (!text) return VariantInputs();
    return parse_hash_input(*text, fmt::format("{}: {}", what, kFile));
}

Error wrong_size(const PackageRecord& record, std::uint64_t found) {
    return {
        ErrorKind::Integrity,
        fmt::format("{}: {} bytes, but the channel index says {}", record.url, found, record.size),
        "",
        {}};
}

/// What packages said of themselves, each a file named for the package's checksum.
class InputsCache {
public:
    explicit InputsCache(fs::path folder) : folder_(std::move(folder)) {}

    std::optional<VariantInputs> find(const PackageRecord& record) const {
        if (record.sha256.empty()) return std::nullopt;
        const auto text = read_file(file_of(record));
        auto inputs =
            text ? parse_hash_input(*text, "") : Result<VariantInputs>(pass(text.error()));
        return inputs ? std::optional(*std::move(inputs)) : std::nullopt;
    }

    /// One that cannot be written costs time, not the answer.
    void keep(const PackageRecord& record, const VariantInputs& inputs) const {
        if (!record.sha256.empty())
            (void)write_file_atomically(file_of(record), json_text(nlohmann::json(inputs)) + "\n");
    }

private:
    fs::path file_of(const PackageRecord& record) const {
        return folder_ / (record.sha256 + ".json");
    }
    fs::path folder_;
};

/// Asks the packages of which nothing is known yet.
class Asking {
public:
    Asking(Context& context,
           Transport& transport,
           const std::vector<Channel>& channels,
           std::span<const PackageRecord> records,
           bool offline,
           std::vector<std::optional<VariantInputs>>& inputs)
        : context_(context),
          transport_(transport),
          channels_(channels),
          records_(records),
          offline_(offline),
          inputs_(inputs),
          cache_(context.config.index_cache() / "inputs") {}

    Result<void> run() {
        settle_here();
        std::vector<std::size_t> far;
        std::size_t old_format = 0;
        std::size_t not_here = 0;
        for (std::size_t i = 0; i < records_.size(); ++i) {
            if (inputs_[i]) continue;
            const auto& record = records_[i];
            if (!record.fn.ends_with(".conda")) {
                ++old_format;
            } else if (record.url.starts_with("file:")) {
                settle(i, from_file(record));
            } else if (offline_ && needs_network(transport_.mirrors(), record.url)) {
                ++not_here;
            } else {
                far.push_back(i);
            }
        }
        GPKG_CHECK(fetch(far));
        report(old_format, ".tar.bz2 packages cannot be read in part");
        report(not_here, "they are not on this machine, and gpkg is offline");
        if (!failures_.empty()) {
            context_.out.warn(failures_.front());
            report(failures_.size() - 1, "they could not be read either");
        }
        return {};
    }

private:
    void settle_here() {
        // Without conda's caches: their folders are verified when they are found, file by file.
        const PackageStore store({context_.config.package_store(), {}, {}});
        for (std::size_t i = 0; i < records_.size(); ++i) {
            if (inputs_[i] || (inputs_[i] = cache_.find(records_[i]))) continue;
            if (const auto folder = store.find(records_[i])) {
                auto text = read_info_text(*folder, kFile);
                auto read = text ? read_text(*text, folder->native())
                                 : Result<VariantInputs>(pass(std::move(text).error()));
                if (read) inputs_[i] = *std::move(read);
            }
        }
    }

    static Result<VariantInputs> from_file(const PackageRecord& record) {
        GPKG_TRY(const auto path, path_of_file_url(record.url));
        std::error_code code;
        const auto size = fs::file_size(path, code);
        if (!code && record.size != 0 && size != record.size) return pass(wrong_size(record, size));
        GPKG_TRY(const auto info, read_package_info(path));
        const auto found = info.find(kFile);
        return read_text(found == info.end() ? std::nullopt : std::optional(found->second),
                         path.native());
    }

    /// In two steps: the end of each archive, then the info- members that it does not hold.
    Result<void> fetch(const std::vector<std::size_t>& far) {
        if (far.empty()) return {};
        std::vector<PartRequest> tails;
        for (const auto i : far) {
            PartRequest request;
            request.url = url_with_credentials(records_[i], channels_);
            request.count = kArchiveTail;
            request.most_whole = kMostWhole;
            // Not every server knows of last bytes.
            const auto size = records_[i].size;
            request.at_end = size == 0;
            if (size > kArchiveTail) request.from = size - kArchiveTail;
            tails.push_back(std::move(request));
        }
        auto parts = get(tails);
        std::vector<std::size_t> left;
        std::vector<InfoMember> members;
        std::vector<PartRequest> requests;
        for (std::size_t k = 0; k < far.size(); ++k) {
            GPKG_CHECK(check_stop(context_));
            const auto i = far[k];
            auto member = member_in(records_[i], parts[k]);
            if (!member) {
                settle(i, pass(std::move(member).error()));
            } else if (parts[k]->from <= member->from) {
                const auto at = static_cast<std::size_t>(member->from - parts[k]->from);
                settle(i, read(records_[i], *member, std::string_view(parts[k]->bytes).substr(at)));
            } else {
                left.push_back(i);
                requests.push_back({tails[k].url, member->from, member->count, false, 0});
                members.push_back(*std::move(member));
            }
        }
        parts = get(requests);
        for (std::size_t k = 0; k < left.size(); ++k) {
            GPKG_CHECK(check_stop(context_));
            const auto& record = records_[left[k]];
            settle(left[k],
                   parts[k] ? read(record, members[k], parts[k]->bytes)
                            : Result<VariantInputs>(pass(std::move(parts[k]).error())));
        }
        return {};
    }

    std::vector<Result<FilePart>> get(std::span<const PartRequest> requests) {
        if (requests.empty()) return {};
        Progress progress(context_.out);
        std::vector<std::uint64_t> received(requests.size());
        TransferOptions options;
        options.parallel = static_cast<std::size_t>(context_.config.download_threads.value);
        options.offline = offline_;
        options.stop = context_.stop;
        options.on_wait = WaitWarnings(context_.out, progress);
        options.on_progress = [&](const TransferProgress& step) {
            received[step.item] = 1;
            const auto done = std::count(received.begin(), received.end(), 1);
            progress.count("reading", static_cast<std::size_t>(done), requests.size(), "packages");
        };
        return get_parts(transport_, requests, options);
    }

    static Result<InfoMember> member_in(const PackageRecord& record, const Result<FilePart>& end) {
        if (!end) return pass(end.error());
        if (record.size != 0 && end->whole != record.size)
            return pass(wrong_size(record, end->whole));
        return find_info_member(end->bytes, end->whole, record.url);
    }

    static Result<VariantInputs> read(const PackageRecord& record,
                                      const InfoMember& member,
                                      std::string_view bytes) {
        const auto own = bytes.substr(0, static_cast<std::size_t>(member.count));
        GPKG_TRY(const auto text, read_info_file(member, own, kFile, record.url));
        return read_text(text, record.url);
    }

    void settle(std::size_t i, Result<VariantInputs> found) {
        if (found) {
            if (!records_[i].url.starts_with("file:")) cache_.keep(records_[i], *found);
            inputs_[i] = *std::move(found);
        } else {
            failures_.push_back(found.error().message);
        }
    }

    void report(std::size_t count, std::string_view why) {
        if (count > 0)
            context_.out.warn(fmt::format(
                "variant inputs of {} build{} are unknown: {}", count, count == 1 ? "" : "s", why));
    }

    Context& context_;
    Transport& transport_;
    const std::vector<Channel>& channels_;
    std::span<const PackageRecord> records_;
    bool offline_;
    std::vector<std::optional<VariantInputs>>& inputs_;
    InputsCache cache_;
    std::vector<std::string> failures_;
};

/// The files in which the records' channels may tell, each once.
std::vector<VariantsWanted> wanted_of(const std::vector<Channel>& channels,
                                      std::span<const PackageRecord> records) {
    std::vector<VariantsWanted> wanted;
    for (const auto& record : records) {
        const auto channel = std::find_if(channels.begin(), channels.end(), [&](const auto& one) {
            return one.base_url() == record.channel;
        });
        if (channel == channels.end()) continue;
        auto place = std::find_if(wanted.begin(), wanted.end(), [&](const auto& one) {
            return one.channel == *channel && one.subdir == record.subdir;
        });
        if (place == wanted.end()) place = wanted.insert(place, {*channel, record.subdir, {}});
        place->files.push_back(record.fn);
    }
    return wanted;
}

}  // namespace

Result<std::vector<std::optional<VariantInputs>>> built_with(Context& context,
                                                             const std::vector<Channel>& channels,
                                                             std::span<const PackageRecord> records,
                                                             const BuiltWithOptions& options) {
    const auto wanted = wanted_of(channels, records);
    IndexOptions how;
    how.cache = context.config.index_cache();
    how.transfer.offline = options.offline;
    how.transfer.stop = context.stop;
    GPKG_TRY(const auto transport, open_transport(context));
    GPKG_TRY(const auto published, fetch_variants(*transport, wanted, how));
    for (const auto& file : published) {
        for (const auto& warning : file.warnings) context.out.warn(warning);
    }
    std::vector<std::optional<VariantInputs>> inputs(records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            if (wanted[k].channel.base_url() != records[i].channel ||
                wanted[k].subdir != records[i].subdir)
                continue;
            const auto found = published[k].inputs.find(records[i].fn);
            if (found != published[k].inputs.end()) inputs[i] = found->second;
        }
    }
    if (options.ask_packages)
        GPKG_CHECK(Asking(context, *transport, channels, records, options.offline, inputs).run());
    return inputs;
}

}  // namespace gpkg::cli
