#include "libcore/indexing/subdir_indexer.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/indexing/index_file.hpp"
#include "libcore/indexing/shard_writer.hpp"
#include "libcore/indexing/variant_lint.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace gpkg {
namespace {

constexpr const char* kRepodata = "repodata.json";
/// As conda-index calls it; there only while a patch is in force.
constexpr const char* kUnpatched = "repodata_from_packages.json";
constexpr int kShardLevel = 9;
/// Each of so few new shards is forced to the disk; of more, the file system once.
constexpr std::size_t kFewShards = 32;

fs::path dates_in(const fs::path& folder) {
    auto unpatched = folder / kUnpatched;
    std::error_code ignored;
    return fs::exists(unpatched, ignored) ? unpatched : folder / kRepodata;
}

/// CEP 47 wants those told. Clocks of machines that work together differ by less than that.
bool is_from_the_future(const IndexedPackage& package) {
    constexpr std::int64_t kTolerance = 60'000;
    return package.built_ms > package.indexed_ms + kTolerance;
}

}  // namespace

/// A package file in the folder.
struct ListedFile {
    std::string name;
    fs::path folder;
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;
    const IndexedPackage* known = nullptr;  ///< under its name, maybe of other bytes
    bool is_new = false;                    ///< to be read
    std::unique_ptr<IndexedPackage> package;
    std::string refusal;
};

namespace {

bool comes_before(const ListedFile& a, const ListedFile& b) { return a.name < b.name; }

/// The package files that belong to the channel, by name; none where there is no such folder.
Result<std::vector<ListedFile>> list(const fs::path& folder, const IndexerOptions& options) {
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), &::closedir);
    if (!opened && errno == ENOENT) return std::vector<ListedFile>();
    if (!opened) return pass(io_error(folder, "list the packages", errno));
    std::vector<ListedFile> found;
    errno = 0;
    while (const auto* entry = ::readdir(opened.get())) {
        const std::string_view name = entry->d_name;
        if (name.starts_with('.') || package_extension(name).empty()) continue;
        if (!options.belongs || options.belongs(folder / name)) found.emplace_back().name = name;
    }
    if (errno != 0) return pass(io_error(folder, "list the packages", errno));
    const int fd = ::dirfd(opened.get());
    constexpr std::size_t kAtOnce = 256;
    const auto parts = (found.size() + kAtOnce - 1) / kAtOnce;
    for_each_index(parts, threads_of(options), [&](std::size_t part) {
        const auto end = std::min(found.size(), (part + 1) * kAtOnce);
        for (auto i = part * kAtOnce; i < end; ++i) {
            struct stat status {};
            auto& file = found[i];
            if (::fstatat(fd, file.name.c_str(), &status, 0) != 0 || !S_ISREG(status.st_mode)) {
                file.name.clear();
                continue;
            }
            file.size = static_cast<std::uint64_t>(status.st_size);
            file.folder = folder;
            file.changed_ns =
                std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
        }
    });
    std::erase_if(found, [](const auto& file) { return file.name.empty(); });
    std::sort(found.begin(), found.end(), comes_before);
    return found;
}

std::string_view without_extension(std::string_view file) {
    return file.substr(0, file.size() - package_extension(file).size());
}

/// Puts `over` in place of what has their names, in either format.
void lay_over(std::vector<ListedFile>& files, std::vector<ListedFile> over) {
    std::set<std::string, std::less<>> hidden;
    for (const auto& file : over) hidden.emplace(without_extension(file.name));
    std::erase_if(files,
                  [&](const auto& file) { return hidden.contains(without_extension(file.name)); });
    std::move(over.begin(), over.end(), std::back_inserter(files));
    std::sort(files.begin(), files.end(), comes_before);
}

/// Compares `files` with those that are known; both are sorted.
void find_new(std::vector<ListedFile>& files, const std::map<std::string, IndexedPackage>& known) {
    auto at = known.begin();
    for (auto& file : files) {
        while (at != known.end() && at->first < file.name) ++at;
        if (at != known.end() && at->first == file.name) file.known = &at->second;
        file.is_new = file.known == nullptr || file.known->size != file.size ||
                      file.known->changed_ns != file.changed_ns;
    }
}

}  // namespace

SubdirIndexer::SubdirIndexer(fs::path folder, std::string subdir, const IndexerOptions& options)
    : folder_(std::move(folder)), subdir_(std::move(subdir)), options_(options) {}

std::int64_t SubdirIndexer::now_ms() const {
    return options_.timestamp.value_or(now_milliseconds());
}

void SubdirIndexer::recall() {
    if (std::exchange(is_recalled_, true)) return;
    memory_ = read_index_memory(folder_ / kMemoryName);
    const auto file = dates_in(folder_);
    const auto stamp = FileStamp::of(file);
    if (!stamp || stamp == memory_.repodata) return;
    // Written by somebody else: what it says counts.
    earlier_ = read_earlier_repodata(file);
    memory_.withdrawn = earlier_.removed;
    for (auto& [name, package] : memory_.packages) {
        const auto found = earlier_.appeared.find(name);
        if (found == earlier_.appeared.end() || found->second.at_ms == package.indexed_ms) continue;
        const auto at = earlier_.appearance(name, sha256_in(package), package.indexed_ms);
        if (at != package.indexed_ms) set_indexed(package, at);
    }
}

Result<bool> SubdirIndexer::look() {
    std::vector<ListedFile> files;
    const std::vector<std::function<Result<void>()>> tasks = {[&]() -> Result<void> {
                                                                  recall();
                                                                  return {};
                                                              },
                                                              [&]() -> Result<void> {
                                                                  GPKG_TRY(files,
                                                                           list(folder_, options_));
                                                                  return {};
                                                              }};
    GPKG_CHECK(do_all(tasks, options_));
    if (!options_.overlay.empty()) {
        GPKG_TRY(auto over, list(options_.overlay / subdir_, options_));
        lay_over(files, std::move(over));
    }
    find_new(files, memory_.packages);
    GPKG_CHECK(read_new(files));
    GPKG_TRY(const bool changed, take(std::move(files)));
    GPKG_TRY(const bool patched, look_at_patch());
    return changed || patched;
}

Result<void> SubdirIndexer::read_new(std::vector<ListedFile>& files) const {
    std::vector<ListedFile*> fresh;
    for (auto& file : files) {
        if (file.is_new) fresh.push_back(&file);
    }
    const auto now = now_ms();
    for_each_index(fresh.size(), threads_of(options_), [&](std::size_t i) {
        if (cancelled()) return;
        auto& file = *fresh[i];
        const auto appeared_at = [&](const std::string& sha256) {
            if (file.known == nullptr) return earlier_.appearance(file.name, sha256, now);
            return sha256_in(*file.known) == sha256 ? file.known->indexed_ms : now;
        };
        auto package = read_for_index(file.folder / file.name, subdir_, appeared_at);
        if (!package) {
            file.refusal = package.error().message;
            return;
        }
        package->size = file.size;
        package->changed_ns = file.changed_ns;
        file.package = std::make_unique<IndexedPackage>(*std::move(package));
    });
    if (cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
    return {};
}

/// Makes memory what was found: `files` are sorted as it is.
Result<bool> SubdirIndexer::take(std::vector<ListedFile> files) {
    refused_.clear();
    read_ = 0;
    bool changed = false;
    auto known = memory_.packages.begin();
    const auto forget_until = [&](const std::string* name) {
        while (known != memory_.packages.end() && (name == nullptr || known->first < *name)) {
            known = memory_.packages.erase(known);
            changed = true;
        }
    };
    for (auto& file : files) {
        forget_until(&file.name);
        const bool was_there = known != memory_.packages.end() && known->first == file.name;
        read_ += file.is_new ? 1 : 0;
        if (!file.refusal.empty()) {
            refused_.push_back({file.folder / file.name, file.refusal});
            changed = changed || was_there;
            if (was_there) known = memory_.packages.erase(known);
            continue;
        }
        if (!file.is_new) {
            ++known;
            continue;
        }
        changed = true;
        if (was_there) {
            if (sha256_in(known->second) != sha256_in(*file.package))
                replaced_.push_back(
                    {file.folder / file.name,
                     "replaced by other contents under the same name; users may have the earlier "
                     "file in caches and locks: raise the build number instead"});
            known->second = std::move(*file.package);
            ++known;
        } else {
            memory_.packages.emplace_hint(known, std::move(file.name), std::move(*file.package));
        }
    }
    forget_until(nullptr);
    is_changed_ = is_changed_ || changed;
    return changed;
}

Result<bool> SubdirIndexer::look_at_patch() {
    const auto file = folder_ / kPatchName;
    const auto stamp = FileStamp::of(file);
    if (stamp == patch_stamp_) return false;
    PatchInstructions patch;
    if (stamp) {
        GPKG_TRY(const auto text, read_file(file));
        GPKG_TRY(patch, PatchInstructions::parse(text, file.native()));
    }
    patch_ = std::move(patch);
    patch_stamp_ = stamp;
    return true;
}

PublishedSubdir SubdirIndexer::published() const {
    return {subdir_, memory_.packages, memory_.withdrawn, patch_, options_.jobs};
}

Result<void> SubdirIndexer::prepare(const PublishedSubdir& published, Publication& publication) {
    remove_dead_temporaries(folder_);
    remove_dead_temporaries(ShardFolder::below(folder_));
    about_ = {};
    about_.subdir = subdir_;
    about_.packages = published.count();
    about_.read = read_;
    const std::vector<std::function<Result<void>()>> tasks = {
        [&] { return prepare_repodata(published, publication); },
        [&] { return prepare_shards(published, publication); },
        [&] { return publication.add(folder_ / "run_exports.json", published.run_exports()); },
        [&] {
            return add_with_zst(
                publication, folder_ / "variants.json", published.variants(), options_);
        }};
    return do_all(tasks, options_);
}

Result<void> SubdirIndexer::complete(const PublishedSubdir& published, IndexSummary& summary) {
    if (!patch_stamp_) {
        std::error_code code;
        fs::remove(folder_ / kUnpatched, code);
        if (code) return pass(io_error(folder_ / kUnpatched, "remove", code.value()));
    }
    const auto unused = memory_.unused_shards;
    const ShardFolder shards(folder_);
    about_.shards_removed = shards.remove_unused(
        memory_.names, memory_.unused_shards, now_ms(), options_.unused_shards_for);
    for (const auto& [name, one] : memory_.names)
        summary.files.push_back(shards.place_of(one.shard));
    is_changed_ = is_changed_ || unused != memory_.unused_shards;
    const auto stamp = FileStamp::of(dates_in(folder_));
    if (about_.shards_written > 0 || is_changed_ || stamp != memory_.repodata) {
        memory_.repodata = stamp;
        GPKG_CHECK(write_index_memory(folder_ / kMemoryName, memory_));
        is_changed_ = false;
    }
    summary.subdirs.push_back(std::move(about_));
    report(published, summary);
    return {};
}

Result<void> SubdirIndexer::prepare_shards(const PublishedSubdir& published,
                                           Publication& publication) {
    const auto level = options_.zstd_level.value_or(kShardLevel);
    const ShardFolder folder(folder_);
    const auto groups = group_by_name(published);
    std::map<std::string, IndexedName> names;
    std::vector<std::pair<const NameGroup*, IndexedName*>> all;
    for (const auto& [name, group] : groups)
        all.emplace_back(&group, &names.emplace_hint(names.end(), name, IndexedName{})->second);

    std::vector<std::string> inputs(all.size());
    for_each_index(all.size(), threads_of(options_), [&](std::size_t i) {
        inputs[i] = digest_of_inputs(*all[i].first, level);
    });
    std::vector<std::pair<const NameGroup*, IndexedName*>> fresh;
    std::size_t at = 0;
    for (auto& [name, one] : names) {
        const auto known = memory_.names.find(name);
        const bool is_known = known != memory_.names.end() && known->second.inputs == inputs[at] &&
                              folder.contains(known->second.shard);
        if (is_known) one = known->second;
        one.inputs = std::move(inputs[at]);
        if (!is_known) fresh.push_back(all[at]);
        ++at;
    }

    const bool to_disk = fresh.size() <= kFewShards;
    std::vector<Result<void>> results(fresh.size());
    std::atomic<std::size_t> written = 0;
    for_each_index(fresh.size(), threads_of(options_), [&](std::size_t i) {
        if (cancelled()) return;
        const auto& [group, one] = fresh[i];
        const auto bytes = pack_shard(*group, level);
        one->shard = hex_digest(DigestKind::Sha256, bytes);
        one->findings = to_json(lint_variants(*group));
        if (folder.contains(one->shard)) return;
        results[i] = folder.write(one->shard, bytes, to_disk);
        ++written;
    });
    for (auto& result : results) GPKG_CHECK(std::move(result));
    if (cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
    if (!to_disk) GPKG_CHECK(folder.sync());

    // The index comes later: it never names a shard that is not there.
    GPKG_CHECK(publication.add(folder_ / "repodata_shards.msgpack.zst",
                               pack_shard_index(published, names, level)));
    memory_.names = std::move(names);
    about_.shards = memory_.names.size();
    about_.shards_written = written;
    return {};
}

Result<void> SubdirIndexer::prepare_repodata(const PublishedSubdir& published,
                                             Publication& publication) {
    if (patch_stamp_) {
        // Before the patched one: what it alone knows must not get lost.
        const PublishedSubdir original(subdir_, memory_.packages, memory_.withdrawn, {}, 1);
        GPKG_CHECK(publication.add(folder_ / kUnpatched, original.repodata()));
    }
    return add_with_zst(publication, folder_ / kRepodata, published.repodata(), options_);
}

void SubdirIndexer::report(const PublishedSubdir& published, IndexSummary& summary) const {
    summary.refused.insert(summary.refused.end(), refused_.begin(), refused_.end());
    summary.replaced.insert(summary.replaced.end(), replaced_.begin(), replaced_.end());
    for (const auto& one : published.packages()) {
        if (one.is_removed) continue;
        if (!one.package->oddity.empty())
            summary.odd.push_back(
                {folder_ / one.file, one.package->oddity + ": not in variants.json"});
        if (is_from_the_future(*one.package))
            summary.odd.push_back({folder_ / one.file,
                                   "its build timestamp is later than the time it was first "
                                   "indexed; the build machine's clock was wrong"});
    }
    for (const auto& [name, one] : memory_.names) {
        if (one.findings.size() <= std::string_view("[]").size()) continue;
        for (auto& finding : findings_from_json(one.findings))
            summary.disagreements.push_back({subdir_,
                                             name,
                                             std::move(finding.field),
                                             std::move(finding.text),
                                             std::move(finding.files)});
    }
    if (!patch_stamp_) return;
    const auto is_changed = [&](const auto& entry) {
        return patch_.changes(entry.first) || patch_.removes(entry.first);
    };
    const auto changed =
        std::count_if(memory_.packages.begin(), memory_.packages.end(), is_changed);
    summary.patches.push_back({folder_ / kPatchName,
                               patch_.unmatched(memory_.packages),
                               static_cast<std::size_t>(changed)});
}

}  // namespace gpkg
