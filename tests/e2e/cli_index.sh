# gpkg index: what it writes can be solved from, and hotfixes hold.
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

web=$WORK/web
control=$WORK/control
CHANNEL=$web/main
mkdir -p "$control"

package lib 1.0 0
package lib 2.0 0
package app 1.0 0 'lib >=1' 'tool'
package lonely 1.0 0
SUBDIR=noarch package tool 1.0 0
EXTRAS='"gui":["lonely"]' package extra 1.0 0 'lib'
many() { for i in $(seq "$1" "$2"); do package "many$i" 1 0; done; }
many 1 5
rm "$CHANNEL"/*/repodata.json

expect 0 index "$CHANNEL"
out_has 'linux-64: 10 packages, 10 new or changed'
out_has 'noarch: 1 package, 1 new or changed'
expect 0 index "$CHANNEL" --json
json 'd["subdirs"]["linux-64"] == {"packages": 10, "read": 0, "shards": 9, "shards_written": 0,
    "shards_removed": 0} and d["success"] and d["disagreements"] == [] and d["patches"] == []'
check [ "$(ls "$CHANNEL/linux-64/shards" | wc -l)" = 9 ]
python3 - "$CHANNEL" <<'END' || fail 'channeldata.json'
import json, sys
data = json.load(open(sys.argv[1] + "/channeldata.json"))
assert data["subdirs"] == ["linux-64", "noarch"]
assert data["packages"]["lib"]["version"] == "2.0" and data["packages"]["lib"]["subdirs"] == ["linux-64"]
END

python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$control/port" ] && break; sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")

# Solved from the shards alone. A channel that small is fetched whole where it can be.
mv "$CHANNEL" "$web/whole"
cp -a "$web/whole" "$CHANNEL"
rm "$CHANNEL"/*/repodata.json* "$web"/whole/*/repodata_shards.msgpack.zst
for words in 'app' 'lib<2 app' 'extra[extras=[gui]]' 'lonely'; do
    expect 0 create --dry-run --json -n x -c "$url/main" --override-channels $words
    shards=$out
    json 'len(d["actions"]["LINK"]) > 0'
    expect 0 create --dry-run --json -n x -c "$url/whole" --override-channels $words
    check [ "${out//whole/main}" = "$shards" ]
done
check grep -q '^200 /main/linux-64/shards/' "$control/answers"
check [ "$(grep -c 'whole.*shards/' "$control/answers")" = 0 ]
expect 0 create -y -n a -c "$url/main" --override-channels app
has a app-1.0 lib-2.0 tool-1.0

# A package more: one shard more, and the old ones stay for those who hold the old index.
cp "$web"/whole/linux-64/repodata.json* "$CHANNEL/linux-64/"
cp "$web"/whole/noarch/repodata.json* "$CHANNEL/noarch/"
package lib 3.0 0
rm "$CHANNEL/linux-64/repodata.json"
expect 0 index "$CHANNEL"
out_has 'linux-64: 11 packages, 1 new or changed'
check [ "$(ls "$CHANNEL/linux-64/shards" | wc -l)" = 10 ]
cp -a "$CHANNEL" "$web/before"

# Hotfixes.
mkdir -p "$WORK/fixes/linux-64"
printf '{"patch_instructions_version":1,"packages":{"app-1.0-0.tar.bz2":{"depends":["lib <3"]}},
  "revoke":["lonely-1.0-0.tar.bz2"],"remove":["many1-1-0.tar.bz2","gone-1-0.tar.bz2"]}' \
    > "$WORK/fixes/linux-64/patch_instructions.json"
expect 0 index "$CHANNEL" --patch "$WORK/fixes"
out_has 'linux-64: 10 packages, none new' 'linux-64: hotfixes applied to 3 packages'
err_has "$CHANNEL/linux-64/patch_instructions.json: names packages that the channel does not have: gone-1-0.tar.bz2"
for source in "$CHANNEL" "file://$CHANNEL"; do
    expect 0 create --dry-run --json -n x -c "$source" --override-channels app
    json '{r["name"]: r["version"] for r in d["actions"]["LINK"]} == {"app": "1.0", "lib": "2.0"}'
    expect 1 create --dry-run -n x -c "$source" --override-channels lonely
    err_has 'package_has_been_revoked'
    expect 1 create --dry-run -n x -c "$source" --override-channels many1
done
expect 0 index "$CHANNEL"
out_has 'linux-64: 10 packages, none new'
expect 0 index "$CHANNEL" --no-patch
for file in repodata.json repodata.json.zst repodata_shards.msgpack.zst run_exports.json; do
    check cmp "$CHANNEL/linux-64/$file" "$web/before/linux-64/$file"
done
check [ ! -e "$CHANNEL/linux-64/repodata_from_packages.json" ]

# What is wrong is named.
expect 2 index "$CHANNEL" --patch "$WORK/fixes" --no-patch
printf '{"patch_instructions_version":1,"packages":{"app-1.0-0.tar.bz2":{"sha256":"0"}}}' \
    > "$WORK/fixes/linux-64/patch_instructions.json"
expect 1 index "$CHANNEL" --patch "$WORK/fixes"
err_has "$WORK/fixes/linux-64/patch_instructions.json: app-1.0-0.tar.bz2: patches cannot change sha256"
expect 1 index "$CHANNEL" --patch "$WORK/nowhere"
err_has "$WORK/nowhere: no such patch"

# Builds of one version that do not agree.
package split 1.0 cpu_h1111111_0 'lib'
package split 1.0 cuda129_h2222222_0 '__cuda' 'lonely'
rm "$CHANNEL/linux-64/repodata.json"
expect 0 index "$CHANNEL" --json
json '[(f["name"], f["field"]) for f in d["disagreements"]] == [("split", "depends")] * 2'
expect 0 index "$CHANNEL"
err_has 'warning: linux-64: builds for different hardware differ in other metadata too: lib is needed by split-1.0-cpu_h1111111_0.tar.bz2 but not by split-1.0-cuda129_h2222222_0.tar.bz2'
# By gpkg's own keys of hardware, in packages that it has built.
mkdir -p keys/byaccel keys/bypsabi
cat > keys/byaccel/recipe.yaml <<'END'
package: {name: byaccel, version: "1"}
build: {variant: {use_keys: [accel]}, script: 'echo $accel > $PREFIX/byaccel'}
requirements: {run: [{if: accel == "cuda", then: lib}]}
END
printf 'accel: [cpu, cuda]\n' > keys/byaccel/variants.yaml
cat > keys/bypsabi/recipe.yaml <<'END'
package: {name: bypsabi, version: "1"}
build: {variant: {use_keys: [psabi]}, script: 'echo $psabi > $PREFIX/bypsabi'}
about: {license: '${{ "MIT" if psabi == "x86_64_v2" else "ISC" }}'}
END
printf 'psabi: [x86_64_v2, x86_64_v3]\n' > keys/bypsabi/variants.yaml
expect 0 build keys --output-dir keyed
expect 0 index keyed --json
json 'sorted((f["name"], f["field"]) for f in d["disagreements"]) == [("byaccel", "depends"), ("bypsabi", "license")]'

# Other contents under a known name.
CHANNEL=$WORK/again package one 1.0 0
expect 0 index "$WORK/again"
err_is ''
CHANNEL=$WORK/again package one 1.0 0 'two'
expect 0 index "$WORK/again"
err_has 'one-1.0-0.tar.bz2: replaced by other contents under the same name' 'raise the build number'
expect 0 index "$WORK/again"
err_is ''

# A package with damaged contents, which the metadata does not show.
CHANNEL=$WORK/damaged package bad 1.0 0
expect 0 index "$WORK/damaged" --verify
bad=$WORK/damaged/linux-64/bad-1.0-0.tar.bz2
head -c 100 "$bad" > "$WORK/cut" && mv "$WORK/cut" "$bad"
expect 1 index "$WORK/damaged" --verify
err_has "error: $WORK/damaged: 1 package cannot be indexed; the index was not written" "$bad: " 'hint: replace, rename or delete the files'
# A package under the name of another.
rm "$bad"
CHANNEL=$WORK/damaged package good 1.0 0
mv "$WORK/damaged/linux-64/good-1.0-0.tar.bz2" "$WORK/damaged/linux-64/good-2.0-0.tar.bz2"
expect 1 index "$WORK/damaged" --verify
err_has '1 package cannot be indexed; the index was not written' 'good-2.0-0.tar.bz2: its version is 1.0 in index.json, but 2.0 in the file name'

# Packages beside the subdirs.
mkdir flat
cp "$(find "$WORK" -name '*.conda' -o -name '*.tar.bz2' | head -n 1)" flat/
expect 0 index flat
err_has 'warning: 1 package outside of a subdir is ignored: move it to flat/noarch/, flat/linux-64/ or another subdir'
out_has 'noarch: 0 packages'

finish
