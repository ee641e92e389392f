// Against NVIDIA's own driver and device, on machines that have them:  unit_virtual_packages
// "[.gpu]"

#include "libcore/hardware/gpu_targets.hpp"
#include "tests/support/catch.hpp"
#include "virtual-packages/profile.hpp"
#include "virtual-packages/virtual_package.hpp"

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace gpkg::virtual_packages::gpu_test {
namespace {

std::string output_of(const char* command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"), ::pclose);
    REQUIRE(pipe);
    std::string output;
    std::array<char, 4096> piece{};
    while (const auto count = std::fread(piece.data(), 1, piece.size(), pipe.get()))
        output.append(piece.data(), count);
    return output;
}

HardwareProfile real_machine() {
    auto host = this_machine();
    host.cuda.program = {GPKG_TEST_CUDA_PROBE};
    return detect_profile(host).profile;
}

/// The functions of the driver API that a small program needs; all return 0 for success.
class Driver {
public:
    Driver() : library_(::dlopen("libcuda.so.1", RTLD_NOW)) {
        REQUIRE(library_ != nullptr);
        REQUIRE(call<int(unsigned)>("cuInit")(0) == 0);
        REQUIRE(call<int(int*, int)>("cuDeviceGet")(&device_, 0) == 0);
        void* context = nullptr;
        REQUIRE(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, device_) == 0);
        REQUIRE(call<int(void*)>("cuCtxSetCurrent")(context) == 0);
    }

    /// What the function `answer` of this PTX writes; nothing where the driver refuses the code.
    std::optional<unsigned> run(const std::string& ptx) {
        void* module = nullptr;
        if (call<int(void**, const void*)>("cuModuleLoadData")(&module, ptx.c_str()) != 0)
            return std::nullopt;
        void* function = nullptr;
        REQUIRE(call<int(void**, void*, const char*)>("cuModuleGetFunction")(
                    &function, module, "answer") == 0);
        std::uint64_t memory = 0;
        REQUIRE(call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&memory, 4) == 0);
        std::array<void*, 1> arguments{&memory};
        using Launch = int(void*,
                           unsigned,
                           unsigned,
                           unsigned,
                           unsigned,
                           unsigned,
                           unsigned,
                           unsigned,
                           void*,
                           void**,
                           void**);
        REQUIRE(call<Launch>("cuLaunchKernel")(
                    function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr) == 0);
        unsigned value = 0;
        REQUIRE(call<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2")(
                    &value, memory, 4) == 0);
        return value;
    }

private:
    template <typename Function>
    Function* call(const char* name) const {
        auto* function = reinterpret_cast<Function*>(::dlsym(library_, name));
        REQUIRE(function != nullptr);
        return function;
    }

    void* library_;
    int device_ = 0;
};

std::string ptx_for(const std::string& version, const std::string& target) {
    return fmt::format(R"(.version {}
.target {}
.address_size 64
.visible .entry answer(.param .u64 place)
{{
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [place];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], 42;
    ret;
}}
)",
                       version,
                       target);
}

TEST_CASE("a real device is told as nvidia-smi has it", "[.gpu]") {
    const auto profile = real_machine();
    REQUIRE(profile.cuda);
    REQUIRE(profile.nvidia_driver);
    CHECK(output_of("nvidia-smi --query-gpu=driver_version --format=csv,noheader")
              .starts_with(profile.nvidia_driver->value + "\n"));
    std::string told;
    for (const auto& gpu : profile.gpus) {
        if (gpu.vendor == GpuVendor::Nvidia)
            told += fmt::format("{}, {}\n", gpu.name, gpu.architecture);
    }
    CHECK(told == output_of("nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader"));
    const auto detection =
        virtual_packages_of(profile, "linux-64", [](std::string_view) { return std::nullopt; });
    REQUIRE(detection.find("__cuda") != nullptr);
    REQUIRE(detection.find("__cuda_arch") != nullptr);
    CHECK(detection.find("__cuda")->package.version == profile.cuda->value);
}

TEST_CASE("code runs on a real device as code_fit has it", "[.gpu]") {
    const auto profile = real_machine();
    REQUIRE_FALSE(profile.gpus.empty());
    const auto parsed = Version::parse(profile.gpus.front().architecture);
    REQUIRE(parsed);
    const auto device = CudaTarget::of(*parsed);
    Driver driver;
    // PTX of an earlier major version is compiled, and of a later one refused.
    REQUIRE(code_fit(CudaTarget{50}, device) == CodeFit::Compiled);
    CHECK(driver.run(ptx_for("6.0", "sm_50")) == 42);
    if (code_fit(CudaTarget{120}, device) == CodeFit::No)
        CHECK_FALSE(driver.run(ptx_for("8.7", "sm_120")));
}

}  // namespace
}  // namespace gpkg::virtual_packages::gpu_test
