#include "virtual-packages/cpu.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

namespace gpkg::virtual_packages {
namespace {

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (const auto piece : split(text, ' '))
        if (const auto word = trim(piece); !word.empty()) found.push_back(word);
    return found;
}

CpuFeatures all_features(std::string_view name) {
    CpuFeatures found;
    for (const auto ancestor : lineage(name))
        for (const auto feature : words(find_microarchitecture(ancestor)->features))
            found.emplace(feature);
    return found;
}

bool runs(const Cpu& cpu, const Microarchitecture& entry) {
    // How to tell one version of the Arm architecture from another is not known.
    if (entry.name.starts_with("armv")) return false;
    const bool is_power = cpu.family == "ppc64le";
    if (!is_power && entry.vendor != "generic" && entry.vendor != cpu.vendor) return false;
    const auto ancestors = lineage(entry.name);
    if (std::ranges::find(ancestors, cpu.family) == ancestors.end()) return false;
    if (is_power) return entry.generation <= cpu.generation;
    return std::ranges::includes(cpu.features, all_features(entry.name));
}

/// A level first, so that one feature switched off in the firmware does not cost it. Among Arm
/// designs with the same features, the one with this CPU's part number.
std::string_view choose(const Cpu& cpu) {
    using Key = std::tuple<bool, std::size_t, std::size_t>;
    const auto key = [&](const Microarchitecture& entry) {
        return Key(entry.part != 0 && entry.part == cpu.part,
                   lineage(entry.name).size(),
                   all_features(entry.name).size());
    };
    std::vector<const Microarchitecture*> running;
    for (const auto& entry : microarchitectures())
        if (runs(cpu, entry)) running.push_back(&entry);
    const auto best = [&](auto&& accept) {
        const Microarchitecture* winner = nullptr;
        for (const auto* entry : running) {
            if (!accept(*entry)) continue;
            if (winner == nullptr || key(*winner) < key(*entry)) winner = entry;
        }
        return winner;
    };
    const auto* generic = best([](const auto& entry) { return entry.vendor == "generic"; });
    const std::string_view base = generic == nullptr ? cpu.family : generic->name;
    const auto* special = best([&](const auto& entry) {
        const auto ancestors = lineage(entry.name);
        return entry.name != base && std::ranges::find(ancestors, base) != ancestors.end();
    });
    return special == nullptr ? base : special->name;
}

enum class Register { Eax, Ebx, Ecx, Edx };
/// What the kernel must save for a feature to be usable: XCR0 bits.
constexpr std::uint64_t kAvxState = 0x6;
constexpr std::uint64_t kAvx512State = 0xe6;
constexpr std::uint64_t kAmxState = 0x60000;

struct CpuidBit {
    std::string_view feature;
    std::uint32_t leaf;
    std::uint32_t subleaf;
    Register in;
    unsigned bit;
    std::uint64_t state = 0;
};

using enum Register;
// Intel SDM volume 2A and AMD APM volume 3, "CPUID".
constexpr auto kCpuidBits = std::to_array<CpuidBit>({
    // clang-format off
    {"sse3", 1, 0, Ecx, 0},              {"pclmulqdq", 1, 0, Ecx, 1},       {"ssse3", 1, 0, Ecx, 9},
    {"fma", 1, 0, Ecx, 12, kAvxState},   {"cx16", 1, 0, Ecx, 13},           {"sse4_1", 1, 0, Ecx, 19},
    {"sse4_2", 1, 0, Ecx, 20},           {"movbe", 1, 0, Ecx, 22},          {"popcnt", 1, 0, Ecx, 23},
    {"aes", 1, 0, Ecx, 25},              {"xsave", 1, 0, Ecx, 26},          {"avx", 1, 0, Ecx, 28, kAvxState},
    {"f16c", 1, 0, Ecx, 29, kAvxState},  {"rdrand", 1, 0, Ecx, 30},         {"mmx", 1, 0, Edx, 23},
    {"sse", 1, 0, Edx, 25},              {"sse2", 1, 0, Edx, 26},

    {"fsgsbase", 7, 0, Ebx, 0},          {"tsc_adjust", 7, 0, Ebx, 1},      {"bmi1", 7, 0, Ebx, 3},
    {"avx2", 7, 0, Ebx, 5, kAvxState},   {"bmi2", 7, 0, Ebx, 8},            {"rdseed", 7, 0, Ebx, 18},
    {"adx", 7, 0, Ebx, 19},              {"clflushopt", 7, 0, Ebx, 23},     {"clwb", 7, 0, Ebx, 24},
    {"sha_ni", 7, 0, Ebx, 29},
    {"avx512f", 7, 0, Ebx, 16, kAvx512State},    {"avx512dq", 7, 0, Ebx, 17, kAvx512State},
    {"avx512ifma", 7, 0, Ebx, 21, kAvx512State}, {"avx512pf", 7, 0, Ebx, 26, kAvx512State},
    {"avx512er", 7, 0, Ebx, 27, kAvx512State},   {"avx512cd", 7, 0, Ebx, 28, kAvx512State},
    {"avx512bw", 7, 0, Ebx, 30, kAvx512State},   {"avx512vl", 7, 0, Ebx, 31, kAvx512State},

    {"pku", 7, 0, Ecx, 3},               {"waitpkg", 7, 0, Ecx, 5},         {"gfni", 7, 0, Ecx, 8},
    {"vaes", 7, 0, Ecx, 9, kAvxState},   {"vpclmulqdq", 7, 0, Ecx, 10, kAvxState},
    {"rdpid", 7, 0, Ecx, 22},            {"cldemote", 7, 0, Ecx, 25},       {"movdiri", 7, 0, Ecx, 27},
    {"movdir64b", 7, 0, Ecx, 28},
    {"avx512vbmi", 7, 0, Ecx, 1, kAvx512State},  {"avx512_vbmi2", 7, 0, Ecx, 6, kAvx512State},
    {"avx512_vnni", 7, 0, Ecx, 11, kAvx512State}, {"avx512_bitalg", 7, 0, Ecx, 12, kAvx512State},
    {"avx512_vpopcntdq", 7, 0, Ecx, 14, kAvx512State},

    {"avx512_vp2intersect", 7, 0, Edx, 8, kAvx512State},
    {"serialize", 7, 0, Edx, 14},        {"flush_l1d", 7, 0, Edx, 28},
    {"amx_bf16", 7, 0, Edx, 22, kAmxState}, {"amx_tile", 7, 0, Edx, 24, kAmxState},
    {"amx_int8", 7, 0, Edx, 25, kAmxState},

    {"sha512", 7, 1, Eax, 0, kAvxState}, {"sm3", 7, 1, Eax, 1, kAvxState},  {"sm4", 7, 1, Eax, 2, kAvxState},
    {"avx_vnni", 7, 1, Eax, 4, kAvxState}, {"avx512_bf16", 7, 1, Eax, 5, kAvx512State},
    {"cmpccxadd", 7, 1, Eax, 7},         {"avx_ifma", 7, 1, Eax, 23, kAvxState},
    {"avx_vnni_int8", 7, 1, Edx, 4, kAvxState}, {"avx_ne_convert", 7, 1, Edx, 5, kAvxState},
    {"avx_vnni_int16", 7, 1, Edx, 10, kAvxState},

    {"xsaveopt", 0xd, 1, Eax, 0},        {"xsavec", 0xd, 1, Eax, 1},

    {"lahf_lm", 0x80000001, 0, Ecx, 0},  {"abm", 0x80000001, 0, Ecx, 5},    {"sse4a", 0x80000001, 0, Ecx, 6},
    {"xop", 0x80000001, 0, Ecx, 11, kAvxState}, {"fma4", 0x80000001, 0, Ecx, 16, kAvxState},
    {"tbm", 0x80000001, 0, Ecx, 21},     {"3dnowext", 0x80000001, 0, Edx, 30},
    {"3dnow", 0x80000001, 0, Edx, 31},   {"clzero", 0x80000008, 0, Ebx, 0},
    // clang-format on
});

std::string vendor_text(const CpuidRegisters& leaf) {
    std::string text;
    for (const auto value : {leaf.ebx, leaf.edx, leaf.ecx})
        for (unsigned shift = 0; shift < 32; shift += 8)
            text += static_cast<char>((value >> shift) & 0xffU);
    return text;
}

std::uint32_t pick(const CpuidRegisters& registers, Register which) {
    switch (which) {
    case Eax: return registers.eax;
    case Ebx: return registers.ebx;
    case Ecx: return registers.ecx;
    case Edx: return registers.edx;
    }
    return 0;
}

Cpu read_x86_64(const Host& host) {
    // A virtual machine leaves and enters for every CPUID: ask each leaf once.
    std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> answers;
    const auto ask = [&](std::uint32_t leaf, std::uint32_t subleaf) {
        const auto [entry, is_new] = answers.try_emplace({leaf, subleaf});
        if (is_new) entry->second = host.cpuid(leaf, subleaf);
        return entry->second;
    };
    const auto first = ask(0, 0);
    const auto highest_extended = ask(0x80000000U, 0).eax;
    const bool has_xcr0 = ((ask(1, 0).ecx >> 27U) & 1U) != 0;
    const auto saved = has_xcr0 && host.xcr0 ? host.xcr0() : 0;

    Cpu cpu;
    cpu.family = "x86_64";
    cpu.vendor = vendor_text(first);
    for (const auto& flag : kCpuidBits) {
        // A CPU answers a leaf it lacks with that of another.
        if (flag.leaf > (flag.leaf >= 0x80000000U ? highest_extended : first.eax)) continue;
        if (flag.leaf == 7 && flag.subleaf > ask(7, 0).eax) continue;
        const auto registers = ask(flag.leaf, flag.subleaf);
        if (((pick(registers, flag.in) >> flag.bit) & 1U) == 0) continue;
        if ((saved & flag.state) == flag.state) cpu.features.emplace(flag.feature);
    }
    return cpu;
}

/// The first stanza of /proc/cpuinfo.
std::map<std::string, std::string, std::less<>> read_cpuinfo(const Host& host) {
    std::map<std::string, std::string, std::less<>> found;
    const auto text = read_file(host.root / "proc/cpuinfo");
    if (!text) return found;
    for (const auto line : split(*text, '\n')) {
        if (trim(line).empty()) {
            if (!found.empty()) break;
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        found.emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
    return found;
}

int number(std::string_view text, int base) {
    if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
    int value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return code == std::errc() && end != text.data() ? value : 0;
}

constexpr auto kArmImplementers = std::to_array<std::pair<int, std::string_view>>({
    {0x41, "ARM"},
    {0x42, "Broadcom"},
    {0x43, "Cavium"},
    {0x46, "Fujitsu"},
    {0x48, "HiSilicon"},
    {0x4e, "Nvidia"},
    {0x51, "Qualcomm"},
    {0x56, "Marvell"},
    {0x61, "Apple"},
    {0xc0, "Ampere"},
});

std::optional<Cpu> read_aarch64(const Host& host) {
    const auto info = read_cpuinfo(host);
    const auto features = info.find("Features");
    if (features == info.end()) return std::nullopt;
    Cpu cpu;
    cpu.family = "aarch64";
    for (const auto word : words(features->second)) cpu.features.emplace(word);
    if (const auto part = info.find("CPU part"); part != info.end())
        cpu.part = number(part->second, 16);
    if (const auto found = info.find("CPU implementer"); found != info.end()) {
        const auto code = number(found->second, 16);
        for (const auto& [implementer, name] : kArmImplementers)
            if (implementer == code) cpu.vendor = name;
    }
    return cpu;
}

std::optional<Cpu> read_ppc64le(const Host& host) {
    const auto info = read_cpuinfo(host);
    const auto cpu = info.find("cpu");
    if (cpu == info.end()) return std::nullopt;
    Cpu found;
    found.family = "ppc64le";
    found.vendor = "IBM";
    // Under emulation the host's CPU shows here: that gives the plain architecture.
    const auto start = cpu->second.find("POWER");
    if (start != std::string::npos)
        found.generation = number(std::string_view(cpu->second).substr(start + 5), 10);
    return found;
}

}  // namespace

std::string best_microarchitecture(const Cpu& cpu) { return std::string(choose(cpu)); }

std::optional<Cpu> read_cpu(const Host& host) {
    const auto& platform = host.native_platform;
    const auto family = std::string_view(platform).substr(platform.find('-') + 1);
    if (family == "64" && host.cpuid) return read_x86_64(host);
    if (family == "aarch64") return read_aarch64(host);
    if (family == "ppc64le") return read_ppc64le(host);
    return std::nullopt;
}

std::optional<Fact> detect_microarchitecture(const Host& host) {
    const auto cpu = read_cpu(host);
    if (!cpu) return std::nullopt;
    return Fact{best_microarchitecture(*cpu), cpu->family == "x86_64" ? "CPUID" : "/proc/cpuinfo"};
}

std::optional<Fact> detect_cpu_model(const Host& host) {
    const auto info = read_cpuinfo(host);
    const auto found = info.find("model name");
    if (found == info.end() || found->second.empty()) return std::nullopt;
    return Fact{found->second, "/proc/cpuinfo"};
}

}  // namespace gpkg::virtual_packages
