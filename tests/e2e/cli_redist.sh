# gpkg redist import: recipes from a manifest of archives made here in NVIDIA's layout, built, split,
# installed and linked with.
. "$(dirname "$0")/lib.sh"

# archive COMPONENT VERSION: packs $WORK/tree/* into the mirror as NVIDIA does; adds it to the manifest.
mkdir -p mirror "$WORK/tree"
archive() {
    local key=$1 version=$2 platform=${PLATFORM:-linux-x86_64} top path
    top=$key-$platform-$version-archive
    path=$key/$platform/$top.tar.xz
    mkdir -p "mirror/$key/$platform"
    [ -n "${NO_LICENSE-}" ] || echo 'All rights reserved.' > "$WORK/tree/LICENSE"
    mv "$WORK/tree" "$WORK/$top"
    tar -C "$WORK" -cJf "mirror/$path" "$top"
    rm -rf "${WORK:?}/$top"
    mkdir "$WORK/tree"
    printf '"%s":{"name":"The %s","license":"CUDA Toolkit","version":"%s","%s":{"relative_path":"%s","sha256":"%s","md5":"0","size":"%s"}}\n' \
        "$key" "$key" "$version" "$platform" "$path" \
        "$(sha256sum < "mirror/$path" | cut -d' ' -f1)" "$(stat -c %s "mirror/$path")" >> "$WORK/components"
}
manifest() {
    printf '{"release_date":"2025-06-01","release_label":"12.9.1","release_product":"cuda",%s}' \
        "$(paste -sd, "$WORK/components")" > redistrib_12.9.1.json
}

# library DIRECTORY NAME FULL-VERSION CODE [FLAGS]: libNAME.so.FULL with its links, and libNAME_static.a.
library() {
    local folder=$1 name=$2 version=$3 code=$4
    shift 4
    mkdir -p "$folder"
    echo "$code" > "$WORK/$name.c"
    check cc -shared -fPIC -Wl,-soname,"lib$name.so.${version%%.*}" -o "$folder/lib$name.so.$version" "$WORK/$name.c" "$@"
    ln -s "lib$name.so.$version" "$folder/lib$name.so.${version%%.*}"
    ln -s "lib$name.so.${version%%.*}" "$folder/lib$name.so"
    cc -c -o "$WORK/$name.o" "$WORK/$name.c"
    ar rc "$folder/lib${name}_static.a" "$WORK/$name.o"
}

tree=$WORK/tree
library "$tree/lib" foo 1.2.3 'int foo(void) { return 40; }'
mkdir -p "$tree"/{include/foo,bin,pkg-config,lib/stubs,lib/cmake/foo,samples/one,targets/x86_64-linux}
echo 'int foo(void);' > "$tree/include/foo.h"
echo '#define DETAIL 2' > "$tree/include/foo/detail.h"
printf '#!/bin/sh\necho a tool\n' > "$tree/bin/foo"
chmod +x "$tree/bin/foo"
cp "$tree/lib/libfoo.so.1.2.3" "$tree/lib/stubs/libfoo.so"
echo 'set(foo_FOUND 1)' > "$tree/lib/cmake/foo/foo-config.cmake"
echo 'int main(void) { return 0; }' > "$tree/samples/one/main.c"
ln -s ../../include "$tree/targets/x86_64-linux/include"
ln -s ../../lib "$tree/targets/x86_64-linux/lib"
cat > "$tree/pkg-config/foo-12.9.pc" <<'PC'
cudaroot=/usr/local/cuda-12.9
libdir=${cudaroot}/targets/x86_64-linux/lib
includedir=${cudaroot}/targets/x86_64-linux/include

Name: foo
Description: a library
Version: 12.9
Libs: -L${libdir} -lfoo
Cflags: -I${includedir}
PC
cp -a "$tree" "$WORK/foo"
archive libfoo 1.2.3.4
# A library that needs the runtime of another component, and a plugin without a version.
library "$tree/lib" nvJitLink 12.9.86 'int nv(void) { return 1; }'
cp -a "$tree/lib" "$WORK/nv"
archive libnvjitlink 12.9.86
library "$tree/lib" cusparse 12.5.1 'int nv(void); int sparse(void) { return nv(); }' -L"$WORK/nv" -lnvJitLink
rm "$tree/lib/libcusparse_static.a"
cc -shared -fPIC -o "$tree/lib/libplugin.so" "$WORK/foo.c"
archive libcusparse 12.5.1
cp -a "$WORK/foo/bin" "$tree/bin"
archive cuda_nvdisasm 12.9.88
manifest

# What is written, with the archives at hand.
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o r --with-cuda-version --json
json '[x["packages"] for x in d["recipes"][:1]] == [["libfoo", "libfoo-stubs", "libfoo-static", "libfoo-dev", "libfoo-tools", "libfoo-docs"]]'
json '[x["packages"] for x in d["recipes"][1:]] == [["libnvjitlink", "libnvjitlink-static", "libnvjitlink-dev"], ["libcusparse", "libcusparse-dev"], ["cuda-nvdisasm"], ["cuda-version"]]'
json 'd["success"] and d["platform"] == "linux-x86_64" and all(x["looked_into"] for x in d["recipes"])'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o r --with-cuda-version
out_has "$PWD/r/cuda-nvdisasm/recipe.yaml: cuda_nvdisasm 12.9.88: cuda-nvdisasm"
echo '# mine' >> r/libfoo/recipe.yaml
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o r
err_has 'libfoo/recipe.yaml: is there already, and says something else'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o r --with-cuda-version --force

expect 0 build r/libfoo r/cuda-nvdisasm r/cuda-version --output-dir channel
out_has '8 packages built, 0 unchanged, 0 recipes failed'
# depends NAME EXPRESSION: of the one record of the channel with that name.
record() {
    expect 0 search -c ./channel --override-channels "$1" --json
    json "(lambda p: $2)(d['$1'][0])"
}
record libfoo 'p["depends"] == ["cuda-version 12.9.*"] and p["version"] == "1.2.3.4"'
record libfoo-static 'p["depends"] == ["cuda-version 12.9.*"]'
record libfoo-dev 'sorted(x.split()[0] for x in p["depends"]) == ["cuda-version", "libfoo"]'
record libfoo-dev '[x for x in p["depends"] if x.startswith("libfoo ==1.2.3.4 ")]'
record libfoo-dev 'p["constrains"] == ["libfoo-static >=1.2.3.4"]'
record libfoo-docs 'p["depends"] == []'
record cuda-version 'p["constrains"] == ["__cuda >=12", "cudatoolkit 12.9.*"] and p["version"] == "12.9"'
inspect() { gpkg inspect "$(echo channel/linux-64/$1-[0-9]*.conda)" --json; }
inspect libfoo-dev
json 'd["run_exports"]["weak"] == ["libfoo >=1.2.3.4,<2.0a0"] and d["variant"]["cuda_version"] == "12.9"'

# Every file in exactly one package, the licence in all.
list() {
    gpkg create -n "$1" -c ./channel --override-channels --no-deps "$1" -y
    records "$1" "set(f for f in r['$1']['files']) == set('''$2'''.split())"
}
t=targets/x86_64-linux
list libfoo "lib/libfoo.so.1 lib/libfoo.so.1.2.3 $t/lib/libfoo.so.1 $t/lib/libfoo.so.1.2.3"
list libfoo-stubs "lib/stubs/libfoo.so $t/lib/stubs/libfoo.so"
list libfoo-static "lib/libfoo_static.a $t/lib/libfoo_static.a"
list libfoo-dev "lib/libfoo.so $t/lib/libfoo.so $t/include/foo.h $t/include/foo/detail.h
    $t/lib/cmake/foo/foo-config.cmake lib/pkgconfig/foo-12.9.pc"
list libfoo-tools bin/foo
list libfoo-docs share/libfoo/samples/one/main.c
for package in libfoo libfoo-stubs libfoo-static libfoo-dev libfoo-tools libfoo-docs; do
    check cmp -s <(echo 'All rights reserved.') \
        "$GPKG_ROOT_PREFIX"/pkgs/*"$package-1.2.3.4"*/info/licenses/LICENSE
done

# What is installed can be compiled and linked with.
expect 0 create -n ml -c ./channel --override-channels libfoo-dev libfoo-static -y
prefix=$(place ml)
printf '#include <foo.h>\n#include <foo/detail.h>\nint main(void) { return foo() + DETAIL; }\n' > main.c
check cc -I"$prefix/$t/include" main.c -L"$prefix/lib" -lfoo -Wl,-rpath,"$prefix/lib" -o main
./main; check [ $? = 42 ]
check cc -I"$prefix/$t/include" main.c "$prefix/lib/libfoo_static.a" -o main
./main; check [ $? = 42 ]
check grep -qx 'cudaroot=${pcfiledir}/../..' "$prefix/lib/pkgconfig/foo-12.9.pc"
if command -v pkg-config > "$WORK/which"; then
    check cc main.c $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs foo-12.9) \
        -Wl,-rpath,"$prefix/lib" -o main
    ./main; check [ $? = 42 ]
fi

# A plugin without a version belongs to the runtime. Siblings are dependencies, and the build sees that
# they are the right ones.
expect 0 build r --output-dir channel
out_has '5 packages built, 8 unchanged, 0 recipes failed'
record libcusparse 'p["depends"] == ["cuda-version 12.9.*", "libnvjitlink >=12.9.86,<13.0a0"]'
list libcusparse "lib/libcusparse.so.12 lib/libcusparse.so.12.5.1 lib/libplugin.so
    $t/lib/libcusparse.so.12 $t/lib/libcusparse.so.12.5.1 $t/lib/libplugin.so"

# Without a look into the archives there is a package for every part; the build still knows. What it
# cannot know is an error of the build.
mkdir apart && cp redistrib_12.9.1.json apart
expect 0 redist import apart/redistrib_12.9.1.json --component libfoo,cuda-nvdisasm --component libcusparse \
    --mirror "https://mirror.invalid/cuda" -o blind --with-cuda-version
err_has 'the archives of 3 components are not at hand'
check grep -q -- '- https://mirror.invalid/cuda/libfoo/linux-x86_64/' blind/libfoo/recipe.yaml
check grep -q -- '- https://developer.download.nvidia.com/compute/cuda/redist/libfoo/' blind/libfoo/recipe.yaml
fetched="https://mirror.invalid/cuda/=file://$PWD/mirror/"
expect 0 build blind/libfoo blind/cuda-version --output-dir other --source-mirror "$fetched"
out_has '7 packages built'
expect 1 build blind/libcusparse --output-dir other --source-mirror "$fetched"
err_has "$t/lib/libplugin.so: a library and no link; import it again with its archive at hand"

# A file that belongs nowhere is told, and refused by the build.
cp -a "$WORK/foo/." "$tree"
mkdir "$tree/oddities"
echo x > "$tree/oddities/stray"
echo x > "$tree/lib/data.json"
archive libodd 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o odd --component libodd
err_has 'libodd: oddities/stray belongs to none of its packages; the build will refuse it'
expect 1 build odd --output-dir other
err_has "oddities/stray: none of the packages takes it"
err_has "$t/lib/data.json: none of the packages takes it"

# Which platforms and components there are.
expect 1 redist import redistrib_12.9.1.json --component libfo
err_has "has no component 'libfo'"
err_has 'it has libfoo'
expect 1 redist import redistrib_12.9.1.json --component libfoo --platform linux-aarch64
err_has 'libfoo has no archive for linux-sbsa'
expect 1 redist import redistrib_12.9.1.json --platform osx-arm64
expect 2 redist import redistrib_12.9.1.json --platform linux-64 --tegra
PLATFORM=linux-sbsa archive libarm 1.0
PLATFORM=linux-aarch64 archive libtegra 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o arm --platform linux-aarch64 --json
json '[x["component"] for x in d["recipes"]] == ["libarm"]'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o arm --platform linux-aarch64 --tegra --json
json '[x["component"] for x in d["recipes"]] == ["libtegra"]'
check grep -q 'arm_variant_type: \[tegra\]' arm/libtegra/variants.yaml

# What is wrong with archives and manifests.
mv mirror/libfoo there
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfoo -o x
err_has 'the mirror does not have this archive'
mv there mirror/libfoo
echo x >> mirror/libfoo/linux-x86_64/*.xz
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfoo -o x
err_has 'bytes, the manifest says'
NO_LICENSE=1 archive libfree 1.0
manifest
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfree -o x
err_has 'holds no LICENSE'
echo '[]' > no.json
expect 1 redist import no.json
err_has 'no manifest of redistributables'
expect 1 redist import nowhere.json
expect 2 redist
check [ ! -e x ]

finish
