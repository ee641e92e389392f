# Commands that are stopped or killed while they link, and commands that meet
. "$(dirname "$0")/lib.sh"

at=$GPKG_ROOT_PREFIX/envs
script bin/lib 'echo lib'
package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 'lib >=1'
# Its post-link script waits: the moment to strike.
script bin/.slow-post-link.sh 'echo x > "$SLOW/started"' \
    'for _ in 1 2 3 4 5 6 7 8; do sleep 0.1; done'
script bin/slow 'echo slow'
info=$WORK/payload/lib/python3.11/site-packages/slow-1.0.dist-info
mkdir -p "$info" && printf 'Name: slow\nVersion: 1.0\n' > "$info/METADATA"
package slow 1.0 0 lib
export SLOW=$WORK/slow
mkdir "$SLOW"

# strike SIGNAL WORDS...: runs gpkg and sends the signal while a script of slow runs.
strike() {
    local signal=$1 child
    shift
    last="gpkg $* < $signal"
    rm -f "$SLOW/started"
    "$GPKG" "$@" > "$WORK/stdout" 2> "$WORK/stderr" &
    child=$!
    for _ in $(seq 200); do [ -e "$SLOW/started" ] && break; sleep 0.05; done
    kill -"$signal" "$child"
    wait "$child" 2> "$WORK/wait"
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}

# Asked to stop: all is as it was, and the next command works.
expect 0 create -n e app
before=$(cd "$at/e" && find . -type f -printf '%p %T@ %i\n' | sort)
for signal in INT TERM; do
    strike $signal create -n x slow
    check [ "$status" = 1 ]
    err_has interrupted
    absent x
    strike $signal install -n e slow
    check [ "$status" = 1 ]
    check [ "$(cd "$at/e" && find . -type f -printf '%p %T@ %i\n' | sort)" = "$before" ]
done
strike TERM install --json -n e slow
json 'd["success"] is False and d["error"] == "interrupted; nothing was changed"'

# Killed: the next command undoes what was left, and says so.
strike KILL create -n x slow
check [ "$status" = 137 ]
expect 0 create -n x lib
err_has 'envs/x: the interrupted `gpkg create -n x slow` was undone'
has x lib-1.0
check [ "$(ls "$at/x/bin")" = lib ]
for words in 'install -n y lib' 'update -n y --all' 'remove -n y lib'; do
    strike KILL create -n y slow
    expect 1 $words
    err_has "creating $at/y was interrupted and has been undone" 'run again: gpkg create -n y slow'
    absent y
    # What the log knows is said once more.
    for reader in list repair; do
        expect 1 $reader -n y
        err_is "error: no environment at $at/y
  hint: creating it was interrupted; run again: gpkg create -n y slow"
    done
done
for words in 'remove --all' 'env remove'; do
    strike KILL create -n y slow
    expect 0 $words -y -n y
    err_has 'the interrupted `gpkg create -n y slow` was undone'
    out_is 'nothing is left to remove'
    absent y
done
# What killed commands left in the store goes with the next download.
mkdir -p "$GPKG_ROOT_PREFIX/pkgs/.tmp-0-1-abcdef"
touch -d '2 days ago' "$GPKG_ROOT_PREFIX/pkgs/.tmp-0-1-abcdef"
rm -rf "$GPKG_ROOT_PREFIX"/pkgs/lib-1.0*
expect 0 create -y -q -n z lib
check [ ! -e "$GPKG_ROOT_PREFIX/pkgs/.tmp-0-1-abcdef" ]
expect 0 env remove -y -q -n z
for words in 'list' 'verify' 'doctor' 'history' 'env export'; do
    strike KILL create -n y slow
    expect 1 $words -n y
    err_has "creating $at/y was interrupted" 'run gpkg create again, or undo it: gpkg repair -n y'
done
expect 0 env list
out_has "y          $at/y  (interrupted; gpkg repair -n y)"
expect 0 env list --json
json 'd["envs_interrupted"] == [work + "/root/envs/y"] and work + "/root/envs/y" not in d["envs"]'
expect 0 repair -n y --dry-run
out_has 'was interrupted; to undo it: gpkg repair -n y'
expect 0 repair -n y
err_is "$at/y: the interrupted \`gpkg create -n y slow\` was undone"
out_is ''
expect 0 env list
out_lacks interrupted
absent y
for words in 'install -n e lib' 'update -n e --all' 'install -n e app --force-reinstall'; do
    strike KILL install -n e slow
    expect 0 list -n e --json
    json '[p["name"] for p in d] == ["app", "lib"]'
    expect 0 install -n e -d lib
    err_has '`gpkg install -n e slow` was interrupted; the next command that changes or runs it, or gpkg repair -n e, will complete or undo it'
    expect 1 verify -n e
    err_has '`gpkg install -n e slow` was interrupted; to complete or undo it: gpkg repair -n e'
    expect 1 doctor -n e
    out_has 'environment: `gpkg install -n e slow` was interrupted' 'repair the environment, then run gpkg doctor again'
    out_lacks 'does not run on'
    expect 0 $words
    err_has 'envs/e: the interrupted `gpkg install -n e slow` was undone'
    has e app-1.0 lib-1.0
    check [ "$(ls -A "$at/e/bin" | tr '\n' ' ')" = 'app lib ' ]
    check [ -z "$(find "$at/e" -name '.gpkg-*')" ]
done
strike KILL install -n e slow
expect 0 remove -y -n e --all
absent e
expect 0 create -n e slow
check [ "$("$at/e/bin/slow")" = slow ]

# Killed while unpacking or anywhere: whatever it was, the same command then succeeds.
mkdir -p "$WORK/payload/share"
for i in $(seq 400); do echo "$i" > "$WORK/payload/share/f$i"; done
package many 1.0 0 app
mkdir -p "$WORK/payload/share"
for i in $(seq 400); do echo "$i" > "$WORK/payload/share/g$i"; done
package more 1.0 0 app
for pause in 0.02 0.05 0.08 0.12 0.2; do
    rm -rf "$GPKG_ROOT_PREFIX/pkgs" "$at/k" "$at"/.k*
    last="gpkg create -n k many, killed after $pause s"
    "$GPKG" create -q -n k many 2> "$WORK/stderr" &
    child=$!
    sleep $pause
    kill -KILL $child 2> "$WORK/wait"
    wait $child 2> "$WORK/wait"
    gpkg create -n k many
    checks=$((checks + 1))
    [ "$status" = 0 ] || [[ "$err" == *'exists already'* ]] || fail "after a kill at $pause s"
    has k app-1.0 lib-1.0 many-1.0
    check [ "$(ls "$at/k/share" | wc -l)" = 400 ]
done

# Several at once: environments that share a store, one environment made twice, one changed twice.
# together NAME WORDS... -- WORDS...: both at the same time; sets $first and $second.
together() {
    local words=() children
    last="together: $*"
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    shift
    "$GPKG" "${words[@]}" > "$WORK/stdout" 2> "$WORK/stderr" &
    children=$!
    "$GPKG" "$@" > "$WORK/stdout2" 2> "$WORK/stderr2"
    second=$?
    wait "$children"
    first=$? out=$(cat "$WORK/stdout" "$WORK/stdout2") err=$(cat "$WORK/stderr" "$WORK/stderr2")
}
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
together create -n c1 many more -- create -n c2 more many
check [ "$first$second" = 00 ]
has c1 app-1.0 lib-1.0 many-1.0 more-1.0
has c2 app-1.0 lib-1.0 many-1.0 more-1.0
check [ "$(ls "$at/c1/share" "$at/c2/share" | grep -c '^[fg][0-9]')" = 1600 ]
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 4 ]
check [ "$(wc -l < "$HOME/.conda/environments.txt")" = "$(sort -u "$HOME/.conda/environments.txt" | wc -l)" ]
check [ "$(grep -c '/c[12]$' "$HOME/.conda/environments.txt")" = 2 ]

together create -n same many -- create -n same many
case $first$second in
    01 | 10) check true ;;
    *) fail "one of two makes the environment, not $first and $second" ;;
esac
has same app-1.0 lib-1.0 many-1.0

expect 0 create -n both app
together install -n both many -- install -n both more
check [ "$first$second" = 00 ]
has both app-1.0 lib-1.0 many-1.0 more-1.0
check [ "$(ls "$at/both/share" | wc -l)" = 800 ]
together install -n both app --force-reinstall -- remove -y -n both many
check [ "$first$second" = 00 ]
check [ "$("$at/both/bin/app")" = app ]

# The same with locks as NFS has them: of byte ranges, and exclusive ones only of files open for writing.
if command -v cc > /dev/null; then
    cat > nfs.c << 'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
int flock(int fd, int how) {
    struct flock lock = {.l_type = how & LOCK_UN ? F_UNLCK : how & LOCK_SH ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET};
    int result = fcntl(fd, how & LOCK_NB ? F_OFD_SETLK : F_OFD_SETLKW, &lock);
    if (result != 0 && errno == EACCES) errno = EWOULDBLOCK;
    return result;
}
END
    cc -shared -fPIC -o nfs.so nfs.c
    export LD_PRELOAD=$PWD/nfs.so
    expect 0 create -n nfs app
    together install -n nfs many -- install -n nfs more
    check [ "$first$second" = 00 ]
    has nfs app-1.0 lib-1.0 many-1.0 more-1.0
    err_lacks 'cannot lock'
    strike KILL install -n nfs slow
    expect 0 install -n nfs slow
    err_has 'envs/nfs: the interrupted `gpkg install -n nfs slow` was undone'
    rm -f "$SLOW/started"
    "$GPKG" install -n nfs slow --force-reinstall > "$WORK/stdout2" 2>&1 &
    holder=$!
    for _ in $(seq 200); do [ -e "$SLOW/started" ] && break; sleep 0.05; done
    expect 0 remove -y -n nfs many
    err_has "waiting for process $holder on "
    wait "$holder"
    unset LD_PRELOAD
fi

# A link script that never ends does not keep gpkg from ending.
script bin/.hang-post-link.sh 'echo x > "$SLOW/started"' 'sleep 300 & sleep 300'
package hang 1.0 0
for signal in INT TERM; do
    before=$SECONDS
    strike $signal create -n h hang
    check [ "$status" = 1 ]
    err_is 'error: interrupted; nothing was changed'
    check [ $((SECONDS - before)) -lt 30 ]
    absent h
done

# An environment that is used finds its way back first.
expect 0 create -n u lib
script bin/lib 'echo new lib'
package lib 2.0 0
expect 0 index "$CHANNEL"
strike KILL install -n u lib=2 slow
expect 0 run -n u lib
out_is lib
err_has 'envs/u: the interrupted `gpkg install -n u lib=2 slow` was undone'
has u lib-1.0
strike KILL install -n u lib=2 slow
expect 0 create -n v --clone u
err_has 'envs/u: the interrupted `gpkg install -n u lib=2 slow` was undone'
has v lib-1.0

# Waiting for another process ends when asked to, and says for whom.
mkdir -p "$at/u/conda-meta"
exec 8> "$at/u/conda-meta/.gpkg-lock"
flock -x 8
echo 'process 1 on elsewhere' >&8
before=$SECONDS
last='gpkg install under a held lock'
"$GPKG" install -n u lib=2 > "$WORK/stdout" 2> "$WORK/stderr" &
child=$!
for _ in $(seq 200); do grep -q waiting "$WORK/stderr" && break; sleep 0.05; done
kill -TERM "$child"
wait "$child"
status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
exec 8>&-
check [ "$status" = 1 ]
check [ $((SECONDS - before)) -lt 20 ]
err_has 'waiting for process 1 on elsewhere to finish with this environment'
err_has 'error: interrupted'
rm -f "$at/u/conda-meta/.gpkg-lock"

clean
finish
