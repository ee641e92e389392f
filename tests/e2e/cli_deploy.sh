# An environment on the local disk of every node of a job: a real slurmctld, nodes with disks of their own, images
# and archives, every way of copying, what goes wrong on one node, and who cleans up.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"
for program in mksquashfs unsquashfs zstd setpriv flock; do
    command -v $program > /dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done
. "$here/slurm.sh"

export PLACEHOLDER=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/python3.11 "exec '$(command -v python3)' \"\$@\""
ln -s python3.11 "$WORK/payload/bin/python"
package python 3.11.5 0
script bin/where "echo \"\$(cat '$PLACEHOLDER/etc/where.conf') \$SLURMD_NODENAME \$SLURM_PROCID \$*\""
mkdir -p "$WORK/payload/etc"
head -c 200000 /dev/urandom > "$WORK/payload/etc/noise"
echo "prefix=$PLACEHOLDER" > "$WORK/payload/etc/where.conf"
package where 2.0 0
at="$WORK/my env"
expect 0 create -p "$at" python where

# Outside of a job: words that make no sense there, and a script, for which the image is made.
expect 2 deploy -p "$at"
err_has 'not inside a Slurm job' '--slurm'
expect 2 deploy -n ml -o ml.sbatch -- python train.py
err_has 'to write a batch script: gpkg deploy -n ml --slurm -o ml.sbatch -- python train.py'
expect 2 deploy --clean
expect 2 deploy -p "$at" -o "$WORK/x"
expect 2 deploy x.sqfs -p "$at"
expect 2 deploy -n ml --slurm python
err_has 'a command stands behind --: gpkg deploy'
expect 2 deploy x.sqfs y.sqfs --slurm
expect 1 deploy "$WORK/nowhere.sqfs" --slurm
expect 1 deploy "$WORK/records.linux-64" --slurm
err_has 'neither an image nor an archive'
printf '\050\265\057\375torn' > "$WORK/torn.tar.zst"
expect 1 deploy "$WORK/torn.tar.zst" --slurm
err_has torn.tar.zst
err_lacks 'neither an image nor an archive'
expect 0 deploy --epilog
check grep -q "^for folder in /tmp; do" <<< "$out"
for folder in '/local/$USER' "$WORK/it's \$USER's/\${USER}"; do
    printf 'local_folders: ["%s"]\n' "$folder" > "$WORK/site.yaml"
    GPKG_SYSTEM_CONFIG=$WORK/site.yaml expect 0 deploy --epilog
    wanted=${folder//'${USER}'/some one} wanted=${wanted//'$USER'/some one}
    check [ "$(sed -n "s/^for folder in \(.*\); do$/name='some one'; printf '%s' \1/p" <<< "$out" | sh)" = "$wanted" ]
done
expect 0 deploy -p "$at" --slurm --to "$NODE_DISK" -o "$WORK/my job" -- where 'a  b' '$c'
err_has '(once for all jobs)' 'sbatch -N NODES'
image=$(ls "$GPKG_ROOT_PREFIX"/images/*.sqfs)
checks=$((checks + 1))
[[ $image == "$GPKG_ROOT_PREFIX/images/my env-"????????????????.sqfs ]] || fail "the image is called $image"
before=$(stat -c %i "$image")
expect 0 deploy -p "$at" --slurm --to "$NODE_DISK" -- where 'a  b' '$c'
err_lacks '(once for all jobs)'
check [ "$out" = "$(cat "$WORK/my job")" ]
check [ "$(stat -c %i "$image")" = "$before" ]
check [ "$(ls -A "$GPKG_ROOT_PREFIX/images" | wc -l)" = 1 ]
expect 0 deploy -p "$at" --slurm
out_has 'srun' '# srun' 'COMMAND' '##SBATCH --partition=NAME' '##SBATCH --time=1:00:00'
err_has 'write it to a file with -o job.sbatch'
mkdir -p "$GPKG_ROOT_PREFIX/profiles"
"$GPKG" hardware export --for cpu -o "$GPKG_ROOT_PREFIX/profiles/partition=some.yaml" 2> "$WORK/stderr"
expect 0 deploy -p "$at" --slurm --for partition=some
out_has '
#SBATCH --partition=some
'
expect 0 deploy -p "$at" --slurm --to "$WORK/it's \$(n v)" --copy read
out_has ' --copy read)'
check [ "$(bash -c "gpkg() { :; }; $(grep '^trap .* EXIT$' <<< "$out"); trap -p EXIT" 2>&1 | grep -c 'invalid signal')" = 0 ]
expect 0 deploy "$image" --slurm -- where 'a  b'
out_has "deploy '$image'" "-- where 'a  b'"
expect 0 deploy --slurm "$image" --to "$NODE_DISK" -- where --slurm
expect 2 deploy "$image" --slrum -- where
expect 2 deploy --clean -p "$at"
expect 2 deploy --epilog --slurm -o "$WORK/x"
# Bytes that are not those that were built come to no node, and are made anew where gpkg made them.
damage() { python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(2000); b = f.read(1); f.seek(2000); f.write(bytes([b[0] ^ 1]))' "$1"; }
cp "$image" "$WORK/damaged.sqfs" && damage "$WORK/damaged.sqfs"
expect 1 deploy "$WORK/damaged.sqfs" --slurm
err_has "$WORK/damaged.sqfs: damaged: the contents do not match the checksum"
damage "$image"
expect 0 deploy -p "$at" --slurm
err_has 'the contents do not match the checksum' '(once for all jobs)'
expect 0 deploy -p "$at" --slurm
err_lacks '(once for all jobs)'
# What pip or a person put into it makes another file of it.
echo more > "$at/more.txt"
expect 0 deploy -p "$at" --slurm
check [ "$(ls "$GPKG_ROOT_PREFIX/images" | wc -l)" = 2 ]
rm "$at/more.txt"
expect 0 clean --images --dry-run --json
json 'len(d["images"]["files"]) == 2'

# Four nodes. On n3 the shared image is another file, n4 has hardly any room, n1 alone a fast disk.
expect 0 deploy --epilog --to "$NODE_DISK"
printf '%s\n' "$out" > "$WORK/epilog"
chmod 755 "$WORK/epilog"
check sh -n "$WORK/epilog"
slurm_setting "Epilog=$WORK/epilog"
for node in n1 n2 n3 n4; do slurm_node $node; done
slurm_partition all ALL Default=YES
head -c 50000 /dev/urandom > "$WORK/other"
echo "mount --bind '$WORK/other' '$image'" > "$SLURM/prepare.n3"
echo "mount -t tmpfs -o size=100k,mode=1777 tmpfs '$NODE_DISK'" > "$SLURM/prepare.n4"
echo "mkdir '$NODE_DISK/fast' && chmod 1777 '$NODE_DISK/fast'" > "$SLURM/prepare.n1"
echo "mkdir '$NODE_DISK/other,' && chmod 1777 '$NODE_DISK/other,'" > "$SLURM/prepare.n2"
# Users may use FUSE on n2 alone.
[ ! -e /dev/fuse ] || ! command -v squashfuse > /dev/null || ! mknod -m 666 "$SLURM/fuse" c 10 229 2> /dev/null ||
    echo "mount --bind '$SLURM/fuse' /dev/fuse" >> "$SLURM/prepare.n2"
chmod 755 "$WORK" "$GPKG_ROOT_PREFIX"
mkdir "$WORK/shared" "$WORK/bin"
export GPKG GPKG_LOCAL_FOLDERS=$NODE_DISK NODE_DISK SLURM WORK
slurm_start

# job NODES SCRIPT [OPTION...]: runs it in a job and sets $out, $err and $status.
job() {
    last="job on $1: $2"
    printf '#!/bin/bash\nsay() { echo "== $*"; "$@"; echo "== status $?"; }\n%s\n' "$2" > "$WORK/job.sh"
    : > "$WORK/job.out"; : > "$WORK/job.err"
    chmod 666 "$WORK/job.out" "$WORK/job.err"
    id=$(sbatch --parsable -N "$(awk -F, '{ print NF }' <<< "$1")" -w "$1" --ntasks-per-node=2 -t 5 -o "$WORK/job.out" -e "$WORK/job.err" \
        --open-mode=append "${@:3}" "$WORK/job.sh")
    # sbatch --wait looks every few seconds.
    for _ in $(seq 600); do
        [[ $(squeue -h -j "$id" -o %T) == [PRC]*[DG] ]] || break
        sleep 0.1
    done
    status=$(scontrol show job "$id" | sed -n 's/.*ExitCode=\([0-9]*\):.*/\1/p')
    out=$(cat "$WORK/job.out") err=$(cat "$WORK/job.err")
}
on_disks() { (cd "$SLURM/disk" && ls -d n[1234]/gpkg-job-* 2> /dev/null | tr '\n' ' '); }
# Slurm ends jobs before their epilogs.
swept() {
    for _ in $(seq 50); do
        [ -z "$(on_disks)" ] && return
        sleep 0.1
    done
    fail "left on the nodes' disks: $(on_disks)"
}

# An image: one path on all nodes, by sbcast; several ranks of a node use it. Again it is there already, and
# where a node lost it that one gets it.
job n1,n2,n3 'env=$("$GPKG" deploy -p "$WORK/my env") || exit 9
echo "env=$env"
ls -ld "${env%/*}" "$env"
srun "$GPKG" image run "$env" -- where x
"$GPKG" deploy -p "$WORK/my env"
srun -N1 -n1 -w n2 rm "$env"
"$GPKG" deploy -p "$WORK/my env" --json
ls "$SLURM"/disk/n[123]/gpkg-job-$SLURM_JOB_ID/'
check [ "$status" = 0 ]
name="my env-$(sha256sum < "$image" | head -c 12).sqfs"
at=$NODE_DISK/gpkg-job-$id
out_has "env=$at/$name" 'drwx------' '-r--------' "$name"
check [ "$(grep -c '^prefix=/gpkg/my env-' <<< "$out")" = 6 ]
check [ "$(awk '/^prefix=/ { print $(NF - 2), $(NF - 1) }' <<< "$out" | sort | tr '\n' ' ')" = 'n1 0 n1 1 n2 2 n2 3 n3 4 n3 5 ' ]
err_has 'to 3 nodes with sbcast' 'srun ' '3 nodes have it already'
json_line=$(grep '"brought_to"' -A3 <<< "$out" | tr -d ' \n')
check [ "${json_line#*'"brought_to":["n2"]'}" != "$json_line" ]
check [ "$(grep -c '"copied_by": "srun"' <<< "$out")" = 1 ]
swept

# An archive, from node to node by srun: unpacked once, the archive gone, its files naming their place.
job n1,n2,n3 'env=$("$GPKG" deploy -p "$WORK/my env" --format pack --copy srun) || exit 9
echo "env=$env"
srun "$env/bin/where" y
srun -n1 -N1 "$GPKG" run -p "$env" -- where z
"$GPKG" deploy -p "$WORK/my env" --format pack
ls -A "$SLURM"/disk/n[123]/gpkg-job-$SLURM_JOB_ID/
"$GPKG" deploy --clean
ls -A "$SLURM"/disk/n[123]/'
check [ "$status" = 0 ]
at=$NODE_DISK/gpkg-job-$id
check [ "$(grep -c "^prefix=$at/my env-.* y\$" <<< "$out")" = 6 ]
check [ "$(grep -c "^prefix=$at/my env-.* z\$" <<< "$out")" = 1 ]
err_has 'to 3 nodes with srun' '3 nodes have it already' "n2: $at: removed"
out_lacks '.part'
check [ "$(tail -n 6 <<< "$out" | grep -c '^gpkg-job-')" = 0 ]

# Each node reads the shared file, which on n3 is not what it should be: the others have it.
job n1,n2,n3 '"$GPKG" deploy -p "$WORK/my env" --copy read --json
ls -A "$SLURM"/disk/n[123]/gpkg-job-$SLURM_JOB_ID
exit 3'
json_text=$(sed -n '/^{/,/^}/p' <<< "$out")
check [ "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print([f["node"] for f in d["failures"]], "the copy has sha256" in d["failures"][0]["error"])' <<< "$json_text")" = "['n3'] True" ]
out_lacks .part
check [ "$(grep -c "^my env-" <<< "$out")" = 2 ]
swept

# No room on n4: said before anything is copied, and nothing stays elsewhere. A folder that is one for all nodes; one
# that only n1 has; one that no node has.
job n1,n4 'say "$GPKG" deploy -p "$WORK/my env"
ls -A "$SLURM/disk/n1"
say "$GPKG" deploy -p "$WORK/my env" --to "$WORK/shared"
ls -A "$WORK/shared"
say "$GPKG" deploy -p "$WORK/my env" --to "$WORK/nowhere"
srun -N1 -n1 -w n4 umount "$NODE_DISK"
say "$GPKG" deploy -p "$WORK/my env" --to "$NODE_DISK/fast" --to "$NODE_DISK" --quiet
ls -A "$SLURM/disk/n1/fast"'
check [ "$(grep -c '== status 1' <<< "$out")" = 3 ]
err_has "n4: $NODE_DISK: 102 kB free" 'shared by several nodes' "n1 and n4: $WORK/nowhere: does not exist"
out_has "$NODE_DISK/gpkg-job-$id/$name" '== status 0'
check [ "$(grep -c "^gpkg-job-" <<< "$out")" = 0 ]
swept

# One that cannot be, since a node refuses, leaves what an earlier one of the job brought to the others.
job n1,n2 'say "$GPKG" deploy -p "$WORK/my env" --to "$NODE_DISK" --quiet
at=$NODE_DISK/gpkg-job-$SLURM_JOB_ID
srun -N1 -n1 -w n2 sh -c "rm -rf \"$at\"; touch \"$at\""
say "$GPKG" deploy -p "$WORK/my env" --to "$NODE_DISK" --format pack
ls "$SLURM/disk/n1/gpkg-job-$SLURM_JOB_ID"
srun -N1 -n1 -w n2 rm "$at"'
out_has '== status 0' '== status 1' "$name"
check [ "$(grep -cx "$name" <<< "$out")" = 1 ]
err_has "n2: $NODE_DISK: gpkg-job-$id in it belongs to another user"
swept

# Two deployments at once, of what ended jobs left folders; those of a job that lives stay, and what others made.
sbatch -N1 -w n2 -o /dev/null --wrap 'sleep 100' > "$WORK/submitted"
living=$(grep -o '[0-9]*$' "$WORK/submitted")
for number in 999999 "$living" 999998; do
    mkdir "$SLURM/disk/n1/gpkg-job-$number"
    echo n1 > "$SLURM/disk/n1/gpkg-job-$number/.node"
done
rm "$SLURM/disk/n1/gpkg-job-999998/.node"
job n1,n2 '"$GPKG" deploy -p "$WORK/my env" > "$WORK/one" & "$GPKG" deploy -p "$WORK/my env" > "$WORK/two"
status=$?; wait $! || exit 1
cmp "$WORK/one" "$WORK/two" && ls -A "$SLURM"/disk/n[12]/gpkg-job-$SLURM_JOB_ID
exit $status' --overcommit
check [ "$status" = 0 ]
out_lacks .part
err_has 'removed leftovers of ended jobs: 999999'
scancel "$living"
rmdir "$SLURM/disk/n1/gpkg-job-999998" && rm -r "$SLURM/disk/n1/gpkg-job-$living"
check [ ! -e "$SLURM/disk/n1/gpkg-job-999999" ]
swept

# sbcast that does not work: srun does it. One that is killed on its way leaves nothing.
cat > "$WORK/bin/sbcast" <<'SBCAST'
#!/bin/sh
[ ! -e "$WORK/slow" ] || { /usr/bin/sbcast "$@" && touch "$WORK/begun" && exec sleep 30; }
echo 'sbcast: error: not today' >&2
exit 1
SBCAST
chmod 755 "$WORK/bin/sbcast"
job n1,n2,n3 'export PATH=$WORK/bin:$PATH
say "$GPKG" deploy -p "$WORK/my env"
"$GPKG" deploy --clean
touch "$WORK/slow"
"$GPKG" deploy -p "$WORK/my env" & 
for _ in $(seq 100); do [ -e "$WORK/begun" ] && break; sleep 0.1; done
ls -A "$SLURM"/disk/n3/gpkg-job-$SLURM_JOB_ID
kill $!; wait $!
echo "killed: $?"
ls -A "$SLURM"/disk/n[123]
rm "$WORK/slow"
say "$GPKG" deploy -p "$WORK/my env" --copy sbcast'
err_has 'not today' 'to 3 nodes with srun'
out_has "$name" '== status 0' '.part' 'killed: 1' '== status 1'
check [ "$(sed -n '/^killed/,$p' <<< "$out" | grep -c '^gpkg-job-')" = 0 ]
swept

# From node to node past one that cannot write: the others have it.
cat > "$WORK/bin/cat" <<'CAT'
#!/bin/sh
[ $# -gt 0 ] || [ "$SLURMD_NODENAME" != n2 ] || { echo 'cat: write error: No space left on device' >&2; exit 1; }
exec /bin/cat "$@"
CAT
chmod 755 "$WORK/bin/cat"
job n1,n2,n3,n4 'PATH=$WORK/bin:$PATH "$GPKG" deploy -p "$WORK/my env" --copy srun
/bin/echo "failed: $?"
ls -A "$SLURM"/disk/n[1234]/gpkg-job-$SLURM_JOB_ID'
err_has 'error: n2: cat: write error: No space left on device' 'the other nodes have it'
err_lacks 'n3'
out_has 'failed: 1'
out_lacks .part
check [ "$(grep -c "^my env-" <<< "$out")" = 3 ]
swept

# The script that was written; steps of jobs that ask for more than one processor a task.
job n1,n2 "$(sed 1d "$WORK/my job")" --cpus-per-task=2 --export=ALL,SLURM_MEM_PER_CPU=100
check [ "$status" = 0 ]
check [ "$(grep -c 'prefix=/gpkg/my env.* a  b \$c$' <<< "$out")" = 4 ]
check [ -z "$(on_disks)" ]

# A user without rights, whose job's folder the epilog removes.
chmod 600 "$image"
last='an image that may not be read'
err=$(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp "$GPKG" deploy "$image" --slurm 2>&1)
err_has "$image: cannot read: Permission denied"
chmod 644 "$image"
mkdir -m 777 "$WORK/nobody"
job n1,n2 "export HOME=$WORK/nobody GPKG_ROOT_PREFIX=$WORK/nobody/root
env=\$(\"\$GPKG\" deploy '$image') || exit
echo \"env=\$env\"
stat -c '%u %a' \"\${env%/*}\" \"\$env\"
srun \"\$GPKG\" image run \"\$env\" -- where \$(id -u)" --uid=65534 --gid=65534 --chdir=/
if unshare -rm true 2> /dev/null; then
    check [ "$status" = 0 ]
    check [ "$(grep -c '^prefix=.* 65534$' <<< "$out")" = 4 ]
    [ "$(stat -c %a /dev/fuse)" = 666 ] || ! grep -q fuse "$SLURM/prepare.n2" || err_has 'n1: cannot mount the image, so every command unpacks it'
fi
out_has '65534 700' '65534 400'
swept

# Ranks that end one after the other at a place where everybody makes folders: each finds its programs to its end.
mkdir -m 1777 "$WORK/ranks"
expect 0 image build -p "$WORK/my env" --mount-point "$WORK/ranks/of/ml" -o "$WORK/ranks.sqfs"
for who in --uid=0 '--uid=65534 --gid=65534 --chdir=/'; do
    job n1,n2 "export HOME=$WORK/nobody TMPDIR=$WORK/nobody
srun \"\$GPKG\" image run '$WORK/ranks.sqfs' -- sh -c 'sleep 0.\$((SLURM_PROCID * 3)); where rank; ls -d \$CONDA_PREFIX'" $who
    case $who in *65534*) unshare -rm true 2> /dev/null || continue ;; esac
    check [ "$status" = 0 ]
    check [ "$(grep -c "^prefix=$WORK/ranks/of/ml.*rank" <<< "$out") $(grep -cx "$WORK/ranks/of/ml" <<< "$out")" = '4 4' ]
    check [ ! -e "$WORK/ranks/of" ]
done

# What it brought to another folder has to be named to be found.
job n2 'env=$("$GPKG" deploy -p "$WORK/my env" --to "$NODE_DISK/other,") && "$GPKG" deploy --clean; "$GPKG" deploy --clean --to "$NODE_DISK/other,"'
err_has "found nothing from this job in $NODE_DISK; choose another folder with --to" "n2: $NODE_DISK/other,/gpkg-job-$id: removed"
swept

# An epilog by itself: numbers that are none, and links that lead elsewhere.
mkdir -p "$SLURM/victim/gpkg-job-5" "$SLURM/disk/n1/gpkg-job-7"
touch "$SLURM/victim/gpkg-job-5/file"
sed "s|^for folder in .*; do|for folder in '$SLURM/disk/n1'; do|" "$WORK/epilog" > "$WORK/epilog.n1"
ln -s "$SLURM/victim/gpkg-job-5" "$SLURM/disk/n1/gpkg-job-5"
SLURM_JOB_ID=5 SLURM_JOB_UID=0 check sh "$WORK/epilog.n1"
SLURM_JOB_ID='../victim/gpkg-job-5' SLURM_JOB_UID=0 check sh "$WORK/epilog.n1"
SLURM_JOB_ID=7 SLURM_JOB_UID=65534 check sh "$WORK/epilog.n1"
check [ -e "$SLURM/victim/gpkg-job-5/file" ]
check [ -d "$SLURM/disk/n1/gpkg-job-7" ]
SLURM_JOB_ID=7 SLURM_JOB_UID=0 check sh "$WORK/epilog.n1"
check [ ! -e "$SLURM/disk/n1/gpkg-job-7" ]

expect 0 clean --images --yes
check [ -z "$(ls -A "$GPKG_ROOT_PREFIX/images")" ]
finish
