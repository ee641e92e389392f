// GPU code beside what the variant promises.

#include "libcore/base/text.hpp"
#include "libcore/build/checks/binary_checks_internal.hpp"
#include "libcore/spec/gpu_targets.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpkg {
namespace {

/// Names of architectures beside the same of the package.
class Compared {
public:
    Compared(std::string key, std::string list) : key_(std::move(key)), list_(std::move(list)) {}

    std::set<std::string> promised, found;

    void tell(std::vector<BinaryFinding>& findings) const {
        std::vector<std::string> missing;
        std::vector<std::string> extra;
        std::set_difference(promised.begin(),
                            promised.end(),
                            found.begin(),
                            found.end(),
                            std::back_inserter(missing));
        std::set_difference(found.begin(),
                            found.end(),
                            promised.begin(),
                            promised.end(),
                            std::back_inserter(extra));
        if (!missing.empty())
            add(true, "no GPU code for", missing, "build for them, or take them out of", findings);
        if (!extra.empty())
            add(false, "GPU code for", extra, "build without them, or put them into", findings);
    }

private:
    void add(bool is_error,
             std::string_view has,
             const std::vector<std::string>& names,
             std::string_view advice,
             std::vector<BinaryFinding>& findings) const {
        constexpr std::size_t kMost = 20;
        const auto text = join_some(names, "and", kMost);
        findings.push_back(
            {BinaryFinding::Kind::GpuCode,
             is_error,
             {},
             text,
             fmt::format("the package holds {} {}, while {} is {}", has, text, key_, list_),
             fmt::format("{} {}", advice, key_)});
    }

    std::string key_, list_;
};

/// "gfx90a:sramecc+:xnack-": however a person has ordered the features, compilers sort them.
std::string in_order(const std::string& target) {
    auto words = split(target, ':');
    std::sort(words.begin() + 1, words.end());
    return fmt::format("{}", fmt::join(words, ":"));
}

}  // namespace

std::vector<BinaryFinding> gpu_code_findings(const Variant& variant, const GpuCode& code) {
    std::vector<BinaryFinding> findings;
    const auto cuda = variant.find("cuda_arch_list");
    // An output without any such code promises nothing: headers, Python files.
    if (cuda != variant.end() && !(code.sass.empty() && code.ptx.empty())) {
        Compared compared("cuda_arch_list", cuda->second.text);
        for (const auto& item : split_targets(cuda->second.text)) {
            const auto asked = parse_cuda_code(item);
            compared.promised.insert(asked ? capability_text(asked->target.capability) : item);
        }
        for (const int one : code.sass) compared.found.insert(capability_text(one));
        for (const int one : code.ptx) compared.found.insert(capability_text(one));
        compared.tell(findings);
    }
    const auto gfx = variant.find("gfx_list");
    if (gfx != variant.end() && !code.gfx.empty()) {
        Compared compared("gfx_list", gfx->second.text);
        for (const auto& item : split_targets(gfx->second.text))
            compared.promised.insert(in_order(item));
        for (const auto& item : code.gfx) compared.found.insert(in_order(item));
        compared.tell(findings);
    }
    return findings;
}

}  // namespace gpkg
