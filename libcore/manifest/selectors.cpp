#include "libcore/base/text.hpp"
#include "libcore/manifest/selectors_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace gpkg::manifest {
namespace {

constexpr int kDeepest = 50;

struct Variable {
    std::string_view name;
    bool (*holds)(std::string_view platform);
};

// The names of conda-build for operating systems and architectures, and CEP 24's osx64.
constexpr Variable kVariables[] = {
    {"unix", [](auto p) { return p.starts_with("linux-") || p.starts_with("osx-"); }},
    {"linux", [](auto p) { return p.starts_with("linux-"); }},
    {"osx", [](auto p) { return p.starts_with("osx-"); }},
    {"win", [](auto p) { return p.starts_with("win-"); }},
    {"linux32", [](auto p) { return p == "linux-32"; }},
    {"linux64", [](auto p) { return p == "linux-64"; }},
    {"osx64", [](auto p) { return p == "osx-64"; }},
    {"win32", [](auto p) { return p == "win-32"; }},
    {"win64", [](auto p) { return p == "win-64"; }},
    {"x86", [](auto p) { return p.ends_with("-32") || p.ends_with("-64"); }},
    {"x86_64", [](auto p) { return p.ends_with("-64"); }},
    {"arm", [](auto p) { return p.starts_with("linux-arm"); }},
    {"armv6l", [](auto p) { return p.ends_with("-armv6l"); }},
    {"armv7l", [](auto p) { return p.ends_with("-armv7l"); }},
    {"aarch64", [](auto p) { return p.ends_with("-aarch64"); }},
    {"arm64", [](auto p) { return p.ends_with("-arm64"); }},
    {"ppc64le", [](auto p) { return p.ends_with("-ppc64le"); }},
    {"riscv64", [](auto p) { return p.ends_with("-riscv64"); }},
    {"s390x", [](auto p) { return p.ends_with("-s390x"); }},
};

std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (const auto& variable : kVariables) names.emplace_back(variable.name);
    return names;
}

std::string meant_by(std::string_view word) {
    const auto names = known_names();
    const auto lower = to_lower(word);
    if (std::find(names.begin(), names.end(), lower) != names.end())
        return fmt::format("did you mean {}?", lower);
    const auto near = near_names(lower, names);
    return did_you_mean(near);
}

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// or-expression > and-expression > not-expression > word or parentheses.
class Evaluator {
public:
    Evaluator(std::string_view text, std::string_view platform) : rest_(text), platform_(platform) {
        advance();
    }

    Result<bool> whole() {
        GPKG_TRY(const bool value, either(0));
        if (!token_.empty()) return wrong(fmt::format("unexpected '{}'", token_));
        return value;
    }

private:
    static tl::unexpected<Error> wrong(std::string what, std::string hint = {}) {
        return fail(ErrorKind::Parse, std::move(what), std::move(hint));
    }

    void advance() {
        rest_ = trim(rest_);
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word_char);
        const auto length = static_cast<std::size_t>(end - rest_.begin());
        token_ = rest_.substr(0, std::max<std::size_t>(length, rest_.empty() ? 0 : 1));
        rest_.remove_prefix(token_.size());
    }

    bool take(std::string_view token) {
        if (token_ != token) return false;
        advance();
        return true;
    }

    Result<bool> either(int depth) {
        GPKG_TRY(bool value, all(depth));
        while (take("or")) {
            GPKG_TRY(const bool next, all(depth));
            value = value || next;
        }
        return value;
    }

    Result<bool> all(int depth) {
        GPKG_TRY(bool value, single(depth));
        while (take("and")) {
            GPKG_TRY(const bool next, single(depth));
            value = value && next;
        }
        return value;
    }

    Result<bool> single(int depth) {
        if (depth > kDeepest) return wrong("too deeply nested");
        if (take("not")) {
            GPKG_TRY(const bool value, single(depth + 1));
            return !value;
        }
        if (take("(")) {
            GPKG_TRY(const bool value, either(depth + 1));
            if (!take(")")) return wrong("a parenthesis is not closed");
            return value;
        }
        if (token_.empty()) return wrong("a name is missing at the end");
        for (const auto& [name, holds] : kVariables) {
            if (take(name)) return holds(platform_);
        }
        return wrong(fmt::format("unknown name '{}'", token_), meant_by(token_));
    }

    std::string_view rest_;
    std::string_view token_;
    std::string_view platform_;
};

}  // namespace

Result<bool> evaluate_selector(std::string_view expression, std::string_view platform) {
    auto value = Evaluator(expression, platform).whole();
    if (value) return value;
    const auto& wrong = value.error();
    return fail(wrong.kind,
                fmt::format("the selector [{}]: {}", trim(expression), wrong.message),
                !wrong.hint.empty()
                    ? wrong.hint
                    : fmt::format("selectors may use {}, and, or, not and parentheses; a comment "
                                  "that starts with [ is read as a selector",
                                  fmt::join(known_names(), ", ")));
}

bool is_meant_as_selector(std::string_view text) {
    const auto names = known_names();
    while (!text.empty()) {
        const auto begin = std::find_if(text.begin(), text.end(), is_word_char);
        const auto end = std::find_if_not(begin, text.end(), is_word_char);
        const auto word = to_lower(std::string_view(begin, end));
        if (std::find(names.begin(), names.end(), word) != names.end()) return true;
        // Of shorter words all are near to some.
        if (word.size() > 3 && !near_names(word, names).empty()) return true;
        text = std::string_view(end, text.end());
    }
    return false;
}

std::optional<std::string_view> selector_of_key(std::string_view key) {
    key = trim(key);
    if (!key.starts_with("sel(") || !key.ends_with(')')) return std::nullopt;
    return trim(key.substr(4, key.size() - 5));
}

Result<bool> evaluate_key_selector(std::string_view expression, std::string_view platform) {
    for (const auto allowed : {"unix", "linux", "osx", "win"}) {
        if (expression == allowed) return evaluate_selector(expression, platform);
    }
    return fail(ErrorKind::Parse,
                fmt::format("sel({}): expected unix, linux, osx or win", expression),
                "write one line for each");
}

}  // namespace gpkg::manifest
