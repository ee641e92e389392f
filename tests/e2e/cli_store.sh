# The package store on file systems and between users: reflinks, layers, a group's store, no locks.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

mkdir -p "$WORK/payload/lib" && head -c 3000000 /dev/urandom > "$WORK/payload/lib/big.so"
echo 'good' > "$WORK/payload/lib/text.py"
package big 1.0 0
script bin/app 'echo app'
package app 1.0 0 big

# What is said decides, and what cannot be is an error.
at=$GPKG_ROOT_PREFIX/envs
links() { stat -c %h "$at/$1/lib/big.so"; }
expect 0 create -q -y -n hard --link hardlink app
check [ "$(links hard)" = 2 ]
expect 0 create -q -y -n copied --link copy app
check [ "$(links copied)" = 1 ]
expect 0 config set link copy
expect 0 create -q -y -n configured app
check [ "$(links configured)" = 1 ]
expect 0 create -q -y -n hard2 --link hardlink app
check [ "$(links hard2)" = 3 ]
expect 0 config remove-key link
expect 2 create -y -n never --link soft app
expect 2 create -y -n never --link copy --copy app
expect 2 config set link soft

# A layer below the store is read, and nothing is written there.
mv "$GPKG_ROOT_PREFIX/pkgs" "$WORK/site"
chmod -R a-w "$WORK/site"
GPKG_STORE_LAYERS=$WORK/site expect 0 create -q -y -n layered --offline app
check [ "$(find "$GPKG_ROOT_PREFIX/pkgs" -name 'big-*' 2> /dev/null | wc -l)" = 0 ]
GPKG_STORE_LAYERS=$WORK/site expect 0 verify -n layered
chmod -R u+w "$WORK/site"

# pip and most programs replace files, which leaves the store as it was; what writes into one is found.
expect 0 create -q -y -n user app
printf 'mine\n' > "$at/user/lib/new" && mv "$at/user/lib/new" "$at/user/lib/text.py"
expect 0 verify --store
expect 1 verify -n user
out_has lib/text.py

# Reflinks on file systems made for them: what writes into a file changes no other.
reflinks() {
    local kind=$1 image=$WORK/image.$1 mounted=$WORK/mounted.$1
    command -v "mkfs.$kind" > /dev/null && [ "$(id -u)" = 0 ] || { echo "skipped: no mkfs.$kind, or not root"; return; }
    truncate -s 600M "$image" && mkdir "$mounted"
    "mkfs.$kind" "$image" > /dev/null 2>&1
    mount -o loop "$image" "$mounted" 2> /dev/null || { echo "skipped: $kind cannot be mounted here"; return; }
    GPKG_CACHE_DIR=$mounted/cache expect 0 create -y -p "$mounted/env" app
    err_lacks copied
    check [ "$(stat -c %h "$mounted/env/lib/big.so")" = 1 ]
    sync
    # One copy of the 3 MB is on the disk, seen twice.
    python3 - "$mounted/env/lib/big.so" "$mounted"/cache/pkgs/big-*/lib/big.so << 'END'
import array, fcntl, struct, sys
def first_extent(path):
    request = bytearray(struct.pack("=QQLLLL", 0, 2**63 - 1, 1, 0, 8, 0) + bytes(56 * 8))
    with open(path, "rb") as file:
        fcntl.ioctl(file, 0xC020660B, request)  # FS_IOC_FIEMAP, synced
    return struct.unpack_from("=Q", request, 32 + 8)[0]
sys.exit(first_extent(sys.argv[1]) != first_extent(sys.argv[2]))
END
    check [ $? = 0 ]
    echo evil >> "$mounted/env/lib/text.py"
    GPKG_CACHE_DIR=$mounted/cache expect 0 verify --store
    GPKG_CACHE_DIR=$mounted/cache expect 0 create -q -y -p "$mounted/hard" --link hardlink app
    check [ "$(stat -c %h "$mounted/hard/lib/big.so")" = 2 ]
    umount "$mounted"
}
reflinks btrfs
reflinks xfs
# Where there are none.
if [ "$(stat -f -c %T "$WORK")" = ext2/ext3 ]; then
    expect 1 create -y -n never --link reflink app
    err_has "$(place never)/" 'cannot link'  # whichever of its files is first
    absent never
fi

# Across file systems files are copied, and gpkg says so and why.
if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d "$WORK")" ]; then
    far=$(mktemp -d /dev/shm/gpkg-e2e.XXXXXX)
    expect 0 create -y -p "$far/env" app
    err_has '3 files copied instead of linked: the package store and the environment are on different file systems'
    expect 1 create -y -p "$far/env2" --link hardlink app
    err_has "cannot link files into $far/env2: the package store" '--link auto'
    rm -rf "$far"
fi

# Two users of one group share a root prefix under umask 002.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    shared=$(mktemp -d /tmp/gpkg-e2e-shared.XXXXXX)
    mkdir -p "$shared/root" "$shared/home1" "$shared/home2"
    printf 'channels:\n  - file://%s\n' "$shared/channel" > "$shared/root/config.yaml"
    cp -r "$CHANNEL" "$shared/channel"
    cp "$GPKG" "$shared/gpkg"
    chown -R 61001:61000 "$shared/home1"; chown -R 61002:61000 "$shared/home2"
    chgrp -R 61000 "$shared/root" && chmod -R g+rws "$shared/root" && chmod 755 "$shared"
    as() {
        local user=$1
        shift
        (umask "${mask:-002}"; cd "$shared" && HOME=$shared/home$user GPKG_ROOT_PREFIX=$shared/root \
            setpriv --reuid 6100"$user" --regid 61000 --clear-groups "$shared/gpkg" "$@") > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
        status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr") last="as user $user: gpkg $*"
        checks=$((checks + 1))
    }
    works() { as "$@"; [ "$status" = 0 ] || fail 'expected exit status 0'; }
    # An environment of somebody else says so before anything is fetched, and how to get one of one's own.
    mkdir "$shared/site"
    GPKG_ROOT_PREFIX=$shared/own expect 0 create -c "$shared/channel" --override-channels -q -y -p "$shared/site/env" app
    for words in 'install -y big' 'remove -y app' 'env config vars set A=b'; do
        as 1 ${words%% *} -p "$shared/site/env" ${words#* }
        [ "${words%% *}" != env ] || as 1 env config vars set -p "$shared/site/env" A=b
        check [ "$status" = 1 ]
        err_has "$shared/site/env: you cannot change this environment (owner: root): Permission denied" \
            'to make your own copy: gpkg create -n ' "--clone $shared/site/env"
    done
    as 1 install -y big -p "$shared/site/env"
    err_has "to make your own copy: gpkg create -n my-env --clone $shared/site/env; then: gpkg install -n my-env big"
    as 1 update --all -p "$shared/site/env"
    err_has '; then: gpkg update -n my-env --all'
    for words in 'install big' 'update app' 'remove app' 'remove --all' 'env remove'; do
        as 1 $words -p "$shared/site/env"
        check [ "$status" = 1 ]
        err_has 'you cannot change this environment'
        case $words in
            *--all | env*) err_lacks --clone ;;
            *) err_has "--clone $shared/site/env" ;;
        esac
        out_is ''
    done
    works 1 install -p "$shared/site/env" big --dry-run
    err_has "note: $shared/site/env: you cannot change this environment"
    GPKG_ENVS_DIRS=$shared/site works 1 env list
    out_has "$shared/site/env  (read-only)"
    # What may not be looked into is named where it may be the reason.
    chmod 700 "$shared/site"
    GPKG_ENVS_DIRS=$shared/home1/envs:$shared/site as 1 list -n env
    check [ "$status" = 1 ]
    err_has "no environment at $shared/home1/envs/env, nor in $shared/site" "no permission to read $shared/site"
    GPKG_STORE_LAYERS=$shared/site/pkgs works 1 info
    out_has "store_layers: $shared/site/pkgs (no permission to read)"
    chmod 755 "$shared/site"
    # Nor does it take its name from those who cannot change it: their own goes before it.
    export GPKG_ENVS_DIRS=$shared/home1/envs:$shared/site
    expect 1 create -y -n env app
    err_has "$shared/site/env: the environment exists already" \
        "for one of your own: gpkg create -p $shared/home1/envs/env"
    err_lacks 'env remove'
    works 1 create -y -n env app
    err_has "note: the new environment hides $shared/site/env; -n env now means $shared/home1/envs/env"
    as 1 create -y -n env app
    check [ "$status" = 1 ]
    err_has "$shared/home1/envs/env: the environment exists already" 'to add packages: gpkg install'
    works 1 remove -q -y -n env --all
    works 1 clean -q -y --all
    GPKG_ENVS_DIRS=$shared/site as 1 create -y -n env app
    check [ "$status" = 1 ]
    err_has "$shared/site/env: the environment exists already" 'you cannot change it: choose another name'
    unset GPKG_ENVS_DIRS
    rm -rf "$shared/root/pkgs"
    as 1 create -y -p "$shared/site/more" app
    check [ "$status" = 1 ]
    err_has "$shared/site: cannot create files there: Permission denied"
    check [ ! -e "$shared/root/pkgs" ]
    works 1 create -y -p "$shared/home1/own" --clone "$shared/site/env"
    works 1 install -y -p "$shared/home1/own" big
    works 1 remove -q -y -p "$shared/home1/own" --all
    works 1 clean -q -y --all
    works 1 create -q -y -n one app
    works 2 create -y -n two app
    # The system may forbid hard links to files of others; then they are copied, and gpkg says why.
    [ "$(stat -c %h "$shared/root/envs/two/lib/big.so")" = 3 ] || err_has fs.protected_hardlinks
    works 2 install -q -y -n one big
    works 1 remove -y -n two app
    works 2 verify --store
    works 2 clean -y --all
    works 1 create -q -y -n three --offline app
    works 2 remove -y -n three --all
    works 1 update -y -n one --all
    # Whatever the umask, what one puts there is there for the other, to use and to take away.
    for mask in 077 022; do
        works 1 clean -q -y --all
        works 1 remove -q -y -n one --all
        works 1 clean -q -y --all
        mask=$mask works 1 create -q -y -n one app
        check [ -z "$(find "$shared"/root/pkgs/*/ ! -perm -g=rX,o=r ! -type l)" ]
        works 2 create -q -y -n four app
        works 2 verify -n four
        works 1 remove -q -y -n one --all
        works 2 remove -q -y -n four --all
        works 2 clean -y --unused
        check [ -z "$(ls -d "$shared"/root/pkgs/*-*)" ]
        works 1 create -q -y -n one app
    done
    # What an older one left there otherwise is told by its owner.
    chmod -R go-rwx "$shared"/root/pkgs/big-*
    as 2 create -q -y -n five app
    check [ "$status" = 1 ]
    err_has "no permission (owner: user 61001)" 'chmod -R go+rX' cache_dir
    chmod -R go+rX "$shared"/root/pkgs/big-*
    works 1 remove -q -y -n one --all
    as 2 clean -y --unused
    check [ "$status" = 1 ]
    err_has "no permission (owner: user 61001)" 'chmod -R g+w'
    works 2 verify --store
    works 2 create -q -y -n six app
    # Indexes are each user's own: whatever one's umask, another gets them anew.
    mkdir "$shared/control"
    python3 "$here/http_server.py" "$shared/channel" "$shared/control" &
    server=$!
    while [ ! -e "$shared/control/port" ]; do sleep 0.05; done
    url=http://127.0.0.1:$(cat "$shared/control/port")
    for user in 1 2 1; do
        mask=077 works $user search -q -c "$url" --override-channels app
        mask=077 works $user exec -q -c "$url" --override-channels app
        touch "$shared"/channel/*/repodata.json
    done
    kill $server
    check [ ! -e "$shared/root/cache" ]
    check [ -d "$shared/home2/.cache/gpkg/cache" ]
    works 2 info
    out_has "$shared/home2/.cache/gpkg/cache"
    # Where everyone may write and nobody take away what is another's, no package is open to others.
    rm -rf "$shared/root/pkgs" "$shared/root/envs" && mkdir -m 1777 "$shared/root/pkgs" && mkdir -m 2777 "$shared/root/envs"
    works 1 create -q -y -n one app
    check [ -z "$(find "$shared"/root/pkgs/*/ -perm /022 ! -type l)" ]
    works 2 create -q -y -n two app
    rm "$(echo "$shared"/root/pkgs/big-*)/lib/text.py"
    as 2 create -q -y -n five app
    check [ "$status" = 1 ]
    err_has 'lib/text.py is missing' "no permission (owner: user 61001)"
    works 1 create -q -y -n five app
    rm -rf "$shared"
else
    echo 'skipped: two users need root and setpriv'
fi

# A file system without working locks: the work is done, and who is at work on an environment is told by a file.
if command -v cc > /dev/null; then
    printf '#include <errno.h>\nint flock(int fd, int how) { (void)fd; (void)how; errno = ENOLCK; return -1; }\n' > nolock.c
    cc -shared -fPIC -o nolock.so nolock.c
    LD_PRELOAD=$PWD/nolock.so expect 0 create -y -n unlocked app
    err_lacks warning
    LD_PRELOAD=$PWD/nolock.so expect 0 install -y -n unlocked big
    LD_PRELOAD=$PWD/nolock.so expect 0 remove -y -n unlocked big
    check [ ! -e "$(place unlocked)/conda-meta/.gpkg-lock" ]
fi

# What comes to the disk is told and can be limited.
shared_prefix=$GPKG_ROOT_PREFIX
export GPKG_ROOT_PREFIX=$WORK/limited  # whose store holds nothing yet
mkdir "$GPKG_ROOT_PREFIX" && cp "$shared_prefix/config.yaml" "$GPKG_ROOT_PREFIX/"
expect 0 create -n large --dry-run app
out_has ' to download (3.' ' MB; estimated ' ' on disk)'
expect 1 create -y -n large --max-size 1MB app
err_has '--max-size 1.0 MB exceeded: the packages to download are 3.'
expect 1 create -y -n large --max-inodes 3 app
err_has 'unpacking exceeds --max-inodes 3'  # not only after all of it is there
check [ ! -e "$WORK/limited/envs/large" ]
expect 1 create -y -n large --max-size 3000KB --link copy app
check [ ! -e "$WORK/limited/envs/large" ]
expect 0 create -y -n large --max-size 8MB --max-inodes 100 app
out_has 'needs ' ' on disk (' ' files and folders)'
expect 2 create -y -n larger --max-size much app
# Also of package files, whose records have no sizes.
GPKG_ROOT_PREFIX=$WORK/of-files expect 0 create -y -n file "$(echo "$CHANNEL"/linux-64/app-1.0-0.*)"
out_has 'needs ' ' on disk (' ', package store included'
# What is in the store already is rehearsed.
expect 1 create -n larger --dry-run --max-inodes 3 app
err_has '--max-inodes allows 3'
expect 0 create -n larger --dry-run app
out_has 'needs ' ' on disk (' ' files and folders)'
absent larger
export GPKG_ROOT_PREFIX=$shared_prefix

# What clean says is what du says.
expect 0 create -q -y -n gone app
expect 0 remove -y -n gone --all
for name in hard copied configured hard2 layered user unlocked; do "$GPKG" remove -q -y -n "$name" --all > /dev/null 2>&1; done
before=$(du -s -B1 "$GPKG_ROOT_PREFIX/pkgs" | cut -f1)
expect 0 clean --unused --dry-run --json
said=$(printf '%s' "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["packages"]["total_size"])')
expect 0 clean --unused -y
after=$(du -s -B1 "$GPKG_ROOT_PREFIX/pkgs" | cut -f1)
last="clean says $said, du says $((before - after))"
check [ "$said" = $((before - after)) ]
expect 0 create -q -y -n back app

# A failing machine may leave files of the store empty: they are not linked, and fetched anew.
expect 0 create -q -y -n cut app
stored=$(echo "$GPKG_ROOT_PREFIX"/pkgs/big-1.0-*)
rm "$stored/lib/big.so" && : > "$stored/lib/big.so"
expect 0 create -y -n cut2 app
err_has 'lib/big.so: has 0 bytes, but its package records 3000000; downloading 1 damaged package again'
expect 0 verify -n cut2
expect 0 verify --store
stored=$(echo "$GPKG_ROOT_PREFIX"/pkgs/big-1.0-*)
rm "$stored/lib/big.so"
mv "$WORK/channel" "$WORK/channel.away"
expect 1 create -q -y -n cut4 app
absent cut4
mv "$WORK/channel.away" "$WORK/channel"
expect 0 create -q -y -n cut4 app

# Of a damaged package in a layer, which only its owner can mend, the user gets a copy of their own.
mkdir "$WORK/layer" "$WORK/own"
cp -a "$GPKG_ROOT_PREFIX"/pkgs/. "$WORK/layer"
cp "$GPKG_ROOT_PREFIX/config.yaml" "$WORK/own"
layered=$(echo "$WORK"/layer/big-1.0-*)
rm "$layered/lib/text.py"
(export GPKG_ROOT_PREFIX=$WORK/own GPKG_STORE_LAYERS=$WORK/layer
    expect 0 create -y -n above app
    err_has 'lib/text.py is missing from the unpacked package; downloading 1 damaged package again'
    expect 0 verify -n above
    expect 0 create -q -y -n above2 --offline app
    err_lacks missing
    rm -rf "$WORK/own/pkgs" && printf 'evil' > "$layered/lib/text.py"
    expect 0 remove -q -y -n above2 --all
    expect 0 repair -y -n above
    rm "$WORK/own/envs/above/lib/text.py"
    expect 0 repair -y -n above
    expect 0 verify -n above
    # Both copies damaged: one command is enough.
    rm -f "$WORK"/own/pkgs/big-*/lib/text.py
    expect 0 create -y -n above3 app
    expect 0 verify -n above3
    [ $failures = 0 ]) || fail 'in the subshell'
: > "$(echo "$GPKG_ROOT_PREFIX"/pkgs/app-1.0-*)/info/repodata_record.json"
expect 1 verify --store
out_has 'info/repodata_record.json cannot be read'
err_has '1 of '
expect 0 repair --store -y
out_has 'was damaged; it will be downloaded again when needed'
expect 0 verify --store
: > "$(echo "$GPKG_ROOT_PREFIX"/pkgs/big-1.0-*)/info/repodata_record.json"
expect 0 create -q -y -n cut3 app
expect 0 verify --store
finish
