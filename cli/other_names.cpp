#include "cli/other_names.hpp"

#include "cli/help.hpp"
#include "libcore/base/text.hpp"

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
    {"audit",
     "gpkg verify -n NAME checks the files of an environment; gpkg inspect FILE checks a package "
     "file"},
    {"auth", "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"bug", "use gpkg info --report"},
    {"bug-report", "use gpkg info --report"},
    {"build --arch",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml; "
     "for CPUs: --variant psabi=x86_64_v3"},
    {"build --channel-dir", "use --output-dir FOLDER"},
    {"build --check", "use --render to check the recipe, or --plan to see what would be built"},
    {"build --clean", "use --rebuild; to delete the work folder: rm -r OUTPUT.work"},
    {"build --cuda",
     "the CUDA version is a variant: --variant cuda_version=12.9, or -m variants.yaml"},
    {"build --cuda-arch",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml"},
    {"build --debug",
     "use --keep-work to keep the build folder, -v to see more; a failed build keeps its folder "
     "and names its log"},
    {"build --for",
     "the tests of a build assume one machine: run gpkg build once for each --for, or add "
     "--no-test"},
    {"build --gpu",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml"},
    {"build --gpus",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml"},
    {"build --host-platform", "use --for, with a profile of that platform"},
    {"build --log", "the log of each build is in OUTPUT.work/logs"},
    {"build --no-sandbox", "use --sandbox off"},
    {"build --noarch", "write noarch: generic or noarch: python in the recipe, below build:"},
    {"build --output", "use --output-dir FOLDER"},
    {"build --output-folder", "use --output-dir FOLDER"},
    {"build --platform", "use --for, with a profile of that platform"},
    {"build --recipe", "name the recipe without an option: gpkg build RECIPE"},
    {"build --target-platform", "use --for, with a profile of that platform"},
    {"build --test", "the tests run with the build; to skip them: --no-test"},
    {"build -f", "name the recipe without an option: gpkg build RECIPE"},
    {"build -o", "use --output-dir FOLDER"},
    {"build -r", "name the recipe without an option: gpkg build RECIPE"},
    {"build -t", "the tests run with the build; to skip them: --no-test"},
    {"build plan-variants *",
     "name the GPUs with an option: --for a100,h100, or --devices 8.0,9.0"},
    {"build plan-variants --arch", "use --devices 8.0,9.0, or --for a100,h100"},
    {"build plan-variants --gpu", "use --devices 8.0,9.0, or --for a100,h100"},
    {"build plan-variants --gpus", "use --devices 8.0,9.0, or --for a100,h100"},
    {"builds", "use gpkg variants"},
    {"cache", "use gpkg clean to free space, or gpkg info to see the folders"},
    {"cat", "use gpkg inspect FILE, or gpkg inspect --files FILE"},
    {"channel", "gpkg index FOLDER makes a channel of a folder with packages"},
    {"check",
     "use gpkg verify -n NAME, or gpkg doctor -n NAME; for a package file: gpkg inspect FILE"},
    {"clean -sy", "to remove everything that is unused: gpkg clean --all -y"},
    {"clone", "use gpkg create -n NEW --clone OLD"},
    {"compare", "use gpkg diff A B, or gpkg sync -n NAME -f FILE --dry-run"},
    {"config --validate", "gpkg config list warns of invalid settings"},
    {"config add", "use gpkg config append KEY VALUE"},
    {"config set vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"config show", "use gpkg config list"},
    {"config unset", "use gpkg config remove-key"},
    {"contents", "use gpkg inspect --files FILE"},
    {"copy", "use gpkg create -n NEW --clone OLD"},
    {"create --class", "the machine decides the class; use --for NAME"},
    {"create --force",
     "to change an environment: gpkg sync -n NAME -f FILE; to replace it: gpkg env remove -n NAME "
     "first"},
    {"create --use-local", "name your channel: -c ./CHANNEL"},
    {"create -e", "for an environment of a lock: --environment NAME; for a name: -n NAME"},
    {"debug",
     "to see why a build fails: gpkg build RECIPE --keep-work; the error names the log and the "
     "folder"},
    {"delete", "use gpkg env remove -n NAME, or gpkg remove -n NAME PACKAGE"},
    {"depends", "use gpkg tree -n NAME PACKAGE, or gpkg repoquery depends PACKAGE"},
    {"deploy --partition", "use --for partition=NAME"},
    {"deps", "use gpkg tree"},
    {"describe",
     "for a package of the channels: gpkg show PACKAGE; for a package file: gpkg inspect FILE"},
    {"detect", "use gpkg hardware"},
    {"diff --file", "use gpkg sync -f FILE --dry-run"},
    {"diff -f", "use gpkg sync -f FILE --dry-run"},
    {"du", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"env clone", "use gpkg create -n NEW --clone OLD"},
    {"env compare", "use gpkg diff A B"},
    {"env config set", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env delete", "use gpkg env remove"},
    {"env diff", "use gpkg diff A B"},
    {"env install", "use gpkg install"},
    {"env ls", "use gpkg env list"},
    {"env rename", "use gpkg rename"},
    {"env rm", "use gpkg env remove"},
    {"env sync", "use gpkg sync"},
    {"env update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update --all "
     "--dry-run"},
    {"env vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"examine",
     "for a package of the channels: gpkg show PACKAGE; for a package file: gpkg inspect FILE"},
    {"exec --from", "use --spec PACKAGE"},
    {"exec --package", "use --spec PACKAGE"},
    {"explain", "use gpkg why or gpkg why-not"},
    {"extract",
     "to list the files of a package: gpkg inspect --files FILE; to install it: gpkg create -n "
     "NAME ./FILE"},
    {"files",
     "for a package file: gpkg inspect --files FILE; for an installed package: gpkg inspect "
     "--files -n NAME PACKAGE"},
    {"fix", "use gpkg repair -n NAME"},
    {"freeze", "use gpkg env export"},
    {"global",
     "use gpkg exec TOOL to run a tool without installing it, or gpkg create -n TOOL TOOL"},
    {"gpg",
     "to create a key: gpkg keys generate FILE; to sign a channel: gpkg index FOLDER --sign-key "
     "FILE"},
    {"gpu", "use gpkg hardware"},
    {"history *", "to see what generation 4 changed: gpkg diff 3 4 -n NAME"},
    {"hold", "use gpkg pin"},
    {"import", "use gpkg create -f environment.yml, or gpkg lock convert pixi.lock gpkg.lock"},
    {"index --check",
     "to check the signature: gpkg keys verify FOLDER; to check the package files: --verify"},
    {"index --sign", "use --sign-key FILE; to create a key: gpkg keys generate FILE"},
    {"info *", "for a package: gpkg show PACKAGE"},
    {"inspect --depends", "gpkg inspect FILE shows the dependencies; leave the option out"},
    {"inspect --extract",
     "to list the files: --files; to install the package: gpkg create -n NAME ./FILE"},
    {"inspect --verify", "gpkg inspect FILE checks the files; leave the option out"},
    {"install --check",
     "use gpkg install --dry-run --json; actions.LINK and actions.UNLINK are empty if nothing "
     "changes"},
    {"install --frozen", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --lock", "use gpkg sync -n NAME --lock FILE"},
    {"install --locked", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --pypi", "use gpkg run -n NAME python -m pip install PACKAGE"},
    {"install --revision", "use gpkg rollback N; gpkg history lists N"},
    {"install --use-local", "name your channel: -c ./CHANNEL"},
    {"keys add", "to trust a public key: gpkg config append trusted_keys.CHANNEL_URL KEY"},
    {"keys export", "to print the public key: gpkg keys show FILE"},
    {"keys import", "to trust a public key: gpkg config append trusted_keys.CHANNEL_URL KEY"},
    {"keys list",
     "to list trusted keys: gpkg config get trusted_keys; for the public key of a file: gpkg keys "
     "show FILE"},
    {"keys remove",
     "to stop trusting keys of a channel: gpkg config remove-key trusted_keys.CHANNEL_URL"},
    {"keys revoke", "make a root without the key: @how-to/sign-a-channel.md"},
    {"keys rotate", "gpkg keys root names the new key: @how-to/sign-a-channel.md"},
    {"keys trust", "to trust a public key: gpkg config append trusted_keys.CHANNEL_URL KEY"},
    {"leaves", "use gpkg list --requested"},
    {"list --from-history", "use --requested"},
    {"list --outdated", "use gpkg update --all --dry-run"},
    {"list --pinned", "use gpkg pins"},
    {"list --revisions", "use gpkg history"},
    {"lmod", "use gpkg module write -n NAME"},
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
    {"module avail", "that is a command of Lmod: module use FOLDER; module avail"},
    {"module check --name", "gpkg module check checks all modules; leave the option out"},
    {"module check -n", "gpkg module check checks all modules; leave the option out"},
    {"module delete", "to delete one module: rm FILE"},
    {"module list", "module avail lists modules; gpkg module check lists those that are outdated"},
    {"module load", "that is a command of Lmod: module use FOLDER; module load NAME"},
    {"module remove",
     "to delete one module: rm FILE; gpkg module write --all deletes those of removed "
     "environments"},
    {"module rm", "to delete one module: rm FILE"},
    {"module show", "that is a command of Lmod: module use FOLDER; module show NAME"},
    {"module update", "use gpkg module write -n NAME"},
    {"module unload", "that is a command of Lmod: module unload NAME"},
    {"module use", "that is a command of Lmod: module use FOLDER; module load NAME"},
    {"module write --lmod", "use --format lua"},
    {"module write --lua", "use --format lua"},
    {"module write --name",
     "-n names the environment; for the name of the module: --as NAME/VERSION"},
    {"module write --tcl", "use --format tcl"},
    {"module write --version", "use --as NAME/VERSION"},
    {"modulefile", "use gpkg module write -n NAME"},
    {"move", "use gpkg rename"},
    {"mv", "use gpkg rename"},
    {"new", "for an environment: gpkg create -n NAME; for a recipe: @how-to/first-recipe.md"},
    {"outdated", "use gpkg update --all --dry-run"},
    {"package", "gpkg show PACKAGE describes a package; gpkg pack -n NAME packs an environment"},
    {"pin", "gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME"},
    {"pin --list", "use gpkg pins"},
    {"pin list", "use gpkg pins"},
    {"project", "the requests of a project are in environment.yml: gpkg sync -f environment.yml"},
    {"publish",
     "gpkg build RECIPE --output-dir CHANNEL builds into a channel; to add package files: copy "
     "them into CHANNEL/linux-64, then gpkg index CHANNEL"},
    {"rdepends", "use gpkg tree -n NAME --invert PACKAGE, or gpkg repoquery whoneeds PACKAGE"},
    {"recipe",
     "write a recipe.yaml: @how-to/first-recipe.md; to print it rendered: gpkg build RECIPE "
     "--render"},
    {"redo", "use gpkg rollback N; gpkg history lists N"},
    {"reinstall", "use gpkg install -n NAME --force-reinstall PACKAGE"},
    {"remove --force", "gpkg removes dependents, too; they cannot be kept"},
    {"remove gpkg", "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"rename", "the new name or path is an argument: gpkg rename -n OLD NEW"},
    {"render", "use gpkg build RECIPE --render"},
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
    {"serve",
     "a channel is a folder that any web server can serve; without one, use it as it is: -c "
     "./CHANNEL"},
    {"set",
     "for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME "
     "KEY=VALUE"},
    {"sign", "use gpkg index FOLDER --sign-key FILE"},
    {"size", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"skeleton", "write a recipe.yaml: @how-to/first-recipe.md"},
    {"solve --name", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve --prefix", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -n", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -p", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"sync --class", "the machine decides the class; use --for NAME"},
    {"task", "gpkg has no tasks; to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"test", "gpkg build runs the tests of a recipe; --no-test skips them"},
    {"trust", "to trust a public key: gpkg config append trusted_keys.CHANNEL_URL KEY"},
    {"undo", "use gpkg rollback"},
    {"unpack",
     "to unpack an archive of gpkg pack: mkdir ml && tar -xf ml.tar.zst -C ml && "
     "ml/bin/gpkg-relocate; "
     "for a package file: gpkg inspect --files FILE"},
    {"update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update --all "
     "--dry-run"},
    {"update --lock", "use gpkg sync -n NAME --lock FILE"},
    {"update --outdated", "use gpkg update --all --dry-run"},
    {"update --undo", "use gpkg rollback"},
    {"update gpkg", "to update gpkg itself: @how-to/update-gpkg.md"},
    {"upload",
     "gpkg build RECIPE --output-dir CHANNEL builds into a channel; to copy it to a server: rsync "
     "-a CHANNEL/ HOST:FOLDER/"},
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
    {"view",
     "for a package of the channels: gpkg show PACKAGE; for a package file: gpkg inspect FILE"},
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

/// Words that mean the same: a guess is answered with the one that the command has.
constexpr std::string_view kSameMeaning[] = {
    "--output-dir --root --output --to --output-folder --out --out-dir --outdir --dest "
    "--destination --dir --directory --folder --target-dir --channel-out -o",
    "--plan --dry-run --simulate --what-if",
    "--rebuild --force-reinstall --force --overwrite",
    "--sign-key --key --private-key --secret-key --gpg-key",
    "--files --list --contents -l",
    "--render --render-only --show-recipe",
    "--keep-work --keep --no-clean --dirty",
    "--expires --expiry --valid-for --days",
    "--patch --hotfix --hotfixes --patch-instructions",
    "--as --module --module-name",
    "--jobs --parallel --threads --workers",
    "--verbose --debug --log-level",
    "write generate create build new make init gen",
    "check verify validate status test",
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

std::string same_meaning(std::string_view word, std::span<const std::string> known) {
    for (const auto line : kSameMeaning) {
        const auto words = split(line, ' ');
        if (std::ranges::find(words, word) == words.end()) continue;
        for (const auto other : words) {
            if (std::ranges::find(known, other) != known.end()) return std::string(other);
        }
    }
    return "";
}

}  // namespace gpkg::cli
