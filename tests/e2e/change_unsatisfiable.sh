# What is said when nothing fits: the clash, and commands that are then run as they stand
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

package lib 1.0 0
package lib 2.0 0
package app 1.0 0 'lib 1.*'
package app 2.0 0 'lib 2.*'
package tool 1.0 0 'lib 2.*'
package python 3.11.5 0
package python 3.12.2 0
package past 1.0 0 'python 3.11.*'
package gpu 1.0 cuda '__cuda >=12.4'
package exact 2.5.1 cuda129_0 '__cuda >=12'
package exact 2.5.1 cpu_0
for version in 1 2 4 5 6; do package many $version 0; done
at=$GPKG_ROOT_PREFIX/envs
mkdir "$WORK/bin" && ln -s "$GPKG" "$WORK/bin/gpkg"

# fixes COUNT: the last words, with --json --dry-run, name so many commands; each is run.
fixes() {
    local wanted=$1 command
    shift
    gpkg "$@" --json --dry-run
    checks=$((checks + 1))
    printf '%s' "$out" | python3 -c '
import json, sys
for fix in json.load(sys.stdin)["fixes"]:
    if not fix["edits"]: print(fix["command"])' > "$WORK/commands"
    [ "$(wc -l < "$WORK/commands")" = "$wanted" ] || fail "not $wanted commands: $(cat "$WORK/commands")"
    while read -r command; do
        checks=$((checks + 1))
        last=$command
        (PATH=$WORK/bin:$PATH; eval "$command") > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null
        status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
        [ "$status" = 0 ] || fail "a fix does not work"
    done < "$WORK/commands"
}

# A build that a package's name chose.
expect 1 create -n x gpu-gpu lib
err_has "gpu-gpu is an outdated package name; use 'gpu[accel=nvidia]'"

# Only an unknown name: conda's exception.
expect 1 create -n x nosuchpackage --json
json 'd["exception_name"] == "PackagesNotFoundInChannelsError" and len(d["clashes"]) == 1'

# Another name is a guess: no command installs it. One without the unknown name is a fix.
expect 1 create -n x pytohn lib
err_has 'gpkg create -n x lib  # without pytohn' 'hint: did you mean python?'
fixes 1 create -n x pytohn lib
fixes 0 create -n x pytohn
json 'd["did_you_mean"] == {"pytohn": ["python"]}'

# As little as possible of each spec: its build, its version, or all of it.
expect 1 create -n x app=2.0=bad lib=9.9=bad python
err_has 'gpkg create -n x app==2.0 lib==2.0 python  # gives app 2.0 and lib 2.0'
fixes 1 create -n x app=2.0=bad lib=9.9=bad python
expect 1 create -n x app=2.0=bad nosuch=1=2
err_has 'gpkg create -n x app==2.0  # without nosuch=1=2: gives app 2.0'
# A build is given up before a version, and a version before a package.
package one 1.0 a 'lib 1.*'
package one 1.0 b 'lib 2.*'
package one 2.0 b 'lib 1.*'
expect 1 create -n x one=1.0=a lib=2
err_has 'possible fixes:
  gpkg create -n x one==1.0 lib=2  # gives lib 2.0 and one 1.0'
err_lacks 'without'

expect 1 create -n x app=1 'lib>=2'
err_is 'error: the request cannot be solved
app=1 is requested
└─ app 1.0 0 needs lib 1.*
lib>=2 is requested
└─ no lib satisfies both 1.* and >=2
possible fixes:
  gpkg create -n x app=1 lib=1.0  # gives app 1.0 and lib 1.0
  gpkg create -n x app=2.0 '"'lib>=2'"'  # gives app 2.0 and lib 2.0'
fixes 2 create -n x app=1 'lib>=2'
fixes 2 create -n app app=1 'lib>=2'
expect 1 create -n x app=1 'lib>=2' --json
json 'd["exception_name"] == "UnsatisfiableError" and [l["kind"] for l in d["clashes"][0]] == ["request", "asks", "request", "offer"]'
json 'd["clashes"][0][1]["specs"] == ["lib 1.*"] and d["clashes"][0][1]["builds"]["count"] == 1'
json 'd["fixes"][0]["changes"] == [{"kind": "replace_spec", "text": "lib=1.0 instead of lib>=2", "before": "lib>=2", "after": "lib=1.0"}]'
json 'd["fixes"][1]["gives"][0] == {"name": "app", "version": "2.0", "build": "0"}'

# Hardware: the machine that would do, and how to decide for it.
expect 1 create -n x gpu
err_has 'this machine has no NVIDIA driver (__cuda)'
err_has 'CONDA_OVERRIDE_CUDA=12.4 gpkg create -n x gpu  # for a machine with a driver for CUDA >= 12.4: gives gpu 1.0'
fixes 1 create -n x gpu

# With a build, the version is exact.
expect 1 create -n x 'exact=2.5=cuda*'
err_has 'no version matches exact=2.5=cuda*' "with a build, = is exact; 'exact=2.5.*=cuda*' matches 2.5.1"
err_has "CONDA_OVERRIDE_CUDA=12 gpkg create -n x 'exact=2.5.*=cuda*'  # for a machine with"
expect 1 create -n x 'exact=2.5=cuda*' --json
json 'd["fixes"][0]["changes"][0]["after"] == "exact=2.5.*=cuda*"'
expect 0 why-not 'exact=2.5=cuda*'
out_has "with a build, = is exact; 'exact=2.5.*=cuda*' matches 2.5.1"
expect 1 search 'exact=2.5=cuda*'
err_has 'exact=2.5=cuda*: matches none of the 2 builds' "with a build, = is exact; 'exact=2.5.*=cuda*' matches 2.5.1"
expect 1 create -n x exact==2,5
err_has "a comma means 'and'; did you mean exact==2.5?"

# Of many versions, those next to the requested one are named.
expect 1 create -n x many=3
err_has 'available: 1 to 6 (5 versions; nearest: 2 and 4)'
# Only what a variable can make of the machine is offered, and so that the machine then has it.
package apple 1.0 0 __osx
package arch 1.0 0 '__cuda_arch >=9'
package kernel 1.0 0 '__linux >=9'
expect 1 create -n x apple
err_has 'this machine has no __osx'
err_lacks 'possible fixes'
expect 1 create -n x arch
err_has 'CONDA_OVERRIDE_CUDA=12.8 CONDA_OVERRIDE_CUDA_ARCH=9.0 gpkg'
fixes 1 create -n x arch
expect 1 create -n x kernel
err_has 'CONDA_OVERRIDE_LINUX=9.0 gpkg'
fixes 1 create -n x kernel
last='an older driver'
err=$(CONDA_OVERRIDE_CUDA=11.8 "$GPKG" create -n x gpu 2>&1)
err_has 'this machine has a driver for CUDA 11.8 (__cuda)'
err_has 'hint: CONDA_OVERRIDE_CUDA=11.8 overrides __cuda of this machine'
# Of a machine that --for names, the fact that was given changes.
package newer 1.0 0 '__glibc >=2.34'
unset CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_CUDA
expect 1 create -n x newer --for h100,glibc=2.20,linux=5.0
err_has '  gpkg create -n x newer --for h100,glibc=2.34,linux=5.0  # for a machine with glibc >= 2.34'
expect 1 create -n x gpu --for h100,cuda=11.4
err_has '  gpkg create -n x gpu --for h100,cuda=12.4  # for a machine with a driver for CUDA >= 12.4'
export CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_GLIBC=2.36

# What was asked for earlier, pins, and python's minor version.
expect 0 create -n e app=1 python=3.12.2
expect 1 install -n e tool
err_has 'app=1 is requested'
fixes 1 install -n e tool
expect 0 create -n held lib python
expect 1 install -n held past
err_has 'python 3.12.* is kept: python keeps its minor version unless it is named'
err_has '  gpkg install -n held past python  # gives past 1.0 and python 3.11.5'
fixes 1 install -n held past
# A version of it that was asked for earlier makes way together with it.
expect 0 create -n minor lib python=3.12
expect 1 install -n minor past
err_has '  gpkg install -n minor past python=3.11  # gives past 1.0 and python 3.11.5: downgrades python from 3.12.2 to 3.11.5'
fixes 1 install -n minor past
echo 'lib 1.*' > "$at/held/conda-meta/pinned"
expect 1 install -n held tool
err_has 'lib 1.* is pinned'
err_has '  gpkg install -n held tool --no-pin  # without the pin lib 1.*: gives'
fixes 1 install -n held tool
expect 0 why-not tool -n held --no-pin
out_lacks pinned
echo 'python 3.*' >> "$at/held/conda-meta/pinned"
expect 1 install -n held tool
err_has '  gpkg unpin -n held lib && gpkg install -n held tool  # gives'
expect 1 install -n held tool -d
err_has '  # first: gpkg unpin -n held lib
  gpkg install -n held tool -d  # gives'

# What stands in a file is changed there.
printf 'dependencies:\n  - app=1\n  - lib>=2\n' > wishes.yml
expect 1 env create -n x -f wishes.yml
err_has '  # first: change lib>=2 to lib=1.0 in wishes.yml
  gpkg env create -n x -f wishes.yml  # gives'

# Strict priority: from the other channel by name, or by a flag.
mv "$CHANNEL" "$WORK/low"
rm -f "$WORK"/records.*
package lib 1.0 0
both="-c file://$CHANNEL -c file://$WORK/low --override-channels"
expect 1 create -n x $both lib=2
err_has "lib=2: cannot use 2.0 (in $WORK/low, hidden by strict channel priority); available: 1.0"
fixes 3 create -n x $both lib=2 --channel-priority strict

# What it may mean is requested already.
expect 1 create -n x $both libb lib
err_has ' --override-channels lib  # without libb'
fixes 1 create -n x $both libb lib
# One name of two.
expect 1 create -n x $both libb xylophone
err_has '  hint: did you mean lib for libb? another channel may have xylophone; add one with -c CHANNEL'
expect 1 create -n x $both xylophone
err_has '  hint: another channel may have it; add one with -c CHANNEL'
expect 1 create -n x $both sklearn
err_has '  hint: sklearn is usually packaged as scikit-learn, which was not found either; add a channel'
expect 1 create -n x $both lib-1.0
err_has '  hint: did you mean lib=1.0?'
expect 1 create -n x $both lib-1.0-0
err_has '  hint: did you mean lib=1.0=0?'
# A dependency that no channel has.
package orphan 1.0 0 nowhere
expect 1 create -n x $both orphan
err_has "└─ package 'nowhere' not found in" '  hint: another channel may have nowhere; add one with -c CHANNEL'
# The name of an environment is not taken for that of a package.
package part 1.0 0
package part 2.0 0
package whole 1.0 0 'part 2.*'
package user 1.0 0 'part 1.*'
expect 1 create whole -d part=1.0 -n whole
err_has '  gpkg create whole -d part=2.0 -n whole  #'
err_has '  gpkg create -d part=1.0 -n whole  #'

# What was asked for earlier goes in one step, and only where it takes nothing else along that was.
expect 0 create -n earlier part=1.0
sed -i '/specs:/d' "$at/earlier/conda-meta/history"
expect 0 install -n earlier user
expect 1 install -n earlier whole -q
err_has "  gpkg remove -n earlier user && gpkg install -n earlier whole -q  # gives whole 1.0"
err_lacks '; then'
# What a dry run proposes changes nothing.
expect 1 install -n earlier whole -d
err_has '  # first: gpkg remove -n earlier user
  gpkg install -n earlier whole -d  # gives whole 1.0'
expect 1 install -n earlier whole -d --json
json "d['fixes'][0]['edits'] == ['gpkg remove -n earlier user']"
# What goes is said.
expect 1 create -n two whole user lib
err_has '  gpkg create -n two whole lib  # without user: gives whole 1.0'
expect 0 create -n along part=1.0 user
expect 1 install -n along whole -d
err_lacks "remove -p $at/along part"

# What is offered is what the command does: an earlier wish counts again where nothing is named in
# its place, --update-deps moves further, and options stand before a "--".
package part 3.0 0
package part 4.0 0
package needy 1.0 0 'part >=3'
expect 0 create -n wish user
sed -i '/specs:/d' "$at/wish/conda-meta/history"
expect 0 install -n wish user
echo 'part !=1.0' > "$at/wish/conda-meta/pinned"
expect 1 install -n wish user part=2.0 -d
err_lacks 'without user'
expect 0 create -n moved part=3.0
sed -i '/specs:/d' "$at/moved/conda-meta/history"
echo 'part <3' > "$at/moved/conda-meta/pinned"
expect 1 install -n moved needy --update-deps -d
err_has 'gives needy 1.0 and part 4.0'
expect 0 install -n moved needy --update-deps --no-pin -d --json
json '[r["version"] for r in d["actions"]["LINK"] if r["name"] == "part"] == ["4.0"]'
expect 1 install -n moved -d -- needy
err_has '  gpkg install -n moved -d --no-pin -- needy  #'
expect 0 install -n moved -d --no-pin -- needy

finish
