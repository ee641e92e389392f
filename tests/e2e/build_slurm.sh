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

# recipe NAME LINES...: a recipe in r/NAME.
recipe() {
    local folder=r/$1
    mkdir -p "$folder"
    printf 'package: {name: %s, version: "1"}\n' "$1" > "$folder/recipe.yaml"
    shift
    printf '%s\n' "$@" >> "$folder/recipe.yaml"
}
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
recipe lib 'build:' '  script: [echo $accel $python > $PREFIX/lib, sleep 0.3]' \
    '  variant: {use_keys: [accel, python]}' 'tests: [{script: [test -e $PREFIX/lib]}]'
recipe app 'requirements: {host: [lib], run: [lib, late]}' 'build: {script: "cp $PREFIX/lib $PREFIX/app"}' \
    'tests: [{script: [test -e $PREFIX/app, test -e $PREFIX/late]}]'
recipe late 'requirements: {host: [lib]}' 'build: {script: "echo late > $PREFIX/late"}'
printf '%s\n' 'accel: [cpu, cuda]' 'python: ["3.10", "3.11", "3.12"]' > variants.yaml
export SOURCE_DATE_EPOCH=1700000000

expect 0 build r --slurm --output-dir far -m variants.yaml --plan
out_has 'wave 1: sbatch --parsable --export=ALL --array=0-5 ' 'wave 2: sbatch --parsable --export=ALL --array=0-1 ' \
    'accel=cuda, python=3.11' '8 to build, 0 unchanged'
expect 0 build r --slurm --slurm-options '--partition=all --mem=100' -j 2 --output-dir far -m variants.yaml --plan --json
json '[len(w["tasks"]) for w in d["waves"]] == [6, 2] and "--mem=100" in d["waves"][0]["sbatch"]'
json '"--array=0-5%2" in d["waves"][0]["sbatch"]'
check [ -z "$(queue)" ]
check [ ! -e far/linux-64 ]

expect 0 build r --slurm --slurm-options '--cpus-per-task=2 --mem=100' --output-dir far -m variants.yaml
out_is "$PWD/far: 8 packages built, 0 unchanged, 0 failed"
check [ "$(jobs)" = 4 ] # arrays of at most five
check [ ! -e far.work/slurm ] || check [ -z "$(ls -A far.work/slurm)" ]
expect 0 build r --output-dir near -m variants.yaml
check [ "$(cd far && find . -type f | sort)" = "$(cd near && find . -type f | sort)" ]
for package in near/*/*.conda; do check cmp "$package" "far/${package#near/}"; done
expect 0 build r --slurm --output-dir far -m variants.yaml
out_is "$PWD/far: 0 packages built, 8 unchanged, 0 failed"
check [ "$(jobs)" = 0 ]

finish
