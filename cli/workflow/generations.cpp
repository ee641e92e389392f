#include "cli/workflow/generations.hpp"

#include "cli/environments.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/prefix.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace gpkg::cli {

Result<std::vector<Generation>> generations_of(Context& context, const fs::path& prefix) {
    GPKG_TRY(const auto numbers, generation_numbers(prefix));
    std::vector<Generation> generations;
    generations.reserve(numbers.size());
    for (const auto number : numbers) {
        auto generation = read_generation(prefix, number);
        if (generation) {
            generations.push_back(*std::move(generation));
        } else {
            context.out.warn(generation.error().to_string());
        }
    }
    return generations;
}

std::string command_of(const Generation& generation) {
    if (generation.command.empty()) return "(by another tool)";
    auto command = typed_command(generation.command);
    // A comment, so that the line can be copied into a shell.
    if (generation.restores != 0) command += fmt::format("  # to {}", generation.restores);
    return command;
}

std::string typed_command(std::string_view command) {
    // A path with a blank is in quotes.
    const bool is_quoted = command.starts_with('\'');
    const auto end = std::min(command.size(), command.find(is_quoted ? '\'' : ' ', 1));
    const auto program = command.substr(0, end);
    const auto slash = program.rfind('/');
    if (slash == std::string_view::npos) return std::string(command);
    const auto arguments = command.substr(std::min(command.size(), end + (is_quoted ? 1 : 0)));
    return fmt::format("{}{}", program.substr(slash + 1), arguments);
}

Result<Generation> present_generation(const fs::path& path) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto records, prefix.records());
    GPKG_TRY(const auto history, prefix.history());
    Generation now;
    GPKG_TRY(now.state, prefix.state());
    now.requested = requested_specs(history);
    now.packages.reserve(records.size());
    for (const auto& record : records)
        now.packages.push_back({record.package, record.requested_specs});
    return now;
}

Result<Generation> generation_named(const Context& context,
                                    const fs::path& prefix,
                                    std::uint64_t number) {
    auto generation = read_generation(prefix, number);
    if (generation || generation.error().kind != ErrorKind::NotFound) return generation;
    GPKG_TRY(const auto numbers, generation_numbers(prefix));
    return fail(ErrorKind::NotFound,
                fmt::format("{} has no generation {}", prefix.native(), number),
                numbers.empty()
                    ? "gpkg has not changed this environment; its first change starts the history"
                    : fmt::format("to list generations {} to {}: gpkg history {}",
                                  numbers.front(),
                                  numbers.back(),
                                  target_words(context, prefix)));
}

Result<Generation> generation_at(Context& context,
                                 const fs::path& prefix,
                                 std::int64_t moment,
                                 const std::string& text) {
    GPKG_TRY(auto generations, generations_of(context, prefix));
    const auto later = std::ranges::find_if(generations, [&](const Generation& generation) {
        return parse_local_time(generation.time).value_or(moment) > moment;
    });
    if (later != generations.begin()) return std::move(*std::prev(later));
    if (generations.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("{} has no generations", prefix.native()),
                    "gpkg has not changed this environment; its first change starts the history");
    const auto& oldest = generations.front();
    return fail(ErrorKind::NotFound,
                fmt::format("{} has no generation as old as {}: the oldest is {} of {}",
                            prefix.native(),
                            text,
                            oldest.number,
                            oldest.time),
                fmt::format("to compare with the oldest: gpkg diff {} {}",
                            oldest.number,
                            target_words(context, prefix)));
}

namespace {

PackageSet set_of(const Generation& generation) {
    PackageSet set;
    set.reserve(generation.packages.size());
    for (const auto& package : generation.packages) set.push_back(&package.record);
    return set;
}

struct Counts {
    std::size_t added = 0;
    std::size_t removed = 0;
    std::size_t changed = 0;
};

Counts counts_of(const std::vector<PackageDifference>& differences) {
    Counts counts;
    for (const auto& one : differences) {
        if (one.before == nullptr)
            ++counts.added;
        else if (one.after == nullptr)
            ++counts.removed;
        else
            ++counts.changed;
    }
    return counts;
}

}  // namespace

std::vector<PackageDifference> differences(const Generation& before, const Generation& after) {
    return differences(set_of(before), set_of(after));
}

std::vector<PackageDifference> differences(const PackageSet& before, const PackageSet& after) {
    std::map<std::pair<std::string_view, bool>, PackageDifference> by_name;
    const auto enter = [&](const PackageSet& set, const PackageRecord* PackageDifference::*side) {
        for (const auto* record : set)
            by_name[{record->name, record->channel == "pypi"}].*side = record;
    };
    enter(before, &PackageDifference::before);
    enter(after, &PackageDifference::after);
    std::vector<PackageDifference> differences;
    for (const auto& [name, pair] : by_name) {
        if (pair.before == nullptr || pair.after == nullptr ||
            !is_same_archive(*pair.before, *pair.after))
            differences.push_back(pair);
    }
    return differences;
}

std::string counted(const std::vector<PackageDifference>& differences) {
    const auto [added, removed, changed] = counts_of(differences);
    const std::array<std::pair<char, std::size_t>, 3> counts{
        {{'+', added}, {'-', removed}, {'~', changed}}};
    std::string text;
    for (const auto& [sign, count] : counts) {
        if (count > 0) text += fmt::format("{}{}{}", text.empty() ? "" : " ", sign, count);
    }
    return text;
}

std::string counted_in_words(const std::vector<PackageDifference>& differences) {
    const auto [added, removed, changed] = counts_of(differences);
    const std::array<std::pair<std::string_view, std::size_t>, 3> counts{
        {{"added", added}, {"removed", removed}, {"changed", changed}}};
    std::string text;
    for (const auto& [what, count] : counts) {
        if (count == 0) continue;
        text += text.empty() ? fmt::format("{} {}", count_text(count, "package"), what)
                             : fmt::format(", {} {}", count, what);
    }
    return text;
}

}  // namespace gpkg::cli
