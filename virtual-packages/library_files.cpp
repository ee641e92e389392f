#include "libcore/base/text.hpp"
#include "virtual-packages/library_files_internal.hpp"

#include <algorithm>
#include <system_error>

namespace gpkg::virtual_packages {

std::vector<fs::path> library_files(const Host& host, std::string_view library) {
    std::vector<fs::path> found;
    const auto consider = [&](const fs::path& path) {
        const auto here = host.root / path.relative_path();
        std::error_code code;
        if (path.is_absolute() && fs::exists(here, code) &&
            std::ranges::find(found, here) == found.end())
            found.push_back(here);
    };
    if (library.find('/') != std::string_view::npos) {
        consider(library);
        return found;
    }
    const auto search_path = host.env("LD_LIBRARY_PATH").value_or("");
    for (const auto folder : split(search_path, ':'))
        if (!folder.empty()) consider(fs::path(folder) / library);

    // ld.so.cache holds the paths as texts that end in a NUL.
    const auto cache = read_file(host.root / "etc/ld.so.cache").value_or("");
    std::string wanted = "/";
    wanted.append(library).push_back('\0');
    for (auto at = cache.find(wanted); at != std::string::npos; at = cache.find(wanted, at + 1)) {
        const auto before = cache.rfind('\0', at);
        const auto start = before == std::string::npos ? 0 : before + 1;
        consider(cache.substr(start, at + wanted.size() - 1 - start));
    }
    for (const auto* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
        consider(fs::path(folder) / library);
    return found;
}

}  // namespace gpkg::virtual_packages
