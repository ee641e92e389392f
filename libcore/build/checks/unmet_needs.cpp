#include "libcore/build/checks/unmet_needs.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/binary/host_libraries.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/paths.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/recipe/dependency.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace gpkg {
namespace {

/// What a package of the channel gives: libraries of its own, else what it stands for.
struct Giver {
    std::set<std::string> libraries;
    std::vector<std::string> depends;
    bool has_real_library = false;
};

Result<Giver> read_giver(const fs::path& file) {
    GPKG_TRY(const auto info, read_package_info(file));
    Giver giver;
    GPKG_TRY(auto record, parse_index_json(info.find("index.json")->second, file.native()));
    giver.depends = std::move(record.depends);
    const auto paths = info.find("paths.json");
    if (paths == info.end()) return giver;
    GPKG_TRY(const auto entries, parse_paths_json(paths->second, file.native()));
    for (const auto& entry : entries) {
        const auto name = file_name_of(entry.path);
        if (!is_shared_library_name(name) || is_in_stubs(entry.path)) continue;
        giver.libraries.emplace(name);
        giver.has_real_library = giver.has_real_library || entry.type == PathType::HardLink;
    }
    return giver;
}

BinaryFinding finding_of(const LibraryNeed& need, const std::string& owner, bool all_known) {
    BinaryFinding finding;
    finding.is_error = all_known;
    finding.file = join_some(need.files, "and");
    finding.subject = need.library;
    const std::string_view where = all_known ? "" : " in this channel";
    if (!owner.empty()) {
        finding.message = fmt::format("{}: needs {} from {}, but no run dependency{} has it",
                                      finding.file,
                                      need.library,
                                      owner,
                                      where);
        finding.hint = fmt::format("add {} to requirements.run", owner);
        return finding;
    }
    finding.message = fmt::format("{}: needs {}, which is not in the package or a run dependency{}",
                                  finding.file,
                                  need.library,
                                  where);
    finding.hint = fmt::format(
        "add the package with {0} to requirements.host and requirements.run; if every machine has "
        "it, add it to build.dynamic_linking.missing_dso_allowlist: [{0}]",
        need.library);
    return finding;
}

}  // namespace

struct ChannelLibraries::State {
    fs::path channel;
    std::vector<fs::path> on_their_way;
    bool is_listed = false;
    std::multimap<std::string, fs::path> files;  ///< name of the package -> its files
    std::map<fs::path, Giver> givers;

    void list() {
        if (std::exchange(is_listed, true)) return;
        std::set<std::string> seen;  // on their way, of either format
        const auto add = [&](const fs::path& file) {
            const auto name = FileName::parse(file.filename().native());
            if (!name) return;
            const auto subdir = file.parent_path().filename().native();
            const auto key =
                fmt::format("{}/{}-{}-{}", subdir, name->name, name->version, name->build);
            if (seen.insert(key).second) files.emplace(name->name, file);
        };
        for (const auto& file : on_their_way) add(file);
        std::error_code code;
        for (const auto& subdir : fs::directory_iterator(channel, code)) {
            if (!subdir.is_directory(code)) continue;
            for (const auto& entry : fs::directory_iterator(subdir, code)) add(entry.path());
        }
    }

    Result<const Giver*> giver(const fs::path& file) {
        const auto known = givers.find(file);
        if (known != givers.end()) return &known->second;
        GPKG_TRY(auto read, read_giver(file));
        return &givers.emplace(file, std::move(read)).first->second;
    }

    /// A package of the channel that has the library, for the advice; empty: none.
    std::string owner_of(const std::string& library) {
        list();
        for (const auto& [name, file] : files) {
            const auto found = giver(file);
            if (found && (*found)->libraries.contains(library)) return name;
        }
        return {};
    }

    /// Packages that a dependency can mean.
    Result<std::vector<const Giver*>> meant(const std::string& dependency) {
        list();
        std::vector<const Giver*> found;
        GPKG_TRY(const auto spec, MatchSpec::parse(dependency));
        const auto [first, end] = files.equal_range(std::string(dependency_name(dependency)));
        for (auto at = first; at != end; ++at) {
            const auto name = FileName::parse(at->second.filename().native());
            PackageRecord record;
            record.name = name->name;
            record.version = name->version;
            record.build = name->build;
            if (!spec.matches(record)) continue;
            GPKG_TRY(const auto* one, giver(at->second));
            found.push_back(one);
        }
        return found;
    }

    /// Adds what the dependencies give; false where one of them is not in the channel.
    Result<bool> add_given(const std::vector<std::string>& depends,
                           std::set<std::string>& seen,
                           std::set<std::string>& libraries) {
        bool all_known = true;
        for (const auto& dependency : depends) {
            if (dependency.starts_with("__") || !seen.insert(dependency).second) continue;
            GPKG_TRY(const auto packages, meant(dependency));
            all_known = all_known && !packages.empty();
            for (const auto* giver : packages) {
                libraries.insert(giver->libraries.begin(), giver->libraries.end());
                if (giver->has_real_library) continue;
                GPKG_TRY(const bool known, add_given(giver->depends, seen, libraries));
                all_known = all_known && known;
            }
        }
        return all_known;
    }
};

ChannelLibraries::ChannelLibraries(fs::path channel, std::vector<fs::path> on_their_way)
    : state_(std::make_unique<State>()) {
    state_->channel = std::move(channel);
    state_->on_their_way = std::move(on_their_way);
}
ChannelLibraries::~ChannelLibraries() = default;

Result<std::vector<BinaryFinding>> ChannelLibraries::unmet_needs(const BuiltPackage& package) {
    std::vector<BinaryFinding> findings;
    GPKG_TRY(const auto info, read_package_info(package.file));
    const auto text = info.find(kBinariesFile);
    if (text == info.end()) return findings;
    GPKG_TRY(const auto binaries, parse_binaries_json(text->second, package.file.native()));
    std::vector<const LibraryNeed*> open;
    for (const auto& need : binaries.needs) {
        if (!need.is_settled()) open.push_back(&need);
    }
    if (open.empty()) return findings;

    GPKG_TRY(const auto record,
             parse_index_json(info.find("index.json")->second, package.file.native()));
    std::set<std::string> seen;
    std::set<std::string> given;
    GPKG_TRY(const bool all_known, state_->add_given(record.depends, seen, given));
    for (const auto* need : open) {
        if (given.contains(need->library)) continue;
        findings.push_back(finding_of(*need, state_->owner_of(need->library), all_known));
    }
    return findings;
}

}  // namespace gpkg
