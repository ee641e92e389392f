#include "libcore/base/text.hpp"
#include "libcore/spec/fault_internal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace gpkg::grammar {
namespace {

constexpr std::size_t kTitleWidth = 60;
constexpr std::size_t kLineWidth = 90;
constexpr std::size_t kReasonWidth = 300;
constexpr std::string_view kCut = "...";

bool prints(char c) { return c >= ' ' && c <= '~'; }

std::string printable(std::string_view text) {
    std::string safe(text);
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return !prints(c); }, '?');
    return safe;
}

std::string cut(std::string_view text, std::size_t width) {
    auto whole = printable(text.substr(0, width));
    if (text.size() > width) whole += kCut;
    return whole;
}

/// The part of the text to show, and where the caret stands in it.
struct Excerpt {
    std::string line;
    std::size_t caret = 0;
};

Excerpt excerpt(std::string_view text, std::size_t at) {
    if (text.size() <= kLineWidth) return {printable(text), at};
    const auto begin = at > kLineWidth / 2 ? at - kLineWidth / 2 : 0;
    const auto end = std::min(text.size(), begin + kLineWidth);
    auto line = printable(text.substr(begin, end - begin));
    auto caret = at - begin;
    if (begin > 0) {
        line.insert(0, kCut);
        caret += kCut.size();
    }
    if (end < text.size()) line += kCut;
    return {std::move(line), caret};
}

}  // namespace

tl::unexpected<Fault> fault(std::size_t at, std::string what, std::string hint) {
    return tl::unexpected<Fault>(Fault{at, std::move(what), std::move(hint)});
}

tl::unexpected<Fault> moved(Fault inner, std::size_t offset) {
    inner.at += offset;
    return tl::unexpected<Fault>(std::move(inner));
}

tl::unexpected<Error> refuse(std::string_view text,
                             const Fault& found,
                             std::string exception_name) {
    const auto at = std::min(found.at, text.size());
    const auto named = trim(text);
    // Both quote the text, which may be long and anything.
    const auto title = named.empty() ? "''" : cut(named, kTitleWidth);
    auto message = fmt::format("{}: {}", title, cut(found.what, kReasonWidth));
    if (!named.empty()) {
        const auto [line, caret] = excerpt(text, at);
        message += fmt::format("\n  {}\n  {:>{}}", line, '^', caret + 1);
    }
    return fail_as(std::move(exception_name),
                   ErrorKind::Parse,
                   std::move(message),
                   cut(found.hint, kReasonWidth));
}

std::string shown(char c) {
    if (c == ' ') return "a space";
    if (c == '\'') return "\"'\"";
    if (prints(c)) return fmt::format("'{}'", c);
    return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace gpkg::grammar
