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
err_has 'libfoo/recipe.yaml: already exists with different contents'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o r --with-cuda-version --force

expect 0 build r/libfoo r/cuda-nvdisasm r/cuda-version --output-dir channel
out_has '8 packages built, 0 unchanged, 0 failed'
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
out_has '5 packages built, 8 unchanged, 0 failed'
record libcusparse 'p["depends"] == ["cuda-version 12.9.*", "libnvjitlink >=12.9.86,<13.0a0"]'
list libcusparse "lib/libcusparse.so.12 lib/libcusparse.so.12.5.1 lib/libplugin.so
    $t/lib/libcusparse.so.12 $t/lib/libcusparse.so.12.5.1 $t/lib/libplugin.so"

# Without a look into the archives there is a package for every part; the build still knows. What it
# cannot know is an error of the build.
mkdir apart && cp redistrib_12.9.1.json apart
expect 0 redist import apart/redistrib_12.9.1.json --component libfoo,cuda-nvdisasm --component libcusparse \
    --mirror "https://mirror.invalid/cuda" -o blind --with-cuda-version
err_has 'the archives of 3 components were not found'
check grep -q -- '- https://mirror.invalid/cuda/libfoo/linux-x86_64/' blind/libfoo/recipe.yaml
check grep -q -- '- https://developer.download.nvidia.com/compute/cuda/redist/libfoo/' blind/libfoo/recipe.yaml
fetched="https://mirror.invalid/cuda/=file://$PWD/mirror/"
expect 0 build blind/libfoo blind/cuda-version --output-dir other --source-mirror "$fetched"
out_has '7 packages built'
expect 1 build blind/libcusparse --output-dir other --source-mirror "$fetched"
err_has "$t/lib/libplugin.so: a library, not a link; import the component again with its archive"

# A file that belongs nowhere is told, and refused by the build.
cp -a "$WORK/foo/." "$tree"
mkdir "$tree/oddities"
echo x > "$tree/oddities/stray"
echo x > "$tree/lib/data.json"
archive libodd 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o odd --component libodd
err_has 'libodd: oddities/stray belongs to no package of the recipe; the build will fail'
expect 1 build odd --output-dir other
err_has "oddities/stray: no package contains it"
err_has "$t/lib/data.json: no package contains it"

cp "$WORK/components" "$WORK/whole"
# Libraries in lib and in lib64, and licences besides the one: every file is in exactly one package.
library "$tree/lib" both 1.2 'int both(void) { return 1; }'
library "$tree/lib64" other 3.4 'int other(void) { return 2; }'
mkdir -p "$tree"/{lib,lib64}/cmake "$tree/lib64/pkgconfig"
touch "$tree/lib/cmake/a.cmake" "$tree/lib64/cmake/b.cmake" "$tree/EULA.txt"
echo 'Name: other' > "$tree/lib64/pkgconfig/other.pc"
archive libboth 1.2
# A version that is a word; a link in the place of lib.
library "$tree/lib64" word 1.0 'int word(void) { return 1; }'
ln -s lib64 "$tree/lib"
archive libword abc
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o both --component libboth,libword --with-cuda-version
err_lacks warning
expect 0 build both --output-dir channel
list libboth "lib/libboth.so.1 lib/libboth.so.1.2 $t/lib/libboth.so.1 $t/lib/libboth.so.1.2
    lib/libother.so.3 lib/libother.so.3.4 $t/lib/libother.so.3 $t/lib/libother.so.3.4"
list libboth-dev "lib/libboth.so $t/lib/libboth.so lib/libother.so $t/lib/libother.so
    $t/lib/cmake/a.cmake $t/lib/cmake/b.cmake lib/pkgconfig/other.pc"
list libboth-docs share/libboth/EULA.txt
list libword "lib/libword.so.1 lib/libword.so.1.0 $t/lib/libword.so.1 $t/lib/libword.so.1.0"
record libword 'p["version"] == "abc"'
record libword-dev 'any(x.startswith("libword ==abc ") for x in p["depends"])'
expect 0 inspect "$(echo channel/linux-64/libword-dev-*.conda)" --json
json 'd["run_exports"]["weak"] == ["libword >=abc"]'
expect 0 create -n word -c ./channel --override-channels --dry-run libword-dev
# Two files for one place, and an archive of nothing but a licence.
library "$tree/lib" twice 1.0 'int twice(void) { return 1; }'
library "$tree/lib64" twice 1.0 'int twice(void) { return 2; }'
archive libtwice 1.0
archive libnone 1.0
manifest
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o twice --component libtwice
err_has "lib/libtwice.so and lib64/libtwice.so would both be installed as $t/lib/libtwice.so"
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o none --component libnone
err_has 'libnone-linux-x86_64-1.0-archive.tar.xz contains only a licence'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o none --component libnone,libboth --json
json '[x["component"] for x in d["recipes"]] == ["libboth"] and "libnone" in d["warnings"][0]'
# Recipes that are made without a look find it out in the build.
cp redistrib_12.9.1.json apart
expect 0 redist import apart/redistrib_12.9.1.json --component libtwice --mirror "https://mirror.invalid/cuda" -o unseen \
    --with-cuda-version
expect 1 build unseen --output-dir other --source-mirror "$fetched"
err_has "another file is already installed as $t/lib/libtwice.so"
cp "$WORK/whole" "$WORK/components"

# Which platforms and components there are.
expect 1 redist import redistrib_12.9.1.json --component libfo
err_has "no component 'libfo'"
err_has 'did you mean libfoo?'
expect 1 redist import redistrib_12.9.1.json --component libfoo --platform linux-aarch64
err_has 'no archive of libfoo for linux-sbsa'
expect 1 redist import redistrib_12.9.1.json --platform osx-arm64
expect 2 redist import redistrib_12.9.1.json --platform linux-64 --tegra
header() { mkdir -p "$tree/include" && echo "#define $1" > "$tree/include/$1.h"; }
header arm
PLATFORM=linux-sbsa archive libarm 1.0
header tegra
PLATFORM=linux-aarch64 archive libtegra 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o arm --platform linux-aarch64 --json
json '[x["component"] for x in d["recipes"]] == ["libarm"]'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o arm --platform linux-aarch64 --tegra --json
json '[x["component"] for x in d["recipes"]] == ["libtegra"]'
check grep -q 'arm_variant_type: \[tegra\]' arm/libtegra/variants.yaml

# What libraries need becomes dependencies: of the archive that has it, of conda-forge's package, or of nobody
# that is known. Stubs are never loaded: what they say of themselves counts for nothing.
library "$tree/lib" oddly 2.1 'int oddly(void) { return 3; }'
cp -a "$tree/lib" "$WORK/oddly"
archive libstrange 2.1
echo '#include <string>
int user() { return static_cast<int>(std::to_string(time(nullptr)).size()); }' > "$WORK/user.cpp"
sed -i '1i #include <ctime>' "$WORK/user.cpp"
echo 'int gone(void) { return 0; }' > "$WORK/gone.c"
check cc -shared -fPIC -Wl,-soname,libgone.so.5 -o "$WORK/libgone.so" "$WORK/gone.c"
mkdir -p "$tree/lib/stubs" "$tree/bin" "$tree/include/crt"
printf '#if defined(__GNUC__)\n#if __GNUC__ > 13\n#error\n#endif\n#endif\n' > "$tree/include/crt/host_config.h"
check c++ -shared -fPIC -Wl,--no-as-needed,-soname,libuser.so.1 -o "$tree/lib/libuser.so.1" "$WORK/user.cpp" \
    -L"$WORK/oddly" -loddly "$WORK/libgone.so"
cp "$tree/lib/libuser.so.1" "$tree/lib/stubs/libuser.so"
check c++ -o "$tree/bin/user" -x c - -x none -Wl,--no-as-needed "$tree/lib/libuser.so.1" -Wl,--unresolved-symbols=ignore-all \
    <<< 'int main(void) { return 0; }'
archive libuser 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o needs --component libstrange,libuser
err_has 'libuser: needs libgone.so.5, but no known package has it'
err_lacks 'libstrange:'
cp -r r/cuda-version needs
expect 0 build needs --output-dir needed --no-test
err_has 'needs libgone.so.5'
err_lacks 'stubs'
# depends NAME EXPRESSION: of a package of that channel.
depends() {
    expect 0 search -c ./needed --override-channels "$1" --json
    json "(lambda d, c: $2)(d['$1'][0]['depends'], d['$1'][0].get('constrains', []))"
}
depends libuser 'set(d) > {"libstrange >=2.1,<3.0a0", "libstdcxx"}'
depends libuser-dev '"gcc_impl_linux-64 <14" in c'
depends libuser-tools 'any(x.startswith("libuser ==1.0 ") for x in d)'

# The compiler: activation tells nvcc its host compiler and others where CUDA's files are; without a trace left.
mkdir -p "$tree"/{bin,nvvm/bin,include/crt}
printf '#!/bin/sh\necho "$NVCC_PREPEND_FLAGS"\n' > "$tree/bin/nvcc"
chmod +x "$tree/bin/nvcc"
touch "$tree/include/crt/host_config.h" "$tree/nvvm/bin/cicc"
archive cuda_nvcc 12.9.86
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o compiler --component cuda_nvcc --json
json 'd["recipes"][0]["packages"] == ["cuda-nvcc-dev", "cuda-nvcc-tools", "cuda-nvcc"]'
cp -r r/cuda-version compiler
expect 0 build compiler --output-dir compilers
expect 0 create -n cc -c ./compilers --override-channels cuda-nvcc -y
at=$(place cc)
CXX=some-c++ NVCC_PREPEND_FLAGS=-v expect 0 run -n cc nvcc
out_is '-v -ccbin=some-c++'
CXX='ccache c++' LDFLAGS=-O1 expect 0 run -n cc sh -c 'echo "$NVCC_PREPEND_FLAGS|$LDFLAGS|$CFLAGS"'
out_is "|-O1 -L$at/$t/lib -L$at/$t/lib/stubs|-I$at/$t/include -I$at/$t/include/cccl"
for shell in sh bash zsh; do
    command -v $shell > "$WORK/which" || continue
    check $shell -uc 'cd "$1"; export CXX=c++ CFLAGS="-g -O2 \$x"; unset CUDAARCHS LDFLAGS; export CONDA_PREFIX=$1
        before=$(export -p); . "./activate.d/~cuda-nvcc_activate.sh"; [ "$LDFLAGS" ] || exit 1
        . "./deactivate.d/~cuda-nvcc_deactivate.sh"; [ "$before" = "$(export -p)" ]' x "$at/etc/conda"
done
# In a build: the host's files, and the variant's devices as CMake wants them.
mkdir gpu
cat > gpu/recipe.yaml <<'RECIPE'
package: {name: gpu, version: "1"}
build:
  script: echo "$CUDAARCHS $NVCC_APPEND_FLAGS" > "$PREFIX/said"; nvcc >> "$PREFIX/said"
  variant: {use_keys: [accel, cuda_arch_list]}
requirements: {build: [cuda-nvcc]}
RECIPE
printf 'accel: cuda\ncuda_arch_list: "8.0;9.0a;12.0+PTX"\n' > gpu/variants.yaml
expect 0 build gpu --output-dir gpus -c ./compilers --override-channels --no-test
CONDA_OVERRIDE_CUDA=12.8 CONDA_OVERRIDE_CUDA_ARCH=8.0 expect 0 create -n gpu -c ./gpus --override-channels --no-deps gpu -y
check grep -q "^80-real;90a-real;120 -I.*/$t/include -L.*/$t/lib -L.*/$t/lib/stubs\$" "$(place gpu)/said"

# What belongs to the machine is left out unless it is asked for. Archives can be fetched.
echo x > "$tree/lib.txt"
archive nvidia_driver 575.1
manifest
mkdir web
cp redistrib_12.9.1.json web
python3 -m http.server --bind 127.0.0.1 --directory mirror 0 > "$WORK/http" 2>&1 &
server=$!
trap 'kill $server 2> "$WORK/kill"; rm -rf "$WORK"' EXIT
for _ in $(seq 200); do grep -q 'port [0-9]' "$WORK/http" && break; sleep 0.05; done
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$WORK/http")
expect 2 redist import web/redistrib_12.9.1.json --fetch -o web/r
expect 0 redist import web/redistrib_12.9.1.json --fetch --source-cache web/cache --mirror "http://127.0.0.1:$port" -o web/r
err_has 'skipped components that belong to the driver: nvidia_driver (use --component NAME'
err_lacks 'were not found'
out_has 'libfoo-docs'
check [ "$(ls web/r | wc -l)" = "$(ls web/cache | wc -l)" ]
expect 0 redist import web/redistrib_12.9.1.json --component nvidia_driver -o web/r

# What is wrong with archives and manifests.
mv mirror/libfoo there
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfoo -o x
err_has 'not found in the mirror'
mv there mirror/libfoo
echo x >> mirror/libfoo/linux-x86_64/*.xz
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfoo -o x
err_has 'in the manifest'
NO_LICENSE=1 archive libfree 1.0
manifest
expect 1 redist import redistrib_12.9.1.json --mirror mirror --component libfree -o x
err_has 'no LICENSE file'
mkdir -p "$tree/lib" && head -c 2000 /bin/sh > "$tree/lib/libhalf.so.1"
archive libhalf 1.0
manifest
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o x --component libhalf
err_has 'libhalf-linux-x86_64-1.0-archive.tar.xz: lib/libhalf.so.1: damaged ELF file: the file is truncated'
err_lacks .gpkg-
echo '[]' > no.json
expect 1 redist import no.json
err_has 'not a redistributables manifest'
expect 1 redist import nowhere.json
mkfifo pipe
expect 1 redist import pipe
err_has 'pipe: a pipe without a writer'
expect 1 closure -f pipe
err_has 'a pipe without a writer'
expect 1 closure zlib --for ./pipe
err_has 'a pipe without a writer'
expect 1 redist import <(sleep 0.5; echo '{}')
err_has 'no components'
expect 2 redist
check [ ! -e x ]

# Manifests and archives are not to be trusted.
rm -rf mirror "$WORK/components" && mkdir mirror
mkdir -p "$tree/lib" && cp "$WORK/foo.o" "$tree/lib/libodd{x}.so"
cc -shared -fPIC -o "$tree/lib/libodd{x}.so" "$WORK/foo.c"
archive libodd 1.0
mkdir -p "$tree/lib" && mkfifo "$tree/lib/libfifo.so.1"
archive libfifo 1.0
ln -s /etc/hostname "$tree/LICENSE"
NO_LICENSE=1 archive liblink 1.0
library "$tree/lib" same 1.0 'int same(void) { return 1; }'
archive lib_same 1.0
library "$tree/lib" same 1.0 'int same(void) { return 1; }'
archive lib-same 1.0
library "$tree/lib" same 1.0 'int same(void) { return 1; }'
archive libother 1.0
manifest
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o braces --component libodd --with-cuda-version
expect 0 build braces --output-dir braced
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o fifo --component libfifo
err_has 'lib/libfifo.so.1: not a file, link or folder'
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o link --component liblink
err_has 'no LICENSE file'
expect 1 redist import redistrib_12.9.1.json --mirror mirror -o same --component lib_same,lib-same
err_has 'two components of the manifest map to this recipe'
expect 0 redist import redistrib_12.9.1.json --mirror mirror -o same --component lib_same,libother
err_has 'libother: libsame.so.1 is also in lib_same'
sed 's/"The libodd"/"The ${{ env.get(\x27HOME\x27) }}"/' redistrib_12.9.1.json > redistrib_12.9.2.json
expect 1 redist import redistrib_12.9.2.json --mirror mirror -o evil --component libodd
err_has "invalid 'name'"
check [ ! -e evil ]

finish
