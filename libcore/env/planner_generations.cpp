#include "libcore/env/planner_internal.hpp"

#include <algorithm>

namespace gpkg {
namespace {

/// A tenth of the bytes, in a millisecond for hundreds of packages.
constexpr int kZstdLevel = 3;

std::vector<GenerationPackage> by_name(std::vector<GenerationPackage> packages) {
    std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) {
        return a.record.name < b.record.name;
    });
    return packages;
}

}  // namespace

std::vector<GenerationPackage> Planner::packages_after() const {
    std::vector<GenerationPackage> packages;
    packages.reserve(staying_.size() + transaction_.link.size());
    for (const auto* staying : staying_) {
        auto record = *staying;
        for (const auto& rewrite : transaction_.rewrite) {
            if (rewrite.name == record.package.name) apply(rewrite, record);
        }
        packages.push_back({record.package, record.requested_specs});
    }
    for (const auto& request : transaction_.link)
        packages.push_back({request.record, request.requested_specs});
    return by_name(std::move(packages));
}

/// Says in `entry` which packages come and go, and plans the block of the history. A change of
/// requests alone gets none: to conda a block without packages is an environment without any. The
/// requests are told in the block before.
void Planner::plan_history(HistoryEntry& entry, const std::string& history) {
    std::vector<std::string> packages;
    packages.reserve(staying_.size() + transaction_.link.size());
    for (const auto* staying : staying_) packages.push_back(history_text(staying->package));
    for (const auto& request : transaction_.link) packages.push_back(history_text(request.record));
    const auto blocks = parse_history(history);
    set_difference(entry, blocks, packages);
    auto& journal = plan_.journal;
    journal.history_size = history.size();
    if (!entry.added.empty() || !entry.removed.empty() || blocks.empty()) {
        const bool is_cut = !history.empty() && !history.ends_with('\n');
        journal.history_block = (is_cut ? "\n" : "") + to_text(entry);
        return;
    }
    auto with_entry = blocks;
    with_entry.push_back(entry);
    if (requested_by_name(with_entry) == requested_by_name(blocks)) return;
    journal.history_replaced = last_block(history);
    journal.history_size -= journal.history_replaced.size();
    journal.history_block = with_requests(journal.history_replaced, entry);
}

/// What the environment is before this transaction, where that is no generation yet: other tools
/// made it, or changed it since.
Result<std::optional<Generation>> Planner::generation_found(
    const std::vector<std::uint64_t>& numbers, const std::vector<HistoryEntry>& history) const {
    Generation found;
    found.number = numbers.empty() ? 1 : numbers.back() + 1;
    if (!history.empty()) found.time = history.back().time;
    std::vector<GenerationPackage> packages;
    packages.reserve(plan_.installed.size());
    for (const auto& record : plan_.installed)
        packages.push_back({record.package, record.requested_specs});
    found.packages = by_name(std::move(packages));
    found.requested = requested_specs(history);
    found.state = state_before_;
    if (numbers.empty()) return found.packages.empty() ? std::nullopt : std::optional(found);
    // One that is damaged is not missed: what is here now is what counts.
    auto last = read_generation(transaction_.prefix, numbers.back());
    if (!last && last.error().kind == ErrorKind::Io) return pass(std::move(last).error());
    if (last && same_packages(*last, found)) return std::optional<Generation>();
    return std::optional(std::move(found));
}

Result<void> Planner::take_over_history() {
    const auto from = transaction_.continues / "conda-meta";
    GPKG_TRY(plan_.journal.history_block, read_file(from / "history"));
    GPKG_TRY(const auto numbers, generation_numbers(transaction_.continues));
    for (const auto number : numbers) {
        auto name = generation_file(number);
        GPKG_TRY(auto bytes, read_file(from / name));
        plan_.journal.records.push_back(name);
        plan_.generations.emplace_back(std::move(name), std::move(bytes));
    }
    return {};
}

Result<void> Planner::plan_generations(const HistoryEntry& entry, const std::string& history) {
    std::vector<std::uint64_t> numbers;
    if (auto prefix = Prefix::open(transaction_.prefix)) {
        GPKG_TRY(numbers, generation_numbers(transaction_.prefix));
        GPKG_TRY(state_before_, prefix->state());
    } else if (prefix.error().kind != ErrorKind::NoEnvironment) {
        return pass(std::move(prefix).error());
    }
    const auto add = [&](const Generation& generation) {
        const auto file = generation_file(generation.number);
        std::erase_if(plan_.generations,
                      [&](const auto& planned) { return planned.first == file; });
        std::erase(plan_.journal.records, file);
        plan_.generations.emplace_back(file, zstd_compress(generation.to_json(), kZstdLevel));
        plan_.journal.records.push_back(file);
        numbers.push_back(generation.number);
    };
    auto blocks = parse_history(history);
    GPKG_TRY(const auto found, generation_found(numbers, blocks));
    if (found) add(*found);

    blocks.push_back(entry);
    Generation after;
    after.number = numbers.empty() ? 1 : numbers.back() + 1;
    after.time = entry.time;
    after.command = entry.command;
    after.packages = packages_after();
    after.requested = requested_specs(blocks);
    after.state = transaction_.state.value_or(state_before_);
    after.restores = transaction_.restores;
    if (numbers.empty()) {
        add(after);
        return {};
    }
    // What is no revision of its own is noted in the last one.
    const auto last =
        found ? Result<Generation>(*found) : read_generation(transaction_.prefix, numbers.back());
    if (last && is_same_revision(*last, after)) {
        after.number = last->number;
        after.time = last->time;
        after.command = last->command;
        after.restores = last->restores;
        if (after == *last) return {};
    }
    add(after);
    return {};
}

}  // namespace gpkg
