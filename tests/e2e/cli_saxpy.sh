# recipes/saxpy: variants for x86-64 levels and for CUDA, and which machine gets which. A stand-in compiles what nvcc
# would; redist_real.sh has the real one.
recipes=$(cd "$(dirname "$0")/../../recipes" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
. "$here/../redist/saxpy.sh"

# Compilers and libraries of three CUDAs.
for cuda in 11.8 12.4 13.0; do
    mkdir -p "toolkits/$cuda"
    cat > "toolkits/$cuda/recipe.yaml" <<RECIPE
recipe: {name: toolkit, version: "$cuda.9"}
outputs:
  - package: {name: cuda-version, version: "$cuda"}
    build: {noarch: generic}
    requirements: {run_constraints: ["__cuda >=${cuda%%.*}"]}
  - package: {name: cuda-cudart-dev}
    requirements: {run: [cuda-version $cuda.*]}
  - package: {name: cuda-nvcc}
    build:
      script: |
        mkdir -p "\$PREFIX/bin"
        printf '%s\n' '#!/bin/bash' 'for word; do' '    case \$word in' \\
            '    -DGPKG_SAXPY_BUILT_FOR=* | -o | /* | saxpy.cpp) words+=("\$word") ;;' \\
            '    -gencode) echo "\$2" >> "\$PREFIX/codes" ;;' '    esac' '    shift' 'done' \\
            'exec c++ "\${words[@]}" -static-libstdc++ -static-libgcc' > "\$PREFIX/bin/nvcc"
        chmod +x "\$PREFIX/bin/nvcc"
    requirements: {run: [cuda-version $cuda.*], run_exports: {strong: ["cuda-version >=$cuda,<$((${cuda%%.*} + 1)).0a0"]}}
RECIPE
done
expect 0 build toolkits --output-dir channel
expect 0 build "$recipes/saxpy" --output-dir channel --plan
out_has ': new (accel=cpu, psabi=x86_64_v1)' ': new (accel=cpu, psabi=x86_64_v3)'
expect 0 build "$recipes/saxpy" --output-dir channel --plan --json
json 'd["plan"][0]["variant"]["accel"] == "cpu"'
expect 0 build "$recipes/saxpy" --output-dir channel
for cuda in 11.8 12.4 13.0; do
    machine=h100
    [ $cuda = 11.8 ] && machine=v100
    CONDA_OVERRIDE_CUDA=$cuda expect 0 build "$recipes/saxpy" -m "$recipes/saxpy/cuda-$cuda.yaml" --output-dir channel \
        -c ./channel --override-channels --for $machine
done
expect 0 search -c ./channel --override-channels saxpy --json
json 'len(d["saxpy"]) == 5'
saxpy_variants 11.8 12.4 13.0
expect 0 variants -c ./channel --override-channels saxpy
out_has 'cuda_arch_list'
out_lacks 'psabi'
out_lacks 'accel '
expect 0 variants -c ./channel --override-channels saxpy --json
json '{v["variant"]["cpu"] for v in d["variants"]} == {None, "x86_64_v3"}'

# What a variant for CUDA has to say.
printf 'accel: cuda\npsabi: x86_64_v1\n' > half.yaml
expect 1 build "$recipes/saxpy" -m half.yaml --output-dir channel
err_has "'cuda_version' is not defined"
err_has 'set it with --variant cuda_version=VALUE or in variants.yaml'
printf 'accel: cuda\npsabi: x86_64_v1\ncuda_version: "12.4"\ncuda_arch_list: all-major\n' > half.yaml
expect 1 build "$recipes/saxpy" -m half.yaml --output-dir channel
err_has 'for CUDA 12.4 use 5.0;6.0;7.0;8.0;9.0+PTX'
# Keys that are not zipped: there is one build for the processor, whatever CUDAs there are.
mkdir plain
cat > plain/recipe.yaml <<'RECIPE'
package: {name: plain, version: "1"}
build: {script: 'echo "$accel ${cuda_version-}" > $PREFIX/plain', variant: {use_keys: [accel, cuda_version]}}
RECIPE
printf 'accel: [cpu, cuda]\ncuda_version: ["12.4", "13.0"]\n' > plain/variants.yaml
expect 0 build plain --output-dir plains --no-test
out_has '3 packages built'
finish
