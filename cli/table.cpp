#include "cli/table.hpp"

#include <algorithm>

namespace gpkg::cli {
namespace {

constexpr std::string_view kGap = "  ";

}  // namespace

std::vector<Table::Column> Table::fitted(std::size_t width) const {
    std::vector<Column> columns;
    for (const auto& row : rows_) {
        columns.resize(std::max(columns.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            columns[i].width = std::max(columns[i].width, display_width(row[i]));
    }
    const auto total = [&] {
        std::size_t sum = 0;
        for (const auto& column : columns)
            if (!column.is_dropped) sum += column.width + kGap.size();
        return sum == 0 ? sum : sum - kGap.size();
    };
    for (const auto& step : steps_) {
        if (total() <= width) break;
        if (step.column >= columns.size()) continue;
        auto& column = columns[step.column];
        if (step.least == 0) {
            column.is_dropped = true;
        } else if (column.width > step.least) {
            column.width -= std::min(column.width - step.least, total() - width);
            column.keep = step.keep;
        }
    }
    return columns;
}

std::vector<std::string> Table::lines(const Screen& screen) const {
    const auto columns = fitted(screen.width);
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
        std::string line;
        bool is_first = true;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const auto& column = columns[i];
            if (column.is_dropped) continue;
            if (!is_first) line += kGap;
            is_first = false;
            const auto cell = shortened(row[i], column.width, column.keep, screen.utf8);
            const std::string padding(column.width - display_width(cell), ' ');
            const bool right =
                std::find(right_aligned_.begin(), right_aligned_.end(), i) != right_aligned_.end();
            line += right ? padding + cell : cell + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        if (!steps_.empty()) line = shortened(line, screen.width, Keep::Start, screen.utf8);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace gpkg::cli
