#pragma once

#include <string>
#include <vector>

struct GpuRun {
    std::string device;  // name and compute capability; empty: none can be used
    std::string reason;  // why none can
};

// y = a * x + y on the first device that runs this program's code; y is as it was where none does.
GpuRun saxpy_on_gpu(float a, const std::vector<float>& x, std::vector<float>& y);
