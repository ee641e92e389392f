# An environment as an archive that unpacks anywhere and can be moved, where there is no gpkg.
. "$(dirname "$0")/lib.sh"

export PLACEHOLDER=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/python3.11 "exec '$(command -v python3)' \"\$@\""
package python 3.11.5 0
mkdir -p "$WORK/payload/site-packages/mod" "$WORK/payload/info"
printf 'def main():\n    print("mod from", __file__)\n' > "$WORK/payload/site-packages/mod/__init__.py"
printf 'PREFIX = "%s"\n' "$PLACEHOLDER" > "$WORK/payload/site-packages/mod/config.py"
printf '{"noarch": {"type": "python", "entry_points": ["mod = mod:main"]}}' > "$WORK/payload/info/link.json"
SUBDIR=noarch NOARCH=python package mod 1.0 0 'python >=3.11'
# Scripts, texts, strings in a program, links; characters that mean something to sed and sh.
script bin/placed "cat '$PLACEHOLDER/etc/where.conf'"
mkdir -p "$WORK/payload/etc/conda/activate.d" "$WORK/payload/etc/conda/deactivate.d" "$WORK/payload/etc/conda/env_vars.d" \
    "$WORK/payload/lib" "$WORK/payload/share/a b"
printf 'prefix=%s;again=%s|&\\1.\n' "$PLACEHOLDER" "$PLACEHOLDER" > "$WORK/payload/etc/where.conf"
printf '%s no line break at the end' "$PLACEHOLDER" > "$WORK/payload/share/a b/\$it's"
printf 'a\0%s/lib:%s/lib64\0\377\nb\0\0c\0%s' "$PLACEHOLDER" "$PLACEHOLDER" "$PLACEHOLDER" > "$WORK/payload/lib/binary"
printf '#!%s/bin/python3.11 -I\nprint("by python")\n' "$PLACEHOLDER" > "$WORK/payload/bin/script.py" && chmod 755 "$WORK/payload/bin/script.py"
printf '#!%s/bin/sh -e\necho by sh\n' "$PLACEHOLDER" > "$WORK/payload/bin/by-sh" && chmod 755 "$WORK/payload/bin/by-sh"
ln -s "$PLACEHOLDER/etc/where.conf" "$WORK/payload/lib/link"
ln -s ../etc/where.conf "$WORK/payload/lib/relative"
ln -s /bin/sh "$WORK/payload/bin/sh"
echo 'export ACTIVATED=$CONDA_PREFIX' > "$WORK/payload/etc/conda/activate.d/w.sh"
echo 'unset ACTIVATED' > "$WORK/payload/etc/conda/deactivate.d/w.sh"
echo 'set -gx ACTIVATED $CONDA_PREFIX' > "$WORK/payload/etc/conda/activate.d/w.fish"
echo 'set -e ACTIVATED' > "$WORK/payload/etc/conda/deactivate.d/w.fish"
echo 'setenv ACTIVATED $CONDA_PREFIX:q' > "$WORK/payload/etc/conda/activate.d/w.csh"
echo 'unsetenv ACTIVATED' > "$WORK/payload/etc/conda/deactivate.d/w.csh"
echo '{"FROM_PACKAGE": "it'"'"'s $set"}' > "$WORK/payload/etc/conda/env_vars.d/w.json"
printf '{"OF_PREFIX": "a b:%s/etc:%s"}' "$PLACEHOLDER" "$PLACEHOLDER" > "$WORK/payload/etc/conda/env_vars.d/prefix.json"
package where 2.0 0

expect 0 create -y -q -n ml mod where
at=$GPKG_ROOT_PREFIX/envs/ml
expect 0 env config vars set -n ml "OF_ENV=a 'b' \$c"
echo "mine=$at" > "$at/mine.conf"
expect 0 pack -n ml -o "$WORK/one.tar.zst" --json
json 'd["packages"] == 3 and len(d["sha256"]) == 64 and d["size"] > 1000'
expect 0 pack -n ml -o "$WORK/two.tar.zst"
err_has 'includes 1 file not owned by a package'
check cmp "$WORK/one.tar.zst" "$WORK/two.tar.zst"
out_has '/bin/gpkg-relocate'
# Without an environment.
expect 0 lock -o "$WORK/gpkg.lock" mod where
expect 0 pack --from-lock "$WORK/gpkg.lock" -o "$WORK/locked.tar.zst"
out_has "to unpack: mkdir locked && tar -xf $WORK/locked.tar.zst -C locked && locked/bin/gpkg-relocate"
check [ -s "$WORK/locked.tar.zst" ]

relocated() {  # DIR: everything names it, as it would in an environment of gpkg's
    local dir=$1
    check [ "$(cat "$dir/etc/where.conf")" = "prefix=$dir;again=$dir|&\\1." ]
    check [ "$(cat "$dir/share/a b/\$it's")" = "$dir no line break at the end" ]
    check [ "$(readlink "$dir/lib/link")" = "$dir/etc/where.conf" ]
    check [ "$(readlink "$dir/lib/relative")" = ../etc/where.conf ]
    check [ "$(cat "$dir/mine.conf")" = "mine=$dir" ]
    check [ "$("$dir/bin/placed")" = "prefix=$dir;again=$dir|&\\1." ]
    check [ "$("$dir/bin/script.py")" = 'by python' ]
    check [ "$(PATH=$dir/bin:$PATH "$dir/bin/by-sh")" = 'by sh' ]
    check [ -z "$(grep -rl "$PLACEHOLDER\|/gpkg/prefix-of" "$dir" --exclude-dir=pack --exclude=\*.pyc --exclude=\*.json)" ]
    # The same bytes as gpkg puts there.
    (cd "$WORK" && "$GPKG" create -q -y -p "$WORK/twin" mod where > /dev/null 2>&1)
    python3 - "$dir" "$WORK/twin" << 'END'
import sys
packed, linked = (open(f"{p}/lib/binary", "rb").read() for p in sys.argv[1:])
packed_prefix, linked_prefix = (p.encode() for p in sys.argv[1:])
assert len(packed) == len(linked)
strings = [[s.rstrip(b"\0").replace(p, b"@") for s in data.split(b"\0") if s] for data, p in ((packed, packed_prefix), (linked, linked_prefix))]
assert strings[0] == strings[1], strings
END
    check [ $? = 0 ]
}
mkdir "$WORK/there" && tar -xf "$WORK/one.tar.zst" -C "$WORK/there"
expect 0 list -p "$WORK/there" --json
json '[p["name"] for p in d] == ["mod", "python", "where"]'
chmod 700 "$WORK/there"
"$WORK/there/bin/gpkg-relocate" || fail 'gpkg-relocate'
last=gpkg-relocate out=$("$WORK/there/bin/gpkg-relocate" --help)
out_has 'usage: bin/gpkg-relocate'
check [ "$(stat -c %a "$WORK/there")" = 700 ]
chmod 755 "$WORK/there"
relocated "$WORK/there"
expect 0 verify -p "$WORK/there"
check [ "$(cd "$WORK/there" && find . ! -path './conda-meta/*' ! -name '*.pyc' ! -name gpkg-relocate ! -name activate ! -name 'activate.*sh' | sort)" = \
    "$(cd "$at" && find . ! -path './conda-meta/*' ! -name '*.pyc' | sort)" ]
check [ -e "$WORK/there/lib/python3.11/site-packages/mod/__pycache__/__init__.cpython-311.pyc" ]

# Moved twice: to a path with a space and all that sed and sh heed, and to one so long that no kernel starts its scripts.
odd="$WORK/a b|&\$(x)y"
mv "$WORK/there" "$odd"
"$odd/bin/gpkg-relocate" || fail 'gpkg-relocate, odd'
relocated "$odd"
check [ "$(head -n 1 "$odd/bin/script.py")" = '#!/bin/sh' ]
long=$WORK/$(printf 'long%.0s' $(seq 24))
mv "$odd" "$long"
"$long/bin/gpkg-relocate" || fail 'gpkg-relocate, long'
relocated "$long"
check [ "$(head -n 1 "$long/bin/by-sh")" = '#!/usr/bin/env -S sh -e' ]
# In a folder of somebody else's that one may write to.
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$WORK" && chmod 644 "$WORK/one.tar.zst" && mkdir -m 1777 "$WORK/scratch"
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${nobody[@]}" tar -xf "$WORK/one.tar.zst" --no-overwrite-dir -C "$WORK/scratch" && "${nobody[@]}" "$WORK/scratch/bin/gpkg-relocate" ||
        fail "gpkg-relocate, somebody else's folder"
    relocated "$WORK/scratch"
    check [ "$(stat -c %a "$WORK/scratch")" = 1777 ]
fi
# Once more changes nothing; interrupted, it begins anew.
before=$(stat -c %Y.%i "$long/bin/placed")
"$long/bin/gpkg-relocate"
check [ "$(stat -c %Y.%i "$long/bin/placed")" = "$before" ]
rm "$long/conda-meta/gpkg/pack/place" && : > "$long/bin/placed"
"$long/bin/gpkg-relocate"
relocated "$long"
# Too long for the strings of programs: nothing is changed.
far=$WORK/$(printf 'farther%.0s' $(seq 24))
mv "$long" "$far"
last=gpkg-relocate out=$("$far/bin/gpkg-relocate" 2>&1) && fail 'a path that does not fit'
out_has "but programs in it allow only ${#PLACEHOLDER}"
check [ "$(cat "$far/etc/where.conf")" = "prefix=$long;again=$long|&\\1." ]
mv "$far" "$WORK/back"

# bin/activate does it by itself; deactivate takes all of it back.
cat > "$WORK/use.sh" << 'END'
set -u
PATH=$PATH OF_ENV=before
export OF_ENV
env -0 | sort -z | grep -zv '^_=' > before
. "$1/bin/activate"
placed
mod
printf '%s\n' "$CONDA_PREFIX" "$ACTIVATED" "$FROM_PACKAGE" "$OF_ENV" "$OF_PREFIX"
deactivate
env -0 | sort -z | grep -zv '^_=' > after
cmp before after
END
for shell in bash zsh; do
    command -v $shell > /dev/null || continue
    mv "$WORK/back" "$WORK/in-$shell"
    here=$WORK/in-$shell
    last="$shell use.sh" out=$(PYTHONPATH=$here/lib/python3.11/site-packages $shell "$WORK/use.sh" "$here" 2>&1) status=$?
    checks=$((checks + 1))
    [ $status = 0 ] || fail 'expected exit status 0'
    out_is "prefix=$here;again=$here|&\\1.
mod from $here/lib/python3.11/site-packages/mod/__init__.py
$here
$here
it's \$set
a 'b' \$c
a b:$here/etc:$here"
    mv "$here" "$WORK/back"
done

# The same in fish and tcsh, in a folder whose name has a space.
cat > "$WORK/use.fish" << 'END'
set -gx OF_ENV before
env -0 | sort -z | grep -zv '^_=' > before
source $argv[1]/bin/activate.fish
source $argv[1]/bin/activate.fish
placed
mod
printf '%s\n' $CONDA_PREFIX $ACTIVATED $FROM_PACKAGE $OF_ENV $OF_PREFIX
deactivate
env -0 | sort -z | grep -zv '^_=' > after
cmp before after
END
cat > "$WORK/use.tcsh" << 'END'
setenv OF_ENV before
env -0 | sort -z | grep -zv '^_=' > before
source $1:q/bin/activate.csh
source $1:q/bin/activate.csh
placed
mod
printf '%s\n' $CONDA_PREFIX:q $ACTIVATED:q $FROM_PACKAGE:q $OF_ENV:q $OF_PREFIX:q
deactivate
env -0 | sort -z | grep -zv '^_=' > after
cmp before after
END
for shell in fish tcsh; do
    command -v $shell > /dev/null || continue
    mv "$WORK/back" "$WORK/in $shell"
    here="$WORK/in $shell"
    last="$shell use.$shell" out=$(PYTHONPATH=$here/lib/python3.11/site-packages $shell "$WORK/use.$shell" "$here" 2>&1) status=$?
    checks=$((checks + 1))
    [ $status = 0 ] || fail 'expected exit status 0'
    out_is "prefix=$here;again=$here|&\\1.
mod from $here/lib/python3.11/site-packages/mod/__init__.py
$here
$here
it's \$set
a 'b' \$c
a b:$here/etc:$here"
    mv "$here" "$WORK/back"
done

# Many at once, as the ranks of a job begin: one does it, the others wait. What a killed one left is in nobody's way.
echo "$at/bin" > "$at/--version"
expect 0 pack -n ml -o "$WORK/many.tar.zst"
rm "$at/--version"
unpack() { rm -rf "$WORK/many" && mkdir "$WORK/many" && tar -xf "$WORK/many.tar.zst" -C "$WORK/many"; }
for _ in 1 2 3; do
    unpack
    pids=
    for _ in 1 2 3 4 5 6 7 8; do "$WORK/many/bin/gpkg-relocate" & pids="$pids $!"; done
    for pid in $pids; do wait $pid; check [ $? = 0 ]; done
    relocated "$WORK/many"
    check [ "$(cat "$WORK/many/--version")" = "$WORK/many/bin" ]
done
# The mark of a process that is gone, or that ended and has not been asked for yet.
python3 -c 'import os, time
child = os.fork() or os._exit(0)
print(child, flush=True)
time.sleep(60)' > "$WORK/ended" &
keeper=$!
for _ in $(seq 100); do [ -s "$WORK/ended" ] && break; sleep 0.05; done
for gone in 4194305 "$(cat "$WORK/ended")"; do
    unpack
    ln -s "$(uname -n) $(readlink /proc/self/ns/pid) $gone" "$WORK/many/conda-meta/gpkg/pack/busy"
    pids=
    for _ in 1 2 3 4 5 6; do timeout 20 "$WORK/many/bin/gpkg-relocate" & pids="$pids $!"; done
    for pid in $pids; do wait $pid; check [ $? = 0 ]; done
    relocated "$WORK/many"
    check [ -z "$(ls "$WORK/many/conda-meta/gpkg/pack" | grep busy)" ]
done
kill $keeper
# Killed at any moment, the next one does it anew.
for delay in 0 0.005 0.01 0.02 0.04 0.08; do
    unpack
    "$WORK/many/bin/gpkg-relocate" & "$WORK/many/bin/gpkg-relocate" &
    sleep $delay
    kill -9 $! 2> /dev/null
    wait
    check timeout 20 "$WORK/many/bin/gpkg-relocate"
    relocated "$WORK/many"
done
# Where an archive is unpacked at the very place that its files name.
if mkdir -p "$PLACEHOLDER" 2> /dev/null; then
    tar -xf "$WORK/many.tar.zst" -C "$PLACEHOLDER"
    check timeout 20 "$PLACEHOLDER/bin/gpkg-relocate"
    rm -rf /opt/built
fi
# A killed pack leaves nothing behind that others can read, and nothing once it is made again.
echo secret > "$at/secret" && chmod 600 "$at/secret"
"$GPKG" pack -n ml -o "$WORK/s/killed.tar.zst" 2> "$WORK/told" & child=$!
for _ in $(seq 200); do ls "$WORK"/s/killed.tar.zst.tmp-* > /dev/null 2>&1 && break; sleep 0.01; done
check [ "$(stat -c %a "$WORK"/s/killed.tar.zst.tmp-*)" = 600 ]
kill -9 $child
wait $child 2> /dev/null
expect 0 pack -n ml -o "$WORK/s/killed.tar.zst"
check [ "$(ls "$WORK/s")" = killed.tar.zst ]
rm "$at/secret"

# What was changed where it was unpacked stays so when it is moved, and goes along; scripts of pip's follow.
unpack
mv "$WORK/many" "$WORK/mine" && "$WORK/mine/bin/gpkg-relocate"
expect 0 image build -p "$WORK/mine" -o "$WORK/mine.sqfs"
err_lacks 'changed'
echo "setting=$WORK/mine/etc $WORK/mine2" >> "$WORK/mine/etc/where.conf"
printf more >> "$WORK/mine/lib/binary"
printf '#!%s/bin/python3.11\nprint("by pip")\n' "$WORK/mine" > "$WORK/mine/bin/piped" && chmod 755 "$WORK/mine/bin/piped"
from=$WORK/mine
for to in "$WORK/mined" "$WORK/longer-$(printf 'long%.0s' $(seq 24))" "$WORK/a b c" "$WORK/mined"; do
    mv "$from" "$to"
    from=$to
    last=gpkg-relocate out=$("$to/bin/gpkg-relocate" 2>&1) || fail 'gpkg-relocate, changed'
    check [ "$(tail -n 1 "$to/etc/where.conf")" = "setting=$to/etc $WORK/mine2" ]
    check [ "$(head -n 1 "$to/etc/where.conf")" = "prefix=$to;again=$to|&\\1." ]
    check [ "$("$to/bin/piped")" = 'by pip' ]
    check [ "$(tail -c 4 "$to/lib/binary.changed")" = more ]
done
check [ -z "$(ls "$WORK/mined/conda-meta/gpkg/pack" | grep -E 'kept|changed|scripts|new')" ]
check rm "$WORK/mined/lib/binary.changed"
expect 0 create -y -n of-mined --clone "$WORK/mined"
err_has 'etc/where.conf: changed since it was installed; copied as it is'
copy=$GPKG_ROOT_PREFIX/envs/of-mined
check [ "$(tail -n 1 "$copy/etc/where.conf")" = "setting=$copy/etc $WORK/mine2" ]
check [ "$("$copy/bin/piped")" = 'by pip' ]
# Killed at any moment, too.
for delay in 0.005 0.01 0.02 0.03 0.04 0.06 0.08; do
    echo "$delay=$from" >> "$from/etc/where.conf"
    mv "$from" "$WORK/killed-$delay" && from=$WORK/killed-$delay
    "$from/bin/gpkg-relocate" 2> /dev/null & sleep $delay
    kill -9 $! 2> /dev/null
    wait
    "$from/bin/gpkg-relocate" 2> /dev/null || fail "after it was killed at $delay"
    check [ "$(tail -n 1 "$from/etc/where.conf")" = "$delay=$from" ]
    check [ "$("$from/bin/piped")" = 'by pip' ]
done
mv "$from" "$WORK/mined" && "$WORK/mined/bin/gpkg-relocate"
check [ "$(grep -c "=$WORK/mined$" "$WORK/mined/etc/where.conf")" = 7 ]
sed -i '/^0/d' "$WORK/mined/etc/where.conf"
# The scripts of the archive are not the environment's.
check [ ! -e "$copy/bin/gpkg-relocate" ]
check [ ! -e "$copy/bin/activate" ]
expect 0 pack -p "$WORK/mined" -o "$WORK/mined.tar.zst"
mkdir "$WORK/twice" && tar -xf "$WORK/mined.tar.zst" -C "$WORK/twice" && "$WORK/twice/bin/gpkg-relocate" || fail 'a pack of a pack'
check [ "$(tail -n 1 "$WORK/twice/etc/where.conf")" = "setting=$WORK/twice/etc $WORK/mine2" ]
check [ "$("$WORK/twice/bin/piped")" = 'by pip' ]
check [ "$(cat "$WORK/twice/mine.conf")" = "mine=$WORK/twice" ]

# What gpkg has changed since is not put back to what was packed.
package more 1.0 0
expect 0 install -y -q -p "$WORK/back" more
mv "$WORK/back" "$WORK/moved"
last=gpkg-relocate out=$("$WORK/moved/bin/gpkg-relocate" 2>&1) && fail 'changed since'
out_has 'a package manager changed it' "to adapt it: gpkg repair -p $WORK/moved"
expect 0 run -p "$WORK/moved" true
err_has "to fix it: gpkg repair -p $WORK/moved"

# What is wrong is said.
expect 1 pack -n none -o "$WORK/x.tar.zst"
for end in tar.gz tgz tar.bz2 zip; do
    expect 2 pack -n ml -o "$WORK/x.$end"
    err_has "x.$end: pack writes zstd" "x.tar.zst"
done
expect 2 pack --from-lock "$WORK/gpkg.lock"
err_has 'use -o FILE'
# Without -o the file has the name of the environment.
expect 0 pack -n ml
out_has "$PWD/ml.tar.zst: "
rm ml.tar.zst
expect 0 pack -n ml -o "$WORK/new/" # a folder for the file
out_has "$WORK/new/ml.tar.zst: "
expect 2 pack --from-lock "$WORK/gpkg.lock" -o "$WORK/new"
err_has 'missing output file'
expect 2 pack -n ml --from-lock "$WORK/gpkg.lock" -o "$WORK/x.tar.zst"
check [ ! -e "$WORK/x.tar.zst" ]
check [ "$(ls -A "$WORK" | grep -c '^\.gpkg')" = 0 ]
# Where no file of any package names the prefix.
mkdir -p "$WORK/payload/share" && echo plain > "$WORK/payload/share/plain"
package plain 1.0 0
expect 0 create -y -q -n plain plain
expect 0 pack -n plain -o "$WORK/plain.tar.zst"
mkdir "$WORK/plain" && tar -xf "$WORK/plain.tar.zst" -C "$WORK/plain"
check "$WORK/plain/bin/gpkg-relocate"
expect 0 verify -p "$WORK/plain"
expect 2 create -n unpacked -f "$WORK/plain.tar.zst"
err_has 'plain.tar.zst: an archive, not a list of packages' "tar -xf $WORK/plain.tar.zst -C ml && ml/bin/gpkg-relocate"

finish
