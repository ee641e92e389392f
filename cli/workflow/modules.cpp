#include "cli/workflow/modules.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/generations.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/lock/class_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg::cli {
namespace {

/// Changes when anything is installed, removed or replaced.
std::string digest_of(const std::vector<PackageRecord>& records) {
    Hasher hasher(DigestKind::Sha256);
    for (const auto& record : records)
        hasher.update(
            fmt::format("{}={}={} {}\n", record.name, record.version, record.build, record.sha256));
    return std::move(hasher).hex();
}

std::vector<PackageRecord> records_of(const Generation& present) {
    std::vector<PackageRecord> records;
    records.reserve(present.packages.size());
    for (const auto& package : present.packages) records.push_back(package.record);
    return records;
}

/// What a template may name beside packages. "Core" asks nothing of the machine.
std::map<std::string, std::string> template_values(const std::string& environment,
                                                   const std::string& room,
                                                   const Generation* last) {
    const auto level = room.find("x86_64_v");
    return {
        {"name", environment},
        {"accelerator",
         room.starts_with("nvidia") ? "nvidia"
         : room.starts_with("amd")  ? "amd"
                                    : "cpu"},
        {"microarchitecture", level == std::string::npos ? "generic" : room.substr(level)},
        {"generation", last == nullptr ? "0" : std::to_string(last->number)},
        {"date", last == nullptr ? "0" : last->time.substr(0, last->time.find_first_of(" T"))},
    };
}

/// "python 3.12.4": those that were asked for, by name.
std::vector<const PackageRecord*> asked_for(const Generation& present) {
    std::vector<const PackageRecord*> records;
    for (const auto& package : present.packages) {
        if (!package.requested_specs.empty()) records.push_back(&package.record);
    }
    return records;
}

void describe(EnvironmentModule& module,
              const Generation& present,
              const std::vector<PackageRecord>& records) {
    std::vector<std::string> versions;
    for (const auto* record : asked_for(present)) {
        const auto version = record->version;
        versions.push_back(fmt::format("{} {}", record->name, version));
        module.keywords.push_back(record->name);
        module.extensions.push_back(fmt::format("{}/{}", record->name, version));
    }
    module.description = versions.empty() ? fmt::format("environment {}", module.origin.environment)
                                          : fmt::format("{}", fmt::join(versions, ", "));
    module.details.push_back(
        fmt::format("{} packages in {}", records.size(), module.origin.prefix.native()));
    const auto needs = least_needs(records);
    if (!needs.empty())
        module.details.push_back(fmt::format("Asks of the machine: {}", fmt::join(needs, ", ")));
}

}  // namespace

Result<WantedModule> module_of(const Context& context,
                               const fs::path& prefix,
                               const std::string& name) {
    GPKG_TRY(const auto present, present_generation(prefix));
    GPKG_TRY(const auto numbers, generation_numbers(prefix));
    std::optional<Generation> last;
    if (!numbers.empty()) {
        GPKG_TRY(last, read_generation(prefix, numbers.back()));
    }
    const auto records = records_of(present);
    WantedModule wanted;
    wanted.room = module_room(records);
    auto& module = wanted.module;
    module.origin.prefix = prefix;
    module.origin.environment = environment_folders(context.config).name_of(prefix);
    module.origin.packages = digest_of(records);
    module.origin.wanted_name = name;
    auto full = name;
    if (name.empty()) {
        // A prefix without a name has that of its folder.
        const auto values =
            template_values(prefix.filename().native(), wanted.room, last ? &*last : nullptr);
        GPKG_TRY(full, module_name_of(context.config.module_name.value, values, records));
    } else {
        GPKG_CHECK(check_module_name(name));
    }
    const auto slash = full.rfind('/');
    module.name = full.substr(0, slash);
    if (slash != std::string::npos) module.version = full.substr(slash + 1);
    describe(module, present, records);
    CaptureOptions capture;
    capture.name = module.origin.environment;
    capture.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(module.activation, capture_activation(prefix, capture));
    return wanted;
}

Result<std::string> why_stale(const Context& context, const ModuleFile& file) {
    const auto& prefix = file.origin.prefix;
    if (!Prefix::is_environment(prefix))
        return fmt::format("the environment {} is gone", prefix.native());
    GPKG_TRY(const auto wanted, module_of(context, prefix, file.origin.wanted_name));
    const auto& module = wanted.module;
    if (module.origin.packages != file.origin.packages) return "packages have changed since";
    const auto full = module.version.empty() ? module.name : module.name + "/" + module.version;
    if (full != file.name) return fmt::format("it is to be called {} now", full);
    if (wanted.room != file.room) return fmt::format("it belongs into {}", wanted.room);
    GPKG_TRY(const auto text, read_file(file.path));
    if (text == modulefile(module, file.format)) return "";
    return "its text, or what activation does, has changed since";
}

}  // namespace gpkg::cli
