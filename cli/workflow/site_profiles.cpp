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

/// What is left where nobody can look.
void guess(KnownMachine& machine, const NodeKind& kind) {
    std::vector<std::string> types;
    bool has_unnamed = false;
    for (const auto& gpu : kind.first().gpus) {
        if (!gpu.type.empty()) types.push_back(gpu.type);
        has_unnamed = has_unnamed || gpu.type.empty();
    }
    auto parts = profile_of_names(this_machine().native_platform, kind.first().features, types);
    for (const auto& type : parts.unread)
        machine.remarks.push_back(fmt::format("{} is no name of a GPU that gpkg knows", type));
    if (has_unnamed && parts.profile.gpus.empty())
        machine.remarks.emplace_back("Slurm does not say which GPUs it has");
    machine.profile = std::move(parts.profile);
    machine.profile->origin = fmt::format("names of Slurm, {}", today());
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
            learn(machine,
                  probe_by_slurm(kind, options),
                  fmt::format("node {} of Slurm", machine.name));
        if (!machine.profile) guess(machine, kind);
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
                common->origin = fmt::format(
                    "what holds on {} kinds of nodes of Slurm, {}", own.size(), today());
            found.push_back({name, *std::move(common)});
        }
        for (std::size_t place = 0; own.size() > 1 && place < own.size(); ++place)
            found.push_back({fmt::format("{}:{}", name, label_of(own[place], own)),
                             std::move(profiles[place])});
    }
    return found;
}

Result<void> check_is_profile(const fs::path& file) {
    std::error_code code;
    if (!fs::exists(file, code) || read_profile(file)) return {};
    return fail(ErrorKind::Conflict,
                fmt::format("{}: exists and is no hardware profile", file.native()),
                "name another file, or remove it");
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
