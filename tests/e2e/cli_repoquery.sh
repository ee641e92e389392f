# gpkg repoquery
. "$(dirname "$0")/lib.sh"

package python 3.9 h_0
package python 3.12 h_0
package zlib 1.3 h_0
package png 1.6 h_0 'zlib >=1.2,<2' '__glibc >=2.17'
package plot 2.0 py39_0 'png >=1' 'python >=3.9,<3.10'
package plot 3.1 py312_0 'png >=1' 'python >=3.12,<3.13'
BUILD_NUMBER=1 package plot 3.1 py312_1 'png >=1' 'python >=3.12,<3.13'
package numpy 2.0 h_0
package pytest 8 h_0 python
package broken 1 h_0 'gone >=2' zlib
EXTRAS='"test":["pytest >=7","plot"],"all":["app[extras=test]"]' \
    package app 2.0 h_0 plot zlib 'numpy[version=">=1",when="python>=3.10"]'
package user 1 h_0 'app[extras=test]'
SUBDIR=noarch package gpu 1 0 '__cuda >=12'
SUBDIR=noarch package gpu 2 0 '__cuda >=12.4'
SUBDIR=noarch package cpu 1 0 '__archspec 1 x86_64_v3'
where=$CHANNEL

# --- search is gpkg search
expect 0 search 'plot>=3'
plain=$out
expect 0 repoquery search 'plot>=3'
out_is "$plain"
expect 0 repoquery search 'plot>=3' --json
json 'd["query"] == {"type": "search", "query": "plot>=3", "prefix": None}'
json '[r["build"] for r in d["result"]["pkgs"]] == ["py312_0", "py312_1"]'
expect 0 repoquery search app --info
out_has '  extra all     app[extras=test]
  extra test    pytest >=7
                plot'
out_has '                numpy[version=">=1",when="python>=3.10"]'
expect 0 repoquery search app --json
json 'd["result"]["pkgs"][0]["extra_depends"]["all"] == ["app[extras=test]"]'
expect 1 repoquery search plto
err_has 'did you mean plot?'

# --- depends: what the newest build names, and the newest that is
expect 0 repoquery depends plot
out_is "plot 3.1 py312_1  $where/linux-64
  png >=1              png 1.6 h_0
  python >=3.12,<3.13  python 3.12 h_0"
expect 0 repoquery depends 'plot<3'
out_has 'plot 2.0 py39_0'
out_has 'python 3.9 h_0'
expect 0 repoquery depends app
out_is "app 2.0 h_0  $where/linux-64
  plot                           plot 3.1 py312_1
  zlib                           zlib 1.3 h_0
  numpy >=1 if python>=3.10      numpy 2.0 h_0
  pytest >=7 for its extra test  pytest 8 h_0
  plot for its extra test        plot 3.1 py312_1"
expect 0 repoquery depends broken
out_has 'gone >=2  not found in the channels'
expect 0 repoquery depends png
out_has '__glibc >=2.17  virtual package'
expect 0 repoquery depends zlib
out_is "zlib 1.3 h_0  $where/linux-64
  no dependencies"
expect 0 repoquery depends app --json
json 'd["query"]["type"] == "depends" and d["result"]["roots"] == [0]'
json '[p["name"] for p in d["result"]["pkgs"]] == ["app", "plot", "zlib", "numpy", "pytest"]'
json 'd["result"]["pkgs"][0]["dependencies"][2] == {"spec": "numpy[version=\">=1\",when=\"python>=3.10\"]",
    "extra": None, "met_by": "package", "pkg": 3}'
json 'd["result"]["pkgs"][0]["dependencies"][3]["extra"] == "test"'
json 'all("dependencies" not in p for p in d["result"]["pkgs"][1:])'
expect 0 repoquery depends broken --json
json '[(n["met_by"], n["pkg"]) for n in d["result"]["pkgs"][0]["dependencies"]] == [("nobody", None), ("package", 1)]'

# All that it leads to; extras only where they are asked for.
expect 0 repoquery depends -r app
check [ "$(tail -n +2 <<< "$out" | tr -s ' ' | cut -d' ' -f1,2)" = '# Name
numpy 2.0
plot 3.1
png 1.6
python 3.12
zlib 1.3
__glibc >=2.17:' ]
expect 0 repoquery depends --recursive 'app[extras=all]' --json
json '[p["name"] for p in d["result"]["pkgs"]] == ["app", "numpy", "plot", "png", "pytest", "python", "zlib"]'
json '[n["met_by"] for n in d["result"]["pkgs"][3]["dependencies"]] == ["package", "machine"]'
expect 0 repoquery depends --recursive user --json
json '"pytest" in [p["name"] for p in d["result"]["pkgs"]]'
expect 0 repoquery depends -r broken
out_has 'gone >=2: not found in the channels, needed by broken 1 h_0'

# --- tree: what is below a package stands once
expect 0 repoquery tree 'app[extras=test]'
out_is "app 2.0 h_0  $where/linux-64
├─ plot 3.1 py312_1
│  ├─ png 1.6 h_0 (png >=1)
│  │  ├─ zlib 1.3 h_0 (zlib >=1.2,<2)
│  │  └─ __glibc >=2.17
│  └─ python 3.12 h_0 (python >=3.12,<3.13)
├─ zlib 1.3 h_0
├─ numpy 2.0 h_0 (numpy >=1 if python>=3.10)
├─ pytest 8 h_0 (pytest >=7 for its extra test)
│  └─ python 3.12 h_0
└─ plot 3.1 py312_1 (plot for its extra test) (*)"
err_has '(*)'
tree=$out
expect 0 repoquery depends --tree 'app[extras=test]'
out_is "$tree"
expect 0 repoquery tree broken
out_has '├─ gone >=2: not found in the channels'
expect 0 repoquery tree plot --depth 1
out_is "plot 3.1 py312_1  $where/linux-64
├─ png 1.6 h_0 (png >=1)
└─ python 3.12 h_0 (python >=3.12,<3.13)"
expect 2 repoquery tree plot --depth 0
err_has "--depth: '0' is not a whole number of at least 1"
expect 0 repoquery tree plot --json
json 'd["query"]["type"] == "tree" and [len(p["dependencies"]) for p in d["result"]["pkgs"]] == [2, 2, 0, 0]'

# --- whoneeds: names of packages, and what builds that match could be used by
expect 0 repoquery whoneeds python
out_is "# Name  Version  Build    Channel$(printf '%*s' $((${#where} + 2)) '')  Builds  Needs
plot    3.1      py312_1  $where/linux-64       3  python >=3.12,<3.13
pytest  8        h_0      $where/linux-64       1  python"
err_has 'newest build of each package; --all shows all 4 builds'
expect 0 repoquery whoneeds python --all
check [ "$(grep -c '^plot' <<< "$out")" = 3 ]
out_has 'python >=3.9,<3.10'
err_lacks '--all'
expect 0 repoquery whoneeds python=3.9 --json
json '[(p["name"], p["version"]) for p in d["result"]["pkgs"]] == [("plot", "2.0"), ("pytest", "8")]'
json 'd["result"]["pkgs"][0]["needs"] == [{"spec": "python >=3.9,<3.10", "extra": None}]'
expect 0 repoquery whoneeds pytest
out_has 'pytest >=7 for its extra test'
expect 0 repoquery whoneeds app
out_has 'app with its extra test'
expect 0 repoquery whoneeds numpy
out_has 'numpy >=1 if python>=3.10'
expect 0 repoquery whoneeds 'p*' --json
json 'sorted({p["name"] for p in d["result"]["pkgs"]}) == ["app", "plot", "pytest"]'
# What no channel has, but something needs.
expect 0 repoquery whoneeds gone
out_has 'broken  1'
expect 0 repoquery whoneeds user
out_is "nothing in $where (linux-64) needs user"
expect 0 repoquery whoneeds user --json
json 'd["result"]["pkgs"] == []'
# The machine.
expect 0 repoquery whoneeds __cuda --all
check [ "$(grep -c '^gpu' <<< "$out")" = 2 ]
expect 0 repoquery whoneeds __cuda=12.2 --json
json '[(p["name"], p["version"]) for p in d["result"]["pkgs"]] == [("gpu", "1")]'
expect 0 repoquery whoneeds __archspec=1 --json
json '[p["name"] for p in d["result"]["pkgs"]] == ["cpu"]'
expect 0 repoquery whoneeds __archspec=1=x86_64_v2 --json
json 'd["result"]["pkgs"] == []'
expect 2 repoquery whoneeds '__cuda>=12'
err_has '__cuda=VERSION'

expect 1 repoquery whoneeds pyton
err_is "error: package 'pyton' not found in $where (linux-64)
  hint: did you mean python?"
expect 1 repoquery whoneeds pyton --json
json 'd["exception_name"] == "PackagesNotFoundInChannelsError" and d["hint"] == "did you mean python?"'
expect 1 repoquery whoneeds python=4
err_has 'the newest version is python 3.12'
for question in depends tree search; do
    expect 1 repoquery $question pyton
    err_has 'did you mean python?'
    expect 1 repoquery $question python=4
    err_has 'matches none of the 2 builds'
done
expect 2 repoquery whoneeds python -r
err_has 'works only in an environment'
expect 2 repoquery whoneeds python --tree
expect 2 repoquery tree python --invert
expect 2 repoquery whoneeds 'app[extras=test]'
expect 2 repoquery
expect 2 repoquery depends
expect 2 repoquery depends 'python>=3<4'
expect 0 repoquery whoneeds python --exclude-newer 2020-01-01
out_has 'nothing in'
expect 1 repoquery depends plot --exclude-newer 2020-01-01

expect 1 repoquery whoneeds __cud
err_has 'did you mean __cuda?'
expect 2 repoquery whoneeds '__c*=1'

# An extra that the package does not have is told; what channels say does not reach the terminal as it is.
expect 0 repoquery depends 'app[extras=tset]' -r
err_has "app 2.0 h_0 has no extra 'tset'"
mkdir -p odd/linux-64
printf '{"packages.conda":{"o-1-0.conda":{"name":"o","version":"1","build":"0","depends":["x\\u001b[1m",
    "p[license=\\"\\u001b[31m\\"]"]}}}' > odd/linux-64/repodata.json
for question in 'depends o' 'depends -r o' 'tree o' 'whoneeds p'; do
    expect 0 repoquery $question -c ./odd --override-channels
    out_has '\x1b[31m'
    check [ "$(tr -d '\n' <<< "$out$err" | grep -c "$(printf '\033')")" = 0 ]
done
# A chain that is longer than calls may nest.
python3 - > odd/linux-64/repodata.json <<'END'
import json
print(json.dumps({"packages.conda": {f"n{i}-1-0.conda": {
    "name": f"n{i}", "version": "1", "build": "0", "depends": [f"n{i + 1} >=1"] if i < 4999 else []}
    for i in range(5000)}}))
END
expect 0 repoquery tree n0 -c ./odd --override-channels
check [ "$(wc -l <<< "$out")" = 5000 ]

# --- an environment
expect 0 create -q -n one user
at=$GPKG_ROOT_PREFIX/envs/one
expect 0 repoquery search 'p*' -n one --json
json 'd["query"]["prefix"] == "'"$at"'"'
json '[p["name"] for p in d["result"]["pkgs"]] == ["plot", "png", "pytest", "python"]'
expect 0 repoquery depends app -p "$at"
out_has '  numpy >=1 if python>=3.10      numpy 2.0 h_0'
out_has '  pytest >=7 for its extra test  pytest 8 h_0'
expect 0 repoquery depends png -n one
out_has '__glibc >=2.17  virtual package'
CONDA_PREFIX=$at expect 0 repoquery depends png --installed
out_has 'png 1.6 h_0'
CONDA_PREFIX=$at expect 0 repoquery depends 'plot<3'
out_has 'plot 2.0 py39_0'
CONDA_PREFIX=$at expect 1 repoquery depends 'plot<3' --local
err_has 'not installed in'
expect 0 repoquery tree user -n one
out_has '└─ app 2.0 h_0 (app with its extra test)
   ├─ plot 3.1 py312_1
   │  ├─ png 1.6 h_0 (png >=1)'
expect 0 repoquery depends -r plot -n one --json
json '[p["name"] for p in d["result"]["pkgs"]] == ["plot", "png", "python", "zlib"]'

expect 0 repoquery whoneeds zlib -n one
out_is '# Name  Version  Build  Needs
app     2.0      h_0    zlib
png     1.6      h_0    zlib >=1.2,<2'
expect 0 repoquery whoneeds zlib -n one -r
check [ "$(tail -n +2 <<< "$out" | tr -s ' ' | cut -d' ' -f1 | sort -u | tr '\n' ' ')" = ' app plot png user ' ]
expect 0 repoquery whoneeds __glibc -n one
out_has 'png     1.6      h_0    __glibc >=2.17'
expect 0 repoquery whoneeds __glibc=2.12 -n one
out_is "nothing in $at needs __glibc=2.12"
expect 0 repoquery whoneeds user -n one
out_is "nothing in $at needs user"
expect 0 repoquery tree pytest --invert -n one
out_is 'pytest 8 h_0
└─ app 2.0 h_0 (needs pytest >=7 for its extra test)
   └─ user 1 h_0 (needs app with its extra test)'
err_lacks 'note: -i'
expect 0 tree -i pytest -n one
err_has 'note: -i is --installed, which -n and -p imply; to show dependents: --invert'
expect 0 repoquery whoneeds --tree zlib -n one
out_is 'zlib 1.3 h_0
├─ app 2.0 h_0 (needs zlib)
│  └─ user 1 h_0 (needs app with its extra test)
└─ png 1.6 h_0 (needs zlib >=1.2,<2)
   └─ plot 3.1 py312_1 (needs png >=1)
      ├─ app 2.0 h_0 (needs plot) (*)
      └─ app 2.0 h_0 (needs plot for its extra test) (*)'
expect 0 repoquery whoneeds pytest -r -n one --json
json 'd["result"]["roots"] == [0] and [p["name"] for p in d["result"]["pkgs"]] == ["pytest", "app", "user"]'
json 'd["result"]["pkgs"][1]["needs"] == [{"spec": "pytest >=7", "extra": "test", "pkg": 0}]'
expect 1 repoquery whoneeds pytets -n one
err_has 'did you mean pytest?'
expect 2 repoquery depends png -n one -c ./there
err_has 'cannot be used with channel options'
expect 1 repoquery depends png -n nowhere

# What is installed is not always what is needed.
expect 0 create -q -n two plot
expect 0 install -q -n two "$CHANNEL/linux-64/python-3.9-h_0.tar.bz2"
expect 0 repoquery depends plot -n two
out_has 'python >=3.12,<3.13  python 3.9 h_0, which does not match'
expect 0 repoquery tree plot -n two
out_has '─ python 3.9 h_0 (python >=3.12,<3.13, which it does not match)'
expect 0 repoquery depends -r plot -n two
out_has 'python 3.9 h_0 does not match python >=3.12,<3.13, needed by plot 3.1 py312_1'
expect 0 repoquery depends plot -n two --json
json '[(n["met_by"], d["result"]["pkgs"][n["pkg"]]["name"]) for n in d["result"]["pkgs"][0]["dependencies"]] ==
    [("package", "png"), ("mismatch", "python")]'

# Names of its words and of what is installed.
expect 0 __complete -- gpkg repoquery ''
out_is 'depends
search
tree
whoneeds'
expect 0 __complete -- gpkg repoquery tree -n one pl
out_is plot

finish
