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
err_has 'all as they are to be' 'was not looked at'

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
err_has 'other'
unset GPKG_SYSTEM_CONFIG

# What verify tells.
cp -r "$mirror" "$WORK/copy"
copy=$WORK/copy
rm "$copy/main/noarch/note-1.0-0.tar.bz2"
printf x >> "$copy/main/linux-64/repodata.json"
: > "$copy/main/linux-64/more-1.0-0.tar.bz2"
expect 1 mirror verify "$copy"
out_has 'main/noarch/note-1.0-0.tar.bz2: is missing' 'main/linux-64/repodata.json: is not what the manifest says' \
    'main/linux-64/more-1.0-0.tar.bz2: the manifest says nothing of it'
expect 1 mirror verify "$copy" --json
json 'not d["success"] and len(d["missing"]) == len(d["changed"]) == len(d["unknown"]) == 1'
expect 1 mirror verify "$WORK/nothing"
echo '{"signed": "{}", "signatures": []}' > "$copy/manifest.json"
expect 1 mirror verify "$copy"
err_has 'is no manifest of a mirror'

# From a lock: only the classes that are named. What is not wanted any more goes; what is right stays. A key signs it.
expect 0 keys generate "$WORK/key"
key=$out
cp "$mirror/gpkg.lock" "$mirror/manifest.json" "$WORK"
expect 1 mirror --lock "$WORK/gpkg.lock" --for h100 --out "$mirror"
err_has 'has no class h100' 'a100 and cpu'
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --sign-key "$WORK/key" --offline \
    --delta "$WORK/manifest.json" --delta-out "$WORK/delta"
out_has 'packages' '0 fetched, '
check [ ! -e "$mirror/main/linux-64/tool-1.0-cuda_0.tar.bz2" ]
expect 0 mirror verify "$mirror" --key "$key"
err_lacks 'not looked at'
expect 1 mirror verify "$mirror" --key "${key//[0-4]/5}"
err_has 'manifest.json'
# The delta has no package: all were there. Laid over the mirror of then it gives the one of now, but for what went.
check [ -z "$(find "$WORK/delta" -name '*.tar.bz2')" ]
check [ -f "$WORK/delta/manifest.json" ]

# What somebody laid into it is neither signed nor lost; one that was signed is not quietly so no more.
echo evil > "$mirror/main/linux-64/evil.txt"
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --sign-key "$WORK/key"
err_has 'main/linux-64/evil.txt: is not of the mirror'
expect 1 mirror verify "$mirror" --key "$key"
out_has evil.txt
rm "$mirror/main/linux-64/evil.txt"
expect 0 mirror verify "$mirror" --key "$key"
expect 0 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror"
err_has 'was signed, and is not any more'
expect 1 mirror verify "$mirror" --key "$key"
err_has 'is not signed'

# One run at a time; a delta's folder is looked at before anything is changed.
echo '{"process": "none"}' > "$WORK/busy"
cp "$WORK/busy" "$mirror/.gpkg-mirror-busy"
expect 1 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror"
err_has 'is at work on it' "remove $mirror/.gpkg-mirror-busy"
rm "$mirror/.gpkg-mirror-busy"
expect 2 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --delta "$WORK/manifest.json" --delta-out "$mirror/d"
expect 1 mirror --lock "$WORK/gpkg.lock" --for cpu --out "$mirror" --delta "$WORK/manifest.json" --delta-out "$WORK/delta"
err_has 'is there and not empty'
expect 0 mirror verify "$mirror"

# Folders that are something else, and words that do not go together.
mkdir "$WORK/full"
: > "$WORK/full/mine"
expect 1 mirror --lock "$WORK/gpkg.lock" --out "$WORK/full"
err_has 'holds something that is no mirror'
check [ "$(ls -A "$WORK/full")" = mine ]
expect 2 mirror tool
expect 2 mirror --lock "$WORK/gpkg.lock" tool --out "$WORK/x"
expect 2 mirror tool --out "$WORK/x" --delta "$WORK/manifest.json"
expect 1 mirror --lock "$WORK/gpkg.lock" --out "$WORK/x" --offline
err_has '--offline'
finish
