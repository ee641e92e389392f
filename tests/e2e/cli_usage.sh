# What every command has in common: help, exit statuses, JSON errors.
. "$(dirname "$0")/lib.sh"

# The overview: first steps, topics, where the rest is; every command is named in it.
expect 0 --help
out_has 'First steps:' 'gpkg create -n ml pytorch' 'gpkg help COMMAND' 'documentation '
check [ "$(awk 'length > 80' <<< "$out" | wc -l)" = 0 ]
overview=$out
expect 0
out_is "$overview"
expect 0 help
out_is "$overview"
expect 2 help nosuch
err_has "unknown command 'nosuch'"
expect 2 help env nosuch
err_has "gpkg env: unknown subcommand 'nosuch'" 'hint: subcommands: '
expect 2 help list numpy
err_has "gpkg list: unexpected argument 'numpy'"
expect 2 help all create
err_is "error: unexpected argument 'create'
  hint: to see all commands: gpkg help all"
expect 2 nosuch --help
expect 0 help all
check [ "$(awk 'length > 80' <<< "$out" | wc -l)" = 0 ]
verbs=$(sed -n 's/^  \([a-z-]*\) .*/\1/p' <<< "$out")
check [ "$(wc -w <<< "$verbs")" -ge 45 ]
for verb in $verbs; do
    check grep -qw -- "$verb" <<< "$overview"
done
verbs=$(sed -n '/^Other spellings:/q;s/^  \([a-z-]*\) .*/\1/p' <<< "$out")

# example_of WORDS...: help of a command has an example of it, and lines of at most 80 columns.
example_of() {
    expect 0 "$@" --help
    out_has "gpkg $*: "
    check grep -q '^Examples:' <<< "$out"
    check grep -q "^  .*gpkg .*${!#}" <<< "$out"
    checks=$((checks + 1))
    [ "$(awk 'length > 80' <<< "$out" | wc -l)" = 0 ] || fail "lines are longer than 80 columns"
    for leftover in Excludes: Needs: '{' TEXT; do out_lacks "$leftover"; done
    local help=$out
    expect 0 help "$@"
    out_is "$help"
    local verb
    for verb in $(sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' <<< "$help"); do
        example_of "$@" "$verb"
    done
}
for verb in $verbs; do
    example_of "$verb"
    expect 2 $verb --no-such-flag-at-all
    err_has "unknown option '--no-such-flag-at-all'"
    expect 2 $verb --no-such-flag-at-all --json
    json 'd["success"] is False'
done

# Commands and options of other tools.
expect 2 sign ./channel
err_has 'hint: use gpkg index ./channel --sign-key FILE'
expect 2 verify-package x-1.0-0.conda
err_has 'hint: use gpkg inspect x-1.0-0.conda'
expect 2 build -f recipe.yaml
err_has 'name the recipe without an option: gpkg build recipe.yaml'
expect 2 build r --channel-dir channel
err_has 'use --output-dir FOLDER'
expect 2 deploy -n ml --partition gpu
err_has 'use --for partition=NAME'

# Commands that only their subcommands make useful show their help.
for verb in env keys module redist repoquery; do
    expect 2 $verb
    err_has "Usage:" "Commands:"
    expect 2 $verb --json
    json 'd["message"] == "gpkg '$verb': missing subcommand"'
done

# gpkg itself is no package of an environment.
for words in 'self update' self-update selfupdate 'update gpkg' 'upgrade gpkg'; do
    gpkg $words
    check [ "$status" != 0 ]
    err_has 'how-to/update-gpkg.md'
done
for words in 'uninstall gpkg' self-uninstall; do
    gpkg $words
    err_has '/how-to/uninstall-gpkg.md'
done

# Other spellings, as other tools have them.
while read -r spelling command; do
    expect 0 $spelling --help
    out_has "gpkg $command: "
done << 'END'
add install
uninstall remove
upgrade update
tree repoquery tree
why-closure closure why
plan-variants build plan-variants
END
expect 0 help all
out_lacks why-closure
out_lacks plan-variants
expect 0 version
version=$out
expect 0 --version
out_is "$version"
check grep -qE '^gpkg [0-9.]+( \([0-9a-f]{9} [0-9-]{10}\))?$' <<< "$version"

# Options before the command.
package early 1.0 0
expect 0 -y -n early --json create early
json 'd["success"] is True'
expect 0 -n early --json list
json '[p["name"] for p in d] == ["early"]'
expect 0 -q --prefix "$GPKG_ROOT_PREFIX/envs/early" env export
out_has early
expect 0 --offline solve early
expect 0 solve --dry-run early
expect 2 -n early
err_has 'missing command'
expect 2 --frob list
err_has "unknown option '--frob' before the command"
expect 2 -c ./channel create -n x y
err_has "unknown option '-c' before the command" 'hint: options follow the command: gpkg COMMAND -c'
expect 2 --versoin
err_has 'did you mean --version?'

# Missing and conflicting words are named.
while IFS='|' read -r words message; do
    # shellcheck disable=SC2086
    expect 2 $words
    err_has "error: $message"
done << 'END'
lock convert|gpkg lock convert: missing argument: FROM
why-not|gpkg why-not: missing argument: SPEC
exec|gpkg exec: missing argument: TOOL
run|gpkg run: missing argument: COMMAND
image run|gpkg image run: missing argument: FILE COMMAND
image run x.sqfs|gpkg image run: missing argument: COMMAND
solve|gpkg solve: missing argument: SPEC
install -n early|gpkg install: missing argument: SPEC
update -n early|gpkg update: missing argument: SPEC
remove -n early|gpkg remove: missing argument: SPEC
mirror early|gpkg mirror: missing argument: --out DIR
solve --for|gpkg solve: --for needs a value: FILE|NAME
create --name x --prefix y|gpkg create: --name cannot be used with --prefix
create -n x --environment y|gpkg create: --environment needs --lock
create --for a --for b|gpkg create: --for can be used only once
create -n --dry-run|gpkg create: --name needs a value: NAME
create -n x --max-inodes z|gpkg create: --max-inodes: 'z' is not a whole number of at least 0
END
expect 2 frob
expect 2 creat -n x y
err_has "unknown command 'creat'"
err_has 'did you mean gpkg create?'
expect 2 list one two three
err_has "gpkg list: unexpected arguments 'two' 'three'"
expect 2 verify ./channel
err_has "gpkg verify: unexpected argument './channel'" 'for a mirror: gpkg mirror verify DIR' 'gpkg inspect FILE' \
    'gpkg keys verify CHANNEL'
for words in 'help nosuch' 'nosuch --help'; do
    expect 2 $words
    err_has "unknown command 'nosuch'"
done
expect 2 frob --json
json 'd["success"] is False'

# Misspelled flags and verbs: what may have been meant, else the help of the command in question.
while IFS='|' read -r words hint; do
    # shellcheck disable=SC2086
    expect 2 $words
    err_has "hint: $hint"
done << 'END'
creat -n x list|did you mean gpkg create?
builds pytorch|use gpkg variants pytorch
virtual-packages|use gpkg hardware
doctor early|did you mean -n early?
undo|use gpkg rollback
bug-report|use gpkg info --report
fix|use gpkg repair
env diff a b|use gpkg diff a b
create -n x --lock pixi.lock -e test|for an environment of a lock: --environment NAME
build --init x|write a recipe.yaml
build r --variants v.yaml|use -m FILE for a file of variants
variants sx -m v.yaml|for the variants of a recipe: gpkg build sx -m v.yaml --plan
config add channels x|use gpkg config append channels x
global list|use gpkg env list
global install ruff|use gpkg create -n ruff ruff, then gpkg run -n ruff ruff
global x|use gpkg exec x
task add|gpkg has no tasks
auth login host|write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc
workspace list|the requests of a project are in environment.yml: gpkg sync -f environment.yml
reinstall numpy|use gpkg install -n NAME --force-reinstall numpy
reinstall -n early numpy|use gpkg install -n early --force-reinstall numpy
pip install requests|use gpkg run -n NAME python -m pip install requests; to keep it in the file
pip list -p ./x|use gpkg run -p ./x python -m pip list
-n early pip list|use gpkg run -n early python -m pip list
config show|use gpkg config list
config unset channels|use gpkg config remove-key channels
config rm channels x|use gpkg config remove-key channels, or gpkg config remove channels x
config channels|use gpkg config get channels
config sources|use gpkg config list --sources
config set --global channels x|for one user: --user; for all users: --system
hardware show|use gpkg hardware; for another machine: gpkg hardware --for NAME
hardware h100|did you mean --for h100?
hardware export x.yaml|to write a file: gpkg hardware export -o FILE
info --for h100|to show a machine: gpkg hardware --for NAME
list -n early --for h100|commands that solve take --for; to check an environment: gpkg doctor
search x --accel nvidia|to see the options: gpkg search --help
create -n x --no-network y|use --offline
list -n early --offline|use GPKG_OFFLINE=1; commands that only read an environment need no network
diff early --lock x.lock|name the lock file without an option: gpkg diff x.lock -n early
diff --generation 3 -n early|name the generation without an option: gpkg diff 3 -n early
lock check -n early|to compare an environment with a lock: gpkg sync -n early --lock FILE --check
solve --acel nvidia numpy|did you mean --accel?
solve --acel=nvidia numpy|did you mean --accel?
solve --fro h100 numpy|did you mean --for?
solve --devces 0 numpy|did you mean --devices?
solve -json numpy|did you mean --json?
upload x|gpkg build RECIPE --output-dir CHANNEL builds into a channel
channel x|gpkg index FOLDER makes a channel
build -o x r|use --output-dir FOLDER
build --recipe r|name the recipe without an option: gpkg build r
solve --zzzz numpy|to see the options: gpkg solve --help
solve --for|to see the options: gpkg solve --help
create --lock gpkg.lock --class h100|the machine decides the class; use --for NAME
lock --foral x|did you mean --for or --for-all?
lock check --avialable|did you mean --available?
lock check --zzzz|to see the options: gpkg lock check --help
lock convert --dryrun a|did you mean --dry-run?
hardware --slrum|did you mean --slurm?
hardware lst|did you mean gpkg hardware list?
env creat -n x|did you mean gpkg env create?
env lst|did you mean gpkg env list?
env zzzz|subcommands: list, create, update, export, remove, config
module create|did you mean gpkg module write?
module write --dest x|did you mean --root?
module write --name a --name b|for the name of the module: --as NAME/VERSION
module write x.sqfs|did you mean --image x.sqfs?
module uninstall early|to delete one module: rm FILE
module load ml/1|leave gpkg out: module load ml/1
image list|did you mean gpkg image show?
image exec x.sqfs true|did you mean gpkg image run?
image run -n early true|to run in an environment: gpkg run -n early COMMAND
image mount x.sqfs /mnt|the mount point is fixed when the image is built
image build --lock gpkg.lock|did you mean --from-lock?
pack --format zip|gpkg pack writes .tar.zst; for a squashfs file: gpkg image build
pack -n early early.tar.gz|did you mean --output early.tar.gz?
pack -n early --compress-level 3|did you mean --level?
run x.sqfs true|to run a command in it: gpkg image run x.sqfs -- python
list x.sqfs|to run a command in it: gpkg image run x.sqfs -- python; to list its packages: gpkg image show x.sqfs
x.sqfs|to run a command in it: gpkg image run x.sqfs -- python
mirror check /srv/mirror|use gpkg mirror verify /srv/mirror
mirror early --dest x|did you mean --out?
create --for a --for b|for several machines in one lock: gpkg lock SPEC --for v100 --for h100
create --partition gpu -n x y|use --for partition=NAME
deploy --nodes 2|resources go to sbatch
slurm|to write a batch script: gpkg deploy -n NAME --slurm
module create -n early|did you mean gpkg module write?
module -n early|-n follows the subcommand: gpkg module write -n
module write -n early --name x|for the name of the module: --as NAME/VERSION
keys create|did you mean gpkg keys generate?
index channel --key k|did you mean --sign-key?
index channel other|gpkg index takes one FOLDER at a time
build r --dry-run|did you mean --plan?
build r --for a100 --for h100|the tests of a build assume one machine
build plan-variants a100 h100|name the GPUs with an option: --for a100,h100
test r|gpkg build runs the tests of a recipe
module zzzz|subcommands: write, check
module write -n early --dest x|did you mean --root?
config describ channels|did you mean gpkg config describe?
config zzzz|subcommands: list, get
image ml.sqfs|to run a command in it: gpkg image run ml.sqfs -- python
search early late|gpkg search takes one SPEC at a time
verify early|did you mean -n early?
env remove early|did you mean -n early?
env remove eraly|did you mean -n early?
why early app|name the environment with -n: gpkg why -n early app
pack early|did you mean -n early?
unpack early.tar.zst|to unpack an archive of gpkg pack: mkdir ml
env sync|use gpkg sync
env rm -n x|use gpkg env remove -n x
env shell -n x|use gpkg shell -n x
env tree|use gpkg tree
env remove ./early|did you mean -p ./early?
env remove zzzz|name an environment with -n NAME or -p PATH
clean all|did you mean --all?
clean packages|did you mean --packages?
clean -n early|use --all, or --packages, --index-cache or --exec for a part
list -n early --leaves|use --requested
repoquery rdepends x|use gpkg repoquery whoneeds x
remove -n early --no-deps x|gpkg removes dependents, too
run -n early -e A=1 env|for an environment: -n early; for a variable: gpkg run -n early env VAR=VALUE COMMAND
config set OMP_NUM_THREADS 8|for a variable of an environment: gpkg env config vars set -n NAME OMP_NUM_THREADS=VALUE
lock --check|use gpkg lock check
lock --locked|use gpkg lock check
lock --machine a100|use --for NAME; to list the names: gpkg hardware list
lock --glibc 2.36|for another machine: --for NAME,glibc=2.28
lock -n ml|write the environment to a file: gpkg env export -n ml -f ml.yml; gpkg lock -f ml.yml
lock update --package numpy|name the package without an option: gpkg lock update numpy
lock list --for a100|use --class NAME
lock convert gpkg.lock x.txt --for a100|use --class NAME; gpkg lock list shows the classes
lock --platform linux-64 --platform osx-64|for several platforms: list them under 'platforms:'
convert a b|use gpkg lock convert a b
create --no-build x|use --ignore-builds
env export --ignore-builds|use --no-builds
update --lock x.lock|use gpkg sync -n NAME --lock FILE
env list --jsno|did you mean --json?
env config vars lst|did you mean gpkg env config vars list?
config gte channels|did you mean gpkg config get?
config --apend a b|did you mean --append?
repoquery depnds x|did you mean gpkg repoquery depends?
module chek|did you mean gpkg module check?
list -n early --revisions|use gpkg history -n early
list --outdated --prefix=./x|use gpkg update --all --dry-run --prefix=./x
install -n early --revision 3|to return to an earlier state: gpkg rollback N -n early; the first is 1: gpkg history -n early
install --revision=3|to return to an earlier state: gpkg rollback N -n NAME
redo -n early|to return to an earlier state: gpkg rollback N -n early; the first is 1: gpkg history -n early
update --undo|use gpkg rollback
update --dry-run --outdated|use gpkg update --all --dry-run
depends x|use gpkg tree -n NAME x, or gpkg repoquery depends x
rdepends x|use gpkg tree -n NAME --invert x
freeze -n early|to list the packages in a file: gpkg env export -n early; to keep an environment from changing: 
rdeps -n early x|use gpkg tree -n early --invert x, or gpkg repoquery whoneeds x
who-needs x|use gpkg tree -n NAME --invert x
env check -n early|use gpkg sync --check -n early -f FILE, or gpkg verify -n early
list -n early --verify|to see the options: gpkg list --help; or the command: gpkg verify
verify -n early numpy|leave it out: gpkg verify is about the whole environment
verify -n early --fix|use gpkg repair -n early
lock check --fix|use gpkg lock repair
--uninstall|did you mean gpkg uninstall?
--info|did you mean gpkg info?
uninstall|packages: gpkg remove -n NAME PACKAGE; an environment: gpkg env remove -n NAME; gpkg itself: 
purge|to remove an environment: gpkg env remove -n NAME
env remove --all|leave the option out
recover -n early|to restore damaged files: gpkg repair -n early
resume|run the interrupted command again
issue|to report a bug: 
info --report -o x|to write a file: gpkg info --report > report.txt
init --uninstall|use gpkg init --undo
env verify early|use gpkg verify early
leaves|use gpkg list --requested
info early|did you mean -n early?
info numpy|for a package: gpkg show numpy
copy early late|use gpkg create -n late --clone early
clone|use gpkg create -n NEW --clone OLD
mv early late|use gpkg rename early late
rename -n early -p /tmp/late|the new name or path is an argument: gpkg rename OLD NEW
rollback early|the last change: gpkg rollback -n NAME
rollback --to 3 -n early|the generation is an argument: gpkg rollback 3 -n early
rollback --redo -n early|to return to an earlier state: gpkg rollback N -n early; the first is 1: gpkg history -n early
create -n new --check x|use --dry-run --json
export -n early --format conda-lock|use --explicit, --json, --no-builds or --from-history; for a lock in another format: gpkg lock convert
config set env_prompt x|to keep the prompt as it is: gpkg config set changeps1 false
pin --remove -n early x|use gpkg unpin -n early x
list --env early|use -n early
sync --no-lock|use gpkg sync -f environment.yml
status|use gpkg doctor -n NAME for an environment, or gpkg info for gpkg itself
unhold x|use gpkg unpin -n NAME x
diff early environment.yml|to compare with an environment.yml: gpkg sync -n NAME -f environment.yml --dry-run
pin|gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME
solve --cuda 12.4 pytorch|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
install -n early --gpu h100 pytorch|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
create -n x --virtual-package __cuda=12.4|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
create --solver libmamba -n x y|gpkg has one solver
env list -k|to skip the check of certificates: GPKG_SSL_VERIFY=false
create --token x|write the login to
install --locked|use gpkg sync -n NAME --lock gpkg.lock
history 4|to see what generation 4 changed: gpkg diff 3 4 -n NAME
history 4 -n early|to see what generation 4 changed: gpkg diff 3 4 -n early
history early|did you mean -n early?
history -n early -5|for the last 5: gpkg history --last 5 -n early
history -n early --last|for example: gpkg history -n ml --last 5
log 3|for the last 3: gpkg log --last 3
log -3|for the last 3: gpkg log --last 3
log early|did you mean -n early?
log --errors|use --failed
errors -n early|use gpkg log --failed -n early
run --environment web x|use -n NAME
config --validate|gpkg config list
project init|the requests of a project
package x|gpkg show x
create --force -n early|to change an environment: gpkg sync -n early -f FILE
run --with numpy python|use gpkg exec --with numpy python
exec --from imagemagick convert|use --spec PACKAGE
exec --package imagemagick convert|use --spec PACKAGE
env update --check|for a file: gpkg sync --check -n NAME -f FILE
set A=1|for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME
env vars set A=1|use gpkg env config vars set -n NAME KEY=VALUE
env config set A=1|use gpkg env config vars set -n NAME A=1
env config vars get -n early|use gpkg env config vars list -n early
config vars set A=1|use gpkg env config vars set -n NAME A=1
cache list|use gpkg clean to free space
delete early|use gpkg env remove -n early, or gpkg remove -n early PACKAGE
delete|use gpkg env remove -n NAME
list -n early --from-history|use --requested
size early|use gpkg env list --size, or gpkg list -n early --sort size
init --remove|use gpkg init --undo
create -n x y --non-interactive|gpkg asks only on a terminal; to confirm without a question: -y
list -n early --format json|for one JSON document: --json
create -n early -dry-run x|did you mean --dry-run?
clean -tipsy|to remove everything that is unused: gpkg clean --all -y
END
# A file where the command takes one by an option.
touch given.yml given.lock
expect 2 sync given.yml
err_has 'did you mean -f given.yml?'
expect 2 sync -n early given.lock
err_has 'did you mean --lock given.lock?'
expect 1 update -n base conda
err_has 'hint: to update gpkg itself: '
expect 0 ls -n early
expect 0 compare early early
expect 2 diff early 1 2
err_has 'name the environment with -n: gpkg diff -n early 1 2'
expect 1 pin -n early remove x
err_has 'use gpkg unpin'
# Options before the command count for errors too, several letters may share a word, and -y and
# --offline do no harm where there is nothing to ask or to fetch.
for words in nosuch 'creat -n x' 'help nosuch' ''; do
    # shellcheck disable=SC2086
    expect 2 --json $words
    json 'd["success"] is False and d["exception_name"] == "ArgumentError"'
done
expect 0 -qn early list
expect 0 -yqnearly list
expect 0 -y --offline list -n early
expect 0 -vvv list -n early
expect 2 -qx list
err_has "unknown option '-qx'"
expect 2 --nam early list
err_has "unknown option '--nam' before the command" 'did you mean --name?'
expect 2 -n
err_has '-n needs a value'
expect 2 redist import
err_lacks environment.yml
expect 0 version --json
json 'd["version"] and " " not in d["commit"] and "date" in d'
expect 2 env creat -n x
err_has "gpkg env: unknown subcommand 'creat'"

# Where packages may stand, a word near a verb is one until there is no such package.
package chekc 1.0 0
expect 0 lock chekc --dry-run
expect 2 lock chek ./x.lock
err_has 'did you mean gpkg lock check?'
expect 2 lock chek ./x.lock --json
json 'd["hint"].startswith("did you mean gpkg lock check?")'
for words in 'upgrade chekc|lock update chekc' 'status|lock check' 'diff a b|diff a b'; do
    # shellcheck disable=SC2086
    expect 1 lock ${words%|*}
    err_has "hint: use gpkg ${words#*|}"
    err_lacks 'possible fixes'
done
expect 2 mirror verfy /srv/mirror
err_has 'did you mean gpkg mirror verify?'
expect 1 lock pytest-check
err_lacks 'gpkg lock check' 'subcommands'
expect 1 lock sketch
err_has 'subcommands of gpkg lock: '
expect 1 lock export
err_has 'hint: use gpkg lock convert'
expect 2 hlep
err_has 'did you mean gpkg help?'
expect 0 --version
out_has 'gpkg '

# What somebody said wrongly, on the command line or around it.
expect 2 create -n x 'a=='
expect 2 search 'a==' --json
json 'd["exception_name"] == "InvalidMatchSpec"'
CONDA_SUBDIR=noarch expect 2 search a
CONDA_SUBDIR=noarch expect 2 search a --json
json 'd["exception_name"] == "ArgumentError"'

# A full disk is a failure.
if [ -c /dev/full ]; then
    last='gpkg config list > /dev/full'
    "$GPKG" config list > /dev/full 2> "$WORK/stderr"
    status=$?
    check [ $status = 1 ]
fi

# No moment is not "no limit".
for when in '' 2025-02-30 2025-02-20T00:00:00+25:00 20250220 7m; do
    expect 2 solve x --exclude-newer "$when"
done

finish
