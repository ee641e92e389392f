# Profiles of a cluster's partitions: gpkg hardware --slurm on a real slurmctld with five nodes, some of them with a GPU's driver.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"
. "$here/slurm.sh"
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX

package torch 2.0 cpu
package torch 2.0 cuda12 '__cuda >=12'
package torch 2.0 sm100 '__cuda >=12' '__cuda_arch >=10.0'

slurm_node c1 Feature=x86_64_v2,infiniband
slurm_node c2 Feature=x86_64_v2,infiniband
slurm_node g1 Feature=x86_64_v3,cuda12.4 Gres=gpu:nvidia_a100_80gb_pcie:2
slurm_node g2 Feature=x86_64_v3 Gres=gpu:h100:1,gpu:house:1
slurm_node m1 Feature=x86_64_v3 Gres=gpu:mi300x:2
slurm_partition cpu c1,c2 Default=YES
slurm_partition gpu g1,g2
slurm_partition instinct m1
slurm_partition all c1,c2,g1,g2
slurm_partition aaa c1,g1 State=DOWN
slurm_partition closed c1,c2 AllocNodes=elsewhere

# load_driver NODE MODEL: a libcuda on its loader's path that says so; without a model there is none.
load_driver() {
    rm -f "$SLURM/driver.$1/libcuda.so.1"
    [ -z "${2-}" ] || sed "s/9.0:81559:NVIDIA H100 80GB HBM3/$2/" \
        "${FAKE_LIBCUDA:?a folder with a libcuda.so.1}/libcuda.so.1" > "$SLURM/driver.$1/libcuda.so.1"
}
a100_model='8.0:81559:NVIDIA A100 80GB PCIe' h100_model='9.0:81559:NVIDIA H100 80GB HBM3'
for node in g1 g2; do
    mkdir "$SLURM/driver.$node"
    [ $node = g1 ] && load_driver g1 "$a100_model" || load_driver g2 "$h100_model"
    { cat /etc/ld.so.conf; echo "$SLURM/driver.$node"; } > "$WORK/ld.so.conf"
    ldconfig -C "$SLURM/ld.so.cache.$node" -f "$WORK/ld.so.conf" 2> /dev/null
    echo 'mount --bind "$1/ld.so.cache.$2" /etc/ld.so.cache' > "$SLURM/prepare.$node"
done
# What AMD's kernel driver tells in sysfs.
instinct=$SLURM/class/kfd
mkdir -p "$instinct/kfd/topology/nodes/1"
printf 'gfx_target_version 90402\nsimd_count 1216\nsimd_per_cu 4\n' > "$instinct/kfd/topology/nodes/1/properties"
echo 'mount --bind "$1/class" /sys/class' > "$SLURM/prepare.m1"
slurm_start
# jobs: names of those that wait or run; one that ended stays in the queue until its node has cleaned up.
jobs() { squeue -h -t PD,R -o %j; }
profiles=$GPKG_ROOT_PREFIX/profiles

# Without a word that jobs may start none does: names tell what they can, and every use says so.
expect 0 hardware --slurm
out_has 'c1 and 1 more' '2 x nvidia_a100_80gb_pcie' '1 x h100, 1 x house'
err_has 'unknown GPU name: house' 'derived from names only' 'use --yes'
check [ -z "$(jobs)" ]
names=$(cd "$profiles" && ls | LC_ALL=C sort | tr '\n' ' ')
check [ "${names#partition=aaa*aaa:*.yaml }" != "$names" ]
names=partition=all.yaml\ ${names#*partition=all.yaml }
check [ "$names" = 'partition=all.yaml partition=all:h100+house.yaml partition=all:infiniband.yaml partition=all:nvidia_a100_80gb_pcie.yaml partition=closed.yaml partition=cpu.yaml partition=gpu.yaml partition=gpu:h100+house.yaml partition=gpu:nvidia_a100_80gb_pcie.yaml partition=instinct.yaml ' ]
a100="$profiles/partition=gpu:nvidia_a100_80gb_pcie.yaml"
check grep -q 'microarchitecture: x86_64_v3' "$a100"
check grep -q 'architecture: "8.0"' "$a100"
check grep -q 'cuda: "12.4"' "$a100"
check grep -q 'known_by: names' "$a100"
expect 0 solve torch --for partition=gpu:nvidia_a100_80gb_pcie --json
json '"__cuda=12.4=0" in d["virtual_packages"] and d["packages"][0]["build"] == "cuda12"'
expect 0 solve torch --for partition=gpu:nvidia_a100_80gb_pcie
err_has 'guessed from the names Slurm lists'
# A partition is what all its nodes have in common: of these two GPUs the older one.
expect 0 hardware --for partition=gpu --json
json '{p["name"]: p["version"] for p in d["virtual_packages"]}["__cuda_arch"] == "8.0" and d["known_by_names"]'
expect 0 solve torch --for partition=all --json
json '"cuda" not in d["packages"][0]["build"] and "__archspec=1=x86_64_v2" in d["virtual_packages"]'
expect 0 hardware list
out_has 'partition=gpu:h100+house' 'from names only'
expect 2 solve torch --for partition=gpux
err_has '--for partition=gpux' 'did you mean partition=gpu'

# One node of each kind is asked, by a job that sees all that the node has, whatever it was given.
script usr/gpkg "env > '$SLURM/local/seen'; echo 'a warning' >&2; exec '$GPKG' \"\$@\""
mv "$WORK/payload/usr/gpkg" "$WORK/wrapped gpkg"
CUDA_VISIBLE_DEVICES=7 SLURM_TIME_FORMAT=relative SINFO_FORMAT=%n expect 0 hardware --slurm --yes --gpkg "$WORK/wrapped gpkg" --json
json 'd["success"] and len(d["kinds"]) == 4 and {k["asked"] for k in d["kinds"]} <= {"c1", "c2", "g1", "g2", "m1"}'
json 'all(not p["by_names"] and not p["kept"] for p in d["profiles"]) and all("a warning" in k["remarks"][0] for k in d["kinds"])'
json '"Slurm node g2" in {p["name"]: p["profile"] for p in d["profiles"]}["partition=gpu:h100+house"]'
check grep -q SLURM_GPUS_ON_NODE=2 "$SLURM/disk/g2/seen"
check [ -z "$(grep -E '^(CUDA|ROCR)_VISIBLE_DEVICES|^GPU_DEVICE_ORDINAL' "$SLURM/disk/g1/seen" "$SLURM/disk/g2/seen")" ]
h100="$profiles/partition=gpu:h100+house.yaml"
check grep -q 'name: NVIDIA H100 80GB HBM3' "$h100"
check grep -q 'name: NVIDIA A100 80GB PCIe' "$a100"
check grep -q 'architecture: gfx942' "$profiles/partition=instinct.yaml"
expect 0 solve torch --for partition=gpu:h100+house --json
json 'd["packages"][0]["build"] == "cuda12"'
err_lacks 'names alone'
# What was seen is not given up for names.
expect 0 hardware --slurm --partition gpu --no-probe
out_has 'kept, from Slurm node g2'
check grep -q 'NVIDIA H100 80GB HBM3' "$h100"
expect 0 solve torch --for partition=gpu --json
json 'd["packages"][0]["build"] == "cuda12"'
check [ -z "$(jobs)" ]

# A driver that does not answer just now takes no GPU away: Slurm knows better, and what was seen stays.
cp "$a100" "$WORK/a100.yaml"
load_driver g1
expect 1 hardware --slurm --yes --partition gpu
err_has "g1 of partition gpu: Slurm lists 2 x nvidia_a100_80gb_pcie, gpkg detected no NVIDIA GPU: the driver does not respond"
err_lacks 'g2 of partition'
out_has 'kept, from Slurm node g1' 'common to 2 kinds'
check cmp "$a100" "$WORK/a100.yaml"
check grep -q 'NVIDIA H100 80GB HBM3' "$h100"
expect 0 solve torch --for partition=gpu --json
json 'd["packages"][0]["build"] == "cuda12"'
err_lacks 'names alone'
# Where nobody has seen it with its driver it is known by names.
expect 1 hardware --slurm --yes --partition gpu -o "$WORK/first" --json
json '[(k["asked"], "Slurm lists 2 x" in (k["error"] or "")) for k in d["kinds"]] == [(None, True), ("g2", False)]'
json 'not d["success"] and [p["by_names"] for p in d["profiles"]] == [True, True, False] and not any(p["kept"] for p in d["profiles"])'
check grep -q 'known_by: names' "$WORK/first/partition=gpu:nvidia_a100_80gb_pcie.yaml"
expect 0 solve torch --for "$WORK/first/partition=gpu:nvidia_a100_80gb_pcie.yaml"
out_has cuda12
err_has 'guessed from the names Slurm lists'
load_driver g2 "$h100_model"  # what another one answered is remembered
FAKE_CUDA_DEVICES= expect 1 hardware --slurm --yes --partition gpu
err_has "g2 of partition gpu: Slurm lists 1 x h100, 1 x house, gpkg detected no NVIDIA GPU: the driver, for CUDA 12.4, lists none"
check grep -q 'NVIDIA H100 80GB HBM3' "$h100"
mv "$instinct" "$WORK/kfd"
expect 1 hardware --slurm --yes --partition instinct
err_has "m1 of partition instinct: Slurm lists 2 x mi300x, gpkg detected no AMD GPU: the driver does not respond"
out_has 'kept, from Slurm node m1'
expect 0 solve torch --for partition=instinct --json
json 'any(p.startswith("__amdgpu_arch=9.4.2") for p in d["virtual_packages"])'
expect 1 hardware --slurm --yes --partition instinct -o "$WORK/first"
out_has 'AMD Instinct MI300X' 'from names only'
mv "$WORK/kfd" "$instinct"
# Another model than Slurm says: gpkg has seen it.
load_driver g1 "$h100_model"
expect 0 hardware --slurm --yes --partition gpu -o "$WORK/other"
err_has 'g1: Slurm lists 2 x nvidia_a100_80gb_pcie, gpkg detected NVIDIA H100 80GB HBM3 and uses that'
check grep -q 'NVIDIA H100 80GB HBM3' "$WORK/other/partition=gpu:nvidia_a100_80gb_pcie.yaml"
expect 0 hardware --slurm --yes --partition gpu -o "$WORK/other" --json
json 'd["success"] and [any("and uses that" in r for r in k["remarks"]) for k in d["kinds"]] == [True, False]'
sed -i 's/90402/90010/' "$instinct/kfd/topology/nodes/1/properties"
expect 0 hardware --slurm --yes --partition instinct -o "$WORK/other"
err_has 'm1: Slurm lists 2 x mi300x, gpkg detected a gfx90a GPU and uses that'
# One of two GPUs is as good as both.
load_driver g1 "$a100_model"
expect 0 hardware --slurm --yes --partition gpu
err_lacks 'Slurm lists'

# Inside a job other nodes are asked all the same.
out=$(srun --partition=cpu --ntasks=1 "$GPKG" hardware --slurm --yes --partition gpu --json -o "$WORK/inside") status=$? last='in a job'
json 'd["success"] and [k["asked"] for k in d["kinds"]] == ["g1", "g2"]'

# Nodes that cannot be had: those that are busy are not waited for longer than was said; nothing is lost.
sbatch --quiet --partition=gpu --nodelist=g2 --exclusive --output=/dev/null --wrap 'sleep 60'
for _ in $(seq 50); do [ "$(squeue -h -t R -o %i | wc -l)" = 1 ] && break; sleep 0.1; done
expect 1 hardware --slurm --yes --partition gpu --wait 1
err_has 'g2: '
out_has 'kept, from Slurm node g2'
check [ "$(jobs)" = wrap ]
scancel -u root
scontrol update NodeName=c1,c2 State=DRAIN Reason=test
expect 1 hardware --slurm --yes --partition cpu -o "$WORK/drained"
err_has 'down or drained, like all nodes of its kind'
check grep -q 'known_by: names' "$WORK/drained/partition=cpu.yaml"
scontrol update NodeName=c1,c2 State=RESUME
for _ in $(seq 50); do [ "$(sinfo -h -r -p cpu -t idle -o %D)" = 2 ] && break; sleep 0.1; done
expect 1 hardware --slurm --yes --partition cpu --gpkg /no/gpkg
err_has 'c1: cannot run /no/gpkg' 'with --gpkg PATH'
expect 1 hardware --slurm --yes --partition cpu --slurm-options '--qos=none --account=nobody' --gpkg /bin/true
err_has 'c1: '

# A partition that will not have the job is not the last one.
expect 0 hardware --slurm --yes --partition closed,cpu -o "$WORK/closed" --json
json 'd["success"] and d["kinds"][0]["asked"] == "c1" and d["kinds"][0]["partitions"] == ["closed", "cpu"]'
expect 0 hardware --slurm --dry-run --partition closed,cpu
out_has 'srun --job-name=gpkg-hardware --partition=closed --nodelist=c1'
expect 1 hardware --slurm --yes --partition closed
err_has 'c1: srun: error: ' 'llocate'
# Where nothing can be written no job starts.
rm -f "$SLURM/disk/c1/seen"
expect 1 hardware --slurm --yes --partition cpu --gpkg "$WORK/wrapped gpkg" -o "$h100/in"
err_has "$h100: cannot create files there"
check [ ! -e "$SLURM/disk/c1/seen" ]

# Asked at the terminal; shown first.
expect 0 hardware --slurm --dry-run --partition gpu
out_has 'srun --job-name=gpkg-hardware --partition=gpu --nodelist=g2' '--gres=gpu:h100:1,gpu:house:1'
rm -r "$profiles"
answer 'n\n' hardware --slurm --partition cpu
out_has 'Start a job on this node with srun' 'derived from names only'
check grep -q 'known_by: names' "$profiles/partition=cpu.yaml"
answer 'y\n' hardware --slurm --partition cpu
out_has 'Slurm node c1'
rm -r "$profiles"
GPKG_ALWAYS_YES=1 expect 0 hardware --slurm --partition cpu
out_has 'Slurm node c1'

# What cannot be meant, and what is in the way.
expect 1 hardware --slurm --partition cpx
err_has 'cpx: no such Slurm partition for you' 'did you mean cpu?'
expect 2 hardware --partition cpu
expect 2 hardware --slurm --hosts a
expect 2 hardware list --slurm
err_has 'cannot be used with list'
expect 2 hardware --slurm --for cpu
expect 2 hardware --slurm --yes --no-probe
err_has '--no-probe' 'cannot be used with' '--yes'
echo mine > "$profiles/partition=gpu.yaml"
rm "$profiles/partition=cpu.yaml"
expect 1 hardware --slurm --no-probe
err_has 'partition=gpu.yaml: exists and is not a hardware profile'
check [ "$(cat "$profiles/partition=gpu.yaml")" = mine ]
check [ "$(ls "$profiles" | wc -l)" = 1 ]
mkdir "$WORK/bin"
ln -s "$(command -v cat)" "$WORK/bin/cat"
(failures=0; PATH=$WORK/bin; expect 1 hardware --slurm; err_has 'sinfo: not found on PATH' 'module load slurm'; exit "$failures")
failures=$((failures + $?))
# A controller that does not answer.
slurm_stop
expect 1 hardware --slurm
err_has 'error: Slurm does not answer: ' 'sinfo' 'connect'
mkdir r
printf 'package: {name: quick, version: "1"}\nbuild: {noarch: generic, script: "true"}\n' > r/recipe.yaml
expect 1 build r --slurm --output-dir silent
err_has 'Slurm does not answer: scontrol: '

finish
