# gpkg build that is interrupted or killed: it returns at once, leaves no process behind and the
# channel as it was; the next run goes on from there.
. "$(dirname "$0")/lib.sh"

# strike SIGNAL FILE WORDS...: gpkg build with these words gets the signal once there is such a file.
strike() {
    local signal=$1 file=$2 before child
    shift 2
    rm -f "$file"
    last="gpkg build $* under SIG$signal"
    "$GPKG" build "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
    child=$!
    for _ in $(seq 400); do [ -e "$file" ] && break; sleep 0.05; done
    check [ -e "$file" ]
    sleep "${PAUSE:-0.3}"
    before=$(date +%s%N)
    kill -"$signal" "$child"
    wait "$child" 2> "$WORK/wait"
    status=$? took=$((($(date +%s%N) - before) / 1000000))
    out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}
# stopped: it was interrupted, said so, and took no time next to the minutes that were left, on a busy machine either.
stopped() {
    check [ "$status" = 1 ]
    err_has 'error: interrupted'
    check [ "$took" -lt 20000 ]
}
# gone NUMBER: no program sleeps for so long.
gone() {
    for _ in $(seq 40); do pgrep -fx "sleep $1" > "$WORK/pids" || break; sleep 0.05; done
    check [ -z "$(cat "$WORK/pids")" ]
}
id=$$ # so that no other program sleeps for as long
sandboxes=off
bwrap --unshare-net --ro-bind / / true 2> /dev/null && sandboxes='off required'

# Scripts, with what they start and leave behind.
for sandbox in $sandboxes; do
    recipe hang "build: {script: ['sleep 3${id}1 & setsid sleep 3${id}2 & touch \$SRC_DIR/began', 'sleep 3${id}3']}"
    for signal in INT TERM; do
        strike $signal out.work/builds/hang-1-hb0f4dca_0/work/began r/hang --output-dir out --sandbox $sandbox
        stopped
        for n in 1 2 3; do gone 3${id}$n; done
        check [ ! -e out.work/builds/hang-1-hb0f4dca_0 ]
        check [ -z "$(ls -A out)" ]
    done
done
recipe daemon "build: {script: ['setsid sleep 3${id}4 &', 'touch \$PREFIX/x']}"
expect 0 build r/daemon --output-dir out --sandbox off
gone 3${id}4

# Tests; what was built stays built, and is tested and published by the next run.
recipe tested "build: {script: [echo >> $PWD/runs, 'touch \$PREFIX/x']}" \
    "tests: [{script: ['touch $PWD/began', '[ -e $PWD/well ] || sleep 3${id}5']}]"
for signal in TERM KILL; do
    strike $signal began r/tested --output-dir out --sandbox off
    # What a killed gpkg started outside of a sandbox may outlive it.
    if [ $signal = KILL ]; then pkill -fx "sleep 3${id}5"; else stopped; fi
    gone 3${id}5
    check [ ! -e out/linux-64/tested-1-hb0f4dca_0.conda ]
done
expect 1 search -c ./out --override-channels tested
expect 0 build r/tested --output-dir out --sandbox off --plan
out_is '0 to build, 1 unchanged'
touch well
expect 0 build r/tested --output-dir out --sandbox off
out_is "0 packages built, 1 unchanged, 0 failed (channel $PWD/out)"
check [ "$(wc -l < runs)" = 1 ]
expect 0 search -c ./out --override-channels tested
check [ "$(ls -A out.work/runs)" = .door ]

# What a killed run left unpublished is no other run's, and not what a changed recipe makes.
rm well
recipe other 'requirements: {host: [tested]}' 'build: {script: "touch $PREFIX/other"}'
recipe tested "build: {script: [echo >> $PWD/runs, 'touch \$PREFIX/y']}" \
    "tests: [{script: ['touch $PWD/began', '[ -e $PWD/well ] || sleep 3${id}6']}]"
strike KILL began r/tested --output-dir out --sandbox off
pkill -fx "sleep 3${id}6"
expect 0 build r/other --output-dir out --sandbox off
first=$(sha256sum < out/linux-64/tested-1-hb0f4dca_0.conda)
check grep -q "${first%% *}" out.work/built/linux-64/other-1-hb0f4dca_0.conda
touch well
sed -i 's,/y,/z,' r/tested/recipe.yaml
expect 0 build r/tested --output-dir out --sandbox off
out_ends "1 package built, 0 unchanged, 0 failed (channel $PWD/out)"

# Compression of the highest level, whose pieces take minutes.
head -c 60000000 /dev/urandom | base64 -w0 > big
recipe packed "build: {script: ['cp $PWD/big \$PREFIX/big', 'touch $PWD/began']}"
PAUSE=3 strike INT began r/packed --output-dir out --sandbox off --zstd-level 22
stopped
check [ -z "$(find out.work/unpublished -type f)" ]
PAUSE=3 strike INT began r/packed --output-dir out --sandbox off --package-format tar-bz2
stopped

# Sources: a tree of many files, and an archive that unpacks to much.
mkdir -p r/tree/s && (cd r/tree/s && seq 40000 | xargs touch)
recipe tree 'source: {path: s}' 'build: {script: "true"}'
PAUSE=0.5 strike INT out.work/builds/tree-1-hb0f4dca_0/work/1 r/tree --output-dir out --sandbox off
stopped
mkdir -p r/archive
(cd r/archive && python3 - << 'END'
import tarfile, io
class Zeros(io.RawIOBase):
    def __init__(self, size): self.left = size
    def read(self, n=-1):
        n = self.left if n < 0 else min(n, self.left); self.left -= n; return b"\0" * n
with tarfile.open("z.tar.gz", "w:gz", compresslevel=1) as tar:
    for name, size in (("first", 1), ("zeros", 3 << 30)):
        info = tarfile.TarInfo(name); info.size = size; tar.addfile(info, Zeros(size))
END
)
recipe archive 'source: {path: z.tar.gz}' 'build: {script: "true"}'
"$GPKG" build r/archive --output-dir out --sandbox off > "$WORK/stdout" 2> "$WORK/stderr" &
child=$!
sleep 1.5
before=$(date +%s%N)
kill -INT $child
wait $child
status=$? took=$((($(date +%s%N) - before) / 1000000)) err=$(cat "$WORK/stderr")
stopped

# Waiting for another run.
recipe slow "build: {script: ['touch $PWD/began', 'sleep 3${id}7']}"
"$GPKG" build r/slow --output-dir out --sandbox off > "$WORK/first" 2>&1 &
first=$!
for _ in $(seq 200); do [ -e out.work/builds/slow-1-hb0f4dca_0 ] && break; sleep 0.05; done
"$GPKG" build r/slow --output-dir out --sandbox off > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
second=$!
for _ in $(seq 200); do grep -q waiting "$WORK/stderr" && break; sleep 0.05; done
before=$(date +%s%N)
kill -TERM $second
wait $second
status=$? took=$((($(date +%s%N) - before) / 1000000)) err=$(cat "$WORK/stderr")
stopped
err_has "waiting for process $first on "
kill -INT $first
wait $first
check [ $? = 1 ]
gone 3${id}7

finish
