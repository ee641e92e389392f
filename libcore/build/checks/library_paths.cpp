#include "libcore/base/prefix_path.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/binary/rpath.hpp"
#include "libcore/build/checks/library_paths_internal.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/build/script/sandbox.hpp"

#include <algorithm>
#include <map>

namespace gpkg {
namespace {

/// What the loader looks into for the file itself: DT_RPATH only where there is no DT_RUNPATH.
const std::vector<std::string>& entries_of(const ElfFile& elf) {
    return elf.runpath.empty() ? elf.rpath : elf.runpath;
}

}  // namespace

LibraryPaths::LibraryPaths(const BinaryCheck& check,
                           const std::vector<Binary>& binaries,
                           std::set<std::string> given)
    : check_(check), binaries_(binaries), given_(std::move(given)) {
    std::error_code ignored;
    real_prefix_ = fs::canonical(check.prefix, ignored);
    for (const auto& file : check.files) {
        if (!fs::is_symlink(check.prefix / file, ignored)) continue;
        const auto target = fs::canonical(check.prefix / file, ignored);
        const auto path = target.lexically_relative(real_prefix_).native();
        if (!path.empty()) link_folders_.emplace(path, parent_of(file));
    }
}

std::optional<std::string> LibraryPaths::inside(std::string_view path) const {
    for (const auto& root : {check_.prefix.native(), std::string(canonical_placeholder())}) {
        if (path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/'))
            return normal_inside(path.substr(std::min(root.size() + 1, path.size())));
    }
    return std::nullopt;
}

bool LibraryPaths::is_of_build(std::string_view path) const {
    return path.starts_with(check_.prefix.parent_path().native()) ||
           path.starts_with(kSandboxFolder);
}

bool LibraryPaths::is_in(const fs::path& folder, const std::string& library) const {
    // The loader opens the path as it is: with a link on the way, ".." leaves its target.
    std::error_code code;
    const auto real = fs::canonical(folder, code);
    if (code) return false;
    const auto path = real.lexically_relative(real_prefix_).native();
    return given_.contains(path == "." ? library : joined_path(path, library));
}

bool LibraryPaths::leads_from(const std::vector<std::string>& entries,
                              const std::string& folder,
                              const std::string& library) const {
    return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
        if (const auto rest = after_origin(entry))
            return is_in(check_.prefix / folder / *rest, library);
        const auto path = inside(entry);
        return path && is_in(check_.prefix / *path, library);
    });
}

bool LibraryPaths::leads_to(const Binary& binary, const std::string& library) const {
    const auto& entries = entries_of(binary.elf);
    // $ORIGIN of a program is the folder it lies in; that of a library is where it was found, which
    // may be any folder with a link to it.
    const auto [first, last] = link_folders_.equal_range(binary.path);
    const bool leads = leads_from(entries, parent_of(binary.path), library);
    if (!binary.elf.interpreter.empty()) return leads;
    const auto from_link = [&](const auto& link) {
        return leads_from(entries, link.second, library);
    };
    const bool is_found_by_link = first != last;
    if (is_found_by_link ? std::all_of(first, last, from_link) : leads) return true;
    if (!binary.elf.runpath.empty()) return false;
    return is_in(check_.prefix / "lib", library) ||
           std::any_of(binaries_.begin(), binaries_.end(), [&](const Binary& loader) {
               return loader.path != binary.path && loader.elf.runpath.empty() &&
                      leads_from(loader.elf.rpath, parent_of(loader.path), library);
           });
}

std::vector<std::string> LibraryPaths::places_of(const std::string& library) const {
    std::vector<std::string> folders;
    for (const auto& path : given_) {
        if (file_name_of(path) == library) folders.push_back(parent_of(path));
    }
    return folders;
}

}  // namespace gpkg
