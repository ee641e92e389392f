#pragma once

// Rows of text as aligned columns that fit the screen.

#include "cli/terminal.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpkg::cli {

/// Rows are added, then turned into lines. Cells may be styled and have any length.
class Table {
public:
    /// Columns named here are aligned to the right.
    explicit Table(std::vector<std::size_t> right_aligned = {})
        : right_aligned_(std::move(right_aligned)) {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    /// Where rows are too long for the screen, columns are shortened to `least` columns, or
    /// dropped, in the order of these calls until the rows fit; then the widest are shortened.
    void may_shorten(std::size_t column, std::size_t least, Keep keep = Keep::Start) {
        steps_.push_back({column, least, keep});
    }
    void may_drop(std::size_t column) { steps_.push_back({column, 0, Keep::Start}); }

    /// Sentences and lists: instead of being cut, a cell continues on the next line.
    void may_wrap(std::size_t column) {
        wrapping_ = column;
        may_shorten(column, kNarrowestWrapped);
    }

    /// Cells two spaces apart, nothing blank at the end; no line is longer than the screen is wide.
    /// Without a column that wraps, one line for each row.
    std::vector<std::string> lines(const Screen& screen) const;

private:
    static constexpr std::size_t kNarrowestWrapped = 16;
    struct Step {
        std::size_t column = 0;
        std::size_t least = 0;  ///< 0: the column is dropped
        Keep keep = Keep::Start;
    };
    struct Column {
        std::size_t width = 0;
        bool is_dropped = false;
        Keep keep = Keep::Start;
    };
    std::vector<Column> natural() const;
    std::vector<Column> fitted(std::size_t width) const;
    std::string line(const std::vector<std::string>& cells,
                     const std::vector<Column>& columns,
                     const Screen& screen) const;

    std::vector<std::size_t> right_aligned_;
    std::vector<Step> steps_;
    std::optional<std::size_t> wrapping_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace gpkg::cli
