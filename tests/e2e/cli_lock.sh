# gpkg lock, lock check, lock convert, create --lock
here=$(cd "$(dirname "$0")" && pwd)
corpus=${GPKG_TEST_CORPUS:-}  # which lib.sh leaves out
. "$here/lib.sh"

package lib 1.0 0
package lib 2.0 0
package torch 2.0 cpu_0 'lib' '__glibc >=2.17,<3.0.a0'
package torch 2.0 cuda12_0 'lib' '__cuda' '__glibc >=2.28,<3.0.a0'
package torch 1.0 cuda12_0 'lib <2' '__cuda >=12'
package torch 1.0 rocm6_0 'lib' '__amdgpu'
package torch 1.0 cpu_0 'lib'
SUBDIR=noarch package pure 1.0 0 '__unix'
SUBDIR=linux-aarch64 package torch 1.0 cpu_0
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX
classes() { python3 - "$1" << 'PY'
import json, re, subprocess, sys
text = open(sys.argv[1]).read()
for name, body in re.findall(r"^  (\w+):\n((?:    .*\n|    - .*\n)+)", text, re.M):
    needs = re.search(r"needs:\n((?:    - .*\n)*)", body)
    packages = re.search(r"packages:\n((?:    - .*\n)*)", body)
    show = lambda m: " ".join(sorted(x.strip()[2:] for x in m.group(1).splitlines())) if m else ""
    print(f"{name} | {show(needs)} | {show(packages)}")
PY
}

# One version for all where that can be had, each in its own build.
expect 0 lock torch pure --for a100 --for cpu
check [ "$(classes gpkg.lock)" = "a100 | __cuda __glibc >=2.28,<3.0.a0 __unix | lib-2.0-0.tar.bz2 pure-1.0-0.tar.bz2 torch-2.0-cuda12_0.tar.bz2
cpu | __glibc >=2.17,<3.0.a0 __unix | lib-2.0-0.tar.bz2 pure-1.0-0.tar.bz2 torch-2.0-cpu_0.tar.bz2" ]
cp gpkg.lock first.lock
expect 0 lock torch pure --for a100 --for cpu -o again.lock
check cmp gpkg.lock again.lock

# A class that can only have an older version brings the others down to it.
expect 0 lock torch --for a100 --for mi300 --accel nvidia,amd -o aligned.lock --json
json '[d["divergences"], [c["name"] for c in d["classes"]]] == [[], ["a100", "mi300"]]'
check [ "$(classes aligned.lock | cut -d'|' -f1,3)" = 'a100 | lib-1.0-0.tar.bz2 torch-1.0-cuda12_0.tar.bz2
mi300 | lib-1.0-0.tar.bz2 torch-1.0-rocm6_0.tar.bz2' ]
# Where that is impossible, the difference is told with its reason.
expect 0 lock 'torch=2' lib --for a100 --for cpu -o one.lock
package strict 1.0 cuda_0 '__cuda' 'lib <2'
package strict 1.0 cpu_0 'lib >=2'
expect 0 lock strict --for a100 --for cpu -o differ.lock
out_has 'lib differs between classes: 1.0 for a100; 2.0 for cpu'
out_has 'cpu: strict 1.0 needs lib >=2'
expect 0 lock strict --for a100 --for cpu -o differ.lock --json
json 'd["divergences"][0]["name"] == "lib" and d["divergences"][0]["versions"] == {"a100": "1.0", "cpu": "2.0"} and d["divergences"][0]["because_of"] == "cpu"'
# No class gives up code for its GPU to have the version of an old one.
package nn 1.0 cuda118_0 '__cuda >=11'
package nn 2.0 cuda129_0 '__cuda >=12'
printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: "11.8"}\ngpus: [{vendor: nvidia, architecture: "7.0"}]\n' > old.yaml
expect 0 lock nn --for rtx5090 --for ./old.yaml --accel nvidia -o code.lock
out_has 'nn differs between classes: 1.0 for old; 2.0 for rtx5090'
out_has 'rtx5090: nn 1.0 is compiled with CUDA 11.8, which has no machine code for compute capability 12.0'

# An environment.yml is locked for each of the platforms that it is made for.
printf 'dependencies: [torch]\nplatforms: [linux-64, linux-aarch64]\n' > two.yml
expect 0 lock -f two.yml -o two.lock --json
json '[[c["name"], c["platform"]] for c in d["classes"]] == [["linux-64", "linux-64"], ["linux-aarch64", "linux-aarch64"]]'
check grep -q torch-1.0-cpu_0.tar.bz2 two.lock
expect 0 lock check two.lock -f two.yml
expect 0 lock -f two.yml -o one.lock --platform linux-64 -y --json
json '[c["name"] for c in d["classes"]] == ["linux-64"]'
printf 'dependencies: [torch]\nplatforms: [linux-aarch64]\n' > arm.yml
expect 0 lock -f arm.yml -o arm.lock
check [ -z "$err" ]
check grep -q 'linux-aarch64:' arm.lock

# Of a platform alone no more is known than the variables say; what would make it enough is told.
SUBDIR=osx-arm64 package mac 1.0 0 '__osx >=11.0'
package mac 1.0 0
printf 'dependencies: [mac]\nplatforms: [linux-64, osx-arm64]\n' > mac.yml
expect 1 lock -f mac.yml -o mac.lock
err_has 'for osx-arm64: the request cannot be solved' 'CONDA_OVERRIDE_OSX=11.0 gpkg lock'
CONDA_OVERRIDE_OSX=11.0 expect 0 lock -f mac.yml -o mac.lock
expect 0 lock mac --for m1 -o m1.lock

# Which class a machine takes, without a channel; one that none is for gets a sentence.
mv "$CHANNEL" "$CHANNEL.away"
expect 0 lock check first.lock --for h100
check [ "$(tr -s ' ' <<< "$out")" = 'a100 selected: it has builds for this GPU
cpu fits
first.lock is consistent (2 classes, 4 packages)' ]
expect 0 lock check first.lock --for mi300 --json
json 'd["class"] == "cpu" and [c for c in d["classes"] if c["name"] == "a100"][0]["unmet"] == ["needs __cuda (none found)"]'
expect 1 lock check first.lock --for gh200
out_has 'is for linux-64, not linux-aarch64'
# What is in it, class by class.
expect 0 lock list first.lock
out_has 'a100: 3 packages for linux-64; needs __cuda, __glibc >=2.28,<3.0.a0, __unix' 'cpu: 3 packages for linux-64'
check [ "$(awk '/^ / { print $1, $2, $3 }' <<< "$out")" = 'lib 2.0 0
pure 1.0 0
torch 2.0 cuda12_0
lib 2.0 0
pure 1.0 0
torch 2.0 cpu_0' ]
listed=$out
expect 0 lock show first.lock
out_is "$listed"
expect 0 lock list first.lock --class cpu --json
json '[[c["name"], [p["name"] for p in c["packages"]]] for c in d["classes"]] == [["cpu", ["lib", "pure", "torch"]]]'
expect 1 lock list first.lock --class gpu
err_has "first.lock: no class 'gpu'" 'classes in it: a100 and cpu'
expect 0 lock check first.lock --for h100,glibc=2.17
out_has 'a100  needs __glibc >=2.28,<3.0.a0 (found 2.17)'
expect 1 create -n no --lock first.lock --for gh200 -y
err_has 'no class fits gh200'
absent no
mv "$CHANNEL.away" "$CHANNEL"

# An environment of a lock is what the lock says, also when the channel has newer packages since.
package torch 3.0 cpu_0 'lib'
expect 0 create -n locked --lock first.lock --for cpu --dry-run
check grep -q '^Lock  *first.lock, class cpu$' <<< "$out"
expect 0 create -n locked --lock first.lock --for cpu -y
err_has 'using class cpu of first.lock: it is the only class that fits'
out_has 'created locked with 3 packages from first.lock, class cpu'
records locked '{n: p["version"] for n, p in r.items()} == {"torch": "2.0", "lib": "2.0", "pure": "1.0"}'
records locked '"torch" in history and r["torch"]["requested_specs"] == ["torch"]'
expect 0 create -n fast --lock first.lock --for h100 -y
records fast 'r["torch"]["build"] == "cuda12_0"'
expect 0 info -n fast
out_has 'GPU packages  : torch ('
expect 2 create -n x --lock first.lock torch -y
err_has 'packages and files cannot be given with --lock'

# The best version that all can have, not the lowest that one of them would take.
package meet 3.0 cuda_0 '__cuda'
package meet 2.0 cpu_0
package meet 1.0 cuda_0 '__cuda'
package meet 1.0 cpu_0
package meet 0.5 cuda_0 '__cuda'
package meet 0.5 cpu_0
expect 0 lock meet --for a100 --for cpu -o meet.lock --json
json 'd["divergences"] == []'
check [ "$(classes meet.lock | cut -d'|' -f3 | tr -d ' \n')" = meet-1.0-cuda_0.tar.bz2meet-1.0-cpu_0.tar.bz2 ]
# Nothing that matters more gets older for it.
package top 2.0 cuda_0 '__cuda' 'meet >=3'
package top 2.0 cpu_0 'meet <=2'
package top 1.0 0 'meet 1.0'
expect 0 lock top --for a100 --for cpu -o top.lock --json
json '[x["name"] for x in d["divergences"]] == ["meet"] and d["divergences"][0]["versions"] == {"a100": "3.0", "cpu": "2.0"}'
# A library that one class alone has, and settles first, matters less than python for all.
package python 3.14.1 0
package python 3.12.2 0
package magma 2.0 0
package magma 1.0 0
package vision 1.0 cuda_314 '__cuda' 'magma 2.*' 'python 3.14.*'
package vision 1.0 cuda_312 '__cuda' 'magma 1.*' 'python 3.12.*'
package vision 1.0 cpu_312 'python 3.12.*'
expect 0 solve vision --for a100 --json
json '{p["name"]: p["version"] for p in d["packages"]}["python"] == "3.14.1"'
expect 0 lock vision --for a100 --for cpu -o python.lock --json
json 'd["divergences"] == []'
json 'd["classes"][0]["notes"] == ["python 3.12.2 instead of 3.14.1, so that all classes have the same version; cpu cannot have a newer one"]'
check [ "$(classes python.lock | cut -d'|' -f3)" = ' magma-1.0-0.tar.bz2 python-3.12.2-0.tar.bz2 vision-1.0-cuda_312.tar.bz2
 python-3.12.2-0.tar.bz2 vision-1.0-cpu_312.tar.bz2' ]
# But not than what was asked for.
expect 0 lock vision magma --for a100 --for cpu -o magma.lock --json
json '[x["name"] for x in d["divergences"]] == ["python"]'
# As it is with those of conda-forge.
if [ -n "$corpus" ]; then
    expect 0 lock pytorch torchvision --for a100 --for cpu --for h100 \
        --override-channels -c "$corpus/conda-forge" --dry-run --json
    # pytorch 2.10 and torchvision 0.26 have GPU builds for python 3.11 alone there, and CPU builds for 3.14.
    json '{x["name"] for x in d["divergences"]} == {"libffi", "python", "python_abi"}'
    # One class alone has an older python for better builds, and can have the newer.
    expect 0 lock pytorch torchvision numpy=1 --for a100 --for cpu \
        --override-channels -c "$corpus/conda-forge" --dry-run --json
    json 'd["divergences"] == []'
fi

# What is asked for moves on, and the lock tells.
printf 'name: x\nchannels: [%s]\ndependencies: [torch=2, lib]\nvariables: {COLOUR: red}\n' "$CHANNEL" > env.yml
expect 0 lock -f env.yml --for a100 --for cpu -o drift.lock
mv "$CHANNEL" "$CHANNEL.away"
expect 0 lock check drift.lock -f env.yml --for cpu
err_lacks 'out of date'
out_lacks 'out of date'
mv "$CHANNEL.away" "$CHANNEL"
printf 'name: x\nchannels: [%s]\ndependencies: [torch=1, pure]\nvariables: {COLOUR: blue}\n' "$CHANNEL" > moved.yml
expect 1 lock check drift.lock -f moved.yml --for cpu
out_has "out of date: 'torch=1' is requested now, 'torch=2' in the lock"
out_has "out of date: 'pure' is requested now, but was not when the lock was written"
out_has "out of date: 'lib' was requested when the lock was written, but is not now"
out_has 'out of date: variables: now COLOUR=blue, COLOUR=red in the lock'
expect 1 lock check drift.lock -f env.yml --for cpu --accel none --json
json 'd["class"] == "cpu" and d["drift"] == ["accelerator: now none, unset in the lock"]'
# Configured channels are not those of a file.
GPKG_CHANNELS=$CHANNEL,$WORK/other expect 0 lock check drift.lock -f env.yml --for cpu
err_has "note: the lock has only the channels of the file, not the configured file://$WORK/other; to add one: -c CHANNEL"
GPKG_CHANNELS=$WORK/other expect 0 lock -f env.yml --for cpu -o plain.lock
check [ "$(grep -c other plain.lock)" = 0 ]
GPKG_CHANNELS=$CHANNEL expect 1 lock check drift.lock -f env.yml --for cpu -c "$WORK/other"
out_has 'out of date: channels: now '
# Without channels in the file they are what there is.
sed '/^channels/d' env.yml > bare.yml
expect 0 lock -f bare.yml --for cpu -o plain.lock
check grep -q "$CHANNEL" plain.lock
expect 0 lock pure --for a100 --for cpu --dry-run
err_has 'note: all classes have the same packages, and none of them is a GPU build'
# gpkg.lock is compared with the environment.yml beside it.
mkdir beside
cp drift.lock beside/gpkg.lock
cp env.yml beside/environment.yml
pushd beside > /dev/null
expect 0 lock check --for cpu
err_has 'note: comparing the lock with environment.yml'
out_has 'matches environment.yml'
cp ../moved.yml environment.yml
expect 1 lock check --for cpu
out_has "out of date: 'pure' is requested now, but was not when the lock was written"
expect 0 lock check ../drift.lock --for cpu
popd > /dev/null
sed 's/- torch=2/- torch=3/' drift.lock > edited.lock
expect 1 lock check edited.lock --for cpu
out_has 'the request in the lock was edited after it was solved'
expect 0 create -n coloured --lock drift.lock --for cpu -y
expect 0 run -n coloured sh -c 'echo $COLOUR'
out_has red
expect 0 lock torch=2 --for cpu --accel none -o none.lock
expect 0 create -n chosen --lock none.lock --for cpu -y
check grep -q '"accelerator": *"none"' "$(place chosen)/conda-meta/gpkg/state.json"
# Selectors may choose other packages for other platforms; each class knows its own.
printf 'name: x\nchannels: [%s]\ndependencies:\n  - pure\n  - torch=1  # [x86_64]\n' "$CHANNEL" > selected.yml
expect 0 lock -f selected.yml --for cpu --for gh200 -o selected.lock
expect 0 lock check selected.lock -f selected.yml --for gh200
expect 0 lock check selected.lock -f selected.yml --for cpu

# gone NAME-VERSION-BUILD: the channel has it no more.
gone() { sed -i "/\"$1.tar.bz2\"/d" "$WORK/records.linux-64"; index; }

# A file that has vanished is no riddle.
package fleeting 1.0 0
expect 0 lock fleeting --for cpu -o 'its own.lock'
mv "$CHANNEL/linux-64/fleeting-1.0-0.tar.bz2" away
expect 1 create -n x --lock 'its own.lock' --for cpu -y
err_has 'fleeting-1.0-0.tar.bz2: no such file' "to replace missing packages with other builds: gpkg lock repair 'its own.lock'"
expect 0 lock convert 'its own.lock' fleeting.pixi.lock
expect 1 create -n x --lock fleeting.pixi.lock --for cpu -y
err_has 'fleeting-1.0-0.tar.bz2: no such file'
err_lacks 'lock repair'
expect 1 create -n x fleeting -y
err_lacks 'lock repair'
mv away "$CHANNEL/linux-64/fleeting-1.0-0.tar.bz2"

# Packages that are gone are named, and other builds of their versions take their place.
expect 0 lock check drift.lock --for cpu --available
out_has 'drift.lock is consistent (2 classes, ' '; the channels have all packages'
gone torch-2.0-cpu_0
package torch 2.0 cpu_1 'lib' '__glibc >=2.17,<3.0.a0'
expect 1 lock check drift.lock --for cpu --available
out_has 'torch-2.0-cpu_0.tar.bz2: no longer in its channel'
err_has 'gpkg lock repair drift.lock'
cp drift.lock kept.lock
expect 0 lock repair drift.lock --dry-run
out_has 'cpu: torch 2.0 cpu_0 -> torch 2.0 cpu_1'
check cmp drift.lock kept.lock
expect 0 lock repair drift.lock -o repaired.lock --json
json '[c["class"] for c in d["changes"]] == ["cpu"]'
check cmp drift.lock kept.lock
expect 0 lock repair drift.lock
expect 0 lock check drift.lock --for cpu --available -f env.yml
check [ "$(diff drift.lock kept.lock | grep -c '^[<>].*- ')" = 2 ]
expect 0 lock repair drift.lock
out_has 'nothing to do'
# Also what stands there under the same name with another checksum.
gone lib-2.0-0
package lib 2.0 0 'pure'
expect 1 lock check drift.lock --for cpu --available
out_has 'lib-2.0-0.tar.bz2: its channel has another file of this name'
expect 0 lock repair drift.lock
# A version that is gone altogether is left for the user to decide.
gone lib-2.0-0
expect 1 lock repair drift.lock
err_has 'cannot be solved with these versions'
err_has 'gpkg lock repair drift.lock lib  # allows other versions'
expect 0 lock repair drift.lock lib
out_has 'lib 2.0 0 -> lib 1.0 0'
# Nor is what then keeps it from another one forgotten.
package other 1.0 0
package other 2.0 0
package tied 1.0 0 'other =1'
package tied 2.0 0 'other =2'
index
expect 0 lock tied --for cpu -o tied.lock
gone tied-2.0-0
expect 1 lock repair tied.lock
err_has 'gpkg lock repair tied.lock other tied  # allows other versions'
expect 1 lock repair tied.lock tied
err_has 'gpkg lock repair tied.lock tied other  # allows other versions'
expect 0 lock repair tied.lock other tied
out_has 'tied 2.0 0 -> tied 1.0 0'
# It names no more than what has to move: here what is gone has its version with another lang.
package lang 3.2 0
package lang 3.1 0
package dep 2.0 0
package dep 1.0 0
package app 2.0 lang32_0 'lang 3.2' 'dep 2.0'
package app 2.0 lang31_0 'lang 3.1' 'dep 2.0'
package app 1.0 lang32_0 'lang 3.2' 'dep 1.0'
index
expect 0 lock app --for cpu -o narrow.lock
gone app-2.0-lang32_0
expect 1 lock repair narrow.lock
err_has 'gpkg lock repair narrow.lock lang  # allows other versions'
expect 0 lock repair narrow.lock lang
out_has 'cpu: app 2.0 lang32_0 -> app 2.0 lang31_0'
# Where classes have different versions then, that is told as gpkg lock tells it.
package apart 2.0 0
package apart 1.0 0
package user 1.0 cuda_0 '__cuda' 'apart'
package user 1.0 cpu_0 'apart'
index
expect 0 lock user --for a100 --for cpu -o apart.lock --json
json 'd["divergences"] == []'
cp "$WORK/records.linux-64" kept
gone user-1.0-cuda_0
package user 1.0 cuda_1 '__cuda' 'apart <2'
expect 0 lock repair apart.lock apart --dry-run --json
json 'd["divergences"] == []'
gone user-1.0-cpu_0
package user 1.0 cpu_1 'apart >=2'
expect 0 lock repair apart.lock apart --dry-run --json
json '[x["name"] for x in d["divergences"]] == ["apart"] and d["divergences"][0]["versions"] == {"a100": "1.0", "cpu": "2.0"}'
expect 0 lock repair apart.lock apart
out_has 'a100: apart 2.0 0 -> apart 1.0 0' 'apart differs between classes: 1.0 for a100; 2.0 for cpu' 'cpu: user 1.0 needs apart >=2'
expect 0 lock repair apart.lock
out_lacks 'differs between classes'
cp kept "$WORK/records.linux-64"
index
expect 1 lock repair drift.lock nosuch
err_has "package 'nosuch' is not in the lock"
expect 1 lock repair drift.lock lbi
err_has 'did you mean lib?'
package lib 2.0 0

# Every machine there could be: what the lock has for it is what is decided there.
BUILD_NUMBER=2 package wide 3.0 cuda13_0 '__cuda >=13' '__glibc >=2.28,<3.0.a0'
BUILD_NUMBER=1 package wide 3.0 cuda12_0 '__cuda >=12' '__glibc >=2.17,<3.0.a0'
package wide 3.0 cpu_0 '__glibc >=2.17,<3.0.a0'
package wide 3.0 v3_0 '__glibc >=2.17,<3.0.a0' '__archspec 1 x86_64_v3'
package wide 2.0 cpu_0
expect 0 lock wide --for-all -o all.lock --dry-run
check [ ! -e all.lock ]
expect 0 lock wide --for-all -o all.lock --json
json '[a["name"] for a in d["axes"]] == ["__amdgpu", "__archspec", "__cuda", "__cuda_arch", "__glibc"]'
json 'd["unsatisfiable"] == d["take_another"] == [] and len(d["classes"]) == 5'
json 'sorted(len(c["machines"]) for c in d["classes"]) and d["solves"] < sum(len(c["machines"]) for c in d["classes"])'
expect 0 lock wide --for-all -o all.lock
err_lacks 'install another class'
out_has '5 classes for'
out_has 'cuda13'
# agrees NAME LOCK: a machine gets of the lock what it would be given for the name.
agrees() {
    local solved locked
    expect 0 solve "$1" --json
    solved=$(python3 -c 'import json, sys; print(*[r["fn"] for r in json.load(sys.stdin)["packages"]])' <<< "$out")
    expect 0 create -n x --lock "$2" --dry-run --json
    locked=$(python3 -c 'import json, sys; print(*[r["fn"] for r in json.load(sys.stdin)["actions"]["LINK"]])' <<< "$out")
    check [ "$solved" = "$locked" ]
}
for cuda in '' 11.8 12.9 13.0; do
    for glibc in 2.12 2.20 2.28; do
        for arch in x86_64_v2 zen4; do
            export CONDA_OVERRIDE_CUDA=$cuda CONDA_OVERRIDE_GLIBC=$glibc CONDA_OVERRIDE_ARCHSPEC=$arch
            agrees wide all.lock
        done
    done
done
# Also where one answer is for machines that packages tell apart, and others lie between: what the
# lock says that a class was made for leads each of them to it.
package tall 2.0 cuda12_0 '__cuda >=12' '__glibc >=2.28,<3.0.a0'
package tall 2.0 cuda13_0 '__cuda >=13' '__glibc >=2.28,<3.0.a0' 'nowhere'
package tall 1.0 cuda11_0 '__cuda >=11'
package tall 1.0 cpu_0
index
expect 0 lock tall --for-all -o tall.lock --json
json 'd["take_another"] == []'
for cuda in '' 11.8 12.0 12.9 13.0 14.1; do
    for glibc in 2.17 2.28 2.40; do
        export CONDA_OVERRIDE_CUDA=$cuda CONDA_OVERRIDE_GLIBC=$glibc CONDA_OVERRIDE_ARCHSPEC=x86_64_v2
        agrees tall tall.lock
    done
done
expect 0 lock convert tall.lock tall.gpkg.lock
err_has 'from a folder of this machine (file://), which other machines may not have'
check cmp tall.lock tall.gpkg.lock
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_ARCHSPEC

expect 0 create -n x --lock tall.lock --for h100 --dry-run --json
json 'd["notes"][0].startswith("using class ") and " of tall.lock: it " in d["notes"][0]'
expect 0 lock tall --for mi300 --for cpu -o notes.lock --json
json '["no version has a ROCm build" in " ".join(c["notes"]) for c in d["classes"]] == [c["name"] == "mi300" for c in d["classes"]]'

# What is asked of the machine itself counts, too.
expect 0 lock pure '__cuda>=12' --for a100 -o asked.lock
check grep -q -- '- __cuda >=12$' asked.lock
expect 1 lock check asked.lock --for cpu
out_has 'needs __cuda >=12 (none found)'
expect 0 lock check asked.lock pure '__cuda>=12' --for h100

expect 1 lock 'torch>9' --for-all -o never.lock
err_has 'torch>9'
expect 2 lock torch --for-all --for cpu

# Other formats, there and back.
expect 0 lock convert first.lock pixi.lock
expect 0 lock check pixi.lock --for a100
out_has 'a100'
expect 0 lock torch=2 --for cpu -o cpu.gpkg.lock
expect 0 lock convert cpu.gpkg.lock conda-lock.yml
expect 0 create -n fromconda --lock conda-lock.yml -y
records fromconda 'r["torch"]["build"] == "cpu_1" and r["torch"]["depends"]'
expect 0 create -n frompixi --lock pixi.lock --for cpu -y
records frompixi 'r["torch"]["build"] == "cpu_0"'
expect 1 lock repair pixi.lock
err_has "not a gpkg.lock"
for name in what pixi.lock.new linux-64.lock; do
    expect 2 lock convert first.lock "$name"
    err_has 'unknown format for this file name' 'gpkg.lock, pixi.lock, conda-lock.yml, or NAME.txt for an explicit list'
done
expect 0 lock convert first.lock environment-pixi.lock
check cmp environment-pixi.lock pixi.lock
expect 0 lock convert cpu.gpkg.lock linux-64.conda-lock.yml
check cmp linux-64.conda-lock.yml conda-lock.yml
for name in pixi.lock.new conda-lock environment-pixi.lock linux-64.conda-lock.yml a100.txt; do
    expect 2 lock torch --for cpu -o "$name"
    err_has "-o $name: gpkg lock writes only gpkg.lock files"
    expect 2 lock repair first.lock -o "$name"
    err_has "-o $name: gpkg lock writes only gpkg.lock files"
done
check [ ! -e pixi.lock.new ]
expect 2 create -n x -f linux-64.conda-lock.yml -y
err_has 'is a lock file, not a list of specs' 'hint: gpkg create -n x --lock linux-64.conda-lock.yml'
printf '[workspace]\nname = "p"\n' > pixi.toml
expect 2 create -n x -f pixi.toml -y
err_has 'pixi.toml is a project file, which gpkg does not read' 'hint: use its pixi.lock: gpkg create -n x --lock pixi.lock'
expect 2 lock -f ./pixi.toml --for cpu
err_has 'hint: use its pixi.lock: gpkg create -n NAME --lock ./pixi.lock'
expect 2 sync -n x -f linux-64.conda-lock.yml -y
err_has 'hint: gpkg sync -n x --lock linux-64.conda-lock.yml'

# pixi.lock of version 6 has no words for two classes of one platform.
expect 1 lock convert first.lock six.lock --format pixi-6
err_has 'the classes a100 and cpu are both for linux-64' 'use version 7 (--format pixi), or write one of them with --class NAME'
expect 1 lock convert first.lock six.lock --format pixi-6 --dry-run
expect 1 lock convert first.lock conda-lock.yml
err_has 'write one of them with --class NAME'
expect 0 lock convert first.lock six.lock --format pixi-6 --class a100
out_has 'wrote six.lock (format: pixi.lock version 6)'
check [ "$(head -1 six.lock)" = 'version: 6' ]
check [ "$(grep -c 'conda: .*torch' six.lock)" = 2 ]
expect 0 lock check six.lock --for a100
# What is there may be the only copy of a request: it is not replaced unasked.
cp six.lock six.before
expect 1 lock convert two.lock six.lock --format pixi-6
err_has 'six.lock: exists already' 'add -y to replace it, or choose another file'
answer 'n\n' lock convert two.lock six.lock --format pixi-6
check cmp six.lock six.before
expect 0 lock convert first.lock six.lock --format pixi-6 --class a100
expect 0 lock convert two.lock six.lock --format pixi-6 -y
check grep -q '^      linux-aarch64:' six.lock
# What is there is not lost: the lock itself, and what is none.
cp first.lock self.gpkg.lock
expect 2 lock convert self.gpkg.lock ./self.gpkg.lock --format gpkg
err_has 'cannot convert a lock file onto itself'
expect 2 lock convert first.lock x.gpkg.lock --format pixi
err_has '--format pixi: the file name x.gpkg.lock stands for gpkg.lock'
expect 0 lock convert first.lock x.pixi.lock --format pixi-6 --class a100 --offline
echo precious > keep.gpkg.lock
expect 1 lock lib -o keep.gpkg.lock
err_has 'keep.gpkg.lock: exists and is not a lock file'
check [ "$(cat keep.gpkg.lock)" = precious ]
printf '<<<<<<< a\ngpkg_lock: 1\n>>>>>>> b\n' > merged.gpkg.lock
expect 0 lock lib -o merged.gpkg.lock
# A list of package files may be called so as well, as conda-lock calls it.
expect 0 lock convert first.lock list.txt --class cpu
cp list.txt conda-linux-64.lock
expect 0 create -n listed -f conda-linux-64.lock --dry-run
expect 1 lock convert first.lock x.gpkg.lock --class a10
err_has "no class 'a10'" 'classes in it: a100 and cpu'
expect 0 lock convert first.lock x.gpkg.lock --class a100
expect 0 lock check x.gpkg.lock torch pure --for a100
check [ "$(classes x.gpkg.lock)" = "$(classes first.lock | grep a100)" ]
check [ "$(grep -c '  url:.*torch' x.gpkg.lock)" = 1 ]
sed 's/- torch=2/- torch=3/' drift.lock > edited.lock
expect 0 lock convert edited.lock x.gpkg.lock --class cpu -y
expect 1 lock check x.gpkg.lock --for cpu
out_has 'the request in the lock was edited after it was solved'

# The file to write may be an option, and the format be called --to.
expect 0 lock convert first.lock -o option.lock --to pixi-6 --class a100
check cmp option.lock six.before

# An explicit file has the package files of one class, as gpkg list --explicit writes them.
expect 1 lock convert first.lock explicit.txt
err_has 'an explicit file has the packages of one class, but the lock has a100 and cpu' 'choose one with --class NAME'
expect 0 lock convert first.lock explicit.txt --class cpu
expect 0 create -n listed --lock first.lock --for cpu -y
expect 0 list -n listed --explicit
check [ "$(cat explicit.txt)" = "$out" ]
expect 0 create -n explicit --file explicit.txt -y
records explicit '{n: p["build"] for n, p in r.items()} == {"torch": "cpu_0", "lib": "0", "pure": "0"}'
expect 0 lock convert cpu.gpkg.lock explicit.txt -y
check grep -q '^file://.*/torch-2.0-cpu_1.tar.bz2#[0-9a-f]*$' explicit.txt
expect 0 lock convert arm.lock explicit.txt -y
check grep -q '^# platform: linux-aarch64$' explicit.txt
echo 'numpy' > specs.txt
expect 1 lock convert cpu.gpkg.lock specs.txt
err_has 'specs.txt: exists and is not a lock file'

# A folder of a package of PyPI is beside the lock, wherever that is.
mkdir -p project/lib sub/deeper
{
    sed 's|^packages:|      - pypi: ./lib\n      - pypi: ..\n&|' six.lock
    printf -- '- pypi: ./lib\n  name: mine\n  version: 1.0.0\n  editable: true\n'
    printf -- '- pypi: ..\n  name: whole\n  version: 1.0.0\n'
} > project/pixi.lock
expect 0 lock convert project/pixi.lock sub/deeper/gpkg.lock
check [ "$(grep location sub/deeper/gpkg.lock | tr -d '\n')" = '    location: ../..    location: ../../project/lib' ]
expect 0 lock convert sub/deeper/gpkg.lock project/conda-lock.yml
err_has 'conda-lock.yml cannot store editable installs: mine will be installed as a copy'
err_lacks 'whole'
check grep -q 'url: ./lib$' project/conda-lock.yml
expect 0 lock convert project/pixi.lock project/x.txt --class linux-64
err_lacks 'has conda packages only'
expect 0 lock convert project/pixi.lock project/x.txt --class linux-aarch64 -y
err_has 'an explicit list has conda packages only: left out whole and mine'

expect 0 lock convert first.lock dry/pixi.lock --dry-run
check [ ! -e dry ]
expect 0 lock convert none.lock warned/pixi.lock --dry-run
err_has 'cannot store'
# What another tool wrote does not say what was asked for; all of it is.
expect 0 lock convert pixi.lock back.gpkg.lock
expect 0 lock repair back.gpkg.lock
out_has 'cpu: torch 2.0 cpu_0 -> torch 2.0 cpu_1'
out_lacks 'nothing in place'
expect 1 lock check pixi.lock -f env.yml --for cpu
out_has 'out of date: the lock has no request: it comes from a pixi.lock'
err_has 'to lock the request of this file: gpkg lock -f env.yml'

# A package that only restricts the driver is not taken where the driver is older, and no build for
# a GPU where there is none.
package toolkit 13.0 0
sed -i '/"toolkit-13.0-0/s/"depends":/"constrains":["__cuda >=13"],&/' "$WORK/records.linux-64"
package runs 1.0 cuda13_0 'toolkit 13.*'
package runs 1.0 cpu_0
expect 0 lock runs --for b300 --for cpu -o runs.lock
CONDA_OVERRIDE_CUDA=13.1 expect 0 lock check runs.lock
out_has 'b300  selected'
for cuda in 11.4 12.8 ''; do
    CONDA_OVERRIDE_CUDA=$cuda expect 0 lock check runs.lock
    out_has 'cpu   selected'
done
CONDA_OVERRIDE_CUDA=12.8 expect 0 lock check runs.lock
out_has 'needs __cuda >=13 (found 12.8)'

# What packages ask of a driver without asking for one is told, once for each virtual package.
package cuda-version 12.0 0
sed -i '/"cuda-version-12.0-0/s/"depends":/"constrains":["__cuda >=12.0"],&/' "$WORK/records.linux-64"
package cupy 1.0 py_0 'cuda-version 12.*' 'libcublas'
package libcublas 1.0 0
package both 1.0 cuda_0 '__cuda >=12' 'cupy'
package both 1.0 cpu_0
expect 0 lock cupy --for a100 --for cpu -o cupy.lock
check [ "$(head -2 <<< "$out" | tr -s ' ')" = 'a100 3 packages linux-64 if present: __cuda >=12.0
cpu 3 packages linux-64 if present: __cuda >=12.0' ]
expect 0 lock check cupy.lock --for cpu
out_has 'cpu   selected: it ' '; its GPU builds need __cuda >=12.0'
expect 0 create -n cupy --lock cupy.lock --for cpu --dry-run -y --json
json 'd["notes"][1] == "the GPU builds of cpu need __cuda >=12.0, which cpu does not have"'
expect 0 lock both --for a100 --for cpu -o both.lock
CONDA_OVERRIDE_CUDA=11.8 expect 0 lock check both.lock --json
json '[c["unmet"] for c in d["classes"] if c["name"] == "a100"] == [["needs __cuda >=12 (found 11.8)"]]'
json '[c["useful_with"] for c in d["classes"]] == [[], []]'
# What a package without builds for GPUs restricts is told as well.
package mid 1.0 0
sed -i '/"mid-1.0-0/s/"depends":/"constrains":["__cuda >=11.2,<13"],&/' "$WORK/records.linux-64"
index
expect 0 lock mid --for a100 --for cpu -o mid.lock
check [ "$(head -1 <<< "$out" | tr -s ' ')" = 'a100 1 package linux-64 if present: __cuda >=11.2,<13' ]
expect 0 lock check mid.lock --for cpu --json
json '[(c["needs"] if "needs" in c else 0, c["restricts"], c["useful_with"]) for c in d["classes"]] == [(0, ["__cuda >=11.2,<13"], [])] * 2'
CONDA_OVERRIDE_CUDA=13.0 expect 1 lock check mid.lock
out_has 'needs __cuda >=11.2,<13 (found 13.0)'

# Files.
mkfifo pipe
expect 1 lock runs --for cpu -o pipe
err_has 'pipe: not a regular file'
check [ -p pipe ]
expect 0 hardware export --for a100 -o 'my node.yaml'
expect 0 lock runs --for './my node.yaml' -o node.lock
expect 0 lock check node.lock --for a100
out_has 'my-node  selected'
{ printf '<<<<<<< ours\n'; cat node.lock; } > conflict.lock
expect 1 lock check conflict.lock
err_has 'contains merge conflict markers'
expect 2 create -n x --lock node.lock --accel nvidia -y
err_has 'an accelerator cannot be given with --lock'
expect 2 create -n x --lock node.lock hardware-select-gpu-amd -y
err_has 'an accelerator cannot be given with --lock'

# What was merged or edited by hand and does not hold together is told, and nothing is made of it.
sed '0,/__glibc >=2.28/s//__glibc >=2.20/' first.lock > needs.lock
expect 1 lock check needs.lock --for a100
out_has 'inconsistent: a100: its needs lack __glibc >=2.28,<3.0.a0, which its packages require'
expect 1 create -n flawed --lock needs.lock --for a100 -y
err_has 'needs.lock: class a100 is inconsistent'
check [ ! -e "$(place flawed)" ]
sed '0,/__glibc >=2.28/s//__glibc >=2.30/' first.lock > raised.lock
expect 1 lock check raised.lock --for a100
out_has 'inconsistent: a100: its needs have __glibc >=2.30,<3.0.a0, which no package requires'
# What its packages ask for is written down again; what cannot be mended is told, here and in another format.
expect 0 lock repair raised.lock
out_has 'repaired: a100: ' 'its needs have __glibc >=2.30,<3.0.a0, which no package requires' 'wrote raised.lock'
expect 0 lock check raised.lock --for a100
expect 0 lock repair raised.lock
out_is 'nothing to do: all packages are available'
expect 0 lock convert needs.lock needs.pixi.lock --format pixi
err_has 'class a100 is inconsistent and was converted unchanged: its needs lack __glibc'

# Slips.
expect 2 lock torch check first.lock
err_has "gpkg lock check: unexpected argument 'torch'"
expect 2 lock repair first.lock --accel none
# Alone it names its subcommands, unless there is a file to lock.
mkdir alone && pushd alone > /dev/null
expect 2 lock
err_has 'error: nothing to lock: no environment.yml in this folder' 'subcommands: check, list, repair, update, convert'
err_lacks 'Usage:'
expect 2 lock --json
json '"nothing to lock" in d["message"]'
expect 2 lock --for a100
err_has 'nothing to lock' 'gpkg lock -f FILE'
printf 'dependencies: [torch]\n' > environment.yml
expect 0 lock
err_has 'note: locking the packages of environment.yml'
out_has 'wrote gpkg.lock'
expect 0 lock --for a100 --for cpu --dry-run
err_has 'note: locking the packages of environment.yml'
expect 0 lock torch --dry-run
out_has 'dry run: nothing was changed'
err_lacks 'environment.yml'
popd > /dev/null
expect 2 lock torch --for a100 --for a100
err_has 'is given twice'
expect 2 lock torch --for a100 --for A100
err_has 'is given twice'
# Overrides are not what the named machines are.
expect 0 lock torch --for a100 --for cpu -o plain.lock
CONDA_OVERRIDE_CUDA=12.0 CONDA_OVERRIDE_GLIBC=2.17 expect 0 lock torch --for a100 --for cpu -o overridden.lock
err_has 'note: ignored with --for: CONDA_OVERRIDE_CUDA and CONDA_OVERRIDE_GLIBC' '--for NAME,glibc=2.36'
err_lacks 'no such virtual package'
check cmp plain.lock overridden.lock
expect 0 config set override_virtual_packages.cuda 12.0
expect 0 lock torch --for a100 --for cpu -o overridden.lock
err_lacks 'ignored with --for' 'no such virtual package'
check cmp plain.lock overridden.lock
expect 0 config remove-key override_virtual_packages
# What would help is never another machine than those that are named.
expect 1 lock torch --accel nvidia --for cpu --for a100 -o never.lock
err_has 'for cpu' 'possible fixes'
err_lacks CONDA_OVERRIDE
package newer 1.0 0 '__glibc >=2.34'
expect 1 lock newer --for a100 -o never.lock
err_has 'a100 is assumed to have glibc 2.28' 'possible fixes:' '  gpkg lock newer --for a100,glibc=2.34 -o never.lock  # for a machine with glibc >= 2.34'
mkdir profile && pushd profile > /dev/null
expect 0 lock newer --for a100,glibc=2.34
check grep -q '^  a100-glibc-2.34:' gpkg.lock
check grep -q '__glibc=2.34=0' gpkg.lock
# One --for names several machines; the fix is for the one that lacks something.
# The others whose glibc is assumed get the same.
expect 1 lock newer --for a100 --for cpu -o never.lock
err_has 'gpkg lock newer --for a100,glibc=2.34 --for cpu,glibc=2.34 -o never.lock'
expect 1 lock newer --for a100,glibc=2.34,h100 -o never.lock
err_has 'for h100' 'gpkg lock newer --for a100,glibc=2.34,h100,glibc=2.34 -o never.lock'
expect 0 lock newer --for a100,glibc=2.34,h100,glibc=2.34 --json
json '[c["name"] for c in d["classes"]] == ["a100-glibc-2.34", "h100-glibc-2.34"]'
# Subcommands of other tools.
expect 1 lock verify
err_has "error: gpkg lock: unknown subcommand 'verify'" 'hint: use gpkg lock check'
# An assumed value does not decide against a class that was made for such a machine.
expect 0 create -n none --lock gpkg.lock --for a100 --dry-run
err_has 'a100-glibc-2.34 needs __glibc >=2.34 (2.28 is assumed)'
expect 0 lock check --for h100
out_has 'h100-glibc-2.34  selected: ' 'it needs __glibc >=2.34 (2.28 is assumed)'
# Classes that need the same are one line, and the missing fact comes first.
expect 1 create -n none --lock gpkg.lock --for v100 -y
err_has 'a100-glibc-2.34 and h100-glibc-2.34: needs __glibc >=2.34 (2.28 is assumed)' \
    'hint: assumed for v100: ' 'to give a value: --for v100,glibc=2.34; to add a class: gpkg lock update gpkg.lock --for NAME'
# Machines behind the first one of --for.
expect 1 lock newer --for a100,glibc=2.34 h100
err_has "package 'h100' not found" 'hint: did you mean --for a100,glibc=2.34 --for h100?'
err_lacks 'possible fixes'
expect 2 create -n none --lock --dry-run
err_is 'error: gpkg create: --lock needs a value: FILE'
expect 2 lock newer --platform linux-64 --platform osx-arm64
err_has '--platform can be used only once' "list them under 'platforms:'"
# The start of a class's name is enough where no other class begins so.
expect 0 lock list --class a100
out_has 'a100-glibc-2.34: '
out_lacks 'h100-glibc-2.34: '
expect 0 lock convert gpkg.lock --format pixi --class h100
out_has 'wrote pixi.lock'
expect 1 lock list --class a1
err_has "no class 'a1'" 'classes in it: a100-glibc-2.34 and h100-glibc-2.34'
expect 2 lock convert gpkg.lock h.txt --for h100
err_has "unknown option '--for'" 'use --class NAME'
expect 2 lock convert gpkg.lock --format explicit
err_has 'missing argument: TO'
# -v tells what is read, for which machine, and how long it takes.
expect 0 lock check --for a100,glibc=2.34 -v
err_has 'read gpkg.lock: ' '(2 classes, ' 'machine: a100,glibc=2.34 (linux-64; ' '__glibc=2.34'
expect 0 lock newer --for a100,glibc=2.34,h100,glibc=2.34 -v
err_has 'solve for a100-glibc-2.34: ' '(1 package)' 'align the versions of the classes: '
printf 'dependencies: [newer]\n' > environment.yml
expect 1 lock check environment.yml
err_has 'it is an environment file' 'hint: use -f environment.yml'
rm environment.yml
expect 0 hardware export --for a100 -o a100.yaml
expect 1 lock newer --for ./a100.yaml
err_has 'gpkg lock newer --for ./a100.yaml,glibc=2.34'
echo 'system: {glibc: "2.34"}' >> a100.yaml
expect 0 lock newer --for ./a100.yaml -y
# A class is checked and installed as it was locked: variables do not change a named machine.
CONDA_OVERRIDE_GLIBC=2.17 expect 0 lock check --for ./a100.yaml
err_has 'note: ignored with --for: CONDA_OVERRIDE_'
CONDA_OVERRIDE_GLIBC=2.17 expect 0 create -n newer --lock gpkg.lock --for ./a100.yaml --dry-run
CONDA_OVERRIDE_GLIBC=2.17 expect 1 lock check
CONDA_OVERRIDE_GLIBC=2.40 expect 1 lock check --for v100
out_has 'needs __glibc >=2.34 (2.28 is assumed)'
err_has 'note: assumed for v100: ' 'to give a value: --for v100,glibc=2.34'
popd > /dev/null
CONDA_OVERRIDE_CUDA= expect 1 lock torch --accel nvidia -o never.lock
err_has '  CONDA_OVERRIDE_CUDA=12 gpkg lock torch --accel nvidia -o never.lock  # for a machine with an NVIDIA driver'
err_has 'hint: CONDA_OVERRIDE_CUDA= overrides __cuda of this machine'
check [ ! -e never.lock ]
expect 2 create -y -n never --lock plain.lock -c "$WORK/other"
err_has 'the lock has no package from this channel'
expect 0 create -n never --lock plain.lock -c "file://$CHANNEL" --for a100 --dry-run
expect 2 lock torch --for nonsense
expect 1 lock 'torch>9' --for a100 -o never.lock
err_has 'for a100'
check [ ! -e never.lock ]
expect 1 lock check missing.lock
err_has 'missing.lock'
printf 'gpkg_lock: 1\nchannels: []\npackages: {}\nclasses: {}\n' > none.lock
expect 1 lock check none.lock
err_has 'none.lock: the lock is empty'
expect 1 create -n never --lock none.lock -y
err_has 'none.lock: the lock is empty'
sed 's/__glibc=[0-9.]*=0/__glibc=abc=0/' plain.lock > abc.lock
expect 1 lock check abc.lock
err_has "'__glibc=abc=0' is not a virtual package"
printf 'name: x\ndependencies: [torch]\n' > env.yml
expect 1 lock check env.yml
err_has 'env.yml'
expect 0 lock -f env.yml --for cpu -o fromyml.lock
expect 1 lock -f env.yml --for cpu -o env.yml
err_has 'env.yml: exists and is not a lock file'
check grep -q dependencies env.yml
expect 0 lock -f env.yml --for cpu -o fromyml.lock
printf 'dependencies: [torch]\nvariables:\n  A: x  # [x86_64]\n  A: y  # [aarch64]\n' > selected.yml
expect 0 lock -f selected.yml --for cpu --for gh200 -o selected.lock
expect 0 lock check selected.lock -f selected.yml
expect 0 create -n selected --lock selected.lock -y
expect 0 env config vars list -n selected
out_has 'A = x'
expect 0 lock convert selected.lock gh200.gpkg.lock --class gh200
check grep -q 'A: "y"' gh200.gpkg.lock
expect 0 lock check gh200.gpkg.lock --for gh200
# So may an accelerator, also one of a package that one of the platforms has nothing of.
printf 'dependencies: [torch]\naccelerator:\n  default: none  # [x86_64]\n  default: auto  # [aarch64]\n  lib: none\n' > selected.yml
expect 0 lock -f selected.yml --for a100 --for gh200 -o selected.lock
check grep -q '^      accelerator: auto lib=none' selected.lock
expect 0 lock check selected.lock -f selected.yml
expect 0 lock check selected.lock -f selected.yml --for gh200
expect 0 lock repair selected.lock
expect 0 create -n chosen-by-platform --lock selected.lock --for a100 -y
check grep -q '"accelerator": *"none"' "$(place chosen-by-platform)/conda-meta/gpkg/state.json"
expect 1 lock -f selected.yml --for gh200 -o selected.lock
err_has "an accelerator is set for package 'lib', which is not found for linux-aarch64"
sed -i 's/lib:/lbi:/' selected.yml
expect 1 lock -f selected.yml --for a100 --for gh200 -o selected.lock
err_has "an accelerator is set for package 'lbi', which is not found for linux-64 or linux-aarch64" 'did you mean lib?'
expect 1 lock -f selected.yml --for-all -o selected.lock
err_has "an accelerator is set for package 'lbi'"
printf 'dependencies: [torch, pip: ["-r more.txt"]]\n' > more.yml
expect 1 lock -f more.yml --for cpu
err_has "'-r more.txt' is a relative path"
mkdir -p a b
cp my\ node.yaml a/node.yaml
cp my\ node.yaml b/node.yaml
expect 2 lock torch --for a/node.yaml --for b/node.yaml
err_has 'class node is given twice'

# A fallback is one in the lock, too: what was decided for the GPU stays.
expect 0 lock torch hardware-fallback-cpu-x86_64 --for a100 -o fallback.lock
check grep -q 'accelerator: auto,none' fallback.lock
expect 0 create -n fallback --lock fallback.lock --for a100 -y
expect 0 update -n fallback --all --for a100 --dry-run --json
json 'not [p for p in d.get("actions", {}).get("LINK", []) if p["name"] == "torch"]'

# Another build in place of one that is gone is for the same accelerator.
package swap 3.0 cuda12_0 '__cuda >=12'
package swap 3.0 cpu_0
expect 0 lock swap --for a100 --for cpu -o swap.lock
cp "$WORK/records.linux-64" kept
sed -i '/swap-3.0-cuda12_0/d' "$WORK/records.linux-64"
index
expect 1 lock repair swap.lock
err_has 'class a100 cannot be solved with these versions' '3.0 (a CPU build, but the removed one was a CUDA build)'
package swap 3.0 cuda12_1 '__cuda >=12'
expect 0 lock repair swap.lock
out_has 'a100: swap 3.0 cuda12_0 -> swap 3.0 cuda12_1'
cp kept "$WORK/records.linux-64"

# A login of the section pip: is in the lock as it stands there, which is told.
package pip 24.0 0
index
printf 'channels: [%s]\ndependencies:\n- lib\n- python\n- pip\n- pip:\n  - git+https://me:secret@host.example/x.git\n' "$CHANNEL" > login.yml
expect 0 lock -f login.yml --for cpu -o login.lock
err_has "the lock contains the credentials or query of 'git+https://host.example/x.git'"
err_lacks 'me:secret'
gone pip-24.0-0

# What is there is not decided anew, also where a build came that would make versions the same.
package kit 2.0 0 'side 2.*' '__glibc >=2.28'
package kit 1.0 0 'side 1.*'
package side 2.0 0
package side 1.0 0
printf 'gpkg_profile: 1\nplatform: linux-64\nsystem: {glibc: "2.17"}\n' > older.yaml
expect 0 lock kit --for cpu -o kit.lock
expect 0 lock update kit.lock --for ./older.yaml
check grep -q 'side-1.0' kit.lock
cp kit.lock kit.before
package kit 1.0 1
expect 0 lock repair kit.lock
out_has 'nothing to do: all packages are available'
gone side-2.0-0
package side 2.0 1
expect 0 lock repair kit.lock
out_has 'cpu: side 2.0 0 -> side 2.0 1'
out_lacks 'kit 1.0' 'side 1.0'
cp kept "$WORK/records.linux-64"

# No class takes a version without the package that is for its GPU.
package front 1.0 0
package front 2.0 0 engine 'part >=2'
package front 3.0 0 engine 'part <2'
package engine 2.0 cuda12_0 '__cuda >=12'
package engine 2.0 cpu_0 'part 3.*'
package part 1.0 cuda12_0 '__cuda >=12'
package part 1.0 cpu_0
package part 3.0 cpu_0
expect 0 lock front --for a100 --for cpu -o front.lock
out_has 'front differs between classes: 3.0 for a100; 2.0 for cpu'
cp kept "$WORK/records.linux-64"

# Where nothing is installed, nothing is as it is installed.
package bound 3.0 cuda12_0 '__cuda >=12' 'pin 1.*'
package bound 3.0 cuda12_1 '__cuda >=12' 'pin 2.*'
package bound 3.0 cpu_0 'pin 2.*'
package pin 1.0 0
package pin 2.0 0
expect 0 lock 'bound=3=cuda12_0' --for a100 -o bound.lock
sed -i 's/bound=3=cuda12_0/bound/; /digest/d' bound.lock
gone pin-1.0-0
expect 1 lock repair bound.lock
err_has 'bound' 'gpkg lock repair bound.lock pin'
err_lacks 'as installed'
cp kept "$WORK/records.linux-64"

# And for the same MPI.
package fields 1.0 mpi_openmpi_h1_0
index
expect 0 lock fields --for cpu -o mpi.lock
gone fields-1.0-mpi_openmpi_h1_0
package fields 1.0 nompi_h2_1
index
expect 1 lock repair mpi.lock
err_has '1.0 (with nompi, but the removed one was with openmpi)'
package fields 1.0 mpi_openmpi_h1_1
expect 0 lock repair mpi.lock
out_has 'cpu: fields 1.0 mpi_openmpi_h1_0 -> fields 1.0 mpi_openmpi_h1_1'

# Of several accelerators the first that a class is for is remembered.
expect 0 lock torch --accel nvidia,none --for a100 --for cpu -o several.lock
expect 0 create -n several --lock several.lock --for cpu -y
check grep -q '"accelerator": *"none"' "$(place several)/conda-meta/gpkg/state.json"
expect 2 lock torch --for cpu -o pixi.lock
err_has 'gpkg lock convert gpkg.lock pixi.lock'
expect 2 create -n x --lock several.lock --no-deps -y
expect 2 create -n x --file several.lock -y
err_has '--lock several.lock'
expect 2 lock check several.lock --accel none --for cpu
err_has 'need specs or -f FILE'

# 1.0 and 1.0.0 are one version.
package same 1.0 0
SUBDIR=linux-aarch64 package same 1.0.0 0
expect 0 lock same --for h100 --for gh200 -o same.lock
out_lacks 'differs between classes'

# With GPUs of both vendors neither the lock nor its classes' names choose.
cat > both.yaml <<'YAML'
gpkg_profile: 1
platform: linux-64
nvidia: {driver: 580.65.06, cuda: "13.0"}
amd: {driver: present}
gpus:
  - {vendor: nvidia, name: One, architecture: "9.0", memory_mib: 81559}
  - {vendor: amd, name: Other, architecture: gfx942, memory_mib: 196608, compute_units: 304}
YAML
expect 0 lock torch=1.0 --for a100 --for mi300 -o either.lock
expect 1 lock check either.lock --for ./both.yaml
err_has 'has GPUs of two vendors: choose class'
expect 1 lock check either.lock --for ./both.yaml --json
json 'd["class"] is None and sorted(d["undecided"]) == ["a100", "mi300"]'
expect 2 create -n two --lock either.lock --for ./both.yaml -y
err_has './both.yaml has GPUs of two vendors, ' '--devices'
expect 0 lock check either.lock --for ./both.yaml --devices 1 --json
json 'd["class"] == "mi300"'
expect 0 create -n two --lock either.lock --for ./both.yaml --devices 0 -y --dry-run --json
json '{p["name"]: p["build"] for p in d["actions"]["LINK"]}["torch"].startswith("cuda")'

# What a server has is asked for once, whatever the number of classes.
mkdir control
python3 "$here/http_server.py" "$PWD" control &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do [ -s control/port ] && break; sleep 0.05; done
expect 0 lock -f "http://127.0.0.1:$(cat control/port)/two.yml" --override-channels -c "$CHANNEL" -o served.lock
expect 0 lock -f "http://127.0.0.1:$(cat control/port)/arm.yml" --for gh200 --for gb200 --dry-run
check [ "$(sort control/answers | uniq -c | tr -s ' ')" = ' 1 200 /arm.yml
 1 200 /two.yml' ]

# Whether packages are there still is not known where their channel gives no answer.
mkdir web
cp -r "$CHANNEL" web/channel
expect 0 lock lib -c "http://127.0.0.1:$(cat control/port)/web/channel" --override-channels -o web.lock
expect 0 lock check web.lock --available
expect 0 create -n web --lock web.lock --dry-run
out_has "Channels     http://127.0.0.1:$(cat control/port)/web/channel"
mv web/channel web/moved
expect 1 lock check web.lock --available
err_has 'cannot check whether the locked packages are available: no response from'
expect 1 lock repair web.lock
err_has '--offline uses the cached indexes'
expect 0 lock check web.lock --available --offline

# Classes that a lock had are not gone without a word.
expect 0 lock lib --for a100 --for cpu -o had.lock
cp had.lock two.had.lock
expect 1 lock lib -o had.lock
err_has 'error: had.lock: this would remove the classes a100 and cpu' \
    'hint: to keep them, repeat --for for each of them; to replace the lock, add -y'
printf 'dependencies: [lib]\n' > had.yml
expect 1 lock -f had.yml --for cpu -o had.lock
err_has 'this would remove the class a100' 'to keep them: gpkg lock update had.lock -f had.yml --for cpu; to replace'
check cmp had.lock two.had.lock
expect 0 lock lib -o had.lock --dry-run
expect 0 lock lib --for h100 --for cpu -o had.lock
err_has 'had.lock: no longer has the class a100' 'gpkg lock update keeps'
expect 0 lock lib -o had.lock -y
err_has 'had.lock: no longer has the classes cpu and h100'

# A profile may come through a pipe: it is read once.
"$GPKG" hardware export --for mi300 | "$GPKG" solve torch --for /dev/stdin --json > "$WORK/stdout" 2> "$WORK/stderr"
status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr") last='a profile through a pipe'
check [ "$status" = 0 ]
json '"__amdgpu_arch=9.4.2=0" in d["virtual_packages"]'

# What any class asks for comes before what none does; and who can have no newer is told.
package lead 1.0 0 'aside' 'wanted'
for subdir in linux-64 linux-aarch64; do
    SUBDIR=$subdir package aside 1.0 0
    SUBDIR=$subdir package aside 2.0 0
done
SUBDIR=linux-aarch64 package aside 3.0 0
package wanted 2.0 0 'aside'
package wanted 1.0 0 'aside 1.0'
SUBDIR=linux-aarch64 package wanted 1.0 0 'aside'
printf 'dependencies:\n- lead # [x86_64]\n- wanted # [aarch64]\n' > leading.yml
expect 0 lock -f leading.yml --for a100 --for gh200 -o leading.lock
out_lacks 'differs between classes: 2.0'
err_has 'a100: wanted 1.0 instead of 2.0, so that all classes have the same version; gh200 cannot have a newer one'

# What would work works for all classes; what one platform has nothing of is told as that.
package driven 2.0 0 '__cuda >=12'
package driven 1.0 0 '__cuda >=11,<12'
printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: "11.8"}\ngpus: [{vendor: nvidia, architecture: "7.0"}]\n' > old.yaml
expect 1 lock driven=2 --for a100 --for ./old.yaml -o driven.lock
err_has 'for old: the request cannot be solved'
err_lacks 'possible fixes'
expect 1 lock driven=2 --for ./old.yaml -o driven.lock
err_has 'gpkg lock driven=1.0 --for ./old.yaml'
expect 1 lock lead --for a100 --for gh200 -o lead.lock
err_has 'lead is available for linux-64; request it only there with a selector in the environment.yml'

# A repair's command keeps what was typed, and works for all classes.
for subdir in linux-64 linux-aarch64; do
    SUBDIR=$subdir package fix 1.0 0 'goes 1.0'
    SUBDIR=$subdir BUILD_NUMBER=1 package fix 1.0 1 'goes 2.0'
    SUBDIR=$subdir package goes 1.0 0
    SUBDIR=$subdir package goes 2.0 0
done
expect 0 lock fix --for a100 --for gh200 -o fix.lock
package fix 2.0 0 'goes 2.0'
sed -i '/"goes-2.0-0.tar.bz2"/d' "$WORK/records.linux-aarch64"
gone fix-1.0-0
gone fix-1.0-1
expect 1 lock repair fix.lock -o fixed.gpkg.lock --channel-priority flexible
err_has 'gpkg lock repair fix.lock -o fixed.gpkg.lock --channel-priority flexible fix goes  # allows other versions'
expect 1 lock repair fix.lock fix
err_has 'gpkg lock repair fix.lock fix goes'
expect 0 lock repair fix.lock fix goes -o fixed.gpkg.lock

# Drift is told of the class that it is of.
printf 'dependencies:\n- torch=2 # [x86_64]\n- torch=1 # [aarch64]\nvariables: {A: "1 B=2"}\n' > drift.yml
expect 0 lock -f drift.yml --for cpu --for gh200 -o drift.lock
printf 'dependencies:\n- torch=1\nvariables: {A: "1", B: "2"}\n' > drift2.yml
expect 1 lock check drift.lock -f drift2.yml --json
json 'd["drift"] == ["cpu: '"'torch=1'"' is requested now, '"'torch=2'"' in the lock", "variables: now A=1 B=2, '"'A=1 B=2'"' in the lock"]'
printf 'dependencies:\n- torch=2 # [x86_64]\nvariables: {A: "1 B=2"}\n' > drift3.yml
expect 1 lock check drift.lock -f drift3.yml
out_has "out of date: gh200: 'torch=1' was requested when the lock was written, but is not now"
printf 'dependencies: [torch]\nplatforms: [linux-64]\n' > platforms.yml
expect 0 lock -f platforms.yml -o platforms.lock
printf 'dependencies: [torch]\nplatforms: [linux-64, linux-aarch64]\n' > platforms.yml
expect 1 lock check platforms.lock -f platforms.yml
out_has 'out of date: platform linux-aarch64 has no class'

# A request that was edited is told of where its packages are taken; values may have any characters.
printf 'dependencies: [torch=1]\nvariables: {A: "tab\\tand\\nline"}\n' > lines.yml
expect 0 lock -f lines.yml --for cpu -o lines.lock
expect 0 lock check lines.lock -f lines.yml
expect 0 create -n lines --lock lines.lock -y
expect 0 run -n lines sh -c 'printf "%s" "$A"'
out_is "$(printf 'tab\tand\nline')"
sed -i 's/torch=1/torch=9/' lines.lock
expect 0 create -n edited --lock lines.lock --dry-run
err_has 'lines.lock: the request in the lock was edited after it was solved'
sed -i 's/torch=9/torch=9[[/' lines.lock
expect 1 create -n edited --lock lines.lock --dry-run
err_has 'lines.lock: request of class cpu: '

# What pip would look for beside the file.
for line in . '.[dev]' wheels/foo-1.0-py3-none-any.whl '--find-links wheels' file:foo 'foo @ file:./foo' '~/foo'; do
    printf 'dependencies: [torch, pip: ["%s"]]\n' "$line" > beside.yml
    expect 1 lock -f beside.yml --for cpu -o beside.lock
    err_has "'$line' is a relative path"
done

# Packages of another platform are looked at, not installed.
expect 0 lock torch=1 --for gh200 -o arm.gpkg.lock
expect 1 create -n arm --lock arm.gpkg.lock --for gh200 -y
err_has 'packages for linux-aarch64 cannot be installed on linux-64'
expect 0 create -n arm --lock arm.gpkg.lock --for gh200 --dry-run
expect 0 lock convert arm.gpkg.lock arm.txt
expect 1 create -n arm --file arm.txt --platform linux-aarch64 -y
err_has 'packages for linux-aarch64 cannot be installed on linux-64'

# Accelerators of what is not there are not remembered.
printf 'dependencies:\n- torch\n- goes # [aarch64]\naccelerator: {torch: none, goes: none}\n' > elsewhere.yml
sed -i 's/- goes/- onlyarm/; s/goes:/onlyarm:/' elsewhere.yml
SUBDIR=linux-aarch64 package onlyarm 1.0 0
index
expect 0 lock -f elsewhere.yml --for cpu --for gh200 -o elsewhere.lock
expect 0 create -n elsewhere --lock elsewhere.lock -y
expect 0 env export -n elsewhere -f elsewhere2.yml
expect 0 create -n elsewhere2 -f elsewhere2.yml --dry-run

finish
