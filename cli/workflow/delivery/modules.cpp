#include "cli/workflow/delivery/modules.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/generations.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/own_program.hpp"
#include "libcore/fs/temporary.hpp"
#include "libcore/image/image_run.hpp"
#include "libcore/lock/class_needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

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
    module.details.push_back(fmt::format(
        "{} in {}", count_text(records.size(), "package"), module.origin.prefix.native()));
    const auto needs = least_needs(records);
    if (!needs.empty()) module.details.push_back(fmt::format("Needs: {}", fmt::join(needs, ", ")));
}

/// Who may not read the environment, or what of it a module tells, may not read the module.
unsigned kept_from_readers(const fs::path& prefix) {
    auto whom = kept_from(prefix) | kept_from(prefix / kVariablesFile);
    for (const auto* folder : {"etc/conda/activate.d", "etc/conda/env_vars.d"}) {
        std::error_code code;
        for (fs::directory_iterator item(prefix / folder, code), end; !code && item != end;
             item.increment(code))
            whom |= kept_from(item->path());
    }
    return whom;
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
    const auto room = module_room(records);
    EnvironmentModule module;
    module.origin = origin;
    if (module.origin.packages.empty()) module.origin.packages = digest_of(records);
    module.origin.wanted_name = name;
    auto full = name;
    if (name.empty()) {
        // A prefix without a name has that of its folder.
        const auto called = origin.image.empty() ? prefix.filename().native() : origin.environment;
        const auto values = template_values(called, room, last ? &*last : nullptr);
        GPKG_TRY(full, module_name_of(context.config.module_name.value, values, records));
    } else {
        if (name.find('{') != std::string::npos)
            return fail(
                ErrorKind::Usage,
                fmt::format("--as '{}': placeholders work only in the setting module_name", name),
                fmt::format("gpkg config set module_name {}", shell_word(name)));
        GPKG_CHECK(check_module_name(name));
    }
    const auto slash = full.rfind('/');
    module.name = full.substr(0, slash);
    if (slash != std::string::npos) module.version = full.substr(slash + 1);
    describe(module, present, records);
    if (!origin.image.empty())
        module.details.front() += fmt::format(", mounted from {}", origin.image.native());
    CaptureOptions capture;
    capture.name = module.origin.environment;
    capture.cancelled = [&] { return context.stop.stop_requested(); };
    GPKG_TRY(module.activation, capture_activation(prefix, capture));
    WantedModule wanted{texts_of(room, module), std::move(module.activation.left_out)};
    wanted.texts.kept_from = kept_from_readers(prefix);
    return wanted;
}

/// The gpkg that a module names stays as long as it is there, whichever gpkg looks.
Result<fs::path> program_for(const fs::path& named) {
    if (!named.empty() && ::access(named.c_str(), X_OK) == 0) return named;
    return own_program();
}

// What a process in the view finds out comes back as a file, which has JSON in it.

std::string handed_out(const Result<WantedModule>& wanted) {
    if (!wanted) {
        const auto& error = wanted.error();
        return json_text(
            Json{{"kind", error.kind}, {"message", error.message}, {"hint", error.hint}});
    }
    const auto& texts = wanted->texts;
    return json_text(Json{{"room", texts.room},
                          {"name", texts.name},
                          {"packages", texts.origin.packages},
                          {"lua", texts.texts.at(ModuleFormat::Lua)},
                          {"tcl", texts.texts.at(ModuleFormat::Tcl)},
                          {"kept_from", texts.kept_from},
                          {"left_out", wanted->left_out}});
}

Result<WantedModule> taken_over(const std::string& text, ModuleOrigin origin) {
    const auto json = Json::parse(text);
    if (json.contains("kind"))
        return pass(
            Error{json.at("kind").get<ErrorKind>(), json.at("message"), json.at("hint"), {}});
    WantedModule wanted;
    wanted.texts.room = json.at("room");
    wanted.texts.name = json.at("name");
    origin.packages = json.at("packages");
    wanted.texts.origin = std::move(origin);
    wanted.texts.texts = {{ModuleFormat::Lua, json.at("lua").get<std::string>()},
                          {ModuleFormat::Tcl, json.at("tcl").get<std::string>()}};
    wanted.texts.kept_from = json.at("kept_from");
    wanted.left_out = json.at("left_out").get<std::vector<std::string>>();
    return wanted;
}

Result<std::string> why_other(const WantedModule& wanted, const ModuleFile& file) {
    const auto& texts = wanted.texts;
    if (texts.name != file.name) return fmt::format("its name is now {}", texts.name);
    if (texts.room != file.room) return fmt::format("it belongs in {}", texts.room);
    GPKG_TRY(const auto text, read_file(file.path));
    if (text == texts.texts.at(file.format))
        return has_its_readers(file.path, texts.kept_from)
                   ? ""
                   : "its read permissions differ from those of the environment";
    return "its text or the activation has changed";
}

/// Whether there is certainly nothing at a path: where its folder can be looked into. One that
/// cannot, or is not there itself, may be on a file system that is not mounted just now.
bool is_certainly_gone(const fs::path& path) {
    std::error_code code;
    const auto status = fs::status(path, code);
    if (status.type() != fs::file_type::not_found) return false;
    return fs::is_directory(fs::status(path.parent_path(), code));
}

bool is_gone(const ModuleOrigin& origin) {
    if (!origin.image.empty()) return is_certainly_gone(origin.image);
    return is_certainly_gone(origin.prefix) ||
           is_certainly_gone(origin.prefix / "conda-meta" / "history");
}

/// Why `what` of a module cannot be looked at.
std::string not_seen(std::string_view what, const fs::path& path, bool gone) {
    return gone ? fmt::format("the {} {} no longer exists", what, path.native())
                : fmt::format("the {} {} is not visible from here", what, path.native());
}

/// The same of a module of an image, which is looked into where its environment is seen.
Result<std::string> why_image_stale(const Context& context, const ModuleFile& file) {
    const auto& origin = file.origin;
    std::error_code code;
    if (!fs::exists(origin.image, code)) return not_seen("image", origin.image, file.is_gone);
    GPKG_TRY(const auto info, read_image_info(origin.image));
    if (info.content != origin.packages) return "the image has changed";
    GPKG_TRY(const auto wanted, module_of_image(context, info, origin, origin.wanted_name, {}));
    return why_other(wanted, file);
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
                                     const std::string& name,
                                     const std::function<void(const std::string&)>& note) {
    auto wanted_origin = origin;
    wanted_origin.prefix = info.mount_point;
    wanted_origin.environment = info.name;
    wanted_origin.packages = info.content;
    wanted_origin.wanted_name = name;
    GPKG_TRY(wanted_origin.program, program_for(origin.program));
    GPKG_TRY(const auto folder, TemporaryFolder::make(folder_for_temporary(), "gpkg-module-"));
    const auto answer = folder.path() / "answer";
    ImageRunOptions how;
    how.temporary = folder_for_temporary();
    how.only_looks = true;
    how.note = note;
    const auto told = run_in_image(origin.image, info, how, [&] {
        const auto text = handed_out(described(context, wanted_origin, name));
        return write_file_atomically(answer, text) ? 0 : 1;
    });
    GPKG_CHECK(told);
    GPKG_TRY(const auto text, read_file(answer));
    GPKG_TRY(auto wanted, taken_over(text, std::move(wanted_origin)));
    wanted.texts.kept_from |= kept_from(origin.image);
    return wanted;
}

Result<std::vector<ModuleFile>> known_modules(const fs::path& root) {
    GPKG_TRY(auto files, module_files(root));
    for (auto& file : files) file.is_gone = is_gone(file.origin);
    return files;
}

std::string name_before(const ModuleOrigin& origin, const std::vector<ModuleFile>& before) {
    const auto found = std::find_if(before.begin(), before.end(), [&](const auto& file) {
        return file.origin.is_of_same(origin);
    });
    return found == before.end() ? "" : found->origin.wanted_name;
}

Result<std::string> why_stale(const Context& context, const ModuleFile& file) {
    if (!file.origin.image.empty()) return why_image_stale(context, file);
    const auto& prefix = file.origin.prefix;
    if (!Prefix::is_environment(prefix)) return not_seen("environment", prefix, file.is_gone);
    GPKG_TRY(const auto wanted, module_of(context, prefix, file.origin.wanted_name));
    if (wanted.texts.origin.packages != file.origin.packages) return "packages have changed";
    return why_other(wanted, file);
}

}  // namespace gpkg::cli
