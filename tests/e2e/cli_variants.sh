# gpkg variants
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"

package driver 12.9 0 '__cuda >=12'
package torch 1.0 cpu_py312_0 'python_abi 3.12.* *_cp312'
package torch 1.0 rocm6_py312_0 '__amdgpu' 'python_abi 3.12.* *_cp312'
package torch 2.0 cpu_py312_0 'python_abi 3.12.* *_cp312'
package torch 2.0 cuda129_py312_0 'driver' 'python_abi 3.12.* *_cp312'
package torch 2.0 cuda118_py313_0 '__cuda >=11.8' 'python_abi 3.13.* *_cp313'
package python_abi 3.12 1_cp312
package python_abi 3.13 1_cp313
package plain 1.0 0
BUILD_NUMBER=9 package vision 1.0 cpu_0 'torch'
package vision 1.0 cuda129_0 'torch * cuda*'

expect 0 variants torch
check [ "$(tr -s ' ' <<< "$out")" = '# Version Build Accelerator CUDA Python Fits here
2.0 cpu_py312_0 none 3.12 yes
2.0 cuda129_py312_0 nvidia 12.9 3.12 no: driver 12.9 0 needs __cuda >=12, but this machine has no NVIDIA driver
2.0 cuda118_py313_0 nvidia 11.8 3.13 no: needs __cuda >=11.8, but this machine has no NVIDIA driver' ]
err_lacks 'detected from'
err_has 'the newest version with ROCm builds is 1.0'
expect 0 variants torch -v
err_has 'accelerator none: detected from "build cpu_py312_0"'
# What is said to fit can be had, and what is said not to cannot.
expect 0 solve torch=2.0=cpu_py312_0
expect 1 solve torch=2.0=cuda129_py312_0

# Of another machine, of more versions, as data.
unset CONDA_OVERRIDE_CUDA
expect 0 variants torch --for h100
out_lacks 'no:'
out_lacks 'Fits here'
out_has '  Fits h100'
# Of a version they stand as they are preferred: the first that fits is what is taken.
cat > both.yaml << 'END'
gpkg_profile: 1
platform: linux-64
nvidia: {cuda: "12.9"}
amd: {driver: present}
gpus:
  - {vendor: nvidia, name: A GPU, architecture: "9.0", memory_mib: 81559}
  - {vendor: amd, name: Built in, architecture: gfx1036, memory_mib: 512}
END
for machine in h100 v100 cpu mi300 ./both.yaml; do
    for name in torch vision; do
        expect 0 variants $name --for $machine --json
        first=$(python3 -c 'import json, sys; print(next(v["build"] for v in json.load(sys.stdin)["variants"] if v["fits"]))' <<< "$out")
        expect 0 solve $name --for $machine --json
        json "[p['build_string'] for p in d['packages'] if p['name'] == '$name'] == ['$first']"
    done
done
expect 0 variants torch --for v100 --versions 2 --json
json '[v["version"] for v in d["variants"]] == ["2.0"] * 3 + ["1.0"] * 2'
json '[v["fits"] for v in d["variants"] if v["variant"]["accelerator"] == "amd"] == [False]'
json 'all(v["fits"] == (v["reason"] is None) for v in d["variants"])'
json '{v["variant"]["evidence"] for v in d["variants"]} >= {"needs __amdgpu", "build cpu_py312_0"}'
expect 0 variants 'torch=1.0' --for mi300
out_lacks 'no:'
CONDA_OVERRIDE_CUDA=11.8 expect 0 variants torch
out_has 'no: is compiled with CUDA 12.9, but the driver supports CUDA 11.8'

# It fits where what it needs is there for the GPU, be that not the newest.
package libcudnn 9.10 0
package libcudnn 9.13 0
package deep 1.0 cuda12_0 '__cuda' libcudnn
package deep 1.0 cpu_0
expect 0 variants deep --for v100
out_lacks 'no:'
expect 0 solve deep --for v100
out_has cuda12_0 9.10
# What goes without a driver is of no use without a GPU.
package copper 1.0 0 'cuda-cudart >=12'
package cuda-cudart 12.9 0
expect 0 variants copper --for mi300
out_has 'yes, but no matching GPU'
expect 0 variants copper --for cpu --json
json '"is a CUDA build, but the machine has no NVIDIA GPU" == d["variants"][0]["caution"] and d["variants"][0]["fits"]'
expect 0 variants copper --for h100
out_lacks 'no matching GPU'

# The note on assumed facts proposes the one that is in the way.
package coming 1.0 cuda_0 '__cuda >=13'
expect 0 variants coming --for h100
out_has 'unknown: needs __cuda >=13'
out_lacks 'no:'
err_has 'to give a value: --for h100,cuda=13.0'
package forv4 1.0 0 '__archspec * x86_64_v4'
expect 0 variants forv4 --for h100
err_has 'to give a value: --for h100,cpu=x86_64_v4'
expect 0 variants coming --for h100,cuda=12.9
out_has 'no: needs __cuda >=13'
expect 0 variants coming --for h100,cuda=13.0
out_lacks 'no:'

# Only what differs is a column.
expect 0 variants plain
check [ "$(tr -s ' ' <<< "$out")" = '# Version Build Fits here
1.0 0 yes' ]
expect 1 variants plan
err_has 'did you mean plain?'
expect 2 variants 'torch*'
expect 2 variants torch --versions 0
expect 2 variants torch --driver 12.2
err_has 'for another machine or driver: --for h100,cuda=12.4; for this machine: CONDA_OVERRIDE_CUDA=12.4'

# What an earlier channel hides is told so, and how it is had.
other=$WORK/other
CHANNEL=$other package torch 2.0 cpu_py313_0 'python_abi 3.13.* *_cp313'
expect 0 variants torch -c "$CHANNEL" -c "$other" --override-channels
out_has "cpu_py313_0      none               3.13    $other/linux-64    hidden by $CHANNEL"
check [ "$(grep 'hidden by' <<< "$out" | grep -vc "$other/linux-64 ")" = 0 ]
err_has "channel priority is strict; to use builds hidden by $CHANNEL, request their channel, e.g. '$other::torch'"
expect 0 variants torch -c "$CHANNEL" -c "$other" --override-channels --json
json 'all(v["hidden_by"] == (None if v["channel"] == "file://" + channel else "file://" + channel)
    for v in d["variants"])'
# However new it is, the newest that is not hidden is shown as well.
CHANNEL=$other package torch 3.0 cpu_py313_0 'python_abi 3.13.* *_cp313'
CHANNEL=$other package torch 2.5 cpu_py313_0 'python_abi 3.13.* *_cp313'
expect 0 variants torch -c "$CHANNEL" -c "$other" --override-channels --json
json 'list(dict.fromkeys(v["version"] for v in d["variants"])) == ["3.0", "2.0"]'
json '[v["hidden_by"] is None for v in d["variants"] if v["version"] == "3.0"] == [False]'
json 'sum(v["hidden_by"] is None for v in d["variants"] if v["version"] == "2.0") == 3'
expect 0 variants "file://$other::torch" -c "$CHANNEL" -c "$other" --override-channels
out_lacks hidden
expect 0 variants torch -c "$CHANNEL" -c "$other" --override-channels --channel-priority flexible
out_lacks hidden

# What packages were built with, where the channel publishes it.
conda() { python3 "$here/conda_package.py" "$@"; }
# shown: the table with one space between its columns.
shown() { tr -s ' ' <<< "$out"; }
own=$WORK/own
one='{"c_compiler_version": "13", "flavour": "mild", "mpi": "nompi", "target_platform": "linux-64"}'
two='{"c_compiler_version": "14", "flavour": "hot", "mpi": "nompi", "target_platform": "linux-64"}'
conda "$own" soup 1 h1_0 "$one"
conda "$own" soup 1 h2_0 "$two" 200000
conda "$own" soup 1 h3_0 '{}' 0 3000000
conda "$own" soup 0 h0_0 '{"flavour": "old"}'
expect 0 index "$own"
check [ -s "$own/linux-64/variants.json.zst" ]
expect 0 variants soup -c "$own" --override-channels
check [ "$(shown)" = '# Version Build flavour c_compiler_version Fits here
1 h1_0 mild 13 yes
1 h2_0 hot 14 yes
1 h3_0 ? ? yes' ]
err_is 'build inputs (variables of the recipe): flavour and c_compiler_version
newest of 2 versions; for more: --versions N, or --versions all'
for versions in 2 all; do
    expect 0 variants soup -c "$own" --override-channels --versions $versions
    check grep -q '^0  *h0_0' <<< "$out"
    err_lacks 'for more: --versions'
done
expect 0 variants soup -c "$own" --override-channels --json
json '[v["variant_inputs"] and v["variant_inputs"]["flavour"] for v in d["variants"]] == ["mild", "hot", None]'
json 'd["variants"][0]["variant_inputs"]["target_platform"] == "linux-64"'
expect 0 variants soup -c "$own" --override-channels --inputs --json
json '[v["variant_inputs"] == {} for v in d["variants"]] == [False, False, True]'
err_is ''

# A package whose hash_input.json cannot be read is in the index all the same.
conda "$own" odd 1 0 '{"x": {}}'
expect 0 index "$own"
err_has "odd-1-0.conda: hash_input.json: 'x' must be a string, a number, true or false"
err_has 'not in variants.json'
expect 0 index "$own" --json
json 'd["success"] and [w["file"].split("/")[-1] for w in d["warnings"]] == ["odd-1-0.conda"]'
expect 0 variants odd -c "$own" --override-channels --inputs --json
json 'd["variants"][0]["variant_inputs"] is None'

# A channel that does not publish it: packages are asked on demand, and what they said is kept.
web=$WORK/web
control=$WORK/control
mkdir -p "$control" "$web"
cp -r "$own" "$web/main"
rm "$web"/main/*/variants.json*
python3 "$here/http_server.py" "$web" "$control" &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -e "$control/port" ] && break; sleep 0.05; done
from="-c http://127.0.0.1:$(cat "$control/port")/main --override-channels"
# answers: what was said of packages since the last call, sorted.
answers() {
    grep 'conda$' "$control/answers" | sort
    : > "$control/answers"
}
expect 0 variants soup $from
check [ "$(shown)" = '# Version Build Fits here
1 h1_0 yes
1 h2_0 yes
1 h3_0 yes' ]
err_is 'newest of 2 versions; for more: --versions N, or --versions all'
check [ "$(answers)" = '' ]
expect 0 variants soup $from --offline --inputs
err_is 'warning: variant inputs of 3 builds are unknown: they are not on this machine, and gpkg is offline
newest of 2 versions; for more: --versions N, or --versions all'

echo ranges > "$control/mode"
table='# Version Build flavour mpi c_compiler_version target_platform Fits here
1 h1_0 mild nompi 13 linux-64 yes
1 h2_0 hot nompi 14 linux-64 yes
1 h3_0 yes'
expect 0 variants soup $from --inputs
check [ "$(shown)" = "$table" ]
told='build inputs (variables of the recipe): flavour, mpi, c_compiler_version and target_platform
newest of 2 versions; for more: --versions N, or --versions all'
err_is "$told"
# Of the one with a large info part a second piece.
check [ "$(answers)" = '206 /main/linux-64/soup-1-h1_0.conda
206 /main/linux-64/soup-1-h2_0.conda
206 /main/linux-64/soup-1-h2_0.conda
206 /main/linux-64/soup-1-h3_0.conda' ]
for flag in '' --offline; do
    expect 0 variants soup $from --inputs $flag
    check [ "$(shown)" = "$table" ]
    err_is "$told"
    check [ "$(answers)" = '' ]
done

# A server that knows of no parts: small packages are taken whole, of large ones little.
: > "$control/mode"
rm -r "$GPKG_ROOT_PREFIX/cache/inputs"
expect 0 variants soup $from --inputs --json
json '[v["variant_inputs"] and v["variant_inputs"]["flavour"] for v in d["variants"]] == ["mild", "hot", None]'
expect 0 variants soup $from --inputs
err_has 'soup-1-h3_0.conda: the server does not support range requests, and the file exceeds 1048576 bytes'
# What is in the store is asked there.
expect 0 create -y -n kitchen $from soup=1=h3_0
expect 0 variants soup $from --inputs --json
json '[v["variant_inputs"] is None for v in d["variants"]] == [False] * 3'

# Packages that are not those of the index, that are damaged, and in the old format.
echo ranges > "$control/mode"
rm -r "$GPKG_ROOT_PREFIX/cache/inputs"
conda "$web/main" soup 1 h1_0 "$two" 50000
printf x | dd of="$web/main/linux-64/soup-1-h2_0.conda" bs=1 conv=notrunc \
    seek=$(($(stat -c %s "$web/main/linux-64/soup-1-h2_0.conda") - 1)) 2> "$WORK/dd"
expect 0 variants soup $from --inputs
check [ "$(grep -c '^warning' <<< "$err")" = 2 ]
err_has 'soup-1-h1_0.conda: ' 'bytes, but the channel index says'
err_has 'variant inputs of 1 build are unknown: they could not be read either'
expect 0 variants soup=1=h2_0 $from --inputs
err_has 'soup-1-h2_0.conda: the archive has no zip directory'
expect 0 variants torch --inputs
err_has 'variant inputs of 3 builds are unknown: .tar.bz2 packages cannot be read in part'

# The same of what is installed, from the package store.
expect 0 create -y -q -n spoon -c "$own" --override-channels soup=1=h2_0
expect 0 list -n spoon --inputs
out_has 'Built with'
out_has 'c_compiler_version=14 flavour=hot mpi=nompi target_platform=linux-64'
expect 0 list -n spoon --inputs --json
json 'd[0]["variant_inputs"]["flavour"] == "hot" and d[0]["url"].endswith("/linux-64/soup-1-h2_0.conda")'
expect 2 list -n spoon --inputs --explicit

finish
