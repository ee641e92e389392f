#include "cli/other_names.hpp"

#include "cli/help.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace gpkg::cli {
namespace {

/// Commands and options of other tools, and what gpkg has for them.
struct OtherName {
    /// Separated by ", ": "ls", "config unset", "build -o", "task run"; "* --cpu": an option of any
    /// command; "info *": any argument of a command; "rename": a command of gpkg, where its words
    /// are wrong in another way.
    std::string_view names;
    /// See with_given_words(). "@how-to/update-gpkg.md" stands for the path of that page.
    std::string_view hint;

    bool has(std::string_view name) const {
        return std::ranges::any_of(split(names, ','),
                                   [&](std::string_view other) { return trim(other) == name; });
    }
};

constexpr OtherName kOtherNames[] = {
    {"* --assume-yes", "use -y"},
    {"* --batch, * --no-input, * --non-interactive",
     "gpkg asks only on a terminal; to confirm without a question: -y"},
    {"* --cpu, * --cpu-only, * --no-gpu", "use --accel none"},
    {"* --cuda, * --driver, * --gpu, * --virtual-package",
     "for another machine or driver: --for h100,cuda=12.4; for this machine: "
     "CONDA_OVERRIDE_CUDA=12.4"},
    {"* --diff, clean --size", "use --dry-run"},
    {"* --env, * --environment, run --environment", "use -n NAME"},
    {"* --exist-ok, * --if-not-exists",
     "for an environment that may exist: gpkg sync -n NAME -f FILE"},
    {"* --exit-code, * --fail-on-change", "use --check"},
    {"* --for",
     "commands that solve take --for; to check an environment: gpkg doctor -n NAME --for MACHINE"},
    {"* --format, * --output", "for one JSON document: --json"},
    {"* --glibc",
     "for another machine: --for NAME,glibc=2.28; for this machine: CONDA_OVERRIDE_GLIBC=2.28"},
    {"* --hardware, * --machine", "use --for NAME; to list the names: gpkg hardware list"},
    {"* --insecure, * -k", "to skip the check of certificates: GPKG_SSL_VERIFY=false gpkg ..."},
    {"* --no-build", "use --ignore-builds"},
    {"* --no-default-packages", "only gpkg create adds default packages; leave the option out"},
    {"* --no-network, * --use-index-cache", "use --offline"},
    {"* --offline", "use GPKG_OFFLINE=1; commands that only read an environment need no network"},
    {"* --override",
     "for another machine: --for NAME,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4"},
    {"* --partition", "use --for partition=NAME"},
    {"* --profile", "use --for FILE|NAME; to write a profile: gpkg hardware export -o FILE"},
    {"* --solver", "gpkg has one solver; leave the option out"},
    {"* --token, auth, login, token",
     "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"* --use-local", "name the folder of the channel: -c FOLDER"},
    {"accel, accelerator, env accel",
     "to change it: gpkg install -n NAME --accel nvidia; to see it: gpkg info -n NAME"},
    {"apply, sync --ignore-lock, sync --no-lock", "use gpkg sync -f environment.yml"},
    {"audit", "gpkg does not check for known vulnerabilities; to check files: gpkg verify -n NAME"},
    {"autoremove",
     "gpkg remove also removes dependencies that nothing else needs; to free disk space: gpkg "
     "clean --all; to see the effect first: gpkg clean --dry-run"},
    {"bug, bug-report, report", "use gpkg info --report"},
    {"build --arch",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml; "
     "for CPUs: --variant psabi=x86_64_v3"},
    {"build --channel-dir, build --output, build --output-folder, build -o",
     "use --output-dir FOLDER"},
    {"build --check", "use --render to check the recipe, or --plan to see what would be built"},
    {"build --clean", "use --rebuild; to delete the work folder: rm -r OUTPUT.work"},
    {"build --cuda",
     "the CUDA version is a variant: --variant cuda_version=12.9, or -m variants.yaml"},
    {"build --cuda-arch, build --gpu, build --gpus",
     "the GPUs of a build are a variant: --variant 'cuda_arch_list=8.0;9.0', or -m variants.yaml"},
    {"build --debug",
     "use --keep-work to keep the build folder, -v to see more; a failed build keeps its folder "
     "and names its log"},
    {"build --for",
     "the tests of a build assume one machine: run gpkg build once for each --for, or add "
     "--no-test"},
    {"build --host-platform, build --platform, build --target-platform",
     "use --for, with a profile of that platform"},
    {"build --init, build init", "write a recipe.yaml: @how-to/first-recipe.md"},
    {"build --log", "the log of each build is in OUTPUT.work/logs"},
    {"build --no-sandbox", "use --sandbox off"},
    {"build --noarch", "write noarch: generic or noarch: python in the recipe, below build:"},
    {"build --recipe, build -f, build -r",
     "name the recipe without an option: gpkg build {RECIPE}"},
    {"build --test, build -t", "the tests run with the build; to skip them: --no-test"},
    {"build --variants", "use -m FILE for a file of variants, or --variant KEY=VALUE"},
    {"build plan-variants *",
     "name the GPUs with an option: --for a100,h100, or --devices 8.0,9.0"},
    {"build plan-variants --arch, build plan-variants --gpu, build plan-variants --gpus",
     "use --devices 8.0,9.0, or --for a100,h100"},
    {"builds", "use gpkg variants {}"},
    {"cache", "use gpkg clean to free space, or gpkg info to see the folders"},
    {"cat", "use gpkg inspect {FILE}, or gpkg inspect --files {FILE}"},
    {"channel", "gpkg index FOLDER makes a channel of a folder with packages"},
    {"channel list, channel ls", "use gpkg config get channels"},
    {"check",
     "use gpkg verify -n NAME, or gpkg doctor -n NAME; for a package file: gpkg inspect FILE"},
    {"clean *, clean --cache, clean --env, clean --name, clean --prefix, clean -n",
     "use --all, or --packages, --index-cache or --exec for a part; environments: gpkg env remove "
     "-n NAME"},
    {"clean --environments, clean --envs",
     "clean keeps environments; to remove one: gpkg env remove -n NAME"},
    {"clean --everything, clean cache", "use gpkg clean --all"},
    {"clean --pkgs", "use gpkg clean --packages"},
    {"clean --temp, clean --tmp",
     "use --exec for temporary environments, --tarballs for partial downloads"},
    {"clean -tipsy", "to remove everything that is unused: gpkg clean --all -y"},
    {"clone, copy, cp, env clone", "use gpkg create -n {2:NEW} --clone {1:OLD}"},
    {"cluster",
     "to describe its nodes: gpkg hardware --slurm; to set up gpkg for a site: "
     "@how-to/set-up-a-site.md"},
    {"config --sources, config show-sources, info --sources",
     "use gpkg config list --show-sources"},
    {"config --validate, config check, config validate",
     "gpkg config list warns of invalid settings"},
    {"config add", "use gpkg config append {KEY VALUE}"},
    {"config delete, config reset, config unset", "use gpkg config remove-key {1:KEY}"},
    {"config describe --show-sources, config describe --sources",
     "gpkg config describe {1:KEY} shows the source without an option"},
    {"config edit", "use gpkg config set KEY VALUE; gpkg config list --sources names the files"},
    {"config file, config files, config path, config source, config sources",
     "use gpkg config list --sources"},
    {"config list --all",
     "gpkg config list shows all settings; with their sources: --show-sources"},
    {"config rm", "use gpkg config remove-key {1:KEY}, or gpkg config remove {1:KEY} {2:VALUE}"},
    {"config set --env",
     "settings are not per environment; for one user: --user; for all users: --system"},
    {"config set --file", "use --user, --system or --env"},
    {"config set --global, config set -g", "for one user: --user; for all users: --system"},
    {"config set --local",
     "settings are not per folder or environment; leave the option out, or use --user"},
    {"config set --site", "use --system"},
    {"config set vars, env config set, setenv", "use gpkg env config vars set -n NAME {KEY=VALUE}"},
    {"config show", "use gpkg config list {}"},
    {"config vars, env var, env vars, var, vars", "use gpkg env config vars set -n NAME KEY=VALUE"},
    {"config where", "use gpkg config describe {1:KEY}, or gpkg config list --sources"},
    {"content-trust", "use gpkg keys"},
    {"contents", "use gpkg inspect --files {FILE}"},
    {"continue, resume", "run the interrupted command again, or undo it: gpkg repair -n NAME"},
    {"convert", "use gpkg lock convert {FROM TO}; packages cannot be converted"},
    {"create --check, remove --check",
     "use --dry-run --json; to compare with a file: gpkg sync -n NAME -f FILE --check"},
    {"create --class, lock check --class, sync --class",
     "the machine decides the class; use --for NAME"},
    {"create --env", "for a name: -n NAME; for an environment of a lock: --environment NAME"},
    {"create --for, env create --for, install --for, solve --for",
     "for several machines in one lock: gpkg lock SPEC --for v100 --for h100"},
    {"create --force",
     "to change an environment: gpkg sync -n NAME -f FILE; to replace it: gpkg env remove -n NAME "
     "first"},
    {"create --from-history, env create --from-history",
     "the author exports with it: conda env export --from-history; for an exported file: "
     "--ignore-builds"},
    {"create --frozen, create --locked, lock install", "use gpkg create -n NAME --lock gpkg.lock"},
    {"create --stack",
     "to copy an environment: gpkg create -n NEW --clone OLD; then: gpkg install -n NEW PACKAGE"},
    {"create --use-local, install --use-local", "name your channel: -c ./CHANNEL"},
    {"create -e", "for an environment of a lock: --environment NAME; for a name: -n NAME"},
    {"debug", "use gpkg build {RECIPE}; a failed build names its folder"},
    {"deinit, init --disable, init --remove, init --uninstall", "use gpkg init --undo"},
    {"delete", "use gpkg env remove -n NAME, or gpkg remove -n NAME {PACKAGE}"},
    {"dependencies, deps", "use gpkg tree {}"},
    {"dependents, needed-by, rdepends, rdeps, required-by, revdeps, who-needs, whoneeds",
     "use gpkg tree -n NAME --invert {PACKAGE}, or gpkg repoquery whoneeds {PACKAGE}"},
    {"depends", "use gpkg tree -n NAME {PACKAGE}, or gpkg repoquery depends {PACKAGE}"},
    {"deploy --account, deploy --cpus-per-task, deploy --gpus, deploy --gres, deploy --mem, deploy "
     "--nodes, deploy --ntasks, deploy --time, deploy -N, deploy -t",
     "resources go to sbatch (sbatch --nodes=2 ml.sbatch), or into the #SBATCH lines of the "
     "script"},
    {"describe, examine, view",
     "for a package of the channels: gpkg show {PACKAGE}; for a package file: gpkg inspect FILE"},
    {"detect, gpu, virtual-packages", "use gpkg hardware {}"},
    {"df, disk, disk-usage, du, size, usage",
     "use gpkg env list --size, or gpkg list -n NAME --sort size"},
    {"diagnose", "for an environment: gpkg doctor -n NAME; for a bug report: gpkg info --report"},
    {"diff", "to compare two environments: gpkg diff A B"},
    {"diff --file, diff -f", "use gpkg sync -n NAME -f {FILE} --dry-run"},
    {"diff --generation", "name the generation without an option: gpkg diff {3} -n NAME"},
    {"diff --lock", "name the lock file without an option: gpkg diff {gpkg.lock} -n NAME"},
    {"diff --since", "name the time without an option: gpkg diff {7d} -n NAME"},
    {"doctor --fix", "doctor checks the machine; to restore damaged files: gpkg repair -n NAME"},
    {"doctor --platform",
     "use --for FILE with a profile of that machine: gpkg hardware export -o FILE"},
    {"downgrade", "use gpkg install -n NAME PACKAGE=VERSION"},
    {"download, fetch", "use gpkg create -n NAME {PACKAGE} --download-only"},
    {"driver, hw, info --virtual-packages, machine, system, virtual", "use gpkg hardware"},
    {"env check, env status", "use gpkg sync --check -n NAME -f FILE, or gpkg verify -n NAME"},
    {"env compare, env diff", "use gpkg diff {A B}"},
    {"env config vars add", "use gpkg env config vars set {}"},
    {"env config vars delete, env config vars remove, env config vars rm",
     "use gpkg env config vars unset {}"},
    {"env config vars get, env config vars show", "use gpkg env config vars list -n NAME"},
    {"env delete, env rm, env uninstall", "use gpkg env remove {}"},
    {"env export --format, export --format",
     "use --explicit, --json, --no-builds or --from-history; for a lock in another format: gpkg "
     "lock convert"},
    {"env export --ignore-builds, env export --no-build, export --ignore-builds, export --no-build",
     "use --no-builds"},
    {"env export --lock, export --lock",
     "write a lock file: gpkg env export -n ml -f ml.yml; gpkg lock -f ml.yml"},
    {"env history, generations, list --history, list --revisions, revisions, rollback --list",
     "use gpkg history {}"},
    {"env info, env show, info --accel", "use gpkg info -n NAME"},
    {"env install", "use gpkg install {}"},
    {"env log", "use gpkg log {}"},
    {"env ls", "use gpkg env list {}"},
    {"env path, prefix, where, which",
     "gpkg env list lists the paths; for a program: gpkg run -n NAME which {PROGRAM}"},
    {"env remove --all", "leave the option out: env remove removes the whole environment"},
    {"env rename", "use gpkg rename {}"},
    {"env set",
     "for the accelerator: gpkg install -n NAME --accel nvidia; for a variable: gpkg env config "
     "vars set -n NAME KEY=VALUE"},
    {"env sync", "use gpkg sync {}"},
    {"env unset", "use gpkg env config vars unset -n NAME {KEY}"},
    {"env update --check",
     "for a file: gpkg sync --check -n NAME -f FILE; for new versions: gpkg update -n NAME --all "
     "--check"},
    {"errors", "use gpkg log --failed {}"},
    {"exec --dry-run", "gpkg solve PACKAGE shows the packages without installing them"},
    {"exec --file, exec -f",
     "for the packages of a file: gpkg create -n NAME -f FILE, then gpkg run -n NAME COMMAND"},
    {"exec --from, exec --package", "use --spec PACKAGE"},
    {"exec --list", "gpkg clean --exec --dry-run shows the temporary environments"},
    {"exec --name, exec -n",
     "exec makes a temporary environment; in an existing one: gpkg run -n NAME COMMAND"},
    {"exec --prefix, exec -p",
     "exec makes a temporary environment; in an existing one: gpkg run -p PATH COMMAND"},
    {"exec --python", "use --with python=3.12"},
    {"exit-code, exit-codes, exit-status", "exit statuses: @reference/exit-status.md"},
    {"explain", "use gpkg why {PACKAGE}, or gpkg why-not {PACKAGE}"},
    {"extract",
     "to list the files of a package: gpkg inspect --files {FILE}; to unpack an archive of gpkg "
     "pack: mkdir ml && tar -xf ml.tar.zst -C ml && ml/bin/gpkg-relocate"},
    {"feedback, issue, support", "to report a bug: @how-to/report-a-bug.md"},
    {"files",
     "for a package file: gpkg inspect --files FILE; for an installed package: gpkg inspect "
     "--files -n NAME {PACKAGE}"},
    {"fix, verify --fix", "use gpkg repair -n NAME"},
    {"freeze",
     "to list the packages in a file: gpkg env export {}; to keep an environment from changing: "
     "@how-to/pin-a-version.md"},
    {"gc, prune, store",
     "to free disk space: gpkg clean --all; to see the effect first: gpkg clean --dry-run"},
    {"global install, tool install",
     "use gpkg create -n {1:TOOL} {TOOL}, then gpkg run -n {1:TOOL} {1:TOOL}; without installing: "
     "gpkg exec {1:TOOL}"},
    {"global list, tool list", "use gpkg env list"},
    {"global remove, global uninstall, tool uninstall", "use gpkg env remove -n {1:TOOL}"},
    {"global update", "use gpkg update -n {1:TOOL} --all"},
    {"global, tool",
     "use gpkg exec {TOOL} to run a tool without installing it, or gpkg create -n {1:TOOL} {TOOL}"},
    {"gpg",
     "to create a key: gpkg keys generate FILE; to sign a channel: gpkg index FOLDER --sign-key "
     "FILE"},
    {"hardware",
     "for another machine: gpkg hardware --for NAME; to override a value: CONDA_OVERRIDE_CUDA=12.4 "
     "gpkg hardware"},
    {"hardware --nodes", "use --hosts HOST,... or --slurm"},
    {"hardware add, hardware create, hardware import, hardware save",
     "to write the profile of a machine: gpkg hardware export --for h100 -o FILE"},
    {"hardware export *", "to write a file: gpkg hardware export -o FILE"},
    {"hardware info", "use gpkg hardware, or gpkg hardware --for NAME"},
    {"hardware show", "use gpkg hardware; for another machine: gpkg hardware --for NAME"},
    {"health", "use gpkg doctor -n NAME, or gpkg verify -n NAME"},
    {"history --diff", "use gpkg diff 3 -n NAME, or gpkg history -v"},
    {"hold, keep", "use gpkg pin {}"},
    {"image build --file, image build -f, pack --file, pack -f",
     "lock the file first: gpkg lock -f environment.yml; then --from-lock gpkg.lock"},
    {"image build --force", "gpkg image build writes over an earlier image; leave the option out"},
    {"image mount *",
     "the mount point is fixed when the image is built: gpkg image build --mount-point PATH"},
    {"image run --name, image run -n", "to run in an environment: gpkg run -n NAME COMMAND"},
    {"image run --prefix, image run -p", "to run in an environment: gpkg run -p PATH COMMAND"},
    {"image umount", "use gpkg image unmount {}"},
    {"import", "use gpkg create -f environment.yml, or gpkg lock convert pixi.lock gpkg.lock"},
    {"index --check",
     "to check the signature: gpkg keys verify {FOLDER}; to check the package files: --verify"},
    {"index --sign", "use --sign-key FILE; to create a key: gpkg keys generate FILE"},
    {"info *", "for a package: gpkg show {PACKAGE}"},
    {"info --all, info -a", "use gpkg info, gpkg hardware and gpkg config list"},
    {"info --file, info --output, info -o", "to write a file: gpkg info --report > report.txt"},
    {"info --for",
     "to show a machine: gpkg hardware --for NAME; to check an environment: gpkg doctor -n NAME "
     "--for NAME"},
    {"info --paths", "leave the option out: gpkg info shows all paths"},
    {"info --root", "use gpkg info --base"},
    {"info --system", "leave the option out; for more: gpkg info --report"},
    {"info -s", "use gpkg info and gpkg config list"},
    {"init --completion, init --completions",
     "leave the option out: gpkg init loads completion, too"},
    {"init --system", "gpkg init changes your own files; for all users: @how-to/set-up-a-site.md"},
    {"inspect --depends", "gpkg inspect {FILE} shows the dependencies; leave the option out"},
    {"inspect --extract",
     "to list the files: --files; to install the package: gpkg create -n NAME ./FILE"},
    {"inspect --verify", "gpkg inspect {FILE} checks the files; leave the option out"},
    {"install --frozen, install --locked, lock sync", "use gpkg sync -n NAME --lock gpkg.lock"},
    {"update --lock", "use gpkg sync -n NAME --lock FILE"},
    {"install --pypi", "use gpkg run -n NAME python -m pip install {PACKAGE}"},
    {"install --rev, install --revision, redo, rollback --redo, rollback --undo",
     "to return to an earlier state: gpkg rollback N -n NAME; the first is 1: gpkg history -n "
     "NAME"},
    {"install --user", "to copy an environment of another user: gpkg create -n NEW --clone OLD"},
    {"job, sbatch, slurm, submit",
     "to write a batch script: gpkg deploy -n NAME --slurm -o job.sbatch -- COMMAND"},
    {"json", "add --json to a command; the documents: @reference/json.md"},
    {"keys add, keys import, keys trust, trust",
     "to trust a public key: gpkg config append trusted_keys.CHANNEL_URL KEY"},
    {"keys export", "to print the public key: gpkg keys show FILE"},
    {"keys list",
     "to list trusted keys: gpkg config get trusted_keys; for the public key of a file: gpkg keys "
     "show FILE"},
    {"keys remove",
     "to stop trusting keys of a channel: gpkg config remove-key trusted_keys.CHANNEL_URL"},
    {"keys revoke", "make a root without the key: @how-to/sign-a-channel.md"},
    {"keys rotate", "gpkg keys root names the new key: @how-to/sign-a-channel.md"},
    {"leaves", "use gpkg list --requested {}"},
    {"list --accel",
     "use gpkg list -n NAME, which shows the accelerator of builds, or gpkg info -n NAME"},
    {"list --deps, list --tree", "use gpkg tree -n NAME"},
    {"list --from-history, list --leaves, list --manual, list --roots, list --top-level, list "
     "--user",
     "use --requested"},
    {"list --outdated, outdated, update --outdated", "use gpkg update --all --dry-run {}"},
    {"list --pinned, list --pins, pin --list, pin list, pin ls, pin show", "use gpkg pins {}"},
    {"lmod, module update, modulefile", "use gpkg module write -n NAME"},
    {"lock --class", "use --for NAME: each machine gets a class"},
    {"lock --explicit", "use gpkg lock convert gpkg.lock NAME.txt"},
    {"lock --lock", "the lock file is gpkg.lock; for another: -o FILE"},
    {"lock --locked, lock status, lock test, lock validate, lock verify", "use gpkg lock check {}"},
    {"lock --name, lock -n",
     "write the environment to a file: gpkg env export -n ml -f ml.yml; gpkg lock -f ml.yml"},
    {"lock --outdated, lock check --outdated, lock outdated",
     "use gpkg lock update --all --dry-run"},
    {"lock --platform",
     "for several platforms: list them under 'platforms:' in environment.yml; for machines: --for "
     "a100 --for h100"},
    {"lock --upgrade, lock upgrade", "use gpkg lock update {}"},
    {"lock --upgrade-package, lock -P", "use gpkg lock update {NAME}"},
    {"lock add", "add it to environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock check --fix", "use gpkg lock repair"},
    {"lock check --frozen, lock check --locked",
     "gpkg lock check changes nothing; leave the option out"},
    {"lock check --lock", "name the lock without an option: gpkg lock check {FILE}"},
    {"lock check --name, lock check -n",
     "to compare an environment with a lock: gpkg sync -n NAME --lock FILE --check"},
    {"lock check --strict", "gpkg lock check fails at any difference; leave the option out"},
    {"lock classes, lock info", "use gpkg lock list"},
    {"lock convert --for", "use --class NAME; gpkg lock list shows the classes"},
    {"lock create, lock init", "use gpkg lock -f environment.yml"},
    {"lock diff", "use gpkg diff {OLD.lock NEW.lock}"},
    {"lock explain, lock select, lock which", "gpkg lock check shows the class for this machine"},
    {"lock export", "use gpkg lock convert {}"},
    {"lock import", "use gpkg lock convert pixi.lock gpkg.lock"},
    {"lock list --for", "use --class NAME; for the class of a machine: gpkg lock check --for NAME"},
    {"lock remove", "remove it from environment.yml, then: gpkg lock update -f environment.yml"},
    {"lock update --package", "name the package without an option: gpkg lock update {NAME}"},
    {"log --error, log --errors", "use --failed"},
    {"log last", "for the last 5: gpkg log --last 5"},
    {"logout", "remove the login from ~/.config/gpkg/credentials.yaml or ~/.netrc"},
    {"mirror --all", "gpkg mirrors what requests need; name packages, -f FILE or --lock FILE"},
    {"mirror --dry-run",
     "to see the packages: gpkg solve SPEC; to see all machines: gpkg lock SPEC --dry-run"},
    {"mirror --force", "gpkg mirror updates an earlier mirror; leave the option out"},
    {"mirror --name, mirror -n",
     "export the environment: gpkg env export -n ml -f ml.yml; gpkg mirror -f ml.yml"},
    {"mirror add", "run gpkg mirror again with all requests and the same --out DIR"},
    {"mirror check", "use gpkg mirror verify {DIR}"},
    {"mirror create", "leave the word out: gpkg mirror -f environment.yml --out DIR"},
    {"mirror sync, mirror update", "run gpkg mirror again with the same request and --out DIR"},
    {"module avail", "leave gpkg out: module avail"},
    {"module check --name, module check -n",
     "gpkg module check checks all modules; leave the option out"},
    {"module delete, module rm", "to delete one module: rm FILE"},
    {"module list", "module avail lists modules; gpkg module check lists those that are outdated"},
    {"module load", "leave gpkg out: module load {NAME}"},
    {"module remove, module uninstall",
     "to delete one module: rm FILE; gpkg module write --all deletes those of removed "
     "environments"},
    {"module show", "leave gpkg out: module show {NAME}"},
    {"module unload", "that is a command of Lmod: module unload {NAME}"},
    {"module use", "leave gpkg out: module use ROOT/Core"},
    {"module write --for", "the module follows the environment; leave the option out"},
    {"module write --force", "gpkg module write updates its own modules; leave the option out"},
    {"module write --lmod, module write --lua", "use --format lua"},
    {"module write --module, module write --module-name, module write --name",
     "for the name of the module: --as NAME/VERSION"},
    {"module write --tcl", "use --format tcl"},
    {"module write --version", "use --as NAME/VERSION"},
    {"move, mv", "use gpkg rename {*OLD NEW}"},
    {"needs", "what a package needs: gpkg tree -n NAME {PACKAGE}; what needs it: add --invert"},
    {"new",
     "for a project: write environment.yml, then gpkg sync; for an environment: gpkg create -n "
     "NAME "
     "{PACKAGE}"},
    {"offline", "use --offline, or GPKG_OFFLINE=1; always: gpkg config set offline true"},
    {"pack --force", "gpkg pack writes over an earlier archive; leave the option out"},
    {"pack --format", "gpkg pack writes .tar.zst; for a squashfs file: gpkg image build"},
    {"package", "gpkg show {PACKAGE} describes a package; gpkg pack -n NAME packs an environment"},
    {"pin", "gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME"},
    {"pin --delete, pin --remove, pin -d, pin delete, pin remove, pin rm", "use gpkg unpin {}"},
    {"pin add", "leave out 'add': gpkg pin -n NAME {'numpy=1.26.*'}"},
    {"pip",
     "use gpkg run -n NAME python -m pip {install PACKAGE}; to keep it in the file: list it below "
     "pip: in environment.yml"},
    {"plan", "use gpkg create --dry-run, or gpkg solve SPEC"},
    {"project, workspace",
     "the requests of a project are in environment.yml: gpkg sync -f environment.yml"},
    {"prompt", "to keep the prompt as it is: gpkg config set changeps1 false"},
    {"publish",
     "gpkg build RECIPE --output-dir CHANNEL builds into a channel; to add package files: copy "
     "them into CHANNEL/linux-64, then gpkg index CHANNEL"},
    {"purge",
     "to remove an environment: gpkg env remove -n NAME; to free space: gpkg clean --all; to "
     "remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"python", "use gpkg run -n NAME python {}"},
    {"recipe",
     "write a recipe.yaml: @how-to/first-recipe.md; to print it rendered: gpkg build RECIPE "
     "--render"},
    {"recover, reset, restore",
     "to restore damaged files: gpkg repair -n NAME; to undo a change: gpkg rollback -n NAME"},
    {"reinstall", "use gpkg install -n NAME --force-reinstall {PACKAGE}"},
    {"release, unhold", "use gpkg unpin -n NAME {PACKAGE}"},
    {"remove --cascade", "gpkg removes dependents, too; leave the option out"},
    {"remove --force, remove --force-remove, remove --no-deps, remove --nodeps",
     "gpkg removes dependents, too; they cannot be kept"},
    {"remove gpkg, self uninstall, self-uninstall",
     "to remove gpkg itself: @how-to/uninstall-gpkg.md"},
    {"rename", "the new name or path is an argument: gpkg rename OLD NEW"},
    {"render", "use gpkg build --render {RECIPE}"},
    {"repoquery rdepends, repoquery rdeps", "use gpkg repoquery whoneeds {}"},
    {"repoquery tree --reverse", "use --invert"},
    {"requested", "use gpkg list -n NAME --requested"},
    {"revert", "use gpkg rollback -n NAME"},
    {"rm", "use gpkg remove {}"},
    {"rollback",
     "the last change: gpkg rollback -n NAME; another: gpkg rollback N -n NAME (gpkg history -n "
     "NAME lists N)"},
    {"rollback --generation, rollback --revision, rollback --to",
     "the generation is an argument: gpkg rollback {N} -n NAME"},
    {"run --chdir, run --directory, run --workdir, run -C, run -d", "use --cwd PATH"},
    {"run --clean-env", "use env -i HOME=\"$HOME\" PATH=\"$PATH\" gpkg run -n NAME COMMAND"},
    {"run --env, run -e",
     "for an environment: -n NAME; for a variable: gpkg run -n NAME env VAR=VALUE COMMAND; for "
     "good: gpkg env config vars set -n NAME VAR=VALUE"},
    {"run --with", "use gpkg exec --with {PACKAGE COMMAND}"},
    {"run -c", "to run shell commands: gpkg run -n NAME sh -c 'COMMANDS'"},
    {"search --depends, search --deps, show --deps", "use gpkg tree {PACKAGE}"},
    {"search --envs", "use gpkg why {PACKAGE}"},
    {"search --limit",
     "a version gives fewer results: gpkg search SPEC; or: gpkg search SPEC | head"},
    {"self", "to update gpkg: @how-to/update-gpkg.md; to remove it: @how-to/uninstall-gpkg.md"},
    {"self update, self-update, selfupdate", "to update gpkg: @how-to/update-gpkg.md"},
    {"serve",
     "a channel is a folder that any web server can serve; without one, use it as it is: -c "
     "./CHANNEL"},
    {"set",
     "for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME "
     "KEY=VALUE"},
    {"shell activate", "use gpkg shell -n NAME"},
    {"shell completion", "use gpkg completion {}"},
    {"shell hook", "use gpkg shell-hook {}"},
    {"shell init", "use gpkg init {}"},
    {"shell.bash", "use gpkg shell-hook -s bash"},
    {"shell.fish", "use gpkg shell-hook -s fish"},
    {"shell.zsh", "use gpkg shell-hook -s zsh"},
    {"sign", "use gpkg index {FOLDER} --sign-key FILE"},
    {"site", "to set up gpkg for a site: @how-to/set-up-a-site.md"},
    {"skeleton", "a recipe is written by hand: @how-to/first-recipe.md"},
    {"solve --name, solve --prefix, solve -n, solve -p",
     "to solve for an environment: gpkg install -n NAME --dry-run {SPEC}"},
    {"source, source activate", "use gpkg activate {NAME}"},
    {"squash, squashfs", "use gpkg image build"},
    {"status", "use gpkg doctor -n NAME for an environment, or gpkg info for gpkg itself"},
    {"switch",
     "for another accelerator: gpkg install -n NAME --accel nvidia; for another environment: gpkg "
     "activate NAME"},
    {"sync --diff", "use gpkg sync --dry-run"},
    {"sync --exit-code", "use gpkg sync --check"},
    {"sync --frozen, sync --locked", "gpkg sync --lock gpkg.lock never changes the lock"},
    {"sync --prune",
     "gpkg sync always removes the packages that the file does not need; leave the option out"},
    {"sync --update", "for newer versions: gpkg lock update PACKAGE, or gpkg update -n NAME --all"},
    {"task", "gpkg has no tasks; to run a command in an environment: gpkg run -n NAME COMMAND"},
    {"task run",
     "gpkg has no tasks; to run a command in an environment: gpkg run -n NAME {COMMAND}"},
    {"test", "gpkg build runs the tests of a recipe; --no-test skips them"},
    {"tool run", "use gpkg exec {TOOL}"},
    {"undelete", "use gpkg rollback -n NAME; gpkg history -n NAME lists the generations"},
    {"undo, update --undo", "use gpkg rollback {}"},
    {"unpack",
     "to unpack an archive of gpkg pack: mkdir ml && tar -xf ml.tar.zst -C ml && "
     "ml/bin/gpkg-relocate; for a package file: gpkg inspect --files FILE"},
    {"unset",
     "for a setting: gpkg config remove-key {KEY}; for a variable: gpkg env config vars unset -n "
     "NAME {KEY}"},
    {"update --exclude, update --hold, update --ignore, update --no-update",
     "keep the package first: gpkg pin -n NAME PACKAGE"},
    {"update conda, update gpkg", "to update gpkg itself: @how-to/update-gpkg.md"},
    {"upload",
     "gpkg build RECIPE --output-dir CHANNEL builds into a channel; to copy it to a server: rsync "
     "-a CHANNEL/ HOST:FOLDER/"},
    {"uvx, x", "use gpkg exec {}"},
    {"validate", "for an environment: gpkg verify -n NAME; for settings: gpkg config list"},
    {"variants --name, variants --prefix, variants -n, variants -p",
     "variants looks in the channels; for the installed build: gpkg list -n NAME"},
    {"variants --variant-config, variants -m",
     "for the variants of a recipe: gpkg build {1:RECIPE} -m {2:FILE} --plan"},
    {"verify-package", "use gpkg inspect {FILE}"},
    {"why --accel", "for the build that a request selects: gpkg why-not PACKAGE --accel VENDOR"},
};

/// Where something is written to.
constexpr std::string_view kPlaceOptions =
    "--channel-out --dest --destination --dir --directory --folder --out --out-dir --outdir "
    "--output --output-dir --output-folder --root --target --target-dir --to -d -o";

/// Words of one meaning, a line each.
constexpr std::string_view kSameMeaning[] = {
    "build create gen generate init make new write",
    "dump export save",
    "describe info inspect list ls show",
    "check status test validate verify",
    "exec launch run shell start",
    "--as --module --module-name",
    "--assume-yes --no-confirm --yes",
    kPlaceOptions,
    "--contents --files --list -l",
    "--days --expires --expiry --valid-for",
    "--debug --log-level --verbose",
    "--dirty --keep --keep-work --no-clean",
    "--dry-run --no-act --plan --preview --simulate --what-if",
    "--env --env-name --environment --name",
    "--file --from --input --manifest --requirement --requirements",
    "--force --force-reinstall --overwrite --rebuild",
    "--gpg-key --key --private-key --secret-key --sign-key",
    "--hotfix --hotfixes --patch --patch-instructions",
    "--jobs --parallel --threads --workers",
    "--location --path --prefix",
    "--render --render-only --show-recipe",
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

std::string hint_for_other_name(const std::string& command,
                                std::string_view word,
                                std::span<const std::string> others,
                                const IsEnvironment& is_environment) {
    using Words = std::span<const std::string>;
    const auto hint_of = [&](const std::string& words, Words behind) -> std::string {
        const auto* const found = std::ranges::find_if(
            kOtherNames, [&](const OtherName& name) { return name.has(words); });
        if (found == std::ranges::end(kOtherNames)) return "";
        return with_given_words(with_pages(found->hint), behind, is_environment);
    };
    if (command.empty()) {
        // "global install", then "global"
        auto hint = others.empty()
                        ? std::string()
                        : hint_of(fmt::format("{} {}", word, others.front()), others.subspan(1));
        return hint.empty() ? hint_of(std::string(word), others) : hint;
    }
    auto hint = hint_of(fmt::format("{} {}", command, word), others);
    if (!hint.empty()) return hint;
    if (word.starts_with('-')) return hint_of(fmt::format("* {}", word), others);
    // The word is an argument, too.
    std::vector<std::string> arguments{std::string(word)};
    arguments.insert(arguments.end(), others.begin(), others.end());
    hint = hint_of(command + " *", arguments);
    // Other tools have commands on environments behind "env", gpkg some of them without it.
    return hint.empty() && command == "env" ? hint_of(std::string(word), others) : hint;
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
