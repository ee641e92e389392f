# What every command has in common: help, exit statuses, JSON errors.
. "$(dirname "$0")/lib.sh"

expect 0 --help
verbs=$(sed -n '/^Subcommands:/,$s/^  \([a-z-]*\) .*/\1/p' <<< "$out")
check [ "$(wc -w <<< "$verbs")" -ge 15 ]
for verb in $verbs; do
    expect 0 $verb --help
    out_has "gpkg $verb"
    # An example, which begins a line.
    check grep -q "^  .*gpkg $verb" <<< "$out"
    expect 2 $verb --no-such-flag-at-all
    expect 2 $verb --no-such-flag-at-all --json
    json 'd["success"] is False'
done
expect 2 frob
expect 2 creat -n x y
err_has 'creat: no such command'
err_has 'did you mean create'
expect 2 list one two three
err_has 'gpkg list: not expected: two three'
expect 2 frob --json
json 'd["success"] is False'

# Misspelled flags and verbs: what may have been meant, else the help of the command in question.
while IFS='|' read -r words hint; do
    # shellcheck disable=SC2086
    expect 2 $words
    err_has "hint: $hint"
done << 'END'
creat -n x list|did you mean create?
solve --acel nvidia numpy|did you mean --accel?
solve --acel=nvidia numpy|did you mean --accel?
solve --fro h100 numpy|did you mean --for?
solve --devces 0 numpy|did you mean --devices?
solve -json numpy|did you mean --json?
solve --zzzz numpy|gpkg solve --help
solve --for|gpkg solve --help
lock --foral x|did you mean --for or --for-all?
lock check --avialable|did you mean --available?
lock check --zzzz|gpkg lock check --help
lock convert --dryrun a|did you mean --dry-run?
hardware --slrum|did you mean --slurm?
hardware lst|did you mean gpkg hardware list?
env creat -n x|did you mean gpkg env create?
env lst|did you mean gpkg env list?
env zzzz|gpkg env --help
env|gpkg env --help
env list --jsno|did you mean --json?
env config vars lst|did you mean gpkg env config vars list?
config gte channels|did you mean gpkg config get?
config --apend a b|did you mean --append?
repoquery depnds x|did you mean gpkg repoquery depends?
module chek|did you mean gpkg module check?
END
expect 2 env creat -n x
err_has 'gpkg env: not expected: creat -n x'

# Where packages may stand, a word near a verb is one until there is no such package.
package chekc 1.0 0
expect 0 lock chekc --dry-run
expect 1 lock chek x.lock
err_has 'did you mean gpkg lock check?'
expect 1 lock chek x.lock --json
json 'd["hint"].startswith("did you mean gpkg lock check?")'
expect 2 mirror verfy /srv/mirror
err_has 'did you mean gpkg mirror verify?'
expect 1 lock pytest-check
err_lacks 'gpkg lock check'
expect 0 --version
out_has 'gpkg '

# What somebody said wrongly, on the command line or around it.
expect 2 create -n x 'a=='
expect 2 search 'a==' --json
json 'd["exception_name"] == "ArgumentError"'
CONDA_SUBDIR=noarch expect 2 info
CONDA_SUBDIR=noarch expect 2 info --json
json 'd["exception_name"] == "ArgumentError"'

# A full disk is a failure.
if [ -c /dev/full ]; then
    last='gpkg config list > /dev/full'
    "$GPKG" config list > /dev/full 2> "$WORK/stderr"
    status=$?
    check [ $status = 1 ]
fi

# No moment is not "no limit".
for when in '' 2025-02-30 2025-02-20T00:00:00+25:00 20250220; do
    expect 2 solve x --exclude-newer "$when"
done

finish
