# gpkg build --slurm on a real cluster: a matrix of variants and what needs it, the same bytes as built here,
# failures by variant, and runs that are cut off at any time.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/lib.sh"
. "$tests/slurm.sh"

for node in n1 n2 n3; do slurm_node $node; done
slurm_partition all n1,n2,n3 Default=YES
slurm_setting MaxArraySize=5
slurm_start
export TMPDIR=$NODE_DISK # scripts work on the node's own disk
mkdir -p "$TMPDIR"
id=$$ # so that no other program sleeps for as long

# job_of: of the last command's submission; jobs: how many there were.
jobs() { grep -c ' submitted$' "$WORK/stderr"; }
queue() { squeue -h -r -o '%F_%K %T'; }
# until_there FILE: at most 20 seconds.
until_there() {
    for _ in $(seq 400); do [ -e "$1" ] && return; sleep 0.05; done
    checks=$((checks + 1))
    fail "there is no $1"
}
empty_queue() {
    for _ in $(seq 400); do [ -z "$(queue)" ] && return; sleep 0.05; done
    checks=$((checks + 1))
    fail "the queue is not empty: $(queue)"
}
# runs NAME: how often its script was run. The sandbox hides the file: those recipes are built without.
runs() { cat "$WORK/runs/$1" 2> /dev/null | wc -l; }
mkdir -p "$WORK/runs"

# A library in six variants, a package that needs it, and one that can only be tested with what comes after it.
recipe lib 'build:' '  script: [echo $flavour $python > $PREFIX/lib, sleep 0.3]' \
    '  variant: {use_keys: [flavour, python]}' 'tests: [{script: [test -e $PREFIX/lib]}]'
recipe app 'requirements: {host: [lib], run: [lib, late]}' 'build: {script: "cp $PREFIX/lib $PREFIX/app"}' \
    'tests: [{script: [test -e $PREFIX/app, test -e $PREFIX/late]}]'
recipe late 'requirements: {host: [lib]}' 'build: {script: "echo late > $PREFIX/late"}'
printf '%s\n' 'flavour: [sweet, sour]' 'python: ["3.10", "3.11", "3.12"]' > variants.yaml
export SOURCE_DATE_EPOCH=1700000000

expect 0 build r --slurm --output-dir far -m variants.yaml --plan
out_has 'wave 1: sbatch --parsable --export=ALL --array=0-5 ' 'wave 2: sbatch --parsable --export=ALL --array=0-1 ' \
    'flavour=sour, python=3.11' '8 to build, 0 unchanged'
expect 0 build r --slurm --slurm-options '--partition=all --mem=100' -j 2 --output-dir far -m variants.yaml --plan --json
json '[len(w["tasks"]) for w in d["waves"]] == [6, 2] and "--mem=100" in d["waves"][0]["sbatch"]'
json '"--array=0-5%2" in d["waves"][0]["sbatch"]'
check [ -z "$(queue)" ]
check [ ! -e far/linux-64 ]

expect 0 build r --slurm --slurm-options '--cpus-per-task=2 --mem=100' --output-dir far -m variants.yaml
out_ends "8 packages built, 0 unchanged, 0 failed (channel $PWD/far)"
check [ "$(jobs)" = 4 ] # arrays of at most five
check [ -z "$(ls -A far.work/slurm)" ]
expect 0 build r --output-dir near -m variants.yaml
# The same bytes; of the index only when it was made is different.
for package in near/*/*.conda; do check cmp "$package" "far/${package#near/}"; done
check [ "$(cd far && find . -name '*.conda' | sort)" = "$(cd near && find . -name '*.conda' | sort)" ]
undated() { sed 's/"indexed_timestamp":[0-9]*//' "$1/linux-64/repodata.json"; }
check [ "$(undated far)" = "$(undated near)" ]
expect 0 build r --slurm --output-dir far -m variants.yaml
out_is "0 packages built, 8 unchanged, 0 failed (channel $PWD/far)"
check [ "$(jobs)" = 0 ]
# Nor is there anything to be built here of what was built there.
expect 0 build r --output-dir far -m variants.yaml
out_is "0 packages built, 8 unchanged, 0 failed (channel $PWD/far)"
unset SOURCE_DATE_EPOCH

# What a script has of its node: the processors that the job was given, and the node's own disk.
recipe node 'build: {script: ["echo $CPU_COUNT $SRC_DIR > $PREFIX/node"]}'
expect 0 build r/node --slurm --slurm-options --cpus-per-task=2 --output-dir node --sandbox off --json
json 'd["success"] and d["packages"][0]["job"].endswith("_0") and d["packages"][0]["node"] in ("n1", "n2", "n3")'
json 'open(d["packages"][0]["log"]) and len(d["packages"]) == 1'
expect 0 create -q -y -c ./node --override-channels -p ./made node
check grep -qE "^2 $NODE_DISK/gpkg-build-" made/node
check [ -z "$(find "$SLURM/disk" -name 'gpkg-build-*')" ]

# Variants that fail, each in its own way: only what needs them is not built, and the rest is published.
rm -rf r
recipe many 'build:' '  script:' '    - echo >> '"$WORK"'/runs/$step' '    - touch $PREFIX/many' \
    '    - case $step in fails) echo said; printf "\377"; exit 3;; killed | ended) echo so far; touch '"$WORK"'/runs/began.$step; sleep 3'"$id"'1;; esac' \
    '  variant: {use_keys: [step]}' 'tests: [{script: [test -e $PREFIX/many]}]'
printf 'step: [well, fails, killed, ended]\n' > r/many/variants.yaml
recipe heir 'requirements: {host: [many]}' 'build: {script: "touch $PREFIX/heir"}'
recipe untrue 'build: {script: "touch $PREFIX/untrue"}' 'tests: [{script: [echo no; false]}]'
recipe user 'requirements: {host: [untrue]}' 'build: {script: "touch $PREFIX/user"}'
recipe wrong 'colour: red'
# index_of STEP: the number of its task.
index_of() { basename "$(dirname "$(grep -l "$(distribution_of "$1")" many.work/slurm/*/*/order.json)")"; }
distribution_of() { "$GPKG" build r/many --render --json | python3 -c '
import json, sys
print([o["package"] for o in json.load(sys.stdin)["outputs"] if o["variant"]["step"] == sys.argv[1]][0])' "$1"; }
"$GPKG" build r --slurm --output-dir many --sandbox off > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
child=$!
until_there "$WORK/runs/began.killed"
until_there "$WORK/runs/began.ended"
ended=$(index_of ended) killed=$(index_of killed)
pkill -9 -f -- "--slurm-task $PWD/many.work/slurm/.*/$killed "
scancel "$(squeue -h -r -t R -o %F_%K | grep "_$ended$")"
wait $child
status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr") last='gpkg build with variants that fail'
pkill -fx "sleep 3${id}1"
check [ "$status" = 1 ]
out_ends "1 package built, 0 unchanged, 7 failed (channel $PWD/many)"
err_has "many-1-" 'the build script failed with exit status 3' said 'variant step=fails; job ' \
    'the job was killed by signal 9' 'last output of the build script:' 'so far' 'variant step=killed; job ' 'the job was cancelled' 'variant step=ended; job ' \
    "log: $PWD/many.work/logs/$(distribution_of fails).log" 'use --keep-work to keep the build folder' "unknown key 'colour'" \
    'heir-1-hb0f4dca_0: needs many-1-' 'test 1 failed with exit status 1: ' \
    'needs untrue-1-hb0f4dca_0 to build, which failed its tests' \
    "the package was not published; it is in $PWD/many.work/failed/linux-64/untrue-1-hb0f4dca_0.conda"
check grep -q said "many.work/logs/$(distribution_of fails).log"
expect 0 search -c ./many --override-channels many
check [ "$(ls many/linux-64/*.conda)" = "many/linux-64/$(distribution_of well).conda" ]
empty_queue
sed -i 's/killed | ended) .*;; esac/esac/' r/many/recipe.yaml
rm -r r/untrue r/user r/wrong
expect 1 build r --slurm --output-dir many --sandbox off --json
json '[p["package"].split("-")[0] for p in d["packages"]] == ["many"] * 3'
json '[f["variant"]["step"] for f in d["failures"][:1]] == ["fails"] and d["failures"][0]["node"] in ("n1", "n2", "n3")'
json 'd["failures"][0]["state"] == "FAILED" and b"said" in open(d["failures"][0]["log"], "rb").read()'
json 'd["failures"][1]["recipe"].endswith("r/heir/recipe.yaml") and d["failures"][1]["package"] == "heir-1-hb0f4dca_0"'

# A run that is cut off: what was submitted goes on, and is neither submitted nor built twice.
rm -rf r
recipe slow 'build:' '  script: [echo >> '"$WORK"'/runs/slow.$step, "touch '"$WORK"'/runs/began; while [ ! -e '"$WORK"'/go ]; do sleep 0.1; done; touch $PREFIX/slow"]' \
    '  variant: {use_keys: [step]}'
recipe after 'requirements: {host: [slow]}' 'build: {script: "echo >> '"$WORK"'/runs/after; touch $PREFIX/after"}'
printf 'step: [a, b, c, d]\n' > r/slow/variants.yaml
# cut SIGNAL WORDS...: gpkg build with these words gets the signal once builds run.
cut_off() {
    rm -f "$WORK/runs/began"
    "$GPKG" build "${@:2}" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
    child=$! last="gpkg build ${*:2} under SIG$1"
    until_there "$WORK/runs/began"
    kill -"$1" $child
    wait $child 2> /dev/null
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}
let_go() { (sleep 1; touch "$WORK/go") & }
cut_off KILL r --slurm --output-dir slow --sandbox off
check [ "$(squeue -h -r -t PD,R | wc -l)" = 4 ]
let_go
expect 0 build r --slurm --output-dir slow --sandbox off
out_ends "5 packages built, 0 unchanged, 0 failed (channel $PWD/slow)"
err_has 'waiting for 4 builds submitted earlier'
check [ "$(jobs)" = 1 ] # what comes after
for step in slow.a slow.b slow.c slow.d after; do check [ "$(runs $step)" = 1 ]; done

# The same when they have ended before anybody comes back; what was built anyway is not built again.
rm "$WORK/go"
cut_off KILL r --slurm --output-dir slow --sandbox off --rebuild
touch "$WORK/go"
empty_queue
expect 0 build r --slurm --output-dir slow --sandbox off --rebuild
out_ends "5 packages built, 0 unchanged, 0 failed (channel $PWD/slow)"
check [ "$(jobs)" = 1 ]
for step in slow.a slow.b slow.c slow.d after; do check [ "$(runs $step)" = 2 ]; done

# A connection that is lost, or SIGTERM, leaves them; Ctrl-C cancels them.
rm "$WORK/go"
cut_off HUP r/slow --slurm --output-dir slow --sandbox off --rebuild
check [ "$status" = 1 ]
err_has 'error: interrupted' 'the submitted builds continue (job ' 'run the same command to wait for them, or scancel '
check [ "$(squeue -h -r -t PD,R | wc -l)" = 4 ]
rm "$WORK/runs/began"
"$GPKG" build r/slow --slurm --output-dir slow --sandbox off --rebuild > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
child=$!
for _ in $(seq 100); do grep -q 'submitted earlier' "$WORK/stderr" && break; sleep 0.05; done
kill -INT $child
wait $child
status=$? err=$(cat "$WORK/stderr") last='gpkg build under SIGINT'
check [ "$status" = 1 ]
err_has 'error: interrupted' 'the submitted builds were cancelled (job '
empty_queue
touch "$WORK/go"
expect 0 build r/slow --slurm --output-dir slow --sandbox off --rebuild
out_ends "4 packages built, 0 unchanged, 0 failed (channel $PWD/slow)"
check [ "$(jobs)" = 1 ]
for step in a b c d; do check [ "$(runs slow.$step)" = 4 ]; done

# A recipe that is changed meanwhile: what runs is of no use any more.
rm "$WORK/go"
cut_off TERM r/slow --slurm --output-dir slow --sandbox off --rebuild
sed -i 's,touch $PREFIX/slow,touch $PREFIX/other,' r/slow/recipe.yaml
touch "$WORK/go"
expect 0 build r/slow --slurm --output-dir slow --sandbox off
out_ends "4 packages built, 0 unchanged, 0 failed (channel $PWD/slow)"
for package in slow/linux-64/slow-*.conda; do
    expect 0 inspect "$package"
    out_lacks 'slow/slow'
done
# Or before a node begins.
"$GPKG" build r/slow --slurm --slurm-options --hold --output-dir slow --sandbox off --rebuild > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
child=$!
for _ in $(seq 1200); do grep -q 'are held' "$WORK/stderr" && break; sleep 0.05; done
sed -i 's,touch $PREFIX/other,touch $PREFIX/third,' r/slow/recipe.yaml
scontrol release "$(squeue -h -o %F | head -n 1)"
wait $child
status=$? err=$(cat "$WORK/stderr") last='gpkg build of a recipe that changes'
check [ "$status" = 1 ]
err_has 'builds are held (JobHeldUser); use scontrol release ' \
    'differ from the plan: the recipe'

# Or is cancelled while it waits, one by one, of which Slurm keeps no records.
recipe quick 'build: {script: "touch $PREFIX/quick"}'
"$GPKG" build r/quick --slurm --slurm-options "--hold --comment='not now'" --output-dir gone > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null &
child=$!
for _ in $(seq 1200); do grep -q 'are held' "$WORK/stderr" && break; sleep 0.05; done
job=$(squeue -h -o %F | head -n 1)
check [ "$(squeue -h -o %k | head -n 1)" = 'not now' ]
for task in $(squeue -h -r -o %F_%K); do scancel $task; done
begin=$SECONDS
wait $child
status=$? err=$(cat "$WORK/stderr") last='gpkg build of cancelled tasks'
check [ "$status" = 1 ]
check [ $((SECONDS - begin)) -lt 40 ]
err_has "the job was cancelled"
expect 2 build r/quick --slurm --slurm-options "--comment='x" --output-dir gone
err_has 'missing closing quote'

# Machines that lack what they need.
recipe quick 'build: {script: "touch $PREFIX/quick"}'
cp "$GPKG" "$NODE_DISK/gpkg"
own=$GPKG GPKG=$NODE_DISK/gpkg
expect 1 build r/quick --slurm --output-dir lack
err_has "the node has no gpkg at $NODE_DISK/gpkg" 'install gpkg at the same path on all machines'
GPKG=$own
expect 1 build r/quick --slurm --output-dir lack --work-dir "$NODE_DISK/work"
err_has 'the work folder does not exist on the node'
expect 1 build r/quick --slurm --output-dir lack --work-dir 'back\slash'
err_has "$PWD/back\\slash/" 'Slurm cannot write logs below a path with a backslash'
expect 1 build r/quick --slurm --slurm-options --partition=nowhere --output-dir lack
err_has 'submitting to Slurm' 'invalid partition'
mkdir "$WORK/nothing"
last='gpkg build --slurm without Slurm'
PATH=$WORK/nothing "$GPKG" build r/quick --slurm --output-dir lack > "$WORK/stdout" 2> "$WORK/stderr"
status=$? err=$(cat "$WORK/stderr")
check [ "$status" = 1 ]
err_has 'not found on PATH' 'module load slurm'
expect 2 build r/quick --slurm --verify
expect 2 build r/quick --slurm-options --mem=1
expect 2 build r/quick --slurm --slurm-options --array=1-2 --output-dir lack
err_has 'is set by gpkg and cannot be changed'
check [ -z "$(queue)" ]
check [ -z "$(ls -A lack.work/slurm)" ]

finish
