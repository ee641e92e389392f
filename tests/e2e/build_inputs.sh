# gpkg build: what a package is made of: the order of builds, files beside the recipe, sources, the
# files of others, and run_exports that a channel has mended.
. "$(dirname "$0")/lib.sh"

unpacked() { rm -rf x && mkdir x && (cd x && unzip -qq "../$1" && for f in *.tar.zst; do tar xf "$f"; done); }

# A script that writes into a file of another package changes neither the store nor what it builds.
recipe lib 'build: {script: ["mkdir -p $PREFIX/share", "echo good > $PREFIX/share/lib.txt"]}'
recipe bad 'requirements: {host: [lib]}' \
    'build: {script: ["echo evil > $PREFIX/share/lib.txt", "touch $PREFIX/share/bad.txt"]}' \
    'tests: [{requirements: {run: [lib]}, script: ["echo worse > $PREFIX/share/lib.txt"]}]'
expect 0 build r/lib --output-dir channel
expect 0 build r/bad --output-dir channel -c "$PWD/channel"
err_has 'the build changed 1 file of host packages, which are not packaged: share/lib.txt'
expect 0 create -n seen --override-channels -c "$PWD/channel" lib
check [ "$(cat "$GPKG_ROOT_PREFIX/envs/seen/share/lib.txt")" = good ]
expect 0 verify --store

# What a host package needs to run is built before it is installed, whatever the order of the words.
recipe z 'build: {number: 0}'
recipe m 'requirements: {run: [z]}'
recipe a 'requirements: {host: [m]}' 'build: {script: "ls $PREFIX/conda-meta > $PREFIX/seen.txt"}'
expect 0 build r/a r/m r/z --output-dir order
sed -i 's/number: 0/number: 1/' r/z/recipe.yaml
expect 0 build r/a r/m r/z --output-dir order --plan
out_has 'z-1-hb0f4dca_1: new' 'a-1-hb0f4dca_0: needs z-1-hb0f4dca_1, which is rebuilt'
expect 0 build r/a r/m r/z --output-dir order
unpacked order/linux-64/a-1-hb0f4dca_0.conda
check grep -q 'z-1-hb0f4dca_1' x/seen.txt
expect 0 build r/a r/m r/z --output-dir order --plan
out_has '0 to build, 3 unchanged'
# Where they need each other, the channel's has to do.
sed -i 's/build: {number: 1}/requirements: {host: [a]}/' r/z/recipe.yaml
expect 0 build r/a r/m r/z --output-dir order --plan
expect 0 build r/a r/m r/z --output-dir order

# A package can be made once; the others are built all the same. A recipe named twice is one.
mkdir -p r/twin && cp r/lib/recipe.yaml r/twin
expect 1 build r/lib r/twin r/z --output-dir twins -c "$PWD/order" --no-test
err_has "r/twin/recipe.yaml: builds linux-64/lib-1-hb0f4dca_0, which"
check [ -e twins/linux-64/lib-1-hb0f4dca_0.conda ]
check [ -e twins/linux-64/repodata.json ]
expect 0 build r/lib r/lib r/lib/recipe.yaml --output-dir again
out_has '1 package built'

# A plan says what it can.
recipe broken 'bad: 1'
expect 1 build r/lib r/broken --output-dir plan --plan
out_has 'lib-1-hb0f4dca_0: new' '1 to build, 0 unchanged, 1 failed'
err_has "unknown key 'bad'"

# Files that a script or a test takes from the recipe's folder.
recipe helped 'build: {script: "cp $RECIPE_DIR/helper.txt $PREFIX/helper.txt"}'
echo one > r/helped/helper.txt
expect 0 build r/helped --output-dir helped
echo two > r/helped/helper.txt
expect 0 build r/helped --output-dir helped --plan
out_has 'changed: the files beside the recipe'
expect 0 build r/helped --output-dir helped
unpacked helped/linux-64/helped-1-hb0f4dca_0.conda
check [ "$(cat x/helper.txt)" = two ]
expect 0 build r/helped --output-dir helped
out_has '0 packages built, 1 unchanged'

# The folders that sources stand in, modes and times: three umasks, one package.
recipe packed 'source: {path: files, target_directory: src/deep}' \
    'build: {script: ["mkdir -p $PREFIX/share", "tar cf $PREFIX/share/x.tar src"]}'
mkdir -p r/packed/files/sub && echo x > r/packed/files/sub/x
for mask in 077 022 000; do
    (umask $mask; SOURCE_DATE_EPOCH=1700000000 "$GPKG" build -q r/packed --output-dir "packed$mask" > /dev/null)
done
check cmp packed077/linux-64/packed-1-hb0f4dca_0.conda packed022/linux-64/packed-1-hb0f4dca_0.conda
check cmp packed000/linux-64/packed-1-hb0f4dca_0.conda packed022/linux-64/packed-1-hb0f4dca_0.conda

# A source inside a repository heeds what that ignores, unless all of it is ignored.
recipe tree 'source: {path: ../../repo/data}' 'build: {script: "ls > $PREFIX/seen.txt"}'
recipe ignored 'source: {path: ../../repo/gone/data}' 'build: {script: "ls > $PREFIX/seen.txt"}'
mkdir -p repo/data repo/gone/data && touch repo/data/x.o repo/data/x.c repo/gone/data/y.c
printf '*.o\n/gone/\n' > repo/.gitignore
git -C repo init -q
expect 0 build r/tree r/ignored --output-dir tree
unpacked tree/linux-64/tree-1-hb0f4dca_0.conda
check [ "$(grep -v conda_build x/seen.txt)" = x.c ]
unpacked tree/linux-64/ignored-1-hb0f4dca_0.conda
check [ "$(grep -v conda_build x/seen.txt)" = y.c ]

# Every sum that a recipe says is compared.
echo payload > payload.txt
recipe sums "source: {url: 'file://$PWD/payload.txt', sha256: $(sha256sum < payload.txt | cut -c1-64), md5: $(printf '0%.0s' {1..32})}" \
    'build: {script: "cp payload.txt $PREFIX"}'
expect 1 build r/sums --output-dir sums
err_has "md5 is $(md5sum < payload.txt | cut -c1-32), but 0000"

# run_exports as the channel tells them, which may be other than the package's.
recipe libfoo 'requirements: {run_exports: {weak: ["libfoo >=1,<2"]}}'
recipe uses 'requirements: {host: [libfoo]}' 'build: {script: "touch $PREFIX/uses"}'
expect 0 build r/libfoo --output-dir base
mkdir -p fixes/linux-64
printf '{"patch_instructions_version":2,"packages.conda":{"libfoo-1-hb0f4dca_0.conda":{"run_exports":{"weak":["libfoo >=1,<1.5"]}}}}' \
    > fixes/linux-64/patch_instructions.json
expect 0 index base --patch fixes
check grep -q '<1.5' base/linux-64/run_exports.json
expect 0 build r/uses --output-dir over -c "$PWD/base"
check grep -q '"libfoo >=1,<1.5"' over/linux-64/repodata.json

# What only the build string reads is a variant as well.
recipe named 'build: {string: "${{ flavor }}_h${{ hash }}"}'
echo 'flavor: [sweet, sour]' > flavors.yaml
expect 0 build r/named --output-dir named -m flavors.yaml
check [ -n "$(find named -name 'named-1-sweet_h*')" ]
check [ -n "$(find named -name 'named-1-sour_h*')" ]

# Too many variants are refused with the keys that multiply.
recipe many "build: {string: '$(for i in {1..14}; do printf '${{ k%s }}_' "$i"; done)\${{ hash }}'}"
for i in {1..14}; do echo "k$i: [a, b, c]"; done > many.yaml
expect 1 build r/many --output-dir many --render -m many.yaml
err_has 'too many variants' 'zip_keys'

# The rendered recipe names sources and patches as they lie beside the recipe.
mkdir -p r/nest/a/src r/nest/b/src r/nest/patches && echo 1 > r/nest/a/src/f && echo 2 > r/nest/b/src/g
printf -- '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+3\n' > r/nest/patches/p.patch
recipe nest 'source: [{path: a/src, patches: [patches/p.patch]}, {path: b/src, target_directory: b}, {path: ., target_directory: all}]'
expect 0 build r/nest --render
out_has 'path: a/src' '- patches/p.patch' 'path: b/src' 'path: .'

# Keys of variants are one, whichever way they are written; conda-build's words for platforms are known.
recipe keys 'build: {number: "${{ 1 if linux64 else 2 }}", variant: {use_keys: [x-y, x.z], ignore_keys: [lib-c]}}' \
    'requirements: {host: [lib-c]}'
expect 0 build r/keys --render --variant x_y=1 --variant x_z=3 --variant lib_c=2
out_has 'x_y: "1"' 'x_z: "3"' 'number: 1'
out_lacks 'lib_c: "2"'

# A plan does not take another value of a variant for a change of the recipe's files.
recipe picks 'build: {script: ["echo ${{ foo }} > $PREFIX/foo"]}' 'tests: [{script: [test -e d.txt], files: {recipe: [d.txt]}}]'
touch r/picks/d.txt
echo 'foo: [a]' > r/picks/variants.yaml
expect 0 build r/picks --output-dir picks
echo 'foo: [a, b]' > r/picks/variants.yaml
expect 0 build r/picks --output-dir picks --plan
out_has '1 to build, 1 unchanged'
echo changed > r/picks/d.txt
expect 0 build r/picks --output-dir picks --plan
out_has '2 to build, 0 unchanged'

# All that a test said is kept.
recipe loud 'tests: [{script: ["for i in $(seq 100); do echo line $i; done; false"]}]'
expect 1 build r/loud --output-dir loud
err_has 'line 100' 'log of the tests: '
check grep -q '^line 1$' loud.work/logs/loud-1-*.tests.log

# A library that is found by way of a link has the link's folder for $ORIGIN.
if command -v cc > /dev/null; then
    mkdir -p r/links/src
    echo 'int z(void) { return 0; }' > r/links/src/z.c
    echo 'int z(void); int l(void) { return z(); }' > r/links/src/l.c
    echo 'int l(void); int main(void) { return l(); }' > r/links/src/m.c
    recipe links 'source: {path: src}' 'build:' '  script:' \
        '    - mkdir -p $PREFIX/opt/lib $PREFIX/lib $PREFIX/bin' \
        '    - cc -shared -fPIC -o $PREFIX/opt/lib/libz9.so z.c' \
        "    - cc -shared -fPIC -o \$PREFIX/opt/lib/libl9.so l.c -L\$PREFIX/opt/lib -lz9 -Wl,--disable-new-dtags,-rpath,'\$ORIGIN'" \
        '    - ln -s ../opt/lib/libl9.so $PREFIX/lib/libl9.so' \
        "    - cc -o \$PREFIX/bin/m m.c -L\$PREFIX/lib -ll9 -Wl,--allow-shlib-undefined,--disable-new-dtags,-rpath,'\$ORIGIN/../lib'"
    expect 0 build r/links --output-dir links
    err_lacks 'unreached' 'its library path'
    expect 0 create -y -n links --override-channels -c "$PWD/links" links
    expect 0 run -n links m
    # Left as it is, it would not start: that is said.
    sed -i 's/^build:/build:\n  number: 1\n  dynamic_linking: {binary_relocation: false}/' r/links/recipe.yaml
    expect 0 build r/links --output-dir links
    err_has libz9.so
fi

finish
