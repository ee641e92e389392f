#include "libcore/indexing/shard_writer.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <xxhash.h>

namespace gpkg {
namespace {

using Json = nlohmann::json;

// Raised when the same records are to give another shard, or the lint looks for something else.
constexpr int kFormat = 1;
constexpr std::string_view kExtension = ".msgpack.zst";
constexpr std::size_t kHexSize = 64;

Json raw_digest(const std::string& hex) {
    std::string raw(hex.size() / 2, '\0');
    if (!from_hex(hex, raw)) return hex;
    return Json::binary({raw.begin(), raw.end()});
}

std::string packed(const Json& json, int level) {
    std::string bytes;
    Json::to_msgpack(json, nlohmann::detail::output_adapter<char>(bytes));
    return zstd_compress(bytes, level);
}

class InputDigest {
public:
    InputDigest() : state_(XXH3_createState(), &XXH3_freeState) {
        XXH3_128bits_reset(state_.get());
    }
    void add(std::string_view text) {
        const auto size = text.size();
        XXH3_128bits_update(state_.get(), &size, sizeof(size));
        XXH3_128bits_update(state_.get(), text.data(), size);
    }
    std::string hex() const {
        const auto sum = XXH3_128bits_digest(state_.get());
        return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
    }

private:
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

std::string_view name_of(std::string_view file) {
    const auto build = file.rfind('-');
    return build == std::string_view::npos ? "" : file.substr(0, file.rfind('-', build - 1));
}

}  // namespace

NameGroups group_by_name(const PublishedSubdir& subdir) {
    NameGroups groups;
    auto last = groups.end();
    for (const auto& one : subdir.packages()) {
        if (one.is_removed) continue;
        // Files of one name mostly follow each other.
        if (last == groups.end() || last->first != one.name)
            last = groups.try_emplace(one.name).first;
        last->second.packages.push_back(&one);
    }
    for (const auto& file : subdir.removed()) {
        if (const auto group = groups.find(name_of(file)); group != groups.end())
            group->second.removed.push_back(file);
    }
    return groups;
}

std::string digest_of_inputs(const NameGroup& group, int zstd_level) {
    InputDigest digest;
    digest.add(fmt::format("{} {}", kFormat, zstd_level));
    for (const auto* one : group.packages) {
        digest.add(one->file);
        digest.add(one->record);
        digest.add(one->package->variant);
    }
    for (const auto file : group.removed) digest.add(file);
    return digest.hex();
}

std::string pack_shard(const NameGroup& group, int zstd_level) {
    Json shard{{"packages", Json::object()},
               {"packages.conda", Json::object()},
               {"removed", group.removed}};
    for (const auto* one : group.packages) {
        auto record = Json::parse(one->record);
        for (const auto* key : {"md5", "sha256"}) {
            const auto found = record.find(key);
            if (found != record.end() && found->is_string())
                *found = raw_digest(found->get<std::string>());
        }
        const auto extension = std::string(package_extension(one->file));
        const auto file = std::string(one->file);
        if (one->package->is_v3) {
            shard["v3"][extension][file.substr(0, file.size() - extension.size() - 1)] =
                std::move(record);
        } else {
            shard[extension == "conda" ? "packages.conda" : "packages"][file] = std::move(record);
        }
    }
    return packed(shard, zstd_level);
}

fs::path ShardFolder::below(const fs::path& folder) { return folder / "shards"; }

ShardFolder::ShardFolder(const fs::path& folder) : folder_(below(folder)) {
    std::error_code code;
    fs::directory_iterator files(folder_, code);
    for (const fs::directory_iterator end; !code && files != end; files.increment(code)) {
        auto name = files->path().filename().native();
        if (!name.ends_with(kExtension)) continue;
        name.resize(name.size() - kExtension.size());
        if (is_hex(name, kHexSize)) found_.insert(std::move(name));
    }
}

fs::path ShardFolder::place_of(const std::string& sha256) const {
    return folder_ / fmt::format("{}{}", sha256, kExtension);
}

Result<void> ShardFolder::write(const std::string& sha256,
                                std::string_view bytes,
                                bool to_disk) const {
    GPKG_TRY(auto file, NewFile::make(place_of(sha256)));
    GPKG_CHECK(file.write(bytes));
    return file.finish(to_disk);
}

Result<void> ShardFolder::sync() const {
    const Descriptor opened(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return pass(io_error(folder_, "open", errno));
    if (::syncfs(opened.get()) != 0) return pass(io_error(folder_, "write", errno));
    return {};
}

std::size_t ShardFolder::remove_unused(const std::map<std::string, IndexedName>& names,
                                       std::map<std::string, std::int64_t>& unused,
                                       std::int64_t now_ms,
                                       std::chrono::milliseconds grace) const {
    std::set<std::string_view> used;
    for (const auto& [name, one] : names) used.insert(one.shard);
    std::size_t removed = 0;
    std::map<std::string, std::int64_t> still;
    for (const auto& sha256 : found_) {
        if (used.contains(sha256)) continue;
        const auto known = unused.find(sha256);
        const auto since = known == unused.end() ? now_ms : known->second;
        std::error_code ignored;
        if (now_ms - since >= grace.count() && fs::remove(place_of(sha256), ignored)) {
            ++removed;
        } else {
            still.emplace(sha256, since);
        }
    }
    unused = std::move(still);
    return removed;
}

std::string pack_shard_index(const PublishedSubdir& subdir,
                             const std::map<std::string, IndexedName>& names,
                             int zstd_level) {
    Json info{{"subdir", subdir.subdir()}, {"base_url", "./"}, {"shards_base_url", "./shards/"}};
    if (const auto revisions = subdir.revisions(); !revisions.empty())
        info["repodata_revisions"] = Json::parse(revisions);
    Json shards = Json::object();
    for (const auto& [name, one] : names) shards[name] = raw_digest(one.shard);
    return packed({{"version", 1}, {"info", std::move(info)}, {"shards", std::move(shards)}},
                  zstd_level);
}

}  // namespace gpkg
