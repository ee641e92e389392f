#include "virtual-packages/cpu.hpp"

#include "libcore/base/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machine.hpp"

#include <map>
#include <utility>

using namespace gpkg;
using namespace gpkg::virtual_packages;

namespace cpu_test {
namespace {

using Leaf = std::pair<std::uint32_t, std::uint32_t>;

/// What CPUID says on an EPYC of the fifth generation in a virtual machine that hides flush_l1d.
const std::map<Leaf, CpuidRegisters> kEpyc{
    {{0x0, 0}, {0x0000001c, 0x68747541, 0x444d4163, 0x69746e65}},
    {{0x1, 0}, {0x00b00f21, 0x01020800, 0xfffa3203, 0x178bfbff}},
    {{0x7, 0}, {0x00000001, 0xf1bf07ab, 0x00405fc6, 0x00000110}},
    {{0x7, 1}, {0x00000030, 0x00000000, 0x00000000, 0x00000000}},
    {{0xd, 1}, {0x0000000f, 0x000009a8, 0x00001800, 0x00000000}},
    {{0x80000000, 0}, {0x80000021, 0x68747541, 0x444d4163, 0x69746e65}},
    {{0x80000001, 0}, {0x00b00f21, 0x40000000, 0x004003f3, 0x2fd3fbff}},
    {{0x80000008, 0}, {0x00303030, 0x50020005, 0x00007001, 0x00000000}},
};

Host epyc(std::map<Leaf, CpuidRegisters> leaves, std::uint64_t xcr0) {
    Host host;
    host.native_platform = "linux-64";
    host.cpuid = [leaves = std::move(leaves)](std::uint32_t leaf, std::uint32_t subleaf) {
        const auto found = leaves.find({leaf, subleaf});
        return found == leaves.end() ? CpuidRegisters{} : found->second;
    };
    host.xcr0 = [xcr0] { return xcr0; };
    return host;
}

Cpu cpu(std::string family, std::string vendor, std::string_view features, int part = 0) {
    Cpu made;
    made.family = std::move(family);
    made.vendor = std::move(vendor);
    made.part = part;
    for (const auto word : split(features, ' ')) made.features.emplace(word);
    return made;
}

constexpr std::string_view kV2 = "mmx sse sse2 sse3 ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm ";
constexpr std::string_view kV3 = "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave ";
constexpr std::string_view kV4 = "avx512bw avx512cd avx512dq avx512f avx512vl ";

}  // namespace

TEST_CASE("CPUID: features count when the kernel saves their registers", "[virtual-packages]") {
    constexpr std::uint64_t kAll = 0xe7;
    constexpr std::uint64_t kNoAvx512 = 0x7;
    constexpr std::uint64_t kSseAlone = 0x3;

    CHECK(detect_microarchitecture(epyc(kEpyc, kAll))->value == "x86_64_v4");
    CHECK(detect_microarchitecture(epyc(kEpyc, kAll))->source == "CPUID");
    CHECK(detect_microarchitecture(epyc(kEpyc, kNoAvx512))->value == "zen2");
    CHECK(detect_microarchitecture(epyc(kEpyc, kSseAlone))->value == "x86_64_v2");

    auto bare_metal = kEpyc;
    bare_metal[{7, 0}].edx |= 1U << 28U;  // flush_l1d
    bare_metal[{7, 0}].ecx |= 1U << 3U;   // pku
    bare_metal[{7, 0}].ecx |= 3U << 27U;  // movdiri, movdir64b
    CHECK(detect_microarchitecture(epyc(bare_metal, kAll))->value == "zen5");
    bare_metal[{7, 1}].eax &= ~(1U << 4U);  // avx_vnni
    CHECK(detect_microarchitecture(epyc(bare_metal, kAll))->value == "zen4");
    CHECK(detect_microarchitecture(epyc(bare_metal, kNoAvx512))->value == "zen3");

    auto no_xsave = kEpyc;
    no_xsave[{1, 0}].ecx &= ~(1U << 27U);  // XCR0 cannot be read
    CHECK(detect_microarchitecture(epyc(no_xsave, kAll))->value == "x86_64_v2");

    auto old_limit = kEpyc;
    old_limit[{0, 0}].eax = 1;  // leaf 7 is not there, whatever it answers
    CHECK(detect_microarchitecture(epyc(old_limit, kAll))->value == "x86_64_v2");

    auto other_vendor = bare_metal;
    other_vendor[{0, 0}].ebx = 0x6f677948;  // "Hygo"
    CHECK(read_cpu(epyc(other_vendor, kAll))->vendor == "HygoenticAMD");
    CHECK(detect_microarchitecture(epyc(other_vendor, kAll))->value == "x86_64_v4");
}

TEST_CASE("CPUID gives the features that Linux shows", "[virtual-packages]") {
    const auto features = read_cpu(epyc(kEpyc, 0xe7))->features;
    std::string text;
    for (const auto& feature : features) text += feature + " ";
    CHECK(text ==
          "abm adx aes avx avx2 avx512_bf16 avx512_bitalg avx512_vbmi2 avx512_vnni "
          "avx512_vp2intersect avx512_vpopcntdq avx512bw avx512cd avx512dq avx512f avx512ifma "
          "avx512vbmi avx512vl avx_vnni bmi1 bmi2 clflushopt clwb clzero cx16 f16c fma fsgsbase "
          "gfni lahf_lm mmx movbe pclmulqdq popcnt rdpid rdrand rdseed sha_ni sse sse2 sse3 sse4_1 "
          "sse4_2 sse4a ssse3 tsc_adjust vaes vpclmulqdq xsave xsavec xsaveopt ");
}

TEST_CASE("the highest level comes first, then the most special name", "[virtual-packages]") {
    struct Row {
        std::string vendor, features, expected;
    };
    const std::string v2(kV2);
    const std::string v3 = v2 + std::string(kV3);
    const std::string v4 = v3 + std::string(kV4);
    const std::string skylake = v3 + "aes pclmulqdq rdrand adx rdseed clflushopt xsavec xsaveopt ";
    const std::string zen3 =
        v3 +
        "aes clflushopt clzero fsgsbase pclmulqdq rdseed sse4a xsavec xsaveopt clwb pku vaes "
        "vpclmulqdq ";
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"GenuineIntel", "sse2", "x86_64"},
        {"GenuineIntel", "mmx sse sse2 sse3 ssse3", "core2"},
        {"GenuineIntel", v2, "nehalem"},
        {"AuthenticAMD", v2, "x86_64_v2"},
        {"GenuineIntel", v3 + "aes pclmulqdq rdrand", "haswell"},
        {"GenuineIntel", skylake, "skylake"},
        {"GenuineIntel", skylake + std::string(kV4) + "clwb", "skylake_avx512"},
        {"GenuineIntel", skylake + std::string(kV4), "x86_64_v4"},
        {"GenuineIntel", skylake + "avx512cd avx512er avx512f avx512pf", "mic_knl"},
        {"GenuineIntel", v3, "x86_64_v3"},  // a firmware that hides aes keeps its level
        {"AuthenticAMD", zen3, "zen3"},
        {"AuthenticAMD", skylake, "x86_64_v3"},
        {"AuthenticAMD", v4, "x86_64_v4"},
        {"CentaurHauls", zen3, "x86_64_v3"},
        {"", "", "x86_64"},
    }));
    // clang-format on
    CAPTURE(row.vendor, row.features);
    CHECK(best_microarchitecture(cpu("x86_64", row.vendor, row.features)) == row.expected);
}

TEST_CASE("Arm and POWER are read from the first CPU of /proc/cpuinfo", "[virtual-packages]") {
    struct Row {
        std::string platform, cpuinfo, expected;
    };
    const std::string n1 =
        "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc "
        "dcpop "
        "asimddp";
    const std::string v2 =
        n1 +
        " asimdfhm bf16 dcpodp fcma flagm flagm2 frint i8mm ilrcpc jscvt sb sha3 "
        "sha512 sve sve2 svebf16 svei8mm uscat";
    const auto arm = [](const std::string& features, const char* implementer, const char* part) {
        return "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: " + features +
               "\nCPU implementer\t: " + implementer + "\nCPU part\t: " + part +
               "\n\nprocessor\t: 1\nFeatures\t: fp\nCPU part\t: 0xd08\n";
    };
    // clang-format off
    const auto row = GENERATE_COPY(values<Row>({
        {"linux-aarch64", arm("fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid", "0x41", "0xd08"), "cortex_a72"},
        {"linux-aarch64", arm(n1, "0x41", "0xd0c"), "neoverse_n1"},
        {"linux-aarch64", arm(v2, "0x41", "0xd4f"), "neoverse_v2"},
        {"linux-aarch64", arm(v2, "0x41", "0xd49"), "neoverse_n2"},
        {"linux-aarch64", arm(n1, "0x51", "0x001"), "aarch64"},
        {"linux-aarch64", arm("fp asimd", "0x41", "0xd03"), "aarch64"},
        {"linux-aarch64", arm(n1, "nonsense", "0xd0c"), "aarch64"},
        {"linux-aarch64", "processor\t: 0\n", "absent"},
        {"linux-aarch64", "", "absent"},
        {"linux-ppc64le", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "power9le"},
        {"linux-ppc64le", "cpu\t\t: POWER8NVL (raw), altivec supported\n", "power8le"},
        {"linux-ppc64le", "cpu\t\t: POWER11 (architected)\n", "power10le"},
        {"linux-ppc64le", "cpu\t\t: Intel something\n", "ppc64le"},
        {"linux-riscv64", "uarch\t\t: sifive,u74-mc\n", "absent"},
    }));
    // clang-format on
    CAPTURE(row.platform, row.cpuinfo);
    tests::Machine machine(row.platform);
    machine.file("proc/cpuinfo", row.cpuinfo);
    const auto found = detect_microarchitecture(machine.host);
    CHECK((found ? found->value : "absent") == row.expected);
}

TEST_CASE("levels of x86-64 follow from ancestry", "[virtual-packages]") {
    struct Row {
        std::string name;
        int level;
    };
    // clang-format off
    const auto row = GENERATE(values<Row>({
        {"x86_64", 1}, {"nocona", 1}, {"core2", 1}, {"k10", 1},
        {"x86_64_v2", 2}, {"nehalem", 2}, {"westmere", 2}, {"sandybridge", 2}, {"ivybridge", 2},
        {"bulldozer", 2}, {"piledriver", 2}, {"steamroller", 2},
        {"x86_64_v3", 3}, {"haswell", 3}, {"broadwell", 3}, {"skylake", 3}, {"mic_knl", 3},
        {"alderlake", 3}, {"arrowlake_s", 3}, {"excavator", 3}, {"zen", 3}, {"zen2", 3}, {"zen3", 3},
        {"x86_64_v4", 4}, {"skylake_avx512", 4}, {"cannonlake", 4}, {"cascadelake", 4},
        {"icelake", 4}, {"sapphirerapids", 4}, {"zen4", 4}, {"zen5", 4},
        {"aarch64", 0}, {"m2", 0}, {"power9le", 0}, {"", 0}, {"unknown", 0},
    }));
    // clang-format on
    CAPTURE(row.name);
    CHECK(x86_64_level(row.name).value_or(0) == row.level);
}

TEST_CASE("the table is whole: parents stand before children", "[virtual-packages]") {
    std::vector<std::string_view> seen;
    for (const auto& entry : microarchitectures()) {
        CAPTURE(entry.name);
        CHECK(std::ranges::find(seen, entry.name) == seen.end());
        if (!entry.parents.empty())
            for (const auto parent : split(entry.parents, ' '))
                CHECK(std::ranges::find(seen, parent) != seen.end());
        seen.push_back(entry.name);
    }
    CHECK(seen.size() == 59);
}

}  // namespace cpu_test
