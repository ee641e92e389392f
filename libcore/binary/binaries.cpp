#include "libcore/binary/binaries.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::json;

Json gpu_json(const GpuCode& code) {
    const auto texts = [](const std::set<int>& capabilities) {
        auto list = Json::array();
        for (const int one : capabilities) list.push_back(capability_text(one));
        return list;
    };
    return {{"sass", texts(code.sass)}, {"ptx", texts(code.ptx)}, {"gfx", code.gfx}};
}

/// 90 of "9.0".
int capability_of(const std::string& text) {
    const auto dot = text.find('.');
    return std::stoi(text.substr(0, dot)) * 10 + std::stoi(text.substr(dot + 1));
}

GpuCode gpu_of(const Json& json) {
    GpuCode code;
    for (const auto& one : json.at("sass")) code.sass.insert(capability_of(one));
    for (const auto& one : json.at("ptx")) code.ptx.insert(capability_of(one));
    for (const auto& one : json.at("gfx")) code.gfx.insert(one.get<std::string>());
    return code;
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
        // GPU code in a form that is not understood is none that can be told of.
        auto gpu = read_gpu_code(path);
        if (!gpu && gpu.error().kind != ErrorKind::Integrity) return pass(std::move(gpu).error());
        binaries.push_back({file, *std::move(*elf), gpu ? *std::move(gpu) : GpuCode{}});
    }
    return binaries;
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
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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
