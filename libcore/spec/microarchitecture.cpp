#include "libcore/spec/microarchitecture.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>

namespace gpkg {
namespace {

constexpr std::string_view kIntel = "GenuineIntel";
constexpr std::string_view kAmd = "AuthenticAMD";

// Names, ancestry and feature sets are those of archspec-json (August 2026); features name Linux'
// /proc/cpuinfo flags, with sse3 for its "pni". Generic Arm architecture versions are there for
// their rank alone: no machine is told to be one.
constexpr auto kTable = std::to_array<Microarchitecture>({
    // clang-format off
    {"x86_64",         "",                      "generic", ""},
    {"x86_64_v2",      "x86_64",                "generic", "cx16 lahf_lm mmx popcnt sse sse2 sse4_1 sse4_2 ssse3"},
    {"x86_64_v3",      "x86_64_v2",             "generic", "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"},
    {"x86_64_v4",      "x86_64_v3",             "generic", "avx512bw avx512cd avx512dq avx512f avx512vl"},

    {"nocona",         "x86_64",                kIntel, "mmx sse sse2 sse3"},
    {"core2",          "nocona",                kIntel, "ssse3"},
    {"nehalem",        "core2 x86_64_v2",       kIntel, ""},
    {"westmere",       "nehalem",               kIntel, "aes pclmulqdq"},
    {"sandybridge",    "westmere",              kIntel, "avx"},
    {"ivybridge",      "sandybridge",           kIntel, "f16c rdrand"},
    {"haswell",        "ivybridge x86_64_v3",   kIntel, ""},
    {"broadwell",      "haswell",               kIntel, "adx rdseed"},
    {"skylake",        "broadwell",             kIntel, "clflushopt xsavec xsaveopt"},
    {"mic_knl",        "broadwell",             kIntel, "avx512cd avx512er avx512f avx512pf"},
    {"skylake_avx512", "skylake x86_64_v4",     kIntel, "clwb"},
    {"cannonlake",     "skylake x86_64_v4",     kIntel, "avx512ifma avx512vbmi sha_ni"},
    {"cascadelake",    "skylake_avx512",        kIntel, "avx512_vnni"},
    {"icelake",        "cascadelake cannonlake", kIntel, "avx512_bitalg avx512_vbmi2 avx512_vpopcntdq gfni rdpid vaes vpclmulqdq"},
    {"sapphirerapids", "icelake",               kIntel, "amx_bf16 amx_int8 amx_tile avx512_bf16 cldemote movdir64b movdiri serialize waitpkg"},
    {"alderlake",      "skylake",               kIntel, "avx_vnni clwb gfni movdir64b movdiri rdpid serialize sha_ni vaes vpclmulqdq waitpkg"},
    {"arrowlake",      "alderlake",             kIntel, "avx_ifma avx_ne_convert avx_vnni_int8 cmpccxadd"},
    {"arrowlake_s",    "arrowlake",             kIntel, "avx_vnni_int16 sha512 sm3 sm4"},

    {"k10",            "x86_64",                kAmd, "3dnow 3dnowext abm cx16 mmx sse sse2 sse4a"},
    {"bulldozer",      "x86_64_v2",             kAmd, "abm aes avx fma4 pclmulqdq sse4a xop xsave"},
    {"piledriver",     "bulldozer",             kAmd, "bmi1 f16c fma tbm"},
    {"steamroller",    "piledriver",            kAmd, "fsgsbase"},
    {"excavator",      "steamroller x86_64_v3", kAmd, ""},
    {"zen",            "x86_64_v3",             kAmd, "aes clflushopt clzero fsgsbase pclmulqdq rdseed sse4a xsavec xsaveopt"},
    {"zen2",           "zen",                   kAmd, "clwb"},
    {"zen3",           "zen2",                  kAmd, "pku vaes vpclmulqdq"},
    {"zen4",           "zen3 x86_64_v4",        kAmd, "avx512_bf16 avx512_bitalg avx512_vbmi2 avx512_vnni avx512_vpopcntdq avx512ifma avx512vbmi flush_l1d gfni"},
    {"zen5",           "zen4",                  kAmd, "avx512_vp2intersect avx_vnni movdir64b movdiri tsc_adjust"},

    {"ppc64le",        "",                      "generic", ""},
    {"power8le",       "ppc64le",               "IBM", "", 8},
    {"power9le",       "power8le",              "IBM", "", 9},
    {"power10le",      "power9le",              "IBM", "", 10},

    {"aarch64",        "",                      "generic", ""},
    {"armv8.1a",       "aarch64",               "generic", ""},
    {"armv8.2a",       "armv8.1a",              "generic", ""},
    {"armv8.3a",       "armv8.2a",              "generic", ""},
    {"armv8.4a",       "armv8.3a",              "generic", ""},
    {"armv8.5a",       "armv8.4a",              "generic", ""},
    {"armv8.6a",       "armv8.5a",              "generic", ""},
    {"armv9.0a",       "armv8.5a",              "generic", ""},
    {"armv9.2a",       "armv9.0a armv8.6a",     "generic", ""},
    {"thunderx2",      "armv8.1a",              "Cavium", "aes asimd asimdrdm atomics cpuid crc32 evtstrm fp pmull sha1 sha2", 0, 0x0af},
    {"a64fx",          "armv8.2a",              "Fujitsu", "asimd asimdhp asimdrdm atomics cpuid crc32 dcpop evtstrm fcma fp fphp sha1 sha2 sve", 0, 0x001},
    {"cortex_a72",     "aarch64",               "ARM", "aes asimd cpuid crc32 evtstrm fp pmull sha1 sha2", 0, 0xd08},
    {"neoverse_n1",    "cortex_a72 armv8.2a",   "ARM", "asimddp asimdhp asimdrdm atomics dcpop fphp lrcpc", 0, 0xd0c},
    {"neoverse_v1",    "neoverse_n1 armv8.4a",  "ARM", "asimdfhm bf16 dcpodp dgh dit fcma flagm i8mm ilrcpc jscvt rng sha3 sha512 sve svebf16 svei8mm uscat", 0, 0xd40},
    {"neoverse_v2",    "neoverse_n1 armv9.0a",  "ARM", "asimdfhm bf16 dcpodp fcma flagm flagm2 frint i8mm ilrcpc jscvt sb sha3 sha512 sve sve2 svebf16 svei8mm uscat", 0, 0xd4f},
    {"neoverse_n2",    "neoverse_n1 armv9.0a",  "ARM", "asimdfhm bf16 dcpodp fcma flagm flagm2 frint i8mm ilrcpc jscvt sb sha3 sha512 sve sve2 svebf16 svei8mm uscat", 0, 0xd49},
    {"neoverse_v3ae",  "neoverse_v2 armv9.2a",  "ARM", "afp bti dgh dit ecv paca pacg sm3 sm4 sveaes svebitperm svepmull svesha3 svesm4 wfxt", 0, 0xd83},
    {"ampere1",        "neoverse_n1 armv8.6a",  "Ampere", "asimdfhm bf16 bti dcpodp dit ecv fcma flagm flagm2 frint i8mm ilrcpc jscvt paca pacg rng sb sha3 sha512 ssbs uscat", 0, 0xac3},
    {"ampere1a",       "ampere1",               "Ampere", "sm3 sm4", 0, 0xac4},
    {"m1",             "armv8.4a",              "Apple", "aes asimd asimddp asimdfhm asimdhp asimdrdm atomics cpuid crc32 dcpodp dcpop dit evtstrm fcma flagm flagm2 fp fphp frint ilrcpc jscvt lrcpc paca pacg pmull sb sha1 sha2 sha3 sha512 ssbs uscat", 0, 0x022},
    {"m2",             "m1 armv8.5a",           "Apple", "bf16 bti ecv i8mm", 0, 0x032},
    {"m3",             "m2 armv8.6a",           "Apple", ""},
    {"m4",             "m3 armv8.6a",           "Apple", "sme sme2"},
    // clang-format on
});

void add_lineage(std::string_view name, std::vector<std::string_view>& found) {
    if (std::ranges::find(found, name) != found.end()) return;
    const auto* entry = find_microarchitecture(name);
    if (entry == nullptr) return;
    found.push_back(entry->name);
    for (const auto parent : split(entry->parents, ' ')) add_lineage(parent, found);
}

}  // namespace

std::span<const Microarchitecture> microarchitectures() { return kTable; }

const Microarchitecture* find_microarchitecture(std::string_view name) {
    const auto* found = std::ranges::find(kTable, name, &Microarchitecture::name);
    return found == kTable.end() ? nullptr : found;
}

bool is_microarchitecture(std::string_view name) { return find_microarchitecture(name) != nullptr; }

std::vector<std::string> microarchitecture_names() {
    std::vector<std::string> names;
    for (const auto& entry : microarchitectures()) names.emplace_back(entry.name);
    return names;
}

std::vector<std::string_view> lineage(std::string_view name) {
    std::vector<std::string_view> found;
    add_lineage(name, found);
    return found;
}

bool is_of_another_platform(std::string_view name, std::string_view platform) {
    std::string_view family = platform.substr(platform.find('-') + 1);
    if (platform.ends_with("-64")) family = "x86_64";
    if (platform.ends_with("-aarch64") || platform.ends_with("-arm64")) family = "aarch64";
    const auto ancestors = lineage(name);
    return !ancestors.empty() && is_microarchitecture(family) &&
           std::ranges::find(ancestors, family) == ancestors.end();
}

std::optional<int> x86_64_level(std::string_view name) {
    const auto ancestors = lineage(name);
    const auto has = [&](std::string_view wanted) {
        return std::ranges::find(ancestors, wanted) != ancestors.end();
    };
    if (has("x86_64_v4")) return 4;
    if (has("x86_64_v3")) return 3;
    if (has("x86_64_v2")) return 2;
    if (has("x86_64")) return 1;
    return std::nullopt;
}

}  // namespace gpkg
