#include "cli/other_names.hpp"

#include "cli/help.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace gpkg::cli {
namespace {

/// Commands and options of other tools, and what gpkg has for them.
struct OtherName {
    /// "ls", "config unset", "build -o"; "* --cpu": an option of any command; "info *": any
    /// argument of a command; "rename": a command of gpkg, where its words are wrong in another
    /// way.
    std::string_view words;
    std::string_view hint;  ///< "@how-to/update-gpkg.md" stands for the path of that page
};

constexpr OtherName kOtherNames[] = {
    {"* --cpu", "use --accel none"},
    {"* --cpu-only", "use --accel none"},
    {"* --cuda",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* --driver",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* --env",
     "for an environment: -n NAME; for a variable: gpkg env config vars set -n NAME KEY=VALUE"},
    {"* --gpu",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* --insecure", "to skip the check of certificates: gpkg config set ssl_verify false"},
    {"* --no-default-packages", "gpkg adds no default packages; leave the option out"},
    {"* --no-gpu", "use --accel none"},
    {"* --solver", "gpkg has one solver; leave the option out"},
    {"* --token", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"* --virtual-package",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* -k", "to skip the check of certificates: gpkg config set ssl_verify false"},
    {"auth", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"autoremove",
     "gpkg remove also removes dependencies that nothing else needs; to free disk space: gpkg "
     "clean --all; what it deletes: gpkg clean --dry-run"},
    {"bug", "use gpkg info --report"},
    {"bug-report", "use gpkg info --report"},
    {"build --channel-dir", "use --output-dir FOLDER"},
    {"build --output", "use --output-dir FOLDER"},
    {"build --output-folder", "use --output-dir FOLDER"},
    {"build --recipe", "name the recipe without an option: gpkg build RECIPE"},
    {"build -f", "name the recipe without an option: gpkg build RECIPE"},
    {"build -o", "use --output-dir FOLDER"},
    {"build -r", "name the recipe without an option: gpkg build RECIPE"},
    {"builds", "use gpkg variants"},
    {"cache", "use gpkg clean to free space, or gpkg info to see the folders"},
    {"channel", "gpkg index FOLDER makes a channel of a folder with packages"},
    {"check", "use gpkg verify -n NAME, or gpkg doctor -n NAME"},
    {"clean *",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --cache",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --env",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --envs",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --name",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --prefix",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --size", "use --dry-run"},
    {"clean -n",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean -sy", "to remove everything that is unused: gpkg clean --all -y"},
    {"clone", "use gpkg create -n NEW --clone OLD"},
    {"compare", "use gpkg diff A B, or gpkg sync -n NAME -f FILE --dry-run"},
    {"config --validate", "gpkg config list warns of invalid settings"},
    {"config add", "use gpkg config append KEY VALUE"},
    {"config set vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"config show", "use gpkg config list"},
    {"config unset", "use gpkg config remove-key"},
    {"copy", "use gpkg create -n NEW --clone OLD"},
    {"cp", "use gpkg create -n NEW --clone OLD"},
    {"create --class", "the machine decides the class; use --for NAME"},
    {"create --force",
     "to change an environment: gpkg sync -n NAME -f FILE; to replace it: gpkg env remove -n NAME "
     "first"},
    {"create -e", "for an environment of a lock: --environment NAME; for a name: -n NAME"},
    {"delete", "use gpkg env remove -n NAME, or gpkg remove -n NAME PACKAGE"},
    {"dependencies", "use gpkg tree"},
    {"dependents", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"depends", "use gpkg tree -n NAME PACKAGE, or gpkg repoquery depends PACKAGE"},
    {"deploy --partition", "use --for partition=NAME"},
    {"deps", "use gpkg tree"},
    {"detect", "use gpkg hardware"},
    {"df", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"diff --file", "use gpkg sync -f FILE --dry-run"},
    {"diff -f", "use gpkg sync -f FILE --dry-run"},
    {"disk", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"disk-usage", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"du", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"env config set", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env config vars add", "use gpkg env config vars set"},
    {"env config vars delete", "use gpkg env config vars unset"},
    {"env config vars get", "use gpkg env config vars list"},
    {"env config vars remove", "use gpkg env config vars unset"},
    {"env config vars rm", "use gpkg env config vars unset"},
    {"env config vars show", "use gpkg env config vars list"},
    {"env delete", "use gpkg env remove"},
    {"env diff", "use gpkg diff A B"},
    {"env info", "use gpkg info -n NAME"},
    {"env ls", "use gpkg env list"},
    {"env path", "gpkg env list lists the paths; for a program: gpkg run -n NAME which PROGRAM"},
    {"env remove --all", "this command removes the whole environment; leave the option out"},
    {"env rm", "use gpkg env remove"},
    {"env set", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env show", "use gpkg info -n NAME, or gpkg list -n NAME"},
    {"env uninstall", "use gpkg env remove"},
    {"env unset", "use gpkg env config vars unset -n NAME KEY"},
    {"env update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update --all "
     "--dry-run"},
    {"env var", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"exec --dry-run", "gpkg solve PACKAGE shows the packages without installing them"},
    {"exec --file",
     "for the packages of a file: gpkg create -n NAME -f FILE, then gpkg run -n NAME COMMAND"},
    {"exec --from", "use --spec PACKAGE"},
    {"exec --list", "gpkg clean --exec --dry-run shows the temporary environments"},
    {"exec --name", "to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"exec --package", "use --spec PACKAGE"},
    {"exec --prefix", "to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"exec --python", "use --with python=3.12"},
    {"exec -f",
     "for the packages of a file: gpkg create -n NAME -f FILE, then gpkg run -n NAME COMMAND"},
    {"exec -n", "to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"exec -p", "to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"explain", "use gpkg why or gpkg why-not"},
    {"fix", "use gpkg repair -n NAME"},
    {"freeze", "use gpkg env export"},
    {"gc", "to free disk space: gpkg clean --all; what it deletes: gpkg clean --dry-run"},
    {"global",
     "use gpkg exec TOOL to run a tool without installing it, or gpkg create -n TOOL TOOL"},
    {"gpu", "use gpkg hardware"},
    {"history *", "to see what generation 4 changed: gpkg diff 3 4 -n NAME"},
    {"hold", "use gpkg pin"},
    {"import", "use gpkg create -f environment.yml, or gpkg lock convert pixi.lock gpkg.lock"},
    {"info *", "for a package: gpkg show PACKAGE"},
    {"install --check",
     "use gpkg install --dry-run --json; actions.LINK and actions.UNLINK are empty if nothing "
     "changes"},
    {"install --frozen", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --lock", "use gpkg sync -n NAME --lock FILE"},
    {"install --locked", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --pypi", "use gpkg run -n NAME python -m pip install PACKAGE"},
    {"install --revision", "use gpkg rollback N; gpkg history lists N"},
    {"leaves", "use gpkg list --requested"},
    {"list --deps", "use gpkg tree -n NAME"},
    {"list --from-history", "use --requested"},
    {"list --leaves", "use --requested"},
    {"list --manual", "use --requested"},
    {"list --outdated", "use gpkg update --all --dry-run"},
    {"list --pinned", "use gpkg pins"},
    {"list --revisions", "use gpkg history"},
    {"list --roots", "use --requested"},
    {"list --top-level", "use --requested"},
    {"list --tree", "use gpkg tree -n NAME"},
    {"list --user", "use --requested"},
    {"lock --locked", "use gpkg lock check"},
    {"lock --upgrade", "use gpkg lock update"},
    {"lock add", "add it to environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock diff", "use gpkg diff OLD.lock NEW.lock"},
    {"lock export", "use gpkg lock convert"},
    {"lock install", "use gpkg create -n NAME --lock gpkg.lock"},
    {"lock remove", "remove it from environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock status", "use gpkg lock check"},
    {"lock upgrade", "use gpkg lock update"},
    {"lock verify", "use gpkg lock check"},
    {"login", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"logout", "remove the login from ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"ls", "use gpkg list"},
    {"mirror --name",
     "export the environment: gpkg env export -n ml -f ml.yml; gpkg mirror -f ml.yml"},
    {"mirror -n", "export the environment: gpkg env export -n ml -f ml.yml; gpkg mirror -f ml.yml"},
    {"module delete", "to delete one module: rm FILE"},
    {"module list", "module avail lists modules; gpkg module check lists those that are outdated"},
    {"module remove",
     "to delete one module: rm FILE; gpkg module write --all deletes those of removed "
     "environments"},
    {"module rm", "to delete one module: rm FILE"},
    {"move", "use gpkg rename OLD NEW"},
    {"mv", "use gpkg rename OLD NEW"},
    {"needed-by", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"needs", "what a package needs: gpkg tree -n NAME PACKAGE; what needs it: add --invert"},
    {"new", "use gpkg create -n NAME"},
    {"outdated", "use gpkg update --all --dry-run"},
    {"package", "gpkg show PACKAGE describes a package; gpkg pack -n NAME packs an environment"},
    {"pin", "gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME"},
    {"pin --list", "use gpkg pins"},
    {"pin list", "use gpkg pins"},
    {"prefix", "gpkg env list lists the paths; for a program: gpkg run -n NAME which PROGRAM"},
    {"project", "the requests of a project are in environment.yml: gpkg sync -f environment.yml"},
    {"prune", "to free disk space: gpkg clean --all; what it deletes: gpkg clean --dry-run"},
    {"publish", "gpkg build RECIPE --output-dir CHANNEL builds into a channel"},
    {"purge",
     "to free disk space: gpkg clean --all; what it deletes: gpkg clean --dry-run; to remove an "
     "environment: gpkg env remove -n NAME"},
    {"rdepends", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"rdeps", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"recover", "use gpkg rollback -n NAME; gpkg history -n NAME lists the generations"},
    {"redo", "use gpkg rollback N; gpkg history lists N"},
    {"reinstall", "use gpkg install -n NAME --force-reinstall PACKAGE"},
    {"remove --cascade", "gpkg removes dependents, too; leave the option out"},
    {"remove --force", "gpkg removes dependents, too; they cannot be kept"},
    {"remove --force-remove", "gpkg removes dependents, too; they cannot be kept"},
    {"remove --no-deps", "gpkg removes dependents, too; they cannot be kept"},
    {"remove --nodeps", "gpkg removes dependents, too; they cannot be kept"},
    {"remove gpkg", "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"rename", "the new name or path is an argument: gpkg rename OLD NEW"},
    {"repoquery rdepends", "use gpkg repoquery whoneeds"},
    {"repoquery rdeps", "use gpkg repoquery whoneeds"},
    {"repoquery tree --reverse", "use --invert"},
    {"report", "use gpkg info --report"},
    {"requested", "use gpkg list -n NAME --requested"},
    {"required-by", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"restore", "use gpkg rollback -n NAME; gpkg history -n NAME lists the generations"},
    {"revdeps", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"revert", "use gpkg rollback -n NAME; gpkg history -n NAME lists the generations"},
    {"rm", "use gpkg remove"},
    {"rollback --list", "use gpkg history"},
    {"rollback --revision", "name the generation without an option: gpkg rollback N"},
    {"rollback --to", "name the generation without an option: gpkg rollback N"},
    {"run --chdir", "use --cwd PATH"},
    {"run --directory", "use --cwd PATH"},
    {"run --env",
     "for an environment: -n NAME; for a variable: gpkg run -n NAME env VAR=VALUE COMMAND; for "
     "good: "
     "gpkg env config vars set -n NAME VAR=VALUE"},
    {"run --environment", "use -n NAME"},
    {"run --with", "use gpkg exec --with PACKAGE COMMAND"},
    {"run --workdir", "use --cwd PATH"},
    {"run -C", "use --cwd PATH"},
    {"run -c", "to run shell commands: gpkg run -n NAME sh -c 'COMMANDS'"},
    {"run -d", "use --cwd PATH"},
    {"run -e",
     "for an environment: -n NAME; for a variable: gpkg run -n NAME env VAR=VALUE COMMAND; for "
     "good: "
     "gpkg env config vars set -n NAME VAR=VALUE"},
    {"search --depends", "use gpkg tree PACKAGE"},
    {"search --deps", "use gpkg tree PACKAGE"},
    {"search --limit",
     "a version gives fewer results: gpkg search SPEC; or: gpkg search SPEC | head"},
    {"self", "to update gpkg: @how-to/update-gpkg.md; to remove it: @how-to/uninstall-gpkg.md"},
    {"self-uninstall", "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"self-update", "to update gpkg: @how-to/update-gpkg.md"},
    {"selfupdate", "to update gpkg: @how-to/update-gpkg.md"},
    {"set",
     "for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME "
     "KEY=VALUE"},
    {"setenv", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"show --deps", "use gpkg tree PACKAGE"},
    {"sign", "use gpkg index FOLDER --sign-key FILE"},
    {"size", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"solve --name", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve --prefix", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -n", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -p", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"store", "to free disk space: gpkg clean --all; what it deletes: gpkg clean --dry-run"},
    {"sync --class", "the machine decides the class; use --for NAME"},
    {"task", "gpkg has no tasks; to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"tool", "use gpkg exec TOOL to run a tool without installing it, or gpkg create -n TOOL TOOL"},
    {"undelete", "use gpkg rollback -n NAME; gpkg history -n NAME lists the generations"},
    {"undo", "use gpkg rollback"},
    {"unpack",
     "to unpack an archive of gpkg pack: mkdir ml && tar -xf ml.tar.zst -C ml && "
     "ml/bin/gpkg-relocate"},
    {"update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update --all "
     "--dry-run"},
    {"update --lock", "use gpkg sync -n NAME --lock FILE"},
    {"update --outdated", "use gpkg update --all --dry-run"},
    {"update --undo", "use gpkg rollback"},
    {"update gpkg", "to update gpkg itself: @how-to/update-gpkg.md"},
    {"upload", "gpkg build RECIPE --output-dir CHANNEL builds into a channel"},
    {"usage", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"uvx", "use gpkg exec"},
    {"var", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"variants --name",
     "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants --prefix",
     "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants -n", "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants -p", "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"verify --all",
     "verify checks one environment: gpkg verify -n NAME; for the package store: --store"},
    {"verify-package", "use gpkg inspect FILE"},
    {"virtual-packages", "use gpkg hardware"},
    {"where", "gpkg env list lists the paths; for a program: gpkg run -n NAME which PROGRAM"},
    {"which", "gpkg env list lists the paths; for a program: gpkg run -n NAME which PROGRAM"},
    {"who-needs", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"whoneeds", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"why --channel",
     "why explains an installed package; for a request: gpkg why-not SPEC or gpkg variants NAME"},
    {"why -c",
     "why explains an installed package; for a request: gpkg why-not SPEC or gpkg variants NAME"},
    {"workspace", "the requests of a project are in environment.yml: gpkg sync -f environment.yml"},
    {"x", "use gpkg exec"},
};

/// The hint with the paths of the pages that it names.
std::string with_pages(std::string_view hint) {
    std::string text;
    for (auto at = hint.find('@'); at != std::string_view::npos; at = hint.find('@')) {
        const auto end = std::min(hint.find(".md", at) + 3, hint.size());
        text += hint.substr(0, at);
        text += documentation_page(hint.substr(at + 1, end - at - 1));
        hint.remove_prefix(end);
    }
    return text.append(hint);
}

}  // namespace

std::string hint_for_other_name(const std::string& command, std::string_view word) {
    const auto hint_of = [](const std::string& words) {
        const auto* const found = std::ranges::find(kOtherNames, words, &OtherName::words);
        return found == std::ranges::end(kOtherNames) ? "" : with_pages(found->hint);
    };
    if (command.empty()) return hint_of(std::string(word));
    auto hint = hint_of(fmt::format("{} {}", command, word));
    if (!hint.empty()) return hint;
    return word.starts_with('-') ? hint_of(fmt::format("* {}", word)) : hint_of(command + " *");
}

}  // namespace gpkg::cli
