#include "libcore/spec/near_packages.hpp"

#include "libcore/base/text.hpp"
#include "libcore/spec/near_packages_internal.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpkg {
namespace {

struct Module {
    std::string_view name;
    std::string_view package;
};

std::vector<Module> read_modules() {
    std::vector<Module> modules;
    for (const auto line : split(kImportNames, '\n')) {
        const auto space = line.find(' ');
        if (line.starts_with('#') || space == std::string_view::npos) continue;
        modules.push_back({line.substr(0, space), line.substr(space + 1)});
    }
    return modules;
}

const std::vector<Module>& known_modules() {
    static const auto modules = read_modules();
    return modules;
}

constexpr std::size_t kTooShort = 2;  ///< no name is near to one with as few letters
constexpr std::size_t kShort = 3;     ///< up to here the first letter is always right
constexpr std::size_t kMedium = 7;    ///< up to here one letter may differ, beyond two
constexpr std::size_t kMostSlips = 2;

/// How many letters differ; nothing for too many. Two at once with another first letter are
/// another name: nilearn is not sklearn.
std::optional<std::size_t> slips(std::string_view wanted, std::string_view name) {
    const std::size_t limit = wanted.size() <= kTooShort ? 0
                              : wanted.size() <= kMedium ? 1
                                                         : kMostSlips;
    const auto distance = edit_distance(wanted, name, limit);
    if (distance > limit) return std::nullopt;
    const bool may_start_otherwise = wanted.size() > kShort && distance < 2;
    if (wanted.front() != name.front() && !may_start_otherwise) return std::nullopt;
    return distance;
}

/// Of a shorter module name too many other words are near.
constexpr std::size_t kLeastModule = 5;

/// The package of a module whose name `wanted` misspells: "pytroch" for pytorch, which is in torch.
std::optional<std::string_view> package_of_misspelled_module(std::string_view wanted) {
    const auto& modules = known_modules();
    const auto found = std::ranges::find_if(modules, [&](const Module& module) {
        return module.name.size() >= kLeastModule && module.name != wanted &&
               slips(wanted, module.name);
    });
    return found == modules.end() ? std::nullopt : std::optional(found->package);
}

constexpr std::size_t kLeastPart = 4;

bool is_name_mark(char c) { return c == '-' || c == '_' || c == '.'; }

/// Whether `longer` begins with the other as a part of its name ("opencv-python") or as most of it.
bool begins_with(std::string_view longer, std::string_view shorter) {
    return longer.size() > shorter.size() && shorter.size() >= kLeastPart &&
           longer.starts_with(shorter) &&
           (is_name_mark(longer[shorter.size()]) || shorter.size() * 2 >= longer.size());
}

/// Whether one begins with the other, or `name` ends with `wanted`: "pytorch" for torch, but not
/// "python" for opencv-python.
bool is_extended(std::string_view wanted, std::string_view name) {
    if (begins_with(name, wanted) || begins_with(wanted, name)) return true;
    return name.size() > wanted.size() && wanted.size() >= kLeastPart && name.ends_with(wanted) &&
           (is_name_mark(name[name.size() - wanted.size() - 1]) ||
            wanted.size() * 2 >= name.size());
}

}  // namespace

std::optional<std::string_view> package_of_module(std::string_view module) {
    const auto lower = to_lower(module);
    const auto& modules = known_modules();
    const auto found = std::ranges::find(modules, lower, &Module::name);
    return found == modules.end() ? std::nullopt : std::optional(found->package);
}

std::vector<std::string> near_packages(std::string_view wanted,
                                       std::span<const std::string> names,
                                       std::size_t most) {
    if (wanted.empty()) return {};
    const auto package = package_of_module(wanted);
    const auto misspelled = package_of_misspelled_module(wanted);
    std::string of_module;
    std::vector<std::tuple<std::size_t, bool, std::string>> very_near;
    std::vector<std::tuple<std::size_t, bool, std::string>> extended;
    for (const auto& name : names) {
        if (name == wanted || name.empty()) continue;
        if (package == name) {
            of_module = name;
            continue;
        }
        const bool is_other_letter = name.front() != wanted.front();
        if (const auto distance = slips(wanted, name)) {
            very_near.emplace_back(*distance, is_other_letter, name);
        } else if (misspelled == name) {
            very_near.emplace_back(kMostSlips + 1, is_other_letter, name);
        } else if (is_extended(wanted, name)) {
            const auto more =
                std::max(name.size(), wanted.size()) - std::min(name.size(), wanted.size());
            extended.emplace_back(more, is_other_letter, name);
        }
    }
    auto& scored = very_near.empty() ? extended : very_near;
    std::ranges::sort(scored);
    std::vector<std::string> nearest;
    if (!of_module.empty()) nearest.push_back(std::move(of_module));
    for (auto& [score, is_other_letter, name] : scored) {
        if (nearest.size() >= most) break;
        if (nearest.empty() || nearest.back() != name) nearest.push_back(std::move(name));
    }
    return nearest;
}

}  // namespace gpkg
