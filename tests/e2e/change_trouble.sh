# create and install where the network, the packages, the disk or the output are in trouble
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

# A script named lib, and bytes that do not compress: a download that can be cut.
script bin/lib 'echo lib'
head -c 3000 /dev/urandom | base64 > "$WORK/payload/noise"
package lib 1.0 0
script bin/app 'echo app'
package app 1.0 0 'lib >=1'
at=$GPKG_ROOT_PREFIX/envs
expect 0 create -n e lib
rm -rf "$GPKG_ROOT_PREFIX/pkgs"

control=$WORK/control
mkdir "$control"
python3 "$here/http_server.py" "$WORK" "$control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$control/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")
web="-c $url/channel --override-channels"

# Servers that do not deliver: the URL and the reason, nothing made, nothing left behind.
for mode in '404|not found (HTTP 404)' '500|HTTP 500' 'cut|the transfer was interrupted'; do
    echo "${mode%%|*}" > "$control/mode"
    expect 1 create -n x $web app
    err_has "error: $url/channel/linux-64/"
    err_has "${mode#*|}"
    absent x
done
expect 1 install -n e $web app
has e lib-1.0
echo 404 > "$control/mode"
expect 1 create -n x $web app --json
json 'd["success"] is False and "HTTP 404" in d["error"] and d["exception_name"]'
expect 1 create -n x -c http://127.0.0.1:1/none --override-channels app
err_has 'cannot connect: Connection refused'
expect 1 create -n x -c "$url/nowhere" --override-channels app
err_has "$url/nowhere"
absent x

# Without the network: what is in the store is enough, what is not is named.
echo > "$control/mode"
expect 0 create -n x --download-only $web app
expect 0 create -n web $web app
has web app-1.0 lib-1.0
records web 'r["app"]["url"].startswith("http://127.0.0.1:") and r["app"]["url"].endswith("/channel/linux-64/app-1.0-0.tar.bz2")'
check [ "$(grep -c app "$control/log")" -ge 1 ]
asked=$(wc -l < "$control/log")
expect 0 create -n offline $web --offline app
has offline app-1.0 lib-1.0
check [ "$(wc -l < "$control/log")" = "$asked" ]
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 1 create -n x $web --offline app
err_has '--offline: 2 packages not in the package store:'
err_has 'app-1.0-0.tar.bz2'
check [ "$(wc -l < "$control/log")" = "$asked" ]
expect 1 create -n x -c "$url/other" --override-channels --offline app
absent x

# An index that arrives damaged does not cost the one before.
python3 - "$CHANNEL/linux-64/repodata.json" << 'END'
import os, sys
text = open(sys.argv[1]).read()
open(sys.argv[1] + ".whole", "w").write(text)
open(sys.argv[1], "w").write(text[:len(text) // 2])
os.utime(sys.argv[1], (2_000_000_000, 2_000_000_000))
END
expect 0 solve $web app
err_has 'using the previous copy'
out_has 'app'
expect 0 solve $web --offline app
out_has 'app'
mv "$CHANNEL/linux-64/repodata.json.whole" "$CHANNEL/linux-64/repodata.json"

# A large package is unpacked while it arrives, and is none before its last byte is right.
mkdir -p "$WORK/payload/share"
for name in a b; do head -c 5000000 /dev/urandom > "$WORK/payload/share/$name"; done
package large 1.0 0
unpacked() { find "$GPKG_ROOT_PREFIX/pkgs" -path '*/.tmp-*/package/share/*' -size 5000000c 2> /dev/null | wc -l; }
finished() { find "$GPKG_ROOT_PREFIX/pkgs" -maxdepth 1 -name 'large-*' 2> /dev/null | wc -l; }
echo held > "$control/mode"
"$GPKG" create -y -n early $web large > "$WORK/stdout" 2> "$WORK/stderr" &
child=$!
for _ in $(seq 200); do [ "$(unpacked)" -ge 1 ] && break; sleep 0.05; done
last='gpkg create large, which has not arrived whole'
check [ "$(unpacked)" -ge 1 ]
check [ "$(finished)" = 0 ]
touch "$control/release"
check wait "$child"
check [ "$(finished)" = 1 ]
expect 0 verify -n early
check [ "$(find "$GPKG_ROOT_PREFIX/pkgs" -maxdepth 1 -name '.tmp-*' | wc -l)" = 0 ]
expect 0 remove -y -n early --all
# Cut off, and changed on the way in its last bit: neither is left.
archive=$CHANNEL/linux-64/large-1.0-0.tar.bz2
cp "$archive" "$WORK/large"
for how in cut changed; do
    rm -rf "$GPKG_ROOT_PREFIX/pkgs"
    echo "$how" > "$control/mode"
    [ "$how" = cut ] || python3 -c 'import sys; f = open(sys.argv[1], "r+b"); f.seek(-1, 2); b = f.read(1)[0]; f.seek(-1, 2); f.write(bytes([b ^ 1]))' "$archive"
    expect 1 create -y -n early $web large
    absent early
    check [ "$(find "$GPKG_ROOT_PREFIX/pkgs" -mindepth 1 -maxdepth 1 | wc -l)" = 0 ]
done
err_has 'wrong sha256'
mv "$WORK/large" "$archive"
rm -rf "$WORK/payload/share"

# Asked to stop while packages are on their way.
echo slow > "$control/mode"
for signal in INT TERM HUP; do
    rm -f "$control/log"
    last="gpkg create -n x, stopped by $signal"
    "$GPKG" create -n x $web app > "$WORK/stdout" 2> "$WORK/stderr" &
    child=$!
    for _ in $(seq 200); do [ -e "$control/log" ] && break; sleep 0.05; done
    kill -$signal $child
    wait $child
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
    check [ "$status" = 1 ]
    err_has interrupted
    absent x
done
echo > "$control/mode"
expect 0 create -n after $web app
has after app-1.0 lib-1.0

# Packages that are not what the index promises.
bad=$WORK/bad
rewrite() { # rewrite WORDS: a copy of the channel with its archives and index changed
    rm -rf "$bad" "$GPKG_ROOT_PREFIX/pkgs"
    cp -r "$CHANNEL" "$bad"
    python3 - "$bad/linux-64" "$@" << 'END'
import hashlib, io, json, os, sys, tarfile
folder, what = sys.argv[1:3]
path = os.path.join(folder, "lib-1.0-0.tar.bz2")
index = json.load(open(folder + "/repodata.json"))
record = index["packages"]["lib-1.0-0.tar.bz2"]
data = open(path, "rb").read()
if what in ("truncated", "garbled"):
    data = data[:-60] if what == "truncated" else data[:200] + b"\0" * 50 + data[250:]
elif what != "checksum":
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        def add(name, text, link=None):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            if link:
                member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member, io.BytesIO(text))
        inside = dict(name="lib", version="1.0", build="0", build_number=0, depends=[])
        if what == "other":
            inside["name"] = "evil"
        add("info/index.json", json.dumps(inside).encode())
        add("info/files", b"")
        if what == "link":
            add("way", b"", link="../../../../..")
            add("way/evil", b"x")
        else:
            add("../../../../evil" if what == "parent" else "/tmp/evil", b"x") if what != "other" else None
    data = buffer.getvalue()
open(path, "wb").write(data)
record.update(size=len(data), md5=hashlib.md5(data).hexdigest(), sha256=hashlib.sha256(data).hexdigest())
if what == "checksum":
    record["sha256"] = "0" * 64
json.dump(index, open(folder + "/repodata.json", "w"))
END
}
for damage in 'checksum|wrong sha256: expected 00000' 'truncated|damaged archive' \
    'garbled|damaged archive' 'parent|refused: member "../../../../evil"' 'absolute|refused' \
    'link|refused' 'other|contains evil-1.0-0, not lib-1.0-0'; do
    rewrite "${damage%%|*}"
    expect 1 create -n x -c "$bad" --override-channels app
    err_has "file://$bad/linux-64/lib-1.0-0.tar.bz2: "
    err_lacks .tmp-
    err_has "${damage#*|}"
    absent x
    check [ -z "$(find "$WORK" -name evil)" ]
    check [ -z "$(find "$GPKG_ROOT_PREFIX/pkgs" -name 'lib-*')" ]
done
rewrite truncated
cp "$CHANNEL/linux-64/repodata.json" "$bad/linux-64/"
expect 1 create -n x -c "$bad" --override-channels lib
err_has 'wrong size: expected'

# An output that cannot be written is an error, and never written into a file of the environment.
last='gpkg create -n closed app >&-'
"$GPKG" create -n closed app >&- 2> "$WORK/stderr"
check [ $? = 1 ]
check grep -q 'cannot write to stdout' "$WORK/stderr"
has closed app-1.0 lib-1.0
check [ "$(grep -rl 'to download' "$at/closed" "$GPKG_ROOT_PREFIX/pkgs" | wc -l)" = 0 ]
for words in '' --json --dry-run; do
    last="gpkg create -n full$words app > /dev/full"
    "$GPKG" create -n "full$words" app $words > /dev/full 2> "$WORK/stderr"
    check [ $? = 1 ]
done
"$GPKG" create -n silent app >&- 2>&- <&-
check [ $? = 1 ]
has silent app-1.0 lib-1.0
last='gpkg create | true'
check [ "$("$GPKG" create -n x -d app 2>&1 > >(sleep 0.2; exec true) | wc -l)" -le 1 ]

# A root prefix and a place where this user may not write.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    chmod 755 "$WORK"
    cp "$GPKG" "$WORK/gpkg" # the build folder may be root's alone
    as_nobody() { status=0; setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nowhere "$WORK/gpkg" "$@" > "$WORK/stdout" 2> "$WORK/stderr" || status=$?; last="nobody: gpkg $*" out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr"); check [ "$status" = 1 ]; err_has 'Permission denied'; }
    as_nobody create -n x app
    absent x
    as_nobody create -p "$WORK/x" app
    absent "$WORK/x"
    as_nobody install -n e app
    has e lib-1.0
    as_nobody remove -y -n e --all
    has e lib-1.0
    rm -rf "$GPKG_ROOT_PREFIX/pkgs"
    as_nobody create -n x app
    absent x
else
    echo 'SKIPPED: a user without rights is tested as root only'
fi

# A full disk, below the environment and below the store.
mkdir "$WORK/small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200k tmpfs "$WORK/small" 2> "$WORK/stderr"; then
    trap 'kill $server 2> "$WORK/kill"; umount -l "$WORK/small"; rm -rf "$WORK"' EXIT
    mkdir -p "$WORK/payload"
    head -c 500000 /dev/zero > "$WORK/payload/zeros"
    package big 1.0 0
    expect 0 create -p "$WORK/small/e" lib
    expect 1 create -p "$WORK/small/x" big
    err_has "$WORK/small/x: needs "
    absent "$WORK/small/x"
    expect 1 install -p "$WORK/small/e" big
    has "$WORK/small/e" lib-1.0
    GPKG_CACHE_DIR=$WORK/small/cache GPKG_ROOT_PREFIX=$WORK/small/root expect 1 create -p "$WORK/x" -c "$CHANNEL" --override-channels big
    err_has 'No space left on device'
    absent "$WORK/x"
    check [ -z "$(ls -A "$WORK/small/root/pkgs" 2> "$WORK/stderr" | grep tmp)" ]
    head -c 500000 /dev/zero > "$WORK/small/filler" 2> "$WORK/stderr"
    expect 1 remove -y -p "$WORK/small/e" lib
    expect 1 create -p "$WORK/small/x" lib
    absent "$WORK/small/x"
    has "$WORK/small/e" lib-1.0
    rm "$WORK/small/filler"
    expect 0 remove -y -p "$WORK/small/e" lib
    has "$WORK/small/e"
    # Taking an environment away helps, and needs no room.
    head -c 500000 /dev/zero > "$WORK/small/filler" 2> "$WORK/stderr"
    expect 0 remove -y -p "$WORK/small/e" --all
    absent "$WORK/small/e"
else
    echo 'SKIPPED: a full disk needs a tmpfs, which this user may not mount'
fi

finish
