#include "libcore/build/indexer.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/index_cache.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>

namespace gpkg {
namespace {

using Json = nlohmann::json;

constexpr const char* kCacheName = ".gpkg-index.json";

std::string text_of(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::int64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// What an earlier index says that cannot be found out again.
struct Earlier {
    struct Appearance {
        std::string sha256;
        std::int64_t at_ms = 0;
    };
    std::map<std::string, Appearance> appeared;
    std::set<std::string> removed;

    void add(const std::string& file_name, const Json& record) {
        if (!record.is_object()) return;
        const auto at = record.find("indexed_timestamp");
        const auto sum = record.find("sha256");
        if (at == record.end() || !at->is_number_integer()) return;
        appeared[file_name] = {
            sum != record.end() && sum->is_string() ? sum->get<std::string>() : "",
            at->get<std::int64_t>()};
    }
};

Earlier read_earlier(const fs::path& file) {
    Earlier earlier;
    const auto text = read_file(file);
    const auto json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object()) return earlier;
    for (const auto* key : {"packages", "packages.conda"}) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_object()) continue;
        for (const auto& [name, record] : found->items()) earlier.add(name, record);
    }
    if (const auto v3 = json.find("v3"); v3 != json.end() && v3->is_object()) {
        for (const auto& [extension, records] : v3->items()) {
            if (!records.is_object()) continue;
            for (const auto& [stem, record] : records.items())
                earlier.add(fmt::format("{}.{}", stem, extension), record);
        }
    }
    const auto removed = json.find("removed");
    if (removed == json.end() || !removed->is_array()) return earlier;
    for (const auto& name : *removed) {
        if (name.is_string()) earlier.removed.insert(name.get<std::string>());
    }
    return earlier;
}

class SubdirIndexer {
public:
    SubdirIndexer(fs::path folder, std::string subdir, const IndexerOptions& options)
        : folder_(std::move(folder)), subdir_(std::move(subdir)), options_(options) {}

    Result<SubdirSummary> run(std::vector<RefusedPackage>& refused) {
        GPKG_CHECK(make_folders(folder_));
        cache_ = read_index_cache(folder_ / kCacheName);
        GPKG_CHECK(list());
        GPKG_CHECK(read_new());
        earlier_ = read_earlier(folder_ / "repodata.json");
        GPKG_CHECK(write());
        for (auto& work : works_) {
            if (!work.refusal.empty()) refused.push_back({folder_ / work.name, work.refusal});
        }
        SubdirSummary summary;
        summary.subdir = subdir_;
        summary.packages = written_;
        summary.read = static_cast<std::size_t>(
            std::count_if(works_.begin(), works_.end(), [](const auto& w) { return w.is_new; }));
        return summary;
    }

private:
    struct Work {
        std::string name;
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
        bool is_new = false;
        IndexedPackage package;
        std::string refusal;
    };

    Result<void> list() {
        std::error_code code;
        fs::directory_iterator files(folder_, code);
        for (const fs::directory_iterator end; !code && files != end; files.increment(code)) {
            const auto name = files->path().filename().native();
            if (name.starts_with('.') || package_extension(name).empty()) continue;
            struct stat status {};
            if (::stat(files->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
            Work work;
            work.name = name;
            work.size = static_cast<std::uint64_t>(status.st_size);
            work.changed_ns =
                std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
            const auto known = cache_.find(name);
            work.is_new = known == cache_.end() || known->second.size != work.size ||
                          known->second.changed_ns != work.changed_ns;
            if (!work.is_new) work.package = known->second;
            works_.push_back(std::move(work));
        }
        if (code)
            return fail(
                ErrorKind::Io,
                fmt::format("{}: cannot list the packages: {}", folder_.native(), code.message()));
        std::sort(works_.begin(), works_.end(), [](const auto& a, const auto& b) {
            return a.name < b.name;
        });
        return {};
    }

    bool cancelled() const { return options_.cancelled && options_.cancelled(); }

    Result<void> read_new() {
        const auto threads = static_cast<std::size_t>(std::max(1, options_.jobs));
        for_each_index(works_.size(), threads, [this](std::size_t i) {
            auto& one = works_[i];
            if (!one.is_new || cancelled()) return;
            auto package = read_for_index(folder_ / one.name, subdir_);
            if (!package) {
                one.refusal = package.error().message;
                return;
            }
            one.package = *std::move(package);
            one.package.size = one.size;
            one.package.changed_ns = one.changed_ns;
        });
        if (cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        return {};
    }

    Json dated(const std::string& name, Json record) const {
        const auto before = earlier_.appeared.find(name);
        // Other bytes under an old name are a new artifact.
        const bool same = before != earlier_.appeared.end() &&
                          (before->second.sha256.empty() ||
                           before->second.sha256 == record.at("sha256").get<std::string>());
        record["indexed_timestamp"] = same ? before->second.at_ms : now_;
        return record;
    }

    Result<void> write() {
        now_ = options_.timestamp.value_or(now_ms());
        Json conda = Json::object();
        Json bz2 = Json::object();
        Json v3 = Json::object();
        Json exports[2] = {Json::object(), Json::object()};
        Json variants[2] = {Json::object(), Json::object()};
        IndexCache cache;
        for (const auto& work : works_) {
            if (!work.refusal.empty()) continue;
            cache.emplace(work.name, work.package);
            if (earlier_.removed.contains(work.name)) continue;
            ++written_;
            const auto extension = std::string(package_extension(work.name));
            const bool is_conda = extension == "conda";
            auto record = dated(work.name, Json::parse(work.package.record));
            if (work.package.is_v3) {
                const auto stem = work.name.substr(0, work.name.size() - extension.size() - 1);
                v3[extension][stem] = std::move(record);
            } else {
                (is_conda ? conda : bz2)[work.name] = std::move(record);
            }
            exports[is_conda ? 1 : 0][work.name] = {
                {"run_exports", Json::parse(work.package.run_exports)}};
            variants[is_conda ? 1 : 0][work.name] = Json::parse(work.package.variant);
        }
        GPKG_CHECK(write_repodata(std::move(bz2), std::move(conda), std::move(v3)));
        GPKG_CHECK(publish("run_exports.json",
                           Json{{"info", {{"subdir", subdir_}, {"version", 0}}},
                                {"packages", exports[0]},
                                {"packages.conda", exports[1]}}));
        GPKG_CHECK(publish("variants.json",
                           Json{{"info", {{"subdir", subdir_}, {"version", 1}}},
                                {"packages", variants[0]},
                                {"packages.conda", variants[1]}}));
        return write_index_cache(folder_ / kCacheName, cache);
    }

    Result<void> write_repodata(Json bz2, Json conda, Json v3) {
        Json info{{"subdir", subdir_}};
        if (!v3.empty()) info["repodata_revisions"] = {{"v3", revision_of(v3)}};
        Json repodata{{"info", std::move(info)},
                      {"packages", std::move(bz2)},
                      {"packages.conda", std::move(conda)},
                      {"removed", earlier_.removed},
                      {"repodata_version", 1}};
        if (!v3.empty()) repodata["v3"] = std::move(v3);
        const auto text = text_of(repodata);
        // The compressed one first: clients prefer it, and the plain one tells what is current.
        GPKG_CHECK(write_if_changed(folder_ / "repodata.json.zst",
                                    zstd_compress(text, options_.zstd_level)));
        return write_if_changed(folder_ / "repodata.json", text);
    }

    static Json revision_of(const Json& v3) {
        std::size_t count = 0;
        std::int64_t oldest = 0;
        std::int64_t newest = 0;
        for (const auto& [extension, records] : v3.items()) {
            for (const auto& [stem, record] : records.items()) {
                const auto at = record.at("indexed_timestamp").get<std::int64_t>();
                oldest = count == 0 ? at : std::min(oldest, at);
                newest = std::max(newest, at);
                ++count;
            }
        }
        return {{"n_packages", count}, {"oldest", oldest}, {"newest", newest}};
    }

    Result<void> publish(const char* name, const Json& json) {
        return write_if_changed(folder_ / name, text_of(json));
    }

    // An index that stays as it is keeps its time, which HTTP servers tell to clients.
    static Result<void> write_if_changed(const fs::path& file, const std::string& bytes) {
        const auto old = read_file(file);
        if (old && *old == bytes) return {};
        return write_file_atomically(file, bytes);
    }

    fs::path folder_;
    std::string subdir_;
    const IndexerOptions& options_;
    std::int64_t now_ = 0;
    IndexCache cache_;
    std::vector<Work> works_;
    Earlier earlier_;
    std::size_t written_ = 0;
};

}  // namespace

Result<IndexSummary> index_channel(const fs::path& channel, const IndexerOptions& options) {
    std::error_code code;
    if (!fs::is_directory(channel, code))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: there is no such channel folder", channel.native()));
    std::set<std::string> subdirs{"noarch"};
    for (const auto& entry : fs::directory_iterator(channel, code)) {
        const auto name = entry.path().filename().native();
        if (entry.is_directory(code) && is_known_subdir(name)) subdirs.insert(name);
    }
    IndexSummary summary;
    for (const auto& subdir : subdirs) {
        SubdirIndexer indexer(channel / subdir, subdir, options);
        GPKG_TRY(auto one, indexer.run(summary.refused));
        summary.subdirs.push_back(std::move(one));
    }
    return summary;
}

}  // namespace gpkg
