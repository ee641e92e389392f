# gpkg on systems where a part of what it usually finds is missing or somebody else's: home folder,
# configuration, caches.
. "$(dirname "$0")/lib.sh"

script bin/hello 'echo hello'
package app 1 0
expect 0 create -y -q -p "$WORK/env" app

# Without a home, or with one that is no path: nothing is written into the current folder.
made=0
for home in '' . here; do
    HOME=$home expect 0 create -y -q -n "of-home-$((++made))" app
    check [ -z "$(ls -A)" ]
done
HOME=/dev/null expect 0 create -y -q -n of-null app
expect 0 run -p "$WORK/env" hello
HOME=/dev/null expect 0 run -p "$WORK/env" hello
out_is hello

# As another user: what cannot be read counts as absent, with a warning.
if [ "$(id -u)" != 0 ] || ! command -v setpriv > /dev/null; then
    echo 'skipped: another user (this is not root, or there is no setpriv)'
    finish
fi
other=(setpriv --reuid 12345 --regid 12345 --clear-groups)
cp "$GPKG" "$WORK/gpkg.bin" && chmod 755 "$WORK" "$WORK/gpkg.bin"
printf '#!/bin/sh\nexec %s "$@"\n' "${other[*]} $WORK/gpkg.bin" > "$WORK/as-other" && chmod 755 "$WORK/as-other"
GPKG=$WORK/as-other
find "$WORK/env" "$WORK/channel" -exec chmod a+rX {} +
mkdir -m 777 "$WORK/root2" && mkdir "$WORK/closed" "$WORK/home2" "$WORK/home2/.config"
mkdir -p "$WORK/home2/.config/gpkg" && chmod 755 "$WORK/home2" "$WORK/home2/.config" "$WORK/home2/.config/gpkg"
echo 'channels: [secret]' | tee "$WORK/home2/.condarc" > "$WORK/home2/.config/gpkg/config.yaml"
chmod 600 "$WORK/home2/.condarc" "$WORK/home2/.config/gpkg/config.yaml" && chmod 700 "$WORK/closed"
export GPKG_ROOT_PREFIX=$WORK/root2
HOME=$WORK/closed expect 0 run -p "$WORK/env" hello
out_is hello
err_has "warning: ignored $WORK/closed/.config/gpkg/config.yaml: cannot open: Permission denied"
HOME=$WORK/home2 expect 0 run -p "$WORK/env" hello
err_has "ignored $WORK/home2/.condarc: cannot open" "ignored $WORK/home2/.config/gpkg/config.yaml: cannot open"
HOME=$WORK/closed expect 0 create -y -q -n e --override-channels -c "$WORK/channel" app
has e app-1

# Caches of another user, which may be closed: what is there is read, the rest is kept below HOME.
mkdir -m 755 "$WORK/root3" && mkdir -m 777 "$WORK/home3"
for mode in 755 000; do
    rm -rf "$WORK/root3/pkgs" && mkdir -p "$WORK/root3/pkgs" "$WORK/root3/cache" "$WORK/root3/log"
    chmod $mode "$WORK/root3/pkgs" "$WORK/root3/cache" "$WORK/root3/log"
    export HOME=$WORK/home3 GPKG_ROOT_PREFIX=$WORK/root3
    expect 0 run -p "$WORK/env" hello
    out_is hello
    err_is ''
    expect 0 create -y -p "$WORK/home3/e$mode" --override-channels -c "$WORK/channel" app
    err_has "$WORK/root3/pkgs: cannot be written to; new packages are kept in $WORK/home3/.cache/gpkg/pkgs"
    expect 0 run -p "$WORK/home3/e$mode" hello
done
export GPKG_ROOT_PREFIX=$WORK/root2

touch "$WORK/home2/.config/gpkg/credentials.yaml" && chmod 600 "$WORK/home2/.config/gpkg/credentials.yaml"
HOME=$WORK/home2 expect 1 search --override-channels -c http://127.0.0.1:9/c app
err_has "ignored $WORK/home2/.config/gpkg/credentials.yaml: cannot open: Permission denied" 'cannot connect'

# Without an entry in passwd and a home: the hint works.
unset GPKG_ROOT_PREFIX
for home in / "$WORK/closed"; do
    [ ! -w "$home" ] || [ ! -e /.local ] || continue
    HOME=$home expect 1 create -y -q -n e --override-channels -c "$WORK/channel" app
    err_has 'export GPKG_ROOT_PREFIX=FOLDER'
    HOME=$home GPKG_ROOT_PREFIX=$WORK/root2 expect 0 list -n e
done

finish
