#include "libcore/redist/compiler_activation.hpp"

#include "libcore/base/text.hpp"

#include <string_view>

namespace gpkg {
namespace {

// Of what is set here, nothing that the user has set is lost: lists of flags grow at their end, and
// are remembered. In a build nvcc lies in another prefix than what it compiles for; there the
// variant's cuda_arch_list becomes what CMake reads. FindCUDAToolkit of CMake 3.25 looks for
// headers beside nvcc alone, unless it is told where else.
constexpr std::string_view kActivate =
    R"(# Sets up nvcc for this environment. Written by gpkg redist import.
_gpkg_nvcc_keep() {
    eval "if [ -n \"\${$1+x}\" ]; then export GPKG_NVCC_$1=\"was \$$1\"; else export GPKG_NVCC_$1=unset; fi"
}
_gpkg_nvcc_add() {
    eval "export $1=\"\${$1:+\$$1 }\$2\""
}
_gpkg_nvcc_look() {
    _gpkg_nvcc_add CFLAGS "-I$1/@TARGET@/include -I$1/@TARGET@/include/cccl"
    _gpkg_nvcc_add CPPFLAGS "-I$1/@TARGET@/include -I$1/@TARGET@/include/cccl"
    _gpkg_nvcc_add CXXFLAGS "-I$1/@TARGET@/include -I$1/@TARGET@/include/cccl"
    _gpkg_nvcc_add LDFLAGS "-L$1/@TARGET@/lib -L$1/@TARGET@/lib/stubs"
    export CMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:+$CMAKE_PREFIX_PATH:}$1/@TARGET@"
}
for _gpkg_nvcc_name in CFLAGS CPPFLAGS CXXFLAGS LDFLAGS NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS CUDAARCHS \
    CMAKE_ARGS CMAKE_PREFIX_PATH; do
    _gpkg_nvcc_keep "$_gpkg_nvcc_name"
done
case ${CXX:-} in
    '' | *' '*) ;;
    *) _gpkg_nvcc_add NVCC_PREPEND_FLAGS "-ccbin=$CXX" ;;
esac
if [ "${CONDA_BUILD:-0}" = 1 ]; then
    _gpkg_nvcc_add CMAKE_ARGS "-DCUDAToolkit_TARGET_DIR=$PREFIX/@TARGET@"
    _gpkg_nvcc_look "$PREFIX"
    _gpkg_nvcc_look "$BUILD_PREFIX"
    _gpkg_nvcc_add NVCC_APPEND_FLAGS \
        "-I$PREFIX/@TARGET@/include -L$PREFIX/@TARGET@/lib -L$PREFIX/@TARGET@/lib/stubs"
    if [ -z "${CUDAARCHS+x}" ] && [ -n "${cuda_arch_list:-}" ]; then
        CUDAARCHS=$(printf %s "$cuda_arch_list" | sed -E -e 's/[;, ]+/;/g' \
            -e 's/sm_([0-9]+[af]?)/\1-real/g' -e 's/compute_([0-9]+[af]?)/\1-virtual/g' \
            -e 's/([0-9]+)\.?([0-9][af]?)\+PTX/\1\2/g' -e 's/([0-9]+)\.([0-9][af]?)-/\1\2-/g' \
            -e 's/([0-9]+)\.([0-9][af]?)/\1\2-real/g')
        export CUDAARCHS
    fi
else
    _gpkg_nvcc_add CMAKE_ARGS "-DCUDAToolkit_TARGET_DIR=$CONDA_PREFIX/@TARGET@"
    _gpkg_nvcc_look "$CONDA_PREFIX"
fi
unset -f _gpkg_nvcc_keep _gpkg_nvcc_add _gpkg_nvcc_look
unset _gpkg_nvcc_name
)";

constexpr std::string_view kDeactivate =
    R"(# Restores the variables as they were before the activation of nvcc.
for _gpkg_nvcc_name in CFLAGS CPPFLAGS CXXFLAGS LDFLAGS NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS CUDAARCHS \
    CMAKE_ARGS CMAKE_PREFIX_PATH; do
    eval "_gpkg_nvcc_was=\${GPKG_NVCC_$_gpkg_nvcc_name-}"
    case $_gpkg_nvcc_was in
        'was '*) eval "export $_gpkg_nvcc_name=\${_gpkg_nvcc_was#was }" ;;
        unset) unset "$_gpkg_nvcc_name" ;;
    esac
    unset "GPKG_NVCC_$_gpkg_nvcc_name"
done
unset _gpkg_nvcc_name _gpkg_nvcc_was
)";

}  // namespace

std::string compiler_activation(const std::string& target) {
    return replace_all(kActivate, "@TARGET@", target);
}

std::string compiler_deactivation() { return std::string(kDeactivate); }

}  // namespace gpkg
