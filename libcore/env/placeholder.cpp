#include "libcore/env/placeholder.hpp"

#include "libcore/base/prefix_path.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <utility>

namespace gpkg {
namespace {

/// Linux before 5.1 reads 127 bytes of the line, "#!" included.
constexpr std::size_t kLongestShebang = 127;

/// python, python3, python3.12
bool is_python(std::string_view name) {
    if (!name.starts_with("python")) return false;
    name.remove_prefix(6);
    return std::all_of(
        name.begin(), name.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

/// Inside double quotes of sh.
std::string sh_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\' || c == '$' || c == '`') out += '\\';
        out += c;
    }
    return out;
}

/// `text` in an encoding with `unit` bytes per character, `big`: the low byte last. ASCII only, as
/// placeholders and all but exotic prefixes are.
std::string encoded(std::string_view text, std::size_t unit, bool big) {
    std::string out;
    for (const char c : text) {
        std::string character(unit, '\0');
        (big ? character.back() : character.front()) = c;
        out += character;
    }
    return out;
}

/// The end of the string at `at`: the first character whose low byte is 0, or the end of the file.
/// The low byte alone decides, because text of the other byte order is met here as well, one byte
/// out of step; there the terminator shows as such a character.
std::size_t end_of_string(std::string_view bytes, std::size_t at, std::size_t unit, bool big) {
    if (unit == 1) return std::min(bytes.find('\0', at), bytes.size());
    const std::size_t low = big ? unit - 1 : 0;
    for (; at + unit <= bytes.size(); at += unit) {
        if (bytes[at + low] == '\0') return at;
    }
    return bytes.size();
}

/// Rewrites `bytes` in place; their number does not change.
void replace_strings(
    std::string& bytes, std::string_view from, std::string_view to, std::size_t unit, bool big) {
    for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
        const auto end = end_of_string(bytes, at, unit, big);
        auto text = replace_all(std::string_view(bytes).substr(at, end - at), from, to);
        text.resize(end - at, '\0');
        std::copy(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        at = end;
    }
}

/// A way to write characters: `unit` bytes each, `big`: the low byte last.
struct Encoding {
    std::size_t unit;
    bool big;
};
// The wider one first: a character of UTF-32 holds one of UTF-16.
constexpr std::array<Encoding, 4> kWide{{{4, false}, {4, true}, {2, false}, {2, true}}};

/// The string at `place`, without what ends it.
Result<std::string> string_at(const fs::path& path, std::uint64_t place, const Encoding& encoding) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(place));
    std::string text;
    for (std::size_t room = 4096;; room *= 2) {
        const auto before = text.size();
        text.resize(room);
        file.read(text.data() + before, static_cast<std::streamsize>(room - before));
        text.resize(before + static_cast<std::size_t>(file.gcount()));
        const auto end = end_of_string(text, 0, encoding.unit, encoding.big);
        if (end == text.size() && text.size() == room) continue;
        text.resize(end);
        return text;
    }
}

/// Where each of the texts stands in the file.
Result<std::vector<std::set<std::uint64_t>>> places_of(const std::vector<std::string>& texts,
                                                       const fs::path& file) {
    std::size_t longest = 0;
    for (const auto& text : texts) longest = std::max(longest, text.size());
    std::vector<std::set<std::uint64_t>> places(texts.size());
    GPKG_CHECK(read_in_pieces(file, longest - 1, [&](std::string_view piece, std::uint64_t at) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            for (auto found = piece.find(texts[i]); found != std::string_view::npos;
                 found = piece.find(texts[i], found + texts[i].size()))
                places[i].insert(at + found);
        }
        return true;
    }));
    return places;
}

Result<void> check_room(std::string_view placeholder,
                        std::string_view prefix,
                        std::string_view what) {
    if (prefix.size() <= placeholder.size()) return {};
    return fail(
        ErrorKind::Unsupported,
        fmt::format(
            "{}: the path of the environment is too long: {} bytes are allowed, '{}' has {}",
            what,
            placeholder.size(),
            prefix,
            prefix.size()),
        "choose a shorter path for the environment");
}

bool is_ascii(std::string_view text) {
    return std::all_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string shebang(std::string_view program, std::string_view arguments) {
    const bool short_enough = 2 + program.size() + arguments.size() <= kLongestShebang;
    if (short_enough && program.find(' ') == std::string_view::npos)
        return fmt::format("#!{}{}", program, arguments);
    const auto name = file_name_of(program);
    // To sh the second line is a command, to python the start of a string that ends on it.
    if (is_python(name))
        return fmt::format(
            "#!/bin/sh\n'''exec' \"{}\"{} \"$0\" \"$@\" #'''", sh_escaped(program), arguments);
    const bool alone = arguments.find_first_not_of(" \t\r") == std::string_view::npos;
    return fmt::format("#!/usr/bin/env {}{}{}", alone ? "" : "-S ", name, arguments);
}

std::string replace_in_text(std::string_view bytes,
                            std::string_view placeholder,
                            std::string_view prefix) {
    return replace_in_text(
        bytes, [&](std::string_view text) { return replace_all(text, placeholder, prefix); });
}

std::string replace_in_text(std::string_view bytes,
                            const std::function<std::string(std::string_view)>& replace) {
    auto line = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
    if (!line.starts_with("#!") || replace(line) == line) return replace(bytes);

    const auto rest = bytes.substr(line.size());
    line.remove_prefix(2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const auto end = std::min(line.find_first_of(" \t\r"), line.size());
    return shebang(replace(line.substr(0, end)), replace(line.substr(end))) + replace(rest);
}

Result<int> replace_in_text_file(const fs::path& file,
                                 std::string_view placeholder,
                                 std::string_view prefix,
                                 const std::function<int(std::string_view piece)>& put) {
    std::string text;  // not yet written
    bool is_start = true;
    int code = 0;
    GPKG_CHECK(read_in_pieces(file, 0, [&](std::string_view piece, std::uint64_t) {
        text += piece;
        std::size_t done = 0;
        if (std::exchange(is_start, false) && text.starts_with("#!")) {
            done = std::min(text.find('\n'), text.size());
            code = put(replace_in_text(text.substr(0, done), placeholder, prefix));
        }
        // What may be the beginning of a placeholder stays for the next piece.
        const auto last = text.rfind(placeholder);
        const auto most = std::min(text.size(), placeholder.size() - 1);
        auto end = std::max(done, text.size() - most);
        if (last != std::string::npos) end = std::max(end, last + placeholder.size());
        const auto ready = std::string_view(text).substr(done, end - done);
        if (code == 0) code = put(replace_all(ready, placeholder, prefix));
        text.erase(0, end);
        return code == 0;
    }));
    return code == 0 ? put(text) : code;
}

Result<void> check_growth(const fs::path& file,
                          std::string_view placeholder,
                          std::string_view prefix,
                          std::string_view what) {
    if (placeholder.empty() || prefix.size() <= placeholder.size()) return {};
    constexpr std::uint64_t kAlways = std::uint64_t{1} << 20U;
    constexpr std::uint64_t kTimes = 4;
    std::uint64_t size = 0;
    std::uint64_t count = 0;
    GPKG_CHECK(
        read_in_pieces(file, placeholder.size() - 1, [&](std::string_view piece, std::uint64_t at) {
            for (auto found = piece.find(placeholder); found != std::string_view::npos;
                 found = piece.find(placeholder, found + placeholder.size()))
                ++count;
            size = at + piece.size();
            return true;
        }));
    const auto grown = size + count * (prefix.size() - placeholder.size());
    if (grown <= kTimes * size + kAlways) return {};
    return fail(ErrorKind::Integrity,
                fmt::format("{}: refused: a text of {} bytes would grow to {} bytes (its prefix "
                            "placeholder \"{}\" occurs {} times)",
                            what,
                            size,
                            grown,
                            printable(placeholder, 40),
                            count));
}

Result<std::string> replace_in_binary(std::string_view bytes,
                                      std::string_view placeholder,
                                      std::string_view prefix,
                                      std::string_view what) {
    GPKG_CHECK(check_room(placeholder, prefix, what));
    std::string out(bytes);
    if (placeholder.empty()) return out;
    replace_strings(out, placeholder, prefix, 1, false);
    if (!is_ascii(prefix) || !is_ascii(placeholder)) return out;
    for (const auto& [unit, big] : kWide)
        replace_strings(
            out, encoded(placeholder, unit, big), encoded(prefix, unit, big), unit, big);
    return out;
}

Result<std::vector<ByteChange>> changes_in_binary(const fs::path& file,
                                                  std::string_view placeholder,
                                                  std::string_view prefix,
                                                  std::string_view what) {
    GPKG_CHECK(check_room(placeholder, prefix, what));
    std::vector<ByteChange> changes;
    if (placeholder.empty()) return changes;
    std::vector<Encoding> encodings{{1, false}};
    if (is_ascii(prefix) && is_ascii(placeholder))
        encodings.insert(encodings.end(), kWide.begin(), kWide.end());
    std::vector<std::string> texts;
    texts.reserve(encodings.size());
    for (const auto& [unit, big] : encodings) texts.push_back(encoded(placeholder, unit, big));
    GPKG_TRY(const auto places, places_of(texts, file));
    for (std::size_t i = 0; i < encodings.size(); ++i) {
        const auto to = encoded(prefix, encodings[i].unit, encodings[i].big);
        std::uint64_t done = 0;
        for (const auto place : places[i]) {
            if (place < done) continue;  // in the string before
            GPKG_TRY(const auto text, string_at(file, place, encodings[i]));
            auto replaced = replace_all(text, texts[i], to);
            replaced.resize(text.size(), '\0');
            done = place + text.size();
            changes.push_back({place, std::move(replaced)});
        }
    }
    return changes;
}

Result<bool> names_in_wide_characters(const fs::path& file, std::string_view placeholder) {
    std::vector<std::string> texts;
    texts.reserve(kWide.size());
    for (const auto& [unit, big] : kWide) texts.push_back(encoded(placeholder, unit, big));
    GPKG_TRY(const auto places, places_of(texts, file));
    return std::any_of(places.begin(), places.end(), [](const auto& one) { return !one.empty(); });
}

}  // namespace gpkg
