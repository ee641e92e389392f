// y = a * x + y, on the device that this build is for, else on the CPU. Says which.

#include "saxpy.hpp"

#include <cstdio>

#ifndef GPKG_SAXPY_BUILT_FOR  // build.sh says it
#define GPKG_SAXPY_BUILT_FOR "an unknown target"
#endif

static void saxpy_on_cpu(float a, const std::vector<float>& x, std::vector<float>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

int main() {
    std::printf("built for %s\n", GPKG_SAXPY_BUILT_FOR);
    std::vector<float> x(1 << 20, 3.0F);
    std::vector<float> y(x.size(), 1.0F);
    const float a = 2.0F;
    GpuRun run;
#ifdef GPKG_SAXPY_GPU
    run = saxpy_on_gpu(a, x, y);
    if (run.device.empty()) std::printf("no usable device: %s\n", run.reason.c_str());
#endif
    if (run.device.empty()) saxpy_on_cpu(a, x, y);
    std::printf("computed on %s\n", run.device.empty() ? "the CPU" : run.device.c_str());
    for (const float value : y) {
        if (value == 7.0F) continue;
        std::printf("wrong: %g instead of 7\n", static_cast<double>(value));
        return 1;
    }
    std::printf("right\n");
}
