#include "libcore/recipe/spdx.hpp"

#include "libcore/base/text.hpp"
#include "libcore/recipe/spdx_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace gpkg {
namespace {

using Words = std::vector<std::string>;

/// Parentheses are words of their own.
Words words_of(std::string_view text) {
    Words words;
    bool open = false;  // the last word goes on
    for (const char c : text) {
        const bool is_space = c == ' ' || c == '\n' || c == '\t';
        if (is_space || c == '(' || c == ')') {
            open = false;
            if (!is_space) words.emplace_back(1, c);
        } else {
            if (!open) words.emplace_back();
            words.back() += c;
            open = true;
        }
    }
    return words;
}

bool is_among(std::string_view name, const Words& names) {
    const auto wanted = to_lower(name);
    return std::any_of(
        names.begin(), names.end(), [&](const auto& known) { return to_lower(known) == wanted; });
}

/// "LicenseRef-ours", "DocumentRef-a:LicenseRef-b", "AdditionRef-c": licences that the list lacks.
bool is_own_name(std::string_view name, std::string_view kind) {
    if (name.starts_with("DocumentRef-")) {
        const auto colon = name.find(':');
        if (colon == std::string_view::npos) return false;
        name.remove_prefix(colon + 1);
    }
    if (!name.starts_with(kind) || name.size() == kind.size()) return false;
    name.remove_prefix(kind.size());
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.';
    });
}

/// Those that `name` begins, as GPL begins GPL-3.0-only; else those that look like it.
/// `all` is the whole text: "Apache 2.0" is nearer to a name than "Apache".
Words meant_by(const std::string& name, const std::string& all, const Words& names) {
    if (auto near = near_names(all, names, 1); !near.empty() && all != name) return near;
    Words family;
    std::copy_if(names.begin(), names.end(), std::back_inserter(family), [&](const auto& known) {
        return to_lower(known).starts_with(to_lower(name) + '-');
    });
    return family.empty() ? near_names(name, names) : family;
}

LicenseFault unknown(std::string_view what,
                     const std::string& name,
                     const std::string& all,
                     const Words& names) {
    auto message = fmt::format("unknown SPDX {1} '{0}'", printable(name), what);
    const auto meant = meant_by(name, all, names);
    if (!meant.empty())
        return {std::move(message), fmt::format("did you mean {}?", join_some(meant, "or", 8))};
    return {std::move(message), "use a name from spdx.org/licenses, or LicenseRef-NAME"};
}

class LicenseExpression {
public:
    explicit LicenseExpression(std::string_view text) : all_(text), words_(words_of(text)) {}

    std::optional<LicenseFault> fault() {
        if (words_.empty())
            return LicenseFault{"the licence is empty", "use an SPDX name such as MIT"};
        if (auto fault = alternatives(0)) return fault;
        if (at_ == words_.size()) return {};
        if (words_[at_] == ")") return LicenseFault{"unmatched ')'", ""};
        return LicenseFault{
            fmt::format("missing AND, OR or WITH before '{}'", printable(words_[at_])),
            "use an SPDX name or expression, such as 'MIT OR Apache-2.0'"};
    }

private:
    bool takes(std::string_view upper, std::string_view lower) {
        const bool is_next = at_ < words_.size() && (words_[at_] == upper || words_[at_] == lower);
        if (is_next) ++at_;
        return is_next;
    }

    /// Licences joined by AND and OR. What binds more does not matter here.
    std::optional<LicenseFault> alternatives(int depth) {
        do {
            if (auto fault = operand(depth)) return fault;
        } while (takes("AND", "and") || takes("OR", "or"));
        return {};
    }

    std::optional<LicenseFault> operand(int depth) {
        constexpr int kDeepest = 50;
        if (takes("(", "(")) {
            if (depth == kDeepest) return LicenseFault{"too many nested '('", ""};
            if (auto fault = alternatives(depth + 1)) return fault;
            if (!takes(")", ")")) return LicenseFault{"missing ')'", ""};
            return {};
        }
        if (at_ == words_.size()) return LicenseFault{"missing licence at the end", ""};
        if (auto fault = license(words_[at_++])) return fault;
        if (!takes("WITH", "with")) return {};
        if (at_ == words_.size()) return LicenseFault{"missing exception after WITH", ""};
        return exception(words_[at_++]);
    }

    std::optional<LicenseFault> license(const std::string& name) const {
        static const auto known = words_of(kSpdxLicenses);
        static const auto deprecated = words_of(kDeprecatedSpdxLicenses);
        const auto without_plus = name.ends_with('+') ? name.substr(0, name.size() - 1) : name;
        if (is_own_name(name, "LicenseRef-") || is_among(without_plus, known) ||
            is_among(name, deprecated) || is_among(without_plus, deprecated))
            return {};
        return unknown("licence", name, all_, known);
    }

    std::optional<LicenseFault> exception(const std::string& name) const {
        static const auto known = words_of(kSpdxExceptions);
        if (is_own_name(name, "AdditionRef-") || is_among(name, known)) return {};
        return unknown("exception", name, all_, known);
    }

    std::string all_;
    Words words_;
    std::size_t at_ = 0;
};

}  // namespace

std::optional<LicenseFault> license_fault(std::string_view text) {
    return LicenseExpression(text).fault();
}

}  // namespace gpkg
