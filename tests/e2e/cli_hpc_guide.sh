# Every command of the pages for clusters (docs/how-to), from top to bottom, on a Slurm cluster under Lmod. Commands that
# the test docs.pages cannot run, the lines with "$ " in console blocks, run here too.
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

# What stands for conda-forge: small packages under its names.
python3 - "$here/../docs" "$WORK/mirror" << 'PYTHON'
import pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import stand_ins
stand_ins.write(pathlib.Path(sys.argv[2]))
PYTHON
for channel in conda-forge bioconda; do
    expect 0 index -q "$WORK/mirror/$channel"
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

# Each page as a script, with a home of its own. The first makes the site; the others are users'.
pages=(set-up-a-site module-for-different-nodes environment-as-one-file slurm-jobs)
python3 - "$source_tree/docs/how-to" "file://$WORK/mirror" "$WORK" "${pages[@]}" <<'PYTHON'
import pathlib, re, shlex, sys
folder, mirror, work, *pages = sys.argv[1:]
for page in pages:
    script = open(f"{work}/guide-{page}", "w")
    kind, file, pending = None, None, ""
    for number, line in enumerate(open(f"{folder}/{page}.md"), 1):
        line = line.rstrip("\n")
        where = f"{page}.md:{number}"
        if kind is None:
            if fence := re.match(r"```(\w*)(.*)", line):
                title = re.search(r'title="([^"]+)"', fence[2])
                kind, file = fence[1] or "text", title and title[1]
                if file:
                    print(f"mkdir -p {shlex.quote(str(pathlib.Path(file).parent))}; cat > {shlex.quote(file)} <<'GUIDE_END'", file=script)
        elif line == "```":
            if file:
                print(f"GUIDE_END\nguide_status $? {shlex.quote(where)}", file=script)
            kind, file = None, None
        elif file:
            print(line.replace("https://mirror.example.com", mirror), file=script)
        elif kind == "sh" or kind == "console" and (line.startswith("$ ") or pending):
            text = pending + (line if kind == "sh" or pending else line[2:])
            if text.endswith("\\"):
                pending = text[:-1]
                continue
            pending = ""
            print(f"{text}\nguide_status $? {shlex.quote(f'{where}: {text}')}", file=script)
PYTHON
# Where the administrator stands: gpkg as it was built, and somebody's own files.
mkdir -p build
ln -s "$source_tree/recipes" recipes
ln -s "$(dirname "$GPKG")" build/release
echo 'import torch; print("trained with", torch.version.cuda)' > train.py
printf 'mirrored_channels: {conda-forge: ["file://%s"]}\n' "$WORK/mirror/conda-forge" > "$WORK/user.yaml"
cat > "$WORK/run" <<RUN
guide_status() {
    [ \$1 = 0 ] && return
    echo "status \$1: \$2" >> "$WORK/failed"
}
export PATH='$(dirname "$GPKG")':/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LMOD_ALLOW_ROOT_USE=yes LMOD_IGNORE_CACHE=1 USER=root
export HOME=$WORK/home-\$1 GPKG_SYSTEM_CONFIG=$WORK/user.yaml
mkdir "\$HOME"
source /usr/share/lmod/lmod/init/bash
cd "$WORK/here"
. "$WORK/guide-\$1"
RUN
for page in "${pages[@]}"; do
    last="page $page"
    out=$(env -u GPKG_ROOT_PREFIX bash --noprofile --norc "$WORK/run" "$page" 2> "$WORK/stderr" < /dev/null)
    status=$? err=$(cat "$WORK/stderr")
    checks=$((checks + $(grep -c guide_status "$WORK/guide-$page")))
    [ ! -s "$WORK/failed" ] || fail "$(cat "$WORK/failed")"
    rm -f "$WORK/failed"
    # The GPU partition has the build for the driver's CUDA; the login node has a build for none.
    case $page in
        set-up-a-site) out_has $'\nNone\n12.6' ;;
        module-for-different-nodes) out_has 'trained with 12.6' ;;
        *) cp slurm-*.out "$WORK/" 2> /dev/null ;;
    esac
done
check [ "$(cat "$WORK"/slurm-*.out | grep -c "trained with None")" = 5 ]
finish
