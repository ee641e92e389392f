#include "saxpy.hpp"

#include <cuda_runtime.h>

namespace {

__global__ void saxpy(std::size_t size, float a, const float* x, float* y) {
    const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < size) y[i] += a * x[i];
}

// Device memory that is freed whatever happens.
struct Buffer {
    explicit Buffer(std::size_t bytes) { error = cudaMalloc(&data, bytes); }
    ~Buffer() { cudaFree(data); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    float* data = nullptr;
    cudaError_t error;
};

cudaError_t compute(float a, const std::vector<float>& x, std::vector<float>& y) {
    const std::size_t bytes = x.size() * sizeof(float);
    Buffer on_x(bytes);
    Buffer on_y(bytes);
    cudaError_t error = on_x.error != cudaSuccess ? on_x.error : on_y.error;
    if (error == cudaSuccess) error = cudaMemcpy(on_x.data, x.data(), bytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(on_y.data, y.data(), bytes, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) return error;
    saxpy<<<unsigned((x.size() + 255) / 256), 256>>>(x.size(), a, on_x.data, on_y.data);
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;  // no code of this program fits the device
    return cudaMemcpy(y.data(), on_y.data, bytes, cudaMemcpyDeviceToHost);
}

}  // namespace

GpuRun saxpy_on_gpu(float a, const std::vector<float>& x, std::vector<float>& y) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    for (int device = 0; error == cudaSuccess && device < count; ++device) {
        cudaDeviceProp properties;
        error = cudaSetDevice(device);
        if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device);
        if (error == cudaSuccess) error = compute(a, x, y);
        if (error == cudaSuccess)
            return {std::string(properties.name) + " (" + std::to_string(properties.major) + "." +
                        std::to_string(properties.minor) + ")",
                    ""};
    }
    return {"", error == cudaSuccess ? "the machine has none" : cudaGetErrorString(error)};
}
