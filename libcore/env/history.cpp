#include "libcore/env/history.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// The texts of a Python list of string literals: ['a', "b[version='>=1']"].
std::vector<std::string> python_texts(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char quote = text[at];
        if (quote != '\'' && quote != '"') continue;
        std::string item;
        for (++at; at < text.size() && text[at] != quote; ++at) {
            if (text[at] == '\\' && at + 1 < text.size()) ++at;
            item += text[at];
        }
        out.push_back(std::move(item));
    }
    return out;
}

/// Old tools wrote "a,b=1" in place of a list.
std::vector<std::string> spec_texts(std::string_view text) {
    text = trim(text);
    if (text.starts_with('[')) return python_texts(text);
    std::vector<std::string> out;
    if (text.find('[') != std::string_view::npos) return {std::string(text)};
    for (const auto piece : split(text, ',')) {
        if (!trim(piece).empty()) out.emplace_back(trim(piece));
    }
    return out;
}

std::string python_list(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const auto& item : items) {
        if (out.size() > 1) out += ", ";
        const bool apostrophe = item.find('\'') != std::string::npos;
        const char quote = apostrophe && item.find('"') == std::string::npos ? '"' : '\'';
        out += quote;
        for (const char c : item) {
            if (c == quote || c == '\\') out += '\\';
            out += c == '\n' ? ' ' : c;
        }
        out += quote;
    }
    return out + "]";
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::replace(text.begin(), text.end(), '\r', ' ');
    return text;
}

void read_comment(HistoryEntry& entry, std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const auto key = trim(line.substr(0, colon));
    const auto value = trim(line.substr(colon + 1));
    if (key == "cmd") {
        entry.command = value;
    } else if (key.ends_with(" version")) {
        entry.tool = key.substr(0, key.size() - 8);
        entry.tool_version = value;
    } else if (key == "update specs" || key == "install specs" || key == "create specs") {
        entry.update_specs = spec_texts(value);
    } else if (key == "remove specs" || key == "uninstall specs") {
        entry.remove_specs = spec_texts(value);
    } else if (key == "neutered specs") {
        entry.neutered_specs = spec_texts(value);
    }
}

}  // namespace

std::vector<HistoryEntry> parse_history(std::string_view text) {
    std::vector<HistoryEntry> out;
    for (const auto raw : split(text, '\n')) {
        const auto line = trim(raw);
        if (line.starts_with("==>") && line.ends_with("<==") && line.size() >= 6) {
            out.emplace_back();
            out.back().tool.clear();
            out.back().time = trim(line.substr(3, line.size() - 6));
        } else if (line.empty() || out.empty()) {
            continue;
        } else if (line.front() == '#') {
            read_comment(out.back(), line.substr(1));
        } else if (line.front() == '+') {
            out.back().added.emplace_back(line.substr(1));
        } else if (line.front() == '-') {
            out.back().removed.emplace_back(line.substr(1));
        }
    }
    return out;
}

std::string to_text(const HistoryEntry& entry) {
    auto out = fmt::format("==> {} <==\n", entry.time);
    if (!entry.command.empty()) out += fmt::format("# cmd: {}\n", one_line(entry.command));
    if (!entry.tool_version.empty())
        out += fmt::format("# {} version: {}\n", entry.tool, entry.tool_version);
    for (const auto& dist : entry.removed) out += fmt::format("-{}\n", dist);
    for (const auto& dist : entry.added) out += fmt::format("+{}\n", dist);
    if (!entry.update_specs.empty())
        out += fmt::format("# update specs: {}\n", python_list(entry.update_specs));
    if (!entry.remove_specs.empty())
        out += fmt::format("# remove specs: {}\n", python_list(entry.remove_specs));
    if (!entry.neutered_specs.empty())
        out += fmt::format("# neutered specs: {}\n", python_list(entry.neutered_specs));
    return out;
}

std::map<std::string, std::vector<std::string>> requested_by_name(
    const std::vector<HistoryEntry>& history) {
    std::map<std::string, std::vector<std::string>> out;
    for (const auto& entry : history) {
        for (const auto& spec : entry.remove_specs) out.erase(spec_name(spec));
        for (const auto* specs : {&entry.update_specs, &entry.neutered_specs}) {
            // "a >=1" and "a <2" of one request hold together, and take the place of earlier ones.
            std::map<std::string, std::vector<std::string>> together;
            for (const auto& spec : *specs) {
                auto& known = together[spec_name(spec)];
                if (std::ranges::find(known, spec) == known.end()) known.push_back(spec);
            }
            for (auto& [name, texts] : together) out[name] = std::move(texts);
        }
    }
    return out;
}

std::vector<std::string> requested_specs(const std::vector<HistoryEntry>& history) {
    std::vector<std::string> names;
    for (const auto& entry : history) {
        for (const auto& spec : entry.remove_specs) std::erase(names, spec_name(spec));
        for (const auto* specs : {&entry.update_specs, &entry.neutered_specs}) {
            for (const auto& spec : *specs) {
                auto name = spec_name(spec);
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(std::move(name));
            }
        }
    }
    const auto specs = requested_by_name(history);
    std::vector<std::string> out;
    for (const auto& name : names) {
        const auto& texts = specs.at(name);
        out.insert(out.end(), texts.begin(), texts.end());
    }
    return out;
}

std::string spec_name(std::string_view spec) {
    const auto brackets = spec.find('[');
    // A channel may be a URL, so the last "::" before any bracket ends it.
    const auto colons = spec.substr(0, brackets).rfind("::");
    if (colons != std::string_view::npos) spec.remove_prefix(colons + 2);
    spec = trim(spec);
    return to_lower(spec.substr(0, spec.find_first_of(" =<>!~[;")));
}

std::string history_time() {
    const auto now = std::time(nullptr);
    std::tm parts{};
    ::localtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

}  // namespace gpkg
