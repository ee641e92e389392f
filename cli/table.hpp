#pragma once

// Columns of text, lined up.

#include <string>
#include <vector>

namespace gpkg::cli {

class Table {
public:
    /// Columns named here are aligned to the right.
    explicit Table(std::vector<std::size_t> right_aligned = {})
        : right_aligned_(std::move(right_aligned)) {}

    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }
    /// One text per row, cells two spaces apart, nothing blank at the end.
    std::vector<std::string> lines() const;

private:
    std::vector<std::size_t> right_aligned_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace gpkg::cli
