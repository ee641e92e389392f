// GPU code beside what the variant promises.

#include "libcore/base/text.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/hardware/gpu_targets.hpp"
#include "libcore/hardware/hardware_keys.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

/// "gfx90a:sramecc+:xnack-": however a person has ordered the features, compilers sort them.
std::string in_order(const std::string& target) {
    auto words = split(target, ':');
    std::sort(words.begin() + 1, words.end());
    return fmt::format("{}", fmt::join(words, ":"));
}

GpuCode promised_cuda(std::string_view list) {
    GpuCode code;
    for (const auto& item : split_targets(list)) {
        const auto asked = parse_cuda_code(item);
        if (!asked) continue;  // rendering has refused it
        if (asked->has_sass) code.sass.insert(asked->target);
        if (asked->has_ptx) code.ptx.insert(asked->target);
    }
    return code;
}

GpuCode promised_gfx(std::string_view list) {
    GpuCode code;
    for (const auto& item : split_targets(list)) code.gfx.insert(in_order(item));
    return code;
}

GpuCode found_gfx(const GpuCode& all) {
    GpuCode code;
    for (const auto& target : all.gfx) code.gfx.insert(in_order(target));
    return code;
}

/// The code in the package that is of one vendor, beside what a key promises of it.
class Comparison {
public:
    Comparison(const Variant& variant, std::vector<BinaryFinding>& findings)
        : variant_(variant), findings_(findings) {}

    void compare(std::string_view key,
                 const GpuCode& found,
                 GpuCode (*promised)(std::string_view)) {
        if (found.empty()) return;  // it promises nothing then: headers, Python files
        const auto value = variant_.find(std::string(key));
        if (value == variant_.end()) return check_accelerator(key, found);
        const auto& list = value->second.text;
        const auto asked = promised(list);
        if (const auto missing = asked.without(found); !missing.empty())
            add(true, missing, key, list, "build for it, or remove it from");
        if (const auto extra = found.without(asked); !extra.empty())
            add(false, extra, key, list, "build without it, or add it to");
    }

private:
    /// A build for CPUs, or for the other vendor's GPUs.
    void check_accelerator(std::string_view list_key, const GpuCode& found) {
        const auto value = variant_.find(std::string(kAccelKey));
        if (value == variant_.end()) return;
        const auto accelerator = accelerator_of_value(value->second.text);
        if (!accelerator || accelerator == find_hardware_key(list_key)->of) return;
        add(false, found, kAccelKey, value->second.text, "build without it, or change");
    }

    void add(bool is_error,
             const GpuCode& code,
             std::string_view key,
             std::string_view value,
             std::string_view advice) {
        auto text = to_string(code);
        findings_.push_back({BinaryFinding::Kind::GpuCode,
                             is_error,
                             {},
                             text,
                             fmt::format("the package {} {}, but {} is {}",
                                         is_error ? "lacks" : "contains",
                                         text,
                                         key,
                                         value),
                             fmt::format("{} {}", advice, key)});
    }

    const Variant& variant_;
    std::vector<BinaryFinding>& findings_;
};

}  // namespace

std::vector<BinaryFinding> gpu_code_findings(const Variant& variant, const GpuCode& code) {
    std::vector<BinaryFinding> findings;
    Comparison comparison(variant, findings);
    comparison.compare(kCudaArchListKey, {code.sass, code.ptx, {}}, promised_cuda);
    comparison.compare(kGfxListKey, found_gfx(code), promised_gfx);
    return findings;
}

}  // namespace gpkg
