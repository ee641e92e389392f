# Signed channels over HTTP: what is verified, and each way in which it can be wrong
here=$(realpath "$(dirname "$0")")
. "$here/lib.sh"

web=$WORK/web
control=$WORK/control
mkdir "$control"
CHANNEL=$web/main
statement=$CHANNEL/trust/indexes.json
keys=$WORK/keys
mkdir "$keys"
key() { "$GPKG" keys show "$keys/$1"; }
sign() { expect 0 index "$CHANNEL" --sign-key "$keys/${1:-a}" "${@:2}"; }
forge() { python3 "$here/trust.py" "$@" || fail "trust.py $*"; }
# Nothing that was cached or seen before counts.
forget() { rm -rf "$GPKG_ROOT_PREFIX/cache" "$GPKG_ROOT_PREFIX/trust"; }
trust() { printf 'channels: [%s]\ntrusted_keys:\n  %s: [%s]\n' "$url" "$url" "$1" > "$GPKG_ROOT_PREFIX/config.yaml"; }
# refused FAULT TEXT...: a command fails with this fault, and says so.
refused() {
    local fault=$1
    shift
    expect 1 search tool --json
    json "d['trust'] == '$fault'"
    expect 1 search tool
    err_has "$@"
}
save() { rm -rf "$WORK/saved"; cp -a "$CHANNEL" "$WORK/saved"; }
restore() { rm -rf "$CHANNEL"; cp -a "$WORK/saved" "$CHANNEL"; forget; }

# Keys. What openssl makes is read, and the other way round.
for name in a b c d e; do expect 0 keys generate "$keys/$name"; done
check [ "$(stat -c %a "$keys/a")" = 600 ]
check [ "$out" = "$(key e)" ]
err_has "to sign a channel: gpkg index FOLDER --sign-key $keys/e" "gpkg config append --user trusted_keys.CHANNEL_URL $(key e)"
check [ "$(openssl pkey -in "$keys/a" -pubout -outform DER | tail -c 32 | od -An -tx1 | tr -d ' \n')" = "$(key a)" ]
(umask 077 && openssl genpkey -algorithm ed25519 -out "$keys/o" 2> "$WORK/openssl")
check [ "$(openssl pkey -in "$keys/o" -pubout -outform DER | tail -c 32 | od -An -tx1 | tr -d ' \n')" = "$(key o)" ]
expect 1 keys generate "$keys/a"
err_has 'never overwritten'
chmod 644 "$keys/o"
expect 1 keys show "$keys/o"
err_has 'other users can read this private key' 'mode 644' 'chmod 600'
echo text > "$keys/text"
chmod 600 "$keys/text"
expect 1 keys show "$keys/text"
err_has 'not an Ed25519 private key'

script bin/tool 'echo tool'
package tool 1.0 0
SUBDIR=noarch package data 1.0 0
expect 1 index "$CHANNEL" --sign-key "$keys/none"
err_has "hint: to create a key: gpkg keys generate $keys/none"
sign a
out_has "signed with $(key a), expires $(date -u -d '+30 days' +%Y-%m-%d)"
err_lacks 'was signed with'
# The statement lists every index file as it lies there; openssl verifies it.
check python3 - "$CHANNEL" <<'PY'
import glob, hashlib, json, os, sys
channel = sys.argv[1]
outer = json.load(open(channel + "/trust/indexes.json"))
d = json.loads(outer["signed"])
open("text", "w").write(outer["signed"])
open("signature", "wb").write(bytes.fromhex(outer["signatures"][0]["signature"]))
assert set(d["subdirs"]) == {"linux-64", "noarch"}
for subdir, files in d["subdirs"].items():
    assert {"repodata.json", "repodata.json.zst", "repodata_shards.msgpack.zst", "run_exports.json"} <= set(files)
    for name, versions in files.items():
        data = open(f"{channel}/{subdir}/{name}", "rb").read()
        assert versions == [{"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
PY
openssl pkey -in "$keys/a" -pubout -out public.pem
check openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in text -sigfile signature > "$WORK/openssl"
expect 2 index "$CHANNEL"
err_has 'the channel is signed' '--sign-key'
expect 2 index "$CHANNEL" --sign-key "$keys/a" --expires soon
err_has 'soon: not a time; use 30d'

python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server 2> /dev/null; rm -rf "$WORK"' EXIT
while [ ! -e "$control/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$control/port")/main
seen() { cat "$GPKG_ROOT_PREFIX"/trust/*.json; }

# All is well: online, from the cache, offline; packages as well.
trust "$(key a)"
expect 0 search tool
out_has 1.0
expect 0 search tool --offline
expect 0 create -n x tool
has x tool-1.0
expect 0 clean --index-cache -y
check [ -n "$(seen)" ]
expect 1 search tool --offline
err_has 'not in the cache'
forget

# Each verified channel is named with -v.
expect 0 search tool -v
err_has "signature of $url verified"
# keys verify says by which key a channel is trusted, or why it is not.
expect 0 keys verify "$url"
out_has "index signature verified (package files are checked at installation): signed with $(key a), expires $(date -u -d '+30 days' +%Y-%m-%d)"
expect 0 keys verify "$url" --json
json "d['verified'][0]['channel'] == '$url' and d['verified'][0]['keys'] == ['$(key a)']"
expect 1 keys verify "file://$CHANNEL"
err_has 'no trusted key for' 'gpkg config append'
# A folder named without ./ is read as a channel's name.
mkdir chan3
expect 1 keys verify chan3
err_has 'no trusted key for chan3' 'hint: for the folder chan3, use gpkg keys verify ./chan3'
err_lacks 'gpkg config append'
rmdir chan3
# A key that is no setting's, and a channel that is not signed.
expect 0 keys verify "file://$CHANNEL" --key "$(key a)"
out_has "index signature verified"
expect 1 keys verify "file://$CHANNEL" --key "$(key b)"
err_has "signed by $(key a), which is not trusted for this channel"
expect 1 keys verify "file://$CHANNEL" --key abc
err_has "'$PWD/abc' is neither a public key (64 hex digits) nor the file of a root"
mkdir -p chan4/noarch
expect 1 keys verify ./chan4
err_has "$PWD/chan4 is not signed (no trust/indexes.json)" "hint: to sign it: gpkg index $PWD/chan4 --sign-key FILE"
rm -r chan4
trust "$(key b)"
expect 1 keys verify "$url" --json
json "d['trust'] == 'wrong-key'"
trust "$(key a)"
forget
# A token in conda's configuration that others can read.
printf 'custom_channels: {mine: "%s"}\n' 'https://user:sesame@127.0.0.1/x' > "$HOME/.condarc"
chmod 644 "$HOME/.condarc"
expect 0 search tool
err_has "$HOME/.condarc: contains a token or password, and other users can read it; run chmod 600"
chmod 600 "$HOME/.condarc"
expect 0 search tool
err_lacks 'contains a token'
rm "$HOME/.condarc"
# Keys that are none.
expect 2 config set "trusted_keys.$url" abc
err_has "abc' is neither a public key (64 hex digits) nor the file of a root"
expect 2 config set trusted_keys../chan "$(key a)"
err_has "is another folder for each working folder" 'name the channel by its URL: trusted_keys.file://'
trust "$keys/nothing"
expect 1 search tool
err_has "'$keys/nothing' is neither a public key (64 hex digits) nor the file of a root"
trust "$(key a), nonsense"
expect 1 search tool
err_has 'expected public keys'
trust "$(key a)"
save
sign b
err_has "the channel was signed with $(key a) before"
restore

# Five ways to be wrong.
printf '{"packages":{},"packages.conda":{}}' > "$CHANNEL/linux-64/repodata.json"
zstd -qf "$CHANNEL/linux-64/repodata.json"
refused tampered "$url/linux-64/repodata.json.zst: not the signed index"
restore
forge "$statement" 'd["expires"] = "2999-01-01T00:00:00Z"'
refused tampered 'indexes.json: was changed after it was signed with key'
restore
forge "$statement" '' "$keys/b"
refused wrong-key "signed by $(key b), which is not trusted for this channel"
restore
forge "$statement" '' "$keys/b" "$keys/c"
refused wrong-key 'neither of which is trusted for this channel' 'from its operator: gpkg config set trusted_keys.'
restore
forge "$statement" '' -
refused wrong-key 'not signed'
restore
forge "$statement" 'd["expires"] = "2026-01-01T00:00:00Z"' "$keys/a"
refused expired 'the signature expired at 2026-01-01T00:00:00Z' 'check the clock'
restore
expect 0 search tool
rm "$statement"
refused missing "$url/trust/indexes.json: not found, so the channel is not signed" "ask the channel's operator" 'without a signature: gpkg config remove-key trusted_keys.'
# A key in the user's file is removed with --user.
mkdir -p "$HOME/.config/gpkg"
mv "$GPKG_ROOT_PREFIX/config.yaml" "$HOME/.config/gpkg/config.yaml"
expect 1 search tool
err_has 'gpkg config remove-key --user trusted_keys.'
mv "$HOME/.config/gpkg/config.yaml" "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 search tool --offline
restore

# Rolled back: what was seen is remembered without any cache, and the older index is not taken.
expect 0 search tool
script bin/tool 'echo 2'
package tool 2.0 0
sign a
expect 0 search tool
out_has 2.0
rm -rf "$CHANNEL"
cp -a "$WORK/saved" "$CHANNEL"
refused rolled-back 'is older than version' 'was seen before' "remove $GPKG_ROOT_PREFIX/trust/"
expect 0 clean --all -y
refused rolled-back 'which was seen before'
restore

# A cached copy that expires, or whose key is not trusted any more, does not serve offline either.
expect 0 search tool
trust "$(key b)"
expect 1 search tool --offline --json
json 'd["trust"] == "wrong-key"'
trust "$(key a)"
expect 0 search tool --offline
printf 'channels: [%s]\n' "$url" > "$GPKG_ROOT_PREFIX/config.yaml"
forget
expect 0 search tool
trust "$(key a)"
expect 1 search tool --offline --json
json 'd["trust"] == "missing"'
forget

# A clock that is wrong, what cannot be read, and what does not end.
forge "$statement" 'd["made"] = "2999-01-01T00:00:00Z"; d["expires"] = "2999-02-01T00:00:00Z"' "$keys/a"
refused clock 'was signed at 2999-01-01T00:00:00Z' 'set the clock'
restore
forge "$statement" 'd["more"] = "x" * 2**21' "$keys/a"
refused malformed 'indexes.json'
restore
forge "$statement" 'd["format"] = 2' "$keys/a"
refused malformed 'unsupported format'
restore
echo '<html>' > "$statement"
refused malformed 'invalid JSON'
restore

# A subdir that the channel does not have is told by the statement; one that it has cannot be hidden.
rm -r "$CHANNEL/linux-64"
refused missing 'but the signed statement lists it'
sign a
expect 0 search data
restore

# While a channel is written, the statement lists what is there and what comes.
forge "$statement" 'd["subdirs"]["linux-64"]["repodata.json.zst"].insert(0, {"size": 1, "sha256": "0" * 64})' "$keys/a"
expect 0 search tool
restore
# Readers who come all the while find nothing wrong.
(
    while [ ! -e "$WORK/stop" ]; do
        for move in "$CHANNEL/linux-64 $WORK" "$WORK $CHANNEL/linux-64"; do
            set -- $move
            mv "$1/tool-1.0-0.tar.bz2" "$2/" && "$GPKG" index "$CHANNEL" --sign-key "$keys/a" -q || touch "$WORK/stop"
            sleep 0.3
        done
    done
) &
writer=$!
for _ in {1..25}; do
    rm -rf "$GPKG_ROOT_PREFIX/cache"
    expect 0 search data
done
check [ ! -e "$WORK/stop" ]
touch "$WORK/stop"
wait "$writer"
restore

# Without a .zst the index of shards is used, and verified.
forge "$statement" 'for s in d["subdirs"].values(): del s["repodata.json.zst"]' "$keys/a"
rm "$CHANNEL"/*/repodata.json.zst
expect 0 search tool
out_has 1.0
forget
head -c -1 "$CHANNEL/linux-64/repodata_shards.msgpack.zst" > short
cp short "$CHANNEL/linux-64/repodata_shards.msgpack.zst"
refused tampered 'repodata_shards.msgpack.zst: not the signed index'
restore

# Packages are vouched for by their sha256, and by nothing less.
echo more >> "$CHANNEL/linux-64/tool-1.0-0.tar.bz2"
rm -rf "$GPKG_ROOT_PREFIX/pkgs"
expect 1 create -n y tool
err_has "the file is not the one that was signed: do not use it, and tell the channel's operator" \
    'for the operator: restore the file, or raise the build number and index again'
absent y
restore
python3 - "$CHANNEL/linux-64/repodata.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for record in d["packages"].values():
    del record["sha256"]
json.dump(d, open(sys.argv[1], "w"))
PY
rm "$CHANNEL/linux-64/repodata.json.zst"
forge "$statement" 'import hashlib
data = open("'"$CHANNEL"'/linux-64/repodata.json", "rb").read()
d["subdirs"]["linux-64"] = {"repodata.json": [{"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}]}' "$keys/a"
expect 1 create -n y tool
err_has 'has no sha256' 'cannot be verified'
absent y
restore

# What a channel publishes of run_exports decides what is built: it is what was signed, or none.
mkdir -p "$WORK/payload/info" recipe
echo '{"weak": ["libx >=1"]}' > "$WORK/payload/info/run_exports.json"
package libx 1.0 0
sign a
save
exports=$CHANNEL/linux-64/run_exports.json
printf 'package: {name: uses, version: "1"}\nrequirements: {host: [libx]}\nbuild: {script: "touch $PREFIX/uses"}\n' > recipe/recipe.yaml
built() { rm -rf built && gpkg build recipe --output-dir built -c "${1:-$url}" "${@:2}"; }
depends() { built "${@:2}" && check grep -q "\"depends\":\[$1\]" built/linux-64/repodata.json; }
# unbuilt FAULT TEXT...: the build fails with this fault.
unbuilt() {
    checks=$((checks + 1))
    built "$where" --json
    [ "$status" = 1 ] || fail "expected exit status 1"
    json "d['failures'][0]['trust'] == '$1'"
    built "$where"
    err_has "${@:2}"
}
depends '"libx >=1"'
depends '"libx >=1"' "$url" --offline
for where in "$url" "$CHANNEL"; do
    [ "$where" = "$url" ] || printf 'channels: [%s]\ntrusted_keys:\n  %s: [%s]\n' "$where" "$where" "$(key a)" > "$GPKG_ROOT_PREFIX/config.yaml"
    restore
    sed -i 's/libx >=1/evil >=1/' "$exports"
    unbuilt tampered "run_exports.json: not the signed index"
    restore
    rm "$exports"
    unbuilt missing 'run_exports.json' 'but the signed statement lists it'
    # Beside the one that is signed another one may lie that clients like better, and without any
    # the packages speak for themselves.
    restore
    printf '{"packages":{"libx-1.0-0.tar.bz2":{"run_exports":{"weak":["evil"]}}}}' | zstd -q > "$exports.zst"
    depends '"libx >=1"' "$where"
    forge "$statement" 'del d["subdirs"]["linux-64"]["run_exports.json"]' "$keys/a"
    forget
    sed -i 's/libx >=1/evil >=1/' "$exports"
    depends '"libx >=1"' "$where"
    depends '"libx >=1"' "$where" --offline
done
restore
# Offline the copy counts that was verified, for as long as its statement does.
trust "$(key a)"
depends '"libx >=1"'
for kept in "$GPKG_ROOT_PREFIX"/cache/*.run_exports; do sed -i 's/libx >=1/evil >=1/' "$kept"; done
built "$url" --offline
check [ "$status" = 1 ]
err_has 'run_exports.json is not in the cache'
depends '"libx >=1"'
printf 'channels: [%s]\n' "$url" > "$GPKG_ROOT_PREFIX/config.yaml"
forget
depends '"libx >=1"'
trust "$(key a)"
expect 0 search tool
built "$url" --offline --json
json 'd["failures"][0]["trust"] == "missing"'
restore

# A local channel is verified likewise.
printf 'channels: [%s]\ntrusted_keys:\n  %s: [%s]\n' "$CHANNEL" "$CHANNEL" "$(key a)" > "$GPKG_ROOT_PREFIX/config.yaml"
expect 0 search tool
printf '{}' > "$CHANNEL/linux-64/repodata.json.zst"
touch -d tomorrow "$CHANNEL/linux-64/repodata.json.zst"
refused tampered 'not the signed index'
restore
trust "$(key a)"

# A first root that no key of before has signed: their users are told of.
expect 0 keys root "$CHANNEL" --root-key "$(key b)" --sign-key "$keys/b"
err_has "users who trust only $(key a) will refuse it until they trust $CHANNEL/trust/root.1.json instead"
rm "$CHANNEL/trust/root.1.json"
# Rotation: the user trusts a, which makes b sign indexes, then gives way to c and d.
expect 0 keys root "$CHANNEL" --root-key "$(key a)" --index-key "$(key b)" --sign-key "$keys/a"
out_has "$CHANNEL/trust/root.1.json"
err_lacks 'will refuse'
err_has 'for new users: gpkg config append --user trusted_keys.CHANNEL_URL root.1.json' "gpkg index $CHANNEL --sign-key FILE"
expect 2 index "$CHANNEL" --sign-key "$keys/a"
err_has 'is not one of the keys that may sign indexes' "keys that may sign: $(key b)"
sign b
expect 0 search tool
cp "$CHANNEL/trust/root.1.json" "$WORK/root.1.json"
expect 0 keys root "$CHANNEL" --root-key "$(key c)" --root-key "$(key d)" --threshold 2 \
    --index-key "$(key d)" --index-key "$(key e)" --index-threshold 2 --sign-key "$keys/c" --sign-key "$keys/d"
out_has root.2.json.draft
err_has 'more signatures are required'
check [ ! -e "$CHANNEL/trust/root.2.json" ]
expect 0 keys sign "$CHANNEL" --sign-key "$keys/a"
out_has "$CHANNEL/trust/root.2.json"
check [ ! -e "$CHANNEL/trust/root.2.json.draft" ]
expect 2 index "$CHANNEL" --sign-key "$keys/d"
err_has '2 signing keys are required, 1 given'
sign d --sign-key "$keys/e"
expect 0 search tool
forget
expect 0 search tool
check grep -q '\\"version\\":2' "$GPKG_ROOT_PREFIX"/trust/*.json
trust "$WORK/root.1.json"
forget
expect 0 search tool
save
forge "$statement" '' "$keys/d"
refused too-few-signatures 'has 1 of 2 required signatures'
restore
# The keys of before count no more, for who has seen the new ones.
expect 0 search tool
forge "$statement" 'd["version"] += 10' "$keys/b"
refused wrong-key "signed by $(key b)"
restore
# A root that the keys before it did not sign, one that is older, one that has expired.
cp "$CHANNEL/trust/root.2.json" "$CHANNEL/trust/root.3.json"
forge "$CHANNEL/trust/root.3.json" 'd["version"] = 3; d["root"] = d["index"] = {"keys": ["'"$(key b)"'"], "threshold": 1}' "$keys/b"
forge "$statement" 'd["root"] = 3' "$keys/b"
refused wrong-key "root.3.json: signed by $(key b)"
restore
cp "$CHANNEL/trust/root.2.json" "$CHANNEL/trust/root.3.json"
forge "$statement" 'd["root"] = 3' "$keys/b"
refused rolled-back 'root.3.json: is root 2 of the channel'
restore
forge "$CHANNEL/trust/root.2.json" 'd["expires"] = "2026-01-01T00:00:00Z"' "$keys/a" "$keys/c" "$keys/d"
refused expired "the channel's keys expired at 2026-01-01"
restore
rm "$CHANNEL/trust/root.2.json"
refused wrong-key 'neither of which is trusted'
restore
# A chain without an end.
for n in {1..70}; do
    printf '{"signed":"{\\"type\\":\\"gpkg-channel-root\\",\\"format\\":1,\\"root\\":{\\"keys\\":[\\"%s\\"],\\"threshold\\":1},\\"index\\":{\\"keys\\":[\\"%s\\"],\\"threshold\\":1}}"}' \
        "$(key a)" "$(key a)" > "$CHANNEL/trust/root.$n.json"
    forge "$CHANNEL/trust/root.$n.json" "d['version'] = $n" "$keys/a"
done
trust "$(key a)"
refused malformed 'root.65.json: more than 64 new roots'
restore

# A signed channel is built into with its key, or not at all.
rm "$CHANNEL"/trust/root.*
sign a
mkdir -p recipe
printf 'package: {name: made, version: "1"}\nbuild: {noarch: generic, script: [mkdir -p $PREFIX/share, echo 1 > $PREFIX/share/made]}\n' \
    > recipe/recipe.yaml
forget
expect 2 build recipe --output-dir "$CHANNEL"
err_has 'the channel is signed' '--sign-key'
check [ -z "$(find "$CHANNEL" -name 'made-*')" ]
expect 0 build recipe --output-dir "$CHANNEL" --plan
expect 0 build recipe --output-dir "$CHANNEL" --sign-key "$keys/a" --expires 2d
expect 0 search made
out_has made

# An attestation of a package, in a Sigstore bundle: what it says is compared, who says it is not known.
file=$CHANNEL/linux-64/tool-1.0-0.tar.bz2
python3 - "$file" > "$WORK/a.json" <<'PY'
import base64, hashlib, json, sys
digest = hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()
statement = {"_type": "https://in-toto.io/Statement/v1",
             "subject": [{"name": "tool-1.0-0.tar.bz2", "digest": {"sha256": digest}}],
             "predicateType": "https://schemas.conda.org/attestations-publish-1.schema.json",
             "predicate": {"targetChannel": "https://host/mine"}}
envelope = {"payload": base64.b64encode(json.dumps(statement).encode()).decode(),
            "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "AA=="}]}
print(json.dumps({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "verificationMaterial": {},
                  "dsseEnvelope": envelope}))
PY
expect 0 inspect "$file" --attestation "$WORK/a.json" --from https://host/mine/
out_has "tool-1.0-0.tar.bz2: matches the attestation $WORK/a.json" https://host/mine
err_has 'the signature of the attestation was not verified'
expect 0 inspect "$file" --attestation "$WORK/a.json" --json
json 'd["signer_verified"] is False and d["form"] == "sigstore-bundle" and d["target_channel"] == "https://host/mine"'
expect 1 inspect "$file" --attestation "$WORK/a.json" --from https://mirror/mine --json
json 'd["attestation"] == "channel"'
cp "$file" "$WORK/other-1.0-0.tar.bz2"
expect 1 inspect "$WORK/other-1.0-0.tar.bz2" --attestation "$WORK/a.json" --json
json 'd["attestation"] == "name"'
echo more >> "$file"
expect 1 inspect "$file" --attestation "$WORK/a.json" --json
json 'd["attestation"] == "digest"'
expect 1 inspect "$file" --attestation "$file" --json
json 'd["attestation"] == "malformed"'
expect 2 inspect "$file" --from https://host/mine

finish
