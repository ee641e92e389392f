#include "libcore/build/indexer.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/base/text.hpp"
#include "libcore/build/indexed_packages.hpp"
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

    /// When these bytes came under this name. Other bytes under an old name are a new artifact.
    std::int64_t appearance(const std::string& file_name,
                            const std::string& sha256,
                            std::int64_t now_ms) {
        auto& one = appeared.try_emplace(file_name, Appearance{sha256, now_ms}).first->second;
        if (one.sha256.empty()) one.sha256 = sha256;
        if (one.sha256 != sha256) one = {sha256, now_ms};
        return one.at_ms;
    }

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

}  // namespace

class SubdirIndexer {
public:
    SubdirIndexer(fs::path folder, std::string subdir, const IndexerOptions& options)
        : folder_(std::move(folder)),
          options_(options),
          files_(read_indexed_packages(folder_ / kCacheName)),
          earlier_(read_earlier(folder_ / "repodata.json")) {
        summary_.subdir = std::move(subdir);
    }

    Result<bool> look() {
        GPKG_CHECK(make_folders(folder_));
        GPKG_TRY(auto files, list());
        GPKG_CHECK(read_new(files));
        refused_.clear();
        summary_.read = 0;
        bool changed = false;
        IndexedPackages found;
        for (auto& file : files) {
            summary_.read += file.is_new ? 1 : 0;
            if (!file.refusal.empty()) {
                refused_.push_back({folder_ / file.name, file.refusal});
                continue;
            }
            changed = changed || file.is_new;
            found.emplace(std::move(file.name), std::move(file.package));
        }
        changed = changed || found.size() != files_.size();
        files_ = std::move(found);
        return changed;
    }

    const std::vector<FaultyPackage>& refused() const { return refused_; }

    std::vector<FaultyPackage> odd() const {
        std::vector<FaultyPackage> found;
        for (const auto& [name, package] : files_) {
            if (!package.oddity.empty() && !earlier_.removed.contains(name))
                found.push_back({folder_ / name, package.oddity});
        }
        return found;
    }

    std::string repodata() {
        const auto now = options_.timestamp.value_or(now_ms());
        Json packages = Json::object();
        Json conda = Json::object();
        Json v3 = Json::object();
        summary_.packages = 0;
        for (const auto& [name, package] : files_) {
            if (earlier_.removed.contains(name)) continue;
            ++summary_.packages;
            auto record = Json::parse(package.record);
            record["indexed_timestamp"] =
                earlier_.appearance(name, record.at("sha256").get<std::string>(), now);
            const auto extension = std::string(package_extension(name));
            if (package.is_v3) {
                const auto stem = name.substr(0, name.size() - extension.size() - 1);
                v3[extension][stem] = std::move(record);
            } else {
                (extension == "conda" ? conda : packages)[name] = std::move(record);
            }
        }
        Json info{{"subdir", summary_.subdir}};
        if (!v3.empty()) info["repodata_revisions"] = {{"v3", revision_of(v3)}};
        Json repodata{{"info", std::move(info)},
                      {"packages", std::move(packages)},
                      {"packages.conda", std::move(conda)},
                      {"removed", earlier_.removed},
                      {"repodata_version", 1}};
        if (!v3.empty()) repodata["v3"] = std::move(v3);
        return text_of(repodata);
    }

    Result<SubdirSummary> write() {
        const auto text = repodata();
        GPKG_CHECK(write_both("repodata.json", text));
        const auto run_exports = text_beside(0, [](const IndexedPackage& package) {
            return Json{{"run_exports", Json::parse(package.run_exports)}};
        });
        GPKG_CHECK(write_if_changed(folder_ / "run_exports.json", run_exports));
        const auto variants = text_beside(1, [](const IndexedPackage& package) {
            auto used = Json::parse(package.variant);
            return used.empty() ? Json() : used;
        });
        GPKG_CHECK(write_both("variants.json", variants));
        GPKG_CHECK(write_indexed_packages(folder_ / kCacheName, files_));
        return summary_;
    }

private:
    struct File {
        std::string name;
        std::uint64_t size = 0;
        std::int64_t changed_ns = 0;
        bool is_new = false;
        IndexedPackage package;
        std::string refusal;
    };

    Result<std::vector<File>> list() const {
        std::vector<File> found;
        std::error_code code;
        fs::directory_iterator files(folder_, code);
        for (const fs::directory_iterator end; !code && files != end; files.increment(code)) {
            const auto name = files->path().filename().native();
            if (name.starts_with('.') || package_extension(name).empty()) continue;
            struct stat status {};
            if (::stat(files->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
            File file;
            file.name = name;
            file.size = static_cast<std::uint64_t>(status.st_size);
            file.changed_ns =
                std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
            const auto known = files_.find(name);
            file.is_new = known == files_.end() || known->second.size != file.size ||
                          known->second.changed_ns != file.changed_ns;
            if (!file.is_new) file.package = known->second;
            found.push_back(std::move(file));
        }
        if (code)
            return fail(
                ErrorKind::Io,
                fmt::format("{}: cannot list the packages: {}", folder_.native(), code.message()));
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.name < b.name;
        });
        return found;
    }

    bool cancelled() const { return options_.cancelled && options_.cancelled(); }

    Result<void> read_new(std::vector<File>& files) const {
        const auto threads = static_cast<std::size_t>(std::max(1, options_.jobs));
        for_each_index(files.size(), threads, [&](std::size_t i) {
            auto& file = files[i];
            if (!file.is_new || cancelled()) return;
            auto package = read_for_index(folder_ / file.name, summary_.subdir);
            if (!package) {
                file.refusal = package.error().message;
                return;
            }
            file.package = *std::move(package);
            file.package.size = file.size;
            file.package.changed_ns = file.changed_ns;
        });
        if (cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        return {};
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

    /// A file of the shape of repodata.json, without the packages of which there is null to tell.
    std::string text_beside(int version, Json (*entry_of)(const IndexedPackage&)) const {
        Json packages = Json::object();
        Json conda = Json::object();
        for (const auto& [file, package] : files_) {
            if (earlier_.removed.contains(file)) continue;
            auto entry = entry_of(package);
            if (entry.is_null()) continue;
            (package_extension(file) == "conda" ? conda : packages)[file] = std::move(entry);
        }
        return text_of(Json{{"info", {{"subdir", summary_.subdir}, {"version", version}}},
                            {"packages", std::move(packages)},
                            {"packages.conda", std::move(conda)}});
    }

    /// The compressed one first: clients prefer it, and the plain one tells what is current.
    Result<void> write_both(const std::string& name, const std::string& text) const {
        GPKG_CHECK(
            write_if_changed(folder_ / (name + ".zst"), zstd_compress(text, options_.zstd_level)));
        return write_if_changed(folder_ / name, text);
    }

    // An index that stays as it is keeps its time, which HTTP servers tell to clients.
    static Result<void> write_if_changed(const fs::path& file, const std::string& bytes) {
        const auto old = read_file(file);
        if (old && *old == bytes) return {};
        return write_file_atomically(file, bytes);
    }

    fs::path folder_;
    const IndexerOptions& options_;
    IndexedPackages files_;  ///< as of the last look
    Earlier earlier_;
    SubdirSummary summary_;
    std::vector<FaultyPackage> refused_;
};

ChannelIndexer::ChannelIndexer(fs::path channel, IndexerOptions options)
    : channel_(std::move(channel)), options_(std::move(options)) {}

ChannelIndexer::~ChannelIndexer() = default;

Result<bool> ChannelIndexer::look() {
    std::error_code code;
    if (!fs::is_directory(channel_, code))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: there is no such channel folder", channel_.native()));
    std::set<std::string> subdirs{"noarch"};
    for (const auto& entry : fs::directory_iterator(channel_, code)) {
        const auto name = entry.path().filename().native();
        if (entry.is_directory(code) && is_known_subdir(name)) subdirs.insert(name);
    }
    bool changed = false;
    for (const auto& subdir : subdirs) {
        auto& indexer = subdirs_[subdir];
        if (!indexer)
            indexer = std::make_unique<SubdirIndexer>(channel_ / subdir, subdir, options_);
        GPKG_TRY(const bool this_one, indexer->look());
        changed = changed || this_one;
    }
    return changed;
}

std::string ChannelIndexer::repodata(const std::string& subdir) const {
    const auto found = subdirs_.find(subdir);
    return found == subdirs_.end() ? std::string() : found->second->repodata();
}

Result<IndexSummary> ChannelIndexer::write() {
    IndexSummary summary;
    for (const auto& [subdir, indexer] : subdirs_) {
        GPKG_TRY(auto one, indexer->write());
        summary.subdirs.push_back(std::move(one));
        const auto& refused = indexer->refused();
        summary.refused.insert(summary.refused.end(), refused.begin(), refused.end());
        const auto odd = indexer->odd();
        summary.odd.insert(summary.odd.end(), odd.begin(), odd.end());
    }
    return summary;
}

Result<IndexSummary> index_channel(const fs::path& channel, const IndexerOptions& options) {
    ChannelIndexer indexer(channel, options);
    GPKG_TRY([[maybe_unused]] const bool changed, indexer.look());
    return indexer.write();
}

}  // namespace gpkg
