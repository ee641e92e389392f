# Environments and packages in places where a folder cannot have another name before it goes: behind a link, under a
# folder that is not the user's, where something is mounted, in a lower layer of an overlay.
. "$(dirname "$0")/lib.sh"

mkdir -p "$WORK/payload/share/deep" && echo x > "$WORK/payload/share/deep/file"
package a 1.0 0
gone() { check [ ! -e "$1" ]; check [ -z "$(ls -A "$(dirname "$1")" | grep gpkg-removed)" ]; }

# Behind a link: the environment goes, and the link.
mkdir "$WORK/data"
expect 0 create -p "$WORK/data/e" a
ln -s "$WORK/data/e" "$GPKG_ROOT_PREFIX/envs/e" 2> "$WORK/find" || { mkdir -p "$GPKG_ROOT_PREFIX/envs"; ln -s "$WORK/data/e" "$GPKG_ROOT_PREFIX/envs/e"; }
expect 0 env remove -y -n e
gone "$WORK/data/e"
check [ ! -L "$GPKG_ROOT_PREFIX/envs/e" ]
expect 0 create -p "$WORK/data/e" a
ln -s "$WORK/data/e" "$GPKG_ROOT_PREFIX/envs/e"
expect 0 rename -n e f
gone "$WORK/data/e"
expect 0 run -n f cat "$(place f)/share/deep/file"

# A read-only folder in it.
chmod 555 "$(place f)/share/deep" "$(place f)/share"
expect 0 env remove -y -n f
gone "$(place f)"

# A removal that was stopped on its way: the next command finishes it.
expect 0 create -n g a
: > "$(place g)/conda-meta/.gpkg-removal"
rm -r "$(place g)/share" "$(place g)"/conda-meta/a-1.0-0.json
expect 1 run -n g true
gone "$(place g)"
expect 0 create -n g a
: > "$(place g)/conda-meta/.gpkg-removal"
expect 0 repair -n g
err_is "$(place g): an interrupted removal was completed"
gone "$(place g)"
expect 0 create -n g a
has g a-1.0

# What is made where packages lie would go with them.
expect 2 create -p "$GPKG_ROOT_PREFIX/pkgs/e" a
err_has 'inside the package store'

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: mounts and other users need root" >&2
    finish; exit
fi
# Where something is mounted: the folder stays, empty.
mkdir "$WORK/mount"
if mount -t tmpfs none "$WORK/mount" 2> "$WORK/find"; then
    expect 0 create -p "$WORK/mount" a
    expect 0 env remove -y -p "$WORK/mount"
    check [ -z "$(ls -A "$WORK/mount")" ]
    umount "$WORK/mount"
    # In a lower layer of an overlay, as in every image of containers.
    mkdir "$WORK/lower" "$WORK/layers" "$WORK/seen"
    expect 0 create -p "$WORK/lower/e" a
    GPKG_ROOT_PREFIX=$WORK/lower/root expect 0 create -c "file://$CHANNEL" --override-channels -n x a
    mount -t tmpfs none "$WORK/layers"
    mkdir "$WORK/layers/upper" "$WORK/layers/work"
    if mount -t overlay overlay -o "lowerdir=$WORK/lower,upperdir=$WORK/layers/upper,workdir=$WORK/layers/work,redirect_dir=off" "$WORK/seen" 2> "$WORK/find"; then
        expect 0 env remove -y -p "$WORK/seen/e"
        gone "$WORK/seen/e"
        export GPKG_ROOT_PREFIX=$WORK/seen/root
        expect 0 rename -n x y
        gone "$GPKG_ROOT_PREFIX/envs/x"
        expect 0 env remove -y -n y
        expect 0 clean --all -y
        check [ -z "$(find "$GPKG_ROOT_PREFIX/pkgs" -name 'a-1.0-0*')" ]
        export GPKG_ROOT_PREFIX=$WORK/root
        umount "$WORK/seen"
    else
        echo "SKIPPED: no overlay file system here" >&2
    fi
    umount "$WORK/layers"
else
    echo "SKIPPED: mounts are not allowed here" >&2
fi
# Under a folder that belongs to somebody else.
chmod 755 "$WORK"
mkdir -p "$WORK/theirs/home"
expect 0 create -p "$WORK/theirs/e" a
chown -R 65534:65534 "$WORK/theirs/e" "$WORK/theirs/home"
last="env remove as another user"
HOME=$WORK/theirs/home setpriv --reuid=65534 --regid=65534 --clear-groups "$GPKG" env remove -y -p "$WORK/theirs/e" > "$WORK/stdout" 2> "$WORK/stderr"
status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
check [ "$status" = 0 ]
check [ -d "$WORK/theirs/e" ]
check [ -z "$(ls -A "$WORK/theirs/e")" ]

# A file that cannot be deleted: its owner is named, the name is free, and clean and repair name the rest.
as_other() {
    last="another user: $*"
    status=0
    HOME=$WORK/theirs/home GPKG_ROOT_PREFIX=$WORK/theirs/home/root setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$GPKG" "$@" > "$WORK/stdout" 2> "$WORK/stderr" || status=$?
    out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
}
envs=$WORK/theirs/home/root/envs
as_other create -y -n e --override-channels -c "file://$CHANNEL" a
check [ "$status" = 0 ]
mkdir "$envs/e/roots" && touch "$envs/e/roots/file"
as_other env remove -y -n e
check [ "$status" = 1 ]
err_has "$envs/.e.gpkg-removed/roots/file: cannot remove: Permission denied (in a folder of root); the environment is removed"
check [ "$(find "$envs/.e.gpkg-removed" -type f)" = "$envs/.e.gpkg-removed/roots/file" ]
as_other env list
out_has interrupted
as_other repair -y -n e
check [ "$status" = 1 ]
err_has "$envs/.e.gpkg-removed/roots/file: cannot remove"
as_other create -y -n e --override-channels -c "file://$CHANNEL" a
check [ "$status" = 0 ]
mkdir "$envs/e/roots" && touch "$envs/e/roots/file"
as_other env remove -y -n e
check [ -d "$envs/.e.gpkg-removed-2" ]
as_other clean -y --packages
check [ "$status" = 1 ]
out_has "$envs/.e.gpkg-removed, " "$envs/.e.gpkg-removed-2, "
chown -R 65534:65534 "$envs"
as_other clean -y --packages
check [ "$status" = 0 ]
check [ -z "$(ls -A "$envs")" ]
finish
