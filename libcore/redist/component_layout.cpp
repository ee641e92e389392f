#include "libcore/redist/component_layout.hpp"

#include "libcore/package/source_archive.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <regex>

namespace gpkg {
namespace {

constexpr std::array kParts = {RedistPart::Docs,
                               RedistPart::Stubs,
                               RedistPart::Static,
                               RedistPart::Runtime,
                               RedistPart::Dev,
                               RedistPart::Tools};

// As NVIDIA's archives have them; README* and the like lie at the top of some.
constexpr std::array<std::string_view, 12> kDocuments = {"doc",
                                                         "docs",
                                                         "Doc",
                                                         "samples",
                                                         "src",
                                                         "share",
                                                         "README*",
                                                         "CHANGELOG*",
                                                         "VERSION*",
                                                         "version*",
                                                         "*.txt",
                                                         "*.md"};

// Folders that stay where they are: programs look for them beside bin/.
constexpr std::array<std::string_view, 12> kToolFolders = {"bin",
                                                           "nvvm",
                                                           "compute-sanitizer",
                                                           "nsight-compute",
                                                           "nsight-systems",
                                                           "nsightee_plugins",
                                                           "libnvvp",
                                                           "extras",
                                                           "tools",
                                                           "gds",
                                                           "etc",
                                                           "res"};

bool starts_with_folder(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool is_license(std::string_view path) {
    return path.find('/') == std::string_view::npos &&
           (path.starts_with("LICENSE") || path.starts_with("EULA"));
}

bool is_document(std::string_view path) {
    const auto slash = path.find('/');
    const auto top = std::string(path.substr(0, slash));
    return std::any_of(kDocuments.begin(), kDocuments.end(), [&](auto pattern) {
        return std::regex_match(top, std::regex(regex_of_glob(pattern), std::regex::extended));
    });
}

/// What the recipes' script does with a file. Empty: it is in no package.
std::string place_of(const std::string& path, bool is_link, const RedistLayout& layout) {
    if (is_license(path)) return {};
    if (starts_with_folder(path, "targets") && is_link) return {};
    if (is_document(path)) return layout.share + "/" + path;
    auto inner = path;
    if (starts_with_folder(inner, "lib64")) inner.erase(3, 2);
    for (const std::string_view folder : {"pkg-config", "lib/pkgconfig"}) {
        if (starts_with_folder(inner, folder)) return "lib/pkgconfig" + inner.substr(folder.size());
    }
    if (starts_with_folder(inner, "include") || starts_with_folder(inner, "lib"))
        return layout.target + "/" + inner;
    return inner;
}

}  // namespace

std::span<const RedistPart> redist_parts() { return kParts; }

std::span<const std::string_view> document_entries() { return kDocuments; }

std::string_view part_name(RedistPart part) {
    switch (part) {
    case RedistPart::Docs: return "docs";
    case RedistPart::Stubs: return "stubs";
    case RedistPart::Static: return "static";
    case RedistPart::Dev: return "dev";
    case RedistPart::Tools: return "tools";
    case RedistPart::Runtime: return "runtime";
    }
    return {};
}

std::string target_folder(std::string_view platform) {
    // nvcc.profile, CMake's FindCUDAToolkit and conda-forge look there. Tegra has its own name.
    if (platform == "linux-sbsa") return "sbsa-linux";
    if (platform == "linux-aarch64") return "aarch64-linux";
    if (platform == "linux-ppc64le") return "ppc64le-linux";
    return "x86_64-linux";
}

std::vector<std::string> RedistLayout::globs(RedistPart part) const {
    const auto in_target = [&](std::string_view glob) {
        return fmt::format("{}/{}", target, glob);
    };
    switch (part) {
    case RedistPart::Docs: return {share + "/**"};
    case RedistPart::Stubs: return {in_target("lib/stubs/**"), "lib/stubs/**"};
    case RedistPart::Static: return {"**/*.a"};
    case RedistPart::Dev:
        return {in_target("include/**"),
                in_target("lib/*.so"),
                "lib/*.so",
                in_target("lib/**/*.cmake"),
                in_target("lib/**/*.bc"),
                in_target("lib/**/*.fatbin"),
                in_target("lib/**/*.o"),
                "lib/pkgconfig/**"};
    case RedistPart::Tools: {
        std::vector<std::string> all;
        all.reserve(kToolFolders.size());
        for (const auto folder : kToolFolders) all.push_back(fmt::format("{}/**", folder));
        return all;
    }
    case RedistPart::Runtime: {
        // Libraries in folders below lib are plugins, which are opened by their names.
        std::vector<std::string> all = {
            in_target("lib/**/*.so.*"), in_target("lib/*/**/*.so"), "lib/*.so.*"};
        all.insert(all.end(), plain_libraries.begin(), plain_libraries.end());
        return all;
    }
    }
    return {};
}

std::string regex_of_glob(std::string_view glob) {
    std::string out;
    while (!glob.empty()) {
        if (glob.starts_with("**/")) {
            out += "(.*/)?";
            glob.remove_prefix(3);
        } else if (glob.starts_with("**")) {
            out += ".+";
            glob.remove_prefix(2);
        } else if (glob.front() == '*') {
            out += "[^/]*";
            glob.remove_prefix(1);
        } else {
            constexpr std::string_view kSpecial = R"(.[]{}()\*+?|^$)";
            if (kSpecial.find(glob.front()) != std::string_view::npos) out += '\\';
            out += glob.front();
            glob.remove_prefix(1);
        }
    }
    return out;
}

Result<RedistListing> list_redist_archive(const fs::path& archive,
                                          RedistLayout layout,
                                          const fs::path& temporary) {
    GPKG_TRY(const auto folder, TemporaryFolder::make(temporary));
    GPKG_CHECK(unpack_source_archive(archive, folder.path()));
    std::error_code code;
    auto top = folder.path();
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(top, code)) entries.push_back(entry.path());
    if (entries.size() == 1 && fs::is_directory(fs::symlink_status(entries[0], code)))
        top = entries[0];

    RedistListing listing;
    std::vector<std::string> places;
    for (fs::recursive_directory_iterator walk(top, code), end; !code && walk != end;
         walk.increment(code)) {
        const auto type = walk->symlink_status(code).type();
        if (code || type == fs::file_type::directory) continue;
        const auto path = walk->path().lexically_relative(top).native();
        const bool is_link = type == fs::file_type::symlink;
        listing.has_license = listing.has_license || path == "LICENSE";
        auto place = place_of(path, is_link, layout);
        if (place.empty()) continue;
        const auto in_lib = layout.target + "/lib/";
        if (!is_link && place.starts_with(in_lib) && place.ends_with(".so") &&
            place.find('/', in_lib.size()) == std::string::npos) {
            if (place.find_first_of("*?[") != std::string::npos)
                return fail(ErrorKind::Unsupported,
                            fmt::format("{}: a recipe cannot name {}", archive.native(), path));
            listing.plain_libraries.push_back(place);
            listing.plain_libraries.push_back("lib/" + place.substr(in_lib.size()));
        }
        places.push_back(std::move(place));
    }
    if (code) return pass(io_error(top, "list the files", code.value()));
    std::sort(listing.plain_libraries.begin(), listing.plain_libraries.end());

    layout.plain_libraries = listing.plain_libraries;
    std::vector<std::pair<RedistPart, std::regex>> known;
    for (const auto part : kParts) {
        for (const auto& glob : layout.globs(part))
            known.emplace_back(part, std::regex(regex_of_glob(glob), std::regex::extended));
    }
    for (const auto& place : places) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
            return std::regex_match(place, one.second);
        });
        if (found == known.end()) {
            listing.strays.push_back(place);
        } else {
            listing.parts.insert(found->first);
        }
    }
    std::sort(listing.strays.begin(), listing.strays.end());
    return listing;
}

}  // namespace gpkg
