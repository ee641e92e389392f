# Which class of a lock a machine takes, how classes are named, and environments of other formats
. "$(dirname "$0")/lib.sh"

unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX
package lib 1.0 0
# On each machine the first that counts there is meant, also of builds that ask for no driver, as
# those of old channels do not: a class of the lock is what is decided there.
package old 1.0 cuda12_0
package old 1.0 cpu_0
package old 0.1 cuda12_0 '__cuda >=12'
cat > driver.yaml <<'YAML'
gpkg_profile: 1
platform: linux-64
nvidia: {driver: 550.54.14, cuda: "12.4"}
YAML
for wish in '--accel nvidia,none' '--accel amd,nvidia,none' 'hardware-select-gpu-nvidia hardware-fallback-cpu-x86_64'; do
    expect 0 lock old $wish --for a100 --for cpu -o old.lock
    for machine in a100 h100 cpu ./driver.yaml; do
        wanted=a100
        [ "$machine" != cpu ] || wanted=cpu
        expect 0 lock check old.lock --for "$machine" --json
        json "d['class'] == '$wanted' and d['is_current'] is True"
    done
    expect 0 lock old $wish --for-all --dry-run --json
    json 'd["take_another"] == []'
done
expect 0 lock check old.lock --for ./driver.yaml
out_has 'it has builds for this GPU driver'
expect 0 lock check old.lock --for a100
out_has 'it has builds for this GPU'

# One package that goes without a driver makes no class for the GPU of one without the others.
package lone 1.0 cuda12_0 'cuda-version 12.*'
package cuda-version 12.9 0
package pair 1.0 cuda12_0 '__cuda >=12' 'cuda-version 12.*'
package pair 1.0 cpu_0
expect 0 lock lone pair --for h100 --for cpu -o pair.lock
for machine in h100 a100 ./driver.yaml; do
    expect 0 lock check pair.lock --for "$machine" --json
    json 'd["class"] == "h100"'
done
expect 0 lock check pair.lock --for a100
out_has 'h100  selected: it has more builds for this GPU than cpu'
expect 0 lock check pair.lock --for a100 --json
json 'd["classes"][0]["standing"] == "selected: it has more builds for this GPU than cpu" and "undecided" not in d'
expect 0 lock lone pair --for h100 --for a100 --for cpu -o three.lock
expect 0 lock check three.lock --for l40s
out_has 'selected: it was locked for a machine like this one; 2 other classes also fit'
expect 0 lock check pair.lock --for cpu --json
json 'd["class"] == "cpu"'

# Classes are named for what was asked for, and where their needs are the same for what they hold.
package libgpu 1.0 cuda12_0
package libgpu 1.0 cpu_0
package libgpu 0.1 cuda12_0 '__cuda >=12'
package beside 1.0 cpu_0 libgpu
package beside 1.0 cuda12_0 libgpu nowhere
package level 1.0 v4_0 '__archspec * ^(x86_64_v4|skylake_avx512|cascadelake|icelake|zen4)$'
package level 1.0 v1_0
expect 0 lock level --for-all --dry-run --json
json '[c["name"] for c in d["classes"]] == ["cpu-x86_64_v4", "cpu"]'
expect 0 lock beside --for-all --dry-run --json
json '[c["name"] for c in d["classes"]] == ["cpu", "cpu-libgpu-cuda12_0"]'

# A machine that meets all needs may be one on which the builds do not run. It takes them, and that
# is told; who asks whether the lock does for it hears no.
package cuda-version 13.0 0
package cuda-version 11.4 0
package cupy 2.0 cuda13_0 __cuda 'cuda-version >=13,<14'
package cupy 1.0 cuda114_0 __cuda 'cuda-version >=11.2,<12'
for arch in 9.0 6.0; do
    printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: "13.0"}\ngpus: [{vendor: nvidia, architecture: "%s"}]\n' $arch > "sm$arch.yaml"
done
expect 0 lock cupy --for ./sm9.0.yaml -o code.lock
expect 0 lock check code.lock --for ./sm9.0.yaml --json
json 'd["success"] and d["classes"][0]["will_not_run"] == []'
expect 1 lock check code.lock --for ./sm6.0.yaml
out_has 'selected: it fits the machine; it does not run here: cupy 2.0 needs cuda-version >=13,<14, which does not support compute capability 6.0'
CONDA_OVERRIDE_CUDA=11.4 expect 1 lock check code.lock --json
json 'not d["success"] and d["class"] == "sm9.0" and d["classes"][0]["fits"] and d["classes"][0]["unmet"] == []'
json 'd["classes"][0]["will_not_run"] == ["cupy 2.0 needs cuda-version >=13,<14, but the driver supports CUDA 11.4"]'
expect 0 create -n x --lock code.lock --for ./sm6.0.yaml --dry-run
err_has 'sm9.0 does not run on ./sm6.0.yaml: cupy 2.0 needs cuda-version >=13,<14'
expect 0 create -n x --lock code.lock --for ./sm9.0.yaml --dry-run
err_lacks 'does not run'

# All answers: what each is of use with stands beside its needs, as gpkg lock has it, and columns are
# for what differs. A package that tells a CUDA version names no class.
package cuda-cudart 12.4 0
package pytorch-cuda 12.4 h1_0 cuda-cudart
package net 1.0 cuda12_0 '__cuda >=12' level pytorch-cuda
package net 1.0 cpu_0 level
package ray 2.0 cuda13_0 'toolkit 13.*' lib
package ray 2.0 cuda12_0 'toolkit 12.*' lib
package toolkit 13.0 0
package toolkit 12.0 0
for cuda in 12 13; do
    sed -i "/\"toolkit-$cuda.0-0/s/\"depends\":/\"constrains\":[\"__cuda >=$cuda\"],&/" "$WORK/records.linux-64"
done
index
expect 0 lock ray lib lib --for-all --dry-run
check [ "$(head -1 <<< "$out" | tr -s ' ')" = 'class machines ray needs' ]
out_has 'if present: __cuda >=13' 'if present: __cuda >=12' 'same in all classes: lib 1.0 0'
expect 0 lock ray lib --for-all --dry-run --json
json 'sorted(c["useful_with"] for c in d["classes"]) == [["__cuda >=12"], ["__cuda >=13"]]'
expect 0 lock pytorch-cuda net --for-all --dry-run --json
json 'sorted({(c["name"][:3], p.rsplit("/net-1.0-")[1][:3]) for c in d["classes"] for p in c["packages"] if "/net-" in p}) == [("cpu", "cpu"), ("cud", "cud")]'

# What no package says: cuDNN gave GPUs up. Their class is another one, and told from that which needs the same.
package libcudnn 9.13 0
package libcudnn 9.10 0
package deep 1.0 cuda12_0 '__cuda >=12' 'libcudnn >=9.10,<10'
index
gpu() { printf 'gpkg_profile: 1\nplatform: linux-64\nnvidia: {cuda: "12.8"}\ngpus: [{vendor: nvidia, architecture: "%s"}]\n' "$1" > "sm$1.yaml"; }
gpu 7.0
gpu 7.5
expect 0 lock deep --for-all -o deep.lock
out_has '2 classes' '__cuda >=12; for machines with __cuda_arch <7.5' 'for machines with __cuda_arch none or __cuda_arch >=7.5'
expect 0 create -n deep --lock deep.lock --for ./sm7.0.yaml --dry-run --json
json '[p["version"] for p in d["actions"]["LINK"] if p["name"] == "libcudnn"] == ["9.10"]'
expect 0 create -n deep --lock deep.lock --for ./sm7.5.yaml --dry-run --json
json '[p["version"] for p in d["actions"]["LINK"] if p["name"] == "libcudnn"] == ["9.13"]'
# Where one version does for all, it is taken for all.
expect 0 lock deep --for ./sm7.0.yaml --for ./sm7.5.yaml -o both.lock
expect 0 create -n deep --lock both.lock --for ./sm7.5.yaml --dry-run --json
json '[p["version"] for p in d["actions"]["LINK"] if p["name"] == "libcudnn"] == ["9.10"]'
expect 0 lock deep --for ./sm7.5.yaml -o one.lock
expect 1 lock check one.lock --for ./sm7.0.yaml
out_has 'does not run here: libcudnn 9.13 does not support compute capability 7.0 (dropped in 9.11)'

# Environments of pixi and categories of conda-lock, which come with `main`.
package same 1.0 0
python3 - "$CHANNEL" << 'PY'
import hashlib, sys
channel = "file://" + sys.argv[1]
def url(fn): return f"{channel}/linux-64/{fn}.tar.bz2"
def sha(fn): return hashlib.sha256(open(url(fn)[7:], "rb").read()).hexdigest()
lib, same, one = "lib-1.0-0", "same-1.0-0", "level-1.0-v1_0"
with open("envs.pixi.lock", "w") as out:
    out.write("version: 6\nenvironments:\n")
    for name, packages in {"default": [lib], "test": [lib, same], "bare": []}.items():
        out.write(f"  {name}:\n    channels:\n    - url: {channel}\n    packages:\n      linux-64:\n")
        out.write("".join(f"      - conda: {url(fn)}\n" for fn in packages))
    out.write("packages:\n")
    out.write("".join(f"- conda: {url(fn)}\n  sha256: {sha(fn)}\n" for fn in (lib, same)))
with open("dev.conda-lock.yml", "w") as out:
    out.write(f"version: 1\nmetadata:\n  content_hash: {{linux-64: {'0' * 64}}}\n  channels:\n  - url: {channel}\n"
              "    used_env_vars: []\n  platforms: [linux-64]\n  sources: [environment.yml]\npackage:\n")
    for fn, category in ((lib, "main"), (same, "dev"), (one, "docs")):
        name, version, build = fn.split("-")
        out.write(f"- {{name: {name}, version: '{version}', build: '{build}', manager: conda, platform: linux-64,\n"
                  f"   dependencies: {{}}, url: '{url(fn)}', hash: {{sha256: {sha(fn)}}}, category: {category}, optional: false}}\n")
PY
names() { json "[p['name'] for p in d['actions']['LINK']] == '$1'.split()"; }
expect 0 create -n x --lock envs.pixi.lock --dry-run --json
names 'lib'
expect 0 create -n x --lock envs.pixi.lock --dry-run
err_has 'using the environment default; not installed: test (--environment NAME)'
expect 0 create -n x --lock envs.pixi.lock --environment test --dry-run --json
names 'lib same'
expect 0 create -n x --lock envs.pixi.lock --environment default --dry-run --json
names 'lib'
expect 0 create -n tested --lock envs.pixi.lock --environment test -y
err_lacks 'left out'
records tested 'sorted(r) == ["lib", "same"]'
expect 1 create -n x --lock envs.pixi.lock --environment tets -y
err_has 'envs.pixi.lock: no environment tets' 'did you mean test?'
expect 0 lock check envs.pixi.lock
err_has 'not shown: environment' 'test' '(--environment NAME)'
expect 1 lock check envs.pixi.lock --environment bare
err_has 'envs.pixi.lock: the environment bare is empty'
expect 0 lock check envs.pixi.lock --environment test
out_has 'linux-64'
expect 0 lock convert envs.pixi.lock test.txt --environment test
check [ "$(grep -c '://' test.txt)" = 2 ]
expect 0 lock convert envs.pixi.lock test.gpkg.lock --environment test
expect 0 create -n x --lock test.gpkg.lock --dry-run --json
names 'lib same'
expect 1 lock convert envs.pixi.lock bare.txt --environment bare
err_has 'envs.pixi.lock: the environment bare is empty'
check [ ! -e bare.txt ]
expect 2 create -n x same --environment test -y
err_has '--lock'
expect 0 create -n x --lock dev.conda-lock.yml --dry-run --json
names 'lib'
expect 0 create -n x --lock dev.conda-lock.yml --dry-run
err_has 'using the category main; not installed: dev and docs'
expect 0 create -n x --lock dev.conda-lock.yml --environment main --dry-run --json
names 'lib'
expect 0 create -n x --lock dev.conda-lock.yml --environment dev --dry-run --json
names 'lib same'
expect 1 create -n x --lock dev.conda-lock.yml --environment doc -y
err_has 'no category doc' 'did you mean docs?'
expect 0 mirror --lock dev.conda-lock.yml --environment docs --out mirrored
check [ "$(cd mirrored && find . -name '*.tar.bz2' | sort | xargs -n1 basename | tr '\n' ' ')" = 'level-1.0-v1_0.tar.bz2 lib-1.0-0.tar.bz2 ' ]
expect 0 create -n x --lock mirrored/gpkg.lock --dry-run --json
json 'len(d["actions"]["LINK"]) == 2'

# A category is on top of main, an environment is whole: what it is stays what it is in the other
# format, and is refused where that has no words for it.
sed "s|url: file://$CHANNEL\$|url: $(basename "$CHANNEL")|" dev.conda-lock.yml > named.conda-lock.yml
expect 0 lock convert named.conda-lock.yml c2.pixi.lock --format pixi-6
check [ "$(grep -c -- "- url: file://$CHANNEL/\$" c2.pixi.lock)" = 3 ]
expect 0 create -n x --lock c2.pixi.lock --environment dev --dry-run --json
names 'lib same'
expect 0 lock convert c2.pixi.lock back.conda-lock.yml
check [ "$(grep -c 'category: dev' back.conda-lock.yml)" = 1 ]
expect 0 create -n x --lock back.conda-lock.yml --environment dev --dry-run --json
names 'lib same'
expect 0 lock convert named.conda-lock.yml c2.gpkg.lock
expect 0 create -n x --lock c2.gpkg.lock --environment docs --dry-run --json
names 'level lib'
expect 0 lock convert c2.gpkg.lock again.conda-lock.yml
expect 0 lock convert named.conda-lock.yml same.conda-lock.yml
check cmp again.conda-lock.yml same.conda-lock.yml
check grep -q "url: $(basename "$CHANNEL")\$" again.conda-lock.yml
sed "0,/      - conda: .*lib-1.0.*/s||      - conda: file://$CHANNEL/linux-64/same-1.0-0.tar.bz2|; /  bare:/,/linux-64:/d" envs.pixi.lock > apart.pixi.lock
sed -i '/  test:/,/^packages:/{/same-1.0/d}' apart.pixi.lock
expect 1 lock convert apart.pixi.lock apart.conda-lock.yml
err_has 'but the environment test lacks packages that the environment default has for linux-64: same-1.0-0.tar.bz2' 'write one of them with --environment NAME'
check [ ! -e apart.conda-lock.yml ]
expect 0 lock convert apart.pixi.lock apart.conda-lock.yml --environment test
expect 0 create -n x --lock apart.conda-lock.yml --dry-run --json
names 'lib'

finish
