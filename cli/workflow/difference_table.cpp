#include "cli/workflow/difference_table.hpp"

#include "cli/workflow/record_text.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

DifferenceTable::DifferenceTable() {
    enum Columns : std::size_t { Name, Version, Build, Channel, How };
    constexpr std::size_t kLeast = 12;
    table_.may_drop(How);
    table_.may_shorten(Build, kLeast);
    table_.may_shorten(Channel, kLeast);
    table_.may_shorten(Version, kLeast);
    table_.may_shorten(Name, kLeast);
}

void DifferenceTable::add(const std::string& name,
                          const std::optional<PackageText>& before,
                          const std::optional<PackageText>& after,
                          const std::string& how) {
    if (before && after)
        table_.add({"~ " + name,
                    transition(before->version, after->version),
                    transition(before->build, after->build),
                    transition(before->channel, after->channel),
                    how});
    else if (const auto& only = before ? before : after)
        table_.add({(before ? "- " : "+ ") + name, only->version, only->build, only->channel});
}

void DifferenceTable::print(Output& out) const { out.result(table_); }

std::string variant_changes(const VariantColumns& before, const VariantColumns& after) {
    const auto word = [](const std::string& value) { return value.empty() ? "none" : value; };
    std::string text;
    for (const auto& [name, title, value] : kVariantColumns) {
        const auto from = word(before.*value);
        const auto to = word(after.*value);
        if (from != to)
            text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, from, to);
    }
    return text;
}

}  // namespace gpkg::cli
