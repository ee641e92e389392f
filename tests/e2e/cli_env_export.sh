# gpkg env export, and what is made of it again
. "$(dirname "$0")/lib.sh"

package zlib 1.2 h_0
package zlib 1.3 h_0
package app 1.10 h_0 'zlib >=1.2'
package app 2.0 h_2 'zlib >=1.3'
BUILD_NUMBER=9 package torch 1.0 cpu_0
package torch 1.0 cuda129_0 '__cuda >=12'
SUBDIR=noarch package pip 24 0
at=$GPKG_ROOT_PREFIX/envs
gpu() { CONDA_OVERRIDE_CUDA=12.9 "$@"; }
distributions() {
    (cd "$(place "$1")/conda-meta" && ls | grep 'json$')
}

expect 0 create -y -q -n one 'app<2' zlib
expect 0 env export -n one
out_is "name: one
channels:
  - file://$CHANNEL
dependencies:
  - app=1.10=h_0
  - zlib=1.3=h_0"
yml=$out
expect 0 export -n one
out_is "$yml"
expect 0 env export -n one --no-builds
out_has '  - app=1.10
  - zlib=1.3'
# As asked, in the order of asking.
expect 0 env export -n one --from-history
out_is "name: one
channels:
  - file://$CHANNEL
dependencies:
  - app<2
  - zlib"
expect 0 install -y -q -n one "file://$CHANNEL::app=1.10" 'zlib>=1.2,!=1.2.5'
expect 0 env export -n one --from-history
out_has "  - file://$CHANNEL::app=1.10
  - zlib>=1.2,!=1.2.5"
expect 0 env export -n one --from-history -f history.yml
expect 0 env create -y -q -n asked -f history.yml
check [ "$(distributions asked)" = "$(distributions one)" ]

expect 0 env export -n one --json
json 'list(d) == ["name", "channels", "dependencies", "prefix"]'
json 'd["name"] == "one" and d["dependencies"] == ["app=1.10=h_0", "zlib=1.3=h_0"] and d["prefix"] == work + "/root/envs/one"'
expect 0 env export -n one --with-prefix
out_has "prefix: $at/one"
expect 0 create -y -q -p ./nameless app
expect 0 env export -p ./nameless
out_lacks name:
expect 0 env export -p ./nameless --json
json 'd["name"] == work + "/here/nameless"'
expect 0 create -y -q -n nothing
expect 0 env export -n nothing
out_has 'dependencies: []'

# Everything at once, and back: packages, pip's, variables, accelerators. pip is one of the
# environment that only knows how to be asked.
script bin/python '[ "$1 $2 $3 $4" = "-m pip install -r" ] && cp "$5" "$(dirname "$0")/../asked.txt"'
package python 3.11 0
gpu expect 0 create -y -q -n ml torch python pip 'app[accel=none]' zlib=1.2 --accel nvidia
expect 0 env config vars set -n ml NUMBER=1_000 YES=yes DATE=2026-01-01 COLON='a: b # [win]' \
    QUOTES="\"it's\" \\n" LINES=$'two\nlines' PLAIN=/data/x EMPTY=
mkdir -p "$at/ml/lib/python3.11/site-packages/Left_Pad-1.5.dist-info"
printf 'Name: left-pad\nVersion: 1.5\n' > "$at/ml/lib/python3.11/site-packages/Left_Pad-1.5.dist-info/METADATA"
expect 0 export -n ml -o ml.yaml
err_has 'wrote ml.yaml'
expect 0 env export -n ml --file ml.yaml
out_is ''
check [ "$(sed -n '/torch/,$p' ml.yaml)" = '  - torch=1.0=cuda129_0
  - zlib=1.2=h_0
  - pip:
    - left-pad==1.5
variables:
  COLON: "a: b # [win]"
  DATE: "2026-01-01"
  EMPTY: ""
  LINES: "two\nlines"
  NUMBER: "1_000"
  PLAIN: /data/x
  QUOTES: "\"it'"'"'s\" \\n"
  "YES": "yes"
accelerator:
  default: nvidia
  app: none' ]
gpu expect 0 env create -y -n again -f ml.yaml
err_lacks 'unknown key'
check [ "$(distributions again)" = "$(distributions ml)" ]
for file in state gpkg/state.json; do
    check cmp "$at/again/conda-meta/$file" "$at/ml/conda-meta/$file"
done
check [ "$(cat "$at/again/asked.txt")" = left-pad==1.5 ]
expect 0 env export -n ml --json
json 'd["dependencies"][-1] == {"pip": ["left-pad==1.5"]} and d["accelerator"] == {"default": "nvidia", "app": "none"}'
json 'd["variables"]["NUMBER"] == "1_000" and d["variables"]["LINES"] == "two\nlines"'
expect 0 env export -n ml --from-history
err_has 'packages installed by pip are left out: left-pad==1.5'
out_lacks left-pad
out_has 'accelerator:
  default: nvidia'
if python3 -c 'import yaml' 2> /dev/null; then
    # As another reader of YAML sees it.
    check python3 -c '
import yaml
d = yaml.safe_load(open("ml.yaml"))
assert d["variables"] == {"COLON": "a: b # [win]", "DATE": "2026-01-01", "EMPTY": "", "LINES": "two\nlines",
    "NUMBER": "1_000", "PLAIN": "/data/x", "QUOTES": "\"it\x27s\" \\n", "YES": "yes"}, d'
fi
expect 0 create -y -q -n 2026-01-01 app
expect 0 env export -n 2026-01-01
out_has 'name: "2026-01-01"'

# A channel in front that has the name, too, would hide a package: it is named with its own.
first=$CHANNEL
CHANNEL=$WORK/second
rm -f "$WORK"/records.* "$WORK"/v3.*
package zlib 9 h_0
package own 1 0
CHANNEL=$first
expect 0 create -y -q -n both -c "file://$WORK/second" own "file://$first::zlib" --channel-priority disabled
records both 'r["zlib"]["version"] == "1.3"'
expect 0 env export -n both
out_is "name: both
channels:
  - file://$WORK/second
  - file://$first
dependencies:
  - own=1=0
  - file://$first::zlib=1.3=h_0"
expect 0 env export -n both -f both.yml
expect 0 env create -y -q -n both2 -f both.yml
check [ "$(distributions both2)" = "$(distributions both)" ]
# The order in which channels were named is kept, also where the first is a configured one, and through a lock.
expect 0 create -y -q -n ordered -c "file://$first" -c "file://$WORK/second" own zlib
printf 'channels: ["file://%s", "file://%s"]\ndependencies: [own, zlib]\n' "$first" "$WORK/second" > ordered.yml
expect 0 env create -y -q -n ordered2 -f ordered.yml
expect 0 lock -f ordered.yml --for cpu -o ordered.lock
expect 0 create -y -q -n ordered3 --lock ordered.lock
expect 0 update -y -q -n ordered3 --all
for name in ordered ordered2 ordered3; do
    expect 0 env export -n $name --from-history --json
    json 'd["channels"] == ["file://" + channel, "file://" + work + "/second"]'
done
expect 0 env export -n both --ignore-channels
out_has "channels:
  - file://$first
dependencies:
  - own=1=0
  - zlib=1.3=h_0"
expect 0 env export -n both --override-channels -c "file://$first" --json
json 'd["channels"] == ["file://" + channel] and d["dependencies"][0] == "file://" + work + "/second::own=1=0"'

# Only channels that packages come from: conda 26.7 looks for a channel "nodefaults" on its server.
printf 'channels: ["file://%s", nodefaults]\ndependencies: [own]\n' "$WORK/second" > alone.yml
expect 0 env create -y -q -n alone -f alone.yml
for words in '' --from-history; do
    expect 0 env export -n alone $words
    out_has "channels:
  - file://$WORK/second
dependencies:"
done
expect 0 env export -n alone -f alone2.yml
expect 0 env create -y -q -n alone2 -f alone2.yml
expect 0 env export -n alone --override-channels -c "file://$WORK/second" --json
json 'd["channels"] == ["file://" + work + "/second"]'

# environment.json, which conda writes and reads too.
expect 0 env export -n alone -f alone.json
check [ "$(python3 -c 'import json; d = json.load(open("alone.json")); print(*d, *d["dependencies"])')" = 'name channels dependencies own=1=0' ]
expect 0 env export -n alone -f alone.json
expect 0 env create -y -q -n fromjson -f alone.json
expect 0 env export -n fromjson --json
json 'd["dependencies"] == ["own=1=0"]'
expect 0 env create -y -q -n fromstdin -f /dev/stdin < alone.json
expect 2 create -n x alone.json
err_has 'use -f alone.json'

# Secrets of channels and records never leave.
python3 - "$at/one/conda-meta" << 'PY'
import glob, json, sys
for path in glob.glob(sys.argv[1] + "/*-*-*.json"):
    d = json.load(open(path))
    d["url"] = "https://me:word@host/t/tk-123/lab/linux-64/" + d["fn"] + "?sig=4711"
    d["channel"] = "https://me:word@host/t/tk-123/lab"
    json.dump(d, open(path, "w"))
PY
sed -i "s,file://[^']*::app,https://me:word@host/t/tk-123/lab::app," "$at/one/conda-meta/history"
for words in '' --from-history --explicit --json '--explicit --json' --no-builds; do
    expect 0 env export -n one $words
    out_has https://host/lab
    for secret in me:word tk-123 4711; do out_lacks "$secret"; done
done
expect 0 list -n one --explicit
out_lacks tk-123
out_has https://host/lab/linux-64/zlib-1.3-h_0.tar.bz2

# Lists of files.
expect 0 env export -n asked --explicit
check [ "$(grep -c '#[0-9a-f]\{64\}$' <<< "$out")" = 2 ]
expect 0 env export -n asked --explicit --md5
check [ "$(grep -c '#[0-9a-f]\{32\}$' <<< "$out")" = 2 ]
md5=$out
expect 0 list -n asked --explicit --md5
out_is "$md5"
expect 0 list -n asked --explicit --sha256
check [ "$(grep -c '#[0-9a-f]\{64\}$' <<< "$out")" = 2 ]
expect 0 env export -n asked --explicit --md5 -f asked.txt
out_is ''
expect 0 create -y -q -n files --file asked.txt
check [ "$(distributions files)" = "$(distributions asked)" ]
# Of what a list of files brought no requested specs are recorded.
expect 0 env export -n files --from-history
out_has 'dependencies: []'
err_has 'no requested specs are recorded' '2 packages are left out' '--explicit'
expect 0 env export -n nothing --from-history
err_lacks 'no requested specs'
expect 0 env export -n asked --explicit --json
json 'len(d["explicit"]) == 2 and d["explicit"][0].startswith("file://") and d["platform"] == "linux-64"'
expect 0 env export -n ml --explicit
err_has 'cannot contain variables, packages installed by pip and the requested accelerator'

# Mistakes.
expect 2 env export -n one -f environment.txt
err_has 'ends in .yml, .yaml or .json'
check [ ! -e environment.txt ]
expect 2 env export -n one --explicit -f list.yml
expect 2 env export -n one --md5
expect 2 list -n one --md5
expect 2 env export -n one --explicit --from-history
expect 2 env export -n one --override-channels
expect 1 env export -n onee
err_has 'did you mean one?'
expect 1 env export -n ml -f "$HOME/../work-nowhere/../root/config.yaml/x.yml"
# Only an earlier export is replaced.
echo precious > notes.yml
expect 1 env export -n ml -f notes.yml
err_has 'notes.yml: exists and is not an environment.yml' 'choose another file, or remove this one'
check [ "$(cat notes.yml)" = precious ]
expect 0 env export -n ml -f again.yml
expect 0 env export -n ml -f again.yml
# A file is the old one or the new one.
echo old > kept.yml
chmod a-w . && [ ! -w . ] && { expect 1 env export -n ml -f kept.yml; check [ "$(cat kept.yml)" = old ]; }
chmod u+w .
check [ -z "$(ls -A | grep -E '^\.?(kept|environment).*(tmp|gpkg)')" ]

finish
