#include "libcore/env/history.hpp"

#include "libcore/base/text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <iterator>
#include <set>

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

/// Blocks have `# update specs: ['numpy']` after their packages.
std::string request_lines(const HistoryEntry& entry) {
    std::string out;
    const auto add = [&](std::string_view what, const std::vector<std::string>& specs) {
        if (!specs.empty()) out += fmt::format("# {} specs: {}\n", what, python_list(specs));
    };
    add("update", entry.update_specs);
    add("remove", entry.remove_specs);
    add("neutered", entry.neutered_specs);
    return out;
}

/// "numpy-2.1.0-py312_0" of "conda-forge/linux-64::numpy-2.1.0-py312_0"
std::string_view distribution_in(std::string_view package) {
    const auto colons = package.rfind("::");
    return colons == std::string_view::npos ? package : package.substr(colons + 2);
}

bool is_header(std::string_view line) {
    return line.starts_with("==>") && line.ends_with("<==") && line.size() >= 6;
}

/// Removes the specs of a name. Returns the place of the first.
std::size_t erase_name(std::vector<std::string>& specs, std::string_view name) {
    const auto is_it = [&](const std::string& spec) { return spec_name(spec) == name; };
    const auto place = std::ranges::find_if(specs, is_it) - specs.begin();
    std::erase_if(specs, is_it);
    return static_cast<std::size_t>(place);
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
        if (is_header(line)) {
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
    return out + request_lines(entry);
}

std::string history_text(const PackageRecord& record) {
    auto name = record.distribution();
    if (record.channel.empty()) return name;
    return fmt::format("{}/{}::{}", record.channel, record.subdir, name);
}

std::vector<std::string> packages_in(const std::vector<HistoryEntry>& history) {
    std::set<std::string> packages;
    for (const auto& entry : history) {
        if (entry.added.empty() && entry.removed.empty()) packages.clear();
        for (const auto& package : entry.removed) packages.erase(package);
        packages.insert(entry.added.begin(), entry.added.end());
    }
    return {packages.begin(), packages.end()};
}

void set_difference(HistoryEntry& entry,
                    const std::vector<HistoryEntry>& history,
                    const std::vector<std::string>& packages) {
    const auto before = packages_in(history);
    const auto lacking = [](const auto& all, const auto& others) {
        std::set<std::string_view> known;
        for (const auto& package : others) known.insert(distribution_in(package));
        std::vector<std::string> missing;
        std::ranges::copy_if(all, std::back_inserter(missing), [&](const auto& package) {
            return !known.contains(distribution_in(package));
        });
        return missing;
    };
    entry.removed = lacking(before, packages);
    entry.added = lacking(packages, before);
}

std::string_view last_block(std::string_view history) {
    for (auto end = history.size(); end > 0;) {
        const auto break_before = history.substr(0, end - 1).rfind('\n');
        const auto start = break_before == std::string_view::npos ? 0 : break_before + 1;
        if (is_header(trim(history.substr(start, end - start)))) return history.substr(start);
        end = start;
    }
    return {};
}

std::string with_requests(std::string_view block, const HistoryEntry& later) {
    auto entries = parse_history(block);
    if (entries.empty()) return std::string(block);
    auto& entry = entries.back();
    for (const auto& spec : later.remove_specs) {
        erase_name(entry.update_specs, spec_name(spec));
        erase_name(entry.neutered_specs, spec_name(spec));
        if (std::ranges::find(entry.remove_specs, spec) == entry.remove_specs.end())
            entry.remove_specs.push_back(spec);
    }
    std::map<std::string, std::vector<std::string>> asked;
    for (const auto& spec : later.update_specs) asked[spec_name(spec)].push_back(spec);
    for (const auto& spec : later.update_specs) {
        const auto specs = asked.extract(spec_name(spec));
        if (specs.empty()) continue;  // with the first of its name
        erase_name(entry.neutered_specs, specs.key());
        const auto place = static_cast<std::ptrdiff_t>(erase_name(entry.update_specs, specs.key()));
        entry.update_specs.insert(
            entry.update_specs.begin() + place, specs.mapped().begin(), specs.mapped().end());
    }
    std::string out;
    for (const auto line : split(block, '\n')) {
        const auto key = trim(line.substr(0, line.find(':')));
        if (!trim(line).empty() && !(key.starts_with('#') && key.ends_with(" specs")))
            out += fmt::format("{}\n", line);
    }
    return out + request_lines(entry);
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
