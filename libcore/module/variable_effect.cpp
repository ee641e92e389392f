#include "libcore/module/variable_effect_internal.hpp"

#include <algorithm>

namespace gpkg {
namespace {

using How = VariableEffect::How;

/// `after` is `before` with something put in front, or behind: that, separator included.
std::optional<std::string> put_before(const std::string& after, const std::string& before) {
    if (after.size() <= before.size() || !after.ends_with(before)) return std::nullopt;
    return after.substr(0, after.size() - before.size());
}

std::optional<std::string> put_behind(const std::string& after, const std::string& before) {
    if (after.size() <= before.size() || !after.starts_with(before)) return std::nullopt;
    return after.substr(before.size());
}

/// Where nothing was there before, scripts leave the separator, or have a case for that.
bool is_alone(const std::optional<std::string>& first,
              const std::string& part,
              const std::string& with_separator) {
    return first && (*first == part || *first == with_separator);
}

/// What was added to a list with both values that it had before.
std::optional<VariableEffect> addition(const std::string& name, const SeenVariable& seen) {
    const auto& before = seen.second_before;
    if (!before || !seen.third_before || !seen.second || !seen.third) return std::nullopt;
    const bool is_path = name == "PATH";
    for (const char separator : {':', ' '}) {
        auto front = put_before(*seen.second, *before);
        if (front && front == put_before(*seen.third, *seen.third_before) && front->size() > 1 &&
            front->back() == separator) {
            const auto part = front->substr(0, front->size() - 1);
            if (is_path || is_alone(seen.first, part, *front))
                return VariableEffect{
                    name, separator == ':' ? How::PrependPath : How::PrependWords, part};
        }
        auto back = put_behind(*seen.second, *before);
        if (back && back == put_behind(*seen.third, *seen.third_before) && back->size() > 1 &&
            back->front() == separator) {
            const auto part = back->substr(1);
            if (is_path || is_alone(seen.first, part, *back))
                return VariableEffect{
                    name, separator == ':' ? How::AppendPath : How::AppendWords, part};
        }
    }
    return std::nullopt;
}

}  // namespace

bool is_variable_of_shells(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char c) {
               return is_letter(c) || (c >= '0' && c <= '9');
           });
}

std::optional<SeenEffect> effect_of(const std::string& name, const SeenVariable& seen) {
    // It never has a second value, but no script sets it.
    const bool is_path = name == "PATH";
    if (seen.second == seen.second_before && seen.third == seen.third_before &&
        seen.second_before) {
        if (is_path || !seen.first) return std::nullopt;
        return SeenEffect{{name, How::SetIfUnset, *seen.first}};
    }
    if (seen.second == seen.third && !is_path) {
        if (seen.first == seen.second) {
            if (!seen.first && !seen.second_before) return std::nullopt;
            return seen.first ? SeenEffect{{name, How::Set, *seen.first}}
                              : SeenEffect{{name, How::Unset, {}}};
        }
        // A script's own variable, which a shell hands on only where it was handed to it.
        if (!seen.first) return std::nullopt;
    }
    if (auto added = addition(name, seen)) return SeenEffect{*std::move(added)};
    return SeenEffect{{name, How::Set, {}}, false};
}

}  // namespace gpkg
