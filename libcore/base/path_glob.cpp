#include "libcore/base/path_glob.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>

namespace gpkg {
namespace {

// The end of the set that `pattern` begins with, its ']' included; 0 when it is none.
std::size_t set_length(std::string_view pattern) {
    const std::size_t first = pattern.size() > 1 && pattern[1] == '!' ? 2 : 1;
    const auto end = pattern.find(']', first + 1);
    return end == std::string_view::npos ? 0 : end + 1;
}

bool set_has(std::string_view set, char c) {
    set = set.substr(1, set.size() - 2);
    const bool inverted = set.starts_with('!');
    if (inverted) set.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (i + 2 < set.size() && set[i + 1] == '-') {
            found = found || (c >= set[i] && c <= set[i + 2]);
            i += 2;
        } else {
            found = found || c == set[i];
        }
    }
    return found != inverted;
}

// One name against one part of a pattern; the last star is remembered, so time is quadratic at
// most.
bool part_matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0;
    std::size_t n = 0;
    auto star = std::string_view::npos;
    std::size_t resume = 0;
    while (n < name.size()) {
        std::size_t step = 0;
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
            continue;
        }
        if (p < pattern.size() && pattern[p] == '[') {
            const auto length = set_length(pattern.substr(p));
            if (length > 0 && set_has(pattern.substr(p, length), name[n])) step = length;
            if (length == 0 && name[n] == '[') step = 1;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            step = 1;
        }
        if (step > 0) {
            p += step;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

using Parts = std::vector<std::string_view>;

// As in part_matches, with `**` for the star and whole names for letters. A pattern that is used up
// before the path is has named a folder above it.
bool parts_match(const Parts& pattern, const Parts& path) {
    std::size_t p = 0;
    std::size_t n = 0;
    auto star = pattern.size();
    std::size_t resume = 0;
    while (n < path.size()) {
        if (p == pattern.size()) return true;
        if (pattern[p] == "**") {
            star = p++;
            resume = n;
            if (p == pattern.size()) return true;
        } else if (part_matches(pattern[p], path[n])) {
            ++p;
            ++n;
        } else if (star != pattern.size()) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return p == pattern.size() || (p + 1 == pattern.size() && pattern[p] == "**");
}

}  // namespace

bool path_glob_matches(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with("./")) pattern.remove_prefix(2);
    while (pattern.ends_with('/')) pattern.remove_suffix(1);
    if (pattern.empty() || pattern == ".") return true;
    return parts_match(split(pattern, '/'), split(path, '/'));
}

bool any_path_glob_matches(const std::vector<std::string>& patterns, std::string_view path) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
        return path_glob_matches(pattern, path);
    });
}

}  // namespace gpkg
