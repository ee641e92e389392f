#include "libcore/build/verify_builds.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/package/unpack.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <optional>

namespace gpkg {
namespace {

/// The first byte that two files do not share; none when they are the same.
Result<std::optional<std::uint64_t>> differs_at(const fs::path& first, const fs::path& second) {
    std::ifstream other(second, std::ios::binary);
    std::string bytes;
    std::optional<std::uint64_t> found;
    GPKG_CHECK(read_in_pieces(first, 0, [&](std::string_view piece, std::uint64_t at) {
        bytes.resize(piece.size());
        other.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes.resize(static_cast<std::size_t>(other.gcount()));
        if (bytes == piece) return true;
        const auto differs = std::mismatch(piece.begin(), piece.end(), bytes.begin(), bytes.end());
        found = at + static_cast<std::uint64_t>(differs.first - piece.begin());
        return false;
    }));
    std::error_code code;
    const auto size = fs::file_size(first, code);
    if (!found && size != fs::file_size(second, code)) found = size;
    return found;
}

/// Empty when both are the same.
Result<std::string> entry_difference(const fs::path& first, const fs::path& second) {
    std::error_code code;
    const auto one = fs::symlink_status(first, code);
    const auto two = fs::symlink_status(second, code);
    if (one.type() != two.type()) return "has a different file type";
    if (one.permissions() != two.permissions()) return "has different permissions";
    if (one.type() == fs::file_type::symlink) {
        const bool same = fs::read_symlink(first, code) == fs::read_symlink(second, code);
        return same ? "" : "has a different link target";
    }
    if (one.type() != fs::file_type::regular) return "";
    GPKG_TRY(const auto at, differs_at(first, second));
    return at ? fmt::format("differs at byte {}", *at) : "";
}

/// The first difference between two packages that are not the same.
Result<std::string> first_difference(const fs::path& first, const fs::path& second) {
    GPKG_TRY(const auto folder, TemporaryFolder::make(second.parent_path()));
    const auto one = folder.path() / "first";
    const auto two = folder.path() / "second";
    GPKG_TRY(const auto unpacked, unpack_package(first, one));
    GPKG_TRY(const auto again, unpack_package(second, two));
    GPKG_TRY(const auto before, list_prefix(one));
    GPKG_TRY(const auto after, list_prefix(two));
    // Of a file that differs, info/paths.json only repeats it.
    std::string in_info;
    for (const auto& path : before) {
        if (!after.contains(path)) return path + ": missing in the second build";
        GPKG_TRY(const auto what, entry_difference(one / path, two / path));
        if (what.empty()) continue;
        if (!path.starts_with("info/")) return fmt::format("{}: {}", path, what);
        if (in_info.empty()) in_info = fmt::format("{}: {}", path, what);
    }
    for (const auto& path : after) {
        if (!before.contains(path)) return path + ": only in the second build";
    }
    return in_info.empty() ? "the archives differ, but not their contents" : in_info;
}

}  // namespace

Result<std::vector<BuildDifference>> verify_builds(const std::vector<fs::path>& recipes,
                                                   const BuildSummary& built,
                                                   const BuildOptions& options) {
    auto second = options;
    second.work = options.work / "verify";
    second.staging.clear();
    second.source_cache =
        options.source_cache.empty() ? options.work / "sources" : options.source_cache;
    second.rebuild = true;
    GPKG_TRY(const auto again, build_all(recipes, second));
    for (const auto& failure : again.failures) return pass(failure.error);

    std::vector<BuildDifference> differences;
    for (const auto& package : built.packages) {
        GPKG_CHECK(check_cancelled(options.cancelled));
        const auto found =
            std::find_if(again.packages.begin(), again.packages.end(), [&](const auto& other) {
                return other.distribution == package.distribution &&
                       other.file.parent_path().filename() == package.file.parent_path().filename();
            });
        if (found == again.packages.end()) {
            differences.push_back({package.distribution, "the package is missing"});
            continue;
        }
        GPKG_TRY(const auto first_sum, sha256_of_file(package.file));
        GPKG_TRY(const auto second_sum, sha256_of_file(found->file));
        if (first_sum == second_sum) continue;
        GPKG_TRY(auto what, first_difference(package.file, found->file));
        differences.push_back({package.distribution, std::move(what)});
    }
    if (differences.empty()) GPKG_CHECK(remove_tree(second.work));
    return differences;
}

}  // namespace gpkg
