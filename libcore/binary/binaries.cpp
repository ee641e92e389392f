#include "libcore/binary/binaries.hpp"

#include "libcore/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gpkg {
namespace {

using Json = nlohmann::json;

Json gpu_json(const GpuCode& code) {
    const auto texts = [](const std::set<CudaTarget>& targets) {
        auto list = Json::array();
        for (const auto one : targets) list.push_back(one.to_string());
        return list;
    };
    return {{"sass", texts(code.sass)}, {"ptx", texts(code.ptx)}, {"gfx", code.gfx}};
}

std::set<CudaTarget> targets_of(const Json& list) {
    std::set<CudaTarget> targets;
    for (const auto& one : list) {
        const auto version = Version::parse(one.get<std::string>());
        if (!version) throw std::invalid_argument(version.error().message);
        targets.insert(CudaTarget::of(*version));
    }
    return targets;
}

GpuCode gpu_of(const Json& json) {
    return {targets_of(json.at("sass")),
            targets_of(json.at("ptx")),
            json.at("gfx").get<std::set<std::string>>()};
}

}  // namespace

Result<std::vector<Binary>> read_binaries(const fs::path& prefix,
                                          const std::vector<std::string>& files,
                                          std::vector<std::string>* damaged) {
    std::vector<Binary> binaries;
    for (const auto& file : files) {
        const auto path = prefix / file;
        std::error_code code;
        if (fs::symlink_status(path, code).type() != fs::file_type::regular) continue;
        auto elf = read_elf_in(prefix, file);
        if (!elf && elf.error().kind == ErrorKind::Integrity) {
            if (damaged != nullptr) damaged->push_back(elf.error().message);
            continue;
        }
        if (!elf) return pass(std::move(elf).error());
        if (!*elf) continue;
        binaries.push_back({file, *std::move(*elf)});
    }
    return binaries;
}

Result<std::map<std::string, GpuCode>> gpu_code_of(const fs::path& prefix,
                                                   const std::vector<std::string>& files) {
    std::map<std::string, GpuCode> found;
    for (const auto& file : files) {
        std::error_code ignored;
        if (fs::symlink_status(prefix / file, ignored).type() != fs::file_type::regular) continue;
        auto code = read_gpu_code(prefix / file);
        // Code in a form that is not understood is none that can be told of.
        if (!code && code.error().kind == ErrorKind::Integrity) continue;
        if (!code) return pass(std::move(code).error());
        if (!code->empty()) found.emplace(file, *std::move(code));
    }
    return found;
}

std::string binaries_json(const PackageBinaries& binaries) {
    Json json{{"schema_version", 1}, {"gpu_code", gpu_json(binaries.gpu)}};
    if (!binaries.glibc.empty()) json["glibc"] = binaries.glibc;
    auto& files = json["gpu_code"]["files"] = Json::object();
    for (const auto& [file, code] : binaries.gpu_files) files[file] = gpu_json(code);
    auto& needs = json["needs"] = Json::array();
    for (const auto& need : binaries.needs) {
        Json one{{"library", need.library}, {"files", need.files}};
        if (!need.package.empty()) one["package"] = need.package;
        if (need.is_driver) one["driver"] = true;
        if (need.is_allowed) one["allowed"] = true;
        needs.push_back(std::move(one));
    }
    return json_text(json, 2) + "\n";
}

Result<PackageBinaries> parse_binaries_json(std::string_view text, std::string_view what) {
    try {
        const auto json = Json::parse(text);
        PackageBinaries binaries;
        binaries.glibc = json.value("glibc", "");
        const auto& code = json.at("gpu_code");
        binaries.gpu = gpu_of(code);
        for (const auto& [file, one] : code.at("files").items())
            binaries.gpu_files[file] = gpu_of(one);
        for (const auto& one : json.at("needs")) {
            LibraryNeed need;
            one.at("library").get_to(need.library);
            one.at("files").get_to(need.files);
            need.package = one.value("package", "");
            need.is_driver = one.value("driver", false);
            need.is_allowed = one.value("allowed", false);
            binaries.needs.push_back(std::move(need));
        }
        return binaries;
    } catch (const std::exception& error) {  // of the JSON, or a capability that is no number
        return fail(ErrorKind::Parse, fmt::format("{}: {}", what, error.what()));
    }
}

}  // namespace gpkg
