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
    {"* --partition", "use --for partition=NAME"},
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
    {"cluster",
     "to describe its nodes: gpkg hardware --slurm; to set up gpkg for a site: "
     "@how-to/set-up-a-site.md"},
    {"compare", "use gpkg diff A B, or gpkg sync -n NAME -f FILE --dry-run"},
    {"config --validate", "gpkg config list warns of invalid settings"},
    {"config add", "use gpkg config append KEY VALUE"},
    {"config check", "gpkg config list warns of invalid settings"},
    {"config edit", "gpkg config list --sources names the files; edit one of them"},
    {"config files", "use gpkg config list --sources"},
    {"config path", "use gpkg config list --sources"},
    {"config set --file", "use --user, --system or --env"},
    {"config set --site", "use --system"},
    {"config set vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"config show", "use gpkg config list"},
    {"config sources", "use gpkg config list --sources"},
    {"config unset", "use gpkg config remove-key"},
    {"config validate", "gpkg config list warns of invalid settings"},
    {"copy", "use gpkg create -n NEW --clone OLD"},
    {"create --class", "the machine decides the class; use --for NAME"},
    {"create --env", "for a name: -n NAME; for an environment of a lock: --environment NAME"},
    {"create --for", "for several machines in one lock: gpkg lock SPEC --for v100 --for h100"},
    {"create --force",
     "to change an environment: gpkg sync -n NAME -f FILE; to replace it: gpkg env remove -n NAME "
     "first"},
    {"create -e", "for an environment of a lock: --environment NAME; for a name: -n NAME"},
    {"delete", "use gpkg env remove -n NAME, or gpkg remove -n NAME PACKAGE"},
    {"depends", "use gpkg tree -n NAME PACKAGE, or gpkg repoquery depends PACKAGE"},
    {"deploy --account",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --cpus-per-task",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --gpus",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --gres",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --mem",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --nodes",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --ntasks",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy --time",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy -N",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deploy -t",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"deps", "use gpkg tree"},
    {"detect", "use gpkg hardware"},
    {"diff --file", "use gpkg sync -f FILE --dry-run"},
    {"diff -f", "use gpkg sync -f FILE --dry-run"},
    {"download", "for a machine without a network: gpkg mirror SPEC --out DIR"},
    {"du", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"env clone", "use gpkg create -n NEW --clone OLD"},
    {"env compare", "use gpkg diff A B"},
    {"env config set", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"env create --for", "for several machines in one lock: gpkg lock SPEC --for v100 --for h100"},
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
    {"exec --from", "use --spec PACKAGE"},
    {"exec --package", "use --spec PACKAGE"},
    {"explain", "use gpkg why or gpkg why-not"},
    {"extract",
     "to unpack an archive of gpkg pack: mkdir ml && tar -xf ml.tar.zst -C ml && "
     "ml/bin/gpkg-relocate"},
    {"fetch", "for a machine without a network: gpkg mirror SPEC --out DIR"},
    {"fix", "use gpkg repair -n NAME"},
    {"freeze", "use gpkg env export"},
    {"global",
     "use gpkg exec TOOL to run a tool without installing it, or gpkg create -n TOOL TOOL"},
    {"gpu", "use gpkg hardware"},
    {"hardware --nodes", "use --hosts HOST,... or --slurm"},
    {"hardware add", "to write the profile of a machine: gpkg hardware export --for h100 -o FILE"},
    {"hardware create",
     "to write the profile of a machine: gpkg hardware export --for h100 -o FILE"},
    {"hardware export *", "for a machine by name: gpkg hardware export --for h100 -o FILE"},
    {"hardware import",
     "to write the profile of a machine: gpkg hardware export --for h100 -o FILE"},
    {"hardware info", "use gpkg hardware, or gpkg hardware --for NAME"},
    {"hardware save", "to write the profile of a machine: gpkg hardware export --for h100 -o FILE"},
    {"hardware show", "use gpkg hardware, or gpkg hardware --for NAME"},
    {"history *", "to see what generation 4 changed: gpkg diff 3 4 -n NAME"},
    {"hold", "use gpkg pin"},
    {"image build --file",
     "lock the file first: gpkg lock -f environment.yml; then --from-lock gpkg.lock"},
    {"image build --force", "gpkg image build writes over an earlier image; leave the option out"},
    {"image build -f",
     "lock the file first: gpkg lock -f environment.yml; then --from-lock gpkg.lock"},
    {"image mount *",
     "the mount point is fixed when the image is built: gpkg image build --mount-point PATH"},
    {"image run --name", "to run in an environment: gpkg run -n NAME COMMAND"},
    {"image run --prefix", "to run in an environment: gpkg run -p PATH COMMAND"},
    {"image run -n", "to run in an environment: gpkg run -n NAME COMMAND"},
    {"image run -p", "to run in an environment: gpkg run -p PATH COMMAND"},
    {"image umount", "use gpkg image unmount"},
    {"import", "use gpkg create -f environment.yml, or gpkg lock convert pixi.lock gpkg.lock"},
    {"info *", "for a package: gpkg show PACKAGE"},
    {"install --check",
     "use gpkg install --dry-run --json; actions.LINK and actions.UNLINK are empty if nothing "
     "changes"},
    {"install --for", "for several machines in one lock: gpkg lock SPEC --for v100 --for h100"},
    {"install --frozen", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --lock", "use gpkg sync -n NAME --lock FILE"},
    {"install --locked", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"install --pypi", "use gpkg run -n NAME python -m pip install PACKAGE"},
    {"install --revision", "use gpkg rollback N; gpkg history lists N"},
    {"job", "to write a batch script: gpkg deploy -n NAME --slurm -o job.sbatch -- COMMAND"},
    {"leaves", "use gpkg list --requested"},
    {"list --from-history", "use --requested"},
    {"list --outdated", "use gpkg update --all --dry-run"},
    {"list --pinned", "use gpkg pins"},
    {"list --revisions", "use gpkg history"},
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
    {"mirror --all", "gpkg mirrors what requests need; name packages, -f FILE or --lock FILE"},
    {"mirror --dry-run",
     "to see the packages: gpkg solve SPEC; to see all machines: gpkg lock SPEC --dry-run"},
    {"mirror --force", "gpkg mirror updates an earlier mirror; leave the option out"},
    {"mirror --name",
     "export the environment: gpkg env export -n ml -f ml.yml; gpkg mirror -f ml.yml"},
    {"mirror -n", "export the environment: gpkg env export -n ml -f ml.yml; gpkg mirror -f ml.yml"},
    {"mirror add", "run gpkg mirror again with all requests and the same --out DIR"},
    {"mirror check", "use gpkg mirror verify DIR"},
    {"mirror create", "leave the word out: gpkg mirror -f environment.yml --out DIR"},
    {"mirror sync", "run gpkg mirror again with the same request and --out DIR"},
    {"mirror update", "run gpkg mirror again with the same request and --out DIR"},
    {"module avail", "leave gpkg out: module avail"},
    {"module delete", "to delete one module: rm FILE"},
    {"module list", "module avail lists modules; gpkg module check lists those that are outdated"},
    {"module load", "leave gpkg out: module load NAME"},
    {"module remove",
     "to delete one module: rm FILE; gpkg module write --all deletes those of removed "
     "environments"},
    {"module rm", "to delete one module: rm FILE"},
    {"module show", "leave gpkg out: module show NAME"},
    {"module use", "leave gpkg out: module use ROOT/Core"},
    {"module write --for", "the module follows the environment; leave the option out"},
    {"module write --force", "gpkg module write updates its own modules; leave the option out"},
    {"module write --lmod", "use --format lua"},
    {"module write --module", "for the name of the module: --as NAME/VERSION"},
    {"module write --module-name", "for the name of the module: --as NAME/VERSION"},
    {"module write --name", "for the name of the module: --as NAME/VERSION"},
    {"module write --version", "use --as NAME/VERSION"},
    {"move", "use gpkg rename"},
    {"mv", "use gpkg rename"},
    {"new", "use gpkg create -n NAME"},
    {"outdated", "use gpkg update --all --dry-run"},
    {"pack --file",
     "lock the file first: gpkg lock -f environment.yml; then --from-lock gpkg.lock"},
    {"pack --force", "gpkg pack writes over an earlier archive; leave the option out"},
    {"pack --format", "gpkg pack writes .tar.zst; for a squashfs file: gpkg image build"},
    {"pack -f", "lock the file first: gpkg lock -f environment.yml; then --from-lock gpkg.lock"},
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
    {"restore",
     "to unpack an archive of gpkg pack: mkdir ml && tar -xf ml.tar.zst -C ml && "
     "ml/bin/gpkg-relocate"},
    {"rm", "use gpkg remove"},
    {"run --environment", "use -n NAME"},
    {"run --with", "use gpkg exec --with PACKAGE COMMAND"},
    {"sbatch", "to write a batch script: gpkg deploy -n NAME --slurm -o job.sbatch -- COMMAND"},
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
    {"site", "to set up gpkg for a site: @how-to/set-up-a-site.md"},
    {"size", "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"slurm", "to write a batch script: gpkg deploy -n NAME --slurm -o job.sbatch -- COMMAND"},
    {"solve --for", "for several machines in one lock: gpkg lock SPEC --for v100 --for h100"},
    {"solve --name", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve --prefix", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -n", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"solve -p", "to solve for an environment: gpkg install -n NAME --dry-run SPEC"},
    {"squash", "use gpkg image build"},
    {"squashfs", "use gpkg image build"},
    {"submit", "to write a batch script: gpkg deploy -n NAME --slurm -o job.sbatch -- COMMAND"},
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

/// Words of one meaning, a line each.
constexpr std::string_view kSameMeaning[] = {
    "build create generate make new write",
    "dump export save",
    "describe info inspect list ls show",
    "check test validate verify",
    "exec launch run shell start",
    "--assume-yes --no-confirm --yes",
    "--dest --destination --dir --directory --folder --out --outdir --output --output-dir --root "
    "--target --to -d -o",
    "--dry-run --no-act --preview --simulate",
    "--env --env-name --environment --name",
    "--file --from --input --manifest --requirement --requirements",
    "--location --path --prefix",
};

/// Whether a line of words has this one.
bool has_word(std::string_view line, std::string_view word) {
    return fmt::format(" {} ", line).find(fmt::format(" {} ", word)) != std::string::npos;
}

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

std::vector<std::string> names_of_same_meaning(std::string_view word,
                                               const std::vector<std::string>& names) {
    std::vector<std::string> same;
    for (const auto& line : kSameMeaning) {
        if (!has_word(line, word)) continue;
        for (const auto& name : names)
            if (has_word(line, name)) same.push_back(name);
    }
    return same;
}

std::string hint_for_packed_environment(const std::string& word) {
    if (word.ends_with(".sqfs"))
        return fmt::format(
            "to run a command in it: gpkg image run {0} -- python; to list its packages: gpkg "
            "image "
            "show {0}",
            shell_word(word));
    if (!word.ends_with(".tar.zst")) return "";
    return fmt::format(
        "to unpack an archive of gpkg pack: mkdir ml && tar -xf {} -C ml && ml/bin/gpkg-relocate",
        shell_word(word));
}

}  // namespace gpkg::cli
