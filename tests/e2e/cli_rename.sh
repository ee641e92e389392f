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
out_has "$at/first becomes $at/second, 2 packages are linked anew"
absent second
expect 0 rename -y -n first second
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
has "$WORK/a path/env" app-1.0 extra-1.0 lib-1.0
expect 0 rename -y -p "$WORK/a path/env" third --offline --json
json 'd["success"] is True and d["prefix"] == work + "/root/envs/third"'
has third app-1.0 extra-1.0 lib-1.0
mv "$CHANNEL.away" "$CHANNEL"

# What must not be.
expect 0 create -y -n other lib
expect 1 rename -y -n third other
err_has "$at/other: the environment exists already"
expect 1 rename -y -n base other2
CONDA_PREFIX=$at/third expect 1 rename -y -n third fourth
err_has 'is the active environment'
expect 2 rename -y -p "$at/third" "$at/third/inside"
err_has 'is inside'
expect 2 rename -y -n third
expect 2 rename -y -n third 'a b'
expect 1 rename -y -n nowhere fourth
echo '{"message": "hands off"}' > "$at/third/conda-meta/frozen"
expect 1 rename -y -n third fourth
err_has 'hands off'
expect 0 rename -y -n third fourth --override-frozen
expect 1 install -y -n fourth extra
err_has 'hands off'
has fourth app-1.0 extra-1.0 lib-1.0
clean

finish
