#include "libcore/hardware/variant_columns.hpp"

#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/toolkit.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/microarchitecture.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

std::string accelerator(const PackageRecord& record) {
    const auto found = accelerator_of(record);
    return found.evidence.empty() ? "" : std::string(to_string(found.accelerator));
}

/// The dependency on `name`, as far as there is one that can be read.
std::optional<MatchSpec> dependency(const PackageRecord& record, std::string_view name) {
    for (const auto& depend : record.depends) {
        if (name_in_spec(depend) != name) continue;
        if (auto spec = MatchSpec::parse(depend)) return *std::move(spec);
    }
    return std::nullopt;
}

std::string version_asked(const PackageRecord& record, std::string_view name) {
    const auto spec = dependency(record, name);
    if (!spec) return "";
    return spec->version ? spec->version->to_string() : "any";
}

std::string gpu(const PackageRecord& record) {
    for (const auto& vendor : vendors()) {
        if (auto asked = version_asked(record, vendor.device); !asked.empty()) return asked;
    }
    return "";
}

/// "x86_64_v3" of "^(x86_64_v3|haswell|zen4)$": the one whose code all others run. Any other text
/// as it is.
std::string least_microarchitecture(std::string_view pattern) {
    const bool is_list = pattern.starts_with("^(") && pattern.ends_with(")$");
    const auto names = split(is_list ? pattern.substr(2, pattern.size() - 4) : pattern, '|');
    for (const auto least : names) {
        const bool is_of_all = std::ranges::all_of(names, [&](std::string_view name) {
            const auto line = lineage(name);
            return std::ranges::find(line, least) != line.end();
        });
        if (is_of_all) return std::string(least);
    }
    return std::string(pattern);
}

std::string cpu(const PackageRecord& record) {
    const auto spec = dependency(record, "__archspec");
    if (spec && spec->build) return least_microarchitecture(spec->build->text());
    const auto level = version_asked(record, "_x86_64-microarch-level");
    return level.empty() ? "" : "level " + level;
}

/// The first of `words` that the build string has as a token.
std::string token_of(const PackageRecord& record, std::span<const std::string_view> words) {
    for (const auto token : split(record.build, '_')) {
        if (std::find(words.begin(), words.end(), token) != words.end()) return std::string(token);
    }
    return "";
}

/// Whether what "generic" says can be of BLAS: the interface is needed, by it or by what it is a
/// part of.
bool is_generic_blas(const PackageRecord& record) {
    const auto tells = [](const std::string& depend) {
        return depend.find("blas") != std::string::npos ||
               depend.find("lapack") != std::string::npos ||
               depend.find("_generic") != std::string::npos;
    };
    return std::any_of(record.depends.begin(), record.depends.end(), tells);
}

std::string blas(const PackageRecord& record) {
    constexpr auto kWords = std::to_array<std::string_view>(
        {"mkl", "openblas", "blis", "accelerate", "netlib", "generic"});
    auto token = token_of(record, kWords);
    if (!token.empty() && (token != "generic" || is_generic_blas(record))) return token;
    for (const std::string_view name : {"blas", "libblas"}) {
        const auto spec = dependency(record, name);
        if (!spec || !spec->build) continue;
        for (const auto word : kWords) {
            if (spec->build->text().find(word) != std::string::npos) return std::string(word);
        }
    }
    for (const auto& depend : record.depends) {
        const auto name = name_in_spec(depend);
        if (name == "mkl") return "mkl";
        if (name == "libopenblas" || name == "openblas") return "openblas";
    }
    return "";
}

std::string mpi(const PackageRecord& record) {
    constexpr auto kWords = std::to_array<std::string_view>({"nompi", "openmpi", "mpich", "impi"});
    if (auto token = token_of(record, kWords); !token.empty()) return token;
    for (const std::string_view name : {"openmpi", "mpich", "impi_rt"}) {
        if (dependency(record, name)) return std::string(name);
    }
    return "";
}

/// "3.12" of "python_abi 3.12.* *_cp312" and of "python >=3.12,<3.13.0a0".
std::string python(const PackageRecord& record) {
    const auto abi = version_asked(record, "python_abi");
    if (abi.ends_with(".*")) return abi.substr(0, abi.size() - 2);
    const auto range = version_asked(record, "python");
    const auto comma = range.find(",<");
    if (record.noarch.empty() && range.starts_with(">=") && comma != std::string::npos) {
        const auto parts = split(std::string_view(range).substr(2, comma - 2), '.');
        if (parts.size() >= 2) return std::string(parts[0]) + "." + std::string(parts[1]);
    }
    return range == "any" ? "" : range;
}

}  // namespace

VariantColumns variant_columns(const PackageRecord& record) {
    const auto cuda = cuda_of(record);
    return {accelerator(record),
            cuda ? *cuda : cuda_beside(record).value_or(""),
            gpu(record),
            cpu(record),
            blas(record),
            mpi(record),
            python(record)};
}

std::vector<std::string> gpu_builds(const std::vector<PackageRecord>& records) {
    std::vector<std::string> texts;
    for (const auto& record : records) {
        const auto columns = variant_columns(record);
        if (columns.accelerator.empty() || columns.accelerator == "none") continue;
        texts.push_back(fmt::format(
            "{} ({})",
            record.name,
            columns.cuda.empty() ? columns.accelerator : fmt::format("CUDA {}", columns.cuda)));
    }
    return texts;
}

}  // namespace gpkg
