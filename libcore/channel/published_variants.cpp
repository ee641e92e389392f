#include "libcore/channel/published_variants.hpp"

#include "libcore/base/text.hpp"
#include "libcore/channel/index_cache_internal.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/outcome.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <simdjson.h>

namespace gpkg {
namespace {

constexpr std::string_view kVariantsZst = "variants.json.zst";
constexpr std::string_view kVariantsJson = "variants.json";
constexpr std::int64_t kVersion = 1;
/// How long a server that had none is believed to have none.
constexpr std::int64_t kNoVariantsFor = std::int64_t{24} * 3600;
/// Several times what one of the largest channels would have.
constexpr std::uint64_t kMostPacked = std::uint64_t{64} << 20U;
constexpr std::size_t kMostText = std::size_t{512} << 20U;

namespace json = simdjson::ondemand;

/// Numbers and words as they are written.
simdjson::error_code read_text(json::value value, std::string& text) {
    json::json_type type{};
    if (const auto code = value.type().get(type)) return code;
    if (type == json::json_type::object || type == json::json_type::array)
        return simdjson::INCORRECT_TYPE;
    std::string_view found;
    if (type != json::json_type::string) {
        text = trim(value.raw_json_token());
        return simdjson::SUCCESS;
    }
    if (const auto code = value.get_string().get(found)) return code;
    text = found;
    return simdjson::SUCCESS;
}

/// Fails when it is not what variants.json may hold.
simdjson::error_code read_inputs(json::value value, VariantInputs& inputs) {
    json::object object;
    if (const auto code = value.get_object().get(object)) return code;
    for (auto each : object) {
        json::field field;
        std::string_view key;
        if (const auto code = std::move(each).get(field)) return code;
        if (const auto code = field.unescaped_key().get(key)) return code;
        auto& text = inputs[std::string(key)];
        if (const auto code = read_text(field.value(), text)) return code;
    }
    return simdjson::SUCCESS;
}

/// Of the packages of one object those in `files`; what one of them holds beside texts leaves it
/// out.
simdjson::error_code read_packages(json::object packages,
                                   std::span<const std::string> files,
                                   PublishedVariants& found) {
    for (auto each : packages) {
        json::field field;
        std::string_view file;
        if (const auto code = std::move(each).get(field)) return code;
        if (const auto code = field.unescaped_key().get(file)) return code;
        if (std::find(files.begin(), files.end(), file) == files.end()) continue;
        const std::string name(file);
        VariantInputs inputs;
        const auto code = read_inputs(field.value(), inputs);
        if (code == simdjson::SUCCESS) found.inputs.insert_or_assign(name, std::move(inputs));
        if (code != simdjson::SUCCESS && code != simdjson::INCORRECT_TYPE) return code;
    }
    return simdjson::SUCCESS;
}

/// Whether it may be such a file, and not a page that says in other words that there is none.
bool looks_right(const fs::path& file) {
    std::array<char, 4> start{};
    std::ifstream in(file, std::ios::binary);
    in.read(start.data(), start.size());
    const auto text = std::string_view(start.data(), static_cast<std::size_t>(in.gcount()));
    return text == kZstdMagic || trim(text).starts_with('{');
}

/// The file of one subdir: where it is, what of it is cached, what to ask.
class OneFile {
public:
    OneFile(const VariantsWanted& wanted,
            const IndexOptions& options,
            bool only_cached,
            std::int64_t now)
        : wanted_(wanted),
          cache_(options.cache, url_of(kVariantsJson)),
          only_cached_(only_cached),
          now_(now) {}

    /// True: there is nothing to ask.
    bool settle_here() {
        if (wanted_.channel.is_local()) {
            for (const auto name : {kVariantsJson, kVariantsZst}) {
                const auto file = wanted_.channel.folder() / wanted_.subdir / name;
                std::error_code ignored;
                if (!fs::is_regular_file(file, ignored)) continue;
                read(file, file.native());
                return true;
            }
            return true;
        }
        if (auto state = cache_.load()) state_ = *std::move(state);
        const auto age = now_ - state_.checked_at;
        const auto holds = state_.missing ? kNoVariantsFor : state_.max_age.value_or(0);
        const bool is_fresh = is_cached() && age >= 0 && age < holds;
        if (only_cached_ || is_fresh) {
            use_cached();
            return true;
        }
        return false;
    }

    GetRequest request() {
        const bool was_json = state_.url == url_of(kVariantsJson) && !state_.missing;
        GetRequest request;
        request.url =
            wanted_.channel.with_credentials(url_of(was_json ? kVariantsJson : kVariantsZst));
        request.is_optional = true;
        request.fallback_url =
            wanted_.channel.with_credentials(url_of(was_json ? kVariantsZst : kVariantsJson));
        incoming_ = cache_.incoming();
        request.into = incoming_;
        request.most_bytes = kMostPacked;
        std::error_code ignored;
        if (is_cached() && !state_.missing && fs::exists(cache_.path_of(state_), ignored)) {
            request.etag = state_.etag;
            request.last_modified = state_.last_modified;
        }
        return request;
    }

    void accept(const Result<Response>& response) {
        if (response && !response->not_modified) return store(*response);
        if (!response && says_absent(response.error())) return note_absence();
        if (response) {
            state_.checked_at = now_;
            if (response->max_age) state_.max_age = response->max_age->count();
            save();
        } else {
            result_.warnings.push_back(response.error().message);
        }
        use_cached();
    }

    PublishedVariants take() && { return std::move(result_); }

private:
    std::string url_of(std::string_view file) const {
        return fmt::format("{}/{}", wanted_.channel.subdir_url(wanted_.subdir), file);
    }

    bool is_cached() const { return !state_.url.empty(); }

    void use_cached() {
        if (!is_cached() || state_.missing) return;
        // What cannot be read is asked for anew the next time, and not whether it has changed.
        if (!read(cache_.path_of(state_), state_.url)) (void)cache_.forget();
    }

    void note_absence() {
        state_ = {};
        state_.url = url_of(kVariantsJson);
        state_.missing = true;
        state_.checked_at = now_;
        save();
    }

    void store(const Response& response) {
        if (!looks_right(incoming_)) {
            std::error_code ignored;
            fs::remove(incoming_, ignored);
            return note_absence();
        }
        CachedState state;
        state.url = without_secrets(response.asked);
        state.etag = response.etag;
        state.last_modified = response.last_modified;
        if (response.max_age) state.max_age = response.max_age->count();
        state.checked_at = now_;
        const auto extension = state.url.ends_with(".zst") ? ".variants.zst" : ".variants";
        if (auto adopted = cache_.adopt(incoming_, response.sha256, extension, state); !adopted) {
            result_.warnings.push_back(std::move(adopted).error().message);
            return;
        }
        state_ = std::move(state);
        save();
        use_cached();
    }

    /// A cache that cannot be written costs time, not the answer.
    void save() { (void)cache_.save(state_); }

    bool read(const fs::path& file, const std::string& what) {
        auto bytes = read_file(file);
        auto found = bytes ? read_variants(*bytes, wanted_.files, what)
                           : Result<PublishedVariants>(pass(std::move(bytes).error()));
        if (!found) {
            result_.warnings.push_back(std::move(found).error().message);
            return false;
        }
        result_.inputs = std::move(found->inputs);
        return true;
    }

    const VariantsWanted& wanted_;
    IndexCache cache_;
    bool only_cached_;
    std::int64_t now_;
    CachedState state_;  ///< its URL is empty where nothing is known
    fs::path incoming_;
    PublishedVariants result_;
};

std::vector<PublishedVariants> taken(std::vector<OneFile>& all) {
    std::vector<PublishedVariants> found;
    found.reserve(all.size());
    for (auto& one : all) found.push_back(std::move(one).take());
    return found;
}

}  // namespace

Result<PublishedVariants> read_variants(const std::string& bytes,
                                        std::span<const std::string> files,
                                        const std::string& what) {
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorKind::Integrity, fmt::format("{}: {}", what, why));
    };
    std::string text;
    if (bytes.starts_with(kZstdMagic)) {
        GPKG_TRY(text, zstd_decompress(bytes, what, kMostText));
    } else {
        text = bytes;
    }
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    json::parser parser;
    json::document document;
    json::object root;
    std::int64_t version = 0;
    if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
        document.get_object().get(root) != simdjson::SUCCESS)
        return refuse("not a JSON object");
    if (root["info"]["version"].get_int64().get(version) != simdjson::SUCCESS)
        return refuse("has no info.version");
    if (version != kVersion)
        return fail(
            ErrorKind::Unsupported,
            fmt::format(
                "{}: unsupported version {} (this gpkg supports {})", what, version, kVersion));
    PublishedVariants found;
    for (const auto* key : {"packages", "packages.conda"}) {
        json::object packages;
        auto code = root[key].get_object().get(packages);
        if (code == simdjson::NO_SUCH_FIELD) continue;
        if (code == simdjson::SUCCESS) code = read_packages(packages, files, found);
        if (code != simdjson::SUCCESS)
            return refuse(fmt::format("'{}': {}", key, simdjson::error_message(code)));
    }
    return found;
}

Result<std::vector<PublishedVariants>> fetch_variants(Transport& transport,
                                                      std::span<const VariantsWanted> wanted,
                                                      const IndexOptions& options) {
    const auto now = options.now ? options.now() : std::int64_t{std::time(nullptr)};
    std::vector<OneFile> all;
    all.reserve(wanted.size());
    for (const auto& one : wanted) {
        const auto url = one.channel.subdir_url(one.subdir);
        const bool only_cached =
            options.transfer.offline && needs_network(transport.mirrors(), url);
        all.emplace_back(one, options, only_cached, now);
    }
    std::vector<OneFile*> asking;
    std::vector<GetRequest> requests;
    for (auto& one : all) {
        if (one.settle_here()) continue;
        asking.push_back(&one);
        requests.push_back(one.request());
    }
    // Without a question the transport is not woken: that alone takes a while.
    if (requests.empty()) return taken(all);
    const auto responses = get_all(transport, requests, options.transfer);
    for (std::size_t i = 0; i < asking.size(); ++i) {
        if (!responses[i] && responses[i].error().kind == ErrorKind::Interrupted)
            return pass(responses[i].error());
        asking[i]->accept(responses[i]);
    }
    return taken(all);
}

}  // namespace gpkg
