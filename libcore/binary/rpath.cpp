#include "libcore/binary/rpath.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/base/path_glob.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/canonical_placeholder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>

namespace gpkg {
namespace {

std::string origin_entry(std::string_view relative) {
    return relative.empty() ? "$ORIGIN" : fmt::format("$ORIGIN/{}", relative);
}

/// The entry that leads from `folder` to `target`, given only if it leads inside from everywhere.
class Entries {
public:
    explicit Entries(std::vector<std::string> folders) : folders_(std::move(folders)) {}

    void add(std::string_view target, std::string_view folder) {
        const auto relative = path_from(target, folder);
        const bool inside = std::all_of(folders_.begin(), folders_.end(), [&](const auto& from) {
            return normal_inside(joined_path(from, relative)).has_value();
        });
        if (!inside) return;
        auto entry = origin_entry(relative);
        if (std::find(entries_.begin(), entries_.end(), entry) == entries_.end())
            entries_.push_back(std::move(entry));
    }
    void add_as_is(const std::string& entry) {
        if (std::find(entries_.begin(), entries_.end(), entry) == entries_.end())
            entries_.push_back(entry);
    }
    const std::vector<std::string>& folders() const { return folders_; }
    std::vector<std::string> take() && { return std::move(entries_); }

private:
    std::vector<std::string> folders_;
    std::vector<std::string> entries_;
};

// File -> folders that hold a link to it, of all links whose target is one of the files.
std::map<std::string, std::vector<std::string>> links_by_target(const RelocateRequest& request) {
    std::map<std::string, std::vector<std::string>> folders;
    for (const auto& file : request.files) {
        const auto path = request.prefix / file;
        std::error_code code;
        if (!fs::is_symlink(path, code)) continue;
        const auto real = fs::canonical(path, code);
        if (code) continue;
        const auto target = real.lexically_relative(request.prefix).native();
        if (target.empty() || target.starts_with("..")) continue;
        auto& known = folders[target];
        const auto folder = parent_of(file);
        if (folder != parent_of(target) &&
            std::find(known.begin(), known.end(), folder) == known.end())
            known.push_back(folder);
    }
    return folders;
}

// A file of several names would be patched for all of them at once.
Result<void> own_inode(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || status.st_nlink < 2) return {};
    const auto copy = fs::path(file.native() + ".own");
    std::error_code code;
    fs::copy_file(file, copy, code);
    if (!code) fs::rename(copy, file, code);
    if (code)
        return fail(
            ErrorKind::Io,
            fmt::format("{}: cannot replace a hard link: {}", file.native(), code.message()));
    return {};
}

Result<void> make_writable(const fs::path& file) {
    std::error_code code;
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add, code);
    if (code)
        return fail(ErrorKind::Io,
                    fmt::format("{}: cannot make it writable: {}", file.native(), code.message()));
    return {};
}

/// Where an absolute entry leads inside the prefix; no value: elsewhere.
std::optional<std::string> inside_prefix(const std::string& entry, const fs::path& prefix) {
    for (const auto& root : {prefix, fs::path(canonical_placeholder())}) {
        const auto inside = fs::path(entry).lexically_normal().lexically_relative(root).native();
        if (!inside.empty() && !inside.starts_with("..")) return inside == "." ? "" : inside;
    }
    return std::nullopt;
}

/// The loader ignores DT_RPATH where there is a DT_RUNPATH.
const std::vector<std::string>& entries_of(const ElfFile& elf) {
    return elf.runpath.empty() ? elf.rpath : elf.runpath;
}

void tell_left_out(const ElfFile& elf,
                   const std::string& file,
                   const RelocateRequest& request,
                   std::vector<std::string>& warnings) {
    for (const auto& entry : entries_of(elf)) {
        if (!entry.starts_with('/') || inside_prefix(entry, request.prefix) ||
            any_path_glob_matches(request.kept_entries, entry))
            continue;
        warnings.push_back(
            fmt::format("{}: removed {} from the library path, it is outside the prefix (keep it "
                        "with dynamic_linking.rpath_allowlist)",
                        file,
                        entry));
    }
}

using Groups = std::map<std::vector<std::string>, std::vector<fs::path>>;

Result<void> set_all(const Groups& groups, std::size_t jobs, const Cancelled& cancelled) {
    struct Task {
        const std::vector<std::string>* entries;
        std::vector<fs::path> files;
    };
    std::vector<Task> tasks;
    for (const auto& [entries, files] : groups) {
        const auto share = std::max<std::size_t>(1, (files.size() + jobs - 1) / jobs);
        for (std::size_t from = 0; from < files.size(); from += share) {
            const auto end = std::min(files.size(), from + share);
            tasks.push_back({&entries,
                             {files.begin() + static_cast<std::ptrdiff_t>(from),
                              files.begin() + static_cast<std::ptrdiff_t>(end)}});
        }
    }
    std::vector<Result<void>> results(tasks.size());
    for_each_index(tasks.size(), jobs, [&](std::size_t i) {
        results[i] = set_rpath(tasks[i].files, *tasks[i].entries, cancelled);
    });
    for (auto& result : results) GPKG_CHECK(std::move(result));
    return {};
}

}  // namespace

std::optional<std::string_view> after_origin(std::string_view entry) {
    for (const std::string_view start : {"$ORIGIN", "${ORIGIN}"}) {
        if (entry == start) return std::string_view();
        if (entry.starts_with(start) && entry[start.size()] == '/')
            return entry.substr(start.size() + 1);
    }
    return std::nullopt;
}

std::vector<std::string> relative_rpath(const ElfFile& elf,
                                        const std::string& path,
                                        const std::vector<std::string>& link_folders,
                                        const std::vector<std::string>& library_folders,
                                        const fs::path& prefix,
                                        const std::vector<std::string>& kept) {
    const auto own = parent_of(path);
    std::vector<std::string> folders{own};
    folders.insert(folders.end(), link_folders.begin(), link_folders.end());
    Entries entries(std::move(folders));

    const auto& existing = entries_of(elf);
    for (const auto& entry : existing) {
        const auto rest = after_origin(entry);
        const auto target = rest                     ? normal_inside(joined_path(own, *rest))
                            : entry.starts_with('/') ? inside_prefix(entry, prefix)
                                                     : std::nullopt;
        if (!target) continue;
        for (const auto& folder : entries.folders()) entries.add(*target, folder);
    }
    for (const auto& library : library_folders) {
        const auto rest = after_origin(library);
        for (const auto& folder : entries.folders()) {
            const auto target = normal_inside(rest ? joined_path(folder, *rest) : library);
            if (target) entries.add(*target, folder);
        }
    }
    for (const auto& entry : existing) {
        if (entry.starts_with('/') && any_path_glob_matches(kept, entry)) entries.add_as_is(entry);
    }
    return std::move(entries).take();
}

Result<std::vector<std::string>> relocate(const RelocateRequest& request) {
    std::vector<std::string> warnings;
    const auto links = links_by_target(request);
    Groups groups;
    for (const auto& file : request.files) {
        GPKG_CHECK(check_cancelled(request.cancelled));
        const auto path = request.prefix / file;
        std::error_code code;
        if (fs::symlink_status(path, code).type() != fs::file_type::regular) continue;
        if (!request.only.empty() && !any_path_glob_matches(request.only, file)) continue;
        const auto elf = read_elf_in(request.prefix, file);
        if (!elf && elf.error().kind == ErrorKind::Integrity) {
            warnings.push_back(elf.error().message);
            continue;
        }
        if (!elf) return pass(elf.error());
        if (!*elf || !(*elf)->is_dynamic) continue;
        const auto& found = **elf;
        // What needs nothing looks for nothing: the loader itself, static programs.
        if (found.needed.empty() && found.rpath.empty() && found.runpath.empty()) continue;
        tell_left_out(found, file, request, warnings);
        const auto link = links.find(file);
        const auto entries =
            relative_rpath(found,
                           file,
                           link == links.end() ? std::vector<std::string>() : link->second,
                           request.library_folders,
                           request.prefix,
                           request.kept_entries);
        if (found.runpath.empty() && found.rpath == entries) continue;
        GPKG_CHECK(own_inode(path));
        GPKG_CHECK(make_writable(path));
        groups[entries].push_back(path);
    }
    GPKG_CHECK(
        set_all(groups, static_cast<std::size_t>(std::max(1, request.jobs)), request.cancelled));
    return warnings;
}

}  // namespace gpkg
