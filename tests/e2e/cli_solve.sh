# gpkg solve and gpkg why-not
. "$(dirname "$0")/lib.sh"

package base 1.0 0
package base 2.0 0
package numpy 1.0 0 'base >=1'
package numpy 2.0 0 'base >=2'
BUILD_NUMBER=1 package numpy 2.0 1 'base >=2'
package torch 1.0 0 'numpy'
package torch 2.0 0 'numpy <2'
package pandas 1.0 0 'numpy'
package gpu 1.0 0 '__cuda >=12'
package python 3.12.0 0
package python 3.13.0 0
EXTRAS='"plot":["pandas"]' package app 1.0 0 'numpy'

# What would be installed, and nothing happens.
expect 0 solve torch
check [ "$(tr -s ' ' <<< "$out")" = "# Name Version Build Channel Size
base 2.0 0 $CHANNEL $(stat -c %s "$CHANNEL/linux-64/base-2.0-0.tar.bz2") B
numpy 1.0 0 $CHANNEL $(stat -c %s "$CHANNEL/linux-64/numpy-1.0-0.tar.bz2") B
torch 2.0 0 $CHANNEL $(stat -c %s "$CHANNEL/linux-64/torch-2.0-0.tar.bz2") B" ]
err_has '3 packages ('
err_has 'for linux-64 with __'
check [ ! -e "$GPKG_ROOT_PREFIX/envs" ]
check [ ! -e conda-meta ]
expect 0 solve torch --json
json '[p["name"] for p in d["packages"]] == ["base", "numpy", "torch"] and d["platform"] == "linux-64"'
json '"__glibc=2.36=0" in d["virtual_packages"] and d["packages"][0]["sha256"]'
CONDA_OVERRIDE_CUDA=12.4 expect 0 solve gpu --json
json '"__cuda=12.4=0" in d["virtual_packages"]'
expect 1 solve gpu
err_has '__cuda'
# What it prints can be installed.
expect 0 solve torch --explicit
printf '%s\n' "$out" > exact.txt
expect 0 create -n exact -f exact.txt
has exact base-2.0 numpy-1.0 torch-2.0
printf 'dependencies: [pandas, numpy=1]\n' > environment.yml
expect 0 solve -f environment.yml --json
json '{p["name"]: p["version"] for p in d["packages"]} == {"base": "2.0", "numpy": "1.0", "pandas": "1.0"}'
expect 0 solve --only-deps torch --json
json '[p["name"] for p in d["packages"]] == ["base", "numpy"]'
expect 2 solve
expect 2 solve "$CHANNEL/linux-64/base-1.0-0.tar.bz2"
# An environment at hand has no say, be it that one stands in it.
(cd "$(place exact)" && GPKG_HERE=1 "$GPKG" solve base --json > "$WORK/stdout")
out=$(cat "$WORK/stdout")
json '[p["name"] for p in d["packages"]] == ["base"]'
# Another platform.
expect 1 solve torch --platform osx-arm64
expect 2 solve torch --platform linux-65

# why-not: what keeps it out of a request.
expect 0 why-not numpy=1 numpy pandas
out_is 'numpy 1.0 0 is possible, but numpy 2.0 1 is a newer version
this would change:
  ~ numpy 1.0 0 instead of 2.0 1
to get it, add numpy=1 to the request'
expect 0 why-not 'numpy * 0' numpy
out_has 'numpy 2.0 0 is possible, but numpy 2.0 1 has a higher build number'
expect 0 why-not 'numpy>=2' pandas
out_is 'numpy 2.0 1 is chosen: newest version, best build'
expect 0 why-not 'numpy>=2' torch
out_is "numpy 2.0 1 is possible, but conflicts with the best match for the request
torch is requested
numpy>=2 is the spec in question
torch ==2.0 is the best match for the request
└─ torch 2.0 0 needs numpy <2
   └─ no numpy satisfies both >=2 and <2
this would change:
  ~ torch 1.0 0 instead of 2.0 0
  ~ numpy 2.0 1 instead of 1.0 0
to get it, add 'numpy>=2' to the request"
expect 0 why-not 'numpy>=2' torch=2
out_is 'numpy>=2 conflicts with the request
torch=2 is requested
└─ torch 2.0 0 needs numpy <2
numpy>=2 is the spec in question
└─ no numpy satisfies both <2 and >=2
what would work:
  torch=1.0 instead of torch=2: gives numpy 2.0 and torch 1.0'
expect 0 why-not numpy=3 torch
out_is 'no searched channel has numpy=3; available: 2.0 and 1.0'
expect 1 solve nump --platform linux-aarch64
err_has 'the channels have no packages for linux-aarch64; add one'
expect 1 why-not nump torch
err_has "package 'nump' not found in"
err_has 'did you mean numpy?'
expect 0 why-not pandas torch
out_is 'no package needs pandas; if requested, it would be pandas 1.0 0
this would change:
  + pandas 1.0 0'
expect 0 why-not 'app[extras=plot]' app
out_is "no package needs app[extras='plot']; if requested, it would be app 1.0 0
this would change:
  + pandas 1.0 0"
expect 0 why-not 'app[extras=plot]' app pandas
out_is 'app 1.0 0 is chosen: newest version'
expect 1 why-not 'app[extras=plots]' app
err_has "no build of app has the extra 'plots'"
err_has 'did you mean plot?'
expect 0 why-not gpu torch
out_has 'gpu cannot be installed on this machine'
out_has 'this machine has no NVIDIA driver' '  or for another machine: --for NAME (gpkg hardware list)'
expect 0 why-not gpu torch --for mi300x
out_has 'gpu cannot be installed on mi300x'
expect 0 why-not '__cuda>=12' torch
out_has 'this machine has no NVIDIA driver'
CONDA_OVERRIDE_CUDA=12.4 expect 0 why-not '__cuda>=12' torch
out_has '__cuda 12.4 0 is chosen'
expect 1 why-not numpy torch=2 'numpy>=2'
err_has 'the request cannot be solved'
expect 2 why-not
expect 2 why-not 'num*' torch
# Without a request and an environment, the package alone is the request.
expect 0 why-not numpy=1
out_has 'numpy 1.0 0 is possible, but numpy 2.0 1 is a newer version'
expect 0 why-not 'numpy>=2' --for h100
out_is 'numpy 2.0 1 is chosen: newest version, best build'
expect 0 why-not gpu=1
out_has 'gpu=1 cannot be installed on this machine'
expect 0 why-not gpu=1 --json
json 'd["verdict"] == "impossible" and d["clashes"] and d["possible"] is None'
expect 1 why-not nump=2
err_has "package 'nump' not found in"
err_has 'did you mean numpy?'
expect 2 why-not numpy torch -n exact
for spec in 'numpy=1:numpy:less_good' 'numpy>=2:pandas:chosen' 'numpy>=2:torch:outranked' \
    'numpy>=2:torch=2:impossible' 'pandas:torch:unneeded'; do
    IFS=: read -r question request verdict <<< "$spec"
    expect 0 why-not "$question" "$request" --json
    json "d['verdict'] == '$verdict' and (d['verdict'] in ('outranked', 'impossible')) == bool(d['clashes'])"
done
expect 0 why-not 'numpy>=2' torch=2 --json
json 'd["fixes"][0]["changes"][0]["after"] == "torch=1.0" and d["possible"] is None and d["chosen"]["version"] == "1.0"'

# ... the channel, where that is it.
low=$WORK/low
mkdir -p "$low/linux-64" && printf '{"packages.conda": {"base-9-0.conda": {"name": "base", "version": "9", "build": "0"}}}' > "$low/linux-64/repodata.json"
expect 0 why-not "file://$low::base" base -c "file://$CHANNEL" -c "file://$low" --override-channels
out_has 'base 9 0 is possible, but base 2.0 0 is in a channel with higher priority'

# ... and out of an environment.
expect 0 create -n env torch=1 numpy=1.0 base=1 python=3.12
sed -i '/specs:/d' "$(place env)/conda-meta/history"
expect 0 why-not numpy=1 -n env
out_is 'numpy 1.0 0 is installed'
expect 0 why-not numpy=2 -n env
out_is 'numpy 2.0 1 is possible, but conflicts with the best match for the request
numpy=2 is the spec in question
└─ both builds of numpy 2.0 need base >=2
base ==1.0 0 is installed and changes only when requested
└─ no base satisfies both >=2 and ==1.0 0
this would change:
  ~ base 2.0 0 instead of 1.0 0
  ~ numpy 2.0 1 instead of 1.0 0
to install it: gpkg install numpy=2 -n env'
expect 0 install -n env pandas base=1
expect 0 why-not numpy=2 -n env
out_is 'numpy=2 conflicts with the request
base=1 is requested
numpy=2 is the spec in question
└─ both builds of numpy 2.0 need base >=2
   └─ no base satisfies both =1 and >=2
what would work:
  base=2.0 instead of base=1: gives base 2.0 and numpy 2.0'
expect 0 why-not python=3.13 -n env
out_is 'it can be installed: gpkg install python=3.13 -n env  # gives python 3.13.0 0'
expect 0 why-not torch=2 -n env
out_is 'it can be installed: gpkg install torch=2 -n env  # gives torch 2.0 0'
echo 'torch <2' > "$(place env)/conda-meta/pinned"
expect 0 why-not torch=2 -n env
out_has 'torch <2 is pinned'
expect 1 why-not torch=2 -n envi
err_has 'did you mean env?'

# The line that would bring it has the flags of the question, and brings it.
expect 0 create -n wish 'base<2'
expect 0 why-not base=1 -n wish
out_has 'base 1.0 0 is installed'
package base 1.5 0
expect 0 why-not base=1.5 -n wish -c "file://$CHANNEL"
out_has "it can be installed: gpkg install base=1.5 -n wish -c file://$CHANNEL  # gives base 1.5 0"
expect 0 install base=1.5 -n wish -c "file://$CHANNEL"
expect 0 list -n wish base
out_has '1.5'

# In one file of both streams every line is whole: what is noted comes where it is said.
for place in $(seq 60); do package "many$place" 1.0 "a_long_build_string_of_it_$place"; done
index
checks=$((checks + 1))
# shellcheck disable=SC2046 # words
"$GPKG" solve $(seq -f 'many%g' 60) > "$WORK/both" 2>&1
[ "$(grep -c '^many[0-9]* *1.0 *a_long_build_string_of_it_[0-9]* ' "$WORK/both")" = 60 ] || fail 'torn rows'
# What pip installed is not looked for in channels.
expect 1 solve 'torch=2.6.0+cu124=pypi_0'
err_has "torch with build pypi_0 was installed by pip; list it under 'pip:' in an environment.yml"

# A checksum without a name: whose it is. Builds are compared by their dependencies, wanted or not.
package two 1.0 a_0 'base 1.0.*'
package two 1.0 b_0 'base 1.5.*'
md5=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["packages"]["two-1.0-b_0.tar.bz2"]["md5"])' "$CHANNEL/linux-64/repodata.json")
expect 2 solve "*[md5=$md5]"
err_has "'*[md5='$md5']' is a pattern, not a package name; it matches two" "request 'two[md5='$md5']'"
expect 0 solve "two[md5=$md5]"
expect 1 solve "*[md5=${md5//[0-9]/0}]"
err_has 'no package in the channels matches'
expect 2 solve '*[build=b_0]' -c "file://$CHANNEL"
for how in '' --no-deps; do
    expect 0 solve two $how
    out_has 'b_0'
done

finish
