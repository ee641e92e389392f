# gpkg hardware, its profiles, and --for
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

package torch 2.0 cpu
package torch 2.0 cuda12 '__cuda >=12'
package fast 1.0 v1 '__archspec * x86_64'
package newest 1.0 0 '__cuda >=12.9'
package glib 1.0 0 '__glibc >=2.30'
package kept 1.0 0
package kept 2.0 0 '__cuda >=13'
SUBDIR=noarch package data 1.0 0

# A profile is what a machine is; a decision with it is that machine's, byte for byte.
cat > node.yaml <<'YAML'
gpkg_profile: 1
platform: linux-64
cpu:
  model: A CPU
  microarchitecture: zen4
system:
  glibc: "2.36"
  linux: "6.1"
nvidia:
  driver: 550.54.14
  cuda: "12.4"
gpus:
  - vendor: nvidia
    name: A GPU
    architecture: "9.0"
    memory_mib: 81559
YAML
with_overrides() {
    CONDA_OVERRIDE_ARCHSPEC=zen4 CONDA_OVERRIDE_CUDA=12.4 CONDA_OVERRIDE_CUDA_ARCH=9.0 "$@"
}
unset CONDA_OVERRIDE_CUDA
for words in 'solve torch' 'create -n x --dry-run torch glib' 'solve kept' 'variants kept' 'search torch'; do
    with_overrides expect 0 $words --json
    there=$out
    env -u CONDA_OVERRIDE_GLIBC -u CONDA_OVERRIDE_LINUX "$GPKG" $words --json --for ./node.yaml \
        > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
    out=$(cat "$WORK/stdout")
    checks=$((checks + 1))
    [ "$out" = "$there" ] || fail "--for decides otherwise than that machine: $words"
done
unset CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX

expect 0 hardware --for ./node.yaml
out_has 'A CPU'
out_has 'runs x86-64-v4'
out_has '550.54.14'
out_has 'up to CUDA 12.4'
out_has '9.0, 80 GiB' 'packages: CUDA builds up to CUDA 12.x (the driver supports 12.4)'
expect 0 hardware --for mi300x
out_has 'packages: ROCm builds'
CONDA_OVERRIDE_CUDA='' expect 0 hardware --for cpu
out_has 'packages: CPU builds'
err_lacks 'for another machine'
# What gpkg only assumes of a machine is marked; facts behind its name replace it.
expect 0 hardware --for h100
out_has 'assumed; gpkg default' 'assumed; gpkg profile h100' '9.0, 80 GiB'
err_has 'note: assumed for h100: cpu=x86_64_v3, cuda=12.8, glibc=2.28 and linux=4.18; to give a value: --for h100,glibc=VERSION'
expect 0 hardware --for h100,glibc=2.36,cuda=12.4,linux=6.1
err_has 'to give a value: --for h100,glibc=2.36,cuda=12.4,linux=6.1,cpu=x86_64_v4'
expect 0 hardware --for h100,cpu=x86_64_v4 --json
expect 0 hardware --for h100,glibc=2.36,cuda=12.4,cpu=zen4,linux=6.1 --json
json '{p["name"]: p["assumed"] for p in d["virtual_packages"] if p["name"] != "__unix"} == dict.fromkeys(("__archspec", "__cuda", "__cuda_arch", "__glibc", "__linux"), False)'
json '{p["name"]: p["version"] for p in d["virtual_packages"]}["__glibc"] == "2.36" and d["cuda"]["value"] == "12.4"'
expect 0 hardware --for ./node.yaml,glibc=2.40 --json
json 'd["glibc"]["value"] == "2.40"'
expect 2 hardware --for h100,glibc=new
err_has "--for h100,glibc=new: glibc: expected a version, found 'new'"
expect 2 hardware --for m2,glibc=2.36
err_has '--for m2,glibc=2.36: platform osx-arm64 has no glibc'
expect 2 hardware --for h100,glib=2.36
err_has "--for h100,glib=2.36: unknown fact 'glib=2.36'" 'facts that can follow a machine: cpu, cuda, glibc'
expect 2 hardware --for h100,driver=12.2
err_has "unknown fact 'driver=12.2'" 'the driver is given as the CUDA version that it supports: cuda=12.2'
expect 2 hardware --for h100,driver=535.54
err_has 'the driver is given as the CUDA version that it supports: cuda=12.2'
expect 2 hardware --for glibc=2.17
err_has '--for glibc=2.17: no machine before the fact' 'for another machine: --for NAME,glibc=2.17; for this machine: CONDA_OVERRIDE_GLIBC=2.17'
expect 2 hardware --for nogpu
err_has 'a machine without a GPU: --for cpu'
expect 2 hardware --for osx-arm64
err_has 'a platform, not a machine' 'to solve for a platform: --platform osx-arm64'
expect 2 hardware --for h100:cuda=12.4
err_has '--for h100:cuda=12.4: unknown machine' 'write h100,cuda=12.4'
expect 2 hardware --for h100,cuda=535
err_has 'h100,cuda=535: driver 535 supports CUDA 12.2; write cuda=12.2'
expect 2 solve torch --for glib=2.36
err_has 'facts that can follow a machine: cpu, cuda, glibc, linux, osx and rocm'
expect 1 solve glib --for h100
err_has 'h100 is assumed to have glibc 2.28 (__glibc)' 'gpkg solve glib --for h100,glibc=2.30  # for a machine with glibc >= 2.30'
expect 0 create -q -y -n stays glib --for h100,glibc=2.30
expect 0 install -y -n stays data --for h100
err_has 'glib (__glibc >=2.30) stays as installed, although h100 is assumed to have glibc 2.28 (__glibc)' \
    'to give a value: --for h100,glibc=2.30'
expect 0 search glib --for h100
err_has 'gpkg variants glib --for h100'
expect 0 solve glib --for h100,glibc=2.30
err_has '__glibc=2.30=0,' '__linux=4.18=0 (assumed)'
# Facts stand behind blanks as well; without quotes they become requested packages.
for command in 'solve glib' 'create -n x --dry-run glib' 'lock -o x.lock glib' 'variants glib' hardware 'doctor -n stays'; do
    # shellcheck disable=SC2086
    expect 0 $command --for 'h100 glibc=2.30 cuda=12.4'
done
expect 2 solve glib --for 'h100 glibc=2.30 driver=535'
err_has "unknown fact 'driver=535'" 'cuda=12.2'
expect 1 solve glib --for h100 glibc=2.30
err_has 'facts of the machine belong to its name: --for h100,glibc=2.30'
# A note on what an assumed value decides says how to give another.
package growing 1.0 0
package growing 2.0 0 '__glibc >=2.34'
package lowered 1.0 0 '__glibc <2.28'
index
expect 0 solve growing --for 'h100 cuda=12.4'
err_has 'growing 1.0 is selected instead of 2.0, which needs __glibc >=2.34, but h100,cuda=12.4 is assumed to have glibc 2.28' 'to give another value: --for h100,cuda=12.4,glibc=2.34'
expect 0 why-not growing=2.0 --for h100
out_has 'to give a value: --for h100,glibc=2.34'
expect 1 solve lowered --for h100
err_has 'hint: __glibc 2.28 of h100 is an assumption; to give another value: --for h100,glibc=VERSION'
expect 0 create -n x --dry-run torch --for h100
out_has '__cuda 12.8 (assumed), __cuda_arch 9.0 and __glibc 2.28 (assumed)'
expect 0 hardware --for node.yaml --json
json 'd["nvidia_driver"]["value"] == "550.54.14" and d["cpu_model"]["value"] == "A CPU"'
json '{"name": "__cuda_arch", "version": "9.0", "build": "0",
       "source": "lowest compute capability of the devices", "assumed": False} in d["virtual_packages"]'

# Names: gpkg's own, every microarchitecture, and files in the folder of profiles.
expect 0 solve torch=2.0=cuda12 --for h100 --json
json '"__cuda=12.8=0" in d["virtual_packages"] and "__cuda_arch=9.0=0" in d["virtual_packages"]'
expect 1 solve newest --for h100
err_has 'h100'
err_has '__cuda >=12.9'
err_has 'h100 is assumed to have a driver for CUDA 12.8' 'gpkg solve newest --for h100,cuda=12.9'
expect 1 solve torch=2.0=cuda12 --for cpu
err_has 'cpu'
expect 0 solve data --for x86_64_v3 --json
json '"__archspec=1=x86_64_v3" in d["virtual_packages"]'
mkdir -p "$GPKG_ROOT_PREFIX/profiles"
sed 's/"12.4"/any/' node.yaml > "$GPKG_ROOT_PREFIX/profiles/node7.yaml"
expect 0 solve newest --for node7 --json
json '"__cuda=any=0" in d["virtual_packages"]'
CONDA_OVERRIDE_CUDA=any expect 0 solve newest
expect 0 hardware list
out_has 'h100'
out_has 'node7'
out_has "$GPKG_ROOT_PREFIX/profiles/node7.yaml"
expect 0 hardware list --json
json 'd["machines"][0]["name"] == "node7" and any(m["name"] == "mi300x" for m in d["machines"])'
# The configured folders of profiles are named, and their files have names.
expect 0 config append profile_folders "$WORK/site"
mkdir -p "$WORK/site"
expect 0 hardware list
err_has "each NAME.yaml in $GPKG_ROOT_PREFIX/profiles and $WORK/site"
expect 0 hardware export -o "$WORK/site/login.yaml"
err_has 'use --for login to solve for this machine'
expect 0 hardware --for login
expect 0 config remove-key profile_folders
# An override still wins, as on that machine.
CONDA_OVERRIDE_CUDA=12.9 expect 0 solve newest --for h100
err_has 'note: CONDA_OVERRIDE_CUDA=12.9 also applies to h100: __cuda is 12.9'
# A setting is of this machine, and of none that is named.
expect 0 config set override_virtual_packages.cuda 12.9
expect 0 solve newest
err_lacks 'also applies to'
expect 0 hardware
out_has 'override_virtual_packages.cuda: 12.9  __cuda is 12.9  ' '(overridden: 12.9)'
err_has 'to give one: CONDA_OVERRIDE_CUDA_ARCH=9.0'
out_lacks CONDA_OVERRIDE_CUDA
expect 1 solve newest --for h100
expect 0 solve torch=2.0=cuda12 --for h100 --json
json '"__cuda=12.8=0" in d["virtual_packages"]'
expect 0 hardware --for h100
out_lacks '12.9' 'override'
expect 0 config set override_virtual_packages.cuda 11.8
expect 1 solve newest
err_has 'hint: override_virtual_packages in ' 'config.yaml:' ' overrides __cuda of this machine'
expect 0 doctor
out_has 'override_virtual_packages in ' 'replaces the detected driver with CUDA 11.8'
expect 0 doctor --for h100
out_lacks override_virtual_packages
expect 0 config remove-key override_virtual_packages

# What cannot be meant.
expect 2 solve torch --for h10
err_has '--for h10: unknown machine'
err_has 'did you mean h100, a10 or k10?'
expect 2 solve torch --for ./none.yaml
err_has 'none.yaml: cannot open'
expect 2 solve torch --for gh200 --platform linux-64
err_has '--platform linux-64 conflicts with --for'
printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia:\n  cdua: "12"\n' > bad.yaml
expect 1 solve torch --for bad.yaml
err_has 'bad.yaml:4:'
err_has 'did you mean cuda?'
expect 2 solve torch --for ''
err_has '--for: the machine is empty'
printf 'gpkg_profile: 1\nplatform: linux-64\ngpus: [{vendor: nvidia, architecture: "9.0"}]\n' > bad.yaml
expect 1 solve torch --for bad.yaml
err_has "there is an NVIDIA GPU, but \`nvidia:\` with \`cuda:\` is missing"

# Another platform's machine is decided for, and nothing of it installed here.
expect 0 solve data --for gh200 --json
json 'd["platform"] == "linux-aarch64" and d["packages"][0]["name"] == "data"'
expect 1 create -y -n arm torch --for gh200
check [ ! -e "$(place arm)" ]

# A partition without a profile: how to write one, and which ones there are.
expect 2 hardware --for partition=nope
err_has 'partition=nope: no profile for this partition' 'gpkg hardware --slurm' \
    "gpkg hardware export --for h100 -o " "$GPKG_ROOT_PREFIX/profiles/partition=nope.yaml"
expect 2 hardware export --slurm
err_has '--slurm cannot be used with export' 'gpkg hardware --slurm'
# A named machine lacks glibc: its profile says where to write it.
expect 0 hardware export --for h100 -o h100.yaml
check grep -q '^#  glibc: "2.28"  # assumed' h100.yaml
sed -i 's/^#\(system:\|  glibc:\)/\1/' h100.yaml
expect 0 hardware --for ./h100.yaml --json
json 'd["glibc"]["value"] == "2.28"'
# Export: what was written is read back as it was.
expect 0 hardware export --for node.yaml
err_is ''
printf '%s\n' "$out" > again.yaml
expect 0 hardware export --for again.yaml -o third.yaml
err_has '--for ./third.yaml'
check cmp again.yaml third.yaml
check grep -q 'driver: 550.54.14' third.yaml
expect 0 hardware export
out_has 'gpkg_profile: 1'
out_has 'platform: linux-'
expect 0 hardware export -o third.yaml
printf 'dependencies: []\n' > environment.yml
expect 1 hardware export -o environment.yml
err_has 'environment.yml: exists and is not a hardware profile'
check grep -q dependencies environment.yml
# What overrides say is no fact of the machine.
CONDA_OVERRIDE_CUDA=12.9 expect 0 hardware export --for node.yaml -o -
check [ ! -e - ]
check [ "$out" = "$(cat again.yaml)" ]
err_has 'overrides are not exported: CONDA_OVERRIDE_CUDA=12.9; set it again'
expect 0 hardware export --json --for h100
json 'd["success"] and "architecture: \"9.0\"" in d["profile"]'

# The strongest of AMD's devices counts, so how strong they are is told.
expect 0 hardware --for mi300x --json
json '[(g["architecture"], g["compute_units"]) for g in d["gpus"]] == [("gfx942", 304)]'
# The profile of the page is one.
sed -n '/^gpkg_profile: 1/,/^```/{/^```/!p}' "$here/../../docs/reference/hardware-profile.md" > page.yaml
expect 0 hardware --for ./page.yaml --json
json 'd["cuda"]["value"] == "12.4" and d["gpus"][0]["architecture"] == "9.0" and d["known_by_names"]'
# Where Slurm does not answer, another way is told.
mkdir -p "$WORK/bin"
printf '#!/bin/sh\necho "sinfo: error: no DNS record\nsinfo: fatal: no configuration" >&2\nexit 1\n' > "$WORK/bin/sinfo"
chmod +x "$WORK/bin/sinfo"
PATH=$WORK/bin:$PATH expect 1 hardware --slurm
err_has 'error: Slurm does not answer: sinfo: fatal: no configuration' 'use ssh: gpkg hardware --hosts' \
    'gpkg hardware export --for h100 -o FILE'
err_lacks 'no DNS record'

# Which GPUs count is for the user to say; a small one beside a big one is there for a screen.
cat > three.yaml <<'YAML'
gpkg_profile: 1
platform: linux-64
nvidia: {driver: 580.65.06, cuda: "13.0"}
amd: {driver: present}
gpus:
  - {vendor: nvidia, name: Big, architecture: "9.0", memory_mib: 81559}
  - {vendor: nvidia, name: Small, architecture: "6.1", memory_mib: 2048}
  - {vendor: amd, name: Built in, architecture: gfx1036, memory_mib: 512}
YAML
arch='{p["name"]: p["version"] for p in d["virtual_packages"] if "arch" in p["name"] and "spec" not in p["name"]}'
expect 0 hardware --for ./three.yaml
err_has 'Small sets __cuda_arch to 6.1; without it, 9.0; to ignore it, use --devices compute, or always: gpkg config set devices compute'
expect 0 hardware --for ./three.yaml --devices all --json
json "$arch == {'__cuda_arch': '6.1', '__amdgpu_arch': '10.3.6'}"
expect 0 hardware --for ./three.yaml --devices compute --json
json "$arch == {'__cuda_arch': '9.0'}"
expect 0 hardware --for ./three.yaml --devices 0,2 --json
json "$arch == {'__cuda_arch': '9.0', '__amdgpu_arch': '10.3.6'}"
expect 0 hardware export --for ./three.yaml --devices 1
out_has 'Small'
out_lacks 'Big'
out_lacks 'Built in'
expect 2 hardware --for ./three.yaml --devices 3
err_has 'no GPU with this number'
expect 2 hardware --for ./three.yaml --devices big
err_has 'not a list of GPUs'
expect 2 solve torch --for ./three.yaml --devices ''
err_has 'error: gpkg solve: --devices: the list of GPUs is empty'
expect 2 solve torch --for ./three.yaml --devices 7

# It can be said once and for all. Numbers are those of this machine.
expect 0 config set devices compute
expect 0 hardware --for ./three.yaml --json
json "$arch == {'__cuda_arch': '9.0'}"
json '[g["counts"] for g in d["gpus"]] == [True, False, False]'
expect 0 hardware --for ./three.yaml
out_has '6.1, 2 GiB; ignored (devices: compute in '
err_lacks 'makes __cuda_arch'
expect 0 doctor --for ./three.yaml
out_has 'ok       ./three.yaml: '
expect 0 hardware --for ./three.yaml --devices all --json
json "$arch == {'__cuda_arch': '6.1', '__amdgpu_arch': '10.3.6'}"
GPKG_DEVICES=0,2 expect 0 hardware --for ./three.yaml --json
json "$arch == {'__cuda_arch': '6.1', '__amdgpu_arch': '10.3.6'}"
GPKG_DEVICES=0 expect 0 hardware
expect 2 config set devices big
err_has 'expected all, compute or numbers of GPUs'
expect 0 config remove-key devices

# What a profile says of itself commands no terminal.
printf 'gpkg_profile: 1\nplatform: linux-64\norigin: "\\e[31mred"\ncpu: {model: "\\e]0;x\\a"}\n' > bad.yaml
expect 0 hardware --for ./bad.yaml
out_has '\x1b[31mred' '\x1b]0;x\x07'

# Of a driver whose GPUs do not count nothing is asked.
printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: "12.8", driver: "570.1"}\namd: {driver: present}\ngpus: [{vendor: nvidia, name: A, architecture: "9.0", memory_mib: 80000}, {vendor: amd, name: B, architecture: gfx942, memory_mib: 80000}]\n' > two.yaml
expect 0 hardware --for ./two.yaml --devices 1 --json
json 'not any(p["name"] == "__cuda" for p in d["virtual_packages"])'
expect 0 create -n two --for ./two.yaml --devices 1
err_lacks "NVIDIA's driver"

# What decides and is misspelled is told where it would have decided.
CONDA_OVERRIDE_CUDE=12.8 expect 1 solve newest
err_has 'CONDA_OVERRIDE_CUDE=12.8: no such virtual package; did you mean CONDA_OVERRIDE_CUDA?'
CONDA_OVERRIDE_ARCHSPEC=x86-64-v3 expect 1 solve newest
err_has 'did you mean x86_64_v3?'
expect 2 solve newest --for h100 --for a100
err_has '--for can be used only once'
expect 2 solve newest --for h100,a100
err_has '--for h100,a100: expected one machine, found 2' 'gpkg lock and gpkg build plan-variants take several'
expect 2 solve newest --channel-priority strct
err_has "'strct' is not one of strict, flexible and disabled; did you mean strict?"

finish
