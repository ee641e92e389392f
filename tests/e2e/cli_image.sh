# Environments as one file: built from the store, the same bytes again, seen at their mount point by one command.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

for program in mksquashfs unsquashfs; do
    command -v $program > /dev/null || { echo "SKIPPED: $program is not installed"; exit 0; }
done

unshare -m true 2> /dev/null || unshare -rm true 2> /dev/null ||
    { echo "SKIPPED: this machine gives no mount namespaces"; exit 0; }

# A python that is the machine's, a module with a program, a binary, files and links that name their prefix.
export PLACEHOLDER=/opt/built/here/placeholder/placeholder/placeholder/placeholder/placeholder/placeholder
script bin/python3.11 "exec '$(command -v python3)' \"\$@\""
package python 3.11.5 0
mkdir -p "$WORK/payload/site-packages/mod" "$WORK/payload/info"
printf 'def main():\n    print("mod from", __file__, {"a", "b", "c"} - {"b"} != {1})\n' > "$WORK/payload/site-packages/mod/__init__.py"
printf '{"noarch": {"type": "python", "entry_points": ["mod = mod:main"]}}' > "$WORK/payload/info/link.json"
SUBDIR=noarch NOARCH=python package mod 1.0 0 'python >=3.11'
script bin/where "cat '$PLACEHOLDER/etc/where.conf'; echo \"\$@\""
mkdir -p "$WORK/payload/etc" "$WORK/payload/lib/deep" "$WORK/payload/etc/conda/activate.d"
echo "prefix=$PLACEHOLDER" > "$WORK/payload/etc/where.conf"
printf 'a\0%s/lib\0b' "$PLACEHOLDER" > "$WORK/payload/lib/deep/binary"
ln -s "$PLACEHOLDER/etc/where.conf" "$WORK/payload/lib/link"
ln -s deep "$WORK/payload/lib/way"
echo 'export ACTIVATED=yes' > "$WORK/payload/etc/conda/activate.d/w.sh"
package where 2.0 0

expect 0 create -n ml mod where
at=$GPKG_ROOT_PREFIX/envs/ml
expect 0 image build -n ml -o "$WORK/one.sqfs" --json
json 'd["packages"] == 3 and d["mount_point"].startswith("/gpkg/ml-") and len(d["sha256"]) == 64'
point=$(python3 -c 'import json,sys; print(json.load(sys.stdin)["mount_point"])' <<< "$out")
expect 0 image show "$WORK/one.sqfs"
out_has "ml for linux-64, 3 packages, mount point $point"
for name in mod where; do check grep -qE "^$name +[0-9.]+ +0$" <<< "$out"; done
expect 0 image show "$WORK/one.sqfs" --json
json 'len(d["package_list"]) == 3 and d["package_list"][0]["name"] and d["package_list"][0]["build_string"]'
check [ "$(ls -A "$WORK" | grep -c '^\.gpkg')" = 0 ]

# The same again, from an environment of another place and age, with another program's umask.
sleep 1
expect 0 create -p "$WORK/elsewhere/ml" mod where
(umask 077; expect 0 image build -p "$WORK/elsewhere/ml" -o "$WORK/two.sqfs")
check cmp "$WORK/one.sqfs" "$WORK/two.sqfs"

# What is in it.
unsquashfs -quiet -no-progress -dest "$WORK/in" "$WORK/one.sqfs" > /dev/null
check [ "$(cat "$WORK/in/etc/where.conf")" = "prefix=$point" ]
check [ "$(head -n 1 "$WORK/in/bin/mod")" = "#!$point/bin/python3.11" ]
check [ "$(readlink "$WORK/in/lib/link")" = "$point/etc/where.conf" ]
check [ "$(stat -c %s "$WORK/in/lib/deep/binary")" = "$(stat -c %s "$at/lib/deep/binary")" ]
check grep -q "$point/lib" "$WORK/in/lib/deep/binary"
check [ -f "$WORK/in/lib/python3.11/site-packages/mod/__pycache__/__init__.cpython-311.pyc" ]
check [ "$(cd "$WORK/in" && find . ! -path './conda-meta/*' ! -name '*.pyc' | sort)" = "$(cd "$at" && find . ! -path './conda-meta/*' ! -name '*.pyc' | sort)" ]
check [ -z "$(grep -rl "$WORK/root\|$WORK/elsewhere" "$WORK/in")" ]
expect 0 list -p "$WORK/in" --json
json '[p["name"] for p in d] == ["mod", "python", "where"]'
expect 0 history -p "$WORK/in" --json

# Inside: its programs, its variables; the command's own words, status and signals. Outside nothing is left.
PYTHONPATH=$point/lib/python3.11/site-packages expect 0 image run "$WORK/one.sqfs" mod
out_has "mod from $point/lib/python3.11/site-packages/mod/__init__.py"
expect 0 image run "$WORK/one.sqfs" -- where a 'b c' --json
out_has "prefix=$point" 'a b c --json'
expect 7 image run "$WORK/one.sqfs" -- sh -c 'exit 7'
expect 0 image run "$WORK/one.sqfs" sh -c 'echo "$ACTIVATED $CONDA_PREFIX $PWD $(id -u)"'
out_is "yes $point $PWD $(id -u)"
expect 143 image run "$WORK/one.sqfs" -- sh -c 'kill $$'
expect 127 image run "$WORK/one.sqfs" nowhere
err_has 'nowhere: command not found'
check [ ! -e "$point" ]
check [ "$(grep -c "$point" /proc/mounts)" = 0 ]
"$GPKG" image run "$WORK/one.sqfs" sleep 61.25 &
for _ in $(seq 100); do
    pgrep -fx 'sleep 61.25' > /dev/null && break
    sleep 0.1
done
kill %1
wait %1
check [ $? = 143 ]
check [ -z "$(pgrep -f "$WORK/one.sqfs")" ]

# Files of no package come along, as they would be there.
echo "mine: $at/etc" > "$at/mine.txt"
mkdir -p "$at/own/empty" && ln -s ../mine.txt "$at/own/link"
expect 0 image build -n ml -o "$WORK/mine.sqfs"
err_has 'includes 2 files not owned by a package'
expect 0 image run "$WORK/mine.sqfs" -- sh -c 'cat "$CONDA_PREFIX/own/link"'
out_is "mine: $point/etc"

# So does what was changed, and what pip has put in place of a package; what was lost comes again.
expect 0 create -n edited mod where
edited=$GPKG_ROOT_PREFIX/envs/edited site=lib/python3.11/site-packages
rm "$edited/etc/where.conf" "$edited/lib/deep/binary" && echo edited > "$edited/etc/where.conf"
expect 0 image build -n edited -o "$WORK/edited.sqfs"
err_has 'etc/where.conf: changed since it was installed; copied as it is' 'includes 1 file not owned by a package'
expect 0 image run "$WORK/edited.sqfs" -- sh -c 'cat "$CONDA_PREFIX/etc/where.conf"; ls "$CONDA_PREFIX/lib/deep"'
out_is "edited
binary"
mkdir -p "$WORK/payload/site-packages/old-1.0.dist-info" "$WORK/payload/site-packages/old"
touch "$WORK/payload/site-packages/old-1.0.dist-info/METADATA" "$WORK/payload/site-packages/old/gone.py"
echo 'v = 1' > "$WORK/payload/site-packages/old/__init__.py"
mkdir -p "$WORK/payload/info" && printf '{"noarch": {"type": "python"}}' > "$WORK/payload/info/link.json"
SUBDIR=noarch NOARCH=python package old 1.0 0 'python >=3.11'
expect 0 create -n piped old
piped=$GPKG_ROOT_PREFIX/envs/piped/$site
rm -r "$piped/old-1.0.dist-info" "$piped/old" && mkdir "$piped/old-2.0.dist-info" "$piped/old"
touch "$piped/old-2.0.dist-info/METADATA" && echo 'v = 2' > "$piped/old/__init__.py"
for how in "image build -n piped -o $WORK/piped.sqfs" 'create -y -n pipe2 --clone piped'; do
    expect 0 $how
    err_has 'old: replaced by pip; files that pip removed are not copied'
done
seen="cd \"\$CONDA_PREFIX/$site\"; find old* -type f ! -name '*.pyc' | sort; cat old/__init__.py; python3.11 -c 'import old; print(old.v)'"
for how in "image run $WORK/piped.sqfs" 'run -n pipe2'; do
    expect 0 $how -- env PYTHONDONTWRITEBYTECODE=1 sh -c "$seen"
    out_is "old-2.0.dist-info/METADATA
old/__init__.py
v = 2
2"
done

# From a lock, without an environment; at a place of one's own.
expect 0 lock where -o "$WORK/my.lock"
expect 0 image build --from-lock "$WORK/my.lock" -o "$WORK/locked.sqfs" --mount-point "$WORK/mounted/here" --as tools
expect 0 image show "$WORK/locked.sqfs" --json
json 'd["name"] == "tools" and d["packages"] == 1'
expect 0 image run "$WORK/locked.sqfs" where
out_has "prefix=$WORK/mounted/here"

# For container tools: the same bytes again, and a real registry takes it.
expect 0 image build -n ml --format oci -o "$WORK/ml.oci" --json
json 'd["mount_point"].startswith("/gpkg/ml-") and len(d["sha256"]) == 64'
expect 0 image build -n ml --format oci -o "$WORK/again.oci"
check diff -r "$WORK/ml.oci" "$WORK/again.oci"
check python3 "$here/oci_layout.py" "$WORK/ml.oci" "${point#/}"
expect 2 image build -n ml --format oci -o "$WORK/ml.oci"
expect 2 image build -n ml --format oci --level 10 -o "$WORK/x.oci"
expect 2 image build -n ml --format docker -o "$WORK/x.oci"
# What is there and no file is not replaced.
mkfifo "$WORK/fifo"
expect 2 image build -n ml -o "$WORK/fifo"
err_has 'exists and is not a regular file'
expect 2 pack -n ml -o "$WORK/fifo"
check [ -p "$WORK/fifo" ]

# As a user without rights: squashfuse or, without it, unpacked; never at a place of somebody else's.
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups unshare -rm true 2> /dev/null; then
    chmod 755 "$WORK" && mkdir -m 777 "$WORK/nobody"
    nobody() { HOME=$WORK/nobody TMPDIR=$WORK/nobody GPKG_ROOT_PREFIX=$WORK/nobody/root \
        setpriv --reuid=65534 --regid=65534 --clear-groups "$GPKG" "$@" > "$WORK/said" 2> "$WORK/told"; }
    nobody image run "$WORK/one.sqfs" -- sh -c 'where; id -u'
    check [ $? = 0 ]
    check [ "$(tr '\n' ' ' < "$WORK/said")" = "prefix=$point  65534 " ]
    check [ -z "$(ls "$WORK/nobody" | grep image)" ]
    [ "$(stat -c %a /dev/fuse)" = 666 ] || check grep -q 'cannot be mounted (.*no access to /dev/fuse.*); unpacking it to ' "$WORK/told"
    if [ "$(stat -c %a /dev/fuse)" != 666 ]; then
        cp "$WORK/one.sqfs" "$WORK/damaged.sqfs"
        printf x | dd of="$WORK/damaged.sqfs" bs=1 seek=$(($(stat -c %s "$WORK/one.sqfs") / 2)) conv=notrunc status=none
        nobody image run "$WORK/damaged.sqfs" -- true
        check [ $? = 1 ]
        check grep -q 'damaged.sqfs: ' "$WORK/told"
        check [ -z "$(ls -A "$WORK/nobody" | grep tmp)" ]
    fi
    # Another user's folder is not mounted over: its owner could put another at its place. Neither can it be seen then.
    mkdir "$WORK/taken" && chown 1234 "$WORK/taken"
    expect 0 image build --from-lock "$WORK/my.lock" -o "$WORK/taken.sqfs" --mount-point "$WORK/taken"
    nobody image run "$WORK/taken.sqfs" where
    check [ $? = 0 ]
    check grep -qx "prefix=$WORK/taken" "$WORK/said"
    check [ "$(stat -c %u "$WORK/taken") $(ls -A "$WORK/taken")" = '1234 ' ]
    # One below a folder of root's, which users cannot make: what is beside it is there and can be written, and it itself no more than before.
    mkdir -p "$WORK/site/beside" && chmod 1777 "$WORK/site/beside" && echo there > "$WORK/site/file"
    expect 0 image build --from-lock "$WORK/my.lock" -o "$WORK/site.sqfs" --mount-point "$WORK/site/ml/1"
    nobody image run "$WORK/site.sqfs" -- sh -c 'where; cat "$0/file"; echo made > "$0/beside/made"; touch "$0/lost" || echo refused' "$WORK/site"
    check [ $? = 0 ]
    check [ "$(tr '\n' ' ' < "$WORK/said")" = "prefix=$WORK/site/ml/1  there refused " ]
    check [ "$(cat "$WORK/site/beside/made") $(cd "$WORK/site" && echo *)" = 'made beside file' ]
fi

# Several commands at one place where everybody makes folders: it is there for each until that ends, whoever made it, and gone with the last.
shared=$WORK/for-all
mkdir -m 1777 "$shared"
expect 0 image build --from-lock "$WORK/my.lock" -o "$WORK/shared.sqfs" --mount-point "$shared/of/ml"
# begin NAME GPKG...: a command inside, which has begun; it goes on until it is told.
begin() {
    "${@:2}" image run "$WORK/shared.sqfs" -- sh -c 'touch "$0.in"; until [ -e "$0.go" ]; do sleep 0.02; done; where; ls -d "$CONDA_PREFIX"' "$shared/$1" \
        > "$WORK/said.$1" 2> "$WORK/told.$1" < /dev/null &
    eval "pid_$1=$!"
    for _ in $(seq 500); do [ -e "$shared/$1.in" ] && break; sleep 0.02; done
    check [ -e "$shared/$1.in" ]
}
# end NAME: it finds its programs to its end.
end() {
    local pid=pid_$1
    touch "$shared/$1.go"
    wait "${!pid}"
    check [ $? = 0 ]
    check [ "$(tr '\n' ' ' < "$WORK/said.$1")" = "prefix=$shared/of/ml  $shared/of/ml " ]
}
as_other() { local id=$1; shift; HOME=$WORK/nobody TMPDIR=$shared/tmp GPKG_ROOT_PREFIX=$WORK/nobody/root setpriv --reuid=$id --regid=$id --clear-groups "$@"; }
mkdir -m 1777 "$shared/tmp"
users=('env')
[ -d "$WORK/nobody" ] && users+=('as_other 65534')
for user in "${users[@]}"; do
    begin first $user "$GPKG"
    begin second $user "$GPKG"
    begin third $user "$GPKG"
    for name in second first third; do
        end $name
        check [ "$([ -e "$shared/of" ] && echo there)" = "$([ $name = third ] || echo there)" ]
    done
    rm -f "$shared"/*.in "$shared"/*.go
    for number in 1 2 3 4 5 6 7 8; do
        $user "$GPKG" image run "$WORK/shared.sqfs" where > "$WORK/said.$number" 2>&1 &
    done
    wait
    check [ "$(cat "$WORK"/said.[1-8] | grep -cx "prefix=$shared/of/ml")" = 8 ]
    $user "$GPKG" image run "$WORK/shared.sqfs" where > /dev/null 2>&1
    check [ ! -e "$shared/of" ]
done
if [ -d "$WORK/nobody" ]; then
    # Folders that a killed command left are in nobody's way, and go with the next one of the same user.
    begin killed as_other 65534 setsid "$GPKG"
    kill -9 $(pgrep -f "image run $WORK/shared[.]sqfs")
    wait
    check [ "$(stat -c %u "$shared/of/ml")" = 65534 ]
    for user in env 'as_other 65533'; do
        install -m 666 /dev/null "$shared/before"
        $user "$GPKG" image run "$WORK/shared.sqfs" -- sh -c 'where; echo written >> "$0/before"; touch "$0/apart"' "$shared" > "$WORK/said" 2> "$WORK/told"
        check [ "$? $(tr '\n' ' ' < "$WORK/said")" = "0 prefix=$shared/of/ml  " ]
        check grep -q "$shared/of/ml: you cannot create or use it, so the command sees a private view of $shared" "$WORK/told"
        check [ "$(cat "$shared/before") $([ -e "$shared/apart" ] || echo none)" = 'written none' ]
        rm "$shared/before"
    done
    as_other 65534 "$GPKG" image run "$WORK/shared.sqfs" where > /dev/null 2>&1
    check [ ! -e "$shared/of" ]
    check [ -z "$(ls -A "$shared/tmp")" ]
    # What root makes others may enter, whatever its umask. What they may not enter is not part of what they see.
    mask=$(umask)
    umask 077
    begin closed env "$GPKG"
    umask "$mask"
    check [ "$(stat -c '%U %a' "$shared/of" "$shared/of/ml" | tr '\n' ' ')" = 'root 1755 root 1755 ' ]
    begin other as_other 65534 "$GPKG"
    check [ -z "$(grep 'is not yours' "$WORK/told.other")" ]
    # Users cannot take away what root made: where one of them is the last, root's next command does.
    end closed
    end other
    check [ "$(find "$shared/of" -printf '%u ')" = 'root root ' ]
    expect 0 image run "$WORK/shared.sqfs" where
    check [ ! -e "$shared/of" ]
    rm -f "$shared"/*.in "$shared"/*.go
    mkdir -m 700 "$shared/of"
    as_other 65534 "$GPKG" image run "$WORK/shared.sqfs" where > "$WORK/said" 2> "$WORK/told"
    check [ "$? $(tr '\n' ' ' < "$WORK/said")" = "0 prefix=$shared/of/ml  " ]
    check [ "$(stat -c '%U %a' "$shared/of") $(ls -A "$shared/of")" = 'root 700 ' ]
    rmdir "$shared/of"
    # All that is beside the image is there, or it is an error: nothing is empty that was not.
    mkdir -p "$WORK/many" && chmod 1777 "$WORK/many" && install -d -o 1234 "$WORK/many/one"
    expect 0 image build --from-lock "$WORK/my.lock" -o "$WORK/many.sqfs" --mount-point "$WORK/many/one/ml"
    install -d -o 1234 -m 700 "$WORK/many/closed" && mkfifo "$WORK/many/fifo" && ln -s nowhere "$WORK/many/link"
    if [ -w /dev/fuse ] && command -v squashfuse > /dev/null; then
        mkdir "$WORK/many/served" && squashfuse "$WORK/one.sqfs" "$WORK/many/served"
    fi
    as_other 65534 "$GPKG" image run "$WORK/many.sqfs" -- sh -c 'ls "$0"; ls "$0/closed"' "$WORK/many" > "$WORK/said" 2> "$WORK/told"
    check [ "$(tr '\n' ' ' < "$WORK/said")" = "$(cd "$WORK/many" && echo *) " ]
    check grep -q "cannot open directory '$WORK/many/closed': Permission denied" "$WORK/told"
    [ ! -d "$WORK/many/served" ] || umount "$WORK/many/served"
    if [ "$(cat /proc/sys/fs/mount-max)" = 100000 ]; then
        (cd "$WORK/many" && seq 100001 | xargs touch)
        as_other 65534 "$GPKG" image run "$WORK/many.sqfs" where > "$WORK/said" 2> "$WORK/told"
        check [ $? = 1 ]
        check grep -q "^error: $WORK/many/.*: cannot be shown next to the image: too many entries to mount" "$WORK/told"
        check grep -q 'hint: build the image with a --mount-point in a folder with few entries' "$WORK/told"
        find "$WORK/many" -delete
    fi
fi

# What its owner alone may read is not for others in what is made; modules of pip's are compiled as others are.
expect 0 create -n own mod
own=$GPKG_ROOT_PREFIX/envs/own site=lib/python3.11/site-packages
echo secret > "$own/secret" && chmod 600 "$own/secret"
mkdir -m 700 "$own/priv" && echo x > "$own/priv/x"
mkdir "$own/$site/piped" && echo 'x = 1' > "$own/$site/piped/__init__.py" && echo 'def def' > "$own/$site/piped/template.py"
for form in 'image build -o own.sqfs' 'pack -o own.tar.zst' 'image build --format oci -o own.oci'; do
    expect 0 $form -n own
    err_has 'the result is readable only by you, like priv and secret in it'
    err_lacks 'not compiled'
done
check [ "$(stat -c %a own.sqfs own.tar.zst "$(ls -S own.oci/blobs/sha256/* | head -n 1)" | tr '\n' ' ')" = '600 600 600 ' ]
unsquashfs -lls own.sqfs > "$WORK/listed"
check grep -q '^-rw------- .*/secret$' "$WORK/listed"
check grep -q '^drwx------ .*/priv$' "$WORK/listed"
check grep -q "/$site/piped/__pycache__/__init__.cpython-311.pyc$" "$WORK/listed"
check [ -z "$(grep template.*pyc "$WORK/listed")" ]
check [ "$(tar -tvf own.tar.zst | grep -c '^-rw------- .*/\?secret$')" = 1 ]
rm -r "$own/secret" "$own/priv"
# Nor what is the group's alone, as umask 027 makes it; what is compiled of it as well.
(umask 027; mkdir "$own/group"; echo x > "$own/group/x"; echo 'x = 1' > "$own/$site/piped/ours.py")
rm -r own.*
for form in 'image build -o own.sqfs' 'pack -o own.tar.zst' 'image build --format oci -o own.oci'; do
    expect 0 $form -n own
    err_has "the result is readable only by you and your group, like group, group/x and $site/piped/ours.py in it"
done
check [ "$(stat -c %a own.sqfs own.tar.zst "$(ls -S own.oci/blobs/sha256/* | head -n 1)" | tr '\n' ' ')" = '640 640 640 ' ]
unsquashfs -lls own.sqfs > "$WORK/listed"
check grep -q '^drwxr-x--- .*/group$' "$WORK/listed"
check grep -q '^-rw-r----- .*/group/x$' "$WORK/listed"
check grep -q "^-rw-r----- .*/$site/piped/__pycache__/ours.cpython-311.pyc$" "$WORK/listed"
check grep -q "^-rw-r--r-- .*/$site/piped/__init__.py$" "$WORK/listed"
check [ "$(tar -tvf own.tar.zst | grep -c '^-rw-r----- .*/\?group/x$')" = 1 ]
rm -r "$own/group" "$own/$site/piped/ours.py"
expect 0 image build -n own -o open.sqfs
check [ "$(stat -c %a open.sqfs)" = 644 ]

# Killed at once, nothing of it goes on; asked to end while it unpacks, it does, and runs nothing.
cat > "$WORK/fake" <<'FAKE'
#!/bin/sh
[ "${0##*/}" = unsquashfs ] || exit 1
touch "$FAKES/begun"
exec sleep 20
FAKE
mkdir "$WORK/fakes"
for name in mount squashfuse squashfuse_ll unsquashfs; do install -m 755 "$WORK/fake" "$WORK/fakes/$name"; done
export FAKES=$WORK/fakes
mkdir "$WORK/scratch"
for signal in INT TERM HUP; do
    rm -f "$FAKES/begun"
    TMPDIR=$WORK/scratch PATH=$FAKES:$PATH python3 - "$GPKG" "$WORK/one.sqfs" $signal > "$WORK/said" 2> "$WORK/told" <<'END'
import os, signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "image", "run", sys.argv[2], "--", "echo", "ran"], stdin=subprocess.DEVNULL)
for _ in range(100):
    if os.path.exists(os.environ["FAKES"] + "/begun"): break
    time.sleep(0.05)
begin = time.time()
run.send_signal(getattr(signal, "SIG" + sys.argv[3]))
status = run.wait()
assert status == 1 and time.time() - begin < 5, (status, time.time() - begin)
END
    check [ $? = 0 ]
    check [ ! -s "$WORK/said" ]
    check grep -q '^error: interrupted' "$WORK/told"
    check [ -z "$(ls -A "$WORK/scratch")" ]
done
if command -v squashfuse > /dev/null && [ -w /dev/fuse ]; then
    rm "$FAKES"/squashfuse* "$FAKES/unsquashfs"
    PATH=$FAKES:$PATH setsid "$GPKG" image run "$WORK/one.sqfs" -- sleep 100 &
    for _ in $(seq 100); do pgrep -f 'squash[f]use.*one.sqfs' > /dev/null && pgrep -x sleep > /dev/null && break; sleep 0.05; done
    kill -9 -- -$!
    for _ in $(seq 40); do pgrep -f 'squash[f]use.*one.sqfs' > /dev/null || break; sleep 0.05; done
    check [ -z "$(pgrep -f 'squash[f]use.*one.sqfs')" ]
fi

# What is no image, and what cannot be made.
expect 2 image build -n ml --as x:y -o "$WORK/x.sqfs"
err_has 'or a line break' 'another name with --as'
expect 2 image build -n ml --as x/y -o "$WORK/x.sqfs"
err_has 'choose another name with --as'
expect 2 image build -n ml --as $'x\xff' -o "$WORK/x.sqfs"
err_has 'is not UTF-8' 'choose another name with --as'
expect 2 image build -n ml --mount-point $'/gpkg/\xff' -o "$WORK/x.sqfs"
err_has 'is not UTF-8' 'choose another path with --mount-point'
python3 - "$WORK/one.sqfs" "$WORK/odd.sqfs" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
assert data.count(b'"packages":3') == 1
open(sys.argv[2], "wb").write(data.replace(b'"packages":3', b'"packages":"3"')[:-2])
END
expect 0 image show "$WORK/odd.sqfs"
out_has ' 0 packages'
expect 1 image run /etc/passwd true
err_has '/etc/passwd: not an image made by gpkg'
expect 1 image show "$WORK/nowhere"
expect 1 image run "$WORK/one" true
err_has "$WORK/one: no such file" "did you mean $WORK/one.sqfs?"
expect 1 image run ml true
err_has 'ml is an environment; to write its image: gpkg image build -n ml'
head -c -100 "$WORK/one.sqfs" > "$WORK/cut.sqfs"
expect 1 image show "$WORK/cut.sqfs"
expect 2 image run "$WORK/one.sqfs"
for folder in "$WORK/new/" "$WORK/new"; do # a folder for the file
    expect 0 image build -n ml -o "$folder"
    out_has "$WORK/new/ml.sqfs: "
done
expect 2 image build -n ml --format oci -o "$WORK/new"
err_has 'choose a new folder for -o'
expect 1 run -p "$WORK/one.sqfs" true
err_has 'an image of an environment' "gpkg image run $WORK/one.sqfs -- python"
expect 2 image build -n ml --from-lock "$WORK/my.lock" -o "$WORK/x.sqfs"
expect 2 image build -n ml -o "$WORK/x.sqfs" --mount-point /
PATH=/nowhere "$GPKG" image build -n ml -o "$WORK/x.sqfs" 2> "$WORK/told"
check [ $? = 1 ]
check grep -q 'mksquashfs is not on PATH' "$WORK/told"
check [ ! -e "$WORK/x.sqfs" ]
finish
