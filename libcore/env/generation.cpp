#include "libcore/env/generation.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/json_internal.hpp"
#include "libcore/env/record_json_internal.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <system_error>

namespace gpkg {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFolder = "gpkg/generations";
constexpr std::string_view kEnding = ".json.zst";
/// Of one that is read: an environment of ten thousand packages has a tenth of it.
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

GenerationPackage read_package(simdjson::dom::object object) {
    GenerationPackage package;
    for (const auto [key, value] : object) {
        if (key == "requested_specs") {
            package.requested_specs = env_json::texts_of(value);
        } else {
            env_json::read_package_key(package.record, key, value);
        }
    }
    env_json::settle_channel(package.record);
    return package;
}

}  // namespace

Result<Generation> Generation::parse(std::string_view text, std::string_view what) {
    simdjson::dom::parser parser;
    GPKG_TRY(const auto object, env_json::parse_object(parser, text, what));
    std::uint64_t format = 0;
    if (object["format"].get(format) != simdjson::SUCCESS || format != 1)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: this version of gpkg cannot read the generation", what));
    Generation generation;
    simdjson::dom::element value;
    if (object["number"].get(value) == simdjson::SUCCESS)
        generation.number = env_json::number_of(value).value_or(0);
    if (object["time"].get(value) == simdjson::SUCCESS) generation.time = env_json::text_of(value);
    if (object["command"].get(value) == simdjson::SUCCESS)
        generation.command = env_json::text_of(value);
    if (object["requested"].get(value) == simdjson::SUCCESS)
        generation.requested = env_json::texts_of(value);
    if (object["state"].get(value) == simdjson::SUCCESS) {
        GPKG_TRY(generation.state, GpkgState::parse(simdjson::minify(value), what));
    }
    if (object["restores"].get(value) == simdjson::SUCCESS)
        generation.restores = env_json::number_of(value).value_or(0);
    simdjson::dom::array packages;
    if (object["packages"].get(packages) != simdjson::SUCCESS)
        return fail(ErrorKind::Integrity, fmt::format("{}: the generation has no packages", what));
    for (const auto item : packages) {
        simdjson::dom::object package;
        if (item.get(package) != simdjson::SUCCESS) continue;
        generation.packages.push_back(read_package(package));
        const auto& record = generation.packages.back().record;
        if (record.name.empty() || record.version.empty() || record.build.empty())
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: a package without name, version or build", what));
    }
    return generation;
}

std::string Generation::to_json() const {
    auto list = Json::array();
    for (const auto& package : packages) {
        auto& out = list.emplace_back();
        env_json::write_package(out, package.record);
        if (!package.requested_specs.empty()) out["requested_specs"] = package.requested_specs;
    }
    Json out = {{"format", 1},
                {"number", number},
                {"time", time},
                {"command", command},
                {"requested", requested}};
    if (restores != 0) out["restores"] = restores;
    out["state"] = Json::parse(state.to_json());
    out["packages"] = std::move(list);
    return json_text(out);
}

std::string generation_file(std::uint64_t number) {
    return fmt::format("{}/{}{}", kFolder, number, kEnding);
}

Result<std::vector<std::uint64_t>> generation_numbers(const fs::path& prefix) {
    const auto folder = prefix / "conda-meta" / kFolder;
    std::vector<std::uint64_t> numbers;
    std::error_code code;
    fs::directory_iterator entry(folder, code);
    if (code == std::errc::no_such_file_or_directory) return numbers;
    for (const fs::directory_iterator end; !code && entry != end; entry.increment(code)) {
        const auto name = entry->path().filename().native();
        std::uint64_t number = 0;
        const auto [stop, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (fault == std::errc() && std::string_view(stop) == kEnding) numbers.push_back(number);
    }
    if (code) return pass(io_error(folder, "list", code.value()));
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

Result<Generation> read_generation(const fs::path& prefix, std::uint64_t number) {
    const auto file = prefix / "conda-meta" / generation_file(number);
    GPKG_TRY(const auto packed, read_file(file));
    GPKG_TRY(const auto text, zstd_decompress(packed, file.native(), kMostBytes));
    return Generation::parse(text, file.native());
}

bool is_same_archive(const PackageRecord& a, const PackageRecord& b) {
    if (a.distribution() != b.distribution()) return false;
    if (!a.sha256.empty() && !b.sha256.empty()) return a.sha256 == b.sha256;
    return a.md5.empty() || b.md5.empty() || a.md5 == b.md5;
}

bool same_packages(const Generation& a, const Generation& b) {
    return std::equal(a.packages.begin(),
                      a.packages.end(),
                      b.packages.begin(),
                      b.packages.end(),
                      [](const auto& one, const auto& other) {
                          return is_same_archive(one.record, other.record);
                      });
}

bool is_same_revision(const Generation& a, const Generation& b) {
    return same_packages(a, b) && a.state.accelerator == b.state.accelerator &&
           a.state.accelerator_asked == b.state.accelerator_asked &&
           a.state.package_accelerators == b.state.package_accelerators;
}

}  // namespace gpkg
