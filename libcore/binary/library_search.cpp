#include "libcore/binary/library_search.hpp"

#include "libcore/binary/rpath.hpp"

namespace gpkg {
namespace {

bool fits(const ElfFile& elf, const fs::path& candidate) {
    std::error_code code;
    const auto real = fs::canonical(candidate, code);
    if (code) return false;
    const auto found = read_elf(real);
    return found && *found && (*found)->machine == elf.machine &&
           (*found)->is_64_bit == elf.is_64_bit;
}

}  // namespace

std::vector<fs::path> machine_library_folders() {
    std::vector<fs::path> folders;
    for (const auto* folder : {"/lib/x86_64-linux-gnu",
                               "/usr/lib/x86_64-linux-gnu",
                               "/lib/aarch64-linux-gnu",
                               "/usr/lib/aarch64-linux-gnu",
                               "/lib64",
                               "/usr/lib64",
                               "/lib",
                               "/usr/lib"}) {
        std::error_code ignored;
        if (fs::is_directory(folder, ignored)) folders.emplace_back(folder);
    }
    return folders;
}

std::optional<fs::path> find_library(const ElfFile& elf,
                                     const fs::path& origin,
                                     const std::string& library,
                                     const std::vector<fs::path>& machine_folders) {
    if (library.find('/') != std::string::npos)
        return fits(elf, library) ? std::optional<fs::path>(library) : std::nullopt;
    // The loader ignores DT_RPATH where there is a DT_RUNPATH.
    for (const auto& entry : elf.runpath.empty() ? elf.rpath : elf.runpath) {
        const auto rest = after_origin(entry);
        const auto folder = rest ? origin / *rest : fs::path(entry);
        // The loader opens the path as it is: with a link on the way, ".." leaves its target.
        if (fits(elf, folder / library)) return (folder / library).lexically_normal();
    }
    for (const auto& folder : machine_folders) {
        if (fits(elf, folder / library)) return folder / library;
    }
    return std::nullopt;
}

}  // namespace gpkg
