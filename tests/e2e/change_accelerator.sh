# --accel, NAME[accel=...], hardware selectors, and what an update may change in kind
. "$(dirname "$0")/lib.sh"

BUILD_NUMBER=9 package torch 1.0 cpu_0
package torch 1.0 cuda129_0 '__cuda >=12'
BUILD_NUMBER=9 package flow 1.0 cpu_0
package flow 1.0 cuda129_0 '__cuda >=12'
package flow 1.0 rocm6_0 '__amdgpu'
package app 1.0 0 'flow'
package plain 1.0 0
gpu() { CONDA_OVERRIDE_CUDA=12.9 "$@"; }
state() { cat "$(place "$1")/conda-meta/gpkg/state.json" 2> /dev/null; }

# The GPU that is there decides, whatever build numbers say; or what is asked for.
expect 0 solve torch
out_has cpu_0
gpu expect 0 solve torch
out_has cuda129_0
gpu expect 0 solve torch --accel conda
out_has cpu_0
gpu expect 0 solve torch --accel none
out_has cpu_0
gpu expect 0 solve torch 'app' 'flow[accel=none]' --json
json '{(p["name"], p["build"]) for p in d["packages"]} == {("torch", "cuda129_0"), ("flow", "cpu_0"), ("app", "0")}'
expect 1 solve torch --accel nvidia
err_has 'this machine has no NVIDIA driver (__cuda)'
err_has "gpkg solve 'torch[accel=auto]'  # gives torch 1.0"
expect 0 solve 'torch[accel=auto]'
gpu expect 1 solve torch --accel amd
err_has 'torch 1.0 has no ROCm build'

# Where all else is for none, a package that is for the GPU that is there may need what is for it too: no more than that.
package part 1.0 cuda_0 '__cuda >=12'
package part 1.0 cpu_0
package whole 1.0 cuda129_0 '__cuda >=12' 'part * cuda*'
package whole 1.0 cpu_0
package user 1.0 cuda129_0 '__cuda >=12' whole
package user 1.0 cpu_0
for choice in auto nvidia; do
    gpu expect 0 solve "user[accel=$choice]" --accel none --json
    json '{p["name"]: p["build"] for p in d["packages"]} == {"user": "cuda129_0", "whole": "cpu_0"}'
    gpu expect 0 solve "whole[accel=$choice]" --accel none --json
    json '{p["name"]: p["build"] for p in d["packages"]} == {"whole": "cuda129_0", "part": "cuda_0"}'
done
expect 0 solve 'whole[accel=auto]' --accel none
out_has cpu_0

# What decided between builds is what why-not tells.
gpu expect 0 why-not torch
out_has 'torch 1.0 cuda129_0 is chosen: newest version, CUDA build' 'CUDA build because this machine has an NVIDIA '
package onlynew 1.0 cuda11_0
package onlynew 2.0 cuda12_0 '__cuda >=12'
package onlynew 2.0 cpu_0
index
expect 0 why-not 'onlynew=*=cuda*'
out_has 'onlynew 1.0 cuda11_0 is possible, but' \
    'onlynew 2.0 cuda12_0 cannot be used: needs __cuda >=12, but this machine has no NVIDIA driver'
gpu expect 0 why-not 'torch=1.0=cpu_0' torch
out_has 'torch 1.0 cpu_0 is possible, but torch 1.0 cuda129_0 is a CUDA build, and this machine has an NVIDIA '

# The first of several that works; one for a GPU only where such a GPU is.
# Where none of them is there, all are tried, and the first is explained.
expect 1 solve torch --accel amd,nvidia
err_has "the request cannot be solved with accelerator amd or nvidia; with amd:"
expect 0 solve torch --accel nvidia,none
out_has cpu_0
gpu expect 0 solve torch --accel nvidia,none
out_has cuda129_0
gpu expect 0 solve torch hardware-select-gpu-amd hardware-select-gpu-nvidia hardware-fallback-cpu
out_has cuda129_0
expect 0 solve torch hardware-select-gpu-nvidia hardware-fallback-cpu-x86_64
out_has cpu_0

# One for another CPU says nothing here, and is no silent nothing but where another one says it.
gpu expect 0 solve torch hardware-select-cpu-aarch64
out_has cuda129_0
err_has "ignored hardware selector: hardware-select-cpu-aarch64 (not for linux-64)"
expect 0 solve torch hardware-select-gpu-nvidia hardware-fallback-cpu-aarch64 hardware-fallback-cpu-x86_64
out_has cpu_0
err_lacks 'ignored hardware selector'
printf 'dependencies: [torch, hardware-select-cpu-ppc64le]\n' > "$WORK/elsewhere.yml"
expect 0 solve -f "$WORK/elsewhere.yml"
err_has 'ignored hardware selector: hardware-select-cpu-ppc64le'

# What keeps a version out that has such a build: not the machine, where the request asks for less.
package stepped 1.0 cuda129_0 '__cuda >=12'
package stepped 2.0 cpu_0
package stepped 3.0 cuda129_0 '__cuda >=12'
package stepped 4.0 cuda129_0 '__cuda >=13'
gpu expect 0 solve 'stepped=1' --accel nvidia
err_lacks 'instead of'
gpu expect 0 solve 'stepped<4' --accel nvidia
err_lacks 'instead of'
gpu expect 0 solve stepped --accel nvidia
err_has 'stepped 3.0 is selected instead of 4.0, which needs __cuda >=13, but this machine has a driver for CUDA 12.9'
gpu expect 0 solve stepped=2
err_has 'stepped 2.0 is selected instead of 3.0, a CUDA build, which does not match the request'

# Of a package that comes in one form, what it needs may have builds: then it is asked of these.
gpu expect 0 solve 'app[accel=none]'
out_has cpu_0
gpu expect 0 solve 'app[accel=nvidia]' --accel none
out_has cuda129_0
expect 0 create -n brings app -y
gpu expect 0 install -n brings 'app[accel=nvidia]' -y
gpu expect 0 update -n brings --all -y
check [ -e "$(place brings)/conda-meta/flow-1.0-cuda129_0.json" ]
gpu expect 0 install -n brings 'app[accel=none]' -y
gpu expect 0 update -n brings --all -y
check [ -e "$(place brings)/conda-meta/flow-1.0-cpu_0.json" ]
gpu expect 0 solve 'plain[accel=nvidia]'
err_has 'note: plain[accel=nvidia] has no effect: plain has no GPU builds'
for heeded in 'app[accel=none]' 'app[accel=nvidia]' 'flow[accel=none]' 'flow[accel=nvidia]' 'app[accel=auto]' 'stepped=2[accel=none]'; do
    gpu expect 0 solve "$heeded"
    err_lacks 'has no effect'
done
package torch-base 1.0 cpu_0
expect 0 solve 'torch-base[accel=none]'
err_lacks 'has no effect'
# One that says it is for none is none for the GPU that was asked for.
expect 1 solve 'torch-base[accel=nvidia]'
err_has 'torch-base 1.0 has no CUDA build'
expect 1 solve torch-base --accel nvidia
# Nor may the one be hidden that is.
other=$WORK/other_channel
CHANNEL=$other package torch-base 2.0 cuda129_0 '__cuda >=12'
gpu expect 0 solve torch-base -c "$CHANNEL" -c "$other" --override-channels
err_has 'torch-base 1.0 is selected instead of 2.0, a CUDA build (in ' 'hidden by strict channel priority)'

# Slips.
expect 2 solve torch --accel cuda
err_is 'error: --accel cuda: not an accelerator
  hint: did you mean nvidia?'
expect 0 solve torch --accel cpu
out_has cpu_0
expect 0 solve 'torch[accel=cpu]'
out_has cpu_0
expect 2 solve 'torch[accel=nvida]'
err_has 'did you mean nvidia?'
expect 2 solve 'torch[acel=none]'
err_has 'did you mean accel?'
# What is no request has no such key, and says so.
expect 0 create -q -y -n torch torch
for verb in variants search 'remove -n torch'; do
    expect 2 $verb 'torch[accel=none]'
    err_has "'accel' is allowed only in requested specs" 'use [accel=...] with gpkg create, install, update, solve or lock'
done
GPKG_PINNED_PACKAGES='torch[accel=none]' gpkg solve torch
check [ "$status" != 0 ]
err_has "'accel' is allowed only in requested specs"
expect 2 solve 'torch[accel=[none]]'
err_has "'accel' takes one value, not a list"
expect 2 solve torch hardware-select-gpu-nvida
err_has 'did you mean hardware-select-gpu-nvidia?'
expect 2 solve torch --accel ''
err_has 'not an accelerator'
expect 2 solve torch hardware-selectgpu-nvidia
err_has 'did you mean hardware-select-gpu-nvidia?'
expect 2 solve 'torch[accel=none]' 'torch[accel=nvidia]'
err_has 'the accelerator of torch is already set to none'
expect 2 solve torch hardware-select-gpu-nvidia --accel none
err_has '--accel and a hardware selector cannot be used together'
environment() { printf 'dependencies: [%s]\naccelerator: %s\n' "$1" "$2" > "$WORK/slip.yml"; }
environment torch '{troch: none}'
expect 1 solve -f "$WORK/slip.yml"
err_has "an accelerator is set for package 'troch', which is not found for linux-64"
err_has 'did you mean torch?'
environment torch '{Torch: none}'
gpu expect 0 solve -f "$WORK/slip.yml"
out_has cpu_0
environment torch '{torch 1.0: none}'
expect 1 solve -f "$WORK/slip.yml"
err_has "'torch 1.0' is not a package name"
environment '"torch[accel=nvidia]"' '{torch: none}'
expect 2 solve -f "$WORK/slip.yml"
err_has 'the accelerator of torch is already set to none'
environment 'torch, hardware-select-gpu-nvidia' none
expect 1 solve -f "$WORK/slip.yml"
err_has "cannot be combined with the key 'accelerator'"

# Two vendors: a question only where the answer depends on it, and an error where nobody is asked.
unset CONDA_OVERRIDE_CUDA
cat > "$WORK/both.yml" << 'YML'
gpkg_profile: 1
platform: linux-64
system: {linux: "6.1", glibc: "2.36"}
nvidia: {driver: "575.51.03", cuda: "12.9"}
amd: {driver: present, rocm: "6.4.0"}
gpus:
- {vendor: nvidia, name: H100, architecture: "9.0", memory_mib: 81559}
- {vendor: amd, name: MI300X, architecture: gfx942, memory_mib: 196592}
YML
expect 0 solve plain --for "$WORK/both.yml"
expect 2 solve flow --for "$WORK/both.yml"
err_has 'has GPUs of two vendors, which need different packages: nvidia selects flow-1.0-cuda129_0, amd selects flow-1.0-rocm6_0'
err_has 'use --accel nvidia, --accel amd or --accel none'
expect 0 solve flow --for "$WORK/both.yml" --accel amd
out_has rocm6_0
export CONDA_OVERRIDE_CUDA=

# What was asked for stays with the environment, on machines without the GPU too.
gpu expect 0 create -n ml torch --accel nvidia -y
check [ "$(state ml)" = '{
  "accelerator": "nvidia"
}' ]
records ml 'r["torch"]["build"] == "cuda129_0" and "accel" not in str(r["torch"].get("requested_specs"))'
BUILD_NUMBER=9 package torch 2.0 cpu_0
expect 0 update -n ml --all -y
records ml 'r["torch"]["build"] == "cuda129_0"'
gpu expect 0 install -n ml app -y
records ml 'r["flow"]["build"] == "cuda129_0"'
# To ask for another moves what is installed, to another version only where this one has no such
# build.
expect 0 install -n ml --accel none -y
records ml 'r["torch"]["build"] == "cpu_0" and r["flow"]["build"] == "cpu_0" and r["torch"]["version"] == "1.0"'
gpu expect 0 create -n stepped stepped=1 torch=1.0 -y
gpu expect 0 install -n stepped stepped torch --accel none -y
records stepped 'r["torch"]["build"] == "cpu_0" and r["torch"]["version"] == "1.0"'
records stepped 'r["stepped"]["build"] == "cpu_0" and r["stepped"]["version"] == "2.0"'
gpu expect 0 install -n stepped 'torch[accel=nvidia]' -y
records stepped 'r["torch"]["build"] == "cuda129_0" and r["torch"]["version"] == "1.0"'
check [ "$(state ml)" = '{
  "accelerator": "none"
}' ]

# Of one package, as long as it is there.
gpu expect 0 create -n one torch=1.0 'flow[accel=none]' -y
check [ "$(state one)" = '{
  "package_accelerators": {
    "flow": "none"
  }
}' ]
BUILD_NUMBER=9 package flow 2.0 cpu_0
package flow 2.0 cuda129_0 '__cuda >=12'
gpu expect 0 update -n one --all -y
records one 'r["flow"]["build"] == "cpu_0" and r["flow"]["version"] == "2.0"'
expect 0 remove -n one flow -y
check [ "$(state one)" = '{}' ]

# An update that would change the accelerator or the channel of what is installed is refused, and
# says what would ask for it.
gpu expect 0 create -n held torch=1.0 -y
records held 'r["torch"]["build"] == "cuda129_0"'
gpu expect 0 install -n held torch -y
gpu expect 0 create -n held2 'torch<2' -y
python3 - "$(place held2)" << 'PY'
import sys, re
path = sys.argv[1] + "/conda-meta/history"
text = open(path).read().replace("torch[version='<2']", "torch").replace("torch <2", "torch").replace("torch<2", "torch")
open(path, "w").write(text)
PY
gpu expect 0 update -n held2 torch -y
err_has 'torch 1.0 is selected instead of 2.0, a CPU build (the installed one is a CUDA build); torch[accel=none] selects it'
gpu expect 0 update -n held2 'torch[accel=none]' -y
records held2 'r["torch"]["version"] == "2.0" and r["torch"]["build"] == "cpu_0"'

# environment.yml, in gpkg's own key, which conda does not read.
cat > "$WORK/env.yml" << 'YML'
name: fromfile
dependencies: [torch=1.0, flow]
accelerator: {default: [nvidia, none], flow: none}
YML
gpu expect 0 env create -f "$WORK/env.yml" -y
records fromfile 'r["torch"]["build"] == "cuda129_0" and r["flow"]["build"] == "cpu_0"'
check [ "$(state fromfile)" = '{
  "accelerator": "nvidia",
  "accelerator_asked": [
    "nvidia",
    "none"
  ],
  "package_accelerators": {
    "flow": "none"
  }
}' ]
printf 'dependencies: [torch]\naccelerator: cuda\n' > "$WORK/bad.yml"
expect 2 solve -f "$WORK/bad.yml"
err_has 'bad.yml:2:14: cuda: not an accelerator'
printf 'dependencies: [torch, hardware-select-gpu-nvidia, hardware-fallback-cpu]\n' > "$WORK/sel.yml"
expect 0 solve -f "$WORK/sel.yml"
out_has cpu_0

# Of several what was asked for is exported, wherever it was; what was taken goes on to hold.
exported() {
    expect 0 env export -n "$1" --from-history
    out_has "accelerator: $2"
}
asked() { tr -d ' \n' < "$(place "$1")/conda-meta/gpkg/state.json"; }
expect 0 create -y -n here torch=1.0 --accel nvidia,none
exported here '[nvidia, none]'
check [ "$(asked here)" = '{"accelerator":"none","accelerator_asked":["nvidia","none"]}' ]
expect 0 env export -n here --json
json 'd["accelerator"] == ["nvidia", "none"]'
gpu expect 0 create -y -n there torch=1.0 hardware-select-gpu-nvidia hardware-fallback-cpu
exported there '[nvidia, none]'
records there 'r["torch"]["build"] == "cuda129_0"'
gpu expect 0 install -y -n here flow=1.0
records here 'r["torch"]["build"] == "cpu_0" and r["flow"]["build"] == "cpu_0"'
exported here '[nvidia, none]'
gpu expect 0 update -y -n here --all
records here 'r["flow"]["build"] == "cpu_0"'
expect 0 env export -n there --from-history -f "$WORK/again.yml"
expect 0 env create -q -y -n again -f "$WORK/again.yml"
records again 'r["torch"]["build"] == "cpu_0"'
exported again '[nvidia, none]'
expect 0 create -q -y -n copy --clone there
exported copy '[nvidia, none]'
# Asked again it may be another; asked for one it is that one.
gpu expect 0 install -y -n here --accel nvidia,none
records here 'r["torch"]["build"] == "cuda129_0"'
expect 0 rollback -y -n here
check [ "$(asked here)" = '{"accelerator":"none","accelerator_asked":["nvidia","none"]}' ]
expect 0 install -y -n here --accel none
exported here none
# A list that is installed as it is says that again, and leaves the rest of what is remembered.
printf '{"accelerator": "nvidia", "link_scripts": {"x": ["%064d"]}, "later": 1}' 0 > "$(place here)/conda-meta/gpkg/state.json"
expect 0 list --explicit -n here
printf '%s\n' "$out" > "$WORK/here.txt"
expect 0 install -y -n here -f "$WORK/here.txt" --accel none
case $(asked here) in
    *'"accelerator":"none"'*'"x":["0000'*'"later":1'*) ;;
    *) fail "not kept: $(asked here)" ;;
esac
# As long as no package shows it, none was taken.
expect 0 create -y -n open plain --accel nvidia,none
check [ "$(asked open)" = '{"accelerator_asked":["nvidia","none"]}' ]
gpu expect 0 install -y -n open torch=1.0
records open 'r["torch"]["build"] == "cuda129_0"'
check [ "$(asked open)" = '{"accelerator":"nvidia","accelerator_asked":["nvidia","none"]}' ]
# So it is where a lock was asked.
expect 0 lock torch=1.0 --accel nvidia,none --for h100 --for cpu -o "$WORK/several.lock"
expect 0 create -y -n locked --lock "$WORK/several.lock"
exported locked '[nvidia, none]'
check [ "$(asked locked)" = '{"accelerator":"none","accelerator_asked":["nvidia","none"]}' ]
expect 0 lock plain --accel nvidia,none --for cpu -o "$WORK/plain.lock"
expect 0 create -y -n plainly --lock "$WORK/plain.lock"
gpu expect 0 install -n plainly flow=1.0 --dry-run
out_has cuda129_0
# A state that nobody can read is told of, and made again.
for bad in '["nvidia"]' '"bogus"' '"nvidia,none"'; do
    printf '{"accelerator": %s}' "$bad" > "$(place locked)/conda-meta/gpkg/state.json"
    expect 1 verify -n locked
    out_has 'conda-meta/gpkg/state.json' 'cannot be read'
    for verb in 'env export' 'install plain'; do
        expect 1 $verb -n locked
        err_has "conda-meta/gpkg/state.json: $bad is not an accelerator" 'gpkg repair -n locked'
    done
    expect 0 repair -y -n locked
    exported locked '[nvidia, none]'
done

# Files that contradict each other; the command line can settle it.
printf 'dependencies: [torch=1.0]\naccelerator: nvidia\n' > "$WORK/n.yml"
printf 'dependencies: [flow]\naccelerator: none\n' > "$WORK/o.yml"
printf 'dependencies: [flow]\naccelerator: {torch: none}\n' > "$WORK/p.yml"
printf 'torch[accel=nvidia]\n' > "$WORK/q.txt"
gpu expect 2 solve -f "$WORK/n.yml" -f "$WORK/o.yml"
err_has "conflicting accelerators: nvidia in $WORK/n.yml, none in $WORK/o.yml" 'choose one: --accel none'
gpu expect 0 solve -f "$WORK/n.yml" -f "$WORK/o.yml" --accel none
out_lacks cuda129_0
gpu expect 0 solve -f "$WORK/n.yml" -f "$WORK/p.yml"
out_has 'flow' 'cuda129_0' 'cpu_0'
gpu expect 0 solve -f "$WORK/n.yml" -f "$WORK/n.yml"
gpu expect 2 solve -f "$WORK/p.yml" -f "$WORK/q.txt"
err_has "conflicting accelerators of torch: none in $WORK/p.yml, nvidia in $WORK/q.txt" "choose one: torch[accel=nvidia]"
gpu expect 0 solve -f "$WORK/p.yml" -f "$WORK/q.txt" 'torch=1.0[accel=nvidia]'
out_has cuda129_0

# Who builds for CUDA needs no driver for it; what runs does.
constrained() { sed -i "/\"cuda-version-$1-/s/\"depends\":/\"constrains\":[\"__cuda >=${1%%.*}\"],&/" "$WORK/records.linux-64"; index; }
package cuda-version 12.9 0
package cuda-version 11.8 0
constrained 12.9
constrained 11.8
package cuda-nvcc 12.9 0 'cuda-version 12.9.*'
package cuda-nvcc 11.8 0 'cuda-version 11.8.*'
package runner 2.0 cuda129_0 'cuda-version 12.9.*'
package runner 2.0 cpu_0
package lonely 2.0 0 'cuda-version 12.9.*'
export CONDA_OVERRIDE_CUDA=11.4
expect 0 solve cuda-nvcc
out_has 11.8
expect 0 create -n nvcc cuda-nvcc=12.9 -y
err_has 'programs built with this CUDA do not run on this machine: its driver supports CUDA 11.4'
records nvcc 'r["cuda-nvcc"]["version"] == "12.9"'
expect 0 install -n nvcc flow=1.0 -y
records nvcc 'r["cuda-nvcc"]["version"] == "12.9"'
expect 1 solve cuda-nvcc=12.9 runner
err_has 'this machine has a driver for CUDA 11.4'
expect 1 solve lonely
unset CONDA_OVERRIDE_CUDA
CONDA_OVERRIDE_CUDA=12.9 expect 0 solve cuda-nvcc=12.9 runner
out_has cuda129_0
err_lacks 'programs built with this CUDA'

# What a site's configuration says of new environments, and profiles of its machines.
expect 2 config set accelerator nvida
err_has 'did you mean nvidia?'
expect 0 config set accelerator none
CONDA_OVERRIDE_CUDA=12.9 expect 0 create -q -y -n usual torch=1.0
records usual 'r["torch"]["build"] == "cpu_0"'
check grep -q '"none"' "$(place usual)/conda-meta/gpkg/state.json"
CONDA_OVERRIDE_CUDA=12.9 expect 0 create -q -y -n unusual torch=1.0 --accel nvidia
records unusual 'r["torch"]["build"] == "cuda129_0"'
CONDA_OVERRIDE_CUDA=12.9 expect 0 install -q -y -n unusual plain
records unusual 'r["torch"]["build"] == "cuda129_0"'
# So of what is only decided, and of what is made of that.
expect 0 solve torch=1.0 --for h100
out_has cpu_0
expect 0 solve torch=1.0 --for h100 --accel auto
out_has cuda129_0
expect 0 lock torch=1.0 --for h100 -o "$WORK/usual.lock"
check grep -q 'torch-1.0-cpu_0' "$WORK/usual.lock"
expect 0 create -q -y -n ofusual --lock "$WORK/usual.lock" --for h100
exported ofusual none
expect 0 closure torch=1.0 --for h100 --json
out_lacks cuda129_0
expect 0 why-not torch=2.0 torch=1.0 --for h100 --json
json 'd["chosen"]["build"] == "cpu_0"'
expect 0 create -q -y -n bare
CONDA_OVERRIDE_CUDA=12.9 expect 0 install -q -y -n bare torch=1.0
records bare 'r["torch"]["build"] == "cpu_0"'
# Where the file alone counts it is as for a new environment; else what is remembered holds.
printf 'dependencies: [torch=1.0]\n' > "$WORK/usual.yml"
CONDA_OVERRIDE_CUDA=12.9 expect 0 env update -q -y -n usual -f "$WORK/usual.yml" --prune
records usual 'r["torch"]["build"] == "cpu_0"'
exported usual none
CONDA_OVERRIDE_CUDA=12.9 expect 0 env update -q -y -n unusual -f "$WORK/usual.yml"
records unusual 'r["torch"]["build"] == "cuda129_0"'
expect 0 config set accelerator amd
expect 1 solve torch
err_has 'hint: accelerator: amd is set in ' 'config.yaml:' '; override it with --accel'
expect 1 solve torch --accel amd
err_lacks 'is set in'
expect 0 config set accelerator nvidia,none
expect 0 create -q -y -n either torch=1.0
records either 'r["torch"]["build"] == "cpu_0"'
exported either '[nvidia, none]'
expect 0 config remove-key accelerator
mkdir "$WORK/site"
expect 0 hardware export -o "$WORK/site/node7.yaml"
expect 2 solve plain --for node7
expect 0 config append profile_folders "$WORK/site"
expect 0 solve plain --for node7
expect 0 hardware list
out_has node7 "$WORK/site/node7.yaml"

# What is asked for with an accelerator chooses the builds of its parts, which are installed for another; what doctor
# advises works.
package engine 1.0 cpu_0
package engine 1.0 cuda129_0 '__cuda >=12'
package turbo 1.0 cpu_0 'engine 1.0 cpu_0'
package turbo 1.0 cuda129_0 'engine 1.0 cuda129_0' '__cuda >=12'
expect 0 create -q -y -n parts turbo --for cpu
expect 0 doctor -n parts --for h100 --json
advice=$(python3 -c 'import json, re, sys; print(re.search(r"gpkg (install [^\"]*)", sys.stdin.read())[1])' <<< "$out")
expect 0 update -n parts --all --for h100 --dry-run --json
out_lacks cuda129_0
eval "expect 0 $advice -y -q"
records parts '{n: r[n]["build"] for n in ("engine", "turbo")} == {"engine": "cuda129_0", "turbo": "cuda129_0"}'

# Who asks one of them for another BLAS asks all that stand for it.
for kind in openblas mkl; do
    package libblas 3.11.0 1_$kind
    package libcblas 3.11.0 1_$kind "libblas 3.11.0 1_$kind"
done
package sums 1.0 0 'libblas' 'libcblas'
expect 0 create -q -y -n sums sums 'libblas=*=*openblas'
expect 0 create -q -y -n sums2 --clone sums
expect 0 update -q -y -n sums --all
records sums 'r["libcblas"]["build"] == "1_openblas"'
expect 0 install -q -y -n sums 'libblas=*=*mkl'
records sums '{r[n]["build"] for n in ("libblas", "libcblas")} == {"1_mkl"}'

# Also where something is there with that BLAS beside a libblas of another.
for name in a b c d e f; do package "linked-$name" 1.0 0 'mkl >=2023'; done
package mkl 2025.0 0
index
expect 0 create -q -y -n mixed 'libblas=*=*openblas' sums linked-{a,b,c,d,e,f}
expect 0 install -q -y -n mixed 'libblas=*=*mkl'
records mixed '{r[n]["build"] for n in ("libblas", "libcblas")} == {"1_mkl"}'

# A build gives way for one that runs, and for one for the GPU of something else; why-not tells it.
package cuda-version 13.0 0
package code 1.0 new_1 'cuda-version >=13,<14'
package code 1.0 old_0 'cuda-version >=12,<13'
CONDA_OVERRIDE_CUDA=13.0 CONDA_OVERRIDE_CUDA_ARCH=7.0 expect 0 why-not 'code=1.0=new_1' code
out_has 'but code 1.0 old_0 runs here, and code 1.0 new_1 needs cuda-version >=13,<14, which does not support compute capability 7.0'
CONDA_OVERRIDE_CUDA=13.0 CONDA_OVERRIDE_CUDA_ARCH=7.0 expect 0 solve cuda-version code
out_has old_0
package needs12 1.0 cuda129_0 'cuda-version >=12,<13'
package needs12 1.0 cpu_0
CONDA_OVERRIDE_CUDA=13.0 CONDA_OVERRIDE_CUDA_ARCH=9.0 expect 0 solve code needs12
out_has old_0 cuda129_0
CONDA_OVERRIDE_CUDA=13.0 CONDA_OVERRIDE_CUDA_ARCH=9.0 expect 0 why-not cuda-version=13 code needs12
out_has 'needs12 ==1.0 cuda129_0 is the best match for the request' 'needs12 1.0 cuda129_0 needs cuda-version >=12,<13'

# Who names a CUDA wants builds for it, over older versions if need be, where they can be had.
package cuda-version 11.7 0
package cuda-version 12.3 0 '__cuda >=12'
package named 3.0 cpu_0
package named 2.0 cuda117_0 '__cuda' 'cuda-version 11.7.*'
package named 1.0 cuda123_0 '__cuda' 'cuda-version 12.3.*'
index
gpu expect 0 solve named cuda-version=11.7
out_has cuda117_0
gpu expect 0 solve named
out_has cpu_0
expect 0 solve named cuda-version=11.7
out_has cpu_0
CONDA_OVERRIDE_CUDA_ARCH=3.5 gpu expect 0 solve named cuda-version=12.3
out_has cpu_0
CONDA_OVERRIDE_CUDA_ARCH=9.0 gpu expect 0 solve named cuda-version=12.3
out_has cuda123_0
gpu expect 0 solve named cuda-version=11.7 --accel none
out_has cpu_0
gpu expect 0 create -n named named=3.0 cuda-version=11.7
expect 0 create -n kept named --accel auto
gpu expect 0 install -n kept cuda-version=11.7
check [ -e "$(place kept)/conda-meta/named-3.0-cpu_0.json" ]
gpu expect 0 update -n kept named --accel auto
check [ -e "$(place kept)/conda-meta/named-3.0-cpu_0.json" ]

# A pattern that builds for several accelerators meet asks for no other one.
package globbed 1.0 cuda123_mkl_0 '__cuda' 'cuda-version 12.3.*'
package globbed 2.0 cuda123_generic_0 '__cuda' 'cuda-version 12.3.*'
package globbed 3.0 cpu_generic_0
package globbed 3.0 cpu_plain_0
index
gpu expect 0 create -n globbed globbed=1.0 --accel auto
gpu expect 0 install -n globbed 'globbed[build=*generic*]'
check [ -e "$(place globbed)/conda-meta/globbed-2.0-cuda123_generic_0.json" ]
gpu expect 0 install -n globbed 'globbed[build=*plain*]'
check [ -e "$(place globbed)/conda-meta/globbed-3.0-cpu_plain_0.json" ]

# CUDA's major version is another only where it is named, or where there is no answer else.
package cuda-cudart 12.9 0 'cuda-version 12.9.*'
package cuda-cudart 13.0 0 'cuda-version 13.0.*'
package major 1.0 cuda129_0 '__cuda' 'cuda-cudart 12.*'
BUILD_NUMBER=1 package major 1.0 cuda130_1 '__cuda' 'cuda-cudart 13.*'
package major 2.0 cuda130_0 '__cuda' 'cuda-cudart 13.*'
package only13 1.0 cuda130_0 '__cuda' 'cuda-cudart 13.*'
index
has() { check [ -e "$(place major)/conda-meta/$1.json" ]; }
newer() { CONDA_OVERRIDE_CUDA=13.0 "$@"; }
gpu expect 0 create -n major major --accel auto
has cuda-version-12.9-0
newer expect 0 update -n major major
has major-1.0-cuda129_0
err_has 'major 1.0 is selected instead of 2.0, which does not go with the installed packages; cuda-version=13 selects it'
newer expect 0 update -n major major cuda-version=13 --dry-run
out_has '^ major         1.0 -> 2.0'
newer expect 0 update -n major --all
newer expect 0 install -n major plain
has major-1.0-cuda129_0
newer expect 0 install -n major only13 --dry-run
err_has 'cannot solve with cuda-version 12.*; using cuda-version 13.0 0'
newer expect 0 install -n major major=2 --dry-run
out_has '^ cuda-version  12.9 -> 13.0'
newer expect 0 update -n major cuda-version --dry-run
out_has '~ major         1.0           cuda129_0 -> cuda130_1'
err_lacks 'conflict with other packages'
newer expect 0 update -n major cuda-cudart
has cuda-version-12.9-0
newer expect 0 update -n major cuda-version major
has major-2.0-cuda130_0
has cuda-version-13.0-0

# One thing that cannot hold lifts no other; what tells a CUDA by another name holds as well.
package flo 1.0 0
package flo 2.0 0
package oth 1.0 0
package oth 2.0 0
package pytorch-cuda 13.0 0
package pytorch-cuda 12.4 0
package oldway 1.0 cuda124_0 '__cuda' 'pytorch-cuda 12.*'
BUILD_NUMBER=1 package oldway 1.0 cuda130_1 '__cuda' 'pytorch-cuda 13.*'
index
gpu expect 0 create -n pinned flo oth=1.0 major=1.0 oldway --accel auto
echo 'flo <2' > "$(place pinned)/conda-meta/pinned"
newer expect 0 update -n pinned oth oldway
err_has 'cannot solve with flo >=2.0; using flo 1.0 0'
err_lacks 'cuda-version'
for kept in cuda-version-12.9-0 pytorch-cuda-12.4-0 oth-2.0-0 flo-1.0-0; do
    check [ -e "$(place pinned)/conda-meta/$kept.json" ]
done

# Where two words name it, the command says once for which accelerator.
package word 1.0 cuda129_0 '__cuda'
package word 1.0 cpu_0
index
expect 1 solve 'word>=1' 'word[accel=nvidia]' -c "file://$CHANNEL" --override-channels
err_has "gpkg solve 'word>=1' 'word[accel=auto]' -c"
expect 0 solve 'word>=1' 'word[accel=auto]'
expect 1 solve word 'word[build=*cpu*,accel=nvidia]'
err_has "gpkg solve word 'word=*=*cpu*[accel=auto]'"
expect 0 solve word 'word=*=*cpu*[accel=auto]'

# What is held back and could come here is told, be there something newer that could not.
amd() { CONDA_OVERRIDE_AMDGPU=0 "$@"; }
package turn 1.0 rocm_0 '__amdgpu'
package turn 1.1 rocm_0 '__amdgpu'
package turn 2.0 cpu_0
package turn 3.0 cuda129_0 '__cuda'
index
amd expect 0 create -n turn turn=1.0 --accel auto
amd expect 0 update -n turn turn --dry-run
err_has 'turn 1.1 is selected instead of 2.0, a CPU build (the installed one is a ROCm build); turn[accel=none] selects it'
amd expect 1 update -n turn turn=2 --dry-run
err_has "gpkg update -n turn 'turn=2[accel=none]' --dry-run"
err_lacks 'accel=nvidia'

# A part of CUDA that was named gives way to what is for the GPU, and that is told.
package cuda-part 1.0 0 'cuda-version 12.9.*'
package cuda-part 2.0 0 'cuda-version 13.0.*'
package gainer 1.0 cuda129_0 '__cuda' 'cuda-version 12.9.*'
package gainer 1.0 cpu_0
index
newer expect 0 solve cuda-part gainer
out_has cuda129_0
err_has 'cuda-part 1.0 is selected instead of 2.0; cuda-part==2.0 selects it; gainer would be 1.0, a CPU build'
newer expect 0 solve cuda-part==2.0 gainer
out_has cpu_0
newer expect 0 why-not cuda-part=2 cuda-part gainer
out_has 'cuda-part 2.0 0 is possible, but conflicts with the best match for the request' 'gainer ==1.0 cuda129_0 is the best match for the request'

# --accel nvidia takes what has no builds for accelerators any more, and says that it has no effect.
package rest 1.0 cpu_0
package rest 2.0 h1_0
index
newer expect 0 solve rest --accel nvidia
out_has 'h1_0'
err_has 'note: accelerator nvidia has no effect yet: rest 2.0 and its dependencies have no CUDA builds'
newer expect 0 why-not rest --accel nvidia
out_has 'rest 2.0 h1_0 is chosen: newest version' 'accelerator nvidia has no effect on rest 2.0: it has no CUDA builds'
newer expect 1 solve rest=1 --accel nvidia

# Who gets a build for CPUs is told so, also where another BLAS would only bring a newer one.
package libblas 3.10 0_mkl mkl
BUILD_NUMBER=1 package libblas 3.10 1_openblas libopenblas
package mkl 1 0
package libopenblas 1 0
package summer 1.0 mkl_0 'libblas * *mkl'
BUILD_NUMBER=1 package summer 1.0 openblas_1 'libblas * *openblas'
package mixer 1.0 cpu_openblas_0 'libblas * *openblas'
package mixer 2.0 cpu_mkl_0 'libblas * *mkl'
package mixer 1.0 cuda130_openblas_0 '__cuda' 'libblas * *openblas' 'cuda-version 13.0.*'
index
gpu expect 0 create -n mixer summer cuda-version=12.9
gpu expect 0 install -n mixer mixer --dry-run
err_has 'mixer 1.0 is selected instead of 2.0, which does not go with the installed packages; libblas[build=*mkl] selects it' \
    'mixer 1.0 is selected instead of its CUDA build, which '

# For which accelerator a part is, what it is a part of says, unless it is requested itself.
package zlead 1.0 cuda129_0 '__cuda' 'apart 1.0 cuda129_0'
package zlead 1.0 cpu_0 'apart 1.0 cpu_0'
package apart 1.0 cuda129_0 '__cuda'
package apart 1.0 cpu_0
index
gpu expect 0 solve 'zlead[accel=nvidia]' --accel none
out_has 'cuda129_0'
out_lacks 'cpu_0'
gpu expect 1 solve 'apart=1.0=cuda129*' 'zlead[accel=nvidia]' --accel none
err_has "gpkg solve 'apart=1.0=cuda129*[accel=auto]' 'zlead[accel=nvidia]' --accel none  # gives apart 1.0"
printf 'dependencies: [word, zlead]\naccelerator: {default: nvidia, zlead: none}\n' > both.yml
gpu expect 0 env create -n both -f both.yml
gpu expect 0 env export -n both
printf '%s\n' "$out" > both2.yml
gpu expect 0 env create -n both2 -f both2.yml
expect 0 list -n both --diff both2
out_is ''

# To say again what was said changes nothing, wherever it is said; to say something else does.
printf 'dependencies: [word]\naccelerator: [nvidia, none]\n' > said.yml
gpu expect 0 env create -n said -f said.yml
check [ -e "$(place said)/conda-meta/word-1.0-cuda129_0.json" ]
expect 0 env update -n said -f said.yml
expect 0 install -n said rest --accel nvidia,none
expect 0 update -n said --all --accel nvidia,none
check [ -e "$(place said)/conda-meta/word-1.0-cuda129_0.json" ]
expect 0 update -n said --all --accel none
check [ -e "$(place said)/conda-meta/word-1.0-cpu_0.json" ]

# What stays with its own is told.
gpu expect 0 create -n own 'word[accel=none]' zlead
gpu expect 0 update -n own word --accel nvidia --dry-run
err_has '--accel does not change word, which was requested with accel=none; to change it: word[accel=nvidia]'

# Of several, a lock remembers which was taken, as create does.
amd expect 0 create -n direct rest 'word[accel=none]' --accel amd,nvidia,none
amd expect 0 lock rest 'word[accel=none]' --accel amd,nvidia,none -o taken.lock
amd expect 0 create -n taken --lock taken.lock
check [ "$(state direct)" = "$(state taken)" ]
sed -i 's/accelerator: amd$/accelerator: amt/' taken.lock
expect 1 create -n locked2 --lock taken.lock
err_has 'amt'

# What is in the way by what is asked for is not told as a question of its accelerator.
package bound 2.1 cuda129_0 '__cuda' 'cuda-version 12.9.*'
package bound 2.2 cuda130_0 '__cuda' 'cuda-version 13.0.*'
package bound 2.2 cpu_0
index
gpu expect 0 create -n bound bound=2.1 'cuda-version<=12.9' --accel auto
gpu expect 0 install -n bound 'bound>=2'
newer expect 0 update -n bound --all --dry-run
err_lacks 'accel=none'

# To name a CUDA changes nothing of what is installed for another accelerator, or for none.
package kindly 1.0 cpu_0
BUILD_NUMBER=9 package kindly 2.0 cpu_9
package kindly 2.0 cuda129_0 '__cuda'
BUILD_NUMBER=9 package kindly 3.0 cpu_9
package fresh 1.0 cuda129_0 '__cuda'
BUILD_NUMBER=9 package fresh 2.0 cpu_9
index
gpu expect 0 create -n kindly 'kindly[accel=none]=1' cuda-version=12.9
rm "$(place kindly)/conda-meta/gpkg/state.json"
for asked in 'update -n kindly kindly cuda-version' 'update -n kindly kindly cuda-version --accel auto'; do
    # shellcheck disable=SC2086 # words
    gpu expect 0 $asked --dry-run --json
    json '[(p["version"], p["build_string"]) for p in d["actions"]["LINK"] if p["name"] == "kindly"] == [("3.0", "cpu_9")]'
done
gpu expect 0 install -n kindly fresh cuda-version=12.9 --dry-run --json
json '[(p["version"], p["build_string"]) for p in d["actions"]["LINK"]] == [("1.0", "cuda129_0")]'

# The note on a build that conflicts has the whole command that tells why.
package core-lib 2.0 0
package core-lib 1.0 0
package arrowy 1.0 cuda129_0 '__cuda' 'core-lib 1.*'
package arrowy 1.0 cpu_0 core-lib
package appy 1.0 0 'core-lib 2.*'
index
expect 0 solve arrowy appy --for h100
err_has "(to see why: gpkg why-not 'arrowy=1.0=cuda*' arrowy appy --for h100)"
expect 0 why-not 'arrowy=1.0=cuda*' arrowy appy --for h100
out_has 'arrowy=1.0=cuda* conflicts with the request'

# That an environment takes builds for one accelerator only is said where it is in the way.
package mygpu 1.0 cpu_0
package mygpu 1.0 cuda129_0 '__cuda'
index
gpu expect 0 create -n cpuonly plain --accel none
gpu expect 1 install -n cpuonly 'mygpu=*=cuda*'
err_has 'environment cpuonly takes CPU builds only (accelerator none); override it with --accel'
gpu expect 0 install -n cpuonly 'mygpu=*=cuda*' --accel nvidia --dry-run

expect 1 solve plainn
err_has '  hint: did you mean plain?'

finish
