#include "libcore/env/laid_out.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/link_files_internal.hpp"
#include "libcore/env/link_script_internal.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <system_error>

namespace gpkg {
namespace {

/// Sources per interpreter: always as many, so that the same sources give the same bytes however
/// many processors there are.
constexpr std::size_t kSourcesAtOnce = 400;

/// Reads lines "source TAB compiled TAB name TAB quiet", the last empty or not: what pip installs
/// has files that are no python, or another one's. What is compiled is never looked at again when
/// the source is older or newer: neither will change.
constexpr std::string_view kCompiler = R"py(
import py_compile, sys
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
for line in sys.stdin.buffer.read().split(b"\n"):
    if line:
        source, compiled, name, quiet = [word.decode("utf-8", "surrogateescape") for word in line.split(b"\t")]
        try:
            py_compile.compile(source, compiled, name, True, invalidation_mode=mode)
        except Exception as error:
            if not quiet: print("***", name, str(error).split("\n")[0])
)py";

/// A file that is compiled into another.
struct CompiledFile {
    fs::path source;
    std::string target;  ///< in the prefix
    std::string name;    ///< of the source, as tracebacks will have it
    bool may_fail = false;
    unsigned mode = 0644;  ///< of what is compiled, which tells what the source does
};

PrefixRecord without_places(PrefixRecord record) {
    record.link_source.clear();
    record.extracted_package_dir.clear();
    record.link_type = LinkType::Copy;
    return record;
}

unsigned mode_of(const fs::path& file) {
    std::error_code ignored;
    const auto mode = fs::status(file, ignored).permissions();
    return (mode & fs::perms::owner_exec) != fs::perms::none ? 0755 : 0644;
}

/// Of what a user has put there, which need not be for others.
unsigned users_mode_of(const fs::path& path) { return mode_of(path) & ~kept_from(path); }

class Layout {
public:
    Layout(const Transaction& transaction,
           Plan& plan,
           const LayOutOptions& options,
           const TakeLaidOut& take)
        : transaction_(transaction), plan_(plan), options_(options), take_(take) {}

    Result<void> hand_over();
    std::vector<std::string> take_warnings() { return std::move(warnings_); }

private:
    using Type = LaidOutFile::Type;

    void find_ways();
    void find_replaced();
    bool is_replaced(const std::string& path, bool is_folder) const;
    std::string real_path(std::string path) const;
    Result<std::vector<std::pair<std::string, std::string>>> meta_files();
    Result<void> hand_over_folders();
    Result<void> hand_over_others();
    bool is_module(const std::string& path) const;
    void note_private(const LaidOutFile& file);
    void note_module_of_others(const LaidOutFile& file);
    Result<void> hand_over_package(PackagePlan& package);
    Result<void> check_source(const PackagePlan& package, const LinkItem& item);
    Result<void> hand_over_item(const PackagePlan& package, LinkItem& item);
    Result<void> hand_over_replaced(const PackagePlan& package, LinkItem& item, LaidOutFile file);
    Result<void> hand_over_link(const PackagePlan& package, const LinkItem& item, LaidOutFile link);
    Result<void> note_module(const LinkItem& item, const LaidOutFile& file);
    Result<void> compile();
    Result<std::string> compile(const fs::path& python, std::size_t first, std::size_t last) const;

    const Transaction& transaction_;
    Plan& plan_;
    const LayOutOptions& options_;
    const TakeLaidOut& take_;
    std::map<std::string, std::string> ways_;  ///< links that files go through, and where they lead
    std::map<std::string, fs::path> modules_;  ///< python sources by their path in the prefix
    std::set<std::string> replaced_;           ///< by nothing, or by what is compiled of others
    std::set<std::string> files_of_others_;    ///< and links
    std::set<std::string> folders_of_others_;
    std::vector<CompiledFile> compilations_;
    std::vector<std::string> changed_in_store_;
    std::vector<std::string> private_;  ///< of a user, who does not let all read it
    unsigned kept_from_ = 0;            ///< bits of a mode, of those who may not read all that is
    std::vector<std::string> warnings_;
};

std::string link_target(const PackagePlan& package, const LinkItem& item) {
    std::error_code ignored;
    return fs::read_symlink(package.unpacked / item.source, ignored).native();
}

void Layout::find_ways() {
    for (const auto& package : plan_.packages) {
        for (const auto& item : package.items) {
            if (!item.early || item.skipped) continue;
            const auto to = joined_path(parent_of(item.target), link_target(package, item));
            if (auto inside = normal_inside(to)) ways_.emplace(item.target, *std::move(inside));
        }
    }
}

/// Where a path lies once the links on its way are followed.
std::string Layout::real_path(std::string path) const {
    // The plan has gone all these ways, so they end.
    for (auto slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
        const auto way = ways_.find(path.substr(0, slash));
        if (way == ways_.end()) continue;
        path = joined_path(way->second, std::string_view(path).substr(slash + 1));
        slash = 0;
    }
    return path;
}

Result<void> Layout::hand_over_link(const PackagePlan& package,
                                    const LinkItem& item,
                                    LaidOutFile link) {
    link.type = Type::SoftLink;
    link.content = link_target(package, item);
    auto named = link_with_prefix(*item.entry, link.content, plan_.named_prefix);
    if (options_.relocatable && named != link.content)
        link.placeholder = item.entry->prefix_placeholder;
    else
        link.content = std::move(named);
    return take_(link);
}

/// A file in which the prefix is replaced.
Result<void> Layout::hand_over_replaced(const PackagePlan& package,
                                        LinkItem& item,
                                        LaidOutFile file) {
    const auto& entry = *item.entry;
    file.source = package.unpacked / item.source;
    file.mode = mode_of(file.source);
    if (options_.relocatable) {
        // Not compiled either: python would go on with what was compiled from it.
        file.placeholder = entry.prefix_placeholder;
        file.binary = entry.mode == FileMode::Binary;
        return take_(file);
    }
    if (entry.mode == FileMode::Binary && item.size > kMostHeld) {
        GPKG_TRY(
            file.changes,
            changes_in_binary(
                file.source, entry.prefix_placeholder, plan_.named_prefix.native(), entry.path));
        return take_(file);
    }
    GPKG_TRY(file.content, bytes_with_prefix(entry, file.source, plan_.named_prefix));
    file.source.clear();
    item.sha256 = hex_digest(DigestKind::Sha256, file.content);
    GPKG_CHECK(note_module(item, file));
    return take_(file);
}

/// What it is compiled from lies in the store, or is written for that.
Result<void> Layout::note_module(const LinkItem& item, const LaidOutFile& file) {
    if (!item.target.ends_with(".py")) return {};
    auto source = file.source;
    if (source.empty()) {
        source = options_.workplace / fmt::format("{}.py", modules_.size());
        GPKG_CHECK(write_file_atomically(source, file.content));
    }
    modules_.emplace(item.target, std::move(source));
    return {};
}

/// An edit in one environment reaches the store, and all others, through their hard links.
Result<void> Layout::check_source(const PackagePlan& package, const LinkItem& item) {
    const auto source = package.unpacked / item.source;
    const auto& promised = item.entry->sha256;
    if (promised.empty()) return {};
    GPKG_TRY(const auto found, sha256_of_file(source));
    if (found == promised) return {};
    std::error_code ignored;
    if (!options_.original.empty() &&
        fs::equivalent(options_.original / item.target, source, ignored)) {
        changed_in_store_.push_back(item.target);
        return {};
    }
    return fail(ErrorKind::Integrity,
                fmt::format("{} of {}: the checksum of {} does not match the package",
                            item.source,
                            package.distribution,
                            source.native()),
                "to remove damaged packages from the store: gpkg repair --store; then run the "
                "command again");
}

Result<void> Layout::hand_over_item(const PackagePlan& package, LinkItem& item) {
    LaidOutFile file;
    file.path = real_path(item.target);
    if (is_replaced(file.path, false)) {
        item.sha256 = item.entry != nullptr ? item.entry->sha256 : std::string();
        return {};
    }
    switch (item.kind) {
    case LinkKind::Folder: return {};  // with the others
    case LinkKind::SoftLink: return hand_over_link(package, item, std::move(file));
    case LinkKind::Replace:
        GPKG_CHECK(check_source(package, item));
        return hand_over_replaced(package, item, std::move(file));
    case LinkKind::Link:
    case LinkKind::CopyOnly:
        GPKG_CHECK(check_source(package, item));
        file.source = package.unpacked / item.source;
        file.mode = mode_of(file.source);
        item.sha256 = item.entry->sha256;
        GPKG_CHECK(note_module(item, file));
        return take_(file);
    case LinkKind::EntryPoint:
        file.content = item.content;
        file.mode = 0755;
        if (options_.relocatable) {
            file.placeholder = plan_.named_prefix.native();
            item.size = 0;  // not known before it lies somewhere
        } else {
            item.sha256 = hex_digest(DigestKind::Sha256, item.content);
        }
        return take_(file);
    case LinkKind::Pyc:
        if (const auto source = modules_.find(item.source); source != modules_.end()) {
            compilations_.push_back(
                {source->second, file.path, (plan_.named_prefix / item.source).native()});
        }
        return {};
    }
    return {};
}

Result<void> Layout::hand_over_package(PackagePlan& package) {
    const auto& cancelled = options_.transaction.cancelled;
    for (auto& item : package.items) {
        if (cancelled && cancelled()) return fail(ErrorKind::Interrupted, "interrupted");
        if (!item.skipped) GPKG_CHECK(hand_over_item(package, item));
    }
    const auto& name = package.request->record.name;
    for (const auto* action : {"pre-link", "post-link"}) {
        if (package.links(link_script_path(name, action)))
            warnings_.push_back(
                fmt::format("{}: the {} script is not run", package.distribution, action));
    }
    return {};
}

/// The sources [first, last), in an order that every run has; what is to be told of them.
Result<std::string> Layout::compile(const fs::path& python,
                                    std::size_t first,
                                    std::size_t last) const {
    const auto list = options_.workplace / fmt::format("{}.list", first);
    std::string lines;
    for (auto i = first; i < last; ++i) {
        const auto& [source, target, name, may_fail, mode] = compilations_[i];
        const auto compiled = options_.workplace / fmt::format("{}.pyc", i);
        lines += fmt::format(
            "{}\t{}\t{}\t{}\n", source.native(), compiled.native(), name, may_fail ? "quiet" : "");
    }
    GPKG_CHECK(write_file_atomically(list, lines));
    ProcessCommand command;
    command.arguments = {python, "-s", "-B", "-Wi", "-c", std::string(kCompiler)};
    // A set is written in the order of its hashes.
    command.environment = {
        {"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}, {"PYTHONHASHSEED", "0"}};
    command.input = list;
    command.cancelled = options_.transaction.cancelled;
    auto run = run_and_capture(command);
    if (!run && run.error().kind == ErrorKind::Interrupted) return pass(std::move(run).error());
    const auto said = run ? last_lines(run->output, 3) : run.error().message;
    if (!run || run->exit_code != 0) return fmt::format("cannot compile python files: {}", said);
    return said.empty() ? said : fmt::format("python files with errors, not compiled: {}", said);
}

Result<void> Layout::compile() {
    const auto package =
        std::find_if(plan_.packages.begin(), plan_.packages.end(), [](const PackagePlan& one) {
            return one.request->record.name == "python";
        });
    if (compilations_.empty() || !plan_.python || package == plan_.packages.end()) return {};
    const auto python = package->unpacked / plan_.python->interpreter();
    const auto pieces = (compilations_.size() + kSourcesAtOnce - 1) / kSourcesAtOnce;
    std::vector<Result<std::string>> done(pieces);
    for_each_index(pieces, options_.transaction.threads, [&](std::size_t i) {
        const auto first = i * kSourcesAtOnce;
        done[i] = compile(python, first, std::min(first + kSourcesAtOnce, compilations_.size()));
    });
    for (auto& said : done) {
        if (!said) return pass(std::move(said).error());
        if (!said->empty()) warnings_.push_back(*std::move(said));
    }
    for (std::size_t i = 0; i < compilations_.size(); ++i) {
        LaidOutFile file;
        file.path = compilations_[i].target;
        file.mode = compilations_[i].mode;
        file.source = options_.workplace / fmt::format("{}.pyc", i);
        std::error_code ignored;
        if (fs::exists(file.source, ignored)) GPKG_CHECK(take_(file));
    }
    return {};
}

/// What conda-meta will hold, by its names in there.
Result<std::vector<std::pair<std::string, std::string>>> Layout::meta_files() {
    std::vector<std::pair<std::string, std::string>> files;
    files.emplace_back("history", plan_.journal.history_block);
    for (const auto& package : plan_.packages)
        files.emplace_back(package.distribution + ".json",
                           without_places(installed_record(package)).to_json());
    if (transaction_.state) files.emplace_back(kStateFile, transaction_.state->to_json());
    if (!transaction_.variables.empty()) {
        GPKG_TRY(auto state, with_env_vars(transaction_.prefix, transaction_.variables));
        files.emplace_back("state", std::move(state));
    }
    files.insert(files.end(), plan_.generations.begin(), plan_.generations.end());
    return files;
}

/// What is below a folder, sorted.
std::vector<std::string> paths_below(const fs::path& folder) {
    std::vector<std::string> paths;
    std::error_code code;
    if (folder.empty()) return paths;
    const auto skip = folder.native().size() + 1;
    for (fs::recursive_directory_iterator walk(folder, code), end; !code && walk != end;
         walk.increment(code))
        paths.push_back(walk->path().native().substr(skip));
    std::sort(paths.begin(), paths.end());
    return paths;
}

Result<bool> contains(const fs::path& file, const std::string& text) {
    bool found = false;
    GPKG_CHECK(read_in_pieces(file, text.size() - 1, [&](std::string_view piece, std::uint64_t) {
        found = piece.find(text) != std::string_view::npos;
        return !found;
    }));
    return found;
}

/// Others lie where a package has another file of that name, and what is compiled from them where
/// it has that of its own.
void Layout::find_replaced() {
    replaced_.insert(options_.removed.begin(), options_.removed.end());
    for (const auto& path : paths_below(options_.others)) {
        std::error_code ignored;
        if (fs::is_directory(fs::symlink_status(options_.others / path, ignored))) {
            folders_of_others_.insert(path);
            continue;
        }
        if (is_module(path)) replaced_.insert(pyc_path(path, *plan_.python));
        files_of_others_.insert(path);
    }
}

/// Whether others are at this place of a package, or a file or link of theirs is on the way to it.
bool Layout::is_replaced(const std::string& path, bool is_folder) const {
    if (replaced_.contains(path) || files_of_others_.contains(path)) return true;
    if (!is_folder && folders_of_others_.contains(path)) return true;
    for (auto folder = parent_of(path); !folder.empty(); folder = parent_of(folder)) {
        if (files_of_others_.contains(folder)) return true;
    }
    return false;
}

bool Layout::is_module(const std::string& path) const {
    return plan_.python && path.ends_with(".py") &&
           path.starts_with(plan_.python->site_packages + "/");
}

Result<void> Layout::hand_over_others() {
    const auto& named = plan_.named_prefix.native();
    for (const auto& path : paths_below(options_.others)) {
        const auto from = options_.others / path;
        std::error_code ignored;
        const auto type = fs::symlink_status(from, ignored).type();
        if (type == fs::file_type::directory) continue;  // with the others
        LaidOutFile file;
        file.path = path;
        if (type == fs::file_type::symlink) {
            file.type = Type::SoftLink;
            file.content = fs::read_symlink(from, ignored).native();
            if (options_.relocatable && file.content.find(named) != std::string::npos)
                file.placeholder = named;
        } else {
            file.source = from;
            file.mode = users_mode_of(from);
            if (options_.relocatable) {
                GPKG_TRY(const bool names, contains(from, named));
                if (names) file.placeholder = named;
            }
            note_module_of_others(file);
        }
        note_private(file);
        GPKG_CHECK(take_(file));
    }
    return {};
}

void Layout::note_private(const LaidOutFile& file) {
    if (file.kept_from() == 0) return;
    private_.push_back(file.path);
    kept_from_ |= file.kept_from();
}

/// A module that pip installed: nobody could keep what is compiled of it where nothing is written.
void Layout::note_module_of_others(const LaidOutFile& file) {
    if (!is_module(file.path) || !file.placeholder.empty()) return;
    compilations_.push_back({file.source,
                             pyc_path(file.path, *plan_.python),
                             (plan_.named_prefix / file.path).native(),
                             true,
                             file.mode & 0666U});
}

Result<void> Layout::hand_over_folders() {
    std::map<std::string, unsigned> folders;
    for (const auto& path : plan_.journal.arriving_folders) folders.emplace(path, 0755);
    for (auto& path : paths_below(options_.others)) {
        std::error_code ignored;
        const auto from = options_.others / path;
        if (fs::symlink_status(from, ignored).type() != fs::file_type::directory) continue;
        folders[std::move(path)] = users_mode_of(from);
    }
    std::erase_if(folders, [this](const auto& folder) { return is_replaced(folder.first, true); });
    folders.emplace("conda-meta", 0755);
    folders.emplace("conda-meta/gpkg", 0755);
    for (const auto& [name, content] : plan_.generations)
        folders.emplace(parent_of("conda-meta/" + name), 0755);
    for (const auto& [folder, mode] : folders) {
        LaidOutFile file;
        file.type = Type::Folder;
        file.path = folder;
        file.mode = mode;
        note_private(file);
        GPKG_CHECK(take_(file));
    }
    return {};
}

Result<void> Layout::hand_over() {
    find_ways();
    find_replaced();
    GPKG_CHECK(hand_over_folders());
    for (auto& package : plan_.packages) GPKG_CHECK(hand_over_package(package));
    GPKG_CHECK(hand_over_others());
    GPKG_CHECK(compile());
    GPKG_TRY(auto meta, meta_files());
    for (auto& [name, content] : meta) {
        LaidOutFile file;
        file.path = "conda-meta/" + name;
        file.content = std::move(content);
        if (file.path == kVariablesFile) file.mode &= ~transaction_.variables_kept_from;
        note_private(file);
        GPKG_CHECK(take_(file));
    }
    if (!changed_in_store_.empty())
        warnings_.push_back(
            fmt::format("{}: changed through a hard link, which also changed the package store and "
                        "other environments; the result contains the changed file",
                        join_some(changed_in_store_, "and")));
    if (!private_.empty())
        warnings_.push_back(fmt::format("the result is readable only by {}, like {} in it",
                                        kept_from_ == 007 ? "you and your group" : "you",
                                        join_some(private_, "and")));
    return {};
}

}  // namespace

Result<std::vector<std::string>> lay_out(const Transaction& transaction,
                                         const LayOutOptions& options,
                                         const TakeLaidOut& take) {
    auto how = options.transaction;
    how.check_room = false;
    GPKG_TRY(auto plan, make_plan(transaction, how));
    auto warnings = plan.cost.warnings;
    Layout layout(transaction, plan, options, take);
    GPKG_CHECK(layout.hand_over());
    for (auto& warning : layout.take_warnings()) warnings.push_back(std::move(warning));
    return warnings;
}

}  // namespace gpkg
