// Run dependencies that nothing needs. A dependency can be needed in many ways that no ELF file
// tells: its programs are called, its modules imported, its headers included, its libraries opened
// by name, its folders filled with plugins. So only packages of the host environment that hold
// shared libraries are looked at, every trace of such a use counts, and it is an error only where
// the dependency can be for nothing else: it comes from a run_exports, which says "what linked with
// me needs me", or it holds libraries and no programs.

#include "libcore/base/has_word.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/binary/rpath.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/recipe/dependency.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace gpkg {
namespace {

using Texts = std::vector<std::string>;

bool is_regular(const fs::path& path) {
    std::error_code ignored;
    return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
}

bool is_program(std::string_view path) {
    const auto folder = parent_of(path);
    return folder == "bin" || folder == "sbin" || folder.starts_with("libexec");
}

/// "lib", "lib64", "targets/x86_64-linux/lib": where libraries lie for everybody.
bool is_public_library(std::string_view path) {
    const auto parent = parent_of(path);
    const auto folder = file_name_of(parent);
    return (folder == "lib" || folder == "lib64") && is_shared_library_name(file_name_of(path)) &&
           file_name_of(path).starts_with("lib");
}

/// "lib/gdalplugins" of a file in or below it: a folder of one package, which others put things
/// into for it. Empty for files elsewhere.
std::string_view private_folder(std::string_view path) {
    if (!path.starts_with("lib/")) return {};
    const auto end = path.find('/', 4);
    if (end == std::string_view::npos) return {};
    const auto folder = path.substr(0, end);
    return folder == "lib/pkgconfig" || folder == "lib/cmake" ? std::string_view() : folder;
}

/// What is between the brackets or quotes of every #include.
void add_includes(std::string_view text, std::set<std::string>& names) {
    for (auto line : split(text, '\n')) {
        line = trim(line);
        if (!line.starts_with('#')) continue;
        line = trim(line.substr(1));
        if (!line.starts_with("include")) continue;
        const auto start = line.find_first_of("<\"");
        if (start == std::string_view::npos) continue;
        const auto end = line.find_first_of(">\"", start + 1);
        if (end != std::string_view::npos) names.emplace(line.substr(start + 1, end - start - 1));
    }
}

struct Candidate {
    std::string name;
    std::set<std::string> stems;  ///< "libmagma.so"
    std::set<std::string> programs;
    std::set<std::string> headers;  ///< as they are included
    std::set<std::string> modules;  ///< of pkg-config
    bool is_exported = false;       ///< from a run_exports of the host environment alone
    bool is_used = false;
};

class Search {
public:
    Search(const BinaryCheck& check,
           const std::vector<Binary>& binaries,
           const std::vector<LibraryNeed>& needs)
        : check_(check) {
        for (const auto& need : needs) needed_.insert(need.library);
        for (const auto& file : check.files) {
            if (const auto folder = private_folder(file); !folder.empty()) folders_.emplace(folder);
            add_link(file);
            links_statically_ = links_statically_ || file.ends_with(".a");
        }
        links_ = std::any_of(
            binaries.begin(), binaries.end(), [](const auto& one) { return one.elf.is_dynamic; });
    }

    Result<std::vector<BinaryFinding>> run() && {
        for (const auto& spec : check_.run.depends) consider(std::string(dependency_name(spec)));
        if (!candidates_.empty()) GPKG_CHECK(look_for_traces());
        std::vector<BinaryFinding> findings;
        for (const auto& one : candidates_) {
            if (!one.is_used) findings.push_back(finding_of(one));
        }
        return findings;
    }

private:
    /// A link to a file of another package is a use of it.
    void add_link(const std::string& file) {
        std::error_code code;
        const auto target = fs::read_symlink(check_.prefix / file, code);
        if (code || target.is_absolute()) return;
        const auto inside = normal_inside(joined_path(parent_of(file), target.native()));
        if (inside) link_targets_.insert(*inside);
    }

    void consider(const std::string& name) {
        const auto found = std::find_if(check_.host.begin(),
                                        check_.host.end(),
                                        [&](const auto& one) { return one.name == name; });
        if (found == check_.host.end() || is_of_compiler(name)) return;
        Candidate candidate;
        candidate.name = name;
        bool has_library = false;
        for (const auto& file : found->files) {
            const auto base = std::string(file_name_of(file));
            if (needed_.contains(base) || link_targets_.contains(file) ||
                folders_.contains(std::string(private_folder(file))))
                return;
            if (is_public_library(file)) {
                has_library = has_library || is_regular(check_.prefix / file);
                candidate.stems.insert(base.substr(0, base.find(".so") + 3));
            }
            if (is_program(file)) candidate.programs.insert(base);
            if (file.starts_with("include/")) candidate.headers.insert(file.substr(8));
            if (file.ends_with(".pc")) candidate.modules.insert(base.substr(0, base.size() - 3));
        }
        if (!has_library) return;
        const auto& run = check_.output.requirements.run;
        candidate.is_exported = std::none_of(run.begin(), run.end(), [&](const auto& spec) {
            return dependency_name(spec) == name;
        });
        // Without anything that links, a library that the recipe names is for what is not seen.
        if (!links_ && !candidate.is_exported) return;
        candidates_.push_back(std::move(candidate));
    }

    /// A compiler's run_exports are about the language, not about one library: a C program that
    /// happens to need nothing of libgcc is no mistake.
    bool is_of_compiler(std::string_view name) const {
        return std::any_of(check_.build.begin(), check_.build.end(), [&](const auto& package) {
            const auto& strong = package.run_exports.strong;
            return std::any_of(strong.begin(), strong.end(), [&](const auto& spec) {
                return dependency_name(spec) == name;
            });
        });
    }

    Result<void> look_for_traces() {
        std::set<std::string> included;
        for (const auto& file : check_.files) {
            GPKG_CHECK(check_cancelled(check_.cancelled));
            const auto path = check_.prefix / file;
            if (!is_regular(path)) continue;
            if (file.starts_with("include/")) {
                GPKG_TRY(const auto text, read_file(path));
                add_includes(text, included);
            }
            // Longer than any name that is looked for.
            constexpr std::size_t kOverlap = 512;
            GPKG_CHECK(read_in_pieces(path, kOverlap, [&](auto piece, std::uint64_t) {
                for (auto& one : candidates_)
                    one.is_used = one.is_used || is_named_in(piece, file.ends_with(".pc"), one);
                return true;
            }));
        }
        for (auto& one : candidates_) {
            one.is_used = one.is_used ||
                          std::any_of(one.headers.begin(),
                                      one.headers.end(),
                                      [&](const auto& name) { return included.contains(name); });
        }
        return {};
    }

    static bool is_named_in(std::string_view text, bool is_pc, const Candidate& one) {
        const auto has = [&](const std::set<std::string>& words) {
            return std::any_of(words.begin(), words.end(), [&](const auto& word) {
                return has_word(text, word, "_-");
            });
        };
        // A run_exports is not for the programs that come with a library.
        return std::any_of(one.stems.begin(),
                           one.stems.end(),
                           [&](const auto& stem) { return text.find(stem) != text.npos; }) ||
               (is_pc && has(one.modules)) || (!one.is_exported && has(one.programs));
    }

    BinaryFinding finding_of(const Candidate& one) const {
        BinaryFinding finding;
        finding.kind = BinaryFinding::Kind::Overdepending;
        finding.is_error = one.is_exported ? links_ || links_statically_ : one.programs.empty();
        finding.subject = one.name;
        const Texts stems(one.stems.begin(), one.stems.end());
        finding.message = fmt::format(
            "{}: the package depends on it{}, but no file of the package needs or names {}",
            one.name,
            one.is_exported ? " (from run_exports of host)" : "",
            join_some(stems, "or"));
        finding.hint =
            one.is_exported
                ? fmt::format(
                      "if it is linked statically or only used to build, add {} to "
                      "requirements.ignore_run_exports.by_name",
                      one.name)
                : fmt::format(
                      "remove {} from requirements.run; if the package uses it in another way, set "
                      "build.dynamic_linking.overdepending_behavior: ignore",
                      one.name);
        return finding;
    }

    const BinaryCheck& check_;
    std::set<std::string> needed_;        ///< libraries
    std::set<std::string> folders_;       ///< private_folder() of the package's files
    std::set<std::string> link_targets_;  ///< paths in the prefix
    bool links_ = false;                  ///< there are programs or libraries
    bool links_statically_ = false;       ///< there are static libraries
    std::vector<Candidate> candidates_;
};

}  // namespace

Result<std::vector<BinaryFinding>> unused_dependencies(const BinaryCheck& check,
                                                       const std::vector<Binary>& binaries,
                                                       const std::vector<LibraryNeed>& needs) {
    if (!check.output.build.noarch.empty()) return std::vector<BinaryFinding>();
    return Search(check, binaries, needs).run();
}

}  // namespace gpkg
