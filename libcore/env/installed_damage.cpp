#include "libcore/env/installed_damage.hpp"

#include "libcore/base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <unordered_map>

namespace gpkg {
namespace {

std::string_view kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISLNK(mode)) return "a soft link";
    return S_ISREG(mode) ? "a file" : "a special file";
}

std::string_view kind_of(PrefixPathType type) {
    switch (type) {
    case PrefixPathType::SoftLink: return "a soft link";
    case PrefixPathType::Directory: return "a folder";
    default: return "a file";
    }
}

/// What is wrong with one path; empty: nothing.
Result<std::string> difference(const fs::path& prefix, const PrefixPath& path, bool contents) {
    const auto file = prefix / path.path;
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return "is missing";
        if (errno == EACCES) return "cannot be read";
        return pass(io_error(file, "access", errno));
    }
    // Some tools copy what soft links lead to.
    const bool may_be_copy = path.type == PrefixPathType::SoftLink && S_ISREG(status.st_mode);
    const auto wanted = kind_of(path.type);
    if (path.type != PrefixPathType::Other && !may_be_copy && kind_of(status.st_mode) != wanted)
        return fmt::format("is {}, not {}", kind_of(status.st_mode), wanted);
    if (path.type == PrefixPathType::SoftLink || !S_ISREG(status.st_mode)) return "";

    const bool is_as_packed = !path.is_rewritten();
    // Packages without paths.json tell no sizes.
    const bool knows_size = path.size && (*path.size != 0 || !path.sha256.empty());
    if (is_as_packed && knows_size && static_cast<std::uint64_t>(status.st_size) != *path.size)
        return fmt::format("has {} bytes, not {}", status.st_size, *path.size);
    const auto& promised =
        path.sha256_in_prefix.empty() && is_as_packed ? path.sha256 : path.sha256_in_prefix;
    if (!contents || promised.empty()) return "";
    const auto found = sha256_of_file(file);
    // Its permissions, or a bad sector: what stands there is not to be had.
    if (!found) return "cannot be read";
    return *found == promised ? "" : "has another checksum";
}

/// Old records list names alone.
std::vector<PrefixPath> paths_of(const PrefixRecord& record) {
    if (!record.paths.empty()) return record.paths;
    std::vector<PrefixPath> paths;
    paths.reserve(record.files.size());
    for (const auto& file : record.files) {
        PrefixPath path;
        path.path = file;
        path.type = PrefixPathType::Other;
        paths.push_back(std::move(path));
    }
    return paths;
}

bool is_byte_code(const PrefixPath& path) {
    return path.type == PrefixPathType::PycFile || path.path.ends_with(".pyc");
}

Result<std::vector<InstalledDamage>> damage_of(const fs::path& prefix,
                                               const PrefixRecord& record,
                                               const DamageSearch& how) {
    std::vector<InstalledDamage> damage;
    for (const auto& path : paths_of(record)) {
        if (how.cancelled && how.cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        if (is_byte_code(path)) continue;
        GPKG_TRY(auto what, difference(prefix, path, how.contents));
        if (!what.empty()) damage.push_back({record.name(), path.path, std::move(what)});
    }
    return damage;
}

/// A path that another package has found to be its own is in order.
void forgive_shared(std::vector<InstalledDamage>& damage,
                    const std::vector<PrefixRecord>& records) {
    std::unordered_map<std::string_view, std::size_t> faults;
    for (const auto& one : damage) ++faults[one.path];
    std::unordered_map<std::string_view, std::size_t> owners;
    for (const auto& record : records) {
        for (const auto& file : record.files) {
            if (faults.contains(file)) ++owners[file];
        }
    }
    std::vector<InstalledDamage> kept;
    for (const auto& one : damage) {
        if (faults.at(one.path) >= owners[one.path]) kept.push_back(one);
    }
    damage = std::move(kept);
}

}  // namespace

Result<std::vector<InstalledDamage>> find_installed_damage(const fs::path& prefix,
                                                           const std::vector<PrefixRecord>& records,
                                                           const DamageSearch& how) {
    std::vector<Result<std::vector<InstalledDamage>>> found(records.size());
    std::atomic<std::size_t> done = 0;
    std::mutex mutex;
    for_each_index(records.size(), how.threads, [&](std::size_t i) {
        found[i] = damage_of(prefix, records[i], how);
        const auto count = ++done;
        if (!how.progress) return;
        const std::lock_guard lock(mutex);
        how.progress(count);
    });
    std::vector<InstalledDamage> damage;
    for (auto& one : found) {
        if (!one) return pass(std::move(one).error());
        std::move(one->begin(), one->end(), std::back_inserter(damage));
    }
    forgive_shared(damage, records);
    return damage;
}

}  // namespace gpkg
