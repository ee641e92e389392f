# Every command of docs/hpc.md, from top to bottom, on a Slurm cluster under Lmod: what administrators are told works.
here=$(realpath "$(dirname "$0")")
if [ "${IN_GUIDE_WORLD-}" != yes ]; then
    [ "$(id -u)" = 0 ] && unshare -m true 2> /dev/null ||
        { echo "SKIPPED: only root can make the file systems of a site"; exit 0; }
    IN_GUIDE_WORLD=yes exec unshare -m --propagation private bash "$0" "$@"
fi
. "$here/lib.sh"
. "$here/slurm.sh"
for need in /usr/share/lmod/lmod/init/bash /usr/bin/patchelf /usr/bin/mksquashfs; do
    [ -e $need ] || { echo "SKIPPED: $need is not there"; exit 0; }
done
source_tree=$(realpath "$here/../..")

# The site's shared folders, which are gone with this process, and a disk of each node's own.
for folder in /apps /srv /scratch /nvme; do
    [ -e $folder ] || { mkdir $folder; made+=("$folder"); }
    mount -t tmpfs none $folder
done
trap 'slurm_stop; umount -l /apps /srv /scratch /nvme; [ -z "${made-}" ] || rmdir "${made[@]}"; rm -rf "$WORK"' EXIT

# What stands for conda-forge: a pytorch for NVIDIA's GPUs and one for none, and the python that runs it.
CHANNEL=$WORK/mirror/conda-forge
script bin/python 'root=$(dirname "$(dirname "$(realpath "$0")")")' \
    "PYTHONPATH=\$root/lib exec '$(command -v python3)' \"\$@\""
package python 3.12.1 0
for build in cuda126 cpu; do
    mkdir -p "$WORK/payload/lib/torch"
    printf 'build = "%s"\n' $build > "$WORK/payload/lib/torch/__init__.py"
    if [ $build = cpu ]; then package pytorch 2.8.0 cpu python; else BUILD_NUMBER=1 package pytorch 2.8.0 cuda126 python '__cuda >=12'; fi
done
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX CONDA_SUBDIR GPKG_ROOT_PREFIX

# The cluster: the nodes with GPUs have a driver.
slurm_node c1 Feature=zen4
slurm_node g1 Gres=gpu:h100:1
slurm_node g2 Gres=gpu:h100:1
slurm_partition cpu c1 Default=YES
slurm_partition gpu g1,g2
{ cat /etc/ld.so.conf; echo "${FAKE_LIBCUDA:?a folder with a libcuda.so.1}"; } > "$WORK/ld.so.conf"
ldconfig -C "$SLURM/ld.so.cache" -f "$WORK/ld.so.conf" 2> /dev/null
mkdir -p "$SLURM/driver/nvidia"
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024' > "$SLURM/driver/nvidia/version"
for node in c1 g1 g2; do
    echo 'mount -t tmpfs none /nvme' > "$SLURM/prepare.$node"
done
for node in g1 g2; do
    echo 'mount --bind "$1/ld.so.cache" /etc/ld.so.cache; mount --bind "$1/driver" /proc/driver' >> "$SLURM/prepare.$node"
done
# Every node has a disk of its own.
[ -e /nvme ] || { mkdir /nvme; made+=(/nvme); }
for node in c1 g1 g2; do
    echo 'mount --bind "$3" /nvme' >> "$SLURM/prepare.$node"
done
slurm_start

# The page as a script: indented lines are commands, a fenced block is the file that its first line names, and one of
# bash is a batch script.
python3 - "$source_tree/docs/hpc.md" "file://$WORK/mirror" > "$WORK/guide" <<'PYTHON'
import re, shlex, sys
page, mirror = sys.argv[1:]
fenced, file, pending = False, None, ""
for number, line in enumerate(open(page), 1):
    if line == "```bash\n":
        fenced, file = True, f"sbatch line {number}"
        print("sbatch --quiet --wait -p gpu -N 2 --output=batch.said << 'GUIDE_END'\n#!/bin/bash")
    elif line.startswith("```"):
        if fenced and file:
            print("GUIDE_END\nguide_status $? " + shlex.quote(file))
        fenced, file = not fenced, None
    elif fenced and file is None:
        named = re.match(r"# (/\S+)$", line)
        file = named[1] if named else ""
        if file:
            print(f"mkdir -p {shlex.quote(file.rpartition('/')[0])}; cat > {shlex.quote(file)} <<'GUIDE_END'")
    elif fenced:
        if file:
            print(line.replace("https://mirror.example.com", mirror), end="")
    elif line.startswith("    ") and line.strip():
        text = pending + line[4:].rstrip("\n")
        if text.endswith("\\"):
            pending = text[:-1]
            continue
        pending = ""
        print(f"{text}\nguide_status $? {shlex.quote(f'line {number}: {text}')}")
PYTHON
# Where the administrator stands: gpkg as it was built, and somebody's own files.
mkdir -p build
ln -s "$source_tree/recipes" recipes
ln -s "$(dirname "$GPKG")" build/release
echo 'import torch; print("trained with", torch.build)' > train.py
echo 'dependencies: [pytorch]' > environment.yml
cat > "$WORK/run" <<RUN
guide_status() {
    [ \$1 = 0 ] && return
    echo "line \$1 FAILED: \$2" >> "$WORK/failed"
}
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LMOD_ALLOW_ROOT_USE=yes LMOD_IGNORE_CACHE=1 HOME="$HOME" USER=root
source /usr/share/lmod/lmod/init/bash
cd "$WORK/here"
. "$WORK/guide"
RUN
last=guide
out=$(env -u GPKG_ROOT_PREFIX bash --noprofile --norc "$WORK/run" 2> "$WORK/stderr" < /dev/null)
status=$? err=$(cat "$WORK/stderr")
checks=$(grep -c guide_status "$WORK/guide")
[ ! -s "$WORK/failed" ] || fail "$(cat "$WORK/failed")"
out_has cpu cuda126
check [ "$(grep -c "trained with cuda126" batch.said)" = 2 ]
finish
