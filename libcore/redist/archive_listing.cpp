#include "libcore/redist/archive_listing.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/binary/elf.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/package/source_archive.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <tuple>
#include <utility>

namespace gpkg {
namespace {

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
        Entry entry{walk->path(), walk->path().lexically_relative(top).native(), {}, false};
        if (type != fs::file_type::regular && type != fs::file_type::symlink)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: not a file, link or folder", entry.path));
        entry.is_link = type == fs::file_type::symlink;
        std::error_code ignored;
        if (layout.is_left_out(entry.path, entry.is_link && fs::is_directory(entry.file, ignored)))
            continue;
        listing.has_license =
            listing.has_license || (entry.path == kRedistLicense && !entry.is_link);
        entry.place = layout.place_of(entry.path);
        if (entry.place.empty()) continue;
        entries.push_back(std::move(entry));
    }
    if (code) return pass(io_error(top, "list the files", code.value()));
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::tie(a.place, a.path) < std::tie(b.place, b.path);
    });
    const auto twice =
        std::adjacent_find(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
            return a.place == b.place;
        });
    if (twice != entries.end())
        return fail(ErrorKind::Unsupported,
                    fmt::format("{} and {} would both be installed as {}",
                                twice->path,
                                std::next(twice)->path,
                                twice->place));
    return entries;
}

/// A library called *.so, in the folder where others are links.
bool is_plain_library(const Entry& entry, const std::string& folder) {
    return !entry.is_link && entry.place.starts_with(folder) && entry.place.ends_with(".so") &&
           entry.place.find('/', folder.size()) == std::string::npos;
}

Result<void> add_needs(const fs::path& top,
                       const Entry& entry,
                       RedistPart part,
                       RedistListing& listing) {
    const auto name = file_name_of(entry.place);
    if (part == RedistPart::Stubs || part == RedistPart::Static || part == RedistPart::Docs)
        return {};
    if (is_shared_library_name(name)) listing.libraries.emplace(name, part);
    if (entry.is_link) return {};
    GPKG_TRY(const auto elf, read_elf_in(top, entry.path));
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
    if (!listed) return pass(std::move(listed).error().while_doing("reading " + archive.native()));
    const auto& entries = *listed;
    const auto in_lib = layout.target + "/lib/";
    for (const auto& entry : entries) {
        if (!is_plain_library(entry, in_lib)) continue;
        if (entry.place.find_first_of("*?[$") != std::string::npos)
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: unsupported file name {}", archive.native(), entry.path));
        listing.plain_libraries.push_back(entry.place);
        listing.plain_libraries.push_back("lib/" + entry.place.substr(in_lib.size()));
    }
    std::sort(listing.plain_libraries.begin(), listing.plain_libraries.end());

    layout.plain_libraries = listing.plain_libraries;
    std::vector<std::pair<RedistPart, std::regex>> known;
    for (const auto part : redist_parts()) {
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
        auto added = add_needs(top, entry, found->first, listing);
        if (!added)
            return pass(std::move(added).error().while_doing("reading " + archive.native()));
    }
    std::sort(listing.strays.begin(), listing.strays.end());
    return listing;
}

}  // namespace gpkg
