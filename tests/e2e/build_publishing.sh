# gpkg build: what readers of the channel see while packages are built, tested and published.
. "$(dirname "$0")/lib.sh"

sum() { sha256sum < "$1" | cut -c1-64; }
# agrees CHANNEL: every package of the channel is as its index says, and the other way round.
agrees() {
    python3 - "$1" << 'END'
import hashlib, json, pathlib, sys
for subdir in pathlib.Path(sys.argv[1]).iterdir():
    if not (subdir / "repodata.json").exists():
        assert not list(subdir.glob("*.conda")), f"{subdir} has packages and no index"
        continue
    d = json.load(open(subdir / "repodata.json"))
    said = {fn: r["sha256"] for m in ("packages", "packages.conda") for fn, r in d[m].items()}
    there = {p.name: hashlib.sha256(p.read_bytes()).hexdigest()
             for p in subdir.iterdir() if p.name.endswith((".conda", ".tar.bz2"))}
    assert said == there, (said, there)
END
}
export -f agrees

# A package's own tests look at the channel that it is for: all that time it is as it was.
name=kept-1-hb0f4dca_0
cat > look.sh << END
. /dev/stdin <<< "\$(cat $PWD/agrees.sh)"
agrees $PWD/channel && sha256sum < $PWD/channel/linux-64/$name.conda | cut -c1-64 >> $PWD/seen
END
declare -f agrees > agrees.sh
# kept SCRIPT STATUS: a package whose test looks, and ends with the status.
kept() {
    recipe kept "build: {script: '$1'}" "tests: [{script: ['PATH=$PATH', 'bash -e $PWD/look.sh', 'test -e \$PREFIX/$1', 'exit $2']}]"
    sed -i "s/script: '$1'/script: 'touch \$PREFIX\/$1'/" r/kept/recipe.yaml
}
kept first 0
expect 0 build r/kept --output-dir channel --no-test
first=$(sum channel/linux-64/$name.conda)
recipe heir 'requirements: {host: [kept]}' 'build: {script: "cp $PREFIX/second $PREFIX/third"}'
: > seen
kept second 1
expect 1 build r/kept r/heir --output-dir channel
out_is "0 packages built, 0 unchanged, 2 failed (channel $PWD/channel)"
err_has 'test 1 failed with exit status 1: '
check [ "$(cat seen)" = "$first" ]
check agrees channel
check [ "$(sum channel/linux-64/$name.conda)" = "$first" ]
check [ -e channel.work/failed/linux-64/$name.conda ]
check [ -z "$(find channel.work/unpublished -type f)" ]

: > seen
kept second 0
expect 0 build r/kept r/heir --output-dir channel
out_ends "2 packages built, 0 unchanged, 0 failed (channel $PWD/channel)"
check [ "$(cat seen)" = "$first" ]
check agrees channel
check [ "$(sum channel/linux-64/$name.conda)" != "$first" ]
check [ -z "$(find channel.work/unpublished channel -name '*.tmp-*' -o -path '*unpublished*' -type f)" ]
expect 0 create -q -y -c ./channel --override-channels -p ./prefix heir
check [ -e prefix/third ]
expect 0 build r/kept r/heir --output-dir channel
out_is "0 packages built, 2 unchanged, 0 failed (channel $PWD/channel)"

# The channel may be named once more, among those that packages are built with.
sed -i 's/third/fourth/' r/heir/recipe.yaml
expect 0 build r/kept r/heir --output-dir channel -c ./channel
out_ends "1 package built, 1 unchanged, 0 failed (channel $PWD/channel)"
expect 0 build r/heir --output-dir fresh -c ./fresh -c ./channel
check agrees fresh

# In another format it is the new package that is tested, not the one that the channel has.
kept third 0
: > seen
expect 0 build r/kept --output-dir channel --package-format tar-bz2
check [ "$(wc -l < seen)" = 1 ]
check [ -e channel/linux-64/$name.tar.bz2 ]

# One variant is new, another is in the channel: both are there to build with.
recipe many 'build: {script: "echo $flavour > $PREFIX/many", variant: {use_keys: [flavour]}}'
expect 0 build r/many --output-dir variants --variant flavour=old
build=$(ls variants/linux-64/many-*.conda | sed 's/.*-//; s/\.conda//')
recipe both "requirements: {build: [many], host: ['many =1=$build']}" \
    'build: {script: "grep old $PREFIX/many && touch $PREFIX/both"}'
expect 0 build r/many r/both --output-dir variants --variant flavour=old,new
out_ends "2 packages built, 1 unchanged, 0 failed (channel $PWD/variants)"
check agrees variants

# noarch packages, and what is built with them.
recipe any 'build: {noarch: generic, script: "touch $PREFIX/any"}' 'tests: [{script: ["test -e $PREFIX/any"]}]'
recipe with 'requirements: {host: [any]}' 'build: {script: "mv $PREFIX/any $PREFIX/with"}'
expect 0 build r/any r/with --output-dir any
check agrees any
check [ -e any/noarch/any-1-h*_0.conda ]

# Heirs of a package that fails, by way of a staging output.
recipe lib 'build: {script: "touch $PREFIX/lib"}' 'tests: [{script: ["false"]}]'
mkdir -p r/staged
cat > r/staged/recipe.yaml << 'END'
recipe: {version: "1"}
outputs:
  - staging: {name: base}
    requirements: {host: [lib]}
    build: {script: "cp $PREFIX/lib $PREFIX/part"}
  - package: {name: part}
    inherit: base
END
recipe alone 'build: {script: "touch $PREFIX/alone"}'
expect 1 build r/lib r/staged r/alone --output-dir heirs --json
json '[f["package"].split("-")[0] for f in d["failures"]] == ["lib", "part"]'
json '"built with lib-1-hb0f4dca_0, which was not published" in d["failures"][1]["error"]'
json '[p["package"].split("-")[0] for p in d["packages"]] == ["alone"]'
json 'd["packages"][0]["file"] == work + "/here/heirs/linux-64/alone-1-hb0f4dca_0.conda"'
check [ "$(ls heirs/linux-64/*.conda)" = heirs/linux-64/alone-1-hb0f4dca_0.conda ]

# What is built with a package that is too heavy, and what --plan and --render leave alone.
recipe heavy 'build: {script: "head -c 300000 /dev/urandom > $PREFIX/heavy"}'
recipe light 'requirements: {host: [heavy]}' 'build: {script: "touch $PREFIX/light"}'
expect 0 build r/heavy r/light --output-dir gate --plan
check [ -z "$(ls -A gate)" ]
expect 1 build r/heavy r/light --output-dir gate --max-closure 100kB
err_has 'light-1-hb0f4dca_0: built with heavy-1-hb0f4dca_0, which was not published'
check [ ! -e gate/linux-64 -o -z "$(ls gate/linux-64/*.conda 2> /dev/null)" ]

# Two runs of the same at once: the second waits, says for whom, and finds what the first built.
recipe slow "build: {script: [echo run >> $PWD/runs, sleep 3, 'touch \$PREFIX/slow']}" \
    'tests: [{script: ["test -e $PREFIX/slow"]}]'
"$GPKG" build r/slow --output-dir shared --sandbox off > "$WORK/first" 2>&1 &
first=$!
for _ in $(seq 100); do [ -e runs ] && break; sleep 0.05; done
expect 0 build r/slow --output-dir shared --sandbox off
err_has "waiting for process $first on "
err_has ', which builds slow-1-hb0f4dca_0'
out_is "0 packages built, 1 unchanged, 0 failed (channel $PWD/shared)"
wait "$first"
check [ $? = 0 ]
check [ "$(cat runs)" = run ]
check [ "$(ls -A shared.work/runs)" = .door ]

# Two runs of other recipes into one channel wait for nobody, and leave one index of all.
recipe one 'build: {script: ["until [ -e $RECIPE_DIR/../two/met ]; do sleep 0.1; done", "touch $PREFIX/one"]}'
recipe two 'build: {script: ["touch $RECIPE_DIR/met", "touch $PREFIX/two"]}'
"$GPKG" build r/one --output-dir shared --sandbox off > "$WORK/first" 2>&1 &
first=$!
expect 0 build r/two --output-dir shared --sandbox off
wait "$first"
check [ $? = 0 ]
check agrees shared
expect 0 search -c ./shared --override-channels one
expect 0 search -c ./shared --override-channels two

finish
