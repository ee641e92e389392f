#include "cli/workflow/site_profiles.hpp"

#include "libcore/base/parallel.hpp"
#include "libcore/base/text.hpp"
#include "virtual-packages/common.hpp"
#include "virtual-packages/site_names.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <set>

namespace gpkg::cli {
namespace {

using namespace virtual_packages;

/// Probes wait for others most of the time.
constexpr std::size_t kAtOnce = 32;

std::string today() {
    return fmt::format(
        "{:%Y-%m-%d}",
        fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

/// Takes what a probe brought.
void learn(KnownMachine& machine, Result<ProbeAnswer> answer, const std::string& origin) {
    if (!answer) {
        machine.failure = std::move(answer).error();
        return;
    }
    auto profile = parse_profile(answer->profile, machine.name);
    if (!profile) {
        machine.failure = std::move(profile).error().while_doing("reading the profile");
        return;
    }
    machine.profile = *std::move(profile);
    machine.profile->origin = fmt::format("{}, {}", origin, today());
    if (const auto said = trim(answer->said); !said.empty()) machine.remarks.emplace_back(said);
}

/// The types of its GPUs that have a name.
std::vector<std::string> gpu_types_of(const NodeKind& kind) {
    std::vector<std::string> types;
    for (const auto& gpu : kind.first().gpus) {
        if (!gpu.type.empty()) types.push_back(gpu.type);
    }
    return types;
}

bool has_unnamed_gpu(const NodeKind& kind) {
    return std::ranges::any_of(kind.first().gpus,
                               [](const GpuGres& gpu) { return gpu.type.empty(); });
}

/// What Slurm says is held against what was seen. A node whose driver does not answer just now is
/// as one that could not be asked: a profile without its GPU would make builds for CPUs of all that
/// is decided for it. Of two models the one that was seen counts.
void compare(KnownMachine& machine, const NodeKind& kind) {
    if (!machine.profile || kind.first().gpus.empty()) return;
    const auto& seen = *machine.profile;
    const auto types = gpu_types_of(kind);
    const auto named = profile_of_names(seen.platform, kind.first().features, types).profile;
    if (const auto lack = lack_of_gpu(named, seen)) {
        const auto& partitions = kind.first().partitions;
        machine.failure =
            Error{ErrorKind::NotFound,
                  fmt::format("{} of partition{} {}: Slurm lists {}, gpkg detected {}",
                              machine.name,
                              partitions.size() == 1 ? "" : "s",
                              join_some(partitions, "and"),
                              gpus_text(kind),
                              *lack),
                  "the earlier profile is kept; run the command again when the driver works",
                  {}};
    } else if (const auto others = other_models(types, seen);
               !others.empty() && !has_unnamed_gpu(kind)) {
        machine.remarks.push_back(fmt::format("Slurm lists {}, gpkg detected {} and uses that",
                                              gpus_text(kind),
                                              join_some(others, "and")));
    }
}

/// What is left where nobody can look.
void guess(KnownMachine& machine, const NodeKind& kind) {
    const auto platform =
        machine.profile ? machine.profile->platform : this_machine().native_platform;
    auto parts = profile_of_names(platform, kind.first().features, gpu_types_of(kind));
    for (const auto& type : parts.unread)
        machine.remarks.push_back(fmt::format("unknown GPU name: {}", type));
    if (has_unnamed_gpu(kind) && parts.profile.gpus.empty())
        machine.remarks.emplace_back("Slurm does not name its GPU model");
    machine.profile = std::move(parts.profile);
    machine.profile->origin = fmt::format("Slurm names, {}", today());
}

}  // namespace

std::vector<KnownMachine> know_kinds(const std::vector<NodeKind>& kinds,
                                     const ProbeOptions& options,
                                     bool may_probe) {
    std::vector<KnownMachine> known(kinds.size());
    for_each_index(kinds.size(), kAtOnce, [&](std::size_t place) {
        auto& machine = known[place];
        const auto& kind = kinds[place];
        machine.name = kind.first().name;
        if (may_probe)
            learn(
                machine, probe_by_slurm(kind, options), fmt::format("Slurm node {}", machine.name));
        compare(machine, kind);
        if (!machine.profile || machine.failure) guess(machine, kind);
    });
    return known;
}

std::vector<KnownMachine> know_hosts(const std::vector<std::string>& hosts,
                                     const ProbeOptions& options) {
    std::vector<KnownMachine> known(hosts.size());
    for_each_index(hosts.size(), kAtOnce, [&](std::size_t place) {
        known[place].name = hosts[place];
        learn(known[place],
              probe_by_ssh(hosts[place], options),
              fmt::format("host {}", hosts[place]));
    });
    return known;
}

std::vector<SiteProfile> partition_profiles(const std::vector<NodeKind>& kinds,
                                            const std::vector<KnownMachine>& known) {
    std::set<std::string> partitions;
    for (const auto& kind : kinds) {
        for (auto& name : kind.partitions()) partitions.insert(std::move(name));
    }
    std::vector<SiteProfile> found;
    for (const auto& partition : partitions) {
        std::vector<NodeKind> own;
        std::vector<HardwareProfile> profiles;
        for (std::size_t place = 0; place < kinds.size(); ++place) {
            if (!kinds[place].is_in(partition)) continue;
            own.push_back(kinds[place]);
            profiles.push_back(*known[place].profile);
        }
        const auto name = "partition=" + partition;
        auto common = own.size() == 1 ? profiles.front() : common_profile(profiles);
        if (common) {
            if (own.size() > 1)
                common->origin =
                    fmt::format("common to {} kinds of Slurm nodes, {}", own.size(), today());
            found.push_back({name, *std::move(common)});
        }
        for (std::size_t place = 0; own.size() > 1 && place < own.size(); ++place)
            found.push_back({fmt::format("{}:{}", name, label_of(own[place], own)),
                             std::move(profiles[place])});
    }
    return found;
}

Result<void> check_is_profile(const fs::path& file) {
    return check_replaceable(file, "a hardware profile", [](const fs::path& path) {
        return read_profile(path).has_value();
    });
}

Result<WrittenProfile> write_site_profile(const SiteProfile& site, const fs::path& folder) {
    WrittenProfile written;
    written.file = folder / (site.name + ".yaml");
    GPKG_CHECK(check_is_profile(written.file));
    auto present = read_profile(written.file);
    if (present && !present->known_by_names && site.profile.known_by_names) {
        written.was_kept = true;
        written.profile = *std::move(present);
        return written;
    }
    GPKG_CHECK(make_folders(folder));
    GPKG_CHECK(write_profile(site.profile, written.file));
    written.profile = site.profile;
    return written;
}

}  // namespace gpkg::cli
