#include "libcore/build/checks/binary_checks.hpp"

#include "libcore/base/path_glob.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/binary/rpath.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/build/checks/library_paths_internal.hpp"
#include "libcore/build/payload.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/recipe/dependency.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace gpkg {
namespace {

using Kind = BinaryFinding::Kind;
using Texts = std::vector<std::string>;

/// A glob may mean a library by its name alone, or by its path.
bool is_allowed(const Texts& globs, const std::string& path) {
    return any_path_glob_matches(globs, path) || any_path_glob_matches(globs, file_name_of(path));
}

/// Who gives which library in the host environment, and who of them is a run dependency.
class Givers {
public:
    explicit Givers(const BinaryCheck& check) : check_(check) {
        for (const auto& package : check.host) {
            packages_.emplace(package.name, &package);
            for (const auto& file : package.files) {
                const auto name = file_name_of(file);
                if (is_shared_library_name(name) && !is_in_stubs(file))
                    owners_[std::string(name)].insert(package.name);
            }
        }
        for (const auto& spec : check.run.depends) {
            const std::string name(dependency_name(spec));
            all_known_ = all_known_ && (name.starts_with("__") || packages_.contains(name));
            add(name);
        }
    }

    /// Packages of the host environment that have it.
    std::set<std::string> owners(const std::string& library) const {
        const auto found = owners_.find(library);
        return found == owners_.end() ? std::set<std::string>() : found->second;
    }
    /// Files of those that give libraries to the package.
    void add_files_to(std::set<std::string>& files) const {
        for (const auto& name : giving_) {
            const auto& theirs = packages_.at(name)->files;
            files.insert(theirs.begin(), theirs.end());
        }
    }
    bool is_depended_on(const std::string& package) const { return giving_.contains(package); }
    /// Every run dependency is in the host environment.
    bool all_known() const { return all_known_; }

private:
    /// A dependency that holds no library itself (a metapackage, one of headers) stands for what it
    /// depends on.
    void add(const std::string& name) {
        const auto found = packages_.find(name);
        if (found == packages_.end() || !giving_.insert(name).second) return;
        const auto& package = *found->second;
        const bool has_library =
            std::any_of(package.files.begin(), package.files.end(), [&](const auto& file) {
                std::error_code ignored;
                return is_shared_library_name(file_name_of(file)) &&
                       fs::symlink_status(check_.prefix / file, ignored).type() ==
                           fs::file_type::regular;
            });
        if (has_library) return;
        for (const auto& spec : package.depends) add(std::string(dependency_name(spec)));
    }

    const BinaryCheck& check_;
    std::map<std::string, const EnvironmentFiles*> packages_;
    std::map<std::string, std::set<std::string>> owners_;
    std::set<std::string> giving_;
    bool all_known_ = true;
};

class Checker {
public:
    explicit Checker(const BinaryCheck& check)
        : check_(check), linking_(check.output.build.dynamic_linking) {}

    Result<BinaryReport> run() && {
        GPKG_TRY(const auto binaries, read_binaries(check_.prefix, check_.files));
        GPKG_CHECK(summarize());
        check_drivers(binaries);
        const Givers givers(check_);
        const LibraryPaths paths(check_, binaries, given_files(givers));
        for (const auto& binary : binaries) check_library_path(paths, binary);
        check_needs(givers, paths, binaries);
        if (linking_.refuse_overdepending) {
            GPKG_TRY(auto unused, unused_dependencies(check_, binaries, report_.binaries.needs));
            take(std::move(unused));
        }
        GPKG_CHECK(check_glibc(binaries));
        take(gpu_code_findings(check_.output.used_variant, report_.binaries.gpu));
        return std::move(report_);
    }

private:
    void take(std::vector<BinaryFinding> more) {
        for (auto& one : more) report_.findings.push_back(std::move(one));
    }

    void add(Kind kind,
             const std::string& file,
             const std::string& subject,
             std::string message,
             std::string hint) {
        report_.findings.push_back(
            {kind, true, file, subject, fmt::format("{}: {}", file, message), std::move(hint)});
    }

    Result<void> summarize() {
        auto& all = report_.binaries;
        GPKG_TRY(all.gpu_files, gpu_code_of(check_.prefix, check_.files));
        for (const auto& [file, code] : all.gpu_files) all.gpu.add(code);
        return {};
    }

    /// What is allowed to be without a library is allowed to be without a new enough one.
    Result<void> check_glibc(const std::vector<Binary>& binaries) {
        auto& release = report_.binaries.glibc;
        std::map<std::string, Texts> files;  // by the release that they need
        for (const auto& binary : binaries) {
            if (any_path_glob_matches(linking_.missing_dso_allowlist, binary.path)) continue;
            release = newer_glibc(release, binary.elf.glibc);
            files[binary.elf.glibc].push_back(binary.path);
        }
        GPKG_TRY(auto findings, glibc_findings(check_.run.depends, files[release], release));
        take(std::move(findings));
        return {};
    }

    void check_drivers(const std::vector<Binary>& binaries) {
        std::map<std::string, std::string> drivers;  // path -> the driver library it is
        for (const auto& file : check_.files) {
            if (is_driver_library(file_name_of(file))) drivers[file] = file_name_of(file);
        }
        for (const auto& binary : binaries) {
            if (is_driver_library(binary.elf.soname)) drivers[binary.path] = binary.elf.soname;
        }
        for (const auto& [file, library] : drivers) {
            if (is_in_stubs(file) || is_allowed(linking_.missing_dso_allowlist, file)) continue;
            add(Kind::DriverLibrary,
                file,
                library,
                fmt::format("{} is part of the GPU driver, which comes from the machine", library),
                fmt::format("exclude it with build.files.exclude: [{}]; put stubs for the linker "
                            "into a folder named stubs; if the package provides a driver, add it "
                            "to build.dynamic_linking.missing_dso_allowlist",
                            file));
        }
    }

    void check_library_path(const LibraryPaths& paths, const Binary& binary) {
        if (is_in_stubs(binary.path)) return;  // the loader never sees it
        // The loader ignores DT_RPATH where there is a DT_RUNPATH.
        const auto& entries = binary.elf.runpath.empty() ? binary.elf.rpath : binary.elf.runpath;
        for (const auto& entry : entries) {
            const auto fault = fault_of_entry(paths, entry, parent_of(binary.path));
            if (fault.empty() || any_path_glob_matches(linking_.rpath_allowlist, entry)) continue;
            add(Kind::LibraryPath,
                binary.path,
                entry,
                fmt::format("library path entry '{}' {}", entry, fault),
                "let gpkg set the library path (build.dynamic_linking.binary_relocation and "
                "rpaths), or allow the entry in build.dynamic_linking.rpath_allowlist");
        }
    }

    static std::string fault_of_entry(const LibraryPaths& paths,
                                      const std::string& entry,
                                      const std::string& folder) {
        constexpr std::string_view kStubs = "is a folder of stubs, which are for the linker only";
        if (const auto rest = after_origin(entry)) {
            const auto target = normal_inside(joined_path(folder, *rest));
            if (!target) return "points outside the prefix";
            return is_in_stubs(*target) ? std::string(kStubs) : std::string();
        }
        if (!entry.starts_with('/')) return "is relative to the working directory";
        if (is_in_stubs(entry)) return std::string(kStubs);
        // Installing puts the real prefix there.
        if (entry.starts_with(canonical_placeholder())) return {};
        if (paths.is_of_build(entry)) return "is a folder of this build";
        return "points outside the prefix";
    }

    /// Files of the package and of its run dependencies, without those for linkers alone.
    std::set<std::string> given_files(const Givers& givers) const {
        std::set<std::string> given(check_.files.begin(), check_.files.end());
        givers.add_files_to(given);
        std::erase_if(given, [](const auto& file) { return is_in_stubs(file); });
        return given;
    }

    void check_needs(const Givers& givers,
                     const LibraryPaths& paths,
                     const std::vector<Binary>& binaries) {
        std::set<std::string> own;
        for (const auto& file : check_.files) {
            if (!is_in_stubs(file)) own.emplace(file_name_of(file));
        }
        std::map<std::string, Needing> needed;
        for (const auto& binary : binaries) {
            if (is_in_stubs(binary.path)) continue;
            check_interpreter(paths, binary);
            for (const auto& library : binary.elf.needed) add_need(paths, binary, library, needed);
        }
        for (const auto& [library, by] : needed) {
            if (is_glibc_library(library)) continue;
            const bool is_given =
                own.contains(library) || check_need(givers, {library, by.files, {}});
            if (is_given && linking_.refuse_overlinking) check_reached(paths, library, by);
        }
    }

    /// Who needs a library.
    struct Needing {
        Texts files;
        std::vector<const Binary*> by_name;  ///< those that do not name its path
    };

    void add_need(const LibraryPaths& paths,
                  const Binary& binary,
                  const std::string& library,
                  std::map<std::string, Needing>& needed) {
        const bool is_path = library.find('/') != std::string::npos;
        const auto inside = is_path ? paths.inside(library) : std::nullopt;
        if (is_path && !(inside && paths.is_given(*inside)))
            return check_path_needed(paths, binary, library);
        auto& needing = needed[std::string(file_name_of(library))];
        if (needing.files.empty() || needing.files.back() != binary.path)
            needing.files.push_back(binary.path);
        if (!is_path) needing.by_name.push_back(&binary);
    }

    /// A library without a soname is needed by the path that it was linked by.
    void check_path_needed(const LibraryPaths& paths,
                           const Binary& binary,
                           const std::string& path) {
        if (!linking_.refuse_overlinking || is_allowed(linking_.missing_dso_allowlist, path))
            return;
        add(Kind::Overlinking,
            binary.path,
            path,
            fmt::format("links to {} by path: {}", shown(paths, path), fault_of_path(paths, path)),
            "set a soname (-Wl,-soname) and link with -L and -l; if every machine has the library, "
            "add it to build.dynamic_linking.missing_dso_allowlist");
    }

    /// "$PREFIX/lib/libz.so.1": the prefix of a build is long.
    static std::string shown(const LibraryPaths& paths, const std::string& path) {
        const auto inside = paths.inside(path);
        return inside ? "$PREFIX/" + *inside : path;
    }

    /// Of a path that leads to nothing given.
    static std::string fault_of_path(const LibraryPaths& paths, const std::string& path) {
        if (paths.inside(path)) return "neither the package nor a run dependency has this file";
        if (paths.is_of_build(path)) return "it is in a folder of this build";
        return path.starts_with('/') ? "it is outside the prefix"
                                     : "it is relative to the working directory";
    }

    void check_interpreter(const LibraryPaths& paths, const Binary& binary) {
        const auto& loader = binary.elf.interpreter;
        if (loader.empty()) return;
        const auto inside = paths.inside(loader);
        const bool is_wrong = inside ? !paths.is_given(*inside)
                                     : !loader.starts_with('/') || paths.is_of_build(loader);
        if (!is_wrong || is_allowed(linking_.missing_dso_allowlist, loader)) return;
        add(Kind::LibraryPath,
            binary.path,
            loader,
            fmt::format(
                "uses the loader {}: {}", shown(paths, loader), fault_of_path(paths, loader)),
            "link without -Wl,--dynamic-linker, or with the system loader "
            "/lib64/ld-linux-x86-64.so.2");
    }

    /// A program's own library path is what there is; a library may be found by what loads it.
    void check_reached(const LibraryPaths& paths, const std::string& library, const Needing& by) {
        if (is_allowed(linking_.missing_dso_allowlist, library)) return;
        for (const auto* binary : by.by_name) {
            if (!binary->elf.is_dynamic || paths.leads_to(*binary, library)) continue;
            const auto places = paths.places_of(library);
            add(Kind::LibraryPath,
                binary->path,
                library,
                fmt::format("needs {}, but its library path does not contain {}",
                            library,
                            join_some(places, "or")),
                fmt::format("add it with build.dynamic_linking.rpaths: [{}]", places.front()));
            report_.findings.back().is_error = !binary->elf.interpreter.empty();
        }
    }

    /// Whether a run dependency has the library.
    bool check_need(const Givers& givers, LibraryNeed need) {
        const auto owners = givers.owners(need.library);
        for (const auto& owner : owners) {
            if (need.package.empty() && givers.is_depended_on(owner)) need.package = owner;
        }
        const bool is_given = !need.package.empty();
        if (!is_given) {
            need.is_driver = is_driver_library(need.library);
            need.is_allowed = !linking_.refuse_overlinking ||
                              is_allowed(linking_.missing_dso_allowlist, need.library);
        }
        if (!need.is_settled() && (!owners.empty() || givers.all_known())) tell(need, owners);
        report_.binaries.needs.push_back(std::move(need));
        return is_given;
    }

    void tell(const LibraryNeed& need, const std::set<std::string>& owners) {
        const auto files = join_some(need.files, "and");
        if (owners.empty()) {
            add(Kind::Overlinking,
                files,
                need.library,
                fmt::format("needs {}, which is not in the package, the host environment or glibc",
                            need.library),
                fmt::format("add the package with {0} to requirements.host and requirements.run; "
                            "if every machine has it, add it to "
                            "build.dynamic_linking.missing_dso_allowlist: [{0}]",
                            need.library));
            return;
        }
        const auto& owner = *owners.begin();
        const auto& needs = check_.output.requirements;
        const bool is_ignored = std::find(needs.ignore_run_exports_by_name.begin(),
                                          needs.ignore_run_exports_by_name.end(),
                                          owner) != needs.ignore_run_exports_by_name.end();
        add(Kind::Overlinking,
            files,
            need.library,
            fmt::format("needs {} from {}, but the package does not depend on {}",
                        need.library,
                        owner,
                        owner),
            is_ignored
                ? fmt::format("remove {} from requirements.ignore_run_exports.by_name", owner)
                : fmt::format("add {} to requirements.run", owner));
    }

    const BinaryCheck& check_;
    const DynamicLinking& linking_;
    BinaryReport report_;
};

}  // namespace

Result<std::vector<EnvironmentFiles>> environment_files(const fs::path& prefix) {
    std::vector<EnvironmentFiles> packages;
    std::error_code ignored;
    if (!fs::is_directory(prefix / "conda-meta", ignored)) return packages;
    GPKG_TRY(auto records, read_records(prefix));
    packages.reserve(records.size());
    for (auto& record : records)
        packages.push_back(
            {record.name(), std::move(record.package.depends), std::move(record.files)});
    return packages;
}

Result<BinaryReport> check_binaries(const BinaryCheck& check) { return Checker(check).run(); }

Result<void> refuse(const std::vector<BinaryFinding>& findings) {
    std::vector<const BinaryFinding*> errors;
    for (const auto& finding : findings) {
        if (finding.is_error) errors.push_back(&finding);
    }
    if (errors.empty()) return {};
    std::string text;
    for (const auto* error : errors)
        text +=
            fmt::format("{}{}\n  hint: {}", text.empty() ? "" : "\n", error->message, error->hint);
    return fail(ErrorKind::Unsupported, text);
}

Result<PackageBinaries> checked_binaries(const BinaryCheck& check,
                                         std::vector<std::string>& warnings) {
    GPKG_TRY(auto report, check_binaries(check));
    for (const auto& finding : report.findings) {
        if (!finding.is_error)
            warnings.push_back(fmt::format("{}; {}", finding.message, finding.hint));
    }
    auto refused = refuse(report.findings);
    if (!refused) {
        auto error = std::move(refused).error();
        error.message = fmt::format("{}: the package does not match its recipe:\n{}",
                                    check.output.distribution(),
                                    error.message);
        return pass(std::move(error));
    }
    return std::move(report.binaries);
}

}  // namespace gpkg
