# gpkg doctor: does an environment run on this machine?
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

package cuda-version 12.9 0
package torch 1.0 cuda129_0 '__cuda >=12' 'cuda-version >=12.9,<13'
package torch 1.0 cpu_0
package old 1.0 0 'cudatoolkit 11.*'
package cudatoolkit 11.8 0
package flow 1.0 cpu_0
package flow 1.0 cuda_0 '__cuda'
package flow-gpu 1.0 0 'flow 1.0 cuda_0'
package flow-cpu 1.0 0 'flow 1.0 cpu_0'
package paddle-gpu 1.0 0
package fast 1.0 0 '__cuda_arch >=8.0'
package plain 1.0 0
unset CONDA_OVERRIDE_CUDA

profile() {
    printf 'gpkg_profile: 1\nplatform: linux-64\nsystem: {linux: "6.1", glibc: "2.36"}\nnvidia: {cuda: "%s"}\ngpus: [{vendor: nvidia, name: A, architecture: "%s", memory_mib: 40000}]\n' \
        "$1" "$2" > "$3.yaml"
}
profile 12.9 9.0 new
profile 12.4 8.0 minor
profile 11.4 7.0 old
unset CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX

expect 0 doctor --for ./new.yaml
out_has 'ok       ./new.yaml: A, CUDA 12.9'
out_lacks 'fits'
expect 0 create -n ml torch --for ./new.yaml -y
expect 0 doctor -n ml --for ./new.yaml
out_has 'CUDA: cuda-version 12.9; the driver supports 12.9' 'fits ./new.yaml'
# An older driver of the same major version does, with a reserve; one of an earlier does not.
expect 0 doctor -n ml --for ./minor.yaml
out_has 'it runs, except code that needs PTX compilation'
# An older cuda-version is no advice where what is installed goes with none, nor are builds that no
# channel has.
out_has 'install a newer driver; no build of torch in these channels is for cuda-version <=12.4'
expect 1 doctor -n ml --for ./old.yaml --json
json '"gpkg install" not in d["findings"][2]["hint"] and "no build of torch" in d["findings"][2]["hint"]'
json 'd["success"] is False'
json '[(f["subject"], f["grade"]) for f in d["findings"] if f["grade"] == "bad"] == [("__cuda >=12", "bad"), ("CUDA", "bad")]'
json '"11.4" in d["findings"][1]["message"] and "torch needs an NVIDIA driver for CUDA 12 or newer" in d["findings"][1]["message"]'
package cuda-version 12.4 0
package wide 1.0 cuda12_0 '__cuda >=12' 'cuda-version >=12.2,<13'
index
expect 0 create -n wide wide cuda-version=12.9 --for ./new.yaml -y
expect 0 doctor -n wide --for ./minor.yaml
# It says what gets older.
out_has "install a newer driver, or gpkg install -n wide 'cuda-version<=12.4' --for ./minor.yaml  # downgrades cuda-version from 12.9 to 12.4"
# Where it cannot be tried, that is said.
expect 0 config set channels file:///nowhere/at-all
expect 0 doctor -n wide --for ./minor.yaml
out_has "try an older CUDA, which the installed packages allow: gpkg install -n wide 'cuda-version<=12.4' --for ./minor.yaml"
expect 0 config set channels "file://$CHANNEL"
expect 0 install -n wide 'cuda-version<=12.4' --for ./minor.yaml -y
expect 0 doctor -n wide --for ./minor.yaml
out_has 'CUDA: cuda-version 12.4; the driver supports 12.4'
# Builds say which CUDA they are for, whatever cuda-version is beside them.
package pytorch-cuda 12.1 0
package cuda-version 12.5 0
package cuda-cudart 12.1 0 cuda-version
package old-way 1.0 cuda12.1_0 pytorch-cuda=12.1 cuda-cudart
index
expect 0 create -n oldway old-way --for ./new.yaml -y
profile 12.2 8.0 between
expect 0 doctor -n oldway --for ./between.yaml
out_has 'CUDA: pytorch-cuda 12.1; the driver supports 12.2'
out_lacks 'needs PTX compilation'
expect 1 doctor -n ml --for cpu
out_has '__cuda >=12: torch needs an NVIDIA driver for CUDA 12 or newer, but cpu has none'
out_has "use a machine with an NVIDIA driver, or gpkg install -n ml 'torch[accel=none]' --for cpu"
out_has 'is a CUDA build, but cpu has no NVIDIA GPU' 'does not run on cpu: '

# What needs a newer glibc is told once; for a machine that nobody looked at the value is assumed.
package glibc-a 1.0 0 '__glibc >=2.34'
package glibc-b 1.0 0 '__glibc >=2.36' glibc-a
profile 12.9 9.0 assumed
sed -i '/^system:/d' assumed.yaml
index
CONDA_OVERRIDE_GLIBC=2.36 expect 0 create -n glibc glibc-b -y
expect 1 doctor -n glibc --for ./assumed.yaml
out_has 'unknown  glibc: 2 packages need up to 2.36; ./assumed.yaml is assumed to have 2.28' \
    'if it has a newer one: --for ./assumed.yaml,glibc=2.36' \
    'may not run on ./assumed.yaml: 1 unknown'
expect 0 doctor -n glibc --for ./assumed.yaml,glibc=2.36
expect 0 doctor --for h100
out_has 'ok       h100: NVIDIA H100, CUDA 12.8 (assumed)'
sed -i 's/^nvidia:/system: {glibc: "2.31"}\n&/' assumed.yaml
expect 1 doctor -n glibc --for ./assumed.yaml
out_has 'problem  glibc: 2 packages need up to 2.36, but ./assumed.yaml has 2.31'

# Advice goes the way that the spec and the machine's value tell: too old, too new, or missing.
package bounded 1.0 0 '__cuda >=12,<13'
package lowglibc 1.0 0 '__glibc <2.36'
package newlinux 1.0 0 '__linux >=6.6'
package forrocm 1.0 0 '__rocm >=6.2,<7'
index
profile 12.2 8.0 within
profile 13.0 8.0 above
profile 11.8 8.0 below
profile 11.4 3.7 lastdriver
expect 0 create -n bounded bounded --for ./within.yaml -y
expect 1 doctor -n bounded --for ./below.yaml
out_has 'install a newer driver; no other build of bounded in these channels runs on ./below.yaml'
expect 1 doctor -n bounded --for ./above.yaml
out_has 'no other build of bounded in these channels runs on ./above.yaml'
out_lacks 'newer driver'
# No driver for CUDA 12 supports a Kepler.
expect 1 doctor -n bounded --for ./lastdriver.yaml
out_lacks 'newer driver'
package bounded 2.0 0 '__cuda >=13'
package bounded 0.9 0
index
expect 1 doctor -n bounded --for ./above.yaml
out_has 'gpkg update -n bounded bounded --for ./above.yaml'
out_lacks downgrades
expect 1 doctor -n bounded --for ./below.yaml
out_has "install a newer driver, or gpkg install -n bounded 'bounded[accel=none]' --for ./below.yaml"
expect 0 install -n bounded 'bounded[accel=none]' --for ./below.yaml -y
expect 0 doctor -n bounded --for ./below.yaml
CONDA_OVERRIDE_GLIBC=2.30 expect 0 create -n system lowglibc newlinux forrocm --for cpu,linux=6.6,rocm=6.2 -y
expect 1 doctor -n system --for ./above.yaml
out_has '__glibc <2.36: lowglibc needs it, but ./above.yaml has 2.36' 'no other build of lowglibc in these channels runs on ./above.yaml'
expect 1 doctor -n system --for mi300
out_has 'unknown  __linux >=6.6' 'if it has a newer one: --for mi300,linux=6.6' 'if it has ROCm: --for mi300,rocm=6.2'
expect 0 doctor -n system --for 'mi300 linux=6.6 rocm=6.2'

# A GPU that is older than the driver's CUDA: what is offered runs on it.
package cuda-version 13.2 0 '__cuda >=13'
package kern 1.0 cuda130_0 'cuda-version >=13,<14'
package kern 1.0 cuda129_0 'cuda-version >=12,<13'
index
profile 13.2 9.0 newest
profile 13.0 7.0 volta
expect 0 create -n volta kern cuda-version=13.2 --for ./newest.yaml -y
expect 1 doctor -n volta --for ./volta.yaml --json
json "[f['hint'] for f in d['findings'] if f['subject'] in ('CUDA', 'kern')] == 2 * [\"gpkg install -n volta 'cuda-version<13' --for ./volta.yaml  # downgrades cuda-version from 13.2 to 12.9\"]"
json "[(f['grade'], f['message']) for f in d['findings'] if f['subject'] == 'CUDA'] == [('note', 'cuda-version 13.2; the driver supports 13.0; it does not support compute capability 7.0')]"
expect 0 install -n volta 'cuda-version<13' --for ./volta.yaml -y
expect 0 doctor -n volta --for ./volta.yaml
out_has 'ok       CUDA: cuda-version 12.9; the driver supports 13.0'
out_lacks kern
# One that the driver does not run.
expect 0 create -n late kern cuda-version=13.2 --for ./newest.yaml -y
expect 1 doctor -n late --for ./new.yaml
out_has "__cuda >=13: cuda-version needs an NVIDIA driver for CUDA 13 or newer, but ./new.yaml has 12.9" "install a newer driver, or gpkg install -n late 'cuda-version<=12.9' --for ./new.yaml"
expect 0 install -n late 'cuda-version<=12.9' --for ./new.yaml -y
expect 0 doctor -n late --for ./new.yaml

# A CPU build beside a GPU; what is said helps.
expect 0 create -n asked torch --accel none -y
expect 0 doctor -n asked --for ./new.yaml
out_lacks 'CPU build'
expect 0 create -n slow torch --for cpu -y
expect 0 doctor -n slow --for cpu
out_has 'the requirements of 1 package in slow are met on cpu'
expect 0 doctor -n slow --for ./new.yaml
out_has 'torch: is a CPU build, but ./new.yaml has a GPU (build cpu_0)'
out_has "gpkg install -n slow 'torch[accel=nvidia]' --for ./new.yaml"
expect 0 install -n slow 'torch[accel=nvidia]' --for ./new.yaml -y
expect 0 doctor -n slow --for ./new.yaml
out_lacks 'CPU build'

# So is what came with something else; what hangs together is told once, by what a person knows.
package torch 2.0 cpu_0 'libtorch 2.0 cpu_0'
package torch 2.0 cuda129_0 'libtorch 2.0 cuda129_0'
package libtorch 2.0 cpu_0
package libtorch 2.0 cuda129_0 '__cuda'
package torchvision 2.0 cpu_0 'torch 2.0 cpu_*' 'libtorch 2.0'
package torchvision 2.0 cuda129_0 'torch 2.0 cuda129_*' 'libtorch 2.0'
package timm 1.0 0 'torch >=2' torchvision
package jax 1.0 0 'jaxlib'
package jaxlib 1.0 cpu_0
package jaxlib 1.0 cuda12_0 '__cuda'
index
findings() { json "[(f['subject'], f['message']) for f in d['findings'] if 'build, but' in f['message']] == $1"; }
expect 0 create -n deep timm --for cpu -y
expect 0 doctor -n deep --for ./new.yaml --json
findings "[('torch', 'is a CPU build, but the machine has a GPU (needs libtorch 2.0 cpu_0); the same for torchvision')]"
json "[f['hint'] for f in d['findings'] if f['subject'] == 'torch'] == [\"gpkg install -n deep 'torch[accel=nvidia]' 'torchvision[accel=nvidia]' --for ./new.yaml\"]"
expect 0 install -n deep 'torch[accel=nvidia]' 'torchvision[accel=nvidia]' --for ./new.yaml -y
expect 0 doctor -n deep --for ./new.yaml --json
findings '[]'
expect 1 doctor -n deep --for cpu --json
findings "[('torch', 'is a CUDA build, but the machine has no NVIDIA GPU; the same for torchvision')]"
# Not what was asked for so, nor its parts, nor what is for CPUs because that is.
expect 0 create -n some timm jax 'torch[accel=none]' --for ./new.yaml -y
expect 0 doctor -n some --for ./new.yaml --json
findings '[]'
expect 0 create -n mixed timm jax 'torch[accel=none]' --for cpu -y
expect 0 doctor -n mixed --for ./new.yaml --json
findings "[('jaxlib', 'is a CPU build, but the machine has a GPU (build cpu_0)')]"

# A compiler's CUDA may be newer than the driver, and says nothing of what is to run.
package cuda-nvcc 13.0 0 'cuda-version >=13.0,<14' 'cuda-cudart'
package cuda-cudart 13.0 0 'cuda-version >=13.0,<14'
package cuda-version 13.0 0
sed -i '/"cuda-version-13.0-0/s/"depends":/"constrains":["__cuda >=13"],&/' "$WORK/records.linux-64"
index
expect 0 create -n build cuda-nvcc --for ./minor.yaml -y
expect 0 doctor -n build --for ./minor.yaml
out_has 'cuda-version 13.0; the driver supports 12.4; not needed for building'
expect 0 install -n build torch --for cpu --dry-run --json
json '[p["build"] for p in d["actions"]["LINK"] if p["name"] == "torch"] == ["cpu_0"]'
expect 0 create -n plain cuda-nvcc --accel none --for cpu --dry-run

# Only what cuda-version asks of the driver counts for nothing: what runs has to run.
package viewer 2.0 0
sed -i '/"viewer-2.0-0/s/"depends":/"constrains":["__cuda >=12.8"],&/' "$WORK/records.linux-64"
package viewer 1.0 0
expect 0 solve cuda-nvcc viewer --for ./old.yaml --json
json '{p["name"]: p["version"] for p in d["packages"]}["viewer"] == "1.0"'
expect 0 create -n v cuda-nvcc viewer=2.0 --for cpu -y
expect 1 doctor -n v --for ./old.yaml
out_has '__cuda >=12.8: viewer needs an NVIDIA driver for CUDA 12.8 or newer'
# What was decided for building is updated so.
expect 0 create -n grown cuda-nvcc --for ./old.yaml -y
package cuda-version 13.1 0
sed -i '/"cuda-version-13.1-0/s/"depends":/"constrains":["__cuda >=13"],&/' "$WORK/records.linux-64"
package cuda-nvcc 13.1 0 'cuda-version >=13.1,<14'
expect 0 update -n grown --all --for ./old.yaml --dry-run --json
json '("cuda-nvcc", "13.1") in [(p["name"], p["version"]) for p in d["actions"]["LINK"]]'
expect 0 why-not cuda-nvcc=13.0 cuda-nvcc --for ./old.yaml
expect 0 lock cuda-nvcc viewer=1.0 --for cpu -o building.lock
expect 0 lock check building.lock --for ./old.yaml
expect 0 lock cuda-nvcc viewer=2.0 --for cpu -o viewing.lock
expect 1 lock check viewing.lock --for ./old.yaml

# Old names, code of an earlier major version, overrides.
expect 0 create -n names old flow-gpu paddle-gpu --for ./new.yaml -y
expect 0 doctor -n names --for ./new.yaml
out_has 'cudatoolkit: is an outdated way to install CUDA'
out_has 'flow-gpu: is an outdated package name' 'use flow[accel=nvidia]'
out_lacks 'paddle'
expect 0 create -n names-cpu flow-cpu --for ./new.yaml -y
expect 0 doctor -n names-cpu --for ./new.yaml
out_has 'flow-cpu: is an outdated package name' 'flow[accel=none]'
out_lacks 'accel=nvidia'
expect 0 create -n code fast --for ./new.yaml -y
expect 0 doctor -n code --for ./new.yaml
out_has 'fast: is for compute capability 8.0 and later; on 9.0 it may run only as PTX'
expect 0 doctor -n code --for ./minor.yaml
out_lacks 'PTX'
# Nor where it declares code for this very GPU.
package declared 1.0 0 '__cuda_arch >=7.0,<8|>=8.0,<9'
package flagged 1.0 0 '__cuda_arch >=7.0'
sed -i '/"flagged-1.0-0/s/"depends":/"flags":["cuda","sm:70","sm:80"],&/' "$WORK/records.linux-64"
index
expect 0 create -n declared declared flagged --for ./minor.yaml -y
expect 0 doctor -n declared --for ./minor.yaml
out_lacks 'PTX'
CONDA_OVERRIDE_CUDA=12.0 expect 0 doctor --for ./new.yaml
out_has 'CONDA_OVERRIDE_CUDA: replaces the driver of ./new.yaml with CUDA 12.0'
CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_CUDE=1 expect 1 doctor -n code --for ./new.yaml
out_has 'CONDA_OVERRIDE_CUDA: no __cuda' 'CONDA_OVERRIDE_CUDE: has no effect: no such virtual package'
CONDA_OVERRIDE_CUDA=newest expect 0 doctor -n code --for ./new.yaml --json
json '[f["subject"] for f in d["findings"] if "expected a version" in f["message"]] == ["CONDA_OVERRIDE_CUDA"]'

# What the libraries hold: machine code, PTX, or nothing for the device.
code() { mkdir -p "$WORK/payload/lib"; python3 "$here/gpu_library.py" "$WORK/payload/lib/lib$1.so" "$2" "$3"; }
code near 80,90 90
package near 1.0 cuda129_0 '__cuda'
code far 70 80
package far 1.0 cuda129_0 '__cuda'
code never 100 -
package never 1.0 cuda129_0 '__cuda'
expect 0 create -n holds near far --for ./new.yaml -y
expect 0 doctor -n holds --for ./new.yaml
out_has 'GPU code: 1 package contains machine code for 9.0'
out_has 'far: contains machine code for 7.0, PTX of 8.0; lib/libfar.so runs on 9.0 as PTX'
expect 0 install -n holds cuda-version=12.9 --for ./new.yaml -y
expect 1 doctor -n holds --for ./minor.yaml
out_has 'far: contains machine code for 7.0, PTX of 8.0; on 8.0 lib/libfar.so would run as PTX, but this driver cannot compile'
expect 0 create -n nothing never --for ./new.yaml -y
expect 1 doctor -n nothing --for ./new.yaml
out_has 'never: contains machine code for 10.0; lib/libnever.so has no code that runs on 9.0'

# A vendor's parts that run on the host alone are for no device.
profile 13.0 3.7 kepler
profile 13.0 6.0 pascal
profile 13.0 12.0 blackwell
package cuda-nvdisasm 12.9 0 'cuda-version >=12.9,<13'
package user 1.0 0 'cuda-version >=12.9,<13' '__cuda'
expect 0 create -n parts cuda-nvdisasm user=1.0 --for ./new.yaml -y
expect 1 doctor -n parts --for ./kepler.yaml --json
json '[f["subject"] for f in d["findings"] if f["grade"] == "bad"] == ["user"]'
json '"it does not support compute capability 3.7" in str(d["findings"])'

# What was asked for need not be for GPUs by its own word, nor what it needs. A compiler runs without.
package cuda-half 1.0 0 'cuda-version >=12.9,<13'
package cuda-nvcc 12.9 0 'cuda-version >=12.9,<13'
package whole 1.0 0 cuda-half
package maker 1.0 0 cuda-nvcc
index
expect 0 create -n whole whole maker --for ./new.yaml -y
expect 1 doctor -n whole --for ./kepler.yaml --json
json '[(f["subject"], f["message"]) for f in d["findings"] if f["grade"] == "bad"] == [("whole", "needs cuda-half 1.0, which needs cuda-version >=12.9,<13, which does not support compute capability 3.7")]'
expect 0 remove -n whole whole -y
expect 0 doctor -n whole --for ./kepler.yaml

# What says the same is told once, first what was asked for; so is which builds to look at.
package stem 1.0 cuda126_0 'cuda-version >=12.6,<13' '__cuda'
package branch 1.0 cuda126_0 stem 'cuda-version >=12.6,<13' '__cuda'
package branch-gpu 1.0 0 'branch 1.0 cuda*'
package zweig 1.0 cuda126_0 'cuda-version >=12.6,<13' '__cuda' branch
index
expect 0 create -n same zweig --for ./new.yaml -y
expect 0 doctor -n same --for ./blackwell.yaml --json
json '[(f["subject"], f["message"].rpartition("; ")[2]) for f in d["findings"] if "CUDA 12.6" in f["message"]] == [("zweig", "the same for branch and stem")]'
expect 0 create -n chosen branch-gpu --for ./new.yaml -y
expect 1 doctor -n chosen --for ./old.yaml
out_has 'no build of branch in these channels is for cuda-version <=11.4'

# What only says which CUDA is told as an old name, and is no build.
package pytorch-cuda 12.4 0 cuda-cudart
package old-way 2.0 cuda12.4_0 pytorch-cuda=12.4 cuda-cudart
index
expect 0 create -n oldnames old-way pytorch-cuda --for ./new.yaml -y
expect 0 doctor -n oldnames --for cpu --json
json '[f["subject"] for f in d["findings"] if "is a CUDA build" in f["message"]] == ["old-way"]'
json "[f['message'] for f in d['findings'] if f['subject'] == 'pytorch-cuda'] == [\"is an outdated way to select the CUDA version of pytorch\"]"

# What pip installed is compiled with some CUDA, too.
expect 0 create -n pip plain -y
expect 0 doctor -n pip --for ./new.yaml
out_has 'ok       environment: the requirements of 1 package in pip are met on ./new.yaml' \
    'note     GPU: no package of the environment is a GPU build' 'fits ./new.yaml'
expect 0 doctor -n pip --for cpu
out_lacks 'GPU build'
printf 'gpkg_profile: 1\nplatform: osx-arm64\nsystem: {osx: "14.0"}\n' > mac.yaml
expect 1 doctor -n pip --for ./mac.yaml
out_has 'platform: 1 package in pip is for linux-64, but ./mac.yaml is osx-arm64' 'does not run on ./mac.yaml: 1 problem'
wheel() {
    local at=$GPKG_ROOT_PREFIX/envs/pip/lib/python3.12/site-packages/$1-$2.dist-info
    mkdir -p "$at"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" > "$at/METADATA"
}
wheel torch 2.4.0+cu121
wheel jax_plugin 0.8+cuda13
expect 0 doctor -n pip --for ./blackwell.yaml --json
json '[(f["subject"], f["grade"]) for f in d["findings"][1:]] == [("torch (pip)", "note")]'
json '"CUDA 12.1, which has no machine code for compute capability 12.0; it runs there only if" in d["findings"][1]["message"]'
expect 1 doctor -n pip --for ./pascal.yaml --json
json '[(f["subject"], f["grade"]) for f in d["findings"][1:]] == [("jax_plugin (pip)", "bad")]'
json '"CUDA 13, which does not support compute capability 6.0" in d["findings"][1]["message"]'
json 'd["findings"][1]["hint"] == "install a wheel for an older CUDA"'
wheel vision 1.0+cu129
expect 1 doctor -n pip --for ./between.yaml --json
json '[(f["subject"], f["grade"]) for f in d["findings"] if "needs PTX compilation" in f["message"]] == [("vision (pip)", "note")]'
wheel tensorflow_cpu 2.19.0
wheel polars_lts_cpu 1.0
wheel audio 1.0+cpu
expect 1 doctor -n pip --for ./old.yaml --json
json '[f["subject"] for f in d["findings"] if "CPU build" in f["message"]] == ["audio (pip)", "tensorflow_cpu (pip)"]'
expect 0 doctor -n pip --for cpu
out_lacks 'CPU build'

# A library that gave the device up, and the versions that did not. An update moves it there, too.
package libcudnn 9.13 0
package libcudnn 9.10 0
package torchlib 1.0 cuda129_0 '__cuda' 'libcudnn >=9.10,<10'
index
expect 0 create -n gaveup torchlib libcudnn=9.13 --for ./new.yaml -y
expect 1 doctor -n gaveup --for ./pascal.yaml --json
json '[(f["subject"], f["hint"]) for f in d["findings"] if f["grade"] == "bad"] == [("libcudnn", "gpkg install -n gaveup \"libcudnn<9.11\" --for ./pascal.yaml  # downgrades libcudnn from 9.13 to 9.10".replace("\"", chr(39)))]'
json '"does not support compute capability 6.0 (dropped in 9.11)" in str(d["findings"])'
expect 0 install -n gaveup 'libcudnn>=9' --for ./new.yaml -y
expect 0 update -n gaveup libcudnn --for ./pascal.yaml -y
out_has 'v libcudnn  9.13 -> 9.10'
expect 0 doctor -n gaveup --for ./pascal.yaml

# What is proposed was asked for, is for the machine's platform, and is known to be there.
package magma 1.0 cuda129_0 '__cuda' 'cuda-version >=12.9,<13'
package torchy 1.0 cuda129_0 '__cuda' 'cuda-version >=12.9,<13' magma
index
expect 0 create -n deepest torchy --for ./new.yaml -y
expect 0 doctor -n deepest --for ./minor.yaml
out_has 'no build of torchy in these channels is for cuda-version <=12.4'
expect 0 create -n slowly torch=1.0 --for cpu -y
expect 0 doctor -n slowly --for mi300
out_has 'torch: is a CPU build, but mi300 has a GPU' 'no GPU build of torch in these channels runs on mi300'
out_lacks 'gpkg install'
expect 1 doctor -n slowly --for gh200 --json
json '[(f["subject"], f["hint"]) for f in d["findings"] if f["grade"] != "good"] == [("platform", None)]'

# What is installed beside what it needs: by a list of files, or by another tool.
package needy 1.0 0 'needed >=2'
package needed 1.0 0
package needed 2.0 0
expect 0 create -n wholly needy -y
expect 0 doctor -n wholly --for cpu
rm "$(place wholly)"/conda-meta/needed-*.json
expect 1 doctor -n wholly --for cpu
out_has 'problem  dependencies: needy needs needed >=2, which is missing'

expect 0 create -n strict needed=1.0 -y
sed -i 's|"constrains": *\[|"constrains": ["zoo <2",|; s|,\]|]|' "$(place strict)"/conda-meta/needed-*.json
package zoo 2.0 0
index
cp "$(place wholly)"/conda-meta/needy-*.json "$(place strict)/conda-meta/zoo-2.0-0.json"
sed -i 's/"needy"/"zoo"/; s/needy-1.0/zoo-2.0/g; s/"version": *"1.0"/"version": "2.0"/; s/"needed >=2"//' "$(place strict)/conda-meta/zoo-2.0-0.json"
expect 1 doctor -n strict --for cpu
out_has 'needed allows only zoo <2, found 2.0 0'

# A CUDA that nothing here is for does not run, and need not.
expect 0 create -n idle cuda-version=12.9 needed --for ./new.yaml -y
expect 0 doctor -n idle --for ./old.yaml
out_has 'no package uses CUDA'

# What a CPU is, is its build.
package micro 1.0 v4_0 '__archspec * x86_64_v4'
expect 0 create -n micro micro --for x86_64_v4 -y
expect 1 doctor -n micro --for x86_64_v3
out_has 'micro needs it, but x86_64_v3 has x86_64_v3'

# A build for a GPU of another kind, or for a CPU that is not here: what runs here is proposed, and the command does it.
package torch-any 1.0 cuda12_0 '__cuda >=12'
package torch-any 1.0 rocm6_0 '__amdgpu'
package torch-any 1.0 cpu_0
package flash 1.0 gfx90a_0 '__amdgpu_arch 9.0.10'
package flash 1.0 gfx942_0 '__amdgpu_arch 9.4.2'
expect 0 create -n moved torch-any --for h100 -y
expect 1 doctor -n moved --for mi300x
out_has "gpkg install -n moved 'torch-any[accel=amd]' --for mi300x"
expect 0 install -n moved 'torch-any[accel=amd]' --for mi300x -y
expect 0 doctor -n moved --for mi300x
expect 1 doctor -n moved --for cpu
out_has "gpkg install -n moved 'torch-any[accel=none]' --for cpu"
expect 0 create -n gfx flash --for mi210 -y
expect 1 doctor -n gfx --for mi300x
out_has 'gpkg update -n gfx flash --for mi300x'
expect 0 update -n gfx flash --for mi300x -y
expect 0 doctor -n gfx --for mi300x
package _x86_64-microarch-level 3 0 '__archspec 1.* x86_64_v3'
package _x86_64-microarch-level 4 0 '__archspec 1.* x86_64_v4'
package tuned 1.0 v3 '_x86_64-microarch-level >=3'
package tuned 1.0 v4 '_x86_64-microarch-level >=4'
expect 0 create -n tuned tuned --for x86_64_v4 -y
expect 1 doctor -n tuned --for x86_64_v3
out_has 'gpkg update -n tuned tuned --for x86_64_v3'
expect 0 install -n tuned needed --for x86_64_v3 --dry-run
check [ "$(grep -c '^  . tuned ' <<< "$out")" = 0 ]
expect 0 update -n tuned tuned --for x86_64_v3 -y
out_has '_x86_64-microarch-level' 'v3'
expect 0 doctor -n tuned --for x86_64_v3

# Where there is nothing for this CPU, what is for another stays, and the rest moves.
package only4 1.0 v4 '_x86_64-microarch-level >=4'
package other 1.0 0
expect 0 create -n only only4 other --for x86_64_v4 -y
package other 2.0 0
expect 0 update -n only --all --for x86_64_v3 -y
check [ -e "$(place only)/conda-meta/only4-1.0-v4.json" ]
check [ -e "$(place only)/conda-meta/other-2.0-0.json" ]
package direct 1.0 v4 '__archspec 1.* x86_64_v4'
package direct 1.0 v3 '__archspec 1.* x86_64_v3'
expect 0 create -n direct direct other --for x86_64_v4 -y
sed -i "s/'direct', //" "$(place direct)/conda-meta/history"
expect 0 update -n direct --all --for x86_64_v3 -y
check [ -e "$(place direct)/conda-meta/direct-1.0-v3.json" ]

# Where nobody recorded what was asked for, what nothing else needs is not given up for what would help.
package pinned-torch 1.0 cuda129_0 'cuda-version >=12.9,<13'
expect 0 create -n unlisted pinned-torch --for ./new.yaml -y
"$GPKG" list -n unlisted --explicit > list.txt
expect 0 create -n listed --file list.txt -y
expect 1 install -n listed cuda-version=12.4 --dry-run
err_has 'pinned-torch is requested'
expect 0 install -n listed needed -y
check grep -q "pinned-torch" "$(place listed)/conda-meta/history"
expect 1 install -n listed cuda-version=12.4 --dry-run

# A pipe where a library should be has nobody at its other end.
expect 0 create -n piped needed -y
mkdir -p "$(place piped)/lib"
mkfifo "$(place piped)/lib/libpipe.so"
sed -i 's|"files": *\[|"files": ["lib/libpipe.so",|; s|,\]|]|' "$(place piped)"/conda-meta/needed-*.json
sed -i 's|"name": *"needed"|"name": "needed", "track_features": ""|; s|"depends": *\[|"depends": ["libcublas",|; s|,\]|]|' "$(place piped)"/conda-meta/needed-*.json
expect 1 doctor -n piped --for ./new.yaml
out_has 'needed needs libcublas, which is missing'

# Every CUDA that builds say they are for counts, and so does that of builds which name none.
package voice 2.4 py_cuda12.4_0 'pytorch-cuda >=12.4,<12.5'
package cuda-version 11.8 0
package trees 2.1 cuda118_0 'cuda-version >=11.8,<12'
package search 1.8 h046e95b_0_cuda12.1.1
profile 11.8 8.0 eleven
expect 0 create -n two voice trees --for ./new.yaml -y
expect 1 doctor -n two --for ./eleven.yaml
out_has 'cuda-version 11.8; the driver supports 11.8' 'pytorch-cuda 12.4; the driver supports 11.8; it does not run'
expect 0 doctor -n two --for ./new.yaml
expect 0 create -n alone search --for ./new.yaml -y
expect 1 doctor -n alone --for ./eleven.yaml
out_has 'search: is compiled with CUDA 12.1, but the driver supports CUDA 11.8'

expect 1 doctor -n none
err_has 'no environment at'
expect 2 doctor --for nonsense

finish
