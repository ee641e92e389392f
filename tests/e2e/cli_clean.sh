# gpkg clean
. "$(dirname "$0")/lib.sh"

head -c 100000 /dev/zero > big
mkdir -p "$WORK/payload" && cp big "$WORK/payload/used-file"
package used 1 0
mkdir -p "$WORK/payload" && cp big "$WORK/payload/unused-file"
package unused 1 0
expect 0 create -y -q -n one used
expect 0 create -y -q -n two unused
expect 0 remove -y -q -n two --all
mkdir "$GPKG_ROOT_PREFIX/cache" 2> /dev/null
echo x > "$GPKG_ROOT_PREFIX/cache/0123456789abcdef.state.json"

expect 2 clean -y
err_has 'gpkg clean: missing option: what to remove' 'hint: to remove all: gpkg clean --all -y; parts: --packages, '
# Alone it shows sizes.
expect 0 clean
out_has '1 unused package, ' 'would be freed'
err_is 'to free it: gpkg clean --all; parts: --packages, --index-cache, --tarballs, --exec and --images'
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 2 ]
expect 0 clean --all --dry-run
out_has '1 unused package, '
out_has 'would be freed'
all=$out
expect 0 clean --dry-run
out_is "$all"
expect 0 clean --packages --dry-run --json
json 'd["dry_run"] is True and "index_cache" not in d'
json '[n.split("-")[0] for n in d["packages"]["pkgs_dirs"][work + "/root/pkgs"]] == ["unused"]'
json 'd["packages"]["total_size"] >= 100000'
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 2 ]

# Without a terminal nobody can be asked.
expect 2 clean --packages
err_has 'not confirmed: removing ' ' of files' 'add -y to remove without a question'
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 2 ]
expect 0 clean --packages --yes
check [ "$(ls "$GPKG_ROOT_PREFIX/pkgs" | cut -d- -f1)" = used ]
check [ -f "$GPKG_ROOT_PREFIX/envs/one/used-file" ]
check [ -f "$GPKG_ROOT_PREFIX/cache/0123456789abcdef.state.json" ]
expect 0 clean --index-cache --yes --json
json 'work + "/root/cache/0123456789abcdef.state.json" in d["index_cache"]["files"]'
check [ ! -f "$GPKG_ROOT_PREFIX/cache/0123456789abcdef.state.json" ]
expect 0 clean --all --yes
out_is 'nothing to remove'
expect 0 create -y -q -n two unused

# Somebody else's files in folders of these names stay.
mkdir -p "$WORK/scratch/cache/huggingface" "$WORK/scratch/exec/myjob"
echo x | tee "$WORK/scratch/cache/huggingface/model.bin" "$WORK/scratch/cache/mine.json" "$WORK/scratch/exec/myjob/run.sh" > "$WORK/scratch/exec/loose.txt"
GPKG_CACHE_DIR=$WORK/scratch expect 0 clean --all --yes
check [ "$(find "$WORK/scratch" -type f ! -path '*/log/*' | wc -l)" = 4 ]
expect 2 create -p "$GPKG_ROOT_PREFIX/cache/env"
err_has 'inside the index cache, which gpkg clean empties'

# Where there is no room at all, what makes room works.
if [ "$(id -u)" = 0 ]; then
    mkdir "$WORK/small"
    if mount -t tmpfs -o size=6m,nr_inodes=400 small "$WORK/small" 2> /dev/null; then
        package filler 1.0 0
        export GPKG_ROOT_PREFIX=$WORK/small/root
        export GPKG_CHANNELS=$CHANNEL
        expect 0 create -y -n one filler
        expect 0 create -y -n two filler
        expect 0 remove -y -n two --all
        for n in $(seq 400); do : > "$WORK/small/f$n" || break; done 2> /dev/null
        expect 0 remove -y -n one --all
        rm -f "$WORK"/small/f[1-9]*; for n in $(seq 400); do : > "$WORK/small/f$n" || break; done 2> /dev/null
        expect 0 clean --unused -y
        check [ "$(ls "$WORK/small/root/pkgs" | grep -c filler)" = 0 ]
        umount "$WORK/small"
    fi
fi
finish
