# Which of saxpy's variants a machine gets, and what it says when it runs. Sourced by tests that have built them
# into ./channel, with what they depend on.

# saxpy_says WORDS [MACHINE] [VARIABLE=VALUE...]: of the build that is chosen for it, when it runs here.
saxpy_says() {
    local words=$1 machine=${2-}
    shift "$(($# < 2 ? $# : 2))"
    rm -rf "$(place chosen)"
    env -u CONDA_OVERRIDE_CUDA "$@" "$GPKG" create -n chosen -c ./channel --override-channels -y saxpy \
        ${machine:+--for "$machine"} > "$WORK/stdout" 2> "$WORK/stderr"
    status=$? out=$(cat "$WORK/stdout") err=$(cat "$WORK/stderr")
    last="create saxpy for ${machine:-here} $*"
    checks=$((checks + 1))
    [ "$status" = 0 ] || { fail 'not created'; return; }
    expect 0 run -n chosen saxpy
    [[ $'\n'$out$'\n' == *$'\n'"built for $words"$'\n'* ]] || fail "$last: is not built for $words"
    out_has right
}

# saxpy_variants RELEASE...: those for CUDA that are there.
saxpy_variants() {
    local v1='cpu (x86_64_v1)' v3='cpu (x86_64_v3)'
    saxpy_says "$v1" '' CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_ARCHSPEC=x86_64
    saxpy_says "$v1" '' CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_ARCHSPEC=nehalem
    if grep -qw avx2 /proc/cpuinfo; then
        saxpy_says "$v3" '' CONDA_OVERRIDE_CUDA= CONDA_OVERRIDE_ARCHSPEC=x86_64_v3
        saxpy_says "$v3" mi300
        saxpy_says "$v3" h100 CONDA_OVERRIDE_CUDA=
    fi
    local cuda11='cuda 11.8 (6.0;7.0)' cuda12='cuda 12.4 (7.0;8.0;9.0+PTX)' cuda13='cuda 13.0 (8.0;9.0;12.0+PTX)'
    if [[ " $* " == *' 11.8 '* ]]; then
        saxpy_says "$cuda11" p100
        saxpy_says "$cuda11" v100 CONDA_OVERRIDE_CUDA=11.8
    fi
    if [[ " $* " == *' 12.4 '* ]]; then
        saxpy_says "$cuda12" v100
        saxpy_says "$cuda12" t4
        saxpy_says "$cuda12" h100
        saxpy_says "$cuda12" rtx5090   # by PTX
        saxpy_says "$cuda12" v100 CONDA_OVERRIDE_CUDA=13.0
    fi
    if [[ " $* " == *' 13.0 '* ]]; then
        saxpy_says "$cuda13" h100 CONDA_OVERRIDE_CUDA=13.0
        saxpy_says "$cuda13" rtx5090 CONDA_OVERRIDE_CUDA=13.0
    fi
    # What there is no code for is not quietly replaced by the processor's build.
    [ $# = 0 ] && return
    expect 1 solve -c ./channel --override-channels 'saxpy[accel=nvidia]' --for mi300
    err_has 'mi300 has no NVIDIA GPU (__cuda_arch)'
}
