# gpkg build: what it says of recipes and tests that fail, as text and as the one JSON document.
. "$(dirname "$0")/lib.sh"

# recipe NAME LINES...: a recipe in r/NAME.
recipe() {
    local folder=r/$1
    mkdir -p "$folder"
    printf 'package: {name: %s, version: "1"}\n' "$1" > "$folder/recipe.yaml"
    shift
    printf '%s\n' "$@" >> "$folder/recipe.yaml"
}

recipe good 'build: {script: "echo x > $PREFIX/x"}' 'tests: [{script: [test -e $PREFIX/x]}]'
recipe user 'requirements: {host: [good]}' 'build: {script: "test -e $PREFIX/x"}'
expect 0 build r --output-dir all
out_is "$PWD/all: 2 packages built, 0 unchanged, 0 recipes failed"
expect 0 build r/good --output-dir all --json
json 'd["success"] and d["packages"][0]["unchanged"] and not d["failures"]'
json 'sorted(d) == ["channel", "failed_tests", "failures", "packages", "success"]'

recipe bad 'build: {script: [echo said, exit 3]}'
recipe wrong 'colour: red'
recipe untrue 'tests: [{script: [echo first, "false"]}, {script: [exit 4]}]'
recipe lonely 'requirements: {run: [nowhere]}' 'tests: [{script: ["true"]}]'
expect 1 build r --output-dir all --json --rebuild
json 'not d["success"] and d["channel"] == work + "/here/all" and d["failed_tests"] == 3'
json '[p["package"].split("-")[0] for p in d["packages"]] == ["good", "lonely", "untrue", "user"]'
json '[f["recipe"].split("/")[-2] for f in d["failures"][:2]] == ["bad", "wrong"]'
json '"the build script ended with 3" in d["failures"][0]["error"]'
json '"unknown key" in d["failures"][1]["error"]'
json '[f["package"].split("-")[0] for f in d["failures"][2:]] == ["lonely", "untrue", "untrue"]'
json '"nowhere" in d["failures"][2]["error"]'
json '"a test of it failed with 1" in d["failures"][3]["error"]'
json '"a test of it failed with 4" in d["failures"][4]["error"]'
json '"first" in d["failures"][3]["error"] and "first" not in d["failures"][4]["error"]'
err_is ''

expect 1 build r --output-dir all --rebuild
out_is "$PWD/all: 4 packages built, 0 unchanged, 2 recipes failed"
for text in 'the build script ended with 3' "unknown key 'colour'" nowhere \
    'error: untrue-1-hb0f4dca_0: a test of it failed with 1:' 'a test of it failed with 4'; do
    err_has "$text"
done

# What failed its tests is not in the channel, and fails again.
check [ ! -e all/linux-64/untrue-1-hb0f4dca_0.conda ]
check [ -e all.work/failed/linux-64/untrue-1-hb0f4dca_0.conda ]
expect 1 build r/untrue --output-dir all
err_has "it is not in the channel but in $PWD/all.work/failed/linux-64/untrue-1-hb0f4dca_0.conda"
expect 1 search -c ./all --override-channels untrue
# Built without tests it is published; asked with tests again, it is tested.
expect 0 build r/untrue --output-dir all --no-test
expect 0 search -c ./all --override-channels untrue
expect 1 build r/untrue --output-dir all
expect 0 build r/good --output-dir all
out_is "$PWD/all: 0 packages built, 1 unchanged, 0 recipes failed"

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
expect 2 build r/many --render --variant flavour
err_has 'is no KEY=VALUE'
expect 0 build r/many --output-dir all
out_is "$PWD/all: 2 packages built, 0 unchanged, 0 recipes failed"
expect 0 search -c ./all --override-channels many --json
json 'sorted(p["depends"] for p in d["many"]) == [["good"], ["user"]]'
printf 'flavour: [a, b]\nother: [c]\nzip_keys: [[flavour, other]]\n' > r/many/variants.yaml
expect 1 build r/many --render
err_has 'the variant keys flavour and other go together (zip_keys), and have 2 and 1 values'

# What would be built, and why: only what really changes.
recipe base 'build: {script: "echo 1 > $PREFIX/base"}'
recipe top 'requirements: {host: [base]}' 'build: {script: "cat $PREFIX/base > $PREFIX/top"}'
mkdir plan && mv r/base r/top plan
expect 0 build plan --output-dir planned --plan
out_is "base-1-hb0f4dca_0: it is new
top-1-hb0f4dca_0: it needs base-1-hb0f4dca_0, which is built anew
2 to build, 0 unchanged"
check [ ! -e planned/linux-64 ]
expect 0 build plan --output-dir planned
expect 0 build plan --output-dir planned --plan
out_is '0 to build, 2 unchanged'
echo '# a comment changes nothing' >> plan/base/recipe.yaml
expect 0 build plan --output-dir planned
out_is "$PWD/planned: 0 packages built, 2 unchanged, 0 recipes failed"
sed -i 's/echo 1/echo 2/' plan/base/recipe.yaml
expect 0 build plan --output-dir planned --plan --json
json '[p["reason"] for p in d["plan"]] == ["changed: the recipe", "it needs base-1-hb0f4dca_0, which is built anew"]'
expect 0 build plan/base --output-dir planned
expect 0 build plan --output-dir planned --plan
out_has 'top-1-hb0f4dca_0: other packages to build with: linux-64/base-1-hb0f4dca_0 changed'

# Scripts have no network and see of the machine only what is declared, where bubblewrap can be had.
echo secret > outside
recipe nosy
printf 'test ! -e %s/outside\n[ "$(grep -c : /proc/net/dev)" = 1 ]\necho kept > "$PREFIX/x"\n' "$PWD" > r/nosy/build.sh
if bwrap --unshare-net --ro-bind / / true 2>/dev/null; then
    expect 0 build r/nosy --output-dir kept --sandbox required
    expect 1 build r/nosy --output-dir open --sandbox off
    err_has 'the build script ended with'
else
    echo 'skipped: bubblewrap does not work here'
    expect 0 build r/good --output-dir kept
    err_has 'build scripts are kept neither from the network'
fi
expect 2 build r/good --sandbox maybe
expect 2 build r/good --source-mirror https://example.org/
err_has 'is no URL=URL'

# Built twice, in two places.
recipe steady 'build: {script: ["echo $PREFIX > $PREFIX/x", "umask 077; mkdir $PREFIX/d; echo 1 > $PREFIX/d/y"]}'
recipe unsteady 'build: {script: ["mkdir $PREFIX/d; date +%s%N > $PREFIX/d/time; echo 1 > $PREFIX/z"]}'
expect 0 build r/steady --output-dir twice --verify
out_has 'built twice, every package came out the same'
expect 1 build r/unsteady --output-dir twice --verify
err_has 'unsteady-1-hb0f4dca_0: built twice from the same, it is not the same: d/time: differs at byte'
expect 1 build r/unsteady --output-dir twice --verify --json
json 'd["failures"][0]["difference"].startswith("d/time: differs")'

# Variants for hardware: what they say reaches the index, and each machine gets its own build.
recipe gpu 'build: {script: "echo $accel $cuda_arch_list > $PREFIX/for", variant: {use_keys: [accel, cuda_version, cuda_arch_list, psabi]}}'
printf '%s\n' 'accel: [cpu, cpu, cuda, cuda]' 'psabi: [x86_64_v1, x86_64_v4, x86_64_v1, x86_64_v1]' \
    'cuda_version: [None, None, "11.8", "12.9"]' 'cuda_arch_list: [None, None, 7.0;8.0, 8.0;9.0+PTX]' \
    'zip_keys: [[accel, cuda_version, cuda_arch_list, psabi]]' > r/gpu/variants.yaml
expect 0 build r/gpu --output-dir gpus
out_is "$PWD/gpus: 4 packages built, 0 unchanged, 0 recipes failed"
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

# Nothing could be done at all: conda's shape of an error.
expect 1 build nothing --json
json 'd["success"] is False and d["exception_name"] == "PackagesNotFoundError"'
json 'd["message"] == work + "/here/nothing: no such recipe or folder"'
expect 1 build r/bad --output-dir one --json
json 'len(d["failures"]) == 1 and d["packages"] == []'

finish
