# gpkg lint: dependencies on a whole toolkit, the parts that would do, and the bytes that they save.
. "$(dirname "$0")/lib.sh"
command -v cc > /dev/null && command -v patchelf > /dev/null || { echo 'skipped: no cc or no patchelf here'; finish; exit; }

# part NAME VERSION LIBRARY...: a recipe of libraries, a hundred kB that do not compress beside them.
part() {
    local name=$1 version=$2 library
    shift 2
    mkdir -p "parts/$name"
    {
        printf 'package: {name: %s, version: "%s"}\nbuild:\n  script:\n' "$name" "$version"
        printf '    - mkdir -p $PREFIX/lib $PREFIX/share/%s\n' "$name"
        printf '    - head -c 100000 /dev/urandom > $PREFIX/share/%s/data\n' "$name"
        for library in "$@"; do
            printf '    - echo "int %s(void) { return 1; }" > x.c\n' "$library"
            printf '    - cc -shared -fPIC -Wl,-soname,lib%s.so.12 -o $PREFIX/lib/lib%s.so.12 x.c\n' "$library" "$library"
            printf '    - ln -s lib%s.so.12 $PREFIX/lib/lib%s.so\n' "$library" "$library"
        done
    } > "parts/$name/recipe.yaml"
}
part libcublas 12.9.1.4 cublas cublasLt
part cuda-cudart 12.9.79 cudart
part cuda-nvrtc 12.9.86 nvrtc
part libnpp 12.4.1 nppc
mkdir -p parts/cuda-nvcc-tools parts/cuda-toolkit
cat > parts/cuda-nvcc-tools/recipe.yaml <<'END'
package: {name: cuda-nvcc-tools, version: "12.9.86"}
build: {script: 'mkdir $PREFIX/bin; head -c 100000 /dev/urandom > $PREFIX/bin/ptxas; chmod +x $PREFIX/bin/ptxas'}
END
cat > parts/cuda-toolkit/recipe.yaml <<'END'
package: {name: cuda-toolkit, version: "12.9.1"}
requirements: {run: [libcublas 12.9.*, cuda-cudart 12.9.*, cuda-nvrtc 12.9.*, libnpp, cuda-nvcc-tools]}
END
expect 0 build parts --output-dir "$CHANNEL"

# app NAME LINE...: a program that links with two of the parts and depends on the whole.
app() {
    local name=$1
    shift
    mkdir -p "apps/$name"
    {
        cat <<END
package: {name: $name, version: "1"}
requirements: {host: [cuda-toolkit], run: [cuda-toolkit 12.9.*]}
build:
  script:
    - mkdir -p \$PREFIX/bin \$PREFIX/share
END
        printf '    - %s\n' "$@"
    } > "apps/$name/recipe.yaml"
}
app linked 'echo "int cublas(void), cudart(void); int main(void) { return cublas() + cudart(); }" > m.c' \
    'cc -o $PREFIX/bin/linked m.c -L$PREFIX/lib -lcublas -lcudart'
app opener 'printf "dlopen(\"libnvrtc.so.12\"), then run ptxas" > $PREFIX/share/opener'
app needless 'echo nothing > $PREFIX/share/needless'
mkdir -p apps/clean
sed -e 's/name: linked/name: clean/' -e 's/run: .*\]/run: [libcublas, cuda-cudart]/' -e 's/cuda-toolkit\]/libcublas, cuda-cudart]/' \
    apps/linked/recipe.yaml > apps/clean/recipe.yaml
expect 0 build apps --output-dir "$CHANNEL"

expect 1 lint "$(echo "$CHANNEL"/linux-64/linked-*.conda)"
out_has 'linked-1-hb0f4dca_0: depends on the whole toolkit cuda-toolkit 12.9.* but uses only libcudart.so.12 (cuda-cudart) and libcublas.so.12 (libcublas)'
out_has '    - libcublas >=12.9.1.4,<13.0a0
'
out_has '    - cuda-cudart >=12.9.79,<13.0a0
'
out_lacks nvrtc
out_lacks npp
expect 1 lint apps/linked --output-dir "$CHANNEL" --json
json 'd["success"] is False and d["packages"] == 1 and d["findings"][0]["rule"] == "whole-toolkit"'
json 'sorted(u["what"] for u in d["findings"][0]["uses"]) == ["libcublas.so.12", "libcudart.so.12"]'
json 'd["findings"][0]["saves"] == d["findings"][0]["before"] - d["findings"][0]["after"]'
# Three of the five parts, and the metapackage, are saved.
json '300000 < d["findings"][0]["saves"] < 330000 and 200000 < d["findings"][0]["after"] < 230000'
# As it says, so it is: with the advice taken nothing is left to say, and the closure is what was told.
told=$(printf %s "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["findings"][0]["after"])')
expect 0 lint apps/linked --output-dir "$CHANNEL" --fix
out_has "$PWD/apps/linked/recipe.yaml: replaced cuda-toolkit 12.9.* with cuda-cudart >=12.9.79,<13.0a0 and libcublas >=12.9.1.4,<13.0a0; build it again"
check grep -qF 'requirements: {host: [cuda-toolkit], run: ["cuda-cudart >=12.9.79,<13.0a0", "libcublas >=12.9.1.4,<13.0a0"]}' apps/linked/recipe.yaml
expect 0 build apps/linked --output-dir "$CHANNEL"
expect 0 lint apps/linked --output-dir "$CHANNEL"
out_is '1 recipe checked for dependencies on whole GPU toolkits: none (gpkg build checks everything else)'
expect 0 closure linked --json
own=$(stat -c %s "$(echo "$CHANNEL"/linux-64/linked-*.conda)")
json "d['total'] == $told + $own"

expect 1 lint apps/opener apps/needless apps/clean --output-dir "$CHANNEL"
out_has 'uses only ptxas (cuda-nvcc-tools, loaded by name) and libnvrtc.so.12 (cuda-nvrtc, loaded by name)'
out_has 'needless-1-hb0f4dca_0: depends on the whole toolkit cuda-toolkit 12.9.* but uses none of it
  remove it from requirements.run'
out_lacks clean-1

# Two toolkits that bring the same: what both pieces of advice save together is told, once.
mkdir -p parts2/cuda-libraries two/both
printf 'package: {name: cuda-libraries, version: "12.9.1"}\nrequirements: {run: [libcublas 12.9.*, cuda-nvrtc 12.9.*, libnpp, cuda-nvcc-tools]}\n' \
    > parts2/cuda-libraries/recipe.yaml
expect 0 build parts2 --output-dir "$CHANNEL"
sed -e 's/name: needless/name: both/' -e 's/run: .*\]/run: [cuda-toolkit 12.9.*, cuda-libraries]/' -e 's/needless/both/' \
    -e '$d' apps/needless/recipe.yaml > two/both/recipe.yaml
cat >> two/both/recipe.yaml <<'END'
    - echo "int cublas(void); int main(void) { return cublas(); }" > m.c
    - cc -o $PREFIX/bin/both m.c -L$PREFIX/lib -lcublas
END
expect 0 build two --output-dir "$CHANNEL"
expect 1 lint two --output-dir "$CHANNEL"
check [ "$(grep -c 'download size with dependencies' <<< "$out")" = 1 ]
check [ "$(grep -c -- '- libcublas >=' <<< "$out")" = 1 ]
out_lacks ' 0 B saved'
expect 1 lint two --output-dir "$CHANNEL" --json
# Libraries and compiler of 100 kB each: of five there is one left.
json '[390000 < f["saves"] < 430000 for f in d["findings"]] == [True] * 2'
expect 0 lint two --output-dir "$CHANNEL" --fix
expect 0 build two --output-dir "$CHANNEL"
expect 0 lint two --output-dir "$CHANNEL"

# One package of everything: parts of the channel do, or what they lack is told.
mkdir -p whole/cudatoolkit whole/all whole/part
cat > whole/cudatoolkit/recipe.yaml <<'END'
package: {name: cudatoolkit, version: "12.9"}
build:
  script:
    - mkdir -p $PREFIX/lib
    - head -c 900000 /dev/urandom > $PREFIX/lib/rest
    - for l in cublas cufft; do echo "int $l(void) { return 1; }" > x.c; cc -shared -fPIC -Wl,-soname,lib$l.so.12 -o $PREFIX/lib/lib$l.so.12 x.c; ln -s lib$l.so.12 $PREFIX/lib/lib$l.so; done
END
for use in all:'-lcublas -lcufft' part:-lcublas; do
    cat > "whole/${use%%:*}/recipe.yaml" <<END
package: {name: ${use%%:*}, version: "1"}
requirements: {host: [cudatoolkit], run: [cudatoolkit]}
build:
  script:
    - mkdir \$PREFIX/bin
    - 'echo "int cublas(void); int main(void) { return cublas(); }" > m.c'
    - cc -Wl,--no-as-needed -o \$PREFIX/bin/${use%%:*} m.c -L\$PREFIX/lib ${use#*:}
END
done
expect 0 build whole --output-dir "$CHANNEL"
expect 1 lint whole/part --output-dir "$CHANNEL"
out_has 'depends on the whole toolkit cudatoolkit but uses only libcublas.so.12 (libcublas)'
out_has '    - libcublas >=12.9.1.4,<13.0a0'
out_has ' saved'
expect 1 lint whole/all --output-dir "$CHANNEL" --fix --json
json 'd["findings"][0]["fixed"] is False'
expect 1 lint whole/all --output-dir "$CHANNEL" --json
json 'd["findings"][0]["only_in_toolkit"] == ["libcufft.so.12"] and d["findings"][0]["replace_with"] == []'
expect 1 lint whole/all --output-dir "$CHANNEL"
out_has 'no smaller package in the channel has libcufft.so.12'

# Damage is told of by the package's name and the path within it.
mkdir -p broken/damaged cut/linux-64
cat > broken/damaged/recipe.yaml <<'END'
package: {name: damaged, version: "1"}
build: {script: 'mkdir $PREFIX/lib; head -c 2000 /bin/sh > $PREFIX/lib/half.so'}
END
expect 0 build broken --output-dir "$CHANNEL" --no-test
err_has 'damaged-1-hb0f4dca_0: lib/half.so: damaged ELF file'
whole=$(echo "$CHANNEL"/linux-64/damaged-*.conda)
expect 0 lint "$whole"
err_has "$(basename "$whole"): lib/half.so: damaged ELF file: the file is truncated; its dependencies cannot be checked"
err_lacks gpkg-lint-
for name in damaged-1-h_0.conda download.conda download.tar.bz2; do
    head -c 300 "$whole" > "cut/linux-64/$name"
    expect 1 lint "cut/linux-64/$name"
    err_has "cut/linux-64/$name: damaged archive"
done
expect 1 lint nothing
err_has 'no such file or folder'
expect 1 lint parts/libnpp --output-dir elsewhere
err_has 'libnpp-12.4.1-hb0f4dca_0 is not in'
err_has "gpkg build $PWD/parts/libnpp/recipe.yaml --output-dir" 'to check the recipe alone: gpkg build' ' --render'
expect 2 lint
finish
