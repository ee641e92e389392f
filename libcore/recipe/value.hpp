#pragma once

// What an expression of a recipe evaluates to (CEP 39): nothing, a truth value, a whole number, a
// text or a list.

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpkg {

class Value {
public:
    using List = std::vector<Value>;

    Value() = default;
    Value(bool flag) : data_(flag) {}
    Value(long long number) : data_(number) {}
    Value(std::string text) : data_(std::move(text)) {}
    Value(const char* text) : data_(std::string(text)) {}
    Value(List list) : data_(std::move(list)) {}

    bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
    const bool* flag() const { return std::get_if<bool>(&data_); }
    const long long* number() const { return std::get_if<long long>(&data_); }
    const std::string* text() const { return std::get_if<std::string>(&data_); }
    const List* list() const { return std::get_if<List>(&data_); }

    /// Null, false, 0, "" and the empty list are false; all else is true.
    bool truthy() const;
    /// As it stands in a rendered text: "true", "3", "[a, b]"; nothing for null.
    std::string to_text() const;
    /// "a text", "a list", ... for errors.
    std::string kind_name() const;

    friend bool operator==(const Value&, const Value&) = default;

private:
    std::variant<std::monostate, bool, long long, std::string, List> data_;
};

}  // namespace gpkg
