// GPU code beside what the variant promises.

#include "libcore/base/text.hpp"
#include "libcore/build/binary_checks_internal.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

/// The items of "8.0;9.0+PTX", "80-real;90-virtual", "sm_80, sm_90a", "gfx90a gfx942".
std::vector<std::string> items_of(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ',' || c == ' '; }, ';');
    std::vector<std::string> items;
    for (const auto item : split(text, ';')) {
        if (!item.empty()) items.emplace_back(item);
    }
    return items;
}

/// 90 of "9.0", "90", "sm_90a", "compute_90", "90-real" and "9.0+PTX".
std::optional<int> capability_of(std::string_view item) {
    for (const std::string_view start : {"sm_", "compute_"}) {
        if (item.starts_with(start)) item.remove_prefix(start.size());
    }
    const auto end = std::min(item.find_first_not_of("0123456789."), item.size());
    const auto rest = item.substr(end);
    const auto number = item.substr(0, end);
    constexpr std::string_view kFeatures = "af";  // of one architecture, of its family
    const bool is_known = rest.empty() || rest == "+PTX" || rest.starts_with('-') ||
                          kFeatures.find(rest.front()) != std::string_view::npos;
    const auto dot = number.find('.');
    int value = 0;
    int minor = 0;
    const auto read = [](std::string_view digits, int& into) {
        const auto [stop, code] =
            std::from_chars(digits.data(), digits.data() + digits.size(), into);
        return code == std::errc() && stop == digits.data() + digits.size();
    };
    if (!is_known || !read(number.substr(0, dot), value)) return std::nullopt;
    if (dot == std::string_view::npos) return value;
    if (!read(number.substr(dot + 1), minor)) return std::nullopt;
    return value * 10 + minor;
}

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

}  // namespace

std::vector<BinaryFinding> gpu_code_findings(const Variant& variant, const GpuCode& code) {
    std::vector<BinaryFinding> findings;
    const auto cuda = variant.find("cuda_arch_list");
    // An output without any such code promises nothing: headers, Python files.
    if (cuda != variant.end() && !(code.sass.empty() && code.ptx.empty())) {
        Compared compared("cuda_arch_list", cuda->second.text);
        for (const auto& item : items_of(cuda->second.text)) {
            const auto capability = capability_of(item);
            compared.promised.insert(capability ? capability_text(*capability) : item);
        }
        for (const int one : code.sass) compared.found.insert(capability_text(one));
        for (const int one : code.ptx) compared.found.insert(capability_text(one));
        compared.tell(findings);
    }
    const auto gfx = variant.find("gfx_list");
    if (gfx != variant.end() && !code.gfx.empty()) {
        Compared compared("gfx_list", gfx->second.text);
        // Features of a target ("gfx90a:xnack-") are not told by the code's reader either.
        for (const auto& item : items_of(gfx->second.text))
            compared.promised.insert(item.substr(0, item.find(':')));
        compared.found = code.gfx;
        compared.tell(findings);
    }
    return findings;
}

}  // namespace gpkg
