# [.gpu] A CUDA program built by the real nvcc of this machine for several devices, what `gpkg doctor` says of each
# build, and what the GPU that is here does with it. Without nvcc it is skipped; without a GPU the builds are made and
# judged for an H100, and not run. On a machine with a GPU:  GPKG=build/release/gpkg bash tests/e2e/gpu_builds.sh
recipes=$(cd "$(dirname "$0")/../../recipes" && pwd)
. "$(dirname "$0")/lib.sh"

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null)
[ -n "$nvcc" ] || { echo "SKIPPED: no nvcc is here"; exit 0; }
cuda=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
libraries=$(ls -d "$(dirname "$(dirname "$(realpath "$nvcc")")")"/{lib64,lib} 2> /dev/null | head -n 1)
[ -n "$(ls "$libraries"/libcudart.so.* 2> /dev/null)" ] || { echo "SKIPPED: nvcc has no libcudart beside it"; exit 0; }

device=
if command -v nvidia-smi > /dev/null; then
    device=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 2> /dev/null)
fi
export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0
if [[ $device == *.* ]]; then
    unset CONDA_OVERRIDE_CUDA
    expect 0 hardware --json
    json '[g["architecture"] for g in d["gpus"] if g["vendor"] == "nvidia"][0] == "'"$device"'"'
    machine=() real=yes
else
    echo "SKIPPED in part: no GPU is here; what is built is judged for an H100, and not run"
    cat > h100.yaml <<YAML
gpkg_profile: 1
platform: linux-64
cpu: {microarchitecture: x86_64_v3}
system: {glibc: "2.36", linux: "6.1"}
nvidia: {cuda: "$cuda"}
gpus: [{vendor: nvidia, name: NVIDIA H100, architecture: "9.0", memory_mib: 81559}]
YAML
    unset CONDA_OVERRIDE_CUDA CONDA_OVERRIDE_GLIBC CONDA_OVERRIDE_LINUX
    device=9.0 machine=(--for ./h100.yaml) real=
fi
# The code for a device is exact; of an earlier major version there is PTX, and of a later one nothing runs.
case ${device%.*} in
    7) earlier=- later=8.0 ;;
    8) earlier=7.5 later=9.0 ;;
    9) earlier=8.0 later=10.0 ;;
    10) earlier=9.0 later=12.0 ;;
    *) earlier=9.0 later=- ;;
esac
# An earlier minor version of the same major runs as it is.
minor=-
case $device in 8.[6-9]) minor=8.0 ;; 10.3) minor=10.0 ;; 12.1) minor=12.0 ;; esac

# The machine's compiler as packages.
mkdir toolkit
cat > toolkit/recipe.yaml <<RECIPE
recipe: {name: toolkit, version: "$cuda.0"}
outputs:
  - package: {name: cuda-version, version: "$cuda"}
    build: {noarch: generic}
    requirements: {run_constraints: ["__cuda >=${cuda%%.*}"]}
  - package: {name: cuda-cudart}
    build: {script: 'mkdir -p \$PREFIX/lib && cp -d $libraries/libcudart.so.* \$PREFIX/lib/'}
    requirements: {run: [cuda-version $cuda.*]}
  - package: {name: cuda-cudart-dev}
    requirements: {run: [cuda-version $cuda.*, cuda-cudart], run_exports: [cuda-cudart]}
  - package: {name: cuda-nvcc}
    build:
      script: |
        mkdir -p "\$PREFIX/bin"
        printf '%s\n' '#!/bin/sh' 'exec $nvcc "\$@"' > "\$PREFIX/bin/nvcc"
        chmod +x "\$PREFIX/bin/nvcc"
    requirements: {run: [cuda-version $cuda.*], run_exports: {strong: ["cuda-version >=$cuda,<$((${cuda%%.*} + 1)).0a0"]}}
RECIPE
expect 0 build toolkit --output-dir channel --sandbox off

# judged KIND CODE STATUS TEXT: saxpy with this code alone, from recipe to verdict and, where there is a GPU, to its word.
judged() {
    local kind=$1 code=$2 wanted=$3 text=$4
    printf 'accel: cuda\npsabi: x86_64_v1\ncuda_version: "%s"\ncuda_arch_list: "%s"\n' "$cuda" "$code" > "$kind.yaml"
    rm -rf "channel-$kind"
    cp -r channel "channel-$kind"
    expect 0 build "$recipes/saxpy" -m "$kind.yaml" --output-dir "channel-$kind" -c "./channel-$kind" --override-channels \
        --sandbox off --no-test "${machine[@]}"
    # Made whatever the device here is; judged, and run, by what it is.
    CONDA_OVERRIDE_CUDA_ARCH=${code%+PTX} CONDA_OVERRIDE_CUDA=any expect 0 create -y -n "$kind" -c "./channel-$kind" \
        --override-channels saxpy "${machine[@]}"
    expect "$wanted" doctor -n "$kind" "${machine[@]}"
    out_has "$text"
    [ -n "$real" ] || return
    # A native program needs no compiling of PTX; one of PTX does; of another nothing runs.
    CUDA_DISABLE_PTX_JIT=1 expect 0 run -n "$kind" saxpy
    if [ "$kind" = exact ] || [ "$kind" = minor ]; then out_has "computed on NVIDIA" right; else out_has 'computed on the CPU'; fi
    expect 0 run -n "$kind" saxpy
    if [ "$kind" = later ]; then out_has 'computed on the CPU'; else out_has "($device)" right; fi
}
judged exact "$device" 0 "machine code for $device"
[ $minor = - ] || judged minor "$minor" 0 'GPU code: '
[ $earlier = - ] || judged earlier "$earlier+PTX" 0 "runs on $device as PTX, which the driver compiles"
[ $later = - ] || judged later "$later" 1 "has no code that runs on $device"
finish
