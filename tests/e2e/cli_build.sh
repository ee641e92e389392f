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

# Nothing could be done at all: conda's shape of an error.
expect 1 build nothing --json
json 'd["success"] is False and d["exception_name"] == "PackagesNotFoundError"'
json 'd["message"] == work + "/here/nothing: no such recipe or folder"'
expect 1 build r/bad --output-dir one --json
json 'len(d["failures"]) == 1 and d["packages"] == []'

finish
