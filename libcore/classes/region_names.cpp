#include "libcore/classes/region_names.hpp"

#include "libcore/hardware/accelerator.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/spec/match_spec.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gpkg {
namespace {

bool is_asked(const Request& request, const PackageRecord& record) {
    return std::ranges::find(request.specs, record.name, &MatchSpec::name) != request.specs.end();
}

/// What was asked for says what an answer is for, and where it has no such builds, the rest. What
/// only tells a CUDA version, as pytorch-cuda does beside a build for CPUs, is of the rest.
std::string_view gpu_of(const Region& region, const Request& request) {
    auto of_rest = Accelerator::None;
    bool has_cpu_builds = false;
    for (const auto& record : region.solution.records) {
        const auto of = accelerator_of(record);
        const bool asked = is_asked(request, record) && !tells_cuda_version(record.name);
        if (of.accelerator == Accelerator::None) {
            has_cpu_builds = has_cpu_builds || (asked && !of.evidence.empty());
        } else if (asked) {
            return row_of(of.accelerator).word;
        } else if (of_rest == Accelerator::None) {
            of_rest = of.accelerator;
        }
    }
    return row_of(has_cpu_builds ? Accelerator::None : of_rest).word;
}

bool may_be_in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

/// The first name in a build string that may be a pattern: "x86_64_v4" of
/// "^(x86_64_v4|skylake_avx512)$", where a microarchitecture's level goes before those that have
/// it.
std::string first_name(std::string_view pattern) {
    const auto from = std::ranges::find_if(pattern, may_be_in_name);
    return {from, std::find_if_not(from, pattern.end(), may_be_in_name)};
}

/// "glibc2.28" for "__glibc >=2.28,<3.0.a0", "x86_64_v3" for "__archspec 1 x86_64_v3".
std::string short_name(const std::string& need) {
    const auto spec = MatchSpec::parse(need);
    if (!spec) return {};
    std::string text;
    if (spec->name != "__archspec") text = spec->name.substr(2);
    if (spec->build) {
        text += text.empty() ? "" : "-";
        text += first_name(spec->build->text());
    } else if (spec->version) {
        const auto literals = spec->version->literals();
        if (!literals.empty()) text += literals.front().to_string();
    }
    std::erase_if(text, [](char c) { return !may_be_in_name(c); });
    return text.substr(0, 40);
}

/// "cuda-cudart11.8.89": of what a region holds, what no other that is called like it has in this
/// version, else in this build. What was asked for goes first, then what is for its GPU. Empty
/// where the others have it all.
std::string what_differs(const Region& region,
                         const std::vector<const Region*>& namesakes,
                         const Request& request) {
    const auto others_have = [&](const PackageRecord& record, auto field) {
        return std::ranges::any_of(namesakes, [&](const Region* other) {
            return std::ranges::any_of(other->solution.records, [&](const auto& theirs) {
                return theirs.name == record.name && theirs.*field == record.*field;
            });
        });
    };
    std::string text;
    int best_rank = 0;
    for (const auto& record : region.solution.records) {
        const bool is_for_gpu =
            is_vendor_part(record.name) || !accelerator_of(record).evidence.empty();
        const bool is_version = !others_have(record, &PackageRecord::version);
        int rank = is_asked(request, record) ? 3 : is_for_gpu ? 2 : 1;
        if (is_version) rank += 3;
        if (rank <= best_rank || (!is_version && others_have(record, &PackageRecord::build)))
            continue;
        text = record.name + (is_version ? record.version : "-" + record.build);
        best_rank = rank;
    }
    std::erase_if(text, [](char c) { return !may_be_in_name(c); });
    return text;
}

/// For its GPU and for the needs that not all of `of_gpu`, the regions for that GPU, have.
std::string name_by_needs(const Region& region,
                          std::string_view gpu,
                          const std::vector<Region*>& of_gpu) {
    std::string name(gpu);
    for (const auto& need : region.needs) {
        const bool is_of_all = std::ranges::all_of(of_gpu, [&](const Region* other) {
            return std::ranges::find(other->needs, need) != other->needs.end();
        });
        const auto part = is_of_all ? std::string() : short_name(need);
        if (part.starts_with(name)) {
            name = part;  // "cuda12" says that it is for CUDA
        } else if (!part.empty()) {
            name += "-" + part;
        }
    }
    return name;
}

}  // namespace

void name_regions(std::vector<Region>& regions, const Request& request) {
    std::map<std::string_view, std::vector<Region*>> by_gpu;
    for (auto& region : regions) by_gpu[gpu_of(region, request)].push_back(&region);
    std::set<std::string> taken;
    std::map<std::string, std::vector<const Region*>> called;
    for (const auto& [gpu, of_gpu] : by_gpu) {
        for (auto* region : of_gpu) {
            auto name = name_by_needs(*region, gpu, of_gpu);
            auto& namesakes = called[name];
            if (!namesakes.empty()) {
                const auto more = what_differs(*region, namesakes, request);
                if (more.starts_with(name)) {
                    name = more;
                } else if (!more.empty()) {
                    name.append("-").append(more);
                }
            }
            namesakes.push_back(region);
            region->name = name;
            for (int number = 2; !taken.insert(region->name).second; ++number)
                region->name = fmt::format("{}-{}", name, number);
        }
    }
}

}  // namespace gpkg
