// The CUDA probe as a program of its own: what `gpkg __probe-cuda LIBRARY...` is.

#include "virtual-packages/cuda.hpp"

int main(int count, char** arguments) {
    gpkg::virtual_packages::cuda_probe_main(
        std::span<char* const>(arguments + 1, static_cast<std::size_t>(count) - 1));
}
