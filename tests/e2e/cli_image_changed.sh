# What images, archives and copies make of an environment in which somebody changed what packages brought.
. "$(dirname "$0")/lib.sh"

mkdir -p "$WORK/payload/share/data" "$WORK/payload/lib" "$WORK/payload/etc"
echo f1 > "$WORK/payload/share/data/f1"
echo f2 > "$WORK/payload/share/data/f2"
echo x > "$WORK/payload/lib/x"
echo conf > "$WORK/payload/etc/conf"
echo a > "$WORK/payload/lib/liba.so.1"
echo b > "$WORK/payload/lib/libb.so"
ln -s liba.so.1 "$WORK/payload/lib/liba.so"
ln -s lib "$WORK/payload/lib64"
package data 1.0 0

at=$GPKG_ROOT_PREFIX/envs
content() {  # DIR: types, names, targets of links and the contents of files
    (cd "$1" && find . \( -path ./conda-meta -o -path ./bin \) -prune -o -printf '%y %P %l ' \
        \( -type f -exec cat {} \; -o -print \) | sort)
}
same_everywhere() {  # NAME: all that is made of it has what it has
    local name=$1 made
    expect 0 image build -n "$name" -o "$WORK/$name.sqfs"
    expect 0 pack -n "$name" -o "$WORK/$name.tar.zst"
    expect 0 create -y -q -n "of-$name" --clone "$name"
    mkdir "$WORK/packed-$name"
    tar -xf "$WORK/$name.tar.zst" -C "$WORK/packed-$name" || fail "tar of $name"
    "$WORK/packed-$name/bin/gpkg-relocate" || fail "gpkg-relocate of $name"
    made=("$WORK/packed-$name" "$at/of-$name")
    if command -v unsquashfs > /dev/null; then
        unsquashfs -q -n -d "$WORK/image-$name" "$WORK/$name.sqfs" > /dev/null || fail "unsquashfs of $name"
        made+=("$WORK/image-$name")
    fi
    for made in "${made[@]}"; do
        [ "$(content "$made")" = "$(content "$at/$name")" ] ||
            fail "$made is not what $name is: $(diff <(content "$at/$name") <(content "$made"))"
    done
}

expect 0 create -y -q -n plain data
same_everywhere plain

# A folder moved off, and a link in its place.
expect 0 create -y -q -n moved data
mkdir "$WORK/scratch" && mv "$at/moved/share/data" "$WORK/scratch/data" && ln -s "$WORK/scratch/data" "$at/moved/share/data"
rm "$WORK/scratch/data/f1" && echo changed > "$WORK/scratch/data/f1"
same_everywhere moved
check [ "$(readlink "$at/of-moved/share/data")" = "$WORK/scratch/data" ]
# To another place inside.
expect 0 create -y -q -n inside data
mv "$at/inside/share/data" "$at/inside/data" && ln -s ../data "$at/inside/share/data"
same_everywhere inside
# A folder in place of a link, of a file; an empty one.
expect 0 create -y -q -n folder data
rm "$at/folder/lib64" "$at/folder/etc/conf" "$at/folder/lib/x"
mkdir "$at/folder/lib64" "$at/folder/etc/conf" "$at/folder/lib/x"
echo mine > "$at/folder/lib64/mine" && echo mine > "$at/folder/etc/conf/mine"
same_everywhere folder
# A link that leads elsewhere, a file in place of a link, a link in place of a file.
expect 0 create -y -q -n links data
ln -sfn libb.so "$at/links/lib/liba.so"
rm "$at/links/lib64" && echo file > "$at/links/lib64"
ln -sfn x "$at/links/lib/libb.so"
same_everywhere links
expect 0 image build -n links -o "$WORK/links.sqfs"
err_has 'lib/liba.so: changed since it was installed; copied as it is'
check [ "$(readlink "$at/of-links/lib/liba.so")" = libb.so ]
# What leaves with a package is told.
expect 0 remove -y -n links data
err_has 'lib/liba.so of data-1.0-0 was changed after it was installed; the change will be lost'

# Variables that are their owner's alone stay so.
(umask 077 && cd "$WORK" && "$GPKG" create -q -y -n priv data > /dev/null && "$GPKG" env config vars set -n priv TOKEN=secret123 > /dev/null)
for form in 'image build -o priv.sqfs' 'pack -o priv.tar.zst' 'image build --format oci -o priv.oci'; do
    expect 0 $form -n priv
    err_has 'the result is readable only by you, like conda-meta/state in it'
done
check [ "$(stat -c %a priv.sqfs priv.tar.zst | tr '\n' ' ')" = '600 600 ' ]
check [ -z "$(grep -rl secret123 priv.oci | xargs stat -c %a | grep -v '^600$')" ]
check [ "$(tar -tvf priv.tar.zst | grep -Ec '^-rw------- .*conda-meta/state$|^-rwx------ .*bin/activate$')" = 2 ]
expect 0 create -y -q -n of-priv --clone priv
check [ "$(stat -c %a "$at/of-priv/conda-meta/state")" = 600 ]
expect 0 image run priv.sqfs -- sh -c 'echo $TOKEN'
out_has secret123
# What all may read is for all.
expect 0 env config vars set -n plain SHOWN=yes
expect 0 image build -n plain -o plain.sqfs
err_is ''
check [ "$(stat -c %a plain.sqfs)" = 644 ]

# An earlier image or archive is replaced, and so is an empty file; no other.
echo precious > train.py
for form in 'image build' pack; do
    expect 1 $form -n plain -o train.py
    err_has 'train.py: exists and is not an earlier' 'choose another file, or remove this one'
done
expect 1 image build --format oci -n plain -o train.py
err_has 'train.py: exists already' 'choose a new folder for -o'
check [ "$(cat train.py)" = precious ]
expect 0 image build -n plain -o plain.sqfs
expect 0 pack -n plain -o plain.tar.zst
expect 0 pack -n plain -o plain.tar.zst
expect 1 pack -n plain -o plain.sqfs
expect 1 image build -n plain -o plain.tar.zst
: > empty
expect 1 image build --format oci -n plain -o empty
expect 0 pack -n plain -o empty

# An edit through a hard link is in the store and in other environments: these keep it, and a lock has no part in it.
expect 0 create -y -q -n linked data
expect 0 create -y -q -n also data
expect 0 lock data -o "$WORK/data.lock"
expect 0 image build --from-lock "$WORK/data.lock" -o locked.sqfs
check [ "$at/linked/etc/conf" -ef "$at/also/etc/conf" ]
echo edited >> "$at/linked/etc/conf"
for form in 'image build -o edited.sqfs' 'pack -o edited.tar.zst'; do
    expect 0 $form -n also
    err_has 'etc/conf: changed through a hard link'
    expect 1 ${form/edited/again} --from-lock "$WORK/data.lock"
    err_has 'etc/conf of data-1.0-0' 'does not match the package' 'gpkg repair --store'
done
expect 0 image run edited.sqfs -- sh -c 'cat $CONDA_PREFIX/etc/conf'
out_has edited
expect 0 repair --store -y
expect 0 image build --from-lock "$WORK/data.lock" -o again.sqfs --as locked
check cmp again.sqfs locked.sqfs
expect 0 image build -n also -o edited.sqfs
err_has 'etc/conf: changed since it was installed; copied as it is'

finish
