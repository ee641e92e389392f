# gpkg build: what it says of recipes and tests that fail, as text and as the one JSON document.
. "$(dirname "$0")/lib.sh"


recipe good 'build: {script: "echo x > $PREFIX/x"}' 'tests: [{script: [test -e $PREFIX/x]}]'
recipe user 'requirements: {host: [good]}' 'build: {script: "test -e $PREFIX/x && touch $PREFIX/y"}'
expect 0 build r --output-dir all
out_is "built all/linux-64/good-1-hb0f4dca_0.conda (tests passed)
built all/linux-64/user-1-hb0f4dca_0.conda (no tests)
2 packages built, 0 unchanged, 0 failed (channel $PWD/all)"
expect 0 build r/good --output-dir all --json
json 'd["success"] and d["packages"][0]["unchanged"] and not d["failures"]'
json 'sorted(d) == ["channel", "failed_tests", "failures", "packages", "skipped", "success"]'

recipe bad 'build: {script: [echo said, exit 3]}'
recipe wrong 'colour: red'
recipe untrue 'tests: [{script: [echo first, "false"]}, {script: [exit 4]}]'
recipe lonely 'requirements: {run: [nowhere]}' 'tests: [{script: ["true"]}]'
expect 1 build r --output-dir all --json --rebuild
json 'not d["success"] and d["channel"] == work + "/here/all" and d["failed_tests"] == 2'
json '[p["package"].split("-")[0] for p in d["packages"]] == ["good", "user"]'
json '[f["recipe"].split("/")[-2] for f in d["failures"][:3]] == ["bad", "lonely", "wrong"]'
json '"the build script failed with exit status 3" in d["failures"][0]["error"]'
json '"unknown key" in d["failures"][2]["error"]'
json '[f["package"].split("-")[0] for f in d["failures"][3:]] == ["untrue", "untrue"]'
json '"nowhere" in d["failures"][1]["error"]'
json '": test 1 failed with exit status 1: false\nfirst" in d["failures"][3]["error"]'
json '": test 2 failed with exit status 4: exit 4\nlog of the tests: " in d["failures"][4]["error"]'
json '"first" in d["failures"][3]["error"] and "first" not in d["failures"][4]["error"]'
err_is 'warning: replaces the published good-1-hb0f4dca_0 with other contents; raise build.number
warning: replaces the published user-1-hb0f4dca_0 with other contents; raise build.number'

expect 1 build r --output-dir all --rebuild
out_ends "2 packages built, 0 unchanged, 4 failed (channel $PWD/all)"
for text in 'the build script failed with exit status 3' "unknown key 'colour'" nowhere \
    'error: untrue-1-hb0f4dca_0: test 1 failed with exit status 1: false' 'test 2 failed with exit status 4: exit 4'; do
    err_has "$text"
done

# What failed its tests is not in the channel, and fails again.
check [ ! -e all/linux-64/untrue-1-hb0f4dca_0.conda ]
check [ -e all.work/failed/linux-64/untrue-1-hb0f4dca_0.conda ]
expect 1 build r/untrue --output-dir all
err_has "the package was not published; it is in $PWD/all.work/failed/linux-64/untrue-1-hb0f4dca_0.conda"
expect 1 search -c ./all --override-channels untrue
# Built without tests it is published; asked with tests again, it is tested.
expect 0 build r/untrue --output-dir all --no-test
out_has 'built all/linux-64/untrue-1-hb0f4dca_0.conda (tests skipped)'
expect 0 search -c ./all --override-channels untrue
expect 1 build r/untrue --output-dir all
err_has "the package was published earlier and stays in the channel: $PWD/all/linux-64/untrue-1-hb0f4dca_0.conda"
expect 0 search -c ./all --override-channels untrue
expect 0 build r/good --output-dir all
out_is "0 packages built, 1 unchanged, 0 failed (channel $PWD/all)"

# A package for each variant that a recipe depends on, from files beside it and the command line.
recipe many 'build: {script: "echo $flavour ${{ PREFIX }} > $PREFIX/flavour"}' \
    'requirements: {run: ["${{ flavour }}"]}' 'tests: [{package_contents: {files: [flavour]}}]'
printf 'flavour: [good, user]\nunused: [1, 2]\n' > r/many/variants.yaml
expect 0 build r/many --render --json
json '[o["variant"]["flavour"] for o in d["outputs"]] == ["good", "user"]'
expect 0 build r/many --render --variant flavour=good
out_has '    flavour: good'
out_lacks user
printf 'flavour:\n- good  # [win]\n- lonely  # [linux]\n' > conda_build_config.yaml
expect 0 build r/many --render -m conda_build_config.yaml --json
json '[o["variant"]["flavour"] for o in d["outputs"]] == ["lonely"]'
printf 'accel: [cpu]\ncolour: [red]\nflavour: [good]\n' > extra.yaml
expect 0 build r/many --render -m extra.yaml
err_has 'warning: extra.yaml: no recipe uses accel or colour in these variants'
expect 0 build r/many --render --variant flavuor=good
err_has 'warning: --variant flavuor=good: no recipe uses flavuor in these variants; did you mean flavour?'
expect 2 build r/many --render --variant flavour
err_has 'expected KEY=VALUE'
expect 0 build r/many --output-dir all
out_ends "2 packages built, 0 unchanged, 0 failed (channel $PWD/all)"
expect 0 search -c ./all --override-channels many --json
json 'sorted(p["depends"] for p in d["many"]) == [["good"], ["user"]]'
printf 'flavour: [a, b]\nother: [c]\nzip_keys: [[flavour, other]]\n' > r/many/variants.yaml
expect 1 build r/many --render
err_has 'the variant keys flavour and other are zipped (zip_keys) but have 2 and 1 values'

# What would be built, and why: only what really changes.
recipe base 'build: {script: "echo 1 > $PREFIX/base"}'
recipe top 'requirements: {host: [base]}' 'build: {script: "cat $PREFIX/base > $PREFIX/top"}'
mkdir plan && mv r/base r/top plan
expect 0 build plan --output-dir planned --plan
out_is "base-1-hb0f4dca_0: new
top-1-hb0f4dca_0: needs base-1-hb0f4dca_0, which is rebuilt
2 to build, 0 unchanged"
check [ ! -e planned/linux-64 ]
expect 0 build plan --output-dir planned
expect 0 build plan --output-dir planned --plan
out_is '0 to build, 2 unchanged'
echo '# a comment changes nothing' >> plan/base/recipe.yaml
expect 0 build plan --output-dir planned
out_is "0 packages built, 2 unchanged, 0 failed (channel $PWD/planned)"
sed -i 's/echo 1/echo 2/' plan/base/recipe.yaml
expect 0 build plan --output-dir planned --plan --json
json '[p["reason"] for p in d["plan"]] == ["changed: the recipe", "needs base-1-hb0f4dca_0, which is rebuilt"]'
expect 0 build plan/base --output-dir planned
expect 0 build plan --output-dir planned --plan
out_has 'top-1-hb0f4dca_0: different build environment: linux-64/base-1-hb0f4dca_0 changed'

# Scripts have no network and see of the machine only what is declared, where bubblewrap can be had.
echo secret > outside
recipe nosy
printf 'test ! -e %s/outside\n[ "$(grep -c : /proc/net/dev)" = 1 ]\necho kept > "$PREFIX/x"\n' "$PWD" > r/nosy/build.sh
if bwrap --unshare-net --ro-bind / / true 2>/dev/null; then
    expect 0 build r/nosy --output-dir kept --sandbox required
    expect 1 build r/nosy --output-dir open --sandbox off
    err_has 'the build script failed with'
else
    echo 'skipped: bubblewrap does not work here'
    expect 0 build r/good --output-dir kept
    err_has 'building without a sandbox'
fi
expect 2 build r/good --sandbox maybe
expect 2 build r/good --source-mirror https://example.org/
err_has 'expected FROM=TO, both URLs'

# A failure says what to correct: a typo, the line of a test, a file that the sandbox may hide.
recipe prog 'build: {script: "echo 1 > $PREFIX/prog"}'
expect 0 build r/prog --output-dir hints
recipe typo 'requirements: {run: [progg]}' 'tests: [{script: ["true"]}]'
expect 1 build r/typo --output-dir hints --override-channels
err_has "requirements.run: package 'progg' not found" 'hint: did you mean prog?'
err_lacks 'no-test'
recipe typo 'requirements: {host: [progg]}'
expect 1 build r/typo --output-dir hints --override-channels
err_has 'hint: did you mean prog?'
recipe says 'tests: [{script: ["true", "echo 1.0 | grep -q 2.0"]}]'
expect 1 build r/says --output-dir hints
err_has 'test 1 failed with exit status 1: echo 1.0 | grep -q 2.0' \
    'hint: correct the test or the program; --no-test publishes the package untested'
recipe header 'build: {script: "echo \"x.c: nothing.h: No such file or directory\"; exit 1"}'
expect 1 build r/header --output-dir hints
err_lacks 'the sandbox blocks'
recipe hidden 'build: {script: "cat /nowhere/at/all"}'
expect 1 build r/hidden --output-dir hints
[[ $err == *'without a sandbox'* ]] || err_has 'the sandbox blocks the network and undeclared files'

# The prefix in the output of a script, which is a long path, is shown as its variable.
recipe lost 'build: {script: "cat $PREFIX/nowhere"}'
expect 1 build r/lost --output-dir hints
err_has 'cat $PREFIX/nowhere'
err_lacks gpkg_placehold_placehold
# The section of the recipe that asks for a package which no channel has.
recipe asks 'requirements: {host: [zlibb]}'
expect 1 build r/asks --output-dir hints --override-channels
err_has "r/asks/recipe.yaml:2:23: requirements.host: package 'zlibb' not found"
recipe compiled 'requirements: {build: ["${{ compiler(\"c\") }}"]}'
expect 1 build r/compiled --output-dir hints --override-channels
err_has "requirements.build: package 'gcc_linux-64' not found" \
    'hint: gcc_linux-64 comes from ${{ compiler("c") }}; add a channel with compilers (-c conda-forge)'
# A plan leaves no folder behind.
expect 0 build r/hidden --output-dir never --plan
check [ ! -e never ]

# Built twice, in two places.
recipe steady 'build: {script: ["echo $PREFIX > $PREFIX/x", "umask 077; mkdir $PREFIX/d; echo 1 > $PREFIX/d/y"]}'
recipe unsteady 'build: {script: ["mkdir $PREFIX/d; date +%s%N > $PREFIX/d/time; echo 1 > $PREFIX/z"]}'
expect 0 build r/steady --output-dir twice --verify
out_has 'verified: 1 package identical in two builds'
err_lacks 'published'
sum=$(sha256sum twice/*/steady-1-*.conda)
expect 0 build r/steady --output-dir twice
out_has '1 unchanged'
expect 0 build r/steady --output-dir twice --verify
out_has 'verified: 1 package identical; channel unchanged'
out_lacks ' built, '
err_has 'steady-1-hb0f4dca_0: identical to the published package'
err_lacks 'replaces the published'
check [ "$sum" = "$(sha256sum twice/*/steady-1-*.conda)" ]
expect 1 build r/unsteady --output-dir twice --verify
err_has 'unsteady-1-hb0f4dca_0: the second build differs: d/time: differs at byte'
expect 1 build r/unsteady --output-dir twice --verify --json
json 'd["failures"][0]["difference"].startswith("d/time: differs")'

# What is published weighs no more than asked for, with all that it brings.
recipe weight 'build: {script: "head -c 300000 /dev/urandom > $PREFIX/weight"}'
recipe middle 'requirements: {run: [weight]}' 'build: {script: "echo 1 > $PREFIX/middle"}'
recipe feather 'build: {script: "echo 1 > $PREFIX/feather"}'
recipe loose 'requirements: {run: [nowhere]}' 'build: {script: "echo 1 > $PREFIX/loose"}'
expect 0 build r/weight --output-dir gate --max-closure 1MB
expect 1 build r/middle r/feather --output-dir gate --max-closure 200kB
err_has 'middle-1-hb0f4dca_0: the total size is 30'
err_has 'over --max-closure 200 kB; the largest are weight (30'
err_has 'without the dependency of middle on weight, it would be'
err_has "gpkg closure why weight --spec 'middle==1=hb0f4dca_0' shows what brings it in"
err_lacks feather
check [ ! -e gate/linux-64/middle-1-hb0f4dca_0.conda ]
check [ -e gate.work/failed/linux-64/middle-1-hb0f4dca_0.conda ]
expect 0 search -c ./gate --override-channels feather
expect 1 search -c ./gate --override-channels middle
# What is published stays, also where it is too much now.
expect 0 build r/middle --output-dir gate --max-closure 1MB
expect 1 build r/middle --output-dir gate --max-closure 200kB
err_has "the package was published earlier and stays in the channel: $PWD/gate/linux-64/middle-1-hb0f4dca_0.conda"
expect 0 search -c ./gate --override-channels middle
expect 1 build r/loose --output-dir gate --max-closure 1MB --json
json 'not d["success"] and [f["package"] for f in d["failures"]] == ["loose-1-hb0f4dca_0"]'
json '"nowhere" in d["failures"][0]["error"]'
expect 2 build r/feather --output-dir gate --max-closure heavy
err_has '--max-closure'

# Variants for hardware: what they say reaches the index, and each machine gets its own build.
recipe gpu 'build: {script: "echo $accel $cuda_arch_list > $PREFIX/for", variant: {use_keys: [accel, cuda_version, cuda_arch_list, psabi]}}'
printf '%s\n' 'accel: [cpu, cpu, cuda, cuda]' 'psabi: [x86_64_v1, x86_64_v4, x86_64_v1, x86_64_v1]' \
    'cuda_version: [None, None, "11.8", "12.9"]' 'cuda_arch_list: [None, None, 7.0;8.0, 8.0;9.0+PTX]' \
    'zip_keys: [[accel, cuda_version, cuda_arch_list, psabi]]' > r/gpu/variants.yaml
expect 0 build r/gpu --output-dir gpus
out_ends "4 packages built, 0 unchanged, 0 failed (channel $PWD/gpus)"
expect 0 search -c ./gpus --override-channels gpu --json
check [ -e gpus/linux-64/repodata.json ]
# build_for MACHINE FLAGS: the build with these flags is the machine's.
build_for() {
    expect 0 solve gpu -c ./gpus --override-channels --for "$1" --json
    json '"+".join(json.load(open(work + "/here/gpus/linux-64/repodata.json"))["v3"]["conda"][d["packages"][0]["dist_name"]]["flags"])'" == \"$2\""
}
unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_ARCHSPEC
build_for cpu cpu+psabi:x86_64_v1
build_for v100 cuda+cuda:11_8+sm:70+sm:80+psabi:x86_64_v1
build_for h100 cuda+cuda:12_9+sm:80+sm:90+ptx:90+psabi:x86_64_v1
build_for x86_64_v4 cpu+psabi:x86_64_v4

# Without -c, what the output channel lacks comes from the configured channels.
package base-tool 1 0
recipe with-tool 'requirements: {host: [base-tool]}' 'build: {script: "touch $PREFIX/t"}'
expect 0 build r/with-tool --output-dir configured
expect 1 build r/with-tool --output-dir configured --rebuild --override-channels
err_has "package 'base-tool' not found in $PWD/configured (linux-64)" 'add one with -c CHANNEL'
# A run dependency that no channel has is found before the build, if there are tests to run.
recipe misspelt 'requirements: {run: [base-tool, base-tol]}' 'build: {script: "exit 3"}' \
    'tests: [{package_contents: {files: [t]}}]'
expect 1 build r/misspelt --output-dir configured
err_has 'r/misspelt/recipe.yaml:' "requirements.run: package 'base-tol' not found in"
err_lacks 'exit status 3'
expect 1 build r/misspelt --output-dir configured --no-test
err_has 'exit status 3'
expect 0 build r/good --output-dir named
expect 1 build r/with-tool --output-dir configured --rebuild -c ./named
err_has "package 'base-tool' not found"

# A package for a GPU is tested with an assumed one; its own spec, which no user wrote, is not to be changed.
recipe needs-gpu 'requirements: {run: [__cuda >=12]}' 'build: {script: "touch $PREFIX/x"}' \
    'tests: [{package_contents: {files: [x]}}]'
CONDA_OVERRIDE_CUDA= expect 1 build r/needs-gpu --output-dir gpu-tests
err_has 'CONDA_OVERRIDE_CUDA=12 gpkg build r/needs-gpu'
err_lacks '# first'
CONDA_OVERRIDE_CUDA=12 expect 0 build r/needs-gpu --output-dir gpu-tests
out_has '(tests passed)'

# What several outputs inherit fails once; those that follow are one line.
mkdir -p r/split
cat > r/split/recipe.yaml <<'END'
recipe: {name: split, version: "1"}
outputs:
  - staging: {name: common}
    build: {script: "exit 3"}
  - package: {name: split-a}
    inherit: common
  - package: {name: split-b}
    inherit: common
  - package: {name: split-c}
    inherit: common
  - package: {name: split-d}
    inherit: common
END
expect 1 build r/split --output-dir split -j 1
err_has 'the build script failed with exit status 3' 'error: 3 packages not built, because common failed: split-'
check [ "$(grep -c '^error:' <<< "$err")" = 2 ]

# Nothing could be done at all: conda's shape of an error.
expect 1 build nothing --json
json 'd["success"] is False and d["exception_name"] == "PackagesNotFoundError"'
json 'd["message"] == work + "/here/nothing: no such file or folder"'
mkdir -p old && echo 'package: {name: old}' > old/meta.yaml
expect 1 build old
err_has 'no recipe.yaml in this folder or below' "meta.yaml is conda-build's format; write a recipe.yaml"
expect 1 build r/bad --output-dir one --json
json 'len(d["failures"]) == 1 and d["packages"] == []'


# Secrets come from the environment of gpkg, and are in no log, error or package.
recipe secret 'build:' '  script:' '    secrets: [TOKEN, OTHER]' \
    '    content: ["echo key=$TOKEN", "test ${#TOKEN} = 6", "false"]'
TOKEN=sesame expect 1 build r/secret --output-dir secrets
err_has 'key=********'
err_lacks sesame
err_has 'the secret OTHER is not set'
check [ "$(grep -rl sesame secrets.work | wc -l)" = 0 ]

# Tests whose script is a map.
recipe told 'tests:' '  - script: {content: "test \"$WORD\" = \"two words\"", env: {WORD: two words}}' \
    '  - script: {file: check.py}' '    requirements: {run: [python]}' '  - script: {content: [test -e told], cwd: inner}' \
    '    files: {recipe: [inner/]}'
echo 'import sys; sys.exit(0 if "PREFIX" in __import__("os").environ else 3)' > r/told/check.py
mkdir -p r/told/inner && touch r/told/inner/told

# Each test has the environment that it asks for, and no other's.
recipe helper 'build: {script: "touch $PREFIX/helper"}'
recipe alone 'tests:' '  - script: [test -e $PREFIX/helper]' '    requirements: {run: [helper]}' \
    '  - script: ["test ! -e $PREFIX/helper"]'
expect 0 build r/helper r/alone --output-dir tests

# Modules of Perl.
recipe perl 'build:' '  script:' '    - mkdir -p $PREFIX/bin' \
    '    - printf "#!/bin/sh\nexec /usr/bin/perl \"\$@\"\n" > $PREFIX/bin/perl' '    - chmod +x $PREFIX/bin/perl'
recipe lists 'tests: [{perl: {uses: [List::Util, strict]}}]'
expect 0 build r/perl r/lists --output-dir tests
recipe lists 'tests: [{perl: {uses: [List::Util, No::Such]}}]'
expect 1 build r/lists --output-dir tests
err_has 'lists-1-' 'test 1 with perl failed with exit status 2: perl -e ' "Can't locate No/Such.pm"

# The tests of another package, with this one.
recipe up 'build: {script: "echo good > $PREFIX/up"}'
recipe down 'requirements: {run: [up]}' 'build: {script: "touch $PREFIX/down"}' 'tests:' \
    '  - script: [grep -q good $PREFIX/up, test -e $PREFIX/down, test -e named]' '    files: {recipe: [named]}'
touch r/down/named
expect 0 build r/up r/down --output-dir tests
recipe up 'build: {number: 1, script: "echo good > $PREFIX/up"}' 'tests: [{downstream: down}]'
expect 0 build r/up --output-dir tests
err_is ''
recipe up 'build: {number: 2, script: "echo bad > $PREFIX/up"}' 'tests: [{downstream: down}]'
expect 1 build r/up --output-dir tests
err_has 'up-1-' 'test 1 of down==1=' ' failed with exit status 1: grep -q good $PREFIX/up'
recipe up 'build: {number: 3, script: "echo bad > $PREFIX/up"}' 'tests: [{downstream: down >=2}]'
expect 0 build r/up --output-dir tests
err_has 'warning: up: the tests of down >=2 were skipped, no environment can hold both'
recipe up 'tests: [{downstream: [a, b]}]'
expect 1 build r/up --output-dir tests
err_has 'recipe.yaml:2:' 'a downstream test needs exactly one package'

# Byte code is made anew: by hash, with names that hold anywhere, and not of what is skipped.
recipe python 'build:' '  script:' '    - mkdir -p $PREFIX/bin' \
    '    - printf "#!/bin/sh\nexec /usr/bin/python3 \"\$@\"\n" > $PREFIX/bin/python' '    - chmod +x $PREFIX/bin/python'
sed -i 's/version: "1"/version: "3.11.2"/' r/python/recipe.yaml
recipe modules 'requirements: {host: [python]}' 'build:' \
    '  python: {skip_pyc_compilation: ["**/skipped.py"], preserve_egg_dir: true}' \
    '  script:' '    - d=$PREFIX/lib/python3.11/site-packages/m' '    - mkdir -p $d' \
    '    - echo "print(1)" > $d/__init__.py' '    - echo "print(2)" > $d/skipped.py' \
    '    - echo "{{ no }} python" > $d/template.py' '    - /usr/bin/python3 -m compileall -q $d || true'
expect 0 build r/python r/modules r/told --output-dir modules
expect 0 create -q -y -c ./modules --override-channels -p ./compiled modules
check [ "$(cd compiled && find lib -name '*.pyc' | wc -l)" = 1 ]
cat > code.py <<'END'
import marshal, sys
data = open(sys.argv[1], "rb").read()
assert data[4] == 3, "not by hash, checked"
print(marshal.loads(data[16:]).co_filename)
END
check [ "$(/usr/bin/python3 code.py compiled/lib/python3.11/site-packages/m/__pycache__/*.pyc)" = \
    lib/python3.11/site-packages/m/__init__.py ]

# What fails its tests, or brings too much, takes nothing away that was published before.
recipe kept 'build: {script: "touch $PREFIX/first"}' 'tests: [{script: ["true"]}]'
expect 0 build r/kept --output-dir kept
first=$(sha256sum < kept/linux-64/kept-1-hb0f4dca_0.conda)
recipe kept 'build: {script: "touch $PREFIX/second"}' 'tests: [{script: ["false"]}]'
recipe heir 'requirements: {host: [kept]}' 'build: {script: "cp $PREFIX/second $PREFIX/third"}'
expect 1 build r/kept r/heir --output-dir kept
out_is "0 packages built, 0 unchanged, 2 failed (channel $PWD/kept)"
err_has 'the channel keeps the earlier one'
err_has 'heir-1-hb0f4dca_0: built with kept-1-hb0f4dca_0, which was not published'
check [ "$(sha256sum < kept/linux-64/kept-1-hb0f4dca_0.conda)" = "$first" ]
check [ ! -e kept/linux-64/heir-1-hb0f4dca_0.conda ]
expect 0 search -c ./kept --override-channels kept
recipe kept 'build: {script: "touch $PREFIX/second"}' 'tests: [{script: ["true"]}]'
expect 1 build r/kept --output-dir kept --max-closure 1kB
check [ "$(sha256sum < kept/linux-64/kept-1-hb0f4dca_0.conda)" = "$first" ]
expect 2 build r/kept --output-dir kept --max-closure ''
expect 0 build r/kept r/heir --output-dir kept
check [ "$(sha256sum < kept/linux-64/kept-1-hb0f4dca_0.conda)" != "$first" ]
check [ -z "$(find kept.work/unpublished -type f)" ]

# Nobody is offered a package before it has passed its tests.
recipe base 'build: {script: "touch $PREFIX/base"}'
expect 0 build r/base --output-dir late
recipe late 'build: {script: "touch $PREFIX/late"}' \
    "tests: [{script: ['grep -q base-1 $PWD/late/linux-64/repodata.json', '! grep -q late-1 $PWD/late/linux-64/repodata.json']}]"
expect 0 build r/late --output-dir late
expect 0 search -c ./late --override-channels late

# Names that no list of files can say; licences that lead out of the sources.
recipe named 'build: {script: "touch $PREFIX/$(printf \"l\\351\")"}'
expect 1 build r/named --output-dir named
err_has 'invalid file name (not UTF-8, or with a backslash)'
recipe licensed 'source: {path: src}' 'about: {license_file: LICENSE}'
mkdir -p r/licensed/src && ln -s /etc/hostname r/licensed/src/LICENSE
expect 1 build r/licensed --output-dir named
err_has 'it cannot be packaged'

# A recipe that is skipped is counted. Selectors of conda-build are named: they are only comments.
recipe elsewhere 'build: {skip: linux, script: "touch $PREFIX/elsewhere"}'
expect 0 build r/elsewhere --output-dir skipped
out_is "0 packages built, 0 unchanged, 0 failed, 1 recipe skipped (channel $PWD/skipped)"
err_is "$PWD/r/elsewhere/recipe.yaml: skipped in every variant (build.skip)"
expect 0 build r/elsewhere --output-dir skipped --plan
out_is '0 to build, 0 unchanged, 1 recipe skipped'
expect 0 build r/elsewhere --output-dir skipped --json
json 'd["skipped"] == [work + "/here/r/elsewhere/recipe.yaml"]'
recipe selected 'build:' '  skip: true  # [win]'
expect 0 build r/selected --output-dir skipped
err_has "warning: $PWD/r/selected/recipe.yaml:3: '# [win]' is a comment and selects nothing; write skip: win"

# A command that is missing: which requirement lacks it.
recipe untooled 'build: {script: [nosuchtool]}'
expect 1 build r/untooled --output-dir lacking
err_has 'hint: add the package that has the command to requirements.build'
recipe untried 'build: {script: "touch $PREFIX/untried"}' 'tests: [{script: [nosuchtool]}]'
expect 1 build r/untried --output-dir lacking
err_has 'hint: a command is not in the test environment: add its package to requirements.run'

# Without an argument: the recipe in this folder.
recipe near 'build: {script: "touch $PREFIX/near"}'
cd r/near || exit 1
expect 0 build
out_has 'built output/linux-64/near-1-hb0f4dca_0.conda'
cd ../..
expect 2 build
err_has 'gpkg build: missing argument: RECIPE' 'this folder has no recipe.yaml'

# A log of any size and content is told in a few clean lines.
recipe loud 'build: {script: ["head -c 3000000 /dev/zero | tr \"\\0\" x; printf \"\\n\\033[2Jlast\\n\"; exit 1"]}'
expect 1 build r/loud --output-dir loud
err_has '?[2Jlast'
check [ "${#err}" -lt 5000 ]
recipe hollow 'build: {script: "true"}'
expect 0 build r/hollow --output-dir loud
err_has 'the package contains no files'

# conda and micromamba cannot install a package that lists a folder.
recipe spool 'build: {script: "mkdir -p $PREFIX/share/spool/{queue,log} && touch $PREFIX/share/spool/file"}'
expect 0 build r/spool --output-dir spool
err_has '2 empty folders are not packaged: share/spool/log, share/spool/queue'
expect 0 create -p "$PWD/spooling" --override-channels -c "file://$PWD/spool" spool
check [ -f spooling/share/spool/file ]
check [ ! -e spooling/share/spool/queue ]
check grep -q '"_path": "share/spool/file"' spooling/conda-meta/spool-*.json
grep -q directory spooling/conda-meta/spool-*.json && fail "the record lists a folder"

finish
