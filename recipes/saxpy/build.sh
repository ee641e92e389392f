# One program from saxpy.cpp, and in variants for CUDA from saxpy.cu with machine code or PTX for each item of
# cuda_arch_list.
level=${psabi//_/-}     # x86-64-v3
level=${level%-v1}
flags="-O3 -march=$level -Wall"
# The compiler may be the machine's, and its C++ library newer than that of where this runs.
link="-static-libstdc++ -static-libgcc"
mkdir -p "$PREFIX/bin"

if [ "$accel" = cpu ]; then
    ${CXX:-c++} $flags $link ${LDFLAGS-} -DGPKG_SAXPY_BUILT_FOR="\"cpu ($psabi)\"" saxpy.cpp -o "$PREFIX/bin/saxpy"
    exit
fi
codes=()
for item in ${cuda_arch_list//;/ }; do
    code=${item%+PTX}
    code=${code/./}
    codes+=(-gencode "arch=compute_$code,code=sm_$code")
    [ "$item" = "${item%+PTX}" ] || codes+=(-gencode "arch=compute_$code,code=compute_$code")
done
# CUDA 11.8 was made for gcc 11; what is asked of the compiler here later ones do as well.
[ "${cuda_version%%.*}" -gt 11 ] || codes+=(-allow-unsupported-compiler)
nvcc "${codes[@]}" -Xcompiler "${flags// /,},${link// /,}" -cudart shared -DGPKG_SAXPY_GPU \
    -DGPKG_SAXPY_BUILT_FOR="\"cuda $cuda_version ($cuda_arch_list)\"" -Xlinker "-rpath=$PREFIX/lib" \
    saxpy.cpp saxpy.cu -o "$PREFIX/bin/saxpy"
