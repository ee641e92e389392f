#include "libcore/spec/accelerator.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Verdict = std::optional<Accelerator>;

/// A word of a flag, of a mutex' build or of a build string.
Verdict meaning_of(std::string_view word) {
    if (word.starts_with("cuda") || word == "nvidia" || word == "gpu") return Accelerator::Nvidia;
    if (word.starts_with("rocm") || word.starts_with("hip") || word == "amd")
        return Accelerator::Amd;
    if (word.starts_with("cpu") || word == "none") return Accelerator::None;
    return std::nullopt;
}

/// "cuda", "accel:nvidia", "gpu:amd".
Verdict meaning_of_flag(std::string_view flag) {
    const auto colon = flag.find(':');
    if (colon == std::string_view::npos) return meaning_of(flag);
    const auto name = flag.substr(0, colon);
    if (name == "accel" || name == "gpu") return meaning_of(flag.substr(colon + 1));
    return name == "cuda" || name == "rocm" ? meaning_of(name) : std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "cuda129" and "cu102" of "py39_cu102_0"; not "custom".
Verdict meaning_of_token(std::string_view token) {
    if (token.size() > 2 && token.starts_with("cu") && is_digit(token[2]))
        return Accelerator::Nvidia;
    return meaning_of(token);
}

/// Packages of which one build is in an environment, and says which builds of others are.
bool is_mutex(std::string_view name) {
    return name.ends_with("-proc") || name == "pytorch-mutex" || name == "_tensorflow_select" ||
           name == "pytorch" || name == "libtorch" || name == "jaxlib" || name == "tensorflow-base";
}

/// What a dependency on such a name says, whatever the version.
Verdict meaning_of_name(std::string_view name) {
    constexpr auto kNvidia = std::to_array<std::string_view>({
        "__cuda",
        "__cuda_arch",
        "cudatoolkit",
        "cudnn",
        "libcublas",
        "libcudnn",
        "libcufft",
        "libcurand",
        "libcusolver",
        "libcusparse",
        "libcufile",
        "libnvjitlink",
        "libcudss",
        "nccl",
        "pytorch-cuda",
        "pytorch-gpu",
        "tensorflow-gpu",
    });
    constexpr auto kAmd = std::to_array<std::string_view>(
        {"__amdgpu", "__amdgpu_arch", "__rocm", "hip", "rocblas", "rccl", "miopen", "miopen-hip"});
    if (std::find(kNvidia.begin(), kNvidia.end(), name) != kNvidia.end() ||
        (name.starts_with("cuda-") && name != "cuda-pathfinder"))
        return Accelerator::Nvidia;
    if (std::find(kAmd.begin(), kAmd.end(), name) != kAmd.end() || name.starts_with("rocm-") ||
        name.starts_with("hip-"))
        return Accelerator::Amd;
    if (name == "cpuonly" || name == "pytorch-cpu" || name == "tensorflow-cpu")
        return Accelerator::None;
    return std::nullopt;
}

/// "pytorch-mutex 1.0 cuda", "faiss-proc * cpu", "pytorch * cuda*".
Verdict meaning_of_build(const std::string& depend) {
    const auto spec = MatchSpec::parse(depend);
    if (!spec || !spec->build) return std::nullopt;
    auto text = std::string_view(spec->build->text());
    while (text.starts_with('*') || text.starts_with('^')) text.remove_prefix(1);
    for (const auto token : split(text, '_')) {
        if (const auto verdict = meaning_of_token(token)) return verdict;
    }
    return std::nullopt;
}

/// The machine says most, then the mutexes, then the libraries.
std::optional<AcceleratorOf> by_dependencies(const PackageRecord& record) {
    std::optional<AcceleratorOf> of_mutex;
    std::optional<AcceleratorOf> of_library;
    for (const auto& depend : record.depends) {
        const auto name = name_in_spec(depend);
        const auto found = [&](Accelerator accelerator) {
            return AcceleratorOf{accelerator, "needs " + depend};
        };
        if (const auto verdict = meaning_of_name(name)) {
            if (name.starts_with("__")) return found(*verdict);
            if (!of_library) of_library = found(*verdict);
        } else if (is_mutex(name) && !of_mutex) {
            if (const auto verdict_of_build = meaning_of_build(depend))
                of_mutex = found(*verdict_of_build);
        }
    }
    return of_mutex ? of_mutex : of_library;
}

/// "12.9" of "129", "12.4" of "12.4", "11.2" of "112", "9.2" of "92", "13" of "13".
std::string dotted(std::string_view digits) {
    if (digits.find('.') != std::string_view::npos || digits.size() < 2) return std::string(digits);
    const auto major = digits.size() == 2 && digits[0] != '1' ? 1U : 2U;
    if (digits.size() <= major) return std::string(digits);
    return fmt::format("{}.{}", digits.substr(0, major), digits.substr(major));
}

}  // namespace

std::string_view to_string(Accelerator accelerator) {
    switch (accelerator) {
    case Accelerator::None: return "none";
    case Accelerator::Nvidia: return "nvidia";
    case Accelerator::Amd: return "amd";
    }
    return "";
}

AcceleratorOf accelerator_of(const PackageRecord& record) {
    for (const auto& flag : record.flags) {
        if (const auto verdict = meaning_of_flag(flag)) return {*verdict, "flag " + flag};
    }
    if (auto found = by_dependencies(record)) return *std::move(found);
    for (const auto token : split(record.build, '_')) {
        if (const auto verdict = meaning_of_token(token))
            return {*verdict, "build " + record.build};
    }
    return {};
}

std::optional<std::string> cuda_of(const PackageRecord& record) {
    for (const std::string_view name : {"cuda-version", "pytorch-cuda", "cudatoolkit"}) {
        for (const auto& depend : record.depends) {
            if (name_in_spec(depend) != name) continue;
            const auto begin = depend.find_first_of("0123456789", name.size());
            if (begin == std::string::npos) continue;
            const auto end = depend.find_first_not_of("0123456789.", begin);
            auto version = depend.substr(begin, end - begin);
            while (version.ends_with('.')) version.pop_back();
            return version;
        }
    }
    for (const auto token : split(record.build, '_')) {
        for (const std::string_view prefix : {"cuda", "cu"}) {
            if (!token.starts_with(prefix)) continue;
            const auto digits = token.substr(prefix.size());
            if (!digits.empty() && digits.find_first_not_of("0123456789.") == std::string::npos)
                return dotted(digits);
            break;
        }
    }
    return std::nullopt;
}

}  // namespace gpkg
