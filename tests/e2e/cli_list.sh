# gpkg list
. "$(dirname "$0")/lib.sh"

package zlib 1.3 h_0
package zlib 1.2 h_0
BUILD_NUMBER=2 package app 2.0 h_2 'zlib >=1.3'
SUBDIR=noarch package data 1 0

expect 0 create -y -q -n one app data
expect 0 list -n one
out_has "# packages in environment at $GPKG_ROOT_PREFIX/envs/one:"
out_has "app     2.0      h_2    $CHANNEL"
out_lacks file://
out_has 'zlib    1.3      h_0'
first=$(grep -n '^app' <<< "$out" | cut -d: -f1)
check [ "$first" -lt "$(grep -n '^zlib' <<< "$out" | cut -d: -f1)" ]

expect 0 list -n one --json
json '[r["name"] for r in d] == ["app", "data", "zlib"]'
json 'd[0] == {"base_url": "file://" + channel, "build_number": 2, "build_string": "h_2",
    "channel": "file://" + channel, "dist_name": "app-2.0-h_2", "name": "app",
    "platform": "linux-64", "version": "2.0",
    "url": "file://" + channel + "/linux-64/app-2.0-h_2.tar.bz2",
    "requested": True, "requested_specs": ["app"]}'
json 'd[2]["requested"] is False and "requested_specs" not in d[2] and "disk_size" not in d[2]'
json 'd[1]["platform"] == "noarch"'

# Disk usage, in total as well.
expect 0 list -n one --size --json
json 'all(r["disk_files"] == 0 and r["disk_size"] == 0 for r in d)'

# Only requested packages; in the order of their sizes.
expect 0 list -n one --requested --json
json '[r["name"] for r in d] == ["app", "data"]'
head -c 2000 /dev/zero > "$WORK/zeros"
mkdir -p "$WORK/payload/share" && cp "$WORK/zeros" "$WORK/payload/share/small"
package small 1 0
mkdir -p "$WORK/payload/share" && cat "$WORK/zeros" "$WORK/zeros" > "$WORK/payload/share/large"
package large 1 0 small
expect 0 create -y -q -n sizes large 'small>=1,<2'
expect 0 list -n sizes
out_has 'small>=1,<2'
expect 0 list -n sizes --sort size
check [ "$(sed -n '4,5s/ .*//p' <<< "$out" | paste -sd' ')" = 'large small' ]
out_has Size
expect 0 list -n sizes --sort size --reverse --json
json '[(r["name"], r["disk_size"]) for r in d] == [("small", 2000), ("large", 4000)]'
expect 2 list -n sizes --sort date
err_has "'date' is not one of name and size"

# A part of a name, a regular expression, a whole name.
expect 0 list -n one ZL
out_has 'zlib    1.3'
out_lacks 'app '
expect 0 list -n one '^(app|data)$' --json
json '[r["name"] for r in d] == ["app", "data"]'
expect 0 list -n one -f app --json
json 'len(d) == 1'
expect 0 list -n one -f ap --json
json 'd == []'
expect 0 list -n one zib
err_has "no package in $GPKG_ROOT_PREFIX/envs/one matches zib"
expect 2 list -n one '('
err_is "error: '(' is not a regular expression
  hint: a part of a name works too: gpkg list torch"
expect 0 list -n one --reverse --json
json '[r["name"] for r in d] == ["zlib", "data", "app"]'

# Listings that create reads back.
expect 0 list -n one --explicit
out_has '# platform: linux-64
@EXPLICIT'
check [ "$(grep -c '#[0-9a-f]\{64\}$' <<< "$out")" = 3 ]
check [ "$(grep -n /zlib- <<< "$out" | cut -d: -f1)" -lt "$(grep -n /app- <<< "$out" | cut -d: -f1)" ]
printf '%s\n' "$out" > explicit.txt
expect 0 create -y -q -n two --file explicit.txt
expect 0 list -n two --json
json 'sorted(r["dist_name"] for r in d) == ["app-2.0-h_2", "data-1-0", "zlib-1.3-h_0"]'
expect 0 list -n one --export
out_has 'app=2.0=h_2'
printf '%s\n' "$out" > specs.txt
expect 0 create -y -q -n three --file specs.txt
expect 0 list -n three --canonical
out_has "file://$CHANNEL/linux-64::zlib-1.3-h_0"
expect 2 list -n one --explicit --export

# What pip installed, and only that, is told apart.
site=$GPKG_ROOT_PREFIX/envs/one/lib/python3.11/site-packages/Left_Pad-1.5.dist-info
mkdir -p "$site"
printf 'Metadata-Version: 2.1\nName: left-pad\nVersion: 1.5\n\nName: wrong\n' > "$site/METADATA"
expect 0 list -n one pad --json
json '[(r["name"], r["version"], r["channel"], r["platform"]) for r in d] ==
    [("left-pad", "1.5", "pypi", "pypi")]'
expect 0 list -n one --no-pip --json
json 'len(d) == 3'
expect 0 list -n one --explicit
out_lacks left-pad

# Environments that are not there.
expect 1 list -n onee
err_is "error: no environment at $GPKG_ROOT_PREFIX/envs/onee
  hint: did you mean one?"
expect 1 list -n onee --json
json 'd["success"] is False and "no environment at" in d["message"]'
expect 2 list
err_has 'no environment is active'
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/two expect 0 list --json
json 'len(d) == 3'
expect 1 list -p /nowhere/at/all
err_has 'no environment at /nowhere/at/all'
printf 'no json' > "$GPKG_ROOT_PREFIX/envs/two/conda-meta/zlib-1.3-h_0.json"
expect 1 list -n two
err_has 'conda-meta/zlib-1.3-h_0.json'

# What builds are for is shown where there is something to show; what another environment has
# instead, too.
package torch 2.0 cpu_mkl_py312_0
package torch 2.0 cuda129_mkl_py312_0 'cuda-version >=12.9,<13' '__cuda'
package cuda-version 12.9 0
package only 1.0 0
expect 0 create -y -q -n here torch=2.0=cpu_mkl_py312_0 only
CONDA_OVERRIDE_CUDA=12.9 expect 0 create -y -q -n there torch=2.0=cuda129_mkl_py312_0
expect 0 list -n there
check [ "$(sed -n 3p <<< "$out" | tr -s ' ')" = '# Name Version Build Channel Accelerator CUDA BLAS Requested' ]
check [ "$(grep ^torch <<< "$out" | tr -s ' ' | sed "s,$CHANNEL,C,")" = \
    'torch 2.0 cuda129_mkl_py312_0 C nvidia 12.9 mkl torch=2.0=cuda129_mkl_py312_0' ]
expect 0 list -n there torch --json
json 'd[0]["variant"] == {"accelerator": "nvidia", "cuda": "12.9", "blas": "mkl"}'
expect 0 list -n here only --json
json '"variant" not in d[0]'
# Of what pip installed what its makers write: behind the version, into the name, into what it needs.
wheel() {
    local at=$GPKG_ROOT_PREFIX/envs/here/lib/python3.12/site-packages/$1-$2.dist-info
    mkdir -p "$at"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" > "$at/METADATA"
    if [ -n "${3-}" ]; then printf 'Requires-Dist: %s\n' "$3" >> "$at/METADATA"; fi
    printf 'Wheel-Version: 1.0\nTag: cp312-cp312-linux_x86_64\n' > "$at/WHEEL"
}
wheel torchvision 0.19.0+cu121
wheel xgboost 3.0.0 'nvidia-nccl-cu12; platform_system == "Linux"'
wheel nvidia_nccl_cu12 2.26.2
wheel lightgbm 4.6.0 'nvidia-nccl-cu13; platform_system == "Linux"'
expect 0 list -n here
# cells NAME: a row with one space between its columns.
cells() { grep "^$1 " <<< "$out" | tr -s ' '; }
check [ "$(cells torchvision)" = 'torchvision 0.19.0+cu121 pypi_0 pypi nvidia 12.1' ]
check [ "$(cells xgboost)" = 'xgboost 3.0.0 pypi_0 pypi nvidia 12' ]
check [ "$(cells lightgbm)" = 'lightgbm 4.6.0 pypi_0 pypi' ]
expect 0 list -n here torchvision --json
json 'd[0]["variant"] == {"accelerator": "nvidia", "cuda": "12.1", "python": "3.12"}'
# Doctor looks at them as well.
CONDA_OVERRIDE_CUDA=11.8 expect 1 doctor -n here
out_has 'torchvision (pip)' 'is for CUDA 12.1, but the driver supports 11.8'
expect 0 doctor -n here --for cpu
out_has 'xgboost (pip)' 'is a CUDA build, but cpu has no NVIDIA GPU'
out_lacks 'is an outdated package name'
wheel tensorflow_gpu 2.11.0
CONDA_OVERRIDE_CUDA=12.8 expect 0 doctor -n here
out_has 'tensorflow_gpu (pip): is an outdated package name' 'use tensorflow, or tensorflow[and-cuda] to let pip install CUDA too'
# What pip put beside a conda package of its name is another package.
rm -r "$GPKG_ROOT_PREFIX/envs/here/lib"
wheel torch 2.4.0
expect 0 list -n here --diff there torch --json
json '[[side and side["version"] for side in (x["here"], x["there"])] for x in d] == [["2.0", "2.0"], ["2.4.0", None]]'
rm -r "$GPKG_ROOT_PREFIX/envs/here/lib"
expect 0 list -n here --diff there --json
json '[(x["name"], x["here"] is None, x["there"] is None) for x in d] ==
    [("cuda-version", True, False), ("only", False, True), ("torch", False, False)]'
expect 0 list -n here --diff "$(place there)"
out_has '~ torch' 'accelerator none -> nvidia, cuda none -> 12.9'
out_has '+ cuda-version'
err_has '3 of 3 packages differ'
expect 0 list -n here --diff here
out_is ''
err_has 'no differences in 2 packages between'
expect 1 list -n here --diff nowhere
expect 2 list -n here --diff there --explicit

# A login that another tool wrote into a record stays between it and us.
sed -i 's|"channel": *"[^"]*"|"channel": "https://me:PASS@host/t/SECRET/chan"|; s|"url": *"[^"]*"|"url": "https://host/t/SECRET/chan/linux-64/only-1.0-0.conda"|' \
    "$(place here)"/conda-meta/only-*.json
check grep -q SECRET "$(place here)"/conda-meta/only-*.json
for how in 'list -n here --json' 'list -n here --diff there --json' 'repoquery depends only -n here --json' 'list -n here' 'list -n here --explicit'; do
    expect 0 $how
    out_lacks SECRET PASS
done

# A folder called t is no login.
mkdir -p "$WORK/t"
cp -r "$CHANNEL" "$WORK/t/W"
expect 0 create -y -n folder -c "file://$WORK/t/W" --override-channels only
expect 0 list -n folder --explicit
out_has "file://$WORK/t/W/linux-64/only-1.0"

finish
