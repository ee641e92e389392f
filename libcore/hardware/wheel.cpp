#include "libcore/hardware/wheel.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/toolkit.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gpkg {
namespace {

struct Told {
    Accelerator accelerator = Accelerator::None;
    std::string cuda;  ///< "12.8", "12"; empty where it is not said
};

/// "121" of "cu121", of "pt24cu121" and of "cu121torch2", "12" of "cuda12x", "6" of "rocm6": the
/// digits behind one of the words for a vendor's toolkit. No text where the token has no such word.
std::optional<std::string_view> release_digits(const Vendor& vendor, std::string_view token) {
    constexpr std::string_view kDigits = "0123456789";
    if (token.starts_with("pt")) {
        token.remove_prefix(2);
        token.remove_prefix(std::min(token.find_first_not_of(kDigits), token.size()));
    }
    for (const auto word : vendor.release_words) {
        if (!token.starts_with(word)) continue;
        token.remove_prefix(word.size());
        const auto digits =
            token.substr(0, std::min(token.find_first_not_of(kDigits), token.size()));
        return digits.empty() ? std::nullopt : std::optional(digits);
    }
    return std::nullopt;
}

std::optional<Told> told_by(std::string_view token) {
    for (const auto& row : accelerator_rows()) {
        if (token == row.word) return Told{row.accelerator, ""};
        const auto digits = release_digits(row, token);
        if (!digits) continue;
        const bool is_cuda = row.accelerator == Accelerator::Nvidia;
        return Told{row.accelerator, is_cuda ? dotted_release(*digits) : ""};
    }
    return token == "gpu" ? std::optional(Told{*accelerator_of_word(token), ""}) : std::nullopt;
}

/// "cu121" of "2.4.0+cu121", "rocm6" of "2.9.0+rocm6.4".
std::optional<Told> told_by_version(std::string_view version) {
    const auto plus = version.find('+');
    if (plus == std::string_view::npos) return std::nullopt;
    const auto label = normal_wheel_name(version.substr(plus + 1));
    for (const auto token : split(label, '-')) {
        if (auto told = told_by(token)) return told;
    }
    return std::nullopt;
}

/// "cuda12x" of "cupy-cuda12x", "gpu" of "onnxruntime-gpu". What a name begins with is what it is,
/// not for what: "cuda-python", "gpu-monitor".
std::optional<Told> told_by_name(std::string_view name) {
    // For CPUs without newer instructions (polars-lts-cpu), beside no build for GPUs.
    if (name.ends_with("-lts-cpu")) return std::nullopt;
    const auto tokens = split(name, '-');
    for (auto token = tokens.begin() + 1; token < tokens.end(); ++token) {
        if (auto told = told_by(*token)) return told;
    }
    return std::nullopt;
}

/// NVIDIA's own wheels, what others for its GPUs need: there is nothing to choose in their place.
bool is_nvidias_own(std::string_view name) {
    constexpr auto kPlain = std::to_array<std::string_view>(
        {"nvidia-cuda-runtime", "nvidia-cuda-nvrtc", "nvidia-cublas", "cuda-toolkit"});
    if (std::find(kPlain.begin(), kPlain.end(), name) != kPlain.end()) return true;
    const auto dash = name.rfind('-');
    return name.starts_with("nvidia-") &&
           release_digits(row_of(Accelerator::Nvidia), name.substr(dash + 1)).has_value();
}

/// Of those the ones whose version is that of CUDA.
bool has_version_of_cuda(std::string_view name) {
    return name.starts_with("nvidia-cuda-runtime") || name == "cuda-toolkit";
}

struct Requirement {
    std::string name;
    std::string version;  ///< behind "==", without an end of ".*"; empty where there is none
};

/// Of a line like 'nvidia-cuda-runtime-cu12 (==12.8.90) ; platform_system == "Linux"'. Nothing of
/// one that an extra brings: which extras were asked for nobody writes down.
std::optional<Requirement> requirement_of(std::string_view line) {
    const auto marker = std::min(line.find(';'), line.size());
    if (line.substr(marker).find("extra") != std::string_view::npos) return std::nullopt;
    line = trim(line.substr(0, marker));
    Requirement found;
    found.name =
        normal_wheel_name(line.substr(0, std::min(line.find_first_of(" ([<>=!~@"), line.size())));
    if (const auto pin = line.find("=="); pin != std::string_view::npos) {
        auto version = trim(line.substr(pin + 2));
        version = version.substr(0, std::min(version.find_first_of(",) *+"), version.size()));
        while (version.ends_with('.')) version.remove_suffix(1);
        found.version = version;
    }
    return found;
}

/// "12.8" of "12.8.90", "12" of "12".
std::string cuda_text(std::string_view version) {
    const auto release = release_named(Accelerator::Nvidia, version);
    return release ? release->named() : "";
}

std::optional<Told> told_by_requirements(const Wheel& wheel, const std::set<std::string>& present) {
    std::optional<Told> told;
    for (const auto& line : wheel.depends) {
        const auto needed = requirement_of(line);
        if (!needed || !present.contains(needed->name) || !is_nvidias_own(needed->name)) continue;
        if (has_version_of_cuda(needed->name) && !needed->version.empty())
            return Told{Accelerator::Nvidia, cuda_text(needed->version)};
        if (!told) told = Told{Accelerator::Nvidia, ""};
        if (const auto by_name = told_by_name(needed->name); by_name && told->cuda.empty())
            told->cuda = by_name->cuda;
    }
    return told;
}

/// "3.12" of "cp312-cp312-...", ">=3.9" of "cp39-abi3-...", else what it asks for.
std::string python_of(const Wheel& wheel) {
    for (const auto& tag : wheel.tags) {
        const auto parts = split(tag, '-');
        if (parts.size() < 3 || !parts[0].starts_with("cp3")) continue;
        const auto minor = parts[0].substr(3);
        if (minor.empty() || minor.find_first_not_of("0123456789") != minor.npos) continue;
        const auto version = "3." + std::string(minor);
        return parts[1].starts_with("cp") ? version : ">=" + version;
    }
    return wheel.python;
}

}  // namespace

std::string normal_wheel_name(std::string_view name) {
    std::string normal;
    for (const char c : to_lower(name)) {
        const bool parts = c == '-' || c == '_' || c == '.';
        if (parts && normal.ends_with('-')) continue;
        normal += parts ? '-' : c;
    }
    return normal;
}

std::set<std::string> normal_names(const std::vector<Wheel>& wheels) {
    std::set<std::string> names;
    for (const auto& wheel : wheels) names.insert(normal_wheel_name(wheel.name));
    return names;
}

VariantColumns wheel_columns(const Wheel& wheel, const std::set<std::string>& present) {
    const auto name = normal_wheel_name(wheel.name);
    VariantColumns columns;
    columns.python = python_of(wheel);
    if (is_nvidias_own(name)) {
        if (const auto told = told_by_name(name)) columns.cuda = told->cuda;
        if (has_version_of_cuda(name)) columns.cuda = cuda_text(wheel.version);
        return columns;
    }
    auto told = told_by_version(wheel.version);
    if (!told) told = told_by_name(name);
    if (!told || (told->accelerator == Accelerator::Nvidia && told->cuda.empty())) {
        if (auto needs = told_by_requirements(wheel, present)) told = std::move(needs);
    }
    if (!told) return columns;
    columns.accelerator = to_string(told->accelerator);
    columns.cuda = told->cuda;
    return columns;
}

}  // namespace gpkg
