#include "cli/workflow/modules.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/generations.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/own_program.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/image_run.hpp"
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

/// `origin` says which environment it is, and in which image.
Result<WantedModule> described(const Context& context,
                               const ModuleOrigin& origin,
                               const std::string& name) {
    const auto& prefix = origin.prefix;
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
    module.origin = origin;
    if (module.origin.packages.empty()) module.origin.packages = digest_of(records);
    module.origin.wanted_name = name;
    auto full = name;
    if (name.empty()) {
        // A prefix without a name has that of its folder.
        const auto called = origin.image.empty() ? prefix.filename().native() : origin.environment;
        const auto values = template_values(called, wanted.room, last ? &*last : nullptr);
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

Result<std::string> why_other(const WantedModule& wanted, const ModuleFile& file) {
    const auto& module = wanted.module;
    const auto full = module.version.empty() ? module.name : module.name + "/" + module.version;
    if (full != file.name) return fmt::format("it is to be called {} now", full);
    if (wanted.room != file.room) return fmt::format("it belongs into {}", wanted.room);
    GPKG_TRY(const auto text, read_file(file.path));
    if (text == modulefile(module, file.format)) return "";
    return "its text, or what activation does, has changed since";
}

/// The same of a module of an image, which is looked into where its environment is seen.
Result<std::string> why_image_stale(const Context& context, const ModuleFile& file) {
    const auto& origin = file.origin;
    std::error_code code;
    if (!fs::exists(origin.image, code))
        return fmt::format("the image {} is gone", origin.image.native());
    GPKG_TRY(const auto info, read_image_info(origin.image));
    if (info.content != origin.packages) return "the image is another one since";
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-check-"));
    const auto answer = folder.path() / "answer";
    ImageRunOptions how;
    how.temporary = folder_for_temporary();
    how.only_looks = true;
    const auto told = run_in_image(origin.image, info, how, [&] {
        const auto wanted = module_of_image(context, info, origin, origin.wanted_name);
        const auto why = wanted ? why_other(*wanted, file) : pass(wanted.error());
        return write_file_atomically(answer, why ? *why : why.error().message) ? 0 : 1;
    });
    GPKG_CHECK(told);
    return read_file(answer);
}

}  // namespace

Result<WantedModule> module_of(const Context& context,
                               const fs::path& prefix,
                               const std::string& name) {
    ModuleOrigin origin;
    origin.prefix = prefix;
    origin.environment = environment_folders(context.config).name_of(prefix);
    return described(context, origin, name);
}

Result<WantedModule> module_of_image(const Context& context,
                                     const ImageInfo& info,
                                     const ModuleOrigin& origin,
                                     const std::string& name) {
    auto wanted_origin = origin;
    wanted_origin.prefix = info.mount_point;
    wanted_origin.environment = info.name;
    wanted_origin.packages = info.content;
    GPKG_TRY(auto wanted, described(context, wanted_origin, name));
    wanted.module.details.front() += fmt::format(", mounted from {}", origin.image.native());
    GPKG_TRY(wanted.module.program, own_program());
    return wanted;
}

Result<std::string> why_stale(const Context& context, const ModuleFile& file) {
    if (!file.origin.image.empty()) return why_image_stale(context, file);
    const auto& prefix = file.origin.prefix;
    if (!Prefix::is_environment(prefix))
        return fmt::format("the environment {} is gone", prefix.native());
    GPKG_TRY(const auto wanted, module_of(context, prefix, file.origin.wanted_name));
    if (wanted.module.origin.packages != file.origin.packages) return "packages have changed since";
    return why_other(wanted, file);
}

}  // namespace gpkg::cli
