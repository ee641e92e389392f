# Mirrors for places without a network: what they hold, that the answers are the same there, and what verify tells.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

web=$WORK/web
control=$WORK/control
mkdir "$control"
CHANNEL=$web/main
package base 1.0 0
package base 2.0 0
package tool 1.0 cpu_0 'base'
BUILD_NUMBER=1 package tool 1.0 cuda_0 'base <2' '__cuda >=12'
package fast 1.0 0 'base'
package other 1.0 0
mkdir -p "$WORK/payload/info"
echo '{"weak": ["base >=1"]}' > "$WORK/payload/info/run_exports.json"
NOARCH=generic SUBDIR=noarch package note 1.0 0 'base'
# A hotfix: the index says of it what the package does not.
mkdir -p "$WORK/fix/linux-64"
cat > "$WORK/fix/linux-64/patch_instructions.json" <<'JSON'
{"patch_instructions_version": 1, "packages": {"fast-1.0-0.tar.bz2": {"depends": ["base <2"], "license": "MIT"}}}
JSON
expect 0 index "$CHANNEL" --patch "$WORK/fix"
CHANNEL=$web/second
package extra 3.0 0
expect 0 index "$CHANNEL"
CHANNEL=$web/main
python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$WORK"' EXIT
while [ ! -e "$control/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")
printf 'channels: [%s]\n' "$url/main, $url/second" > "$GPKG_ROOT_PREFIX/config.yaml"
unset CONDA_OVERRIDE_CUDA

# The closure for all machines, each package once, and nothing else.
mirror=$WORK/mirror
expect 0 mirror tool fast note --for a100 --for cpu --out "$mirror" --json
json 'd["packages"] == 5 and d["fetched"] == 5 and d["removed"] == 0'
check [ "$(cd "$mirror" && find main second -name '*.tar.bz2' | sort | xargs)" = \
    "main/linux-64/base-1.0-0.tar.bz2 main/linux-64/fast-1.0-0.tar.bz2 main/linux-64/tool-1.0-cpu_0.tar.bz2 main/linux-64/tool-1.0-cuda_0.tar.bz2 main/noarch/note-1.0-0.tar.bz2" ]
for file in repodata.json repodata.json.zst repodata_shards.msgpack.zst run_exports.json; do
    check [ -s "$mirror/main/linux-64/$file" ]
done
check [ -s "$mirror/second/linux-64/repodata.json" ]
expect 0 mirror verify "$mirror"
err_has 'verified: no damage'
err_lacks 'signature'
check grep -qx "  - \"$url/main\"" "$mirror/config.yaml"

# A channel's token goes with its packages, of requests and of locks, and is written nowhere.
mkdir -p "$web/t/secret-token"
mv "$web/second" "$web/t/secret-token/second"
expect 0 mirror extra -c "$url/t/secret-token/second" --override-channels --out "$WORK/with-token"
expect 0 lock extra -c "$url/t/secret-token/second" --override-channels -o token.lock
printf 'channels: [%s]\n' "$url/main, $url/t/secret-token/second" > "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 mirror --lock token.lock --out "$WORK/with-token-too"
check [ -s "$WORK/with-token-too/second/linux-64/extra-3.0-0.tar.bz2" ]
check [ -z "$(grep -rl secret-token "$WORK/with-token" "$WORK/with-token-too" token.lock)" ]
mv "$web/t/secret-token/second" "$web/second"
printf 'channels: [%s]\n' "$url/main, $url/second" > "$GPKG_ROOT_PREFIX/config.yaml"

# The same request has the same answers there, hotfixes included, and nothing is asked of the servers.
plan() { "$GPKG" solve "$@" --json | python3 -c '
import json, sys
print(sorted((r["name"], r["version"], r["build"], r["sha256"], r["channel"], r["url"]) for r in json.load(sys.stdin)["packages"]))'; }
for machine in a100 cpu; do
    there=$(plan tool fast note --for "$machine")
    rm -rf "$GPKG_ROOT_PREFIX/cache"
    here_is=$(GPKG_SYSTEM_CONFIG=$mirror/config.yaml plan tool fast note --for "$machine")
    rm -rf "$GPKG_ROOT_PREFIX/cache"
    check [ -n "$there" ]
    check [ "$there" = "$here_is" ]
done
kill $server
wait $server 2> /dev/null
export GPKG_SYSTEM_CONFIG=$mirror/config.yaml
CONDA_OVERRIDE_CUDA=12.4 expect 0 create -n one tool fast note
CONDA_OVERRIDE_CUDA=12.4 expect 0 create -n two --lock "$mirror/gpkg.lock"
records one 'r["base"]["version"] == "1.0" and r["tool"]["build"] == "cuda_0" and r["tool"]["url"].startswith("http://127.")'
records two 'set(r) == {"base", "fast", "note", "tool"}'
expect 1 create -n three other
err_has 'other' 'a mirror may lack it (mirrored_channels of '
unset GPKG_SYSTEM_CONFIG

# A folder needs no network: --offline reads indexes and packages from it, also where another mirror is on a server.
export GPKG_SYSTEM_CONFIG=$WORK/offline.yaml
from='-c http://channel.invalid/main --override-channels --offline'
site="mirrored_channels: {\"http://channel.invalid/main\": "
for mirrors in "[\"$mirror/main\"]" "[\"http://mirror.invalid/main\", \"file://${mirror// /%20}/main\"]"; do
    echo "$site$mirrors}" > "$GPKG_SYSTEM_CONFIG"
    rm -rf "$GPKG_ROOT_PREFIX/cache" "$GPKG_ROOT_PREFIX/pkgs"
    expect 0 create -y -n offline fast note $from
    err_lacks warning
    out_has 'Channels     http://channel.invalid/main (mirror: '
    records offline 'set(r) == {"base", "fast", "note"} and all(p["channel"] == "http://channel.invalid/main" for p in r.values())'
    expect 0 env remove -y -n offline
done
# Packages that neither the store nor a folder has are named. Servers are not asked.
echo "$site[\"http://mirror.invalid/main\"]}" > "$GPKG_SYSTEM_CONFIG"
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 1 create -y -n offline fast $from
err_has '--offline: 2 packages not in the package store:'
rm -rf "$GPKG_ROOT_PREFIX/cache"
expect 1 create -y -n offline fast $from
err_has '--offline: http://channel.invalid/main/linux-64 is not in the cache'
unset GPKG_SYSTEM_CONFIG

# What verify tells.
cp -r "$mirror" "$WORK/copy"
copy=$WORK/copy
rm "$copy/main/noarch/note-1.0-0.tar.bz2"
printf x >> "$copy/main/linux-64/repodata.json"
: > "$copy/main/linux-64/more-1.0-0.tar.bz2"
expect 1 mirror verify "$copy"
out_has 'main/noarch/note-1.0-0.tar.bz2: missing' 'main/linux-64/repodata.json: different from the manifest' \
    'main/linux-64/more-1.0-0.tar.bz2: not in the manifest'
err_has "error: $copy: 3 files missing, different or unknown" 'hint: to repair it, run the gpkg mirror command'
expect 1 mirror verify "$copy" --json
json 'not d["success"] and len(d["missing"]) == len(d["changed"]) == len(d["unknown"]) == 1'
expect 1 mirror verify "$WORK/nothing"
err_has "$WORK/nothing: no such folder"
expect 1 mirror verify "$CHANNEL"
err_has "$CHANNEL: not a mirror: it has no manifest.json"
echo '{"signed": "{}", "signatures": []}' > "$copy/manifest.json"
expect 1 mirror verify "$copy"
err_has 'not a mirror manifest'

# From a lock: only the classes that are named. What is not wanted any more goes; what is right stays. A key signs it.
expect 0 keys generate "$WORK/key"
key=$out
cp "$mirror/gpkg.lock" "$mirror/manifest.json" "$WORK"
expect 1 mirror --lock "$WORK/gpkg.lock" --for h100 --out "$mirror"
err_has "no class 'h100'" 'a100 and cpu'
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --sign-key "$WORK/key" --offline \
    --delta "$WORK/manifest.json" --delta-out "$WORK/delta"
out_has 'packages' '0 downloaded, '
check [ ! -e "$mirror/main/linux-64/tool-1.0-cuda_0.tar.bz2" ]
out_has "signed with $key"
expect 0 mirror verify "$mirror" --key "$key"
err_has 'signature verified'
err_lacks 'signature not checked'
expect 1 create -n x -c "$mirror" --override-channels tool
err_has 'hint: it is a mirror; its channel' "GPKG_SYSTEM_CONFIG=$mirror/config.yaml"
expect 2 mirror -n ml --out "$WORK/other"
err_has 'gpkg mirror -f ml.yml'
expect 0 mirror verify "$mirror"
err_has 'signature not checked; to check it: --key PUBLIC-KEY'
expect 1 mirror verify "$mirror" --key "${key//[0-4]/5}"
err_has 'manifest.json'
# The delta has no package: all were there. Laid over the mirror of then it gives the one of now, but for what went.
check [ -z "$(find "$WORK/delta" -name '*.tar.bz2')" ]
check [ -f "$WORK/delta/manifest.json" ]

# What somebody laid into it is neither signed nor lost; one that was signed is not quietly so no more.
echo evil > "$mirror/main/linux-64/evil.txt"
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --sign-key "$WORK/key"
err_has 'main/linux-64/evil.txt: not part of the mirror'
expect 1 mirror verify "$mirror" --key "$key"
out_has evil.txt
rm "$mirror/main/linux-64/evil.txt"
expect 0 mirror verify "$mirror" --key "$key"
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror"
err_has 'was signed before but not by this run'
expect 1 mirror verify "$mirror" --key "$key"
err_has 'manifest.json: not signed'

# One run at a time; a delta's folder is looked at before anything is changed.
echo '{"process": "none"}' > "$WORK/busy"
cp "$WORK/busy" "$mirror/.gpkg-mirror-busy"
expect 1 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror"
err_has 'in use by' "remove $mirror/.gpkg-mirror-busy"
rm "$mirror/.gpkg-mirror-busy"
expect 2 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --delta "$WORK/manifest.json" --delta-out "$mirror/d"
expect 1 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --delta "$WORK/manifest.json" --delta-out "$WORK/delta"
err_has 'exists and is not empty'
expect 0 mirror verify "$mirror"

# Folders that are something else, and words that do not go together.
mkdir "$WORK/full"
: > "$WORK/full/mine"
expect 1 mirror --lock "$WORK/gpkg.lock" --out "$WORK/full"
err_has 'not empty and not a gpkg mirror'
check [ "$(ls -A "$WORK/full")" = mine ]
expect 2 mirror tool
expect 2 mirror --lock "$WORK/gpkg.lock" tool --out "$WORK/x"
expect 2 mirror tool --out "$WORK/x" --delta "$WORK/manifest.json"
expect 1 mirror --lock "$WORK/gpkg.lock" --out "$WORK/x" --offline
err_has '--offline'

# Two channels whose URLs end alike.
new_channel() { CHANNEL=$1 && rm -f "$WORK"/records.* "$WORK"/v3.*; }
new_channel "$WORK/a/main"
package base 1.0 0
package base 2.0 0
package tool 1.0 0 base
SUBDIR=linux-aarch64 package tool 1.0 0
new_channel "$WORK/b/main"
package extra 1.0 0
package rest 1.0 0
a=file://$WORK/a/main b=file://$WORK/b/main
# mirrored CHANNELS STATUS WORDS...: the mirror of what these channels have for the words.
m=$WORK/again
mirrored() {
    printf 'channels: [%s]\n' "$1" > "$GPKG_ROOT_PREFIX/config.yaml"
    expect "$2" mirror "${@:3}" --out "$m"
}
files() { (cd "$m" && find . -type f ! -name '.*' | sed 's,^./,,' | sort | xargs); }
packages() { (cd "$m" && find . -name '*.tar.bz2' | sed 's,^./,,' | sort | xargs); }
good() { expect 0 mirror verify "$m" "$@"; }

# A folder that was given to a channel stays that channel's. What is not asked for goes: channels, subdirs, their
# indexes and folders; packages are counted.
mirrored "$a" 0 tool --for aarch64 --for cpu
check [ -d "$m/main/linux-aarch64" ]
mirrored "$a" 0 tool --json
json 'd["removed"] == 1'
check [ ! -e "$m/main/linux-aarch64" ]
good
mirrored "$b" 0 extra --json
json 'd["removed"] == 2 and d["channels"] == {"main-2": "file://" + work + "/b/main"}'
check [ "$(packages)" = main-2/linux-64/extra-1.0-0.tar.bz2 ]
check [ ! -e "$m/main" ]
check [ "$(grep -c '"\./' "$m/config.yaml")" = 1 ]
check grep -q '/b/main": \["./main-2"\]' "$m/config.yaml"
good
mirrored "$b, $a" 0 base
check [ "$(packages)" = main/linux-64/base-2.0-0.tar.bz2 ]
check grep -q '/a/main": \["./main"\]' "$m/config.yaml"
good

# A run that fails takes nothing away that the index names. The next one knows what was there before.
mirrored "$a" 0 base=1 --sign-key "$WORK/key"
echo evil > "$m/evil.txt"
cp "$WORK/a/main/linux-64/tool-1.0-0.tar.bz2" "$m/main/linux-64/"
mv "$m/main/linux-64/repodata.json" "$WORK/was"
mkdir -p "$m/main/linux-64/repodata.json/in-the-way"
mirrored "$a" 1 base=2 --sign-key "$WORK/key"
rm -r "$m/main/linux-64/repodata.json"
mv "$WORK/was" "$m/main/linux-64/repodata.json"
check [ -e "$m/main/linux-64/base-1.0-0.tar.bz2" ]
expect 1 mirror verify "$m"
err_has 'manifest.json: missing: gpkg mirror is running or was interrupted'
: > "$m/gpkg.lock.tmp-1a2b3c4d"
: > "$m/main/linux-64/base-2.0-0.tar.bz2.part-1a2b3c4d"
mirrored "$a" 0 base=2 --delta "$m/manifest.json" --delta-out "$WORK/delta2"
err_has 'was signed before but not by this run' 'evil.txt: not part of the mirror' 'tool-1.0-0.tar.bz2: not part of the mirror'
err_lacks 1a2b3c4d
check [ "$(packages)" = 'main/linux-64/base-2.0-0.tar.bz2 main/linux-64/tool-1.0-0.tar.bz2' ]
check [ -e "$WORK/delta2/main/linux-64/base-2.0-0.tar.bz2" ]
check [ "$(grep -cE 'evil|tool' "$m/manifest.json" "$m/main/linux-64/repodata.json" | cut -d: -f2 | xargs)" = '0 0' ]
expect 1 mirror verify "$m" --json
json 'sorted(d["unknown"]) == ["evil.txt", "main/linux-64/tool-1.0-0.tar.bz2"] and not d["missing"] + d["changed"]'
rm "$m/evil.txt" "$m/main/linux-64/tool-1.0-0.tar.bz2"
good

# What a run that did not end has left goes when it is not wanted: packages, and a channel with its index.
mkdir -p "$m/main-2/linux-64"
rm "$m/config.yaml"
mkdir -p "$m/config.yaml/in-the-way"
mirrored "$a, $b" 1 tool extra
check [ -s "$m/main-2/linux-64/repodata.json" ]
rmdir -p "$m/config.yaml/in-the-way" 2> /dev/null
mirrored "$a" 0 base=2
err_lacks 'not part of the mirror'
check [ "$(packages)" = main/linux-64/base-2.0-0.tar.bz2 ]
check [ ! -e "$m/main-2" ]
good
check [ -z "$(find "$m" -name '.manifest*')" ]

# The same of a mirror that never was finished: what else lies there is not taken for its own.
m=$WORK/first
mkdir "$m"
: > "$m/.gpkg-mirror.tmp-1a2b3c4d"
mv "$WORK/b/main/linux-64/extra-1.0-0.tar.bz2" "$WORK/was"
mirrored "$b" 1 extra rest
mv "$WORK/was" "$WORK/b/main/linux-64/extra-1.0-0.tar.bz2"
echo evil > "$m/main/linux-64/evil.txt"
mirrored "$b" 0 extra
err_has 'evil.txt: not part of the mirror'
check [ "$(packages)" = main/linux-64/extra-1.0-0.tar.bz2 ]
rm "$m/main/linux-64/evil.txt"
good

# A delta makes the mirror of then, elsewhere, the one of now; its manifest is what it was there.
m=$WORK/near far=$WORK/far
mirrored "$a, $b" 0 tool base=2 extra --sign-key "$WORK/key"
cp -r "$m" "$far"
mirrored "$a" 0 base=1 --sign-key "$WORK/key" --delta "$m/manifest.json" --delta-out "$WORK/delta3"
delta=$WORK/delta3
check [ "$(cd "$delta" && find . -name '*.tar.bz2')" = ./main/linux-64/base-1.0-0.tar.bz2 ]
state() { (cd "$far" && find . -type f ! -name .gpkg-index -exec sha256sum {} + | sort); }
was=$(state)
# What is refused changes nothing: other keys, damage, not all of it, another mirror, one that lacks what stays.
expect 1 mirror apply "$delta" "$far" --key "${key//[0-4]/5}"
err_has 'manifest.json'
cp -r "$delta" "$WORK/bad"
printf x >> "$WORK/bad/main/linux-64/base-1.0-0.tar.bz2"
expect 1 mirror apply "$WORK/bad" "$far"
err_has 'base-1.0-0.tar.bz2: different from the delta' 'copy the delta again'
rm "$WORK/bad/main/linux-64/base-1.0-0.tar.bz2"
expect 1 mirror apply "$WORK/bad" "$far"
err_has 'base-1.0-0.tar.bz2'
rm "$WORK/bad/delta.json"
expect 1 mirror apply "$WORK/bad" "$far"
err_has 'delta.json: missing'
expect 1 mirror apply "$WORK/delta2" "$far"
err_has 'made for another version of the mirror' "with --delta $far/manifest.json"
expect 1 mirror apply "$delta" "$WORK/full"
err_has 'not a mirror'
check [ "$(ls -A "$WORK/full")" = mine ]
cp "$WORK/busy" "$far/.gpkg-mirror-busy"
expect 1 mirror apply "$delta" "$far"
err_has 'in use by'
rm "$far/.gpkg-mirror-busy"
check [ "$(state)" = "$was" ]
echo mine > "$far/mine.txt"
expect 0 mirror apply "$delta" "$far" --key "$key" --json
json 'd["removed"] == 3 and d["files"] > 1'
check [ "$(cat "$far/mine.txt")" = mine ]
rm "$far/mine.txt"
expect 0 mirror verify "$far" --key "$key"
check [ "$(cd "$far" && find . -name '*.tar.bz2')" = ./main/linux-64/base-1.0-0.tar.bz2 ]
check [ ! -e "$far/main-2" ]
check [ -z "$(find "$far" -name '.manifest*' -o -name '.gpkg-delta')" ]
expect 0 mirror apply "$delta" "$far"
out_has '0 files'
# One that was cut off when the new manifest was there is ended by the next, whatever that lays over it.
cp "$WORK/a/main/linux-64/tool-1.0-0.tar.bz2" "$far/main/linux-64/"
python3 - "$far" << 'PYTHON'
import json, sys
far = sys.argv[1]
text = json.loads(json.load(open(far + "/manifest.json"))["signed"])
text["files"]["main/linux-64/tool-1.0-0.tar.bz2"] = {"size": 1, "sha256": "0" * 64}
json.dump({"signed": json.dumps(text), "signatures": []}, open(far + "/.manifest.before", "w"))
PYTHON
mkdir "$far/.gpkg-delta"
cp -r "$far" "$WORK/far2"
expect 0 mirror apply "$delta" "$far"
out_has '1 package removed'
expect 0 mirror verify "$far" --key "$key"
mirrored "$a" 0 base=2 --sign-key "$WORK/key" --delta "$m/manifest.json" --delta-out "$WORK/delta4"
expect 0 mirror apply "$WORK/delta4" "$WORK/far2"
out_has '2 packages removed'
expect 0 mirror verify "$WORK/far2" --key "$key"
check [ ! -e "$WORK/far2/.gpkg-delta" ]
# Where nothing but the signature is another, that is carried over too.
mirrored "$a" 0 base=2 --delta "$m/manifest.json" --delta-out "$WORK/delta5"
expect 0 mirror apply "$WORK/delta5" "$WORK/far2"
out_has '0 files'
expect 1 mirror verify "$WORK/far2" --key "$key"
err_has 'manifest.json: not signed'
# Where a run of gpkg mirror was, that is to be ended first.
mv "$far/manifest.json" "$far/.manifest.before"
expect 1 mirror apply "$WORK/delta4" "$far"
err_has 'is running or was interrupted'

# Without a manifest that can be read nobody knows what is the mirror's.
cp "$m/manifest.json" "$WORK/whole"
echo '{' > "$m/manifest.json"
mirrored "$a" 1 base=1
err_has 'manifest.json' "if it is damaged, remove $m/manifest.json"
cp "$WORK/whole" "$m/manifest.json"

# A channel that is a folder: where its mirror is, the folder need not be.
expect 0 mirror base=2 -c "$a" --override-channels --out "$WORK/stands_in"
mv "$WORK/a" "$WORK/away"
rm -rf "$GPKG_ROOT_PREFIX/cache"
GPKG_SYSTEM_CONFIG=$WORK/stands_in/config.yaml expect 0 solve base -c "$a" --override-channels --json
json '[r["version"] for r in d["packages"]] == ["2.0"] and d["packages"][0]["channel"] == "file://" + work + "/a/main"'
GPKG_SYSTEM_CONFIG=$WORK/stands_in/config.yaml expect 0 create -y -q -n away base -c "$a" --override-channels
mv "$WORK/away" "$WORK/a"
# One that is called as the mirror's own files are.
mkdir "$WORK/odd"
cp -r "$WORK/a/main" "$WORK/odd/manifest.json"
expect 0 mirror base=2 -c "file://$WORK/odd/manifest.json" --override-channels --out "$WORK/named"
expect 0 mirror verify "$WORK/named"
check [ -d "$WORK/named/manifest.json-2/linux-64" ]

# A link leads into the mirror as well.
ln -s near "$WORK/link"
expect 2 mirror base=1 --out "$m" --delta "$m/manifest.json" --delta-out "$WORK/link/d"
err_has 'inside the mirror'
check [ ! -e "$m/d" ]
finish
