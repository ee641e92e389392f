# gpkg env list, create, remove
. "$(dirname "$0")/lib.sh"

package app 1 0
package python 3 0
package pip 24 0 python
package other 1 0

expect 0 env list
expect 0 env list --json
json 'd["envs"] == []'

cat > environment.yml <<'END'
name: one
dependencies:
  - app
variables:
  GREETING: hello
END
expect 0 env create --yes
check [ -f "$GPKG_ROOT_PREFIX/envs/one/conda-meta/app-1-0.json" ]
expect 0 run -n one sh -c 'echo $GREETING'
out_is hello

# Never over what is there.
expect 1 env create --yes
err_has 'exists already' 'to make it match the file: gpkg sync -n one -f environment.yml'
# Names of the command line win.
expect 0 env create --yes -n two -f environment.yml
expect 0 env create --yes -p ./three --file environment.yml --json
json 'd["success"] and [r["name"] for r in d["actions"]["LINK"]] == ["app"]'
printf 'name: base\ndependencies: [app]\n' > base.yml
expect 1 env create --yes -f base.yml
err_has "base.yml:1:7: 'base' is the name of the root prefix"
expect 0 env create --yes -n four -f base.yml
expect 0 env create --dry-run -n five -f environment.yml --json
json 'd["dry_run"] is True'
check [ ! -e "$GPKG_ROOT_PREFIX/envs/five" ]

expect 0 env list --json
json 'd["envs"] == [work + "/here/three"] + [work + "/root/envs/" + n for n in ("four", "one", "two")]'
json 'd["envs_details"][work + "/root/envs/one"]["name"] == "one"'
json 'd["envs_details"][work + "/here/three"]["name"] == ""'
CONDA_PREFIX=$GPKG_ROOT_PREFIX/envs/two expect 0 env list
out_has "# Name     Path" "two     *  $GPKG_ROOT_PREFIX/envs/two"
out_has "one        $GPKG_ROOT_PREFIX/envs/one"

expect 0 env list --size
check grep -qE "^one +[0-9.]+ [kM]?B +$GPKG_ROOT_PREFIX/envs/one$" <<< "$out"
out_has ' in packages; files that environments share are counted once'
expect 0 env list --size --json
json 'all(e["size"] >= 0 for e in d["envs_details"].values())'
json '0 <= d["size"] <= sum(e["size"] for e in d["envs_details"].values())'

# Mistakes in the file are told with their place.
printf 'dependencies:\n  - app >=1<2\n' > wrong.yml
expect 1 env create --yes -n six -f wrong.yml
err_has 'wrong.yml:2:5: app >=1<2: '
printf 'dependencies:\n  - npm: [x]\n' > wrong.yml
expect 1 env create --yes -n six -f wrong.yml --json
json '"wrong.yml:2:5: unknown installer" in d["message"]'
expect 1 env create --yes -n six -f nowhere.yml
err_has 'nowhere.yml'
printf 'dependencies:\n  - pip: [x]\nextra: 1\n' > odd.yml
expect 0 env create --yes -n six -f odd.yml --dry-run --json
json '[r["name"] for r in d["actions"]["LINK"]] == ["python", "pip"]'
err_has "odd.yml:3:1: unknown key 'extra' ignored"
printf 'dependencies: [app]\naccelerater: none\n' > odd.yml
expect 1 env create -n odd -f odd.yml
err_has "odd.yml:2:1: unknown key 'accelerater'" 'did you mean '"'"'accelerator'"'"'?'
# What a lock is made from may be called like one. Two bounds stay one spec.
printf 'dependencies: ["app=1,>=1.0"]\n' > conda-lock-dev.yml
expect 0 env create -n dev -f conda-lock-dev.yml -y
expect 0 env export -n dev --from-history
out_has '- app 1.*,>=1.0'
echo '{broken' > "$(place dev)/conda-meta/state"
expect 1 env config vars list -n dev
err_has "it contains the variables of the environment: correct it, or delete it and set them again: rm"
expect 0 env remove -n dev --yes
expect 1 rollback -n dev
err_has 'hint: it was removed on ' 'and cannot be restored; to create it again: gpkg env create -n dev -f conda-lock-dev.yml -y'
# Elsewhere the command has the folder of its files.
mkdir -p elsewhere
here=$(pwd -P)
cd elsewhere || exit
expect 1 list -n dev
err_has "hint: it was removed; to create it again: cd $here && gpkg env create -n dev -f conda-lock-dev.yml -y"
cd "$here" || exit
expect 2 env
expect 2 env create --yes -n seven app other unknown-flag --frob

expect 0 env remove -n two --yes
check [ ! -e "$GPKG_ROOT_PREFIX/envs/two" ]
expect 0 env remove -p ./three --yes --json
json 'd["success"] is True'
check [ ! -e three ]
expect 1 env remove -n twoo --yes
err_has 'no environment at'
expect 2 env remove --yes
err_has 'no environment is active'
expect 0 env list --json
json 'd["envs"] == [work + "/root/envs/four", work + "/root/envs/one"]'

# Variables that activation or shells keep themselves are refused before anything is done, as by env config vars.
for name in PATH CONDA_PREFIX CONDA_SHLVL PWD UID; do
    printf 'dependencies: []\nvariables:\n  %s: x\n' $name > refused.yml
    expect 2 env create -y -n refused -f refused.yml
    err_has "$name: "
done
absent refused

# As Windows PowerShell writes files.
package wide 1.0 0
printf 'dependencies:\n  - wide  # [linux]\n  - nowhere  # [win]\n' | iconv -t UTF-16LE | sed '1s/^/\xff\xfe/' > wide.yml
expect 0 env create -y -n wide -f wide.yml
check [ -e "$GPKG_ROOT_PREFIX/envs/wide/conda-meta/wide-1.0-0.json" ]
printf '# all\nwide=1.0\n' | iconv -t UTF-16 > wide.txt
expect 0 create -y -n wide2 -f wide.txt
# What selects nothing, and what is left of nothing, is told.
printf 'dependencies:\n  - wide  # see below [win]\n' > behind.yml
expect 0 env create -n x -f behind.yml --dry-run
err_has 'behind.yml:2: [win]: ignored selector'
printf 'dependencies:  # [win]\n  - wide\n' > gone.yml
expect 1 env create -n x -f gone.yml --dry-run
err_has "no 'dependencies' for linux-64"
printf 'dependencies: [./wide-1.0-0.conda]\n' > file.yml
expect 1 env create -n x -f file.yml --dry-run
err_has './wide-1.0-0.conda: a package file is not allowed in an environment.yml' 'to install it: gpkg install -n NAME ./wide-1.0-0.conda'
printf 'a: &a {X: y}\nvariables: {<<: *a}\ndependencies: [wide]\n' > merge.yml
expect 1 env create -n x -f merge.yml --dry-run
err_has "merging maps with '<<' is not supported"

finish
