#include "libcore/solve/accelerators.hpp"

#include <algorithm>

namespace gpkg {
namespace {

bool is_there(const std::vector<PackageRecord>& records, std::string_view name) {
    return std::any_of(
        records.begin(), records.end(), [&](const auto& record) { return record.name == name; });
}

}  // namespace

AcceleratorChoice Accelerators::choice(std::string_view package) const {
    const auto own = of_package.find(std::string(package));
    return own == of_package.end() ? all : own->second;
}

bool Accelerators::is_asked(std::string_view package) const {
    const std::string name(package);
    return asked_packages.contains(name) || (all_is_asked && !of_package.contains(name));
}

std::optional<Accelerator> found_accelerator(const std::vector<PackageRecord>& installed,
                                             const std::vector<PackageRecord>& virtual_packages) {
    using Found = std::set<Accelerator>;
    Found built;
    for (const auto& record : installed) {
        const auto of = accelerator_of(record).accelerator;
        if (of != Accelerator::None) built.insert(of);
    }
    if (built.size() == 1) return *built.begin();
    const auto have = [&](std::string_view nvidia, std::string_view amd) {
        Found found;
        if (is_there(virtual_packages, nvidia)) found.insert(Accelerator::Nvidia);
        if (is_there(virtual_packages, amd)) found.insert(Accelerator::Amd);
        return found;
    };
    for (const auto& found : {have("__cuda_arch", "__amdgpu_arch"),
                              have("__cuda", "__amdgpu"),
                              have("__cuda", "__rocm")}) {
        if (found.size() == 1) return *found.begin();
        if (found.size() > 1) return std::nullopt;
    }
    return Accelerator::None;
}

}  // namespace gpkg
