#include "cli/workflow/build/lint.hpp"

#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg::cli {
namespace {

using Texts = std::vector<std::string>;

/// A package, unpacked for the time of the call.
struct Unpacked {
    TemporaryFolder folder;
    fs::path root;
    PackageRecord record;
    Texts files;
    std::vector<Binary> binaries;
};

/// Warns of files whose needs cannot be known.
Result<Unpacked> unpack(const Context& context, const fs::path& package) {
    GPKG_TRY(auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-lint-"));
    const auto root = folder.path() / "package";
    GPKG_CHECK(unpack_package(package, root));
    GPKG_TRY(auto record, read_index_json(root));
    GPKG_TRY(const auto paths, read_paths(root));
    Texts files;
    for (const auto& entry : paths) files.push_back(entry.path);
    Texts damaged;
    GPKG_TRY(auto binaries, read_binaries(root, files, &damaged));
    for (const auto& text : damaged)
        context.out.warn(fmt::format("{}: {}; its dependencies cannot be checked",
                                     package.filename().native(),
                                     printable(text)));
    return Unpacked{
        std::move(folder), root, std::move(record), std::move(files), std::move(binaries)};
}

bool is_later(const std::string& one, const std::string& other) {
    const auto a = Version::parse(one);
    const auto b = Version::parse(other);
    return a && b && *b < *a;
}

/// What packages of the channel's folder hold.
class Shelf {
public:
    explicit Shelf(fs::path channel) : channel_(std::move(channel)) {}

    /// The package of this record; nothing where the folder does not have it.
    Result<std::optional<ToolkitPart>> find(const PackageRecord& record) const {
        const auto file = channel_ / record.subdir / record.fn;
        std::error_code code;
        if (record.fn.empty() || !fs::is_regular_file(file, code)) return std::nullopt;
        return read_toolkit_part(file);
    }

    /// Packages that have one of the libraries and are no whole toolkits; the latest of each name.
    Result<std::vector<ToolkitPart>> having(const std::set<std::string>& libraries,
                                            const std::string& subdir) const {
        std::map<std::string, ToolkitPart> latest;
        std::error_code code;
        for (const auto& entry : fs::directory_iterator(channel_ / subdir, code)) {
            const auto name = FileName::parse(entry.path().filename().native());
            if (!name || is_whole_toolkit(name->name)) continue;
            GPKG_TRY(auto part, read_toolkit_part(entry.path()));
            const bool has = std::any_of(part.libraries.begin(),
                                         part.libraries.end(),
                                         [&](const auto& one) { return libraries.contains(one); });
            if (!has) continue;
            const auto known = latest.find(part.name);
            if (known == latest.end() || is_later(part.version, known->second.version))
                latest[part.name] = std::move(part);
        }
        std::vector<ToolkitPart> parts;
        parts.reserve(latest.size());
        for (auto& [name, part] : latest) parts.push_back(std::move(part));
        return parts;
    }

private:
    fs::path channel_;
};

/// A toolkit as a dependency brings it.
struct Toolkit {
    std::vector<ToolkitPart> parts;
    ToolkitPart whole;  ///< what lies in packages of the whole itself
};

Result<Toolkit> toolkit_of(BuildSources& sources,
                           const Shelf& shelf,
                           const std::string& dependency,
                           const std::string& subdir) {
    Toolkit toolkit;
    GPKG_TRY(const auto solved, sources.solve({dependency}));
    for (const auto& record : solved.records) {
        GPKG_TRY(auto part, shelf.find(record));
        if (!part) part = known_toolkit_part(record.name, record.version);
        if (!part) continue;
        if (is_whole_toolkit(record.name)) {
            toolkit.whole.libraries.merge(part->libraries);
        } else {
            toolkit.parts.push_back(*std::move(part));
        }
    }
    if (!toolkit.whole.libraries.empty()) {
        GPKG_TRY(auto apart, shelf.having(toolkit.whole.libraries, subdir));
        for (auto& part : apart) {
            const auto is_it = [&](const auto& one) { return one.name == part.name; };
            if (std::none_of(toolkit.parts.begin(), toolkit.parts.end(), is_it))
                toolkit.parts.push_back(std::move(part));
        }
    }
    std::sort(toolkit.parts.begin(), toolkit.parts.end(), [](const auto& a, const auto& b) {
        return a.name < b.name;
    });
    return toolkit;
}

/// Libraries of the whole that are needed, and that none of the parts has.
Texts only_in_whole(const Toolkit& toolkit, const Unpacked& package) {
    std::set<std::string> found;
    for (const auto& binary : package.binaries) {
        for (const auto& library : binary.elf.needed) {
            const bool in_part =
                std::any_of(toolkit.parts.begin(), toolkit.parts.end(), [&](const auto& part) {
                    return part.libraries.contains(library);
                });
            if (toolkit.whole.libraries.contains(library) && !in_part) found.insert(library);
        }
    }
    return {found.begin(), found.end()};
}

/// "libcublas >=12.9.1,<13.0a0" for each part that is used and not depended on already.
Result<Texts> specs_for(const Toolkit& toolkit,
                        const std::vector<ToolkitUse>& uses,
                        const Texts& depends) {
    Texts specs;
    for (const auto& part : toolkit.parts) {
        const bool is_used = std::any_of(
            uses.begin(), uses.end(), [&](const auto& use) { return use.part == part.name; });
        const bool is_there = std::any_of(depends.begin(), depends.end(), [&](const auto& spec) {
            return dependency_name(spec) == part.name;
        });
        if (!is_used || is_there) continue;
        GPKG_TRY(const auto bounds, pin_bounds(part.version, "x.x.x.x.x", "x"));
        specs.push_back(part.name + " " + bounds);
    }
    return specs;
}

std::optional<std::uint64_t> bytes_of(BuildSources& sources, const Texts& specs) {
    const auto solved = sources.solve(specs);
    if (!solved) return std::nullopt;
    std::uint64_t bytes = 0;
    for (const auto& record : solved->records) {
        if (record.size == 0) return std::nullopt;
        bytes += record.size;
    }
    return bytes;
}

/// `depends` are the package's with the advice taken that was given so far, and with this after.
Result<ToolkitFinding> look_at(BuildSources& sources,
                               const Shelf& shelf,
                               const Unpacked& package,
                               const std::string& dependency,
                               Texts& depends) {
    GPKG_TRY(const auto toolkit, toolkit_of(sources, shelf, dependency, package.record.subdir));
    ToolkitFinding finding;
    finding.package = package.record.distribution();
    finding.dependency = dependency;
    finding.only_whole = only_in_whole(toolkit, package);
    GPKG_TRY(finding.uses,
             toolkit_uses(package.root, package.files, package.binaries, toolkit.parts));
    if (!finding.can_be_replaced()) return finding;
    GPKG_TRY(finding.instead, specs_for(toolkit, finding.uses, depends));
    depends.erase(std::find(depends.begin(), depends.end(), dependency));
    depends.insert(depends.end(), finding.instead.begin(), finding.instead.end());
    return finding;
}

}  // namespace

Result<std::vector<ToolkitFinding>> lint_package(Context& context,
                                                 BuildSources& sources,
                                                 const fs::path& channel,
                                                 const fs::path& package) {
    std::vector<ToolkitFinding> findings;
    GPKG_TRY(const auto unpacked, unpack(context, package));
    const Shelf shelf(channel);
    const auto& depends = unpacked.record.depends;
    auto lean = depends;
    for (const auto& dependency : depends) {
        if (!is_whole_toolkit(dependency_name(dependency))) continue;
        auto finding = look_at(sources, shelf, unpacked, dependency, lean);
        if (!finding)
            return pass(
                std::move(finding).error().while_doing("checking dependency " + dependency));
        findings.push_back(*std::move(finding));
    }
    if (lean == depends) return findings;
    const auto before = bytes_of(sources, depends);
    const auto after = lean.empty() ? 0 : bytes_of(sources, lean);
    for (auto& finding : findings) {
        if (!finding.can_be_replaced()) continue;
        finding.before = before;
        finding.after = after;
    }
    return findings;
}

}  // namespace gpkg::cli
