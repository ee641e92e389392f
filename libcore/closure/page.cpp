#include "libcore/closure/page.hpp"

#include "libcore/base/json_text.hpp"
#include "libcore/closure/page_internal.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gpkg {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBeginning = "<!DOCTYPE html>\n<!-- made by gpkg closure -->\n";

/// Names and specs are a channel's to choose.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
        case '&': safe += "&amp;"; break;
        case '<': safe += "&lt;"; break;
        case '>': safe += "&gt;"; break;
        case '"': safe += "&quot;"; break;
        case '\'': safe += "&#39;"; break;
        default: safe += c;
        }
    }
    return safe;
}

/// Inside <script> nothing is unescaped, and "</script" or "<!--" would end it.
std::string script_json(const Json& json) {
    const auto text = json_text(json);
    std::string safe;
    for (const char c : text) safe += c == '<' ? "\\u003c" : std::string(1, c);
    return safe;
}

std::string data_of(const Closure& closure, const PageTexts& texts) {
    auto packages = Json::array();
    for (std::size_t place = 0; place < closure.packages().size(); ++place) {
        const auto& package = closure.packages()[place];
        const auto& record = closure.record(place);
        packages.push_back({{"name", record.name},
                            {"version", record.version},
                            {"build", record.build},
                            {"size", package.size},
                            {"unique", package.unique},
                            {"closure", package.closure},
                            {"holder", package.held_by ? Json(*package.held_by) : Json()},
                            {"requested", package.is_requested}});
    }
    auto edges = Json::array();
    for (const auto& edge : closure.edges()) {
        edges.push_back({{"from", edge.from},
                         {"to", edge.to},
                         {"saves", edge.saves},
                         {"spec", fmt::format("{}", fmt::join(edge.specs, ", "))}});
    }
    return script_json({{"measure", texts.measure},
                        {"total", closure.total()},
                        {"packages", std::move(packages)},
                        {"edges", std::move(edges)}});
}

std::string rows_of(const Closure& closure, const PageTexts& texts) {
    std::string rows;
    for (const auto place : closure.heaviest()) {
        const auto& package = closure.packages()[place];
        const auto& record = closure.record(place);
        const auto held = package.is_requested ? "requested"
                          : package.held_by    ? escaped(closure.record(*package.held_by).name)
                          : package.is_orphan  ? "nothing"
                                               : "several packages";
        const auto cell = [&](std::uint64_t bytes) {
            return fmt::format("<td data-value=\"{}\">{}</td>", bytes, texts.size_text(bytes));
        };
        rows += fmt::format(
            "<tr data-place=\"{}\"><th scope=\"row\"><button type=\"button\">{}</button></th>"
            "<td>{}</td>{}{}{}{}<td>{}</td></tr>\n",
            place,
            escaped(record.name),
            escaped(record.version),
            package.size_is_known ? cell(package.size) : "<td data-value=\"0\">?</td>",
            cell(package.unique),
            cell(package.closure),
            cell(package.shared()),
            held);
    }
    return rows;
}

}  // namespace

std::string closure_page(const Closure& closure, const PageTexts& texts) {
    const auto summary = fmt::format("{} {} in {} package{}",
                                     texts.size_text(closure.total()),
                                     texts.measure,
                                     closure.packages().size(),
                                     closure.packages().size() == 1 ? "" : "s");
    std::string page(kBeginning);
    auto rest = kPage;
    // What was put in is not looked at again: it may hold braces of its own.
    while (true) {
        const auto begin = rest.find("{{");
        if (begin == std::string_view::npos) return page += rest;
        const auto end = rest.find("}}", begin);
        const auto name = rest.substr(begin + 2, end - begin - 2);
        page += rest.substr(0, begin);
        page += name == "TITLE"     ? escaped(texts.title)
                : name == "SUMMARY" ? escaped(summary)
                : name == "ROWS"    ? rows_of(closure, texts)
                                    : data_of(closure, texts);
        rest.remove_prefix(end + 2);
    }
}

bool is_closure_page(std::string_view text) { return text.starts_with(kBeginning); }

}  // namespace gpkg
