#pragma once

// A machine made for a test: files below a temporary root, variables from a map, no CPUID, no
// driver.

#include "libcore/fs/file.hpp"
#include "virtual-packages/host.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpkg::tests {

using Variables = std::map<std::string, std::string, std::less<>>;

inline EnvLookup environment(Variables variables) {
    return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
}

class Machine {
public:
    explicit Machine(std::string platform = "linux-64")
        : folder_(TemporaryFolder::make(fs::temp_directory_path()).value()) {
        host.native_platform = platform;
        host.platform = std::move(platform);
        host.root = folder_.path() / "root";
        host.env = environment({});
        host.kernel_release = "6.8.0-45-generic";
        host.glibc = "2.36";
        host.glibc_source = "confstr _CS_GNU_LIBC_VERSION";
        host.now = [] { return std::chrono::system_clock::time_point(std::chrono::hours(480000)); };
        fs::create_directories(host.root);
    }

    void file(const fs::path& path, std::string_view text) const {
        if (auto written = write_file_atomically(host.root / path, text); !written)
            throw std::runtime_error(written.error().to_string());
    }

    /// Outside the machine's root.
    fs::path scratch() const { return folder_.path(); }

private:
    TemporaryFolder folder_;

public:
    virtual_packages::Host host;
};

}  // namespace gpkg::tests
