#include "libcore/build/sources/git_source.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/process/process.hpp"

#include <fmt/format.h>

namespace gpkg {
namespace {

constexpr std::size_t kCommitLength = 40;

class Git {
public:
    explicit Git(const SourceFetchOptions& options) : options_(options) {}

    Result<std::string> run(const fs::path& folder, std::vector<std::string> arguments) const {
        ProcessCommand command;
        command.arguments = std::move(arguments);
        command.arguments.insert(command.arguments.begin(), "git");
        // The user's own settings (proxies, credentials) count; questions nobody could answer.
        command.environment = current_environment();
        for (const auto* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"})
            command.environment.erase(name);
        command.environment["GIT_TERMINAL_PROMPT"] = "0";
        command.environment["LC_ALL"] = "C";
        command.folder = folder;
        command.umask = 022;
        command.cancelled = options_.cancelled;
        GPKG_TRY(const auto done, run_and_capture(command));
        if (done.exit_code == 0) return std::string(trim(done.output));
        return fail(
            ErrorKind::Io,
            fmt::format(
                "git {}: {}", command.arguments[1], last_lines(trim(done.output), kShownLines)));
    }

private:
    static constexpr std::size_t kShownLines = 5;
    const SourceFetchOptions& options_;
};

bool is_commit(std::string_view text) { return is_hex(text, kCommitLength); }

Result<void> refuse_offline(const RecipeSource& source, const SourceFetchOptions& options) {
    if (!options.offline || source.git.starts_with('/') || source.git.starts_with("file://"))
        return {};
    return fail(ErrorKind::Network,
                fmt::format("{}: {} is not in the source cache, and --offline is set",
                            source.git,
                            source.git_reference),
                is_commit(source.git_reference)
                    ? ""
                    : "use 'rev' with a full commit id to build from the source cache");
}

/// A bare clone that holds the commit, in the cache under the commit's name.
Result<fs::path> fetch_commit(const RecipeSource& source,
                              const std::string& commit,
                              const SourceFetchOptions& options) {
    auto place =
        options.cache / "git" /
        fmt::format("{}-{}",
                    hex_digest(DigestKind::Sha256, source.git).substr(0, 16),
                    source.git_depth > 0 ? fmt::format("{}-{}", commit, source.git_depth) : commit);
    std::error_code code;
    if (fs::exists(place, code)) return place;
    GPKG_CHECK(refuse_offline(source, options));
    GPKG_CHECK(make_folders(place.parent_path()));
    GPKG_TRY(const auto arriving, TemporaryFolder::make(place.parent_path()));
    const Git git(options);
    const auto clone = arriving.path() / "clone";
    std::vector<std::string> arguments{"clone", "--quiet", "--bare"};
    if (source.git_depth > 0) {
        arguments.push_back(fmt::format("--depth={}", source.git_depth));
        const auto slash = source.git_reference.find('/', 5);
        if (slash != std::string::npos)
            arguments.push_back("--branch=" + source.git_reference.substr(slash + 1));
    }
    arguments.insert(arguments.end(), {"--", source.git, clone.native()});
    GPKG_TRY(const auto cloned, git.run(arriving.path(), arguments));
    const auto has = git.run(clone, {"cat-file", "-e", commit + "^{commit}"});
    if (!has)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: commit {} is not in any branch or tag", source.git, commit));
    GPKG_CHECK(rename_path(clone, place));
    return place;
}

}  // namespace

Result<std::string> resolve_git(const RecipeSource& source, const SourceFetchOptions& options) {
    const auto& reference = source.git_reference;
    if (is_commit(reference)) return reference;
    GPKG_CHECK(refuse_offline(source, options));
    // Of an annotated tag the second line, ^{}, is the commit.
    const Git git(options);
    auto listed = git.run({}, {"ls-remote", "--", source.git, reference, reference + "^{}"});
    if (!listed) return pass(std::move(listed).error().while_doing("querying " + source.git));
    std::string commit;
    for (const auto line : split(*listed, '\n')) {
        const auto id = line.substr(0, line.find('\t'));
        if (is_commit(id)) commit = id;
    }
    if (!commit.empty()) return commit;
    return fail(ErrorKind::NotFound,
                fmt::format("{}: no branch or tag {}", source.git, reference),
                "use 'branch', 'tag', or 'rev' with a full commit id");
}

Result<void> provide_git(const RecipeSource& source,
                         const fs::path& target,
                         const SourceFetchOptions& options) {
    GPKG_TRY(const auto commit, resolve_git(source, options));
    GPKG_TRY(const auto cached, fetch_commit(source, commit, options));
    const Git git(options);
    std::error_code code;
    if (!fs::is_empty(target, code) && !code)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: a git source needs an empty folder", source.git),
                    "set target_directory for this source");
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"clone", "--quiet", "--no-hardlinks", "--no-checkout", cached.native(), "."},
             {"remote", "set-url", "origin", source.git},
             {"-c", "advice.detachedHead=false", "checkout", "--quiet", commit}}) {
        GPKG_TRY(const auto said, git.run(target, arguments));
    }
    if (source.git_lfs) {
        GPKG_TRY(const auto said, git.run(target, {"lfs", "pull"}));
    }
    if (!fs::exists(target / ".gitmodules", code)) return {};
    GPKG_TRY(const auto said,
             git.run(target, {"submodule", "update", "--init", "--recursive", "--quiet"}));
    return {};
}

}  // namespace gpkg
