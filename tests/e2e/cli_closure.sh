# gpkg closure, gpkg closure why and gpkg build plan-variants
. "$(dirname "$0")/lib.sh"

# filled BYTES: the payload of the next package has one file of so many bytes that do not compress.
filled() { mkdir -p "$WORK/payload/lib"; head -c "$1" /dev/urandom > "$WORK/payload/lib/$RANDOM$RANDOM"; }

filled 3000; package zlib 1.3 0
filled 200000; package codec 2.0 0 zlib
filled 50000; package video 4.0 0 'codec >=1' zlib
filled 20000; package python 3.12 0 zlib pip '__glibc >=2.17'
filled 10000; package pip 24.0 0 python
filled 100000; package torch 2.0 0 python 'video >=3,<5' zlib
filled 1000; package tool 1.0 0 zlib
size() { python3 -c '
import json, sys
records = json.load(open(sys.argv[1] + "/linux-64/repodata.json"))["packages"].values()
print(sum(r["size"] for r in records if r["name"] in sys.argv[2:]))' "$CHANNEL" "$@"; }

# Of a request: what is to be downloaded.
expect 0 closure torch --json
json 'd["success"] and d["sizes"] == "download" and d["of"] == "torch" and d["unknown_sizes"] == 0'
json "d['total'] == $(size torch python pip video codec zlib) == d['downloads']"
json '[p["name"] for p in d["packages"]] == ["codec", "torch", "video", "python", "pip", "zlib"]'
json "{p['name']: p['unique'] for p in d['packages']}['video'] == $(size video codec)"
json "{p['name']: p['closure'] for p in d['packages']}['video'] == $(size video codec zlib)"
json "{p['name']: p['shared'] for p in d['packages']}['video'] == $(size zlib)"
# python and pip need each other; pip is there because of python.
json '{p["name"]: p["held_by"] for p in d["packages"]} == {"torch": None, "video": "torch", "codec": "video", "python": "torch", "pip": "python", "zlib": "torch"}'
json "{(e['from'], e['to']): e['saves'] for e in d['edges']}[('torch', 'video')] == $(size video codec)"
json '{(e["from"], e["to"]): e["saves"] for e in d["edges"]}[("pip", "python")] == 0'
json '[e["specs"] for e in d["edges"] if e["to"] == "video"] == [["video >=3,<5"]]'

expect 0 closure torch tool
out_has 'torch, tool: '
out_has ' to download in 7 packages'
out_has 'Brought in by'
out_has 'Saved by dropping a single dependency:'
out_has 'torch needs video'
err_has 'sizes are download sizes; unpacked packages are larger'
check [ "$(grep '^zlib' <<< "$out" | tr -s ' ' | cut -d' ' -f2,11-)" = '1.3 several packages' ]
expect 0 closure torch --size
check [ "$(wc -l <<< "$out")" = 1 ]

# If some of it were not there.
expect 0 closure torch --size --without 'vid*' --without python
check [ "$(wc -l <<< "$out")" = 4 ]
out_has 'without vid* (1 package): '
out_has 'without all of these (2 packages): '
expect 0 closure torch --size --without 'vid*' --without 'p*' --json
json "[w['saves'] for w in d['without']] == [$(size video codec), $(size python pip), $(size video codec python pip)]"
json '[(w["matching"], w["gone"]) for w in d["without"]] == [(1, 2), (2, 2), (3, 4)]'
expect 1 closure torch --without vdeo
err_has 'did you mean video?'
expect 1 closure torch --without 'python>=4'

# Of an environment: what lies on the disk, to the byte.
expect 0 create -y -q -n ml torch tool
prefix=$GPKG_ROOT_PREFIX/envs/ml
expect 0 closure -n ml --json
json "d['sizes'] == 'disk' and d['total'] == $(cd "$prefix/lib" && cat * | wc -c)"
json "d['downloads'] == $(size torch python pip video codec zlib tool)"
json '{p["name"]: p["size"] for p in d["packages"]}["codec"] == 200000'
json '[p["name"] for p in d["packages"] if p["requested"]] == ["torch", "tool"]'
CONDA_PREFIX=$prefix expect 0 closure
out_has "$prefix: 384 kB on disk in 7 packages"
err_has 'sizes are disk usage; the download size was'
# What nobody asked for counts as if it were asked for.
expect 0 create -y -q -n odd zlib tool
sed -i '/tool/d' "$GPKG_ROOT_PREFIX/envs/odd/conda-meta/history"
expect 0 closure -n odd --json
json '[p["name"] for p in d["packages"] if p["orphan"]] == ["tool"]'
rm "$GPKG_ROOT_PREFIX"/envs/odd/lib/*
expect 0 closure -n odd
err_has '2 files of tool and zlib are missing and not counted'

# A limit.
expect 0 closure torch --max-closure 1MB
expect 1 closure torch --max-closure 300kB
err_has 'error: torch: the total size is'
err_has 'over --max-closure 300 kB; the largest are codec ('
err_has 'without the dependency of video on codec, it would be'
out_has 'Saved by dropping a single dependency'
expect 1 closure torch tool --max-closure 1kB
err_has 'no single dependency is that large' 'gpkg closure why ' ' --spec torch --spec tool'
expect 1 closure -n ml --max-closure 300KiB --json
json 'not d["success"] and d["max_closure"] == 307200 and "over --max-closure" in d["error"] and "codec" in d["hint"]'
expect 0 closure -n ml --max-closure 384000
expect 1 closure -n ml --max-closure 383999
for wrong in 3GBB '' 0 -5MB lots; do
    [ -n "$wrong" ] && expect 2 closure torch --max-closure="$wrong"
done
err_has 'error: --max-closure: lots: not a size'
err_has 'use a size such as 3GB'
# A channel that tells no size cannot be held to a limit.
sed -i 's/"size":[0-9]*/"size":0/' "$WORK/records.linux-64" && index
expect 1 closure torch --max-closure 1GB
err_has 'the channel gives no size for 6 packages'
expect 0 closure torch
err_has 'the channel has no size for 6 packages; the totals are too low'

# A page.
expect 0 closure -n ml --html "$WORK/out/ml.html"
err_has "wrote $WORK/out/ml.html; open it in a browser"
check grep -q '384 kB on disk in 7 packages' "$WORK/out/ml.html"
check [ "$(grep -c '<tr data-place' "$WORK/out/ml.html")" = 7 ]
last='the page loads nothing'
check [ "$(grep -o '[a-z]*://[^"]*' "$WORK/out/ml.html")" = 'http://www.w3.org/2000/svg' ]
python3 - "$WORK/out/ml.html" > "$WORK/page" <<'PY'
import html.parser, json, sys
class Page(html.parser.HTMLParser):
    inside, data = None, ""
    def handle_starttag(self, tag, attributes):
        self.inside = dict(attributes).get("id") if tag == "script" else None
    def handle_data(self, data):
        if self.inside == "data": self.data += data
page = Page()
page.feed(open(sys.argv[1]).read())
data = json.loads(page.data)
print(sum(p["size"] for p in data["packages"]), len(data["edges"]))
PY
check [ "$(cat "$WORK/page")" = '384000 10' ]
expect 0 closure -n ml --html "$WORK/out/ml.html" --json
json 'd["html"] == work + "/out/ml.html"'
echo mine > "$WORK/out/notes.html"
expect 1 closure -n ml --html "$WORK/out/notes.html"
err_has 'notes.html: exists and is not a page written by gpkg closure'
check [ "$(cat "$WORK/out/notes.html")" = mine ]
expect 1 closure -n ml --html "$WORK/out"
expect 1 closure -n ml --html /proc/none/ml.html
err_has '/proc/none'

# What cannot be asked.
expect 2 closure torch -n ml
expect 2 closure -n ml --for h100
expect 2 closure
expect 1 closure -n nl
err_has 'did you mean ml?'
expect 1 closure tocrh
err_has 'torch'

# Why a package is there.
expect 0 closure why ml codec
out_is 'codec 2.0 0: 200 kB on disk, 203 kB with its dependencies
torch is requested
└─ torch needs video >=3,<5  without this dependency alone: saves 250 kB
   └─ video needs codec >=1  without this dependency alone: saves 200 kB
every chain of dependencies goes through torch > video
without the package: saves 200 kB; only video needs it'
expect 0 closure why -n ml zlib
out_has 'tool needs zlib  without this dependency alone: saves nothing'
out_has '1 more package needs it; use --all to show them'
out_has 'without the package: saves 3.0 kB; 5 packages need it: '
expect 0 closure why -n ml zlib --all --json
json 'len(d["ways"]) == 6 - 1 and d["held_by"] == [] and d["unique"] == 3000'
expect 0 closure why python -p "$prefix"
# pip needs it too, but is there because of it.
out_has 'without the package: saves 30 kB; only torch needs it'
expect 0 closure why codec --spec 'torch>=2' --json
json '[[s["to"] for s in w["steps"]] for w in d["ways"]] == [["video", "codec"]]'
json 'd["of"] == "torch >=2" and d["sizes"] == "download"'
expect 0 closure why ml torch
out_has 'it is requested; without the package: saves '
expect 1 closure why ml codecs
err_has 'did you mean codec?'
expect 1 closure why torch codec --for h100
err_has 'for a package: gpkg closure why codec --spec torch --for h100'
expect 1 closure why nl codec
err_has 'did you mean ml?'
expect 1 closure why tool --spec torch
err_has 'tool: not one of the 6 packages of torch'
expect 2 closure why ml codec extra
expect 2 closure why codec
expect 2 closure why codec -n ml --spec torch
# The options of `gpkg closure` are not those of its subcommand.
expect 2 closure why ml codec --size
err_has "gpkg closure why: unknown option '--size'"
expect 2 closure -n ml why codec
err_has 'gpkg closure why: --name must follow the subcommand' 'hint: gpkg closure why --name ml ...'
expect 2 closure torch why codec
err_has "gpkg closure why: unexpected argument 'torch'"

# The fewest builds for given devices.
expect 0 build plan-variants --devices 7.5,8.0,8.6,9.0,12.0 --cuda 12.9
check [ "$(tr -s ' ' <<< "$out")" = '1 build covers all 5 devices

# Device Requested by CUDA 12.9
7.5 --devices native 7.5
8.0 --devices native 8.0
8.6 --devices native 8.0
9.0 --devices native 9.0
12.0 --devices native 12.0

CUDA 12.9: 7.5;8.0;9.0;12.0 (machine code for 4 targets)

variants.yaml:
accel: [cuda]
cuda_version: ["12.9"]
cuda_arch_list: ["7.5;8.0;9.0;12.0"]
zip_keys:
 - [accel, cuda_version, cuda_arch_list]' ]
expect 0 build plan-variants --devices 6.0,12.0 --cuda 11.8,13.0 --future --yaml
out_is 'accel: [cuda, cuda]
cuda_version: ["11.8", "13.0"]
cuda_arch_list: ["6.0+PTX", "12.0+PTX"]
zip_keys:
  - [accel, cuda_version, cuda_arch_list]'
# What is printed is what gpkg build reads.
mkdir recipe
printf '%s\n' "$out" > recipe/variants.yaml
cat > recipe/recipe.yaml <<'YAML'
package: {name: kernels, version: "1.0"}
build: {script: echo, variant: {use_keys: [cuda_version, cuda_arch_list]}}
YAML
expect 0 build recipe --render
out_has '12.0+PTX'
out_lacks 'cuda_version: "12'

expect 0 build plan-variants --for h100 --for a100 --for v100 --for mi300 --json
json '[b.get("cuda_arch_list") or b["gfx_list"] for b in d["builds"]] == ["7.0;8.0;9.0", "gfx942"]'
json 'd["builds"][0]["cuda_version"] == "12.9" and d["builds"][0]["cmake_cuda_architectures"] == "70-real;80-real;90-real"'
json '{v["device"]: v["asked_by"] for v in d["devices"]}["9.0"] == ["h100"]'
json 'd["devices"][0]["driver_cuda"] == "12.8" and d["devices"][3]["served_by"] == [{"build": 1, "how": "native", "by": "gfx942"}]'
expect 0 build plan-variants --devices 8.0,9.0,12.0 --cuda 12.4 --ptx-rest
out_has 'CUDA 12.4: 8.0;9.0+PTX (machine code for 2 targets)'
out_has 'PTX 9.0'
expect 0 build plan-variants --devices 8.0,9.0,12.0 --cuda 12.4 --allow-ptx
out_has 'CUDA 12.4: 8.0+PTX (machine code for 1 target)'
expect 0 build plan-variants --devices 9.0a,gfx942,gfx950 --generic --yaml
out_is 'accel: [cuda, rocm]
cuda_version: ["13.0", None]
cuda_arch_list: ["9.0a", None]
gfx_list: ["gfx9-4-generic"]
zip_keys:
  - [accel, cuda_version, cuda_arch_list]'
printf '%s\n' "$out" > recipe/variants.yaml
sed -i 's/use_keys: .*]/use_keys: [accel, cuda_version, cuda_arch_list, gfx_list]/' recipe/recipe.yaml
expect 0 build recipe --render --json
json '[(o["variant"].get("cuda_version"), o["variant"].get("gfx_list")) for o in d["outputs"]] == [("13.0", None), (None, "gfx9-4-generic")]'
expect 0 build plan-variants --for h100 --for a100
repeated=$out
expect 0 build plan-variants --for h100,a100
check [ "$out" = "$repeated" ]
out_has '1 build covers both machines'
err_has 'note: CUDA 13.0 is not used: the driver of a100' 'supports CUDA 12'
expect 0 build plan-variants --devices 7.0,8.0 --every-cuda --json
json '[(b["cuda_version"], b["cuda_arch_list"]) for b in d["builds"]] == [("11.8", "7.0;8.0"), ("12.9", "7.0;8.0"), ("13.0", "8.0")]'
expect 1 build plan-variants --devices 6.0,12.0 --cuda 11.8,13.0 --max-builds 1
err_has '2 builds are needed (CUDA 11.8, 13.0), but --max-builds is 1'
expect 1 build plan-variants --devices 12.0 --cuda 12.4
err_has '12.0: CUDA 12.4 cannot compile code for it'
expect 2 build plan-variants
expect 2 build plan-variants --devices 8.1
err_has '8.1: no CUDA version supports this compute capability'
expect 2 build plan-variants --devices 8.0 --cuda 12.7
err_has '12.7: not a CUDA version' 'use MAJOR.MINOR, for example 12.8'
expect 0 build plan-variants --devices a100,9.0
out_has '8.0       a100'
expect 2 build plan-variants --devices a100o
err_has "--devices: 'a100o' is neither a compute capability nor the name of a machine"
expect 2 build plan-variants --for cpu
expect 2 build plan-variants --for h100o
expect 2 build plan-variants --devices 8.0 --max-builds none
expect 2 build plan-variants --devices 8.0 --allow-ptx --ptx-rest
expect 2 build plan-variants recipe --devices 8.0
err_has "gpkg build plan-variants: unexpected argument 'recipe'"
expect 2 build plan-variants --devices 8.0 --rebuild
err_has "gpkg build plan-variants: unknown option '--rebuild'"
expect 2 build
err_has 'gpkg build: missing argument: RECIPE'

finish
