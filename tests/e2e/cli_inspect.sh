# gpkg inspect: ELF files, package files, installed packages; and what gpkg build refuses of binaries.
. "$(dirname "$0")/lib.sh"

command -v cc > /dev/null && command -v patchelf > /dev/null || { echo "no cc or no patchelf here"; finish; exit; }

mkdir -p r/libtwo r/tool
cat > r/libtwo/recipe.yaml <<'END'
package: {name: libtwo, version: "2"}
build:
  script:
    - mkdir -p $PREFIX/lib $PREFIX/etc
    - echo $PREFIX > $PREFIX/etc/two.conf
    - 'echo "int two(void) { return 2; }" > two.c'
    - cc -shared -fPIC -Wl,-soname,libtwo.so.2 -o $PREFIX/lib/libtwo.so.2 two.c
    - ln -s libtwo.so.2 $PREFIX/lib/libtwo.so
requirements: {run_exports: [libtwo >=2]}
about: {summary: Two for all, license: MIT, homepage: https://two.example}
extra: {recipe-maintainers: [anna, ben]}
END
cat > r/tool/recipe.yaml <<'END'
package: {name: tool, version: "1"}
build:
  script:
    - mkdir -p $PREFIX/bin
    - 'echo "int two(void); int main(void) { return two(); }" > main.c'
    - cc -o $PREFIX/bin/tool main.c -L$PREFIX/lib -ltwo
requirements: {host: [libtwo]}
END
expect 0 build r --output-dir "$CHANNEL"
tool=$(echo "$CHANNEL"/linux-64/tool-*.conda)

expect 0 inspect "$tool"
out_has 'tool 1 '
check grep -qE '^  contains +1 file$' <<< "$out"
out_lacks 'the prefix'
out_has 'libtwo >=2'
out_has 'bin/tool: program, '
out_has 'needs  libtwo.so.2 -> libtwo'
out_has 'libc.so.6 -> glibc'
expect 0 inspect "$tool" --json
json 'd["success"] and d["kind"] == "package" and d["name"] == "tool" and d["files"] == 1'
json 'd["depends"][0] == "libtwo >=2" and d["depends"][1:] in ([], ["__glibc >=" + d["binaries"][0]["glibc"]]) and d["variant"]["target_platform"] == "linux-64"'
json '{"library": "libtwo.so.2", "found": "libtwo"} in d["binaries"][0]["needed"]'
json 'd["binaries"][0]["rpath"] == ["$ORIGIN/../lib"] and d["binaries"][0]["glibc"].startswith("2.")'
expect 0 inspect "$(echo "$CHANNEL"/linux-64/libtwo-*.conda)" --json
json 'd["run_exports"]["weak"] == ["libtwo >=2"]'
json 'd["prefix_placeholders"] == {"text": 1, "binary": 0}'
json '[b["soname"] for b in d["binaries"]] == ["libtwo.so.2"] and "paths" not in d'
two=$(echo "$CHANNEL"/linux-64/libtwo-*.conda)
expect 0 inspect "$two"
out_has '3 files; the prefix is written into 1 text file'
out_lacks 'none named'
expect 0 inspect "$tool"
out_has '  maintainers   none named'
# A package file whose name is not that of the package.
cp "$two" wrong.conda
expect 1 create -y -n renamed ./wrong.conda
err_has "hint: rename it to $(basename "$two")"
mv wrong.conda wrong-1-0.conda
expect 1 create -y -n renamed ./wrong-1-0.conda
err_has "wrong-1-0.conda: contains $(basename "$two" .conda), not wrong-1-0"
rm wrong-1-0.conda
expect 0 inspect "$two"
out_lacks '0 binaries'
out_has '  checked       2 files intact (as listed in the package); 1 not compared (links, or no checksum)'
out_has '  link scripts  none'
out_has "  sha256        $(sha256sum "$two" | cut -d' ' -f1)"
out_has '  summary       Two for all'
out_has '  home page     https://two.example'
out_has '  maintainers   anna, ben'
out_has ' with gpkg '
out_has 'gpkg keys --help'
expect 0 inspect "$two" --json
json 'd["summary"] == "Two for all" and d["license"] == "MIT" and d["maintainers"] == ["anna", "ben"]'
json 'd["matching_files"] == 2 and d["link_scripts"] == [] and len(d["sha256"]) == 64 and d["size"] > 0'
json 'd["timestamp"] > 0 and d["builder"].startswith("gpkg ")'
expect 0 inspect "$tool" "$two"
out_has "$tool:
tool 1 "
out_has "

$two:
libtwo 2 "
expect 0 inspect "$tool" "$two" --json
json 'd["success"] and [p["name"] for p in d["inspected"]] == ["tool", "libtwo"]'
expect 2 inspect "$tool" "$two" --attestation none.json
err_has 'is for one package file'
expect 2 show "$two"
err_has "to show a package file: gpkg inspect $two"
expect 0 inspect --files "$two"
out_is 'etc/two.conf
lib/libtwo.so
lib/libtwo.so.2'
expect 0 inspect --files "$two" --json
json 'd["files"] == 3 and d["paths"] == ["etc/two.conf", "lib/libtwo.so", "lib/libtwo.so.2"]'

expect 0 create -y -n env tool
expect 0 inspect -n env tool --json
json '{"library": "libtwo.so.2", "found": "lib/libtwo.so.2"} in d["binaries"][0]["needed"]'
json 'd["variant"]["target_platform"] == "linux-64" and d["run_exports"]["weak"] == []'
expect 0 inspect "$(place env)/lib/libtwo.so" --json
json 'd["kind"] == "shared library" and d["soname"] == "libtwo.so.2" and not d["static_pie"]'
json 'd["gpu_code"] == {"sass": [], "ptx": [], "gfx": []}'
expect 0 inspect "$(place env)/bin/tool"
out_has "libtwo.so.2 -> $(place env)/lib/libtwo.so.2"

expect 0 inspect -n env libtwo --files
out_has 'lib/libtwo.so.2'
expect 2 inspect --files "$(place env)/bin/tool"
err_has 'is not a package'
expect 1 inspect nothing
err_has 'no such file'
err_has 'gpkg inspect -n NAME nothing'
expect 1 inspect r/tool/recipe.yaml
err_has 'not an ELF file, GPU code or a package'
expect 1 inspect r
err_has 'not a regular file'
expect 1 inspect -n env nothing --json
json 'not d["success"] and "nothing is not installed in" in d["message"]'
printf 'no zip' > broken-1-0.conda
expect 1 inspect broken-1-0.conda
printf '\177ELF damaged         ' > odd
expect 1 inspect odd
err_has 'damaged ELF file'

# Seeded faults: the package does not match its recipe.
# bad NAME TEXT...: the recipe of tool with a change is refused, and the error has the texts.
bad() {
    local name=$1 text
    shift
    expect 1 build "bad/$name" --output-dir "$CHANNEL"
    err_has 'the package does not match its recipe'
    for text in "$@"; do err_has "$text"; done
    check [ ! -e "$(echo "$CHANNEL/linux-64/$name"-1-*.conda)" ]
}
# seed NAME SCRIPT-LINE REQUIREMENTS [LINKING]: a recipe like that of tool, with one more command.
seed() {
    mkdir -p "bad/$1"
    sed -e "s/name: tool/name: $1/" -e "s|^requirements:.*|requirements: $3|" \
        -e "/cc -o/a\\    - $2" ${4:+-e "s|^requirements:|  dynamic_linking: $4\nrequirements:|"} \
        r/tool/recipe.yaml > "bad/$1/recipe.yaml"
}
seed overlinks 'true' '{host: [libtwo], ignore_run_exports: {by_name: [libtwo]}}'
bad overlinks 'bin/tool: needs libtwo.so.2 from libtwo, but the package does not depend on libtwo' \
    'remove libtwo from requirements.ignore_run_exports.by_name'
seed overdepends 'printf "int main(void) { return 0; }" > m.c \&\& cc -o $PREFIX/bin/tool m.c' '{host: [libtwo]}'
bad overdepends 'libtwo: the package depends on it (from run_exports of host), but no file' \
    'add libtwo to requirements.ignore_run_exports.by_name'
seed driver 'cp $PREFIX/lib/libtwo.so.2 $PREFIX/bin/libcuda.so.1' '{host: [libtwo]}'
bad driver 'bin/libcuda.so.1: libcuda.so.1 is part of the GPU driver'
seed paths 'patchelf --set-rpath $SRC_DIR/lib:$PREFIX/lib/stubs $PREFIX/bin/tool' '{host: [libtwo]}' \
    '{binary_relocation: false}'
bad paths 'is a folder of this build' 'is a folder of stubs'
seed unreached 'mkdir $PREFIX/lib/priv \&\& mv $PREFIX/bin/tool t \&\& cp $PREFIX/lib/libtwo.so.2 $PREFIX/lib/priv/libpriv.so.1 \&\& patchelf --set-soname libpriv.so.1 $PREFIX/lib/priv/libpriv.so.1 \&\& patchelf --replace-needed libtwo.so.2 libpriv.so.1 --output $PREFIX/bin/tool t' '{host: [libtwo], ignore_run_exports: {by_name: [libtwo]}}'
bad unreached 'bin/tool: needs libpriv.so.1, but its library path does not contain lib/priv' \
    'add it with build.dynamic_linking.rpaths: [lib/priv]'
seed loader 'patchelf --set-interpreter $SRC_DIR/ld.so $PREFIX/bin/tool' '{host: [libtwo]}'
bad loader 'bin/tool: uses the loader ' 'it is in a folder of this build'
seed allowed 'cp $PREFIX/lib/libtwo.so.2 $PREFIX/bin/libcuda.so.1' \
    '{host: [libtwo], ignore_run_exports: {by_name: [libtwo]}}' '{missing_dso_allowlist: [libtwo.so.2, libcuda.so.1]}'
expect 0 build bad/allowed --output-dir "$CHANNEL"

# GPU code: one container of nvcc with machine code for 8.0 and PTX of 9.0 (libcore/binary/gpu_code.cpp).
mkdir -p r2/gpu
cat > r2/gpu/fatbin.py <<'END'
import struct, sys
entries = b"".join(struct.pack("<HHIQQII", kind, 0x101, 64, 8, 0, 0, sm).ljust(64, b"\0") + b"x" * 8
                   for kind, sm in ((2, 80), (1, 90)))
sys.stdout.buffer.write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(entries)) + entries)
END
cat > r2/gpu/recipe.yaml <<'END'
package: {name: gpu, version: "1"}
build:
  variant: {use_keys: [cuda_arch_list]}
  script:
    - mkdir -p $PREFIX/lib
    - 'echo "int f(void) { return 1; }" > f.c; cc -shared -fPIC -o f.so f.c'
    - python3 $RECIPE_DIR/fatbin.py > code
    - objcopy --add-section .nv_fatbin=code f.so $PREFIX/lib/libgpu.so
END
expect 0 build r2 --output-dir "$CHANNEL" --variant 'cuda_arch_list=8.0;9.0-virtual'
expect 0 inspect "$(echo "$CHANNEL"/linux-64/gpu-*.conda)"
out_has 'machine code for 8.0, PTX of 9.0'
expect 0 inspect "$(echo "$CHANNEL"/linux-64/gpu-*.conda)" --json
json 'd["binaries"][0]["gpu_code"] == {"sass": ["8.0"], "ptx": ["9.0"], "gfx": []}'
expect 1 build r2 --output-dir "$CHANNEL" --variant 'cuda_arch_list=8.0;8.6;9.0'
err_has 'the package lacks machine code for 8.6 and 9.0, but cuda_arch_list is 8.0;8.6;9.0'
expect 0 build r2 --output-dir "$CHANNEL" --variant 'cuda_arch_list=8.0'
err_has 'the package contains PTX of 9.0, but cuda_arch_list is 8.0'
expect 1 build r2 --output-dir "$CHANNEL" --variant 'cuda_arch_list=8.0+PTX'
err_has 'the package lacks PTX of 8.0, but cuda_arch_list is 8.0+PTX'

# The same code outside of shared libraries.
mkdir -p r3/code
cp r2/gpu/fatbin.py r3/code
cat > r3/code/recipe.yaml <<'END'
package: {name: code, version: "1"}
build:
  variant: {use_keys: [cuda_arch_list]}
  script:
    - mkdir -p $PREFIX/lib
    - 'echo "int f(void) { return 1; }" > f.c; cc -c -o f.o f.c'
    - python3 $RECIPE_DIR/fatbin.py > $PREFIX/lib/kernels.fatbin
    - objcopy --add-section .nv_fatbin=$PREFIX/lib/kernels.fatbin f.o g.o
    - ar rc $PREFIX/lib/libcode.a f.o g.o
END
expect 1 build r3 --output-dir "$CHANNEL" --variant cuda_arch_list=7.5
err_has 'the package lacks machine code for 7.5, but cuda_arch_list is 7.5'
expect 0 build r3 --output-dir "$CHANNEL" --variant 'cuda_arch_list=8.0;90-virtual'
expect 0 inspect "$(echo "$CHANNEL"/linux-64/code-*.conda)" --json
json '{b["path"]: b["gpu_code"]["sass"] for b in d["binaries"]} == {"lib/kernels.fatbin": ["8.0"], "lib/libcode.a": ["8.0"]}'

# What a real compiler writes: code for one capability alone, for a family, and plain code.
if command -v nvcc > /dev/null && nvcc --list-gpu-arch | grep -qx compute_121; then
    printf '__global__ void k(float* p) { p[threadIdx.x] *= 2; }\n' > k.cu
    real() {
        check timeout -s KILL 120 nvcc "${@:3}" -gencode "arch=compute_$1,code=[sm_$1,compute_$1]" -o "$2" k.cu
    }
    while read -r target text; do
        real "$target" "real-$target.so" -shared -Xcompiler -fPIC -cudart none
        expect 0 inspect "real-$target.so"
        out_has "machine code for $text, PTX of $text"
        real "$target" "real-$target.fatbin" -fatbin
        expect 0 inspect "real-$target.fatbin"
        out_has "machine code for $text, PTX of $text"
        real "$target" "real-$target.a" -lib
        expect 0 inspect "real-$target.a"
        out_has "static library
  GPU code  machine code for $text, PTX of $text"
        check timeout -s KILL 120 nvcc -cubin -arch "sm_$target" -o "real-$target.cubin" k.cu
        expect 0 inspect "real-$target.cubin" --json
        json "d['gpu_code']['sass'] == ['$text'] and d['kind'] == 'GPU code'"
    done <<< '80 8.0
90 9.0
120 12.0
120a 12.0a
120f 12.0f'
    # From CUDA 12.8 on ptxas tells the letter; 9.0a is of before.
    real 90a real-90a.so -shared -Xcompiler -fPIC -cudart none
    expect 0 inspect real-90a.so
    out_has 'machine code for 9.0a, PTX of 9.0a'
    mkdir -p r4/real
    cp real-120a.so r4/real/
    cat > r4/real/recipe.yaml <<'END'
package: {name: real, version: "1"}
build: {variant: {use_keys: [cuda_arch_list]}, script: 'mkdir $PREFIX/lib; cp $RECIPE_DIR/real-120a.so $PREFIX/lib', dynamic_linking: {missing_dso_allowlist: ['lib*']}}
END
    expect 1 build r4 --output-dir "$CHANNEL" --variant cuda_arch_list=12.0+PTX
    err_has 'the package lacks machine code for 12.0, PTX of 12.0, but cuda_arch_list is 12.0+PTX'
    expect 0 build r4 --output-dir "$CHANNEL" --variant cuda_arch_list=12.0a+PTX
else
    echo 'skipped: what nvcc writes; there is no nvcc here that knows compute_121'
fi

finish
