#include "libcore/hardware/gpu_targets.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/toolkit.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg {
namespace {

using Features = CudaTarget::Features;
constexpr auto kFamily = Features::Family;
constexpr auto kSpecific = Features::Specific;

/// Toolkits as one number, 1208 for 12.8. Sorted by target.
struct Row {
    CudaTarget target;
    int first, last;

    /// Whether one of these toolkits makes code for it.
    constexpr bool is_in(int from, int to) const { return first <= to && from <= last; }
};

constexpr int kNoEnd = 9999;

constexpr Row kTargets[] = {
    {{30}, 402, 1002},
    {{32}, 600, 1002},
    {{35}, 500, 1108},
    {{37}, 605, 1108},
    {{50}, 600, 1209},
    {{52}, 605, 1209},
    {{53}, 700, 1209},
    {{60}, 800, 1209},
    {{61}, 800, 1209},
    {{62}, 800, 1209},
    {{70}, 900, 1209},
    {{72}, 901, 1209},
    {{75}, 1000, kNoEnd},
    {{80}, 1100, kNoEnd},
    {{86}, 1101, kNoEnd},
    {{87}, 1104, kNoEnd},
    {{88}, 1300, kNoEnd},
    {{89}, 1108, kNoEnd},
    {{90}, 1108, kNoEnd},
    {{90, kSpecific}, 1200, kNoEnd},
    {{100}, 1208, kNoEnd},
    {{100, kFamily}, 1209, kNoEnd},
    {{100, kSpecific}, 1208, kNoEnd},
    // From 13.0 on 10.1 is called 11.0.
    {{101}, 1208, 1209},
    {{101, kFamily}, 1209, 1209},
    {{101, kSpecific}, 1208, 1209},
    {{103}, 1209, kNoEnd},
    {{103, kFamily}, 1209, kNoEnd},
    {{103, kSpecific}, 1209, kNoEnd},
    {{110}, 1300, kNoEnd},
    {{110, kFamily}, 1300, kNoEnd},
    {{110, kSpecific}, 1300, kNoEnd},
    {{120}, 1208, kNoEnd},
    {{120, kFamily}, 1209, kNoEnd},
    {{120, kSpecific}, 1208, kNoEnd},
    {{121}, 1209, kNoEnd},
    {{121, kFamily}, 1209, kNoEnd},
    {{121, kSpecific}, 1209, kNoEnd},
};

// Of 8.8 nothing tells what it is; taken for a Tegra it costs one target more at most.
constexpr std::array kTegra{32, 53, 62, 72, 87, 88, 101, 110};

bool is_tegra(int capability) {
    return std::find(kTegra.begin(), kTegra.end(), capability) != kTegra.end();
}

struct Release {
    int major, last_minor;
};

constexpr std::array<Release, 5> kReleases{{{9, 2}, {10, 2}, {11, 8}, {12, 9}, {13, 0}}};
constexpr int kNeverReleased = 1207;  // to the public

int number_of(const Version& toolkit) {
    return version_part(toolkit, 0) * 100 + version_part(toolkit, 1);
}

int latest_number() { return kReleases.back().major * 100 + kReleases.back().last_minor; }

/// -1 for what is none.
int number_in(std::string_view text) { return whole_number<int>(text).value_or(-1); }

/// By the letter at the end.
Features features_of(std::string_view target) {
    if (target.ends_with('a')) return Features::Specific;
    return target.ends_with('f') ? Features::Family : Features::Plain;
}

std::string_view letter_of(Features features) {
    switch (features) {
    case Features::Plain: return "";
    case Features::Family: return "f";
    case Features::Specific: return "a";
    }
    return "";
}

/// A family of AMD's devices and the target for all of it.
struct Family {
    std::string_view generic;
    std::array<std::string_view, 8> members;
};

constexpr Family kFamilies[] = {
    {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
    {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
    {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
    {"gfx10-3-generic",
     {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
    {"gfx11-generic",
     {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
    {"gfx12-generic", {"gfx1200", "gfx1201"}},
};

constexpr auto kWithoutFamily = std::to_array<std::string_view>({"gfx600",
                                                                 "gfx601",
                                                                 "gfx602",
                                                                 "gfx700",
                                                                 "gfx701",
                                                                 "gfx702",
                                                                 "gfx703",
                                                                 "gfx704",
                                                                 "gfx705",
                                                                 "gfx801",
                                                                 "gfx802",
                                                                 "gfx803",
                                                                 "gfx805",
                                                                 "gfx810",
                                                                 "gfx908",
                                                                 "gfx90a",
                                                                 "gfx1250",
                                                                 "gfx1251"});

}  // namespace

Result<CudaTarget> CudaTarget::parse(std::string_view text) {
    auto rest = trim(text);
    CudaTarget target;
    target.features = features_of(rest);
    if (target.features != Features::Plain) rest.remove_suffix(1);
    const auto dot = rest.find('.');
    const int major = number_in(rest.substr(0, dot));
    const int minor = dot == std::string_view::npos ? -1 : number_in(rest.substr(dot + 1));
    if (major < 0 || minor < 0 || minor > 9 || major > 99)
        return fail(ErrorKind::Usage,
                    fmt::format("{}: not a compute capability", printable(text)),
                    "use 8.6 or 9.0a (NVIDIA), gfx90a (AMD), or a machine: --for h100");
    target.capability = major * 10 + minor;
    std::vector<std::string> known;
    for (const auto& row : kTargets) {
        if (row.target == target) return target;
        known.push_back(row.target.to_string());
    }
    return fail(
        ErrorKind::Usage,
        fmt::format("{}: no CUDA version supports this compute capability", target.to_string()),
        "use one of " + join_or(known));
}

CudaTarget CudaTarget::of(const Version& capability) {
    return {version_part(capability, 0) * 10 + version_part(capability, 1),
            features_of(capability.to_string())};
}

std::string CudaTarget::to_string() const {
    return fmt::format("{}.{}{}", capability / 10, capability % 10, letter_of(features));
}

std::string CudaTarget::digits() const {
    return fmt::format("{}{}", capability, letter_of(features));
}

Result<Version> parse_toolkit(std::string_view text) {
    const auto parts = split(trim(text), '.');
    const int major = number_in(parts[0]);
    const int minor = parts.size() > 1 ? number_in(parts[1]) : -1;
    const auto number = major * 100 + minor;
    const bool is_number = major > 0 && major < 100 && minor >= 0 && minor < 100;
    const auto release = std::find_if(
        kReleases.begin(), kReleases.end(), [&](const Release& one) { return one.major == major; });
    const bool is_known = is_number && number != kNeverReleased && release != kReleases.end() &&
                          minor <= release->last_minor;
    const bool is_later = is_number && number > latest_number();
    if (parts.size() > 3 || !(is_known || is_later)) {
        std::vector<std::string> latest;
        latest.reserve(kReleases.size());
        for (const auto& one : kReleases)
            latest.push_back(fmt::format("{}.{}", one.major, one.last_minor));
        return fail(ErrorKind::Usage,
                    fmt::format("{}: not a CUDA version", printable(text)),
                    fmt::format("use MAJOR.MINOR, for example 12.8; the latest versions are {}",
                                join_some(latest, "and", latest.size())));
    }
    return Version::parse(fmt::format("{}.{}", major, minor));
}

bool is_later_than_known(const Version& toolkit) { return number_of(toolkit) > latest_number(); }

std::vector<Version> latest_toolkits() {
    std::vector<Version> toolkits;
    for (const auto& release : kReleases) {
        if (release.major < 11) continue;
        auto version = Version::parse(fmt::format("{}.{}", release.major, release.last_minor));
        if (version) toolkits.push_back(*std::move(version));
    }
    return toolkits;
}

bool makes_code_for(const Version& toolkit, CudaTarget target) {
    const auto targets = targets_of(toolkit);
    return std::ranges::find(targets, target) != targets.end();
}

std::optional<Version> first_toolkit(CudaTarget target) {
    const auto* row = std::find_if(std::begin(kTargets), std::end(kTargets), [&](const Row& one) {
        return one.target == target;
    });
    if (row == std::end(kTargets)) return std::nullopt;
    auto version = Version::parse(fmt::format("{}.{}", row->first / 100, row->first % 100));
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

std::vector<CudaTarget> targets_of(const ToolkitRange& releases) {
    std::vector<CudaTarget> targets;
    for (const auto& row : kTargets) {
        if (row.is_in(releases.first.number(), releases.last.number()))
            targets.push_back(row.target);
    }
    return targets;  // the rows are sorted
}

std::vector<CudaTarget> targets_of(const Version& toolkit) {
    const ToolkitVersion release{version_part(toolkit, 0), version_part(toolkit, 1)};
    return targets_of(ToolkitRange{Accelerator::Nvidia, release, release});
}

std::optional<Version> last_driver_for(CudaTarget device) {
    struct Last {
        int below;  ///< capabilities
        std::string_view cuda;
    };
    // Fermi by R390, Kepler by R470, Maxwell, Pascal and Volta by R580.
    constexpr std::array<Last, 3> kLast{{{30, "9.1"}, {50, "11.4"}, {75, "13.0"}}};
    const auto* last = std::find_if(
        kLast.begin(), kLast.end(), [&](const Last& one) { return device.capability < one.below; });
    if (last == kLast.end()) return std::nullopt;
    return *Version::parse(last->cuda);
}

bool is_tegra(CudaTarget device) { return is_tegra(device.capability); }

std::vector<CudaTarget> tegra_devices() {
    std::vector<CudaTarget> devices;
    devices.reserve(kTegra.size());
    for (const auto capability : kTegra) devices.push_back({capability});
    return devices;
}

CodeFit code_fit(CudaTarget code, CudaTarget device) {
    if (runs_natively(code, device))
        return code.capability == device.capability ? CodeFit::Exact : CodeFit::SameMajor;
    return runs_as_ptx(code, device) ? CodeFit::Compiled : CodeFit::No;
}

CodeFit code_fit(const ToolkitRange& releases, CudaTarget device) {
    auto best = CodeFit::No;
    for (const auto& row : kTargets) {
        if (row.is_in(releases.first.number(), releases.last.number()))
            best = std::min(best, code_fit(row.target, device));
    }
    return best;
}

bool runs_natively(CudaTarget code, CudaTarget device) {
    if (code.features < device.features) return false;  // what is asked for is not in it
    if (code.capability == device.capability) return true;
    return code.features != Features::Specific && code.capability < device.capability &&
           code.capability / 10 == device.capability / 10 && !is_tegra(code.capability) &&
           !is_tegra(device.capability);
}

bool runs_as_ptx(CudaTarget code, CudaTarget device) {
    if (code.features != Features::Plain) return runs_natively(code, device);
    return device.features == Features::Plain && code.capability <= device.capability;
}

Result<CudaCode> parse_cuda_code(std::string_view text) {
    constexpr std::string_view kPtx = "+PTX", kReal = "-real", kVirtual = "-virtual";
    CudaCode code;
    auto target = trim(text);
    const auto take_end = [&](std::string_view end) {
        if (!target.ends_with(end)) return false;
        target.remove_suffix(end.size());
        return true;
    };
    const auto take_start = [&](std::string_view start) {
        if (!target.starts_with(start)) return false;
        target.remove_prefix(start.size());
        return true;
    };
    if (take_start("compute_") || take_end(kVirtual)) {
        code.has_sass = false;
        code.has_ptx = true;
    } else if (!take_start("sm_") && !take_end(kReal)) {
        // CMake's bare "80" is both.
        code.has_ptx = take_end(kPtx) || target.find('.') == std::string_view::npos;
    }
    std::string dotted(target);
    const auto digits = target.find_first_not_of("0123456789");
    const auto length = digits == std::string_view::npos ? target.size() : digits;
    if (target.find('.') == std::string_view::npos && length >= 2) dotted.insert(length - 1, ".");
    auto parsed = CudaTarget::parse(dotted);
    if (!parsed) return pass(std::move(parsed).error());
    code.target = *parsed;
    return code;
}

std::vector<std::string> split_targets(std::string_view list) {
    std::vector<std::string> items;
    for (std::size_t at = 0; at < list.size();) {
        const auto end = std::min(list.find_first_of(";, ", at), list.size());
        if (end > at) items.emplace_back(list.substr(at, end - at));
        at = end + 1;
    }
    return items;
}

std::optional<std::string> gfx_name(std::uint32_t target_version) {
    if (target_version == 0) return std::nullopt;
    const auto major = target_version / 10000 % 100;
    const auto minor = target_version / 100 % 100;
    const auto stepping = target_version % 100;
    if (minor > 15 || stepping > 15) return std::nullopt;
    return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

std::optional<std::string> gfx_of_version(std::string_view version) {
    const auto parts = split(version, '.');
    if (parts.size() != 3) return std::nullopt;
    std::uint32_t target = 0;
    for (const auto part : parts) {
        const auto number = number_in(part);
        if (number < 0 || number > 99) return std::nullopt;
        target = target * 100 + static_cast<std::uint32_t>(number);
    }
    return gfx_name(target);
}

std::optional<std::string> gfx_version(std::string_view gfx) {
    if (!gfx.starts_with("gfx")) return std::nullopt;
    gfx.remove_prefix(3);
    if (gfx.size() < 3 || gfx.size() > 4) return std::nullopt;
    const auto major = number_in(gfx.substr(0, gfx.size() - 2));
    const auto hex = [](char digit) -> int {
        if (digit >= '0' && digit <= '9') return digit - '0';
        if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
        return -1;
    };
    const auto minor = hex(gfx[gfx.size() - 2]);
    const auto stepping = hex(gfx[gfx.size() - 1]);
    if (major < 0 || minor < 0 || stepping < 0) return std::nullopt;
    return fmt::format("{}.{}.{}", major, minor, stepping);
}

Result<std::string> parse_gfx(std::string_view text) {
    auto name = to_lower(trim(text));
    const auto digits = std::string_view(name).substr(std::min<std::size_t>(3, name.size()));
    const bool is_gfx = name.starts_with("gfx") && digits.size() >= 3 && digits.size() <= 4 &&
                        digits.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                        number_in(digits.substr(0, digits.size() - 1)) >= 0;
    if (is_gfx) return name;
    return fail(ErrorKind::Usage,
                fmt::format("{}: not an AMD GPU target", printable(text)),
                "use gfx90a or gfx1100, without features");
}

bool is_known_gfx(std::string_view target) {
    if (target.empty()) return false;  // what lists are filled up with
    const auto holds = [&](const auto& names) {
        return std::find(names.begin(), names.end(), target) != names.end();
    };
    return holds(kWithoutFamily) ||
           std::any_of(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) {
               return family.generic == target || holds(family.members);
           });
}

std::string_view generic_target(std::string_view gfx) {
    for (const auto& [generic, members] : kFamilies) {
        if (std::find(members.begin(), members.end(), gfx) != members.end()) return generic;
    }
    return "";
}

}  // namespace gpkg
