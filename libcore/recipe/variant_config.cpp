#include "libcore/recipe/variant_config.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg {
namespace {

bool has(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool have_one_in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::any_of(a.begin(), a.end(), [&](const auto& text) { return has(b, text); });
}

}  // namespace

VariantConfig VariantConfig::of(const Variant& variant) {
    VariantConfig config;
    for (const auto& [key, value] : variant) config.values[key] = {value};
    return config;
}

Variant VariantConfig::first() const {
    Variant variant;
    for (const auto& [key, all] : values) variant[key] = all.front();
    return variant;
}

std::vector<Variant> VariantConfig::choices(const std::string& key) const {
    const auto own = values.find(key);
    if (own == values.end()) return {};
    std::vector<Variant> choices(own->second.size());
    std::vector<std::string> together{key};
    for (const auto& group : zip_keys) {
        if (has(group, key)) together = group;
    }
    for (const auto& name : together) {
        const auto found = values.find(name);
        if (found == values.end()) continue;
        for (std::size_t i = 0; i < choices.size(); ++i) choices[i][name] = found->second.at(i);
    }
    return choices;
}

Result<void> VariantConfig::override_with(const VariantConfig& later) {
    for (const auto& [key, all] : later.values) values[key] = all;
    for (const auto& group : later.zip_keys) {
        std::erase_if(zip_keys, [&](const auto& old) { return have_one_in_common(old, group); });
        zip_keys.push_back(group);
    }
    for (const auto& group : zip_keys) {
        const std::string* first = nullptr;
        for (const auto& key : group) {
            if (!values.contains(key)) continue;
            if (first == nullptr) first = &key;
            const auto count = values.at(key).size();
            if (count != values.at(*first).size())
                return fail(
                    ErrorKind::Parse,
                    fmt::format("the variant keys {} and {} are zipped (zip_keys) but have {} "
                                "and {} values",
                                *first,
                                key,
                                values.at(*first).size(),
                                count),
                    "give both the same number of values, or remove them from zip_keys");
        }
    }
    return {};
}

Result<VariantConfig> parse_variant_choice(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        return fail(ErrorKind::Usage,
                    fmt::format("--variant {}: expected KEY=VALUE", text),
                    "for example --variant python=3.12, or python=3.11,3.12");
    VariantConfig config;
    auto& values = config.values[variant_key(text.substr(0, equals))];
    for (const auto value : split(std::string_view(text).substr(equals + 1), ','))
        values.emplace_back(std::string(trim(value)));
    return config;
}

}  // namespace gpkg
