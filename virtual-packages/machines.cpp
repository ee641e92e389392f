#include "virtual-packages/machines.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"
#include "virtual-packages/cpu.hpp"
#include "virtual-packages/package_names_internal.hpp"
#include "virtual-packages/version_text_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <system_error>

namespace gpkg::virtual_packages {
namespace {

/// A machine with one kind of accelerator. What is not said (glibc, kernel, ROCm) is unknown, and
/// the solver is told gpkg's defaults.
struct Machine {
    std::string_view name;
    std::string_view platform;
    std::string_view microarchitecture;  ///< the least that hosts of this device have
    GpuVendor vendor;
    std::string_view device;
    std::string_view architecture;
    std::uint32_t memory_gib;
    std::uint32_t compute_units;  ///< AMD's
    std::string_view cuda;        ///< of the driver
};

// R570 is the oldest of NVIDIA's driver branches that knows most of these devices; it supports CUDA
// 12.8. Those that came later have R580's, a Kepler the last that knows it, and an Orin that of
// JetPack 6. To compare with:
// developer.nvidia.com/cuda-gpus for compute capabilities, and rocm.docs.amd.com, "AMD GPU
// specifications", for gfx targets and compute units.
constexpr std::string_view kR470 = "11.4";
constexpr std::string_view kR570 = "12.8";
constexpr std::string_view kR580 = "13.0";
constexpr std::string_view kJetPack6 = "12.6";
constexpr auto kNvidia = GpuVendor::Nvidia;
constexpr auto kAmd = GpuVendor::Amd;
// clang-format off
constexpr Machine kMachines[] = {
    {"k80",       "linux-64",      "x86_64_v3",   kNvidia, "Tesla K80",                "3.7",     12,   0, kR470},
    {"gtx1080ti", "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA GeForce GTX 1080 Ti", "6.1",   11,   0, kR570},
    {"p100",      "linux-64",      "x86_64_v3",   kNvidia, "Tesla P100",               "6.0",     16,   0, kR570},
    {"v100",      "linux-64",      "x86_64_v3",   kNvidia, "Tesla V100",               "7.0",     32,   0, kR570},
    {"t4",        "linux-64",      "x86_64_v3",   kNvidia, "Tesla T4",                 "7.5",     16,   0, kR570},
    {"rtx2080ti", "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA GeForce RTX 2080 Ti", "7.5",   11,   0, kR570},
    {"a100",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA A100",              "8.0",     80,   0, kR570},
    {"a30",       "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA A30",               "8.0",     24,   0, kR570},
    {"a10",       "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA A10",               "8.6",     24,   0, kR570},
    {"a40",       "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA A40",               "8.6",     48,   0, kR570},
    {"a6000",     "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA RTX A6000",         "8.6",     48,   0, kR570},
    {"rtx3090",   "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA GeForce RTX 3090",  "8.6",     24,   0, kR570},
    {"orin",      "linux-aarch64", "armv8.2a",    kNvidia, "NVIDIA Jetson AGX Orin",   "8.7",     64,   0, kJetPack6},
    {"l4",        "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA L4",                "8.9",     24,   0, kR570},
    {"l40s",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA L40S",              "8.9",     48,   0, kR570},
    {"rtx4090",   "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA GeForce RTX 4090",  "8.9",     24,   0, kR570},
    {"h100",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA H100",              "9.0",     80,   0, kR570},
    {"h200",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA H200",              "9.0",    141,   0, kR570},
    {"gh200",     "linux-aarch64", "neoverse_v2", kNvidia, "NVIDIA GH200",             "9.0",     96,   0, kR570},
    {"b200",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA B200",              "10.0",   180,   0, kR570},
    {"gb200",     "linux-aarch64", "neoverse_v2", kNvidia, "NVIDIA GB200",             "10.0",   186,   0, kR570},
    {"b300",      "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA B300",              "10.3",   270,   0, kR580},
    {"thor",      "linux-aarch64", "armv9.0a",    kNvidia, "NVIDIA Jetson AGX Thor",   "11.0",   128,   0, kR580},
    {"rtx5090",   "linux-64",      "x86_64_v3",   kNvidia, "NVIDIA GeForce RTX 5090",  "12.0",    32,   0, kR570},
    {"gb10",      "linux-aarch64", "armv9.0a",    kNvidia, "NVIDIA GB10",              "12.1",   128,   0, kR580},
    {"mi100",     "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI100",       "gfx908",  32, 120, ""},
    {"mi210",     "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI210",       "gfx90a",  64, 104, ""},
    {"mi250x",    "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI250X",      "gfx90a",  64, 110, ""},
    {"mi300a",    "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI300A",      "gfx942", 128, 228, ""},
    {"mi300x",    "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI300X",      "gfx942", 192, 304, ""},
    {"mi300",     "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI300X",      "gfx942", 192, 304, ""},
    {"mi325x",    "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI325X",      "gfx942", 256, 304, ""},
    {"mi355x",    "linux-64",      "x86_64_v3",   kAmd,    "AMD Instinct MI355X",      "gfx950", 288, 256, ""},
    {"rx7900xtx", "linux-64",      "x86_64_v3",   kAmd,    "AMD Radeon RX 7900 XTX",   "gfx1100", 24,  96, ""},
    {"rx9070xt",  "linux-64",      "x86_64_v3",   kAmd,    "AMD Radeon RX 9070 XT",    "gfx1201", 16,  64, ""},
};
// clang-format on

/// Every machine of linux-64 runs what this one runs.
constexpr std::string_view kCpu = "cpu";

HardwareProfile profile_of(const Machine& machine) {
    const auto source = fmt::format("gpkg profile {}", machine.name);
    // The name tells the GPU alone.
    const auto fact = [&](std::string_view value) {
        return Fact{std::string(value), source, true};
    };
    HardwareProfile profile;
    profile.platform = machine.platform;
    profile.microarchitecture = fact(machine.microarchitecture);
    if (machine.vendor == GpuVendor::Nvidia) profile.cuda = fact(machine.cuda);
    if (machine.vendor == GpuVendor::Amd) profile.amdgpu = Fact{"", source};
    profile.gpus.push_back({machine.vendor,
                            std::string(machine.device),
                            std::string(machine.architecture),
                            std::uint64_t{machine.memory_gib} * 1024,
                            machine.compute_units});
    return profile;
}

/// Where code for a microarchitecture runs; nothing for those that no subdir is for.
std::optional<std::string_view> platform_of(std::string_view microarchitecture) {
    struct Family {
        std::string_view root, platform;
    };
    // Apple's descend from aarch64, too.
    constexpr Family kFamilies[] = {{"m1", "osx-arm64"},
                                    {"x86_64", "linux-64"},
                                    {"aarch64", "linux-aarch64"},
                                    {"ppc64le", "linux-ppc64le"},
                                    {"riscv64", "linux-riscv64"}};
    const auto line = lineage(microarchitecture);
    for (const auto& [root, platform] : kFamilies) {
        if (std::ranges::find(line, root) != line.end()) return platform;
    }
    return std::nullopt;
}

/// The macOS that the first computers with this chip came with: none of them runs an older one.
std::optional<std::string_view> first_macos(std::string_view microarchitecture) {
    constexpr std::pair<std::string_view, std::string_view> kFirst[] = {
        {"m1", "11.0"}, {"m2", "12.4"}, {"m3", "13.5"}, {"m4", "15.0"}};
    for (const auto& [chip, version] : kFirst) {
        if (chip == microarchitecture) return version;
    }
    return std::nullopt;
}

std::optional<HardwareProfile> bare_cpu(std::string_view name, std::string_view microarchitecture) {
    const auto platform = platform_of(microarchitecture);
    if (!platform) return std::nullopt;
    const auto fact = [&](std::string_view value) {
        return Fact{std::string(value), fmt::format("gpkg profile {}", name)};
    };
    HardwareProfile profile;
    profile.platform = *platform;
    profile.microarchitecture = fact(microarchitecture);
    if (const auto version = first_macos(microarchitecture)) {
        profile.osx = fact(*version);
        profile.osx->is_assumed = true;
    }
    return profile;
}

std::optional<HardwareProfile> machine_of_gpkg(std::string_view text) {
    const auto name = to_lower(text);
    if (name == kCpu) return bare_cpu(name, "x86_64");
    for (const auto& machine : kMachines) {
        if (machine.name == name) return profile_of(machine);
    }
    return bare_cpu(name, name);
}

bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".yaml") ||
           text.ends_with(".yml");
}

/// Whether the path leads to something, whatever is in its name.
bool is_file(std::string_view text) {
    std::error_code code;
    return is_path(text) && fs::exists(text, code);
}

fs::path file_of(std::string_view name, const fs::path& folder) {
    return folder / (std::string(name) + ".yaml");
}

/// A fact that can be given behind a machine: "glibc=2.36".
struct GivenFact {
    std::string_view key;
    std::optional<Fact> HardwareProfile::*fact;
    std::string_view system;  ///< platforms that have it begin with this; empty: all
    int least;                ///< numbers of a version; 0: a microarchitecture
};
constexpr GivenFact kGivenFacts[] = {
    {"cpu", &HardwareProfile::microarchitecture, "", 0},
    {"cuda", &HardwareProfile::cuda, "", 1},
    {"glibc", &HardwareProfile::glibc, "linux", 2},
    {"linux", &HardwareProfile::linux_, "linux", 2},
    {"osx", &HardwareProfile::osx, "osx", 1},
    {"rocm", &HardwareProfile::rocm, "", 1},
};

/// What stands between commas and blanks.
std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view kBetween = ", ";
    std::vector<std::string_view> words;
    for (auto at = text.find_first_not_of(kBetween); at != std::string_view::npos;
         at = text.find_first_not_of(kBetween, at)) {
        const auto end = std::min(text.find_first_of(kBetween, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

const GivenFact* given_fact(std::string_view part) {
    const auto key = part.substr(0, part.find('='));
    const auto* found = std::ranges::find(kGivenFacts, key, &GivenFact::key);
    return key == part || found == std::end(kGivenFacts) ? nullptr : found;
}

/// "h100" of "h100 glibc=2.36 driver=535", whether or not there are such facts. Only words with an
/// equal sign count: the path of a file may have blanks.
std::string_view before_facts(std::string_view part) {
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    for (;;) {
        const auto blank = part.rfind(' ');
        if (blank == std::string_view::npos || part.find('=', blank) == std::string_view::npos)
            return part;
        const auto before = part.find_last_not_of(' ', blank);
        if (before == std::string_view::npos) return part;
        part = part.substr(0, before + 1);
    }
}

/// What is wrong with a value; empty: nothing.
std::string fault_of(const GivenFact& given, std::string_view value, const std::string& platform) {
    if (!platform.starts_with(given.system))
        return fmt::format("platform {} has no {}", platform, given.key);
    if (given.least == 0) {
        const bool is_fine =
            is_microarchitecture(value) && !is_of_another_platform(value, platform);
        return is_fine ? "" : fmt::format("'{}' is not a CPU type for {}", value, platform);
    }
    if (given.fact == &HardwareProfile::cuda && is_driver_version(value))
        return fmt::format(
            "driver {0} supports CUDA {1}; write cuda={1}", value, cuda_of_driver(value));
    const bool is_version = !value.empty() && leading_version(value, 4, given.least) == value;
    return is_version || value == kAnyVersion
               ? ""
               : fmt::format("{}: expected a version, found '{}'", given.key, value);
}

/// Sets the facts of "a100,glibc=2.36" behind its machine.
Result<void> set_given_facts(std::string_view text,
                             std::string_view machine,
                             HardwareProfile& profile) {
    std::set<std::string_view> keys;
    for (const auto part : words_of(text.substr(machine.size()))) {
        const auto& given = *given_fact(part);
        const auto value = part.substr(given.key.size() + 1);
        if (!keys.insert(given.key).second)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: '{}' is given twice", text, given.key),
                        "give each fact once");
        if (const auto fault = fault_of(given, value, profile.platform); !fault.empty())
            return fail(ErrorKind::Usage, fmt::format("{}: {}", text, fault));
        profile.*given.fact = Fact{std::string(value), fmt::format("--for {}", text)};
    }
    return {};
}

/// The files of the folder by their names, without those that are known already.
void add_names(const fs::path& folder, std::map<std::string, fs::path>& to) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        if (entry.path().extension() == ".yaml") to.try_emplace(entry.path().stem(), entry.path());
    }
}

/// `text` is "partition=gpu".
tl::unexpected<Error> unknown_partition(std::string_view text,
                                        const std::vector<fs::path>& folders) {
    std::vector<std::string> known;
    for (const auto& machine : named_machines(folders)) {
        if (machine.name.starts_with("partition=")) known.push_back(machine.name);
    }
    auto hint = std::string("write the profiles of this cluster: gpkg hardware --slurm");
    if (!folders.empty())
        hint += fmt::format("; or one by hand: gpkg hardware export --for h100 -o {}",
                            shell_word(file_of(text, folders.front()).native()));
    if (!known.empty()) hint += fmt::format("; known: {}", join_some(known, "and"));
    return fail(ErrorKind::NotFound, fmt::format("{}: no profile for this partition", text), hint);
}

tl::unexpected<Error> unknown_machine(std::string_view text, const std::vector<fs::path>& folders) {
    auto names = microarchitecture_names();
    for (const auto& machine : named_machines(folders)) names.push_back(machine.name);
    const auto near = near_names(to_lower(text), names);
    if (near.empty() && text.starts_with("partition=")) return unknown_partition(text, folders);
    // "cpu" names a microarchitecture, and __archspec is overridden by another name.
    if (const auto* given = given_fact(text); given != nullptr && given->least > 0)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no machine before the fact", text),
                    fmt::format("for another machine: --for NAME,{}; for this machine: {}={}",
                                text,
                                override_variable(fmt::format("__{}", given->key)),
                                text.substr(given->key.size() + 1)));
    if (near.empty() && text.find('=') != std::string_view::npos)
        return fail(
            ErrorKind::NotFound, fmt::format("{}: unknown machine", text), hint_for_fact(text));
    constexpr std::string_view kNoGpu[] = {"none", "no-gpu", "nogpu"};
    if (std::ranges::find(kNoGpu, to_lower(text)) != std::end(kNoGpu))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: unknown machine", text),
                    "a machine without a GPU: --for cpu");
    constexpr std::string_view kVendorWords[] = {"gpu", "cuda", "rocm", "nvidia", "amd"};
    if (std::ranges::find(kVendorWords, to_lower(text)) != std::end(kVendorWords))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: unknown machine", text),
                    "name a model, such as a100; to list the names: gpkg hardware list");
    if (is_known_subdir(text))
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: a platform, not a machine", text),
                    fmt::format("to solve for a platform: --platform {}; for a machine: gpkg "
                                "hardware list",
                                text));
    return fail(ErrorKind::NotFound,
                fmt::format("{}: unknown machine", text),
                near.empty()
                    ? "list the names: gpkg hardware list; the path of a file contains a slash "
                      "or ends in .yaml"
                    : did_you_mean(near));
}

}  // namespace

std::string summary_of(const HardwareProfile& profile) {
    std::string text = profile.platform;
    if (profile.microarchitecture) text += ", " + profile.microarchitecture->value;
    for (const auto& gpu : profile.gpus)
        text += fmt::format(", {} ({})", gpu.name.empty() ? "GPU" : gpu.name, gpu.architecture);
    if (profile.cuda) text += ", CUDA " + profile.cuda->value;
    if (profile.known_by_names) text += "; from names only";
    return text;
}

std::vector<NamedMachine> named_machines(const std::vector<fs::path>& folders) {
    std::vector<NamedMachine> found;
    std::map<std::string, fs::path> own;
    for (const auto& folder : folders) add_names(folder, own);
    for (const auto& [name, path] : own) {
        const auto profile = read_profile(path);
        found.push_back(
            {name, profile ? summary_of(*profile) : profile.error().message, path.native()});
    }
    const auto add = [&](std::string_view name) {
        if (!own.contains(std::string(name)))
            found.push_back({std::string(name), summary_of(*machine_of_gpkg(name)), "gpkg"});
    };
    add(kCpu);
    for (const auto& machine : kMachines) add(machine.name);
    return found;
}

std::vector<std::string> machines_in(std::string_view text) {
    if (is_file(text)) return {std::string(text)};
    std::vector<std::string> machines;
    const auto take = [&](std::string_view part) {
        if (!machines.empty() && given_fact(part) != nullptr)
            machines.back() += fmt::format(",{}", part);
        else
            machines.emplace_back(part);
    };
    for (const auto part : split(text, ',')) {
        const auto machine = before_facts(part);
        take(trim(machine));
        for (const auto fact : words_of(part.substr(machine.size()))) take(fact);
    }
    return machines;
}

std::string_view without_given_facts(std::string_view machine) {
    while (!is_file(machine)) {
        const auto end = machine.find_last_of(", ");
        if (end == std::string_view::npos || given_fact(machine.substr(end + 1)) == nullptr) break;
        machine = machine.substr(0, machine.find_last_not_of(", ", end) + 1);
    }
    return machine;
}

std::string given_keys() {
    std::vector<std::string> keys;
    keys.reserve(std::size(kGivenFacts));
    for (const auto& given : kGivenFacts) keys.emplace_back(given.key);
    return join_some(keys, "and", keys.size());
}

std::string hint_for_fact(std::string_view fact) {
    constexpr std::string_view kDriver = "driver=";
    if (!fact.starts_with(kDriver))
        return fmt::format("facts that can follow a machine: {}", given_keys());
    return fmt::format("the driver is given as the CUDA version that it supports: cuda={}",
                       cuda_of_driver(fact.substr(kDriver.size())));
}

bool is_driver_version(std::string_view version) {
    return version.find('.') > 2 && version.size() > 2 && leading_version(version, 4, 1) == version;
}

std::string cuda_of_driver(std::string_view version) {
    // Branch and CUDA version, from the release notes of the CUDA toolkit.
    constexpr std::pair<unsigned, std::string_view> kBranches[] = {
        {450, "11.0"}, {455, "11.1"}, {460, "11.2"}, {465, "11.3"}, {470, "11.4"},
        {495, "11.5"}, {510, "11.6"}, {515, "11.7"}, {520, "11.8"}, {525, "12.0"},
        {530, "12.1"}, {535, "12.2"}, {545, "12.3"}, {550, "12.4"}, {555, "12.5"},
        {560, "12.6"}, {565, "12.7"}, {570, "12.8"}, {575, "12.9"}, {580, "13.0"}};
    const auto branch = whole_number<unsigned>(version.substr(0, version.find('.')));
    if (branch && *branch < 100) return std::string(version);
    std::string_view cuda = "12.4";  // an example
    for (const auto& [first, supported] : kBranches) {
        if (branch && *branch >= first) cuda = supported;
    }
    return std::string(cuda);
}

std::optional<std::string> given_key(std::string_view package) {
    const auto name = package == "__archspec" ? std::string_view("cpu") : package.substr(2);
    const auto* found = std::ranges::find(kGivenFacts, name, &GivenFact::key);
    if (found == std::end(kGivenFacts)) return std::nullopt;
    return std::string(name);
}

Result<HardwareProfile> find_machine(std::string_view text, const std::vector<fs::path>& folders) {
    if (const auto bare = without_given_facts(text); bare != text) {
        GPKG_TRY(auto profile, find_machine(bare, folders));
        GPKG_CHECK(set_given_facts(text, bare, profile));
        return profile;
    }
    if (is_path(text)) return read_profile(fs::path(text));
    // As it is written, else as gpkg's own names are taken: in small letters.
    for (const auto& name : {std::string(text), to_lower(text)}) {
        for (const auto& folder : folders) {
            std::error_code code;
            if (const auto own = file_of(name, folder); !name.empty() && fs::exists(own, code))
                return read_profile(own);
        }
    }
    if (auto profile = machine_of_gpkg(text)) return *std::move(profile);

    if (text == kAnyVersion)
        return fail(ErrorKind::NotFound,
                    "any: not a machine name",
                    "any is a version in a profile, e.g. cuda: any; gpkg hardware export writes "
                    "one");
    if (const auto colon = text.find(':');
        colon != std::string_view::npos && given_fact(text.substr(colon + 1)) != nullptr)
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: unknown machine", text),
                    fmt::format("write {},{}", text.substr(0, colon), text.substr(colon + 1)));
    return unknown_machine(text, folders);
}

}  // namespace gpkg::virtual_packages
