# A command that is killed, or fails, at any of its changes to files leaves the old or the new environment.
here=$(realpath "$(dirname "$0")")
# Hundreds of times thousands of files come and go, which takes disks thrice as long.
if [ "$(df --output=avail /dev/shm | tail -n 1)" -gt 1000000 ] &&
    ! findmnt -no OPTIONS /dev/shm | grep -qw noexec; then
    export TMPDIR=/dev/shm
fi
. "$here/lib.sh"
: "${STRIKE_LIBRARY:?the library that strikes}"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/lib 'echo lib one'
mkdir -p "$WORK/payload/lib/deep/er" && echo "prefix=$old" > "$WORK/payload/lib/deep/er/lib.pc"
ln -s deep/er/lib.pc "$WORK/payload/lib/link"
PLACEHOLDER=$old package lib 1.0 0
script bin/lib 'echo lib two'
mkdir -p "$WORK/payload/lib" && echo "prefix=$old" > "$WORK/payload/lib/lib.pc"
PLACEHOLDER=$old package lib 2.0 0
script bin/app 'echo app'
package app 1.0 0 'lib'
script bin/extra 'echo extra'
package extra 1.0 0
index

# Everything is in the store.
expect 0 create -y -n all lib=1 app extra
expect 0 update -y -n all lib
expect 0 env remove -y -n all
strikes() {
    checks=$((checks + 1))
    out=$(python3 "$here/strikes.py" "$GPKG" "$STRIKE_LIBRARY" "$GPKG_ROOT_PREFIX" "$@" 2>&1)
    status=$? last="strikes $*"
    printf '%s\n' "$out"
    [ "$status" = 0 ] || fail 'see above'
}
strikes "create;0;create -y -n e --offline app"
expect 0 create -y -n e --offline lib=1 app
strikes "install;0;install -y -n e --offline extra" "update;0;update -y -n e --offline lib" \
    "remove;0;remove -y -n e app"
expect 0 update -y -n e --offline lib
strikes "rollback;0;rollback -y -n e --offline" "remove all;0;env remove -y -n e"

# Larger ones, at places drawn anew each time.
names=
for i in $(seq 30); do
    mkdir -p "$WORK/payload/share/p$i"
    for j in 1 2 3 4 5 6 7 8; do echo "$i $j $old" > "$WORK/payload/share/p$i/$j"; done
    PLACEHOLDER=$old package p$i 1.0 0
    names+=" p$i"
done
expect 0 env remove -y -n e
expect 0 create -y -n all $names
expect 0 env remove -y -n all
strikes "large create;25;create -y -n e --offline$names"
expect 0 create -y -n e --offline $names
strikes "large remove;25;remove -y -n e$names"
expect 0 remove -y -n e p1 p2 p3 p4 p5 p6 p7 p8 p9
strikes "large rollback;25;rollback -y -n e --offline" "large install;25;install -y -n e --offline p1 p2 p3 p4 p5"

finish
