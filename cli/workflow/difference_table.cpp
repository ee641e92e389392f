#include "cli/workflow/difference_table.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

DifferenceTable::DifferenceTable() {
    constexpr std::size_t kLeast = 12;
    table_.may_drop(3);
    table_.may_shorten(1, kLeast);
    table_.may_shorten(2, kLeast);
    table_.may_shorten(0, kLeast);
}

void DifferenceTable::add(const std::string& name,
                          const std::string& before,
                          const std::string& after,
                          const std::string& how) {
    if (before.empty())
        table_.add({"+ " + name, "", after});
    else if (after.empty())
        table_.add({"- " + name, before});
    else
        table_.add({"~ " + name, before, after, how});
}

void DifferenceTable::print(Output& out) const { out.result(table_); }

std::string variant_changes(const VariantColumns& before, const VariantColumns& after) {
    const auto word = [](const std::string& value) { return value.empty() ? "none" : value; };
    std::string text;
    for (const auto& [name, value] : kVariantColumns) {
        const auto from = word(before.*value);
        const auto to = word(after.*value);
        if (from != to)
            text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", name, from, to);
    }
    return text;
}

}  // namespace gpkg::cli
