#include "libcore/hardware/accelerator.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/hardware_keys.hpp"
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

/// "cuda129" and "cu102" of "py39_cu102_0"; not "custom". Without a CUDA they are for none:
/// "cuNone" (torchvision-cpu), "cuda_None" (ambertools), "cuda0.0" (faiss-cpu), "no_cuda".
Verdict meaning_of_token(std::string_view before, std::string_view token, std::string_view behind) {
    const bool is_cuda = token == "cuda";
    if (token == "cuNone" || token == "cudaNone" || token == "cuda0.0" ||
        (is_cuda && (before == "no" || before == "without" || behind.starts_with("None") ||
                     behind == "off" || behind.starts_with("off_"))))
        return Accelerator::None;
    if (token.size() > 2 && token.starts_with("cu") && is_digit(token[2]))
        return Accelerator::Nvidia;
    return meaning_of(token);
}

/// Packages of which one build is in an environment, and says which builds of others are.
bool is_mutex(std::string_view name) {
    return name.ends_with("-proc") || name == "pytorch-mutex" || name == "_tensorflow_select" ||
           name == "pytorch" || name == "libtorch" || name == "jaxlib" || name == "tensorflow-base";
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Headers too (rocprim, hipcub): who needs those where it runs has code for AMD's GPUs compiled
/// there, as CuPy does. CUDA's are taken so as well (cuda-cccl).
bool is_part_of_rocm(std::string_view name) {
    constexpr auto kBeginnings = std::to_array<std::string_view>({
        "hip-",       "hipblas",   "hipcc",       "hipcub",
        "hipfft",     "hipify",    "hiprand",     "hipsolver",
        "hipsparse",  "migraphx",  "miopen",      "rccl",
        "rocalution", "rocblas",   "rocfft",      "rocm-",
        "rocminfo",   "rocprim",   "rocprofiler", "rocr-runtime",
        "rocrand",    "rocsolver", "rocsparse",   "roct-thunk-interface",
        "rocthrust",  "roctracer",
    });
    return name == "hip" ||
           std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
               return name.starts_with(beginning);
           });
}

/// What a dependency on such a name says, whatever the version.
Verdict meaning_of_name(std::string_view name) {
    if (const auto vendor = vendor_of_virtual_package(name)) return vendor;
    constexpr auto kNvidia =
        std::to_array<std::string_view>({"pytorch-cuda", "pytorch-gpu", "tensorflow-gpu"});
    constexpr auto kNone =
        std::to_array<std::string_view>({"cpuonly", "pytorch-cpu", "tensorflow-cpu"});
    // One looks for CUDA, and does without; the other tells of devices, and runs nothing there.
    if (name == "cuda-pathfinder" || name == "rocm-smi") return std::nullopt;
    if (is_one_of(name, kNvidia) || is_part_of_cuda(name)) return Accelerator::Nvidia;
    if (is_part_of_rocm(name)) return Accelerator::Amd;
    return is_one_of(name, kNone) ? Verdict(Accelerator::None) : std::nullopt;
}

/// What is read of most dependencies is their name.
HintedAccelerator accelerator_of_text(const std::string& depend) {
    const auto name = name_in_spec(depend);
    if (!is_mutex(name) && depend.find_first_of("[;") == std::string::npos)
        return accelerator_of_dependency(name, "");
    const auto spec = MatchSpec::parse(depend);
    if (!spec || spec->when) return {};
    return accelerator_of_dependency(name, spec->build ? spec->build->text() : "");
}

/// Of what the dependencies say, the first that counts most. Those on a condition say nothing.
std::optional<AcceleratorOf> by_dependencies(const PackageRecord& record) {
    HintedAccelerator best;
    const std::string* evidence = nullptr;
    for (const auto& depend : record.depends) {
        const auto found = accelerator_of_text(depend);
        if (found.hint > best.hint) evidence = &depend;
        best.take(found);
    }
    if (evidence == nullptr) return std::nullopt;
    if (best.is_for_either) return AcceleratorOf{Accelerator::None, "", false, true};
    const bool is_by_library = best.hint == AcceleratorHint::Library &&
                               accelerator_of_build(record.build) != best.accelerator;
    return AcceleratorOf{best.accelerator, "needs " + *evidence, is_by_library};
}

}  // namespace

void HintedAccelerator::take(const HintedAccelerator& other) {
    if (other.hint > hint) {
        *this = other;
    } else if (other.hint == hint && hint == AcceleratorHint::Library) {
        const bool is_other = other.accelerator != accelerator;
        is_for_either = is_for_either || (is_other && other.accelerator != Accelerator::None &&
                                          accelerator != Accelerator::None);
    }
}

std::string_view to_string(Accelerator accelerator) {
    switch (accelerator) {
    case Accelerator::None: return "none";
    case Accelerator::Nvidia: return "nvidia";
    case Accelerator::Amd: return "amd";
    }
    return "";
}

std::optional<Accelerator> vendor_of(AcceleratorChoice choice) {
    if (choice == AcceleratorChoice::Nvidia) return Accelerator::Nvidia;
    if (choice == AcceleratorChoice::Amd) return Accelerator::Amd;
    return std::nullopt;
}

std::optional<Accelerator> vendor_of_virtual_package(std::string_view name) {
    if (name == "__cuda" || name == "__cuda_arch") return Accelerator::Nvidia;
    if (name == "__amdgpu" || name == "__amdgpu_arch" || name == "__rocm") return Accelerator::Amd;
    return std::nullopt;
}

std::string_view compute_platform(Accelerator accelerator) {
    switch (accelerator) {
    case Accelerator::None: return "CPU";
    case Accelerator::Nvidia: return "CUDA";
    case Accelerator::Amd: return "ROCm";
    }
    return "";
}

std::string_view vendor_title(Accelerator accelerator) {
    switch (accelerator) {
    case Accelerator::None: return "CPU";
    case Accelerator::Nvidia: return "NVIDIA";
    case Accelerator::Amd: return "AMD";
    }
    return "";
}

std::string_view to_string(AcceleratorChoice choice) {
    switch (choice) {
    case AcceleratorChoice::Auto: return "auto";
    case AcceleratorChoice::Nvidia: return "nvidia";
    case AcceleratorChoice::Amd: return "amd";
    case AcceleratorChoice::None: return "none";
    case AcceleratorChoice::Conda: return "conda";
    }
    return "";
}

Result<AcceleratorChoice> parse_accelerator_choice(std::string_view text) {
    using Choice = AcceleratorChoice;
    constexpr auto kChoices =
        std::to_array({Choice::Auto, Choice::Nvidia, Choice::Amd, Choice::None, Choice::Conda});
    if (text == "cpu") return Choice::None;
    std::vector<std::string> known;
    for (const auto choice : kChoices) {
        if (to_string(choice) == text) return choice;
        known.emplace_back(to_string(choice));
    }
    const auto lower = to_lower(text);
    auto near = near_names(lower, known);
    // What people say for them, "cuda" and "rocm", is near in meaning.
    if (const auto meant = meaning_of(lower)) near = {std::string(to_string(*meant))};
    return fail(ErrorKind::Usage,
                fmt::format("{}: not an accelerator", text.empty() ? "''" : text),
                did_you_mean(near, "use " + join_or(known)));
}

/// "cuda", "accel:nvidia", "gpu:amd", "sm:90a".
std::optional<Accelerator> accelerator_of_flag(std::string_view flag) {
    const auto colon = flag.find(':');
    if (colon == std::string_view::npos) return meaning_of(flag);
    const auto name = flag.substr(0, colon);
    if (name == "accel" || name == "gpu") return meaning_of(flag.substr(colon + 1));
    return accelerator_of_flag_word(name);
}

/// "pytorch-mutex 1.0 cuda", "faiss-proc * cpu", "pytorch * cuda*".
HintedAccelerator accelerator_of_dependency(std::string_view name, std::string_view build) {
    if (const auto verdict = meaning_of_name(name))
        return {name.starts_with("__") ? AcceleratorHint::Machine : AcceleratorHint::Library,
                *verdict,
                false};
    if (!is_mutex(name)) return {};
    if (const auto verdict = accelerator_of_build(build))
        return {AcceleratorHint::Mutex, *verdict, false};
    return {};
}

std::optional<Accelerator> accelerator_of_build(std::string_view build) {
    while (build.starts_with('*') || build.starts_with('^')) build.remove_prefix(1);
    std::string_view before;
    while (!build.empty()) {
        const auto end = std::min(build.find('_'), build.size());
        const auto token = build.substr(0, end);
        build.remove_prefix(std::min(end + 1, build.size()));
        if (const auto verdict = meaning_of_token(before, token, build)) return verdict;
        before = token;
    }
    return std::nullopt;
}

bool is_vendor_part(std::string_view name) {
    return is_part_of_cuda(name) || is_part_of_rocm(name);
}

bool is_framework(std::string_view name) {
    constexpr auto kFrameworks = std::to_array<std::string_view>(
        {"pytorch", "libtorch", "torch", "tensorflow", "tensorflow-base", "jaxlib"});
    return is_one_of(name, kFrameworks);
}

AcceleratorOf accelerator_of(const PackageRecord& record) {
    if (is_vendor_part(record.name)) return {};
    for (const auto& flag : record.flags) {
        if (const auto verdict = accelerator_of_flag(flag))
            return {*verdict, "flag " + flag, false};
    }
    if (auto found = by_dependencies(record)) return *std::move(found);
    if (const auto verdict = accelerator_of_build(record.build))
        return {*verdict, "build " + record.build, false};
    return {};
}

}  // namespace gpkg
