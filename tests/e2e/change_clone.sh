# gpkg create --clone: another environment of the same kind, with what belongs to no package in it.
. "$(dirname "$0")/lib.sh"

old=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
mkdir -p "$WORK/payload/etc" && echo "prefix=$old" > "$WORK/payload/etc/lib.conf"
PLACEHOLDER=$old package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 lib
index

at=$GPKG_ROOT_PREFIX/envs
expect 0 create -y -n first app
mkdir -p "$at/first/lib/python3.12/site-packages/left_pad" "$at/first/empty/er"
printf '#!%s/bin/python\nimport left_pad\n' "$at/first" > "$at/first/bin/pad" && chmod 755 "$at/first/bin/pad"
touch -d '2020-01-01' "$at/first/lib/python3.12/site-packages/left_pad/__init__.py"
printf 'x\0%s/lib\0' "$at/first" > "$at/first/lib/odd.so"
ln -s "$at/first/bin/pad" "$at/first/bin/absolute"
ln -s pad "$at/first/bin/relative"
mkdir "$at/first/__pycache__" && echo x > "$at/first/__pycache__/pad.cpython-312.pyc"
echo 'lib 1.*' > "$at/first/conda-meta/pinned"
mkfifo "$at/first/pipe"

expect 0 create -y -n second --clone first
err_has 'copied 6 files not owned by a package' "lib/odd.so: copied unchanged: a binary with the path $at/first"
has second app-1.0 lib-1.0
check [ "$(cat "$at/second/etc/lib.conf")" = "prefix=$at/second" ]
check [ "$(head -n 1 "$at/second/bin/pad")" = "#!$at/second/bin/python" ]
check [ "$(stat -c %a "$at/second/bin/pad")" = 755 ]
check [ "$(readlink "$at/second/bin/absolute")" = "$at/second/bin/pad" ]
check [ "$(readlink "$at/second/bin/relative")" = pad ]
check cmp "$at/first/lib/odd.so" "$at/second/lib/odd.so"
check [ "$(stat -c %Y "$at/second/lib/python3.12/site-packages/left_pad/__init__.py")" = "$(date -d 2020-01-01 +%s)" ]
check [ ! -e "$at/second/__pycache__" ]
check [ ! -e "$at/second/pipe" ]
check [ "$(cat "$at/second/conda-meta/pinned")" = 'lib 1.*' ]
# They share nothing.
echo more >> "$at/second/bin/pad"
check [ "$(wc -l < "$at/first/bin/pad")" = 2 ]
expect 0 env export -n second --from-history
out_has '- app'

check [ -d "$at/second/empty/er" ]

# What has nothing of its own.
expect 0 env remove -y -n second
expect 0 create -y -n plain lib
expect 0 create -y -n second --clone plain
err_is ''
expect 2 create -n third --clone first extra
err_has 'clone first, then add packages: gpkg create -n third --clone first && gpkg install -n third extra'
expect 0 create --dry-run -n third --clone first
out_has "copy $at/first to $at/third: 2 packages to link" 'dry run: nothing was changed'
out_lacks '+ app'
absent third
expect 0 create --dry-run -v -n third --clone first
out_has '+ app' '2 to install'

# An environment that is being changed is copied once it is whole.
mkdir -p "$WORK/payload/bin" && printf 'sleep 2; echo linked > "$PREFIX/made"\n' > "$WORK/payload/bin/.slow-post-link.sh"
package slow 1 0
expect 0 create -y -q -n changing lib
"$GPKG" install -y -q -n changing slow > "$WORK/installed" 2>&1 &
for _ in $(seq 100); do [ -e "$at/changing/conda-meta/.gpkg-transaction/untold" ] && break; sleep 0.05; done
expect 0 create -y -n still --clone changing
err_has 'waiting for process'
err_lacks 'is being changed'
wait
has still slow-1 lib-1.0
check [ "$(cat "$at/still/made")" = linked ]

finish
