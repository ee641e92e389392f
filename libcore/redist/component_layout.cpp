#include "libcore/redist/component_layout.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/binary/elf.hpp"
#include "libcore/binary/host_libraries.hpp"
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
                               RedistPart::Activation,
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
    static const auto known = [] {
        std::vector<std::regex> all;
        all.reserve(kDocuments.size());
        for (const auto pattern : kDocuments)
            all.emplace_back(regex_of_glob(pattern), std::regex::extended);
        return all;
    }();
    return std::any_of(
        known.begin(), known.end(), [&](const auto& one) { return std::regex_match(top, one); });
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

/// A file of an archive and where it goes.
struct Entry {
    fs::path file;
    std::string path;   ///< in the archive
    std::string place;  ///< in the prefix
    bool is_link = false;
};

/// All but what is in no package.
Result<std::vector<Entry>> entries_of(const fs::path& top,
                                      const RedistLayout& layout,
                                      RedistListing& listing) {
    std::vector<Entry> entries;
    std::error_code code;
    for (fs::recursive_directory_iterator walk(top, code), end; !code && walk != end;
         walk.increment(code)) {
        const auto type = walk->symlink_status(code).type();
        if (code || type == fs::file_type::directory) continue;
        if (type != fs::file_type::regular && type != fs::file_type::symlink)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: is neither file, link nor folder",
                                    walk->path().lexically_relative(top).native()));
        Entry entry{walk->path(), walk->path().lexically_relative(top).native(), {}, false};
        entry.is_link = type == fs::file_type::symlink;
        listing.has_license = listing.has_license || (entry.path == "LICENSE" && !entry.is_link);
        entry.place = place_of(entry.path, entry.is_link, layout);
        if (!entry.place.empty()) entries.push_back(std::move(entry));
    }
    if (code) return pass(io_error(top, "list the files", code.value()));
    return entries;
}

/// A library called *.so, in the folder where others are links.
bool is_plain_library(const Entry& entry, const std::string& folder) {
    return !entry.is_link && entry.place.starts_with(folder) && entry.place.ends_with(".so") &&
           entry.place.find('/', folder.size()) == std::string::npos;
}

Result<void> add_needs(const Entry& entry, RedistPart part, RedistListing& listing) {
    const auto name = file_name_of(entry.place);
    if (part == RedistPart::Stubs || part == RedistPart::Static || part == RedistPart::Docs)
        return {};
    if (is_shared_library_name(name)) listing.libraries.emplace(name, part);
    if (entry.is_link) return {};
    GPKG_TRY(const auto elf, read_elf(entry.file));
    if (!elf || !elf->is_dynamic) return {};
    listing.needs[part].insert(elf->needed.begin(), elf->needed.end());
    return {};
}

/// What nvcc's headers refuse: "#if __GNUC__ > 13", and an #error.
Result<int> newest_gcc(const fs::path& header) {
    GPKG_TRY(const auto text, read_file(header));
    static const std::regex test(R"(#\s*if\s+__GNUC__\s*>\s*([0-9]{1,3})\s*\n)");
    std::smatch found;
    return std::regex_search(text, found, test) ? std::stoi(found[1].str()) : 0;
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
    case RedistPart::Activation: return "activation";
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
                in_target("lib/cmake/**"),
                in_target("lib/**/*.cmake"),
                in_target("lib/**/*.bc"),
                in_target("lib/**/*.fatbin"),
                in_target("lib/**/*.o"),
                "lib/pkgconfig/**"};
    case RedistPart::Activation: return {"etc/conda/**"};
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
            constexpr std::string_view kSpecial = R"(.[{()\*+?|^$)";  // of POSIX; no others
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
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(top, code)) inside.push_back(entry.path());
    if (inside.size() == 1 && fs::is_directory(fs::symlink_status(inside[0], code)))
        top = inside[0];

    RedistListing listing;
    auto listed = entries_of(top, layout, listing);
    if (!listed)
        return pass(std::move(listed).error().while_doing("looking into " + archive.native()));
    const auto& entries = *listed;
    const auto in_lib = layout.target + "/lib/";
    for (const auto& entry : entries) {
        if (!is_plain_library(entry, in_lib)) continue;
        if (entry.place.find_first_of("*?[$") != std::string::npos)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: a recipe cannot name {}", archive.native(), entry.path));
        listing.plain_libraries.push_back(entry.place);
        listing.plain_libraries.push_back("lib/" + entry.place.substr(in_lib.size()));
    }
    std::sort(listing.plain_libraries.begin(), listing.plain_libraries.end());

    layout.plain_libraries = listing.plain_libraries;
    std::vector<std::pair<RedistPart, std::regex>> known;
    for (const auto part : kParts) {
        for (const auto& glob : layout.globs(part))
            known.emplace_back(part, std::regex(regex_of_glob(glob), std::regex::extended));
    }
    for (const auto& entry : entries) {
        const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
            return std::regex_match(entry.place, one.second);
        });
        if (found == known.end()) {
            listing.strays.push_back(entry.place);
            continue;
        }
        listing.parts.insert(found->first);
        if (entry.path == "include/crt/host_config.h" && !entry.is_link) {
            GPKG_TRY(listing.newest_gcc, newest_gcc(entry.file));
        }
        GPKG_CHECK(add_needs(entry, found->first, listing));
    }
    std::sort(listing.strays.begin(), listing.strays.end());
    return listing;
}

}  // namespace gpkg
