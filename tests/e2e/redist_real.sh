#!/bin/bash
# NVIDIA's own files: imported, built, installed, compiled and linked with, run.
#   tests/e2e/redist_real.sh PROGRAM WORK         cudart, NVRTC and cuRAND of CUDA 12.4, 60 MB
#   tests/e2e/redist_real.sh PROGRAM WORK full    CUDA 11.8, CUDA 12.4 and NCCL: 3.6 GB, and 40 GB of disk below WORK
# They are Debian's (12 and 13, non-free), which apt fetches into WORK and which stays there. With
# GPKG_TEST_CUDA_ROOT, a folder that the wheels of CUDA 13 were unpacked into, also that: of the short test only
# what compiles a program, of the full one all.
# Ends with 77, and says why, when neither can be had.
tree=${GPKG_TEST_CUDA_ROOT-}
GPKG=$1 KEEP=$2 extent=${3-short}
here=$(cd "$(dirname "$0")" && pwd)
tools=$here/../redist
recipes=$here/../../recipes
mkdir -p "$KEEP"
KEEP=$(readlink -f "$KEEP")
export TMPDIR=${TMPDIR:-$KEEP}
. "$here/lib.sh"
. "$tools/saxpy.sh"
unset CUDA_HOME CUDA_PATH LIBRARY_PATH NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
PATH=/usr/local/bin:/usr/bin:/bin
# Debian 13's NCCL asks for this one.
export CONDA_OVERRIDE_GLIBC=2.41

# stand_in PACKAGE LIBRARY...: a package of conda-forge's that NVIDIA's need, with the machine's library or, where
# it has none, one without content.
stand_in() {
    local name=$1 library file run=
    shift
    mkdir -p "base/$name/lib"
    for library; do
        file=$(cc -print-file-name="$library")
        if [ -e "$file" ]; then cp -L "$file" "base/$name/lib/$library"; else
            check cc -shared -Wl,-soname,"$library" -x c /dev/null -o "base/$name/lib/$library"; fi
    done
    [ "$name" = libstdcxx ] && run=libgcc
    cat > "base/$name/recipe.yaml" <<RECIPE
package: {name: $name, version: "1"}
source: {path: lib}
build: {script: 'mkdir -p "\$PREFIX/lib"; cp * "\$PREFIX/lib"', dynamic_linking: {overlinking_behavior: ignore}}
requirements: {run: [$run]}
RECIPE
}

# import MANIFEST ARCHIVES RECIPES [OPTION...]: and builds what it makes.
import() {
    local manifest=$1 archives=$2 to=$3
    shift 3
    expect 0 redist import "$manifest" --mirror "$archives" -o "$to" "$@"
    err_lacks warning
    expect 0 build "$to" --output-dir channel --zstd-level 1
    out_has ', 0 failed'
    err_is ''
    # What the build has made use of is not needed again.
    rm -rf channel.work/sources channel.work/builds
}

# release NAME [OPTION...]: of archives.py, as packages of the channel. Its exit status is that program's.
release() {
    local name=$1 archives=$KEEP/archives-$1 started=$SECONDS product status
    shift
    rm -rf "$archives"
    "$tools/archives.py" "$name" --output "$archives" --work-dir "$KEEP/work-$name" "$@" > "$WORK/archives" 2>&1
    status=$?
    case $status in
        0) ;;
        77) cat "$WORK/archives"; return 77 ;;
        *) last="archives.py $name $*" err=$(cat "$WORK/archives"); fail 'no archives'; return 1 ;;
    esac
    import "$archives"/redistrib_*.json "$archives" "recipes-$name" --with-cuda-version
    for product in cudnn nccl; do
        [ -d "$archives/$product/linux-x86_64" ] || continue
        import "$archives/$product"/redistrib_*.json "$archives" "recipes-$name-$product" --cuda-variant "${name%%.*}"
    done
    rm -rf "$archives"
    echo "CUDA $name: imported and built in $((SECONDS - started)) s"
}

# installed NAME CUDA PACKAGE...: an environment with these, held against what its files say.
installed() {
    local name=$1 cuda=$2
    shift 2
    expect 0 create -n "$name" -c ./channel --override-channels -y "cuda-version=$cuda" "$@"
    local gpu=()
    [ -x "$(place "$name")/bin/cuobjdump" ] && gpu=(--gpu "$GPKG" "$(place "$name")/bin/cuobjdump")
    check "$tools/check_installed.py" "$(place "$name")" "$GPKG_ROOT_PREFIX/pkgs" "${gpu[@]}"
}

# all_of CUDA: the packages of a CUDA in the channel, by name.
all_of() {
    python3 - "$1" <<'PY'
import json, sys
records = json.load(open("channel/linux-64/repodata.json"))["packages.conda"].values()
wanted = {f"cuda-version {version}.*" for version in (sys.argv[1], sys.argv[1].split(".")[0])}
print(*sorted({record["name"] for record in records if wanted & set(record["depends"])}))
PY
}

# compiles CUDA: a program with the libraries' headers, linked with the libraries, started.
cat > host.cu <<'CU'
#include <cstdio>
#include <curand.h>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
int main() {
    curandGenerator_t generator;
    float numbers[4] = {};
    if (curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS) return 1;
    if (curandGenerateUniform(generator, numbers, 4) != CURAND_STATUS_SUCCESS) return 2;
    int count = 0;
    const bool has_device = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    std::printf("%s, numbers %s\n", has_device ? "a device" : "no device", numbers[3] > 0 ? "right" : "wrong");
}
CU
compiles() {
    local cuda=$1 flags=()
    [ "$cuda" = 11.8 ] && flags=(-allow-unsupported-compiler)   # was made for gcc 11
    installed "dev-$cuda" "$cuda" cuda-nvcc libcurand-dev libstdcxx
    expect 0 run -n "dev-$cuda" sh -c 'command -v nvcc'
    out_is "$(place "dev-$cuda")/bin/nvcc"
    CXX=g++ expect 0 run -n "dev-$cuda" nvcc -arch=sm_80 "${flags[@]}" host.cu -lcurand \
        -Xlinker -rpath="$(place "dev-$cuda")/lib" -o "host-$cuda"
    expect 0 run -n "dev-$cuda" "./host-$cuda"
    out_has ', numbers right'
    compgen -G '/dev/nvidia[0-9]*' > "$WORK/devices" || out_has 'no device'
    # As C++ alone, by the flags that activation sets.
    echo '#include <cuda_runtime.h>
int main() { return CUDART_VERSION != WANTED || cudaGetErrorString(cudaSuccess)[0] != 110; }' > runtime.cpp  # "no error"
    IFS=. read -r major minor <<< "$cuda"
    expect 0 run -n "dev-$cuda" sh -c "g++ \$CPPFLAGS -DWANTED=$((major * 1000 + minor * 10)) runtime.cpp \$LDFLAGS \
        -lcudart -Wl,-rpath,\"\$CONDA_PREFIX/lib\" -o runtime-$cuda && ./runtime-$cuda"
}

# with_cmake CUDA: CMake's own modules find the compiler, the headers and the libraries.
with_cmake() {
    local cuda=$1 flags=
    [ "$cuda" = 11.8 ] && flags=-allow-unsupported-compiler
    command -v cmake > "$WORK/which" || return
    rm -rf project build
    mkdir project
    cp host.cu project
    cat > project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.24)
project(host LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(host host.cu)
target_link_libraries(host CUDA::cudart CUDA::curand)
CMAKE
    CXX=g++ CUDAARCHS=80 CUDAFLAGS=$flags expect 0 run -n "dev-$cuda" sh -c \
        'cmake $CMAKE_ARGS -DCMAKE_BUILD_RPATH="$CONDA_PREFIX/lib" -S project -B build && cmake --build build'
    expect 0 run -n "dev-$cuda" build/host
    out_has ', numbers right'
}

# saxpy CUDA: the recipe's variant, with the compiler that was just built.
saxpy() {
    local machine=h100
    [ "$1" = 11.8 ] && machine=v100
    CONDA_OVERRIDE_CUDA=$1 expect 0 build "$recipes/saxpy" -m "$recipes/saxpy/cuda-$1.yaml" --output-dir channel \
        -c ./channel --override-channels --for $machine
    local list
    list=$(sed -n 's/^cuda_arch_list: "\(.*\)"/\1/p' "$recipes/saxpy/cuda-$1.yaml")
    for file in channel/linux-64/saxpy-*.conda; do
        gpkg inspect "$file" --json
        [[ "$out" == *"\"cuda_arch_list\": \"$list\""* ]] || continue
        json "set(d['binaries'][0]['gpu_code']['sass']) == {x.removesuffix('+PTX') for x in '$list'.split(';')}"
        json "d['binaries'][0]['gpu_code']['ptx'] == [x.removesuffix('+PTX') for x in '$list'.split(';') if '+' in x]"
    done
}

stand_in libgcc libgcc_s.so.1
stand_in libstdcxx libstdc++.so.6
stand_in rdma-core libibverbs.so.1 libmlx5.so.1 librdmacm.so.1
stand_in libzlib libz.so.1
expect 0 build base --output-dir channel

there=()
if [ "$extent" = full ]; then
    for cuda in 11.8 12.4; do release $cuda && there+=($cuda); done
    [ -z "$tree" ] || { release 13 --tree "$tree" && there+=(13.0); }
    for cuda in "${there[@]}"; do
        installed "all-$cuda" "$cuda" $(all_of "$cuda")
        rm -rf "$(place "all-$cuda")"
    done
else
    basic=cuda_cudart,cuda_nvrtc,libcurand
    release 12.4 --libraries --component $basic && there+=(12.4)
    [ -z "$tree" ] || {
        release 13 --tree "$tree" --component $basic,cuda_cccl,cuda_crt,cuda_nvcc,libnvvm && there+=(13.0)
    }
fi
[ ${#there[@]} != 0 ] || { echo 'SKIPPED: no files of NVIDIA here' >&2; exit 77; }

compilers=()
expect 0 build "$recipes/saxpy" --output-dir channel
for cuda in "${there[@]}"; do
    installed "run-$cuda" "$cuda" cuda-cudart cuda-nvrtc libcurand
    check "$tools/use_libraries.py" "$(place "run-$cuda")"
    compgen -G "channel/linux-64/cuda-nvcc-$cuda*" > "$WORK/compiler" || continue
    compiles "$cuda"
    with_cmake "$cuda"
    saxpy "$cuda"
    compilers+=("$cuda")
done
saxpy_variants "${compilers[@]}"
# Where there is a device, the driver and the device are asked.
if compgen -G '/dev/nvidia[0-9]*' > "$WORK/devices"; then
    saxpy_says cuda ''
    out_has 'computed on NVIDIA'
fi
echo "of ${there[*]}; compiled with ${compilers[*]-none}"
finish
