#include "cli/workflow/inspection.hpp"

#include "libcore/binary/host_libraries.hpp"
#include "libcore/binary/library_search.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// What an unpacked package tells of how it was built.
Result<void> read_how_it_was_built(const fs::path& unpacked, InspectedPackage& package) {
    GPKG_TRY(const auto inputs, read_info_text(unpacked, "hash_input.json"));
    if (inputs) {
        GPKG_TRY(package.inputs,
                 parse_hash_input(*inputs, (unpacked / "info/hash_input.json").native()));
    }
    GPKG_TRY(package.run_exports, read_run_exports(unpacked));
    GPKG_TRY(package.about, read_about_json(unpacked));
    return {};
}

/// Those of the package's files that its name makes link scripts (CEP 34).
void list_link_scripts(InspectedPackage& package) {
    for (const auto* action : {"pre-link", "post-link", "pre-unlink", "post-unlink"}) {
        auto script = fmt::format("bin/.{}-{}.sh", package.record.name, action);
        if (std::binary_search(package.paths.begin(), package.paths.end(), script))
            package.link_scripts.push_back(std::move(script));
    }
}

/// Unpacking compares every file for which info/paths.json has a checksum.
std::size_t files_compared(const std::vector<PathEntry>& paths) {
    return static_cast<std::size_t>(std::ranges::count_if(paths, [](const PathEntry& entry) {
        return entry.type == PathType::HardLink && !entry.sha256.empty();
    }));
}

/// What the package's own list says of needs: who gives them.
Result<std::map<std::string, std::string>> givers_of(const fs::path& unpacked) {
    std::map<std::string, std::string> givers;
    GPKG_TRY(const auto text, read_info_text(unpacked, kBinariesFile));
    if (!text) return givers;
    GPKG_TRY(const auto binaries,
             parse_binaries_json(*text, (unpacked / "info" / kBinariesFile).native()));
    for (const auto& need : binaries.needs) {
        if (!need.package.empty()) givers[need.library] = need.package;
    }
    return givers;
}

/// The way to a library for a person: below `prefix` without it.
std::string place_below(const fs::path& prefix, const fs::path& path) {
    const auto inside = path.lexically_relative(prefix).native();
    return inside.empty() || inside.starts_with("..") ? path.native() : inside;
}

}  // namespace

Result<std::optional<InspectedBinary>> inspect_file(const fs::path& path) {
    std::error_code code;
    const auto real = fs::canonical(path, code);
    if (code)
        return fail(
            code == std::errc::no_such_file_or_directory ? ErrorKind::NotFound : ErrorKind::Io,
            fmt::format("{}: cannot read: {}", path.native(), code.message()));
    GPKG_TRY(auto elf, read_elf(real));
    GPKG_TRY(auto gpu, read_gpu_code(real));
    if (!elf && gpu.empty()) return std::nullopt;
    InspectedBinary found{path.native(), std::move(elf), std::move(gpu), {}};
    if (!found.elf) return found;
    const auto origin = found.elf->interpreter.empty() ? path.parent_path() : real.parent_path();
    const auto machine = machine_library_folders();
    for (const auto& library : found.elf->needed) {
        const auto place = find_library(*found.elf, origin, library, machine);
        found.needs.push_back({library, place ? place->native() : std::string()});
    }
    return found;
}

Result<InspectedPackage> inspect_archive(const fs::path& archive) {
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-inspect-"));
    const auto unpacked = folder.path() / "package";
    GPKG_CHECK(unpack_package(archive, unpacked));
    InspectedPackage package;
    GPKG_TRY(package.record, read_index_json(unpacked));
    GPKG_CHECK(read_how_it_was_built(unpacked, package));
    std::error_code ignored;
    package.record.size = fs::file_size(archive, ignored);
    GPKG_TRY(package.record.sha256, sha256_of_file(archive));
    GPKG_TRY(const auto paths, read_paths(unpacked));
    if (const auto compared = files_compared(paths); compared > 0)
        package.matching_files = compared;
    std::vector<std::string> files;
    files.reserve(paths.size());
    for (const auto& entry : paths) {
        files.push_back(entry.path);
        if (entry.prefix_placeholder.empty()) continue;
        ++(entry.mode == FileMode::Text ? package.text_placeholders : package.binary_placeholders);
    }
    GPKG_TRY(const auto givers, givers_of(unpacked));
    GPKG_TRY(auto binaries, read_binaries(unpacked, files));
    GPKG_TRY(auto gpu, gpu_code_of(unpacked, files));
    for (auto& binary : binaries) {
        const auto origin = (unpacked / binary.path).parent_path();
        InspectedBinary found{binary.path, std::move(binary.elf), {}, {}};
        if (auto code = gpu.extract(binary.path)) found.gpu = std::move(code.mapped());
        for (const auto& library : found.elf->needed) {
            const auto place = find_library(*found.elf, origin, library, {});
            const auto giver = givers.find(library);
            found.needs.push_back({library,
                                   place                        ? place_below(unpacked, *place)
                                   : giver != givers.end()      ? giver->second
                                   : is_glibc_library(library)  ? "glibc"
                                   : is_driver_library(library) ? "the driver"
                                                                : std::string()});
        }
        package.binaries.push_back(std::move(found));
    }
    for (auto& [file, code] : gpu)
        package.binaries.push_back({file, std::nullopt, std::move(code), {}});
    std::sort(files.begin(), files.end());
    package.paths = std::move(files);
    list_link_scripts(package);
    return package;
}

Result<InspectedPackage> inspect_installed(const fs::path& prefix, const PrefixRecord& record) {
    InspectedPackage package;
    package.record = record.package;
    std::error_code ignored;
    const fs::path unpacked = record.extracted_package_dir;
    if (!unpacked.empty() && fs::is_directory(unpacked / "info", ignored))
        GPKG_CHECK(read_how_it_was_built(unpacked, package));
    package.paths = record.files;
    std::sort(package.paths.begin(), package.paths.end());
    list_link_scripts(package);
    for (const auto& path : record.paths) {
        if (path.prefix_placeholder.empty()) continue;
        ++(path.binary ? package.binary_placeholders : package.text_placeholders);
    }
    for (const auto& file : record.files) {
        const auto path = prefix / file;
        // What is gone or damaged is `gpkg verify`'s to tell of.
        if (fs::symlink_status(path, ignored).type() != fs::file_type::regular) continue;
        auto found = inspect_file(path);
        if (!found && found.error().kind == ErrorKind::Integrity) continue;
        if (!found) return pass(std::move(found).error());
        if (!*found) continue;
        (*found)->path = file;
        for (auto& need : (*found)->needs)
            if (!need.found.empty()) need.found = place_below(prefix, need.found);
        package.binaries.push_back(*std::move(*found));
    }
    return package;
}

}  // namespace gpkg::cli
