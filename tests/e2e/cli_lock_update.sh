# gpkg lock update: a lock brought to what is asked for now, or to more machines
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX

# NAME FILE: "a100: lib-1.0-0 torch-1.0-cuda12_0"
packages() { python3 - "$1" << 'PY'
import sys, yaml
for name, body in sorted(yaml.safe_load(open(sys.argv[1]))["classes"].items()):
    print(f"{name}:", *(p.removesuffix(".tar.bz2") for p in body["packages"]))
PY
}
expect_packages() { check [ "$(packages "$1")" = "$2" ]; }

package lib 1.0 0
package torch 1.0 cpu_0 lib
package torch 1.0 cuda12_0 lib '__cuda >=12'
expect 0 lock torch lib --for a100 --for cpu -o first.lock
expect_packages first.lock 'a100: lib-1.0-0 torch-1.0-cuda12_0
cpu: lib-1.0-0 torch-1.0-cpu_0'

# The channel moves on. What is not named stays, and so does a lock that nothing is asked of.
package lib 2.0 0
package torch 2.0 cpu_0 'lib >=2'
package torch 2.0 cuda12_0 'lib >=2' '__cuda >=12'
cp first.lock gpkg.lock
expect 2 lock update
err_has 'nothing to update' 'gpkg lock update gpkg.lock numpy' '--all'
expect 0 lock update --for a100
out_has 'nothing to do: the lock matches the request'
check cmp first.lock gpkg.lock

# A new machine gets the versions that the others have; nothing moves for its sake.
expect 0 lock update --for h100 --dry-run --json
json '[d["added"], d["changes"], d["divergences"]] == [["h100"], [], []]'
check cmp first.lock gpkg.lock
expect 0 lock update --for h100
out_has 'added class h100' 'wrote gpkg.lock'
expect_packages gpkg.lock 'a100: lib-1.0-0 torch-1.0-cuda12_0
cpu: lib-1.0-0 torch-1.0-cpu_0
h100: lib-1.0-0 torch-1.0-cuda12_0'
expect 0 lock check --for h100
out_has 'h100'
expect 0 lock check --available

# What is named moves in all classes, with what that needs; the request stays what it was.
cp first.lock lib.lock
expect 0 lock update lib.lock lib
expect_packages lib.lock 'a100: lib-2.0-0 torch-1.0-cuda12_0
cpu: lib-2.0-0 torch-1.0-cpu_0'
out_has 'a100 and cpu: lib 1.0 0 -> lib 2.0 0'
cp first.lock torch.lock
expect 0 lock update torch.lock torch --json
json '[[c["class"], c["before"].rsplit("/", 1)[1], c["after"].rsplit("/", 1)[1]] for c in d["changes"]] == [
  ["a100", "lib-1.0-0.tar.bz2", "lib-2.0-0.tar.bz2"], ["a100", "torch-1.0-cuda12_0.tar.bz2", "torch-2.0-cuda12_0.tar.bz2"],
  ["cpu", "lib-1.0-0.tar.bz2", "lib-2.0-0.tar.bz2"], ["cpu", "torch-1.0-cpu_0.tar.bz2", "torch-2.0-cpu_0.tar.bz2"]]'
check [ "$(sed -n '/^request/,/^classes/p' torch.lock)" = "$(sed -n '/^request/,/^classes/p' first.lock)" ]

# Every package.
cp first.lock all.lock
expect 0 lock update all.lock --all --dry-run
out_has 'a100 and cpu: lib 1.0 0 -> lib 2.0 0' 'dry run: nothing was changed'
check cmp first.lock all.lock
expect 0 lock update all.lock --all
expect_packages all.lock 'a100: lib-2.0-0 torch-2.0-cuda12_0
cpu: lib-2.0-0 torch-2.0-cpu_0'
expect 0 lock update all.lock --all
out_has 'nothing to do: the request allows no newer packages'
out_lacks 'is the newest version'
expect 2 lock update all.lock lib --all
err_has '--all cannot be used with packages (lib)'

# Alone it reads environment.yml beside gpkg.lock, as `gpkg lock` does.
mkdir beside
cd beside || exit 1
printf 'channels: [%s]\ndependencies: [lib=1.0]\n' "$CHANNEL" > environment.yml
expect 0 lock
expect 0 lock update
err_has 'updating the lock to the request of environment.yml' 'gpkg lock update --all'
out_has 'nothing to do: the lock matches the request'
printf 'channels: [%s]\ndependencies: [lib]\n' "$CHANNEL" > environment.yml
expect 0 lock update
out_has 'wrote gpkg.lock'
expect 0 lock check
expect 0 lock update --all
out_has 'lib 1.0 0 -> lib 2.0 0'
cd ..

# What a file asks for now: what is new comes, what is not asked for any more goes.
package extra 1.0 0 'more >=1'
package more 1.0 0
printf 'dependencies: [torch, lib]\n' > environment.yml
expect 0 lock -f environment.yml --for a100 --for cpu -o file.lock
expect_packages file.lock 'a100: lib-2.0-0 torch-2.0-cuda12_0
cpu: lib-2.0-0 torch-2.0-cpu_0'
package torch 3.0 cpu_0 'lib >=2'
package torch 3.0 cuda12_0 'lib >=2' '__cuda >=12'
printf 'dependencies: [torch, extra]\n' > environment.yml
expect 1 lock check file.lock -f environment.yml --for cpu
err_has 'gpkg lock update file.lock -f environment.yml updates the lock'
expect 0 lock update file.lock -f environment.yml
out_has 'a100 and cpu: added extra 1.0 0' 'a100 and cpu: added more 1.0 0'
expect_packages file.lock 'a100: extra-1.0-0 lib-2.0-0 more-1.0-0 torch-2.0-cuda12_0
cpu: extra-1.0-0 lib-2.0-0 more-1.0-0 torch-2.0-cpu_0'
expect 0 lock check file.lock -f environment.yml --for cpu
out_has 'file.lock is consistent (2 classes, 5 packages); matches environment.yml'
printf 'dependencies: [torch]\n' > environment.yml
expect 0 lock update file.lock -f environment.yml
out_has 'a100 and cpu: removed extra 1.0 0' 'a100 and cpu: removed more 1.0 0'
# Another restriction of what is there moves as much as it has to.
printf 'dependencies: [torch <2]\n' > environment.yml
expect 0 lock update file.lock -f environment.yml
expect_packages file.lock 'a100: lib-2.0-0 torch-1.0-cuda12_0
cpu: lib-2.0-0 torch-1.0-cpu_0'
expect 0 lock check file.lock -f environment.yml --for cpu
# As an update has it, a restriction that stands is no obstacle to naming what it is about.
expect 0 lock update file.lock torch
out_has "torch stays at 1.0: the lock was written for 'torch<2'; 3.0 exists"
expect 0 lock update file.lock lib
out_has 'lib 2.0 is the newest version'
out_lacks 'nothing to do'

# python's minor version stays unless it is named, and what would help is told as this command.
package python 3.12.1 0
package python 3.13.1 0
package app 1.0 py312_0 'python >=3.12,<3.13.0a0'
printf 'dependencies: [app]\n' > environment.yml
expect 0 lock -f environment.yml --for cpu -o python.lock
package app 2.0 py313_0 'python >=3.13,<3.14.0a0'
package tool 1.0 0 'python >=3.13,<3.14.0a0'
printf 'dependencies: [app, tool]\n' > environment.yml
cp python.lock gpkg.lock
expect 1 lock update -f environment.yml
err_has 'for cpu: the request cannot be solved' 'python keeps its minor version unless it is named'
err_has 'gpkg lock update -f environment.yml gpkg.lock python'
check cmp python.lock gpkg.lock
expect 0 lock update -f environment.yml gpkg.lock python
expect_packages gpkg.lock 'cpu: app-2.0-py313_0 python-3.13.1-0 tool-1.0-0'

# A version that a new machine cannot have is told; the others keep theirs.
package nn 1.0 cuda118_0 '__cuda >=11'
package nn 1.0 cpu_0
expect 0 lock nn --for a100 --for cpu -o nn.lock
package nn 2.0 cuda129_0 '__cuda >=12'
package nn 2.0 cpu_0
expect 0 lock update nn.lock --for rtx5090 --json
json '[d["changes"], d["added"], d["divergences"][0]["versions"]] == [[], ["rtx5090"], {"a100": "1.0", "cpu": "1.0", "rtx5090": "2.0"}]'
json 'd["divergences"][0]["because_of"] == "rtx5090" and "has no machine code for compute capability 12.0" in d["divergences"][0]["reason"]'
# What was told once is not told again, and naming it brings all to one version.
expect 0 lock update nn.lock --for h100 --json
json '[d["added"], [x["versions"] for x in d["divergences"]]] == [["h100"], [{"a100": "1.0", "cpu": "1.0", "h100": "2.0", "rtx5090": "2.0"}]]'
expect 0 lock update nn.lock nn --json
json 'd["divergences"] == []'
check grep -q 'nn-2.0-cuda129_0' nn.lock
check [ "$(grep -c nn-1.0 nn.lock)" = 0 ]

# Of several accelerators the class goes on to remember which was taken; what is locked flips for none.
package both 1.0 rocm6_0 '__amdgpu'
package both 1.0 cpu_0
expect 0 lock both --accel nvidia,none --for a100 -o several.lock
package both 1.0 cuda12_0 '__cuda >=12'
package both 2.0 cuda12_0 '__cuda >=12'
package both 2.0 cpu_0
expect 0 lock update several.lock both
expect_packages several.lock 'a100: both-2.0-cpu_0'
check grep -q 'accelerator: none' several.lock
expect 0 lock update several.lock --accel nvidia
expect_packages several.lock 'a100: both-2.0-cuda12_0'

# Which builds one package is for is said with its name, remembered, and of this one alone.
cp first.lock named.lock
expect 0 lock update named.lock 'torch[accel=none]' --accel auto
expect_packages named.lock 'a100: lib-2.0-0 torch-3.0-cpu_0
cpu: lib-2.0-0 torch-3.0-cpu_0'
check grep -q 'accelerator: auto torch=none' named.lock
expect 0 config set accelerator nvidia
expect 0 lock update named.lock lib 'torch[accel=none]'
expect 0 config remove-key accelerator
check grep -q 'accelerator: auto torch=none' named.lock
expect_packages named.lock 'a100: lib-2.0-0 torch-3.0-cpu_0
cpu: lib-2.0-0 torch-3.0-cpu_0'
expect 0 lock update named.lock 'torch[accel=auto]'
expect_packages named.lock 'a100: lib-2.0-0 torch-3.0-cuda12_0
cpu: lib-2.0-0 torch-3.0-cpu_0'

# A machine of another platform, and a file's platform that the lock does not have yet.
SUBDIR=linux-aarch64 package torch 1.0 cpu_0
SUBDIR=linux-aarch64 package torch 2.0 cpu_0
cp first.lock arm.lock
expect 1 lock update arm.lock --for gh200
err_has "for gh200: package 'lib' not found in"
SUBDIR=linux-aarch64 package lib 1.0 0
expect 0 lock update arm.lock --for gh200
check grep -A12 '^  gh200:' arm.lock
check [ "$(grep -c torch-1.0 arm.lock)" -ge 3 ]
printf 'dependencies: [torch]\nplatforms: [linux-64]\n' > two.yml
expect 0 lock -f two.yml -o two.lock
printf 'dependencies: [torch]\nplatforms: [linux-64, linux-aarch64]\n' > two.yml
expect 0 lock update two.lock -f two.yml --json
json 'd["added"] == ["linux-aarch64"]'
expect 0 lock check two.lock -f two.yml --for cpu
# Where selectors ask for something else in some classes, the file has to be named for a new platform.
printf 'dependencies:\n  - torch\n  - extra  # [x86_64]\nplatforms: [linux-64, linux-aarch64]\n' > two.yml
expect 0 lock -f two.yml -o two.lock
SUBDIR=osx-arm64 package torch 1.0 cpu_0
expect 2 lock update two.lock --platform osx-arm64
err_has 'the classes of the lock have different requests' 'give the request for osx-arm64 with -f FILE'
expect 0 lock update two.lock --platform osx-arm64 -f two.yml
check grep -q '^  osx-arm64:' two.lock
SUBDIR=osx-arm64 package mac 1.0 0 '__osx >=11.0'
package mac 1.0 0
expect 0 lock mac --platform linux-64 -o mac.lock
expect 1 lock update mac.lock --platform osx-arm64
err_has 'CONDA_OVERRIDE_OSX=11.0 gpkg lock update mac.lock --platform osx-arm64'
CONDA_OVERRIDE_OSX=11.0 expect 0 lock update mac.lock --platform osx-arm64

# What would help is told as this command, for all classes: what stands in the file is to be changed there.
package low 1.0 0 'lib <2'
printf 'dependencies: [torch, lib >=2]\n' > environment.yml
expect 1 lock -f environment.yml --for cpu --for a100 -o two.lock
err_has "two.lock: this would remove the classes " "to replace the lock, add -y"
expect 0 lock -y -f environment.yml --for cpu --for a100 -o two.lock
printf 'dependencies: [torch, lib >=2, low]\n' > environment.yml
expect 1 lock update two.lock -f environment.yml
err_has 'for a100: the request cannot be solved' '# first: ' 'gpkg lock update two.lock -f environment.yml'
err_lacks 'gpkg remove' 'internal error'
package gpu 1.0 cuda12_0 '__cuda >=12'
expect 0 lock gpu --for a100 -o gpu.lock
package gpu 2.0 cpu_0
package needs-gpu2 1.0 0 'gpu >=2'
printf 'dependencies: [gpu, needs-gpu2]\n' > environment.yml
expect 1 lock update gpu.lock -f environment.yml
err_has '# first: add ' 'gpkg lock update gpu.lock -f environment.yml'
printf 'dependencies: ["gpu[accel=none]", needs-gpu2]\n' > environment.yml
expect 0 lock update gpu.lock -f environment.yml
package python 3.14.1 0
package app 3.0 py314_0 'python >=3.14,<3.15.0a0'
printf 'dependencies: [app >=3]\n' > new.yml
printf 'dependencies: [app]\n' > environment.yml
expect 0 lock -f environment.yml --for cpu --for a100 --exclude-newer 2030-01-01 -o app.lock
sed -i '/app-3.0/d' app.lock
cp python.lock gpkg.lock
expect 1 lock update -qf new.yml
err_has 'gpkg lock update -qf new.yml gpkg.lock python'
expect 0 lock update -qf new.yml gpkg.lock python
expect_packages gpkg.lock 'cpu: app-3.0-py314_0 python-3.14.1-0'

# A machine that has become less: what it cannot have moves.
package old 1.0 0 '__glibc >=2.34'
package old 0.9 0 '__glibc >=2.17'
printf 'gpkg_profile: 1\nplatform: linux-64\nsystem: {glibc: "2.35"}\n' > m.yaml
expect 0 lock old --for ./m.yaml -o m.lock
sed -i s/2.35/2.28/ m.yaml
expect 0 lock update m.lock --for ./m.yaml
expect_packages m.lock 'm: old-0.9-0'
expect 0 lock check m.lock --for ./m.yaml
# So does what a lock was made to hold by hand.
sed '0,/- torch-1.0-cpu_0.tar.bz2/s//- torch-1.0-cuda12_0.tar.bz2/' first.lock > hand.lock
expect 1 lock check hand.lock --for cpu
out_has 'cpu: torch needs __cuda >=12, but the machine of the class has none'
cp hand.lock hand2.lock
expect 0 lock repair hand2.lock
expect_packages hand2.lock "a100: lib-1.0-0 torch-1.0-cuda12_0
cpu: lib-1.0-0 torch-1.0-cpu_0"
expect 0 lock update hand.lock lib
expect_packages hand.lock 'a100: lib-2.0-0 torch-1.0-cuda12_0
cpu: lib-2.0-0 torch-1.0-cpu_0'
sed '0,/    - torch-1.0-cpu_0/{/    - torch-1.0-cpu_0/d}' first.lock > lacks.lock
expect 1 lock check lacks.lock --for cpu
out_has 'cpu: torch is requested but not locked'

# check names the command that brings a lock back, and it does.
printf 'dependencies: [torch, lib]\n' > environment.yml
expect 0 lock -f environment.yml --for cpu --channel-priority disabled -o priority.lock
expect 1 lock check priority.lock -f environment.yml --for cpu --exclude-newer 2030-01-01
err_has 'gpkg lock update priority.lock -f environment.yml --exclude-newer 2030-01-01 updates the lock'
expect 0 lock update priority.lock -f environment.yml --exclude-newer 2030-01-01 --dry-run
out_has 'no packages change; recorded request updated'
expect 0 lock update priority.lock -f environment.yml --exclude-newer 2030-01-01
expect 0 lock check priority.lock -f environment.yml --for cpu --exclude-newer 2030-01-01
check grep -q 2030-01-01 priority.lock
expect 0 lock update priority.lock --exclude-newer none
check [ "$(grep -c exclude_newer priority.lock)" = 0 ]
# Only what the file is for becomes a class, not the machine that happens to be there.
expect 0 lock -f environment.yml -o here.lock
CONDA_SUBDIR=linux-aarch64 expect 0 lock update here.lock -f environment.yml
out_has 'nothing to do'

# Packages that are gone: told, and replaced once they are named. Of channels that are none any more nothing stays.
package gone 1.0 0
package gone 0.9 0
expect 0 lock gone --for cpu -o gone.lock
sed -i '/"gone-1.0-0.tar.bz2"/d' "$WORK/records.linux-64"; index
expect 0 lock update gone.lock --for a100
err_has 'gone-1.0-0.tar.bz2: no longer in its channel; gpkg lock repair looks for other builds'
expect 0 lock update gone.lock gone
expect_packages gone.lock 'a100: gone-0.9-0
cpu: gone-0.9-0'
other=$WORK/other; mkdir -p "$other/linux-64"; cp "$CHANNEL"/linux-64/gone-0.9-0.tar.bz2 "$other/linux-64"
expect 0 index "$other"
expect 0 lock update gone.lock -c "file://$other" --override-channels
out_has "a100 and cpu: gone 0.9 0 now from file://$other"
check [ "$(grep -c "file://$CHANNEL" gone.lock)" = 0 ]

# A link stays one.
ln -s first.lock link.lock
cp first.lock kept.lock
expect 0 lock update link.lock --for h100
check [ -L link.lock ]
check grep -q '^  h100:' first.lock
cp kept.lock first.lock

# Of two at once none is lost: the second says so where it would be.
for round in 1 2 3; do
    cp first.lock par.lock
    "$GPKG" lock update par.lock --for h100 > h100.out 2>&1 & one=$!
    "$GPKG" lock update par.lock --for v100 > v100.out 2>&1 & other=$!
    wait $one; h100=$?
    wait $other; v100=$?
    last="two updates at once, $round" status="$h100 $v100" out=$(cat h100.out v100.out) err=
    check [ $((h100 * v100)) = 0 ]
    for class in h100 v100; do
        if [ "${!class}" = 0 ]; then
            check grep -q "^  $class:" par.lock
        else
            check grep -q 'changed while this command was running; nothing was written' $class.out
        fi
    done
done

# What cannot be updated, with nothing lost.
printf 'gpkg_profile: 1\nplatform: linux-64\n' > A100.yaml
expect 2 lock update first.lock --for ./A100.yaml
err_has 'differs from the class a100 only in upper and lower case'
sed '/^  a100:/,/^packages:/{/^packages:/!d}; s/^classes:/classes: {}/' first.lock > none.lock
expect 1 lock update none.lock --for a100
err_has 'the lock is empty'
expect 2 lock update first.lock 'lib>=2'
err_has 'lib>=2: only package names are accepted' "write 'lib>=2' in environment.yml"
expect 1 lock update first.lock 'libb[accel=none]'
err_has "package 'libb' is not in the lock"
expect 2 lock update first.lock 'torch[accel=non]'
err_has 'did you mean none?'
expect 1 lock update first.lock libb
err_has "package 'libb' is not in the lock" 'did you mean lib?'
expect 1 lock update first.lock scipy
err_has "package 'scipy' is not in the lock" 'write it in environment.yml, then: gpkg lock update -f environment.yml'
# Without FILE the first word is a package of gpkg.lock.
expect 0 lock update python --dry-run
expect 0 lock update python app --dry-run
expect 1 lock update lib
err_has "gpkg.lock: package 'lib' is not in the lock"
rm gpkg.lock
expect 1 lock update lib
err_has 'lib: cannot open' 'did you mean lib.lock?'
expect 1 lock update nowhere.lock lib
err_has 'nowhere.lock: cannot open' 'did you mean here.lock?'
expect 1 lock update zzz.lock lib
err_has 'to write one: gpkg lock -f environment.yml -o zzz.lock'
expect 2 lock update first.lock lib -o pixi.lock
sed 's/^  - lib$/  - lib <2/' first.lock > edited.lock
expect 1 lock update edited.lock lib
err_has 'the request in the lock was edited after it was solved' 'to solve from scratch: gpkg lock'
sed "s/^    made_for:/    also_made_for:\n    - __cuda=12.8=0 __unix=0=0\n    made_for:/" first.lock > all.lock
expect 1 lock update all.lock torch
err_has 'class a100 is for several kinds of machines' 'to solve from scratch: gpkg lock'
expect 0 lock convert first.lock conda-lock.yml --class cpu
expect 1 lock update conda-lock.yml lib
err_has "not a gpkg.lock" 'to lock with gpkg: gpkg lock -f environment.yml'
printf 'gpkg_profile: 1\nplatform: linux-aarch64\n' > a100.yaml
expect 2 lock update first.lock --for ./a100.yaml
err_has "its platform is linux-aarch64, but class a100 is for linux-64"
expect 2 lock update first.lock --for ./a100.yaml --for a100
err_has 'class a100 is given twice'

finish
