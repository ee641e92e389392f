#include "libcore/indexing/variant_lint.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/hardware_keys.hpp"
#include "libcore/hardware/variant_inputs.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg {
namespace {

using Json = nlohmann::json;

/// Recipes add hundreds to the build number to rank their variants.
constexpr std::uint64_t kRank = 100;

struct Build {
    std::string file;
    PackageRecord record;
    std::map<std::string, std::string> inputs;  ///< empty: not known
    std::set<std::string> needs;                ///< names, without those of hardware
};

std::string text_in(const Json& record, const char* key) {
    const auto found = record.find(key);
    if (found == record.end() || found->is_null()) return {};
    return found->is_string() ? found->get<std::string>() : found->dump();
}

std::vector<std::string> texts_in(const Json& record, const char* key) {
    std::vector<std::string> texts;
    const auto found = record.find(key);
    if (found == record.end() || !found->is_array()) return texts;
    for (const auto& item : *found) {
        if (item.is_string()) texts.push_back(item.get<std::string>());
    }
    return texts;
}

bool holds_any(std::string_view text, std::span<const std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
    });
}

/// Whether a dependency on the name is one of hardware, or follows from what a build for some
/// hardware is made with.
bool is_of_hardware(const std::string& name) {
    constexpr auto kWords =
        std::to_array<std::string_view>({"cuda", "cpu", "gpu", "rocm", "nvidia", "microarch"});
    // Runtimes of OpenMP and of compilers, and what builds for GPUs compile or talk by.
    constexpr auto kCompany = std::to_array<std::string_view>({"_openmp_mutex",
                                                               "cusparselt",
                                                               "libgcc",
                                                               "libgcc-ng",
                                                               "libgfortran",
                                                               "libgfortran-ng",
                                                               "libgfortran5",
                                                               "libgomp",
                                                               "libstdcxx",
                                                               "libstdcxx-ng",
                                                               "llvm-openmp",
                                                               "libmagma",
                                                               "libmagma_sparse",
                                                               "magma",
                                                               "triton"});
    return name.starts_with("__") || name.starts_with("sysroot_") || is_vendor_part(name) ||
           tells_cuda_version(name) ||
           accelerator_of_dependency(name, "").hint != AcceleratorHint::Nothing ||
           holds_any(name, kWords) ||
           std::find(kCompany.begin(), kCompany.end(), name) != kCompany.end();
}

Build read_build(const PublishedPackage& one) {
    const auto json = Json::parse(one.record);
    Build build;
    build.file = one.file;
    build.record.name = one.name;
    build.record.version = one.version;
    build.record.build = text_in(json, "build");
    const auto number = json.find("build_number");
    if (number != json.end() && number->is_number_unsigned())
        build.record.build_number = number->get<std::uint64_t>();
    build.record.depends = texts_in(json, "depends");
    build.record.constrains = texts_in(json, "constrains");
    build.record.flags = texts_in(json, "flags");
    build.record.noarch = text_in(json, "noarch");
    build.record.license = text_in(json, "license");
    const auto used = Json::parse(one.package->variant);
    for (const auto& [key, value] : used.items())
        build.inputs[key] = value.is_string() ? value.get<std::string>() : json_text(value);
    for (const auto& depend : build.record.depends) {
        auto name = name_in_spec(depend);
        if (!name.empty() && !is_of_hardware(name)) build.needs.insert(std::move(name));
    }
    return build;
}

bool all_are(std::string_view text, int (*is)(int)) {
    return std::all_of(
        text.begin(), text.end(), [&](char c) { return is(static_cast<unsigned char>(c)) != 0; });
}

/// What a token of a build string says beside hashes, numbers, Python and hardware: "gpl" of
/// "cpugplh3f48201", "mkl" of "mkl"; nothing of "h3f48201", "py312h3f48201", "cuda129", "4".
std::string_view telling_part(std::string_view token) {
    constexpr std::size_t kHash = 8;
    constexpr auto kWords = std::to_array<std::string_view>({"nocuda",
                                                             "nogpu",
                                                             "norocm",
                                                             "cuda",
                                                             "cpu",
                                                             "gpu",
                                                             "rocm",
                                                             "hip",
                                                             "nvidia",
                                                             "generic",
                                                             "x86",
                                                             "avx",
                                                             "sm",
                                                             "cu",
                                                             "py",
                                                             "v"});
    if (token.size() >= kHash && token[token.size() - kHash] == 'h' &&
        all_are(token.substr(token.size() - kHash + 1), std::isxdigit))
        token.remove_suffix(kHash);
    for (const auto word : kWords) {
        if (!token.starts_with(word)) continue;
        const auto rest = token.substr(word.size());
        // Short words are ones only before a number: "cu118", not "custom".
        const bool is_short = word.size() <= 2;
        if (is_short && (rest.empty() || !all_are(rest, std::isdigit))) continue;
        token = rest;
        break;
    }
    return all_are(token, std::isdigit) ? std::string_view() : token;
}

/// What tells the builds of a name apart: texts of what they are for, and of all else.
struct Variant {
    std::string hardware;
    std::string rest;
};

Variant variant_of(const Build& build, bool by_inputs) {
    const auto columns = variant_columns(build.record);
    Variant variant;
    variant.rest = fmt::format("{} {}", build.record.version, build.record.build_number % kRank);
    for (const auto& column : {columns.accelerator, columns.cuda, columns.gpu, columns.cpu})
        variant.hardware += fmt::format("\n{}", column);
    for (const auto& column : {columns.blas, columns.mpi, columns.python})
        variant.rest += fmt::format("\n{}", column);
    for (const auto& [key, value] : build.inputs) {
        if (!by_inputs || is_workshop_key(key)) continue;
        (follows_from_machine(key) ? variant.hardware : variant.rest) +=
            fmt::format("\n{}={}", key, value);
    }
    if (by_inputs) return variant;
    for (const auto token : split(build.record.build, '_')) {
        if (const auto part = telling_part(token); !part.empty())
            variant.rest += fmt::format("\n{}", part);
    }
    return variant;
}

/// By the hardware they are for: at least two, or there is nothing to compare.
using Builds = std::map<std::string, std::vector<const Build*>>;

/// Names that all builds for some hardware need, and none for some other. Builds for the same that
/// do not agree are of variants that are not known here.
void compare_needs(const Builds& builds, std::vector<VariantFinding>& found) {
    std::set<std::string> all;
    for (const auto& [hardware, alike] : builds) {
        for (const auto* build : alike) all.insert(build->needs.begin(), build->needs.end());
    }
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> missing;
    for (const auto& name : all) {
        const Build* with = nullptr;
        const Build* without = nullptr;
        bool is_mixed = false;
        for (const auto& [hardware, alike] : builds) {
            const auto count = std::count_if(alike.begin(), alike.end(), [&](const Build* build) {
                return build->needs.contains(name);
            });
            (count == 0 ? without : with) = alike.front();
            is_mixed = is_mixed || (count != 0 && count != std::ssize(alike));
        }
        if (is_mixed || with == nullptr || without == nullptr || name == with->record.name)
            continue;
        missing[{with->file, without->file}].push_back(name);
    }
    for (const auto& [files, names] : missing)
        found.push_back({"depends",
                         fmt::format("{} {} needed by {} but not by {}",
                                     join_some(names, "and"),
                                     names.size() == 1 ? "is" : "are",
                                     files.first,
                                     files.second),
                         {files.first, files.second}});
}

void compare_text(const Builds& builds,
                  const char* field,
                  std::string PackageRecord::*text,
                  std::vector<VariantFinding>& found) {
    const auto& first = *builds.begin()->second.front();
    const Build* other = nullptr;
    for (const auto& [hardware, alike] : builds) {
        const auto& value = alike.front()->record.*text;
        const bool agree = std::all_of(alike.begin(), alike.end(), [&](const Build* build) {
            return build->record.*text == value;
        });
        if (!agree) return;
        if (value != first.record.*text) other = alike.front();
    }
    if (other == nullptr) return;
    const auto shown = [](const std::string& value) {
        return value.empty() ? std::string("none") : printable(value);
    };
    found.push_back({field,
                     fmt::format("{} is {} in {} but {} in {}",
                                 field,
                                 shown(first.record.*text),
                                 first.file,
                                 shown(other->record.*text),
                                 other->file),
                     {first.file, other->file}});
}

}  // namespace

std::vector<VariantFinding> lint_variants(const NameGroup& group) {
    std::vector<VariantFinding> found;
    if (group.packages.size() < 2 || is_vendor_part(group.packages.front()->name)) return found;
    std::vector<Build> builds;
    builds.reserve(group.packages.size());
    for (const auto* one : group.packages) builds.push_back(read_build(*one));
    const bool by_inputs = std::none_of(
        builds.begin(), builds.end(), [](const Build& build) { return build.inputs.empty(); });
    std::map<std::string, Builds> variants;
    for (const auto& build : builds) {
        const auto variant = variant_of(build, by_inputs);
        variants[variant.rest][variant.hardware].push_back(&build);
    }
    for (const auto& [rest, alike] : variants) {
        if (alike.size() < 2) continue;
        compare_needs(alike, found);
        compare_text(alike, "license", &PackageRecord::license, found);
        compare_text(alike, "noarch", &PackageRecord::noarch, found);
    }
    return found;
}

std::string to_json(const std::vector<VariantFinding>& findings) {
    auto list = Json::array();
    for (const auto& one : findings)
        list.push_back({{"field", one.field}, {"text", one.text}, {"files", one.files}});
    return json_text(list);
}

std::vector<VariantFinding> findings_from_json(const std::string& text) {
    std::vector<VariantFinding> findings;
    for (const auto& one : Json::parse(text))
        findings.push_back({one.at("field").get<std::string>(),
                            one.at("text").get<std::string>(),
                            one.at("files").get<std::vector<std::string>>()});
    return findings;
}

}  // namespace gpkg
