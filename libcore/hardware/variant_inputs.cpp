#include "libcore/hardware/variant_inputs.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace gpkg {
namespace {

/// What a key says of the builds of which something is known.
struct KeyColumn {
    std::string key;
    std::vector<std::string> values;
};

using KnownBuilds = std::vector<const VariantBuild*>;

/// "3.12" of "3.12.* *_cpython"; nothing of "None".
std::string_view plain(std::string_view value) {
    value = value.substr(0, value.find(' '));
    if (value.ends_with(".*")) value.remove_suffix(2);
    return value == "None" || value == "none" ? std::string_view() : value;
}

bool differs(const KeyColumn& column) {
    return std::any_of(column.values.begin(), column.values.end(), [&](const auto& value) {
        return value != column.values.front();
    });
}

bool repeats_a_column(const KeyColumn& column, const KnownBuilds& builds) {
    for (const auto& known : kVariantColumns) {
        bool same = true;
        for (std::size_t b = 0; same && b < builds.size(); ++b)
            same = plain(column.values[b]) == plain(builds[b]->columns.*known.value);
        if (same) return true;
    }
    return false;
}

/// Whether builds that are alike by `finer` are alike by `column` as well.
bool follows_from(const KeyColumn& column, const KeyColumn& finer) {
    std::map<std::string_view, std::string_view> seen;
    for (std::size_t b = 0; b < column.values.size(); ++b) {
        const auto [place, fresh] = seen.try_emplace(finer.values[b], column.values[b]);
        if (place->second != column.values[b]) return false;
    }
    return true;
}

/// Keys of recipes whose values are what a column shows, in words of their own: "cuda" for
/// "nvidia", "x86_64_v1" for nothing.
struct KeyOfColumn {
    std::string_view key;
    std::string VariantColumns::*column;
};
constexpr auto kKeysOfColumns = std::to_array<KeyOfColumn>({
    {"accel", &VariantColumns::accelerator},
    {"cuda_version", &VariantColumns::cuda},
    {"__cuda_arch", &VariantColumns::gpu},
    {"__amdgpu_arch", &VariantColumns::gpu},
    {"psabi", &VariantColumns::cpu},
    {"__archspec", &VariantColumns::cpu},
});

/// Whether its values tell builds apart exactly as the column of the same meaning does.
bool renames_a_column(const KeyColumn& column, const KnownBuilds& builds) {
    for (const auto& known : kKeysOfColumns) {
        if (known.key != column.key) continue;
        KeyColumn shown{column.key, {}};
        for (const auto* build : builds) shown.values.push_back(build->columns.*known.column);
        return follows_from(column, shown) && follows_from(shown, column);
    }
    return false;
}

std::vector<KeyColumn> differing(const KnownBuilds& builds) {
    std::set<std::string> keys;
    for (const auto* build : builds) {
        for (const auto& [key, value] : *build->inputs) keys.insert(key);
    }
    std::vector<KeyColumn> columns;
    for (const auto& key : keys) {
        KeyColumn column{key, {}};
        for (const auto* build : builds) {
            const auto found = build->inputs->find(key);
            column.values.push_back(found == build->inputs->end() ? "" : found->second);
        }
        if (differs(column)) columns.push_back(std::move(column));
    }
    return columns;
}

}  // namespace

bool is_workshop_key(std::string_view key) {
    constexpr auto kNames = std::to_array<std::string_view>({"c_stdlib",
                                                             "cdt_",
                                                             "channel_",
                                                             "docker_image",
                                                             "github_actions_",
                                                             "is_rc",
                                                             "target_platform"});
    if (key.starts_with('_')) return true;
    if (std::any_of(kNames.begin(), kNames.end(), [&](auto name) { return key.starts_with(name); }))
        return true;
    return key.starts_with("c_compiler") || key.starts_with("cxx_compiler") ||
           key.starts_with("fortran_compiler") || key.starts_with("rust_compiler");
}

TellingInputs telling_inputs(std::span<const VariantBuild> builds, std::size_t most) {
    KnownBuilds known;
    for (const auto& build : builds) {
        if (build.inputs) known.push_back(&build);
    }
    auto columns = differing(known);
    const auto all = columns;
    std::erase_if(columns, [&](const KeyColumn& column) {
        const auto version = std::find_if(all.begin(), all.end(), [&](const KeyColumn& other) {
            return other.key == column.key + "_version";
        });
        return repeats_a_column(column, known) || renames_a_column(column, known) ||
               (version != all.end() && follows_from(column, *version));
    });
    std::stable_partition(columns.begin(), columns.end(), [](const KeyColumn& column) {
        return !is_workshop_key(column.key);
    });
    TellingInputs telling;
    std::set<std::vector<std::string>> shown;
    for (const auto& column : columns) {
        const bool is_shown = telling.keys.size() < most && shown.insert(column.values).second;
        (is_shown ? telling.keys : telling.more).push_back(column.key);
    }
    return telling;
}

}  // namespace gpkg
