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
    {"* --glibc", "write it behind the machine: --for a100,glibc=2.36"},
    {"* --gpu",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* --hardware", "use --for NAME; gpkg hardware list shows the names"},
    {"* --ignore-builds", "use --no-builds"},
    {"* --insecure", "to skip the check of certificates: gpkg config set ssl_verify false"},
    {"* --machine", "use --for NAME; gpkg hardware list shows the names"},
    {"* --no-build", "use --no-builds"},
    {"* --no-default-packages", "gpkg adds no default packages; leave the option out"},
    {"* --no-gpu", "use --accel none"},
    {"* --profile", "use --for FILE or --for NAME; gpkg hardware list shows the names"},
    {"* --solver", "gpkg has one solver; leave the option out"},
    {"* --token", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"* --virtual-package",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* -k", "to skip the check of certificates: gpkg config set ssl_verify false"},
    {"auth", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
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
    {"clean -sy", "to remove everything that is unused: gpkg clean --all -y"},
    {"clone", "use gpkg create -n NEW --clone OLD"},
    {"compare", "use gpkg diff A B, or gpkg sync -n NAME -f FILE --dry-run"},
    {"config --sources", "use gpkg config list --show-sources"},
    {"config --validate", "gpkg config list warns of invalid settings"},
    {"config add", "use gpkg config append KEY VALUE"},
    {"config check", "gpkg config list warns of invalid settings"},
    {"config edit", "use gpkg config set KEY VALUE; gpkg info lists the configuration files"},
    {"config files", "gpkg info lists the configuration files"},
    {"config list --all",
     "gpkg config list shows all settings; with their sources: --show-sources"},
    {"config path", "gpkg info lists the configuration files"},
    {"config set vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"config show", "use gpkg config list"},
    {"config show-sources", "use gpkg config list --show-sources"},
    {"config sources", "use gpkg config list --show-sources"},
    {"config unset", "use gpkg config remove-key"},
    {"convert", "use gpkg lock convert FROM TO"},
    {"copy", "use gpkg create -n NEW --clone OLD"},
    {"create --class", "the machine decides the class; use --for NAME"},
    {"create --force",
     "to change an environment: gpkg sync -n NAME -f FILE; to replace it: gpkg env remove -n NAME "
     "first"},
    {"create --from-history",
     "the author exports with it: conda env export --from-history; for an exported file: "
     "--no-builds"},
    {"create --frozen", "use gpkg create -n NAME --lock gpkg.lock"},
    {"create --locked", "use gpkg create -n NAME --lock gpkg.lock"},
    {"create -e", "for an environment of a lock: --environment NAME; for a name: -n NAME"},
    {"delete", "use gpkg env remove -n NAME, or gpkg remove -n NAME PACKAGE"},
    {"depends", "use gpkg tree -n NAME PACKAGE, or gpkg repoquery depends PACKAGE"},
    {"deploy --partition", "use --for partition=NAME"},
    {"deps", "use gpkg tree"},
    {"detect", "use gpkg hardware"},
    {"diff --file", "use gpkg sync -f FILE --dry-run"},
    {"diff -f", "use gpkg sync -f FILE --dry-run"},
    {"du", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"env clone", "use gpkg create -n NEW --clone OLD"},
    {"env compare", "use gpkg diff A B"},
    {"env config set", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env create --from-history",
     "the author exports with it: conda env export --from-history; for an exported file: "
     "--no-builds"},
    {"env delete", "use gpkg env remove"},
    {"env diff", "use gpkg diff A B"},
    {"env export --format", "use --explicit, --json, --no-builds or --from-history"},
    {"env export --lock",
     "for exact packages: --explicit; for a lock: gpkg lock -f environment.yml"},
    {"env install", "use gpkg install"},
    {"env ls", "use gpkg env list"},
    {"env rename", "use gpkg rename"},
    {"env rm", "use gpkg env remove"},
    {"env sync", "use gpkg sync"},
    {"env update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update --all "
     "--dry-run"},
    {"env vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"exec --from", "use --spec PACKAGE"},
    {"exec --package", "use --spec PACKAGE"},
    {"explain", "use gpkg why or gpkg why-not"},
    {"fix", "use gpkg repair -n NAME"},
    {"freeze", "use gpkg env export"},
    {"global",
     "use gpkg exec TOOL to run a tool without installing it, or gpkg create -n TOOL TOOL"},
    {"gpu", "use gpkg hardware"},
    {"history *", "to see what generation 4 changed: gpkg diff 3 4 -n NAME"},
    {"hold", "use gpkg pin"},
    {"import", "use gpkg create -f environment.yml, or gpkg lock convert pixi.lock gpkg.lock"},
    {"info *", "for a package: gpkg show PACKAGE"},
    {"info --sources", "use gpkg config list --show-sources"},
    {"install --check",
     "use gpkg install --dry-run --json; actions.LINK and actions.UNLINK are empty if nothing "
     "changes"},
    {"install --frozen", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --lock", "use gpkg sync -n NAME --lock FILE"},
    {"install --locked", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --pypi", "use gpkg run -n NAME python -m pip install PACKAGE"},
    {"install --revision", "use gpkg rollback N; gpkg history lists N"},
    {"leaves", "use gpkg list --requested"},
    {"list --from-history", "use --requested"},
    {"list --outdated", "use gpkg update --all --dry-run"},
    {"list --pinned", "use gpkg pins"},
    {"list --revisions", "use gpkg history"},
    {"lock --class", "use --for NAME: each machine gets a class"},
    {"lock --explicit", "use gpkg lock convert gpkg.lock NAME.txt"},
    {"lock --lock", "the lock file is gpkg.lock; for another: -o FILE"},
    {"lock --locked", "use gpkg lock check"},
    {"lock --name", "lock reads a file: gpkg env export -n NAME -f environment.yml; gpkg lock"},
    {"lock --outdated", "use gpkg lock update --all --dry-run"},
    {"lock --platform",
     "for several platforms: list them under 'platforms:' in environment.yml; for machines: --for "
     "a100 --for h100"},
    {"lock --upgrade", "use gpkg lock update --all"},
    {"lock --upgrade-package", "use gpkg lock update NAME"},
    {"lock --yes", "lock asks no questions; leave the option out"},
    {"lock -P", "use gpkg lock update NAME"},
    {"lock -n", "lock reads a file: gpkg env export -n NAME -f environment.yml; gpkg lock"},
    {"lock -y", "lock asks no questions; leave the option out"},
    {"lock add", "add it to environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock check --class", "the machine decides the class; use --for NAME"},
    {"lock check --fix", "use gpkg lock update, or gpkg lock repair"},
    {"lock check --frozen", "gpkg lock check changes nothing; leave the option out"},
    {"lock check --lock", "name the lock without an option: gpkg lock check FILE"},
    {"lock check --locked", "gpkg lock check changes nothing; leave the option out"},
    {"lock check --name", "for an environment: gpkg sync --check -n NAME --lock gpkg.lock"},
    {"lock check --outdated", "use gpkg lock update --all --dry-run"},
    {"lock check --strict", "gpkg lock check fails at any difference; leave the option out"},
    {"lock check -n", "for an environment: gpkg sync --check -n NAME --lock gpkg.lock"},
    {"lock classes", "use gpkg lock list"},
    {"lock convert --for", "use --class NAME; gpkg lock list shows the classes"},
    {"lock create", "use gpkg lock -f environment.yml"},
    {"lock diff", "use gpkg diff OLD.lock NEW.lock"},
    {"lock explain", "gpkg lock check shows the class for this machine"},
    {"lock export", "use gpkg lock convert"},
    {"lock import", "use gpkg lock convert pixi.lock gpkg.lock"},
    {"lock info", "use gpkg lock list"},
    {"lock init", "use gpkg lock -f environment.yml"},
    {"lock install", "use gpkg create -n NAME --lock gpkg.lock"},
    {"lock list --for", "use --class NAME; for the class of a machine: gpkg lock check --for NAME"},
    {"lock outdated", "use gpkg lock update --all --dry-run"},
    {"lock remove", "remove it from environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock select", "gpkg lock check shows the class for this machine"},
    {"lock status", "use gpkg lock check"},
    {"lock sync", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"lock test", "use gpkg lock check"},
    {"lock update --package", "name the package without an option: gpkg lock update NAME"},
    {"lock upgrade", "use gpkg lock update NAME, or --all"},
    {"lock validate", "use gpkg lock check"},
    {"lock verify", "use gpkg lock check"},
    {"lock which", "gpkg lock check shows the class for this machine"},
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
    {"move", "use gpkg rename"},
    {"mv", "use gpkg rename"},
    {"new", "use gpkg create -n NAME"},
    {"outdated", "use gpkg update --all --dry-run"},
    {"package", "gpkg show PACKAGE describes a package; gpkg pack -n NAME packs an environment"},
    {"pin", "gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME"},
    {"pin --list", "use gpkg pins"},
    {"pin list", "use gpkg pins"},
    {"project", "the requests of a project are in environment.yml: gpkg sync -f environment.yml"},
    {"publish", "gpkg build RECIPE --output-dir CHANNEL builds into a channel"},
    {"rdepends", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"redo", "use gpkg rollback N; gpkg history lists N"},
    {"reinstall", "use gpkg install -n NAME --force-reinstall PACKAGE"},
    {"remove --force", "gpkg removes dependents, too; they cannot be kept"},
    {"remove gpkg", "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"rename", "the new name or path is an argument: gpkg rename -n OLD NEW"},
    {"report", "use gpkg info --report"},
    {"rm", "use gpkg remove"},
    {"run --environment", "use -n NAME"},
    {"run --with", "use gpkg exec --with PACKAGE COMMAND"},
    {"search --limit",
     "a version gives fewer results: gpkg search SPEC; or: gpkg search SPEC | head"},
    {"self", "to update gpkg: @how-to/update-gpkg.md; to remove it: @how-to/uninstall-gpkg.md"},
    {"self-uninstall", "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"self-update", "to update gpkg: @how-to/update-gpkg.md"},
    {"selfupdate", "to update gpkg: @how-to/update-gpkg.md"},
    {"set",
     "for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME "
     "KEY=VALUE"},
    {"sign", "use gpkg index FOLDER --sign-key FILE"},
    {"size", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"solve --name", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve --prefix", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -n", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -p", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"sync --class", "the machine decides the class; use --for NAME"},
    {"task", "gpkg has no tasks; to run a command in an environment: gpkg run -n NAME COMMAND"},
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
    {"uvx", "use gpkg exec"},
    {"variants --name",
     "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants --prefix",
     "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants -n", "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants -p", "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"verify --all",
     "verify checks one environment: gpkg verify -n NAME; for the package store: --store"},
    {"verify-package", "use gpkg inspect FILE"},
    {"virtual-packages", "use gpkg hardware"},
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
