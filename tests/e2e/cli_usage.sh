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
