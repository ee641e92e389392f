# gpkg rename: the same environment under another name or path, its past included.
. "$(dirname "$0")/lib.sh"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
mkdir -p "$WORK/payload/etc" && echo "prefix=$old" > "$WORK/payload/etc/lib.conf"
PLACEHOLDER=$old package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 lib
package extra 1.0 0

at=$GPKG_ROOT_PREFIX/envs
expect 0 create -y -n first app
expect 0 install -y -n first extra
expect 0 remove -y -n first extra
expect 0 env config vars set -n first DATA=/scratch
printf '#!%s/bin/python\n' "$at/first" > "$at/first/bin/mine"
echo 'lib 1.*' > "$at/first/conda-meta/pinned"
expect 0 history -n first --json
before=$out

expect 0 rename --dry-run -n first second
out_has "rename $at/first to $at/second: 2 packages to relink"
absent second
expect 0 rename -y -n first second
check [ "$(tail -n 1 <<< "$out")" = 'renamed first to second' ]
out_lacks needs
err_lacks copied
absent first
has second app-1.0 lib-1.0
check [ "$(cat "$at/second/etc/lib.conf")" = "prefix=$at/second" ]
check [ "$(cat "$at/second/bin/mine")" = "#!$at/second/bin/python" ]
check [ "$(cat "$at/second/conda-meta/pinned")" = 'lib 1.*' ]
check grep -qx "$at/second" "$HOME/.conda/environments.txt"
check [ "$(grep -cx "$at/first" "$HOME/.conda/environments.txt")" = 0 ]
expect 0 history -n second --json
check [ "${out//$at\/second/}" = "${before//$at\/first/}" ]
expect 0 env config vars list -n second
out_has 'DATA = /scratch'
expect 0 env export -n second --from-history
out_has '- app'
expect 0 rollback -y -n second 2
has second app-1.0 extra-1.0 lib-1.0
expect 0 verify -n second

# To a path, and back by path; offline, from the store.
mv "$CHANNEL" "$CHANNEL.away"
expect 0 rename -y -n second "$WORK/a path/env" --offline
check [ "$(tail -n 1 <<< "$out")" = "moved second to $WORK/a path/env" ]
has "$WORK/a path/env" app-1.0 extra-1.0 lib-1.0
expect 1 env remove -y -n second
err_has "an environment that was called second is at $WORK/a path/env: use -p '$WORK/a path/env'"
expect 0 rename -y -p "$WORK/a path/env" third --offline --json
json 'd["success"] is True and d["prefix"] == work + "/root/envs/third"'
has third app-1.0 extra-1.0 lib-1.0
# Without -n and -p, the old name comes first.
expect 0 rename -y third fourth --offline
check [ "$(tail -n 1 <<< "$out")" = 'renamed third to fourth' ]
has fourth app-1.0 extra-1.0 lib-1.0
expect 0 rename -y "$at/fourth" third --offline
expect 2 rename -n third fourth fifth
err_has "unexpected argument 'fifth'" 'gpkg rename -n OLD NEW'
expect 1 rename nowhere fifth
err_has "no environment at $at/nowhere"
has third app-1.0 extra-1.0 lib-1.0
mv "$CHANNEL.away" "$CHANNEL"

# Whatever somebody did there stays: files that name a neighbour, changes to packages' files, modes, notes.
expect 0 create -y -n ml lib
printf '%s\n' "$at/ml/data" "$at/ml2/data" "$at/ml-old" "/mnt$at/ml/x" "-I$at/ml/include file://$at/ml" > "$at/ml/my.conf"
ln -s "$at/ml2/share" "$at/ml/link"
mkdir -m 700 "$at/ml/secret" && echo key > "$at/ml/secret/key"
mkdir -p "$at/ml/empty/er" "$at/ml/conda-meta/notes" && echo mine > "$at/ml/conda-meta/notes/a"
sed -i "s,prefix=,edited=," "$at/ml/etc/lib.conf"
expect 0 rename -y -n ml new
err_has 'etc/lib.conf: changed since it was installed; copied as it is'
check [ "$(cat "$at/new/my.conf")" = "$(printf '%s\n' "$at/new/data" "$at/ml2/data" "$at/ml-old" "/mnt$at/ml/x" "-I$at/new/include file://$at/new")" ]
check [ "$(readlink "$at/new/link")" = "$at/ml2/share" ]
check [ "$(stat -c %a "$at/new/secret")" = 700 ]
check [ -d "$at/new/empty/er" ]
check [ "$(cat "$at/new/conda-meta/notes/a")" = mine ]
check [ "$(cat "$at/new/etc/lib.conf")" = "edited=$at/new" ]

# What is killed leaves the old one or the new one, each whole.
if [ -n "${STRIKE_LIBRARY-}" ]; then
    for at_change in 30 40 45 50 55 60; do
        LD_PRELOAD=$STRIKE_LIBRARY STRIKE_AT=$at_change STRIKE_HOW=before "$GPKG" rename -y -n new newer > /dev/null 2>&1
        "$GPKG" repair -y -n newer > /dev/null 2>&1
        if [ -d "$at/newer" ]; then check [ -e "$at/newer/my.conf" ]; else check [ -e "$at/new/my.conf" ]; fi
        [ -d "$at/new" ] && [ -d "$at/newer" ] && "$GPKG" remove -y --all -n newer > /dev/null 2>&1
        [ -d "$at/new" ] || "$GPKG" rename -y -n newer new > /dev/null 2>&1
    done
fi

# By its link: both names go from the list of environments. What is mounted in it is not emptied.
expect 0 create -y -p "$WORK/real" lib
ln -s "$WORK/real" "$at/linked"
expect 0 remove -y -n linked --all
check [ "$(grep -c "$WORK/real" "$HOME/.conda/environments.txt")" = 0 ]
if [ "$(id -u)" = 0 ]; then
    mkdir "$WORK/volume" "$at/new/volume" && echo data > "$WORK/volume/data"
    if mount --bind "$WORK/volume" "$at/new/volume" 2> /dev/null; then
        expect 1 remove -y -n new --all
        err_has "$at/new/volume: a file system is mounted there"
        umount "$at/new/volume"
        check [ -e "$WORK/volume/data" ]
    fi
fi

# Moved with mv: one warning by each command that uses it, until it is repaired.
expect 0 create -y -n kept lib
mv "$at/kept" "$at/gone"
told="this environment was moved here from $at/kept, and its files still contain that path; to fix it: gpkg repair -n gone"
expect 0 list -n gone
err_is "warning: $told"
expect 0 run -n gone true
err_is "warning: $told"
expect 0 install -n gone extra -d
check [ "$(grep -cF "$told" <<< "$err")" = 1 ]
expect 0 update -n gone --all -d
err_has "$told"
expect 0 activate --shell bash gone
err_is "warning: $told"
expect 0 repair -n gone -y
err_lacks "$told"
expect 0 run -n gone true
err_is ''
mv "$at/gone" "$at/kept"
expect 0 rename -y -n kept anew
expect 0 run -n anew true
err_is ''

# What must not be.
expect 0 create -y -n other lib
expect 1 rename -y -n third other
err_has "$at/other: the environment exists already" 'choose another name, or remove it first: gpkg env remove -n other'
expect 1 rename -y -n base other2
CONDA_PREFIX=$at/third expect 1 rename -y -n third fourth
err_has 'is the active environment'
expect 2 rename -y -p "$at/third" "$at/third/inside"
err_has 'inside the environment'
expect 2 rename -y -n third
expect 2 rename -y -n third 'a b'
expect 1 rename -y -n nowhere fourth
echo '{"message": "hands off"}' > "$at/third/conda-meta/frozen"
expect 1 rename -y -n third fourth
err_has 'hands off'
expect 0 rename -y -n third fourth --override-frozen
expect 1 install -y -n fourth extra --force-reinstall
err_has 'hands off'
has fourth app-1.0 extra-1.0 lib-1.0
clean

finish
