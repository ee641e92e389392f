#include "libcore/binary/host_libraries.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

template <std::size_t N>
bool begins_with_one(const std::array<std::string_view, N>& starts, std::string_view name) {
    return std::any_of(
        starts.begin(), starts.end(), [&](auto start) { return name.starts_with(start); });
}

}  // namespace

bool is_shared_library_name(std::string_view name) {
    const auto at = name.find(".so");
    return at != std::string_view::npos && at > 0 && (at + 3 == name.size() || name[at + 3] == '.');
}

bool is_glibc_library(std::string_view name) {
    // libcrypt is not among them: glibc 2.38 gave it up, and packages hold libxcrypt's. Nor is
    // libnsl.so.2, which is libnsl's own.
    static constexpr std::array<std::string_view, 17> kStarts{"ld-linux",
                                                              "ld64.so.",
                                                              "libc.so.6",
                                                              "libm.so.6",
                                                              "libmvec.so.1",
                                                              "libdl.so.2",
                                                              "libpthread.so.0",
                                                              "librt.so.1",
                                                              "libresolv.so.2",
                                                              "libutil.so.1",
                                                              "libanl.so.1",
                                                              "libnsl.so.1",
                                                              "libnss_files.so",
                                                              "libnss_dns.so",
                                                              "libnss_compat.so",
                                                              "libthread_db.so.1",
                                                              "libBrokenLocale.so.1"};
    return begins_with_one(kStarts, name);
}

bool is_driver_library(std::string_view name) {
    // NVIDIA's driver (its README, "Installed Components"), ROCm's runtime, Intel's Level Zero.
    static constexpr std::array<std::string_view, 9> kStarts{"libcuda.so",
                                                             "libcudadebugger.so",
                                                             "libnvidia-",
                                                             "libnvcuvid.so",
                                                             "libnvoptix.so",
                                                             "libamdhip64.so",
                                                             "libze_loader.so",
                                                             "libze_intel_gpu.so",
                                                             "libze_intel_npu.so"};
    return is_shared_library_name(name) && begins_with_one(kStarts, name);
}

bool is_in_stubs(std::string_view path) {
    const auto parts = split(path, '/');
    return std::find(parts.begin(), parts.end(), "stubs") != parts.end();
}

}  // namespace gpkg
