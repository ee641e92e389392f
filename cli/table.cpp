#include "cli/table.hpp"

#include <algorithm>

namespace gpkg::cli {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kNarrowest = 8;

/// `text` in lines of at most `width` columns, also where that divides a word.
std::vector<std::string> cell_lines(const std::string& text, std::size_t width) {
    if (display_width(text) <= width) return {text};
    std::vector<std::string> lines;
    for (auto& line : wrapped(text, width)) {
        while (display_width(line) > width) {
            lines.emplace_back(front(line, width));
            line.erase(0, lines.back().size());
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace

std::vector<Table::Column> Table::natural() const {
    std::vector<Column> columns;
    for (const auto& row : rows_) {
        columns.resize(std::max(columns.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            columns[i].width = std::max(columns[i].width, display_width(row[i]));
    }
    return columns;
}

std::vector<Table::Column> Table::fitted(std::size_t width) const {
    auto columns = natural();
    const auto total = [&] {
        std::size_t sum = 0;
        for (const auto& column : columns)
            if (!column.is_dropped) sum += column.width + kGap.size();
        return sum == 0 ? sum : sum - kGap.size();
    };
    const auto narrow = [&](Column& column, std::size_t least) {
        if (const auto now = total(); now > width && column.width > least)
            column.width -= std::min(column.width - least, now - width);
    };
    for (const auto& step : steps_) {
        if (total() <= width) break;
        if (step.column >= columns.size()) continue;
        auto& column = columns[step.column];
        if (step.least == 0) {
            column.is_dropped = true;
        } else if (column.width > step.least) {
            narrow(column, step.least);
            column.keep = step.keep;
        }
    }
    while (total() > width) {
        const auto widest = std::ranges::max_element(
            columns, {}, [](const Column& column) { return column.is_dropped ? 0 : column.width; });
        if (widest == columns.end() || widest->width <= kNarrowest) break;
        --widest->width;
    }
    // What dropped columns leave.
    if (wrapping_ && *wrapping_ < columns.size() && total() < width) {
        auto& column = columns[*wrapping_];
        column.width += std::min(natural()[*wrapping_].width - column.width, width - total());
    }
    return columns;
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<Column>& columns,
                        const Screen& screen) const {
    std::string line;
    bool is_first = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto& column = columns[i];
        if (column.is_dropped) continue;
        if (!is_first) line += kGap;
        is_first = false;
        const auto cell = shortened(cells[i], column.width, column.keep, screen.utf8);
        const std::string padding(column.width - display_width(cell), ' ');
        const bool right = std::ranges::find(right_aligned_, i) != right_aligned_.end();
        line += right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return shortened(line, screen.width, Keep::Start, screen.utf8);
}

std::vector<std::string> Table::lines(const Screen& screen) const {
    const auto columns = fitted(screen.width);
    std::vector<std::string> lines;
    for (auto cells : rows_) {
        if (!wrapping_ || *wrapping_ >= cells.size()) {
            lines.push_back(line(cells, columns, screen));
            continue;
        }
        const auto place = *wrapping_;
        for (auto& part : cell_lines(cells[place], columns[place].width)) {
            cells[place] = std::move(part);
            lines.push_back(line(cells, columns, screen));
            for (auto& cell : cells) cell.clear();
        }
    }
    return lines;
}

}  // namespace gpkg::cli
