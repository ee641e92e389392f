#include "libcore/indexing/patch_instructions.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/spec/names.hpp"

#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

/// Subdir -> the text of its instructions, all of them good.
using Instructions = std::map<std::string, std::string>;

Result<void> add_checked(Instructions& found, const std::string& subdir, const fs::path& file) {
    GPKG_TRY(auto text, read_file(file));
    GPKG_TRY(const auto good, PatchInstructions::parse(text, file.native()));
    found.emplace(subdir, std::move(text));
    return {};
}

Result<Instructions> instructions_below(const fs::path& folder, const std::string& what) {
    Instructions found;
    for (const auto subdir : known_subdirs()) {
        const auto file = folder / subdir / kPatchName;
        if (fs::exists(file)) GPKG_CHECK(add_checked(found, std::string(subdir), file));
    }
    if (found.empty())
        return fail(
            ErrorKind::NotFound,
            fmt::format("{}: has no SUBDIR/{}, such as noarch/{}", what, kPatchName, kPatchName));
    return found;
}

Result<Instructions> instructions_in_package(const fs::path& package) {
    GPKG_TRY(const auto folder, TemporaryFolder::make(fs::temp_directory_path()));
    GPKG_TRY(const auto unpacked, unpack_package(package, folder.path() / "patch"));
    return instructions_below(folder.path() / "patch", package.native());
}

Result<void> remove_file(const fs::path& file) {
    std::error_code code;
    fs::remove(file, code);
    if (code) return pass(io_error(file, "remove", code.value()));
    return {};
}

}  // namespace

Result<void> adopt_patch(const fs::path& channel, const fs::path& source) {
    Instructions found;
    const bool is_file = fs::is_regular_file(source);
    const auto own_subdir = source.parent_path().filename().native();
    bool for_all = true;
    if (fs::is_directory(source)) {
        GPKG_TRY(found, instructions_below(source, source.native()));
    } else if (is_file && !package_extension(source.native()).empty()) {
        GPKG_TRY(found, instructions_in_package(source));
    } else if (is_file && is_known_subdir(own_subdir)) {
        GPKG_CHECK(add_checked(found, own_subdir, source));
        for_all = false;
    } else if (is_file) {
        return fail(ErrorKind::Usage,
                    fmt::format("{}: the subdir of the patch is unknown", source.native()),
                    fmt::format("move it to FOLDER/SUBDIR/{} and use --patch FOLDER", kPatchName));
    } else {
        return fail(ErrorKind::NotFound, fmt::format("{}: no such patch", source.native()));
    }
    for (const auto subdir : known_subdirs()) {
        const auto folder = channel / subdir;
        const auto file = folder / kPatchName;
        const auto instructions = found.find(std::string(subdir));
        if (instructions == found.end()) {
            if (for_all) GPKG_CHECK(remove_file(file));
        } else if (fs::is_directory(folder)) {
            GPKG_CHECK(write_file_atomically(file, instructions->second));
        }
    }
    return {};
}

Result<void> drop_patch(const fs::path& channel) {
    for (const auto subdir : known_subdirs())
        GPKG_CHECK(remove_file(channel / subdir / kPatchName));
    return {};
}

}  // namespace gpkg
