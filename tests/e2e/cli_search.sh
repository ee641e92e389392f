# gpkg search
. "$(dirname "$0")/lib.sh"

package pytorch 1.10 cpu_0
BUILD_NUMBER=1 package pytorch 1.10 cpu_1
package pytorch 1.9 cpu_0 'libtorch 1.9.*'
package libtorch 1.9 h_0
SUBDIR=noarch package tools 1 0

expect 0 search pytorch
check [ "$(grep -c '^pytorch ' <<< "$out")" = 3 ]
check [ "$(grep '^pytorch' <<< "$out" | tr -s ' ' | cut -d' ' -f2,3 | tr '\n' ,)" = \
    '1.9 cpu_0,1.10 cpu_0,1.10 cpu_1,' ]
out_has "  $CHANNEL/linux-64"

expect 0 search pytorch --json
json 'list(d) == ["pytorch"] and [r["build"] for r in d["pytorch"]] == ["cpu_0", "cpu_0", "cpu_1"]'
json 'd["pytorch"][0]["depends"] == ["libtorch 1.9.*"]'
json 'd["pytorch"][0]["url"] == "file://" + channel + "/linux-64/pytorch-1.9-cpu_0.tar.bz2"'
json 'd["pytorch"][0]["channel"] == "file://" + channel + "/linux-64"'
json 'all(k in d["pytorch"][0] for k in ("build_number", "constrains", "fn", "license", "md5",
    "name", "sha256", "size", "subdir", "timestamp", "version"))'

# Globs, any spec, everything.
expect 0 search '*torch*' --json
json 'list(d) == ["libtorch", "pytorch"]'
expect 0 search 'pytorch>=1.10' --json
json 'len(d["pytorch"]) == 2'
expect 0 search 'pytorch=1.10=cpu_1' --json
json 'len(d["pytorch"]) == 1'
expect 0 search --json
json 'sorted(d) == ["libtorch", "pytorch", "tools"]'
expect 0 search tools
out_has "  $CHANNEL/noarch"
expect 0 search 'pytorch=1.9' --info
out_has 'pytorch 1.9 cpu_0'
out_has '  depends       libtorch 1.9.*'
out_has 'built         2023-11-14 22:13:20 UTC'
expect 1 search pytorch --exclude-newer 2020-01-01
err_has "pytorch: all 3 builds in $CHANNEL (linux-64) are newer than --exclude-newer allows"

# The channel and the subdir of a spec say where to look.
mkdir -p other/linux-64 other/osx-64
printf '{"packages":{"o-1-0.tar.bz2":{"name":"o","version":"1","build":"0","build_number":0,"depends":[]}}}' \
    > other/osx-64/repodata.json
cp other/osx-64/repodata.json other/linux-64/repodata.json
expect 0 search -c ./other --override-channels o --json
json 'd["o"][0]["url"] == "file://" + work + "/here/other/linux-64/o-1-0.tar.bz2"'
expect 0 search -c ./other --override-channels 'o[subdir=osx-64]' --json
json 'd["o"][0]["subdir"] == "osx-64"'
expect 0 search -c ./other --override-channels --platform osx-64 o --json
expect 0 search "file://$PWD/other::o" --json
# What there is for another platform is told.
mkdir -p other/linux-aarch64
printf '{"packages":{}}' > other/linux-aarch64/repodata.json
expect 1 search -c ./other --override-channels o=1 --platform linux-aarch64
err_has "package 'o' not found in /" 'other (linux-aarch64)'
err_has 'it is available for linux-64: gpkg search o=1 --platform linux-64'
expect 1 search -c ./other --override-channels nothing --platform linux-aarch64
err_has 'not found in'

# What a channel says does not reach the terminal as it is; a record that breaks the rules is told.
mkdir -p odd/linux-64
printf '{"packages.conda":{"o-1-0.conda":{"name":"o","version":"1","build":"0","license":"a\\u001b[31mb",
    "depends":["x\\u001b[1m"]},"p-1-0.conda":{"name":"q","version":"1","build":"0"}}}' > odd/linux-64/repodata.json
expect 0 search -c ./odd --override-channels --info o
out_has 'license       a\x1b[31mb'
out_has 'depends       x\x1b[1m'
err_has 'skipped a record: p-1-0.conda: the record belongs to q-1-0.conda'
check [ "$(tr -d '\n' <<< "$out$err" | grep -c "$(printf '\033')")" = 0 ]

# Both forms of one package are one, unless the preferred one is too new.
printf '{"packages":{"o-1-0.tar.bz2":{"name":"o","version":"1","build":"0","timestamp":1500000000000}},
    "packages.conda":{"o-1-0.conda":{"name":"o","version":"1","build":"0","timestamp":1700000000000}}}' \
    > odd/linux-64/repodata.json
expect 0 search -c ./odd --override-channels o --json
json '[r["fn"] for r in d["o"]] == ["o-1-0.conda"]'
expect 0 search -c ./odd --override-channels o --json --exclude-newer 2020-01-01
json '[r["fn"] for r in d["o"]] == ["o-1-0.tar.bz2"]'

# Nothing found.
expect 1 search torch
err_is "error: package 'torch' not found in $CHANNEL (linux-64)
  hint: did you mean pytorch or libtorch?"
expect 1 search torch --json
json 'd["success"] is False and d["exception_name"] == "PackagesNotFoundInChannelsError"'
json 'd["hint"] == "did you mean pytorch or libtorch?"'
expect 1 search 'pytorch>=2'
err_has "matches none of the 3 builds in $CHANNEL (linux-64)"
err_has 'the newest version is pytorch 1.10'
expect 2 search 'pytorch>=2<3'
err_has '^'
expect 1 search -c ./nowhere --override-channels x
err_has 'nowhere'
expect 1 search -c ./odd/linux-64/repodata.json --override-channels x
err_has 'odd/linux-64/repodata.json: a file, not a channel folder'
expect 1 search -c odd --override-channels --offline x
err_has 'for the folder odd, use -c ./odd'
expect 2 search x --platform linux64
err_has '--platform linux64'
printf '{"packages": ' > "$CHANNEL/noarch/repodata.json"
expect 1 search pytorch
err_has "$CHANNEL/noarch/repodata.json"

# A large index is kept in the form that is searched. Damage to it is mended within the command.
mkdir -p large/linux-64
python3 - > large/linux-64/repodata.json <<'END'
import json
print(json.dumps({"packages.conda": {f"n{i}-1-0.conda": {
    "name": f"n{i}", "version": "1", "build": "0", "depends": [f"n{i + 1} >=1"]}
    for i in range(1000)}}))
END
expect 0 search -c ./large --override-channels n500 --json
json 'd["n500"][0]["depends"] == ["n501 >=1"]'
kept=$(ls "$GPKG_ROOT_PREFIX"/cache/*.index)
whole=$(sha256sum < "$kept")
python3 - "$kept" <<'END'
import sys
with open(sys.argv[1], "r+b") as index:
    text = index.read()
    index.seek(8)
    index.write(bytes(255 - b for b in text[8:len(text) // 2]))
END
expect 0 search -c ./large --override-channels n500 --json
json 'd["n500"][0]["depends"] == ["n501 >=1"]'
err_has 'is damaged; creating the file again'
check [ "$(sha256sum < "$kept")" = "$whole" ]

# So is that of several files, and what cannot be mended is said.
mkdir -p other/linux-64
sed 's/"n\([0-9]\)/"m\1/g' large/linux-64/repodata.json > other/linux-64/repodata.json
both='-c ./large -c ./other --override-channels'
damage() {
    python3 - "$GPKG_ROOT_PREFIX"/cache/*.index <<'END'
import sys
for path in sys.argv[1:]:
    with open(path, "r+b") as index:
        text = index.read()
        index.seek(8)
        index.write(bytes(255 - b for b in text[8:len(text) * 7 // 10]))
END
}
expect 0 solve $both n100 m100 --no-deps
check [ "$(ls "$GPKG_ROOT_PREFIX"/cache/*.index | wc -l)" = 2 ]
damage
expect 0 solve $both n100 m100 --no-deps
check [ "$(grep -c 'is damaged; creating the file again' <<< "$err")" = 2 ]

finish
