#include "libcore/cluster/slurm_nodes.hpp"

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/cluster/slurm_command.hpp"
#include "libcore/process/process.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace gpkg {
namespace {

/// The compact states of sinfo(1). A character after the state says more of it.
NodeReadiness readiness_of(std::string_view state) {
    std::string marks;
    while (!state.empty() &&
           std::string_view("*~#!%$@^-+").find(state.back()) != std::string_view::npos) {
        marks += state.back();
        state.remove_suffix(1);
    }
    const auto has = [&](char mark) { return marks.find(mark) != std::string::npos; };
    const bool is_up = state == "idle" || state == "mix" || state == "alloc" || state == "comp" ||
                       state == "plnd" || state == "resv";
    // It does not answer, is to be maintained, or restarts.
    if (!is_up || has('*') || has('$') || has('@') || has('^')) return NodeReadiness::Unusable;
    if (has('~') || has('#') || has('!') || has('%')) return NodeReadiness::Asleep;
    if (state == "idle") return NodeReadiness::Idle;
    return state == "mix" ? NodeReadiness::Shared : NodeReadiness::Busy;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    if (text == "(null)") return words;
    for (const auto word : split(text, ',')) {
        if (!word.empty()) words.emplace_back(word);
    }
    std::ranges::sort(words);
    return words;
}

/// The pieces between the commas of "gpu:a100:4(S:0,2),gpu:t4:1", without what is in parentheses.
std::vector<std::string> gres_items(std::string_view text) {
    std::vector<std::string> items(1);
    int depth = 0;
    for (const char c : text) {
        if (c == '(') ++depth;
        if (depth == 0 && c == ',') items.emplace_back();
        if (depth == 0 && c != ',') items.back() += c;
        if (c == ')') --depth;
    }
    return items;
}

std::vector<GpuGres> gpus_of(std::string_view text) {
    std::map<std::string, int> counts;
    for (const auto& item : gres_items(text)) {
        const auto parts = split(item, ':');
        if (parts.front() != "gpu" || parts.size() < 2) continue;
        const auto count = whole_number<int>(parts.back());
        const bool has_type = parts.size() > 2 || !count;
        counts[has_type ? std::string(parts[1]) : ""] += count.value_or(1);
    }
    std::vector<GpuGres> gpus;
    for (const auto& [type, count] : counts) {
        if (count > 0) gpus.push_back({type, count});
    }
    return gpus;
}

std::string gpu_types(const NodeKind& kind, const std::vector<NodeKind>&) {
    std::string types;
    for (const auto& gpu : kind.first().gpus) {
        if (gpu.type.empty()) continue;
        types += (types.empty() ? "" : "+") + gpu.type;
    }
    return types;
}

bool has_feature(const NodeKind& kind, const std::string& feature) {
    return std::ranges::binary_search(kind.first().features, feature);
}

/// The first feature that this kind alone has, else all but those that every kind has.
std::string own_features(const NodeKind& kind, const std::vector<NodeKind>& kinds) {
    std::string own;
    for (const auto& feature : kind.first().features) {
        const auto count = std::ranges::count_if(
            kinds, [&](const NodeKind& other) { return has_feature(other, feature); });
        if (count == 1) return feature;
        if (std::cmp_less(count, kinds.size())) own += (own.empty() ? "" : "+") + feature;
    }
    return own;
}

std::vector<std::string> partition_names(const std::vector<SlurmNode>& nodes) {
    std::set<std::string> names;
    for (const auto& node : nodes) names.insert(node.partitions.begin(), node.partitions.end());
    return {names.begin(), names.end()};
}

Result<void> check_partitions(const std::vector<std::string>& wanted,
                              const std::vector<SlurmNode>& nodes) {
    const auto known = partition_names(nodes);
    for (const auto& name : wanted) {
        if (std::ranges::binary_search(known, name)) continue;
        const auto near = near_names(name, known);
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no such Slurm partition for you", name),
                    did_you_mean(near, fmt::format("partitions: {}", join_some(known, "and", 8))));
    }
    return {};
}

}  // namespace

bool NodeKind::is_in(const std::string& partition) const {
    return std::ranges::any_of(nodes, [&](const SlurmNode& node) {
        return std::ranges::binary_search(node.partitions, partition);
    });
}

std::vector<std::string> NodeKind::partitions() const { return partition_names(nodes); }

Result<std::vector<SlurmNode>> parse_nodes(std::string_view text) {
    constexpr std::size_t kFields = 7;
    std::map<std::string, SlurmNode> nodes;
    for (const auto line : split(text, '\n')) {
        if (trim(line).empty()) continue;
        const auto fields = split(line, '|');
        if (fields.size() != kFields)
            return fail(
                ErrorKind::Parse,
                fmt::format(
                    "sinfo: unexpected line, not name|partition|state|features|gres|layout|up: {}",
                    printable(line)));
        auto& node = nodes[std::string(fields[0])];
        node.name = fields[0];
        node.partitions.emplace_back(fields[1]);
        if (fields[6] == "up") node.open.emplace_back(fields[1]);
        node.readiness = readiness_of(fields[2]);
        node.features = words_of(fields[3]);
        node.gpus = gpus_of(fields[4]);
        node.layout = fields[5];
    }
    std::vector<SlurmNode> found;
    for (auto& [name, node] : nodes) {
        std::ranges::sort(node.partitions);
        std::ranges::sort(node.open);
        found.push_back(std::move(node));
    }
    return found;
}

std::vector<NodeKind> node_kinds(std::vector<SlurmNode> nodes) {
    const auto key_of = [](const SlurmNode& node) {
        std::string gpus;
        for (const auto& [type, count] : node.gpus) gpus += fmt::format("{}:{},", type, count);
        return std::tuple(node.features, gpus, node.layout);
    };
    std::map<decltype(key_of(nodes.front())), NodeKind> kinds;
    for (auto& node : nodes) kinds[key_of(node)].nodes.push_back(std::move(node));
    std::vector<NodeKind> found;
    for (auto& [key, kind] : kinds) {
        // One that no open partition has cannot be asked.
        std::ranges::stable_sort(kind.nodes, {}, [](const SlurmNode& node) {
            return std::pair(node.open.empty(), node.readiness);
        });
        found.push_back(std::move(kind));
    }
    return found;
}

Result<std::vector<SlurmNode>> slurm_nodes(const std::vector<std::string>& partitions,
                                           const std::function<bool()>& cancelled) {
    SlurmCommand sinfo;
    sinfo.arguments = {"sinfo", "--noheader", "--Node", "--format=%N|%R|%t|%f|%G|%z|%a"};
    sinfo.cancelled = cancelled;
    auto text = slurm_state(sinfo);
    if (!text) {
        auto& hint = text.error().hint;
        if (hint.empty())
            hint =
                "without Slurm on this machine, use ssh: gpkg hardware --hosts HOST; or describe "
                "a node by its GPU: gpkg hardware export --for h100 -o FILE";
        return pass(std::move(text).error());
    }
    GPKG_TRY(auto nodes, parse_nodes(*text));
    if (nodes.empty()) return fail(ErrorKind::NotFound, "sinfo: no nodes available to you");
    GPKG_CHECK(check_partitions(partitions, nodes));
    if (partitions.empty()) return nodes;
    std::erase_if(nodes, [&](SlurmNode& node) {
        for (auto* names : {&node.partitions, &node.open})
            std::erase_if(*names, [&](const std::string& name) {
                return std::ranges::find(partitions, name) == partitions.end();
            });
        return node.partitions.empty();
    });
    return nodes;
}

std::string gpus_text(const NodeKind& kind) {
    std::string text;
    for (const auto& [type, count] : kind.first().gpus)
        text += fmt::format(
            "{}{} x {}", text.empty() ? "" : ", ", count, type.empty() ? "a GPU" : type);
    return text;
}

std::string label_of(const NodeKind& kind, const std::vector<NodeKind>& in_partition) {
    if (in_partition.size() < 2) return {};
    auto label = kind.first().name;
    for (const auto name_of : {gpu_types, own_features}) {
        const auto name = name_of(kind, in_partition);
        const auto same = std::ranges::count_if(in_partition, [&](const NodeKind& other) {
            return name_of(other, in_partition) == name;
        });
        if (name.empty() || same > 1) continue;
        label = name;
        break;
    }
    std::ranges::replace(label, '/', '_');
    return label;
}

}  // namespace gpkg
