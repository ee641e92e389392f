#pragma once

// YAML in block style, a line at a time, as people and git like it. The items of a list stand below
// their key and no deeper, as pixi and conda-lock write them: a file of theirs changes little.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace gpkg::lock {

class BlockWriter {
public:
    explicit BlockWriter(std::string head = {}) : text_(std::move(head)) {}

    /// "key:", with lines at a greater depth to follow.
    void open(int depth, std::string_view key);
    /// "key: value"; nothing for an empty value.
    void line(int depth, std::string_view key, std::string_view value);
    void line(int depth, std::string_view key, std::uint64_t value);
    /// "key: yaml", as it is.
    void as_is(int depth, std::string_view key, std::string_view yaml);
    void as_is(int depth, const std::map<std::string, std::string>& kept);
    /// "key:" and "- value" for each; nothing for none.
    void list(int depth, std::string_view key, std::span<const std::string> values);
    void item(int depth, std::string_view value);
    /// "- key: value", the begin of a map whose other lines stand one deeper.
    void item(int depth, std::string_view key, std::string_view value);

    std::string take() && { return std::move(text_); }

private:
    void write(int depth, std::string_view dash, std::string_view key, std::string_view yaml);
    std::string text_;
};

}  // namespace gpkg::lock
