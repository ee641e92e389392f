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
verbs=$(sed -n '/^Other spellings:/q;s/^  \([a-z-]*\) .*/\1/p' <<< "$out")
check [ "$(wc -w <<< "$verbs")" -ge 45 ]
for verb in $verbs; do
    check grep -qw -- "$verb" <<< "$overview"
done

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
err_has 'hint: use gpkg index FOLDER --sign-key FILE'
expect 2 verify-package x-1.0-0.conda
err_has 'hint: use gpkg inspect FILE'
expect 2 build -f recipe.yaml
err_has 'name the recipe without an option: gpkg build RECIPE'
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
remove -n early|gpkg remove: missing argument: SPEC (--all
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
err_has "gpkg verify: unexpected argument './channel'" 'for a mirror: gpkg mirror verify DIR' 'gpkg inspect FILE'
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
builds pytorch|use gpkg variants
virtual-packages|use gpkg hardware
ls|use gpkg list
doctor early|did you mean -n early?
undo|use gpkg rollback
bug-report|use gpkg info --report
fix|use gpkg repair
compare|use gpkg diff A B
env diff a b|use gpkg diff A B
create -n x --lock pixi.lock -e test|for an environment of a lock: --environment NAME
config add channels x|use gpkg config append KEY VALUE
global list|use gpkg exec TOOL
task add|gpkg has no tasks
auth login host|write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc
workspace list|the requests of a project are in environment.yml: gpkg sync -f environment.yml
reinstall numpy|use gpkg install -n NAME --force-reinstall
config show|use gpkg config list
config unset channels|use gpkg config remove-key
solve --acel nvidia numpy|did you mean --accel?
solve --acel=nvidia numpy|did you mean --accel?
solve --fro h100 numpy|did you mean --for?
solve --devces 0 numpy|did you mean --devices?
solve -json numpy|did you mean --json?
upload x|gpkg build RECIPE --output-dir CHANNEL builds into a channel
channel x|gpkg index FOLDER makes a channel
build -o x r|use --output-dir FOLDER
build --recipe r|name the recipe without an option: gpkg build RECIPE
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
module create|subcommands: write, check
config describ channels|did you mean gpkg config describe?
config zzzz|subcommands: list, get
image ml.sqfs|to run a command in it: gpkg image run ml.sqfs -- python
search early late|gpkg search takes one SPEC at a time
verify early|did you mean -n early?
env remove early|did you mean -n early?
env remove eraly|did you mean -n early?
rename early late|name the environment with -n: gpkg rename -n early late
pack early|did you mean -n early?
unpack early.tar.zst|to unpack an archive of gpkg pack: mkdir ml
env sync|use gpkg sync
env rm x|use gpkg env remove
lock --check|use gpkg lock check
lock --locked|use gpkg lock check
lock --machine a100|use --for NAME; gpkg hardware list shows the names
lock --glibc 2.36|write it behind the machine: --for a100,glibc=2.36
lock -n ml|lock reads a file: gpkg env export -n NAME -f environment.yml; gpkg lock
lock update --package numpy|name the package without an option: gpkg lock update NAME
lock list --for a100|use --class NAME
lock convert gpkg.lock x.txt --for a100|use --class NAME; gpkg lock list shows the classes
lock --platform linux-64 --platform osx-64|for several platforms: list them under 'platforms:'
convert a b|use gpkg lock convert FROM TO
create --no-build x|use --no-builds
config sources|use gpkg config list --show-sources
install --lock x.lock|use gpkg sync -n NAME --lock FILE
env list --jsno|did you mean --json?
env config vars lst|did you mean gpkg env config vars list?
config gte channels|did you mean gpkg config get?
config --apend a b|did you mean --append?
repoquery depnds x|did you mean gpkg repoquery depends?
module chek|did you mean gpkg module check?
list --revisions|use gpkg history
list --outdated|use gpkg update --all --dry-run
install --revision 3|use gpkg rollback N; gpkg history lists N
update --undo|use gpkg rollback
update --dry-run --outdated|use gpkg update --all --dry-run
depends x|use gpkg tree -n NAME PACKAGE
rdepends x|use gpkg tree -n NAME --invert PACKAGE
who-needs x|use gpkg tree -n NAME --invert PACKAGE
leaves|use gpkg list --requested
info early|for a package: gpkg show PACKAGE
copy early late|use gpkg create -n NEW --clone OLD
rename -n early -p /tmp/late|the new name or path is an argument: gpkg rename -n OLD NEW
why early -c x|why explains an installed package; for a request: gpkg why-not SPEC
diff early environment.yml|to compare with an environment.yml: gpkg sync -n NAME -f environment.yml --dry-run
pin|gpkg pin -n NAME 'numpy=1.26.*'; to list pins: gpkg pins -n NAME
solve --cuda 12.4 pytorch|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
install -n early --gpu h100 pytorch|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
create -n x --virtual-package __cuda=12.4|for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4
create --solver libmamba -n x y|gpkg has one solver
install -k -n early y|to skip the check of certificates: gpkg config set ssl_verify false
create --token x|write the login to
install --locked|use gpkg sync -n NAME --lock gpkg.lock
history 4|to see what generation 4 changed: gpkg diff 3 4
run --environment web x|use -n NAME
config --validate|gpkg config list
project init|the requests of a project
package x|gpkg show PACKAGE
create --force -n early|to change an environment: gpkg sync -n NAME -f FILE
run --with numpy python|use gpkg exec --with PACKAGE COMMAND
exec --from imagemagick convert|use --spec PACKAGE
exec --package imagemagick convert|use --spec PACKAGE
env update --check|for a file: gpkg sync --check -n NAME -f FILE
set A=1|for a setting: gpkg config set KEY VALUE; for a variable: gpkg env config vars set -n NAME
env vars set A=1|use gpkg env config vars set -n NAME KEY=VALUE
env config set A=1|use gpkg env config vars set -n NAME KEY=VALUE
config vars set A=1|use gpkg env config vars set -n NAME KEY=VALUE
cache list|use gpkg clean to free space
verify --all|verify checks one environment
delete early|use gpkg env remove -n NAME
list -n early --from-history|use --requested
size early|use gpkg env list --size, or gpkg list -n NAME --sort size
END
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
expect 2 lock chek x.lock
err_has 'did you mean gpkg lock check?'
expect 2 lock chek x.lock --json
json 'd["hint"].startswith("did you mean gpkg lock check?")'
for words in 'upgrade chekc|lock update' 'status|lock check' 'diff a b|diff OLD.lock NEW.lock'; do
    # shellcheck disable=SC2086
    expect 1 lock ${words%|*}
    err_has "hint: use gpkg ${words#*|}"
    err_lacks 'possible fixes'
done
expect 2 mirror verfy /srv/mirror
err_has 'did you mean gpkg mirror verify?'
expect 1 lock pytest-check
err_lacks 'gpkg lock check' 'subcommands'
expect 1 lock describe
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
json 'd["exception_name"] == "ArgumentError"'
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
