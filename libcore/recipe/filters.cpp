// The filters that CEP 39 keeps of Jinja's, plus version_to_buildstring.

#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/recipe/expression.hpp"
#include "libcore/recipe/wrong_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace gpkg {
namespace {

/// A few letters of a recipe shall not ask for all of the memory.
constexpr std::size_t kMostFilled = 10'000;

struct Filter {
    std::string_view name;
    std::size_t least;  ///< arguments, after the value itself
    std::size_t most;
    Result<Value> (*apply)(const Value& value, const CallArguments& arguments);
};

Result<std::string> text_of(const Value& value) {
    if (value.list() != nullptr) return wrong("needs a string, found a list");
    return value.to_text();
}

Result<Value::List> list_of(const Value& value) {
    if (const auto* list = value.list()) return *list;
    if (const auto* text = value.text()) {
        Value::List letters;
        letters.reserve(text->size());
        for (const char c : *text) letters.emplace_back(std::string(1, c));
        return letters;
    }
    return wrong(fmt::format("needs a list, found {}", value.kind_name()));
}

Result<Value> lower(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto text, text_of(value));
    return Value(to_lower(text));
}

Result<Value> upper(const Value& value, const CallArguments&) {
    GPKG_TRY(auto text, text_of(value));
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return Value(std::move(text));
}

Result<Value> trimmed(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto text, text_of(value));
    return Value(std::string(trim(text)));
}

Result<Value> replace(const Value& value, const CallArguments& arguments) {
    GPKG_TRY(const auto text, text_of(value));
    GPKG_TRY(const auto from, text_of(arguments.positional[0]));
    GPKG_TRY(const auto to, text_of(arguments.positional[1]));
    if (from.empty()) return wrong("cannot replace an empty string");
    return Value(replace_all(text, from, to));
}

Result<Value> to_int(const Value& value, const CallArguments&) {
    if (const auto* flag = value.flag()) return Value(*flag ? 1LL : 0LL);
    if (value.number() != nullptr) return value;
    GPKG_TRY(const auto text, text_of(value));
    const auto number = whole_number<long long>(text);
    if (!number) return wrong(fmt::format("'{}' is not a whole number", text));
    return Value(*number);
}

Result<Value> absolute(const Value& value, const CallArguments&) {
    const auto* number = value.number();
    if (number == nullptr) return wrong(fmt::format("needs a number, found {}", value.kind_name()));
    return Value(*number < 0 ? -*number : *number);
}

Result<Value> to_bool(const Value& value, const CallArguments&) { return Value(value.truthy()); }

/// With a second argument that is true, for every value that is not.
Result<Value> default_value(const Value& value, const CallArguments& arguments) {
    const bool for_false = arguments.positional.size() > 1 && arguments.positional[1].truthy();
    const bool is_missing = for_false ? !value.truthy() : value.is_null();
    return is_missing ? arguments.positional[0] : value;
}

Result<Value> first(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    return list.empty() ? Value() : list.front();
}

Result<Value> last(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    return list.empty() ? Value() : list.back();
}

Result<Value> length(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    return Value(static_cast<long long>(list.size()));
}

Result<Value> to_list(const Value& value, const CallArguments&) {
    GPKG_TRY(auto list, list_of(value));
    return Value(std::move(list));
}

Result<Value> join(const Value& value, const CallArguments& arguments) {
    GPKG_TRY(const auto list, list_of(value));
    const auto between =
        arguments.positional.empty() ? std::string() : arguments.positional[0].to_text();
    std::string out;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += between;
        out += list[i].to_text();
    }
    return Value(std::move(out));
}

/// A number that is an argument.
Result<long long> count_of(const Value& value, long long least) {
    const auto* number = value.number();
    if (number == nullptr || *number < least)
        return wrong(fmt::format("needs a number of at least {}", least));
    return *number;
}

/// Lists of so many items; the last is filled up where there is something to fill it with.
Result<Value> batch(const Value& value, const CallArguments& arguments) {
    GPKG_TRY(const auto list, list_of(value));
    GPKG_TRY(const auto size, count_of(arguments.positional[0], 1));
    Value::List batches;
    Value::List open;
    for (const auto& item : list) {
        open.push_back(item);
        if (static_cast<long long>(open.size()) < size) continue;
        batches.emplace_back(std::exchange(open, {}));
    }
    if (open.empty()) return Value(std::move(batches));
    while (arguments.positional.size() > 1 && static_cast<long long>(open.size()) < size &&
           open.size() < kMostFilled)
        open.push_back(arguments.positional[1]);
    batches.emplace_back(std::move(open));
    return Value(std::move(batches));
}

/// So many lists, the first of them longer by one where it does not come out even.
Result<Value> slice(const Value& value, const CallArguments& arguments) {
    GPKG_TRY(const auto list, list_of(value));
    GPKG_TRY(const auto count, count_of(arguments.positional[0], 1));
    const auto slices = static_cast<std::size_t>(count);
    if (slices > kMostFilled) return wrong("the number is too large");
    const auto each = list.size() / slices;
    const auto longer = list.size() % slices;
    Value::List all;
    auto next = list.begin();
    for (std::size_t i = 0; i < slices; ++i) {
        const auto size = static_cast<std::ptrdiff_t>(each + (i < longer ? 1 : 0));
        Value::List one(next, next + size);
        next += size;
        if (arguments.positional.size() > 1 && longer > 0 && i >= longer)
            one.push_back(arguments.positional[1]);
        all.emplace_back(std::move(one));
    }
    return Value(std::move(all));
}

Result<Value> split_text(const Value& value, const CallArguments& arguments) {
    GPKG_TRY(const auto text, text_of(value));
    const auto by = arguments.positional.empty() ? " " : arguments.positional[0].to_text();
    if (by.empty()) return wrong("cannot split at an empty string");
    auto cuts = std::numeric_limits<long long>::max();
    if (arguments.positional.size() > 1) {
        GPKG_TRY(cuts, count_of(arguments.positional[1], 0));
    }
    Value::List pieces;
    std::size_t from = 0;
    for (auto at = text.find(by); at != std::string::npos && cuts > 0;
         at = text.find(by, from), --cuts) {
        pieces.emplace_back(text.substr(from, at - from));
        from = at + by.size();
    }
    pieces.emplace_back(text.substr(from));
    return Value(std::move(pieces));
}

Result<Value> reverse(const Value& value, const CallArguments&) {
    GPKG_TRY(auto list, list_of(value));
    std::reverse(list.begin(), list.end());
    if (value.text() == nullptr) return Value(std::move(list));
    return join(Value(std::move(list)), {});
}

bool before(const Value& a, const Value& b) {
    if (a.number() != nullptr && b.number() != nullptr) return *a.number() < *b.number();
    return a.to_text() < b.to_text();
}

Result<Value> sort(const Value& value, const CallArguments&) {
    GPKG_TRY(auto list, list_of(value));
    std::stable_sort(list.begin(), list.end(), before);
    return Value(std::move(list));
}

Result<Value> smallest(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    return list.empty() ? Value() : *std::min_element(list.begin(), list.end(), before);
}

Result<Value> largest(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    return list.empty() ? Value() : *std::max_element(list.begin(), list.end(), before);
}

Result<Value> unique(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto list, list_of(value));
    Value::List kept;
    for (const auto& item : list) {
        if (std::find(kept.begin(), kept.end(), item) == kept.end()) kept.push_back(item);
    }
    return Value(std::move(kept));
}

// The first two segments without the dot: 11.2.0 -> 112.
Result<Value> version_to_buildstring(const Value& value, const CallArguments&) {
    GPKG_TRY(const auto text, text_of(value));
    const auto segments = split(text, '.');
    std::string out(segments[0]);
    if (segments.size() > 1) out += segments[1];
    return Value(std::move(out));
}

constexpr std::array kFilters = {
    Filter{"abs", 0, 0, absolute},
    Filter{"batch", 1, 2, batch},
    Filter{"bool", 0, 0, to_bool},
    Filter{"default", 1, 2, default_value},
    Filter{"first", 0, 0, first},
    Filter{"int", 0, 0, to_int},
    Filter{"join", 0, 1, join},
    Filter{"last", 0, 0, last},
    Filter{"length", 0, 0, length},
    Filter{"list", 0, 0, to_list},
    Filter{"lower", 0, 0, lower},
    Filter{"max", 0, 0, largest},
    Filter{"min", 0, 0, smallest},
    Filter{"replace", 2, 2, replace},
    Filter{"reverse", 0, 0, reverse},
    Filter{"slice", 1, 2, slice},
    Filter{"sort", 0, 0, sort},
    Filter{"split", 0, 2, split_text},
    Filter{"trim", 0, 0, trimmed},
    Filter{"unique", 0, 0, unique},
    Filter{"upper", 0, 0, upper},
    Filter{"version_to_buildstring", 0, 0, version_to_buildstring},
};

}  // namespace

Result<Value> apply_filter(std::string_view name,
                           const Value& value,
                           const CallArguments& arguments) {
    const auto* const filter = std::find_if(
        kFilters.begin(), kFilters.end(), [&](const auto& known) { return known.name == name; });
    if (filter == kFilters.end()) {
        std::vector<std::string> names;
        names.reserve(kFilters.size());
        for (const auto& known : kFilters) names.emplace_back(known.name);
        const auto near = near_names(name, names);
        return wrong(fmt::format("unknown filter '{}'", name), did_you_mean(near));
    }
    if (!arguments.named.empty())
        return wrong(fmt::format("filter '{}' takes no named arguments", name));
    const auto count = arguments.positional.size();
    if (count < filter->least || count > filter->most)
        return wrong(fmt::format(
            "filter '{}' takes {}{} arguments, not {}",
            name,
            filter->least,
            filter->most > filter->least ? fmt::format(" to {}", filter->most) : std::string(),
            count));
    auto result = filter->apply(value, arguments);
    if (result) return result;
    auto error = std::move(result).error();
    error.message = fmt::format("filter '{}': {}", name, error.message);
    return pass(std::move(error));
}

}  // namespace gpkg
