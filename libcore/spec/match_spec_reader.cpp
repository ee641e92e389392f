// The grammar of MatchSpecs (CEP 29): comment, brackets, artifact, channel, name, version, build,
// taken off in this order.

#include "libcore/base/digest.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/brackets.hpp"
#include "libcore/spec/condition_internal.hpp"
#include "libcore/spec/match_spec_internal.hpp"
#include "libcore/spec/names_internal.hpp"
#include "libcore/spec/string_matcher_internal.hpp"
#include "libcore/spec/version_internal.hpp"
#include "libcore/spec/version_spec_internal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace gpkg::grammar {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kOperatorChars = "=<>!~";
constexpr auto kNone = std::string_view::npos;

bool is_space(char c) { return kSpaces.find(c) != kNone; }

/// A piece of the whole text, by offsets, so that every fault knows its place.
struct Slice {
    std::size_t begin = 0, end = 0;
    bool empty() const { return begin >= end; }
};

class SpecReader {
public:
    SpecReader(std::string_view text, WhenKey when) : text_(text), when_(when) {}

    Parsed<MatchSpec> read() {
        if (!read_all()) return tl::unexpected<Fault>(std::move(fault_));
        if (spec_.version && spec_.version->is_any()) spec_.version.reset();
        if (spec_.build && spec_.build->is_any()) spec_.build.reset();
        return std::move(spec_);
    }

private:
    bool refuse_at(std::size_t at, std::string what, std::string hint = {}) {
        fault_ = Fault{at, std::move(what), std::move(hint)};
        return false;
    }
    bool refuse_at(std::size_t offset, Fault inner) {
        inner.at += offset;
        fault_ = std::move(inner);
        return false;
    }
    bool refuse_in(const BracketValue& value, Fault inner) {
        inner.at = value.place(inner.at);
        fault_ = std::move(inner);
        return false;
    }
    std::string_view view(Slice slice) const {
        return text_.substr(slice.begin, slice.end - slice.begin);
    }
    Slice trimmed(Slice slice) const {
        while (!slice.empty() && is_space(text_[slice.begin])) ++slice.begin;
        while (!slice.empty() && is_space(text_[slice.end - 1])) --slice.end;
        return slice;
    }

    bool read_all() {
        if (text_.size() > MatchSpec::kLongest)
            return refuse_at(MatchSpec::kLongest,
                             fmt::format("a spec has at most {} characters", MatchSpec::kLongest));
        // The head ends where brackets or a comment begin; a regex may hold the characters of both.
        std::size_t i = 0;
        while (i < text_.size() && text_[i] != '[' && text_[i] != '#')
            i = text_[i] == '^' ? regex_end(text_, i) : i + 1;
        i = std::min(i, text_.size());
        const auto head = trimmed({0, i});
        if (head.empty()) return refuse_headless(i);
        const auto extension = package_extension(view(head));
        const auto colons = view(head).find("::");
        if (!extension.empty() && colons != kNone)
            return refuse_at(head.begin + colons,
                             "a channel cannot be given with a file name",
                             "give the URL of the file");
        if (!extension.empty()) {
            if (!read_artifact(head)) return false;
            if (i < text_.size() && text_[i] == '#') return read_hash({i + 1, text_.size()});
        } else if (!read_head(head)) {
            return false;
        }
        if (i < text_.size() && text_[i] == '[') return read_bracket_section(i);
        return true;
    }

    bool refuse_headless(std::size_t at) {
        if (at == text_.size()) return refuse_at(0, "the spec is empty");
        if (text_[at] == '#') return refuse_at(at, "no spec before the comment");
        return refuse_at(at, "no package name before '['", kAnyName);
    }

    bool read_artifact(Slice whole);
    bool read_hash(Slice hash);
    bool read_head(Slice head);
    bool read_prefix(Slice& head);
    bool read_channel(Slice channel);
    bool set_channel(std::string_view text, std::size_t at);
    bool read_name(Slice& head);
    bool check_name(Slice name);
    bool read_rest(Slice rest);
    bool read_version(Slice version, bool joined_build);
    bool read_build(Slice build);
    bool read_bracket_section(std::size_t begin);
    bool apply(const BracketEntry& entry);
    bool apply_list(const BracketEntry& entry);
    bool apply_subdir(const BracketValue& value);
    bool apply_matcher(std::optional<StringMatcher>& field, const BracketValue& value);
    bool apply_version(std::optional<VersionSpec>& field, const BracketValue& value);
    bool apply_when(const BracketEntry& entry);
    bool apply_hash(std::optional<StringMatcher>& field, const BracketEntry& entry);

    static constexpr auto kAnyName = "'*' matches any name";

    std::string_view text_;
    WhenKey when_;
    MatchSpec spec_;
    Fault fault_;
};

// ---- artifacts: the URL, path or name of a package file

bool SpecReader::read_artifact(Slice whole) {
    const auto text = view(whole);
    if (const auto pattern = text.find_first_of("*^"); pattern != kNone)
        return refuse_at(whole.begin + pattern,
                         shown(text[pattern]) + " is not allowed in the path of a package file");
    const auto slash = text.find_last_of("/\\");
    const auto name_at = slash == kNone ? 0 : slash + 1;
    const std::string name(text.substr(name_at));
    const auto file = percent_decode(name).value_or(name);
    auto parsed = read_file_name(file);
    if (!parsed) return refuse_at(whole.begin + name_at, std::move(parsed).error());
    if (!package_extension(parsed->name).empty())
        return refuse_at(whole.begin + name_at, "this is a file, not a package");
    spec_.name = parsed->name;
    auto version = grammar::read_version(parsed->version);
    if (version) spec_.version = VersionSpec::equal_to(*std::move(version));
    spec_.build = StringMatcher::exactly(parsed->build);
    if (slash == kNone) {
        spec_.fn = StringMatcher::exactly(file);
        return true;
    }
    spec_.url = StringMatcher::exactly(text);
    const auto folder = text.substr(0, slash);
    const auto scheme = folder.find("://");
    const auto last = folder.rfind('/');
    if (scheme == kNone || last == kNone || last < scheme + 3) return true;
    if (!is_subdir(folder.substr(last + 1))) return true;
    if (!set_channel(folder.substr(0, last), whole.begin)) return false;
    if (spec_.subdir)
        return refuse_at(whole.begin + spec_.channel->size() + 1,
                         "a channel cannot have the name of a subdir");
    spec_.subdir = folder.substr(last + 1);
    return true;
}

/// What follows '#': a checksum as explicit files have it (CEP 23), else a comment.
bool SpecReader::read_hash(Slice hash) {
    const auto text = view(trimmed(hash));
    const auto sha256 = text.starts_with("sha256:") ? text.substr(7) : text;
    if (is_hex(text, 32)) spec_.md5 = StringMatcher::exactly(text);
    if (is_hex(sha256, 64)) spec_.sha256 = StringMatcher::exactly(sha256);
    return true;
}

// ---- channel::name version build

bool SpecReader::read_head(Slice head) {
    if (!read_prefix(head) || !read_name(head)) return false;
    return read_rest(trimmed(head));
}

bool SpecReader::read_prefix(Slice& head) {
    const auto text = view(head);
    const auto before_regex = text.substr(0, text.find('^'));
    const auto colons = before_regex.rfind("::");
    if (colons != kNone) {
        const auto channel = trimmed({head.begin, head.begin + colons});
        head = trimmed({head.begin + colons + 2, head.end});
        if (head.empty()) return refuse_at(head.begin, "no package name after '::'");
        return read_channel(channel);
    }
    // "channel:namespace:name"; the namespace is read and ignored, as CEP 29 wants.
    const auto words = before_regex.substr(0, before_regex.find_first_of(" =<>!~"));
    const auto last = words.rfind(':');
    if (last == kNone) return true;
    const auto scheme = words.find("://");
    const auto first = last == 0 ? kNone : words.rfind(':', last - 1);
    if (scheme != kNone && (first == kNone || first <= scheme))
        return refuse_at(head.begin + words.size(),
                         "no '::' and package name after the URL of the channel",
                         "write URL::NAME");
    if (first == kNone) {
        const auto name = words.substr(0, last);
        const auto rest = trim(before_regex.substr(last + 1));
        return refuse_at(head.begin + last,
                         "a single ':' is not a separator",
                         !rest.empty() && is_digit(rest.front())
                             ? fmt::format("did you mean {}={}?", name, rest)
                             : fmt::format("write {}::{}", name, rest));
    }
    const Slice channel{head.begin, head.begin + first};
    head = trimmed({head.begin + last + 1, head.end});
    if (head.empty()) return refuse_at(head.begin, "no package name after ':'");
    return read_channel(channel);
}

bool SpecReader::read_channel(Slice channel) {
    return channel.empty() || set_channel(view(channel), channel.begin);
}

/// Names, URLs and paths have none of these; the size where all is well.
std::size_t wrong_in_channel(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool lone_colon = c == ':' && (i + 1 == text.size() || text[i + 1] == ':');
        if (lone_colon || c < ' ' || c == 0x7f || std::string_view("<>|!\"'[]^$").find(c) != kNone)
            return i;
    }
    return text.size();
}

bool SpecReader::set_channel(std::string_view text, std::size_t at) {
    while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
    if (text.find_first_not_of('/') == kNone) return refuse_at(at, "'/' is not a channel");
    if (is_known_subdir(text))
        return refuse_at(
            at, "a subdir without a channel", fmt::format("write NAME[subdir={}]", text));
    const auto last = [&] { return text.rfind('/'); };
    if (last() != kNone && last() > 0 && is_known_subdir(text.substr(last() + 1))) {
        spec_.subdir = text.substr(last() + 1);
        text = text.substr(0, text.find_last_not_of('/', last()) + 1);
        if (text.empty()) return refuse_at(at, "'/' is not a channel");
        // CEP 26 leaves open what such a channel means, so it means nothing here.
        const auto name = last() == kNone ? 0 : last() + 1;
        if (is_known_subdir(text.substr(name)))
            return refuse_at(at + name, "a channel cannot have the name of a subdir");
    }
    if (text.starts_with('^')) {
        if (auto read = read_regex(text); !read) return refuse_at(at, std::move(read).error());
    } else if (const auto wrong = wrong_in_channel(text); wrong < text.size()) {
        return refuse_at(at + wrong, shown(text[wrong]) + " is not allowed in a channel");
    }
    spec_.channel = text;
    return true;
}

bool SpecReader::read_name(Slice& head) {
    const auto text = view(head);
    const auto length = text.starts_with('^')
                            ? regex_end(text, 0)
                            : std::min(text.find_first_of(" \t=<>!~,|()^"), text.size());
    const Slice name{head.begin, head.begin + length};
    head.begin += length;
    const char next = head.empty() ? ' ' : text_[head.begin];
    if (std::string_view(",|()^").find(next) != kNone)
        return refuse_at(head.begin,
                         shown(next) + " is not allowed in a package name",
                         next == ',' || next == '|' ? "one spec names one package" : "");
    if (name.empty())
        return refuse_at(name.begin, fmt::format("no package name before '{}'", next), kAnyName);
    if (!is_space(next) && kOperatorChars.find(next) == kNone)
        return refuse_at(head.begin, "a space is missing after the package name");
    return check_name(name);
}

std::string hint_for(char c, std::string_view before, std::string_view after) {
    if (c == '@' && !before.empty() && !after.empty())
        return fmt::format("write {}={}", before, after);
    if (c == ';') return "a condition is written in brackets: [when=\"...\"]";
    return {};
}

/// Nothing for a name that a package or a virtual package can have (CEP 26).
std::optional<Fault> wrong_in_name(std::string_view name) {
    if (is_package_name(name) || is_virtual_package_name(name)) return std::nullopt;
    if (name.size() > kLongestPackageName)
        return Fault{kLongestPackageName,
                     fmt::format("a package name has at most {} characters", kLongestPackageName),
                     {}};
    if (name.front() == '-' || name.front() == '.')
        return Fault{0, "a package name starts with a letter, a digit or '_'", {}};
    if (name == "__") return Fault{0, "'__' alone is not a package name", {}};
    const auto is_separator = [](char c) { return c == '-' || c == '.' || c == '_'; };
    std::size_t i = name.starts_with("__") ? 2 : 1;
    while (i < name.size() && !(is_separator(name[i]) && is_separator(name[i - 1]))) ++i;
    return Fault{
        i, fmt::format("{} follows {} in a package name", shown(name[i]), shown(name[i - 1])), {}};
}

bool SpecReader::check_name(Slice slice) {
    const auto name = view(slice);
    if (name.starts_with('^')) {
        auto regex = read_regex(name);
        if (!regex) return refuse_at(slice.begin, std::move(regex).error());
        spec_.name = name;
        spec_.name_matcher = *std::move(regex);
        return true;
    }
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool known = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '*';
        if (!known)
            return refuse_at(slice.begin + i,
                             shown(c) + " is not allowed in a package name",
                             hint_for(c, name.substr(0, i), name.substr(i + 1)));
    }
    spec_.name = to_lower(name);
    if (const auto extension = package_extension(spec_.name); !extension.empty())
        return refuse_at(slice.end - extension.size() - 1, "this is a file, not a package");
    if (name == "*") return true;
    if (name.find('*') != kNone) {
        auto glob = read_matcher(name);
        if (!glob) return refuse_at(slice.begin, std::move(glob).error());
        spec_.name_matcher = *std::move(glob);
        return true;
    }
    if (auto wrong = wrong_in_name(spec_.name)) return refuse_at(slice.begin, *std::move(wrong));
    return true;
}

/// Finds where the version ends: at a gap or a '=' that no operator, ',' or '|' reaches over.
bool SpecReader::read_rest(Slice rest) {
    if (rest.empty()) return true;
    bool wants_operand = true;
    auto i = rest.begin;
    while (i < rest.end) {
        const char c = text_[i];
        const char next = i + 1 < rest.end ? text_[i + 1] : '\0';
        if (is_space(c)) {
            auto word = i;
            while (is_space(text_[word])) ++word;  // the rest is trimmed: a word follows
            const bool reached = std::string_view(",|()<>!~").find(text_[word]) != kNone;
            if (!wants_operand && !reached && text_[word] != '=')
                return read_version({rest.begin, i}, false) && read_build({word, rest.end});
            i = word;
        } else if (c == '=' && !wants_operand && next != '=') {
            const bool spaced = is_space(text_[i - 1]);
            return read_version(trimmed({rest.begin, i}), !spaced) &&
                   read_build(trimmed({i + 1, rest.end}));
        } else if (c == '^' && wants_operand) {
            i += regex_end(text_.substr(i, rest.end - i), 0);
            wants_operand = false;
        } else if (c == '!' && next == '=') {
            wants_operand = true;
            i += 2;
        } else {
            wants_operand = std::string_view("=<>~,|(").find(c) != kNone;
            ++i;
        }
    }
    return read_version(rest, false);
}

bool SpecReader::read_version(Slice slice, bool joined_build) {
    auto text = view(slice);
    // "name=1.0=build" is exact, although "name=1.0" is not (CEP 29).
    const bool fuzzy = text.starts_with('=') && !text.starts_with("==");
    if (joined_build && fuzzy && text.find_first_of(",|(") == kNone) {
        ++slice.begin;
        slice = trimmed(slice);
        text = view(slice);
        if (text.empty()) return refuse_at(slice.begin, "no version after '='");
    }
    auto version = read_version_spec(text);
    if (!version) return refuse_at(slice.begin, std::move(version).error());
    spec_.version = *std::move(version);
    return true;
}

bool SpecReader::read_build(Slice slice) {
    const auto text = view(slice);
    if (text.empty()) return refuse_at(slice.begin, "no build string after '='");
    if (!text.starts_with('^')) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (is_space(c))
                return refuse_at(trimmed({slice.begin + i, slice.end}).begin,
                                 "nothing can follow the build string");
            if (c == '*' || is_build_string(text.substr(i, 1))) continue;
            return refuse_at(slice.begin + i,
                             shown(c) + " is not allowed in a build string",
                             c == '|' || c == ',' ? "write ^(one|other)$ to allow several" : "");
        }
    }
    auto build = read_matcher(text);
    if (!build) return refuse_at(slice.begin, std::move(build).error());
    spec_.build = *std::move(build);
    return true;
}

// ---- [key=value, ...]

enum class Key {
    Name,
    Version,
    Build,
    BuildNumber,
    Channel,
    Subdir,
    Fn,
    Url,
    Md5,
    Sha256,
    License,
    LicenseFamily,
    TrackFeatures,
    Extras,
    Flags,
    When,
};

struct KnownKey {
    std::string_view text;
    Key key;
};
constexpr std::array<KnownKey, 16> kKeys{{{"name", Key::Name},
                                          {"version", Key::Version},
                                          {"build", Key::Build},
                                          {"build_number", Key::BuildNumber},
                                          {"channel", Key::Channel},
                                          {"subdir", Key::Subdir},
                                          {"fn", Key::Fn},
                                          {"url", Key::Url},
                                          {"md5", Key::Md5},
                                          {"sha256", Key::Sha256},
                                          {"license", Key::License},
                                          {"license_family", Key::LicenseFamily},
                                          {"track_features", Key::TrackFeatures},
                                          {"extras", Key::Extras},
                                          {"flags", Key::Flags},
                                          {"when", Key::When}}};

std::string known_keys_hint(std::string_view wanted) {
    std::vector<std::string> names;
    names.reserve(kKeys.size());
    for (const auto& known : kKeys) names.emplace_back(known.text);
    const auto near = near_names(wanted, names);
    return did_you_mean(
        near, fmt::format("known keys: {}; in requested specs also accel", fmt::join(names, ", ")));
}

bool SpecReader::read_bracket_section(std::size_t begin) {
    const auto close = text_.find_first_of("]'\"", begin);
    if (close != kNone && text_.substr(close).starts_with("]::"))
        return refuse_at(begin, "a subdir follows its channel after '/': channel/subdir::name");
    auto brackets = read_brackets(text_, begin);
    if (!brackets) return refuse_at(0, std::move(brackets).error());
    const auto after = trimmed({brackets->end, text_.size()});
    if (!after.empty() && text_[after.begin] != '#') {
        const char c = text_[after.begin];
        if (c == '[') return refuse_at(after.begin, "only one pair of brackets is allowed");
        return refuse_at(after.begin, "nothing can follow the brackets");
    }
    for (const auto& entry : brackets->entries) {
        const auto same = [&](const BracketEntry& other) { return other.key == entry.key; };
        const auto first = std::find_if(brackets->entries.begin(), brackets->entries.end(), same);
        if (&*first != &entry)
            return refuse_at(entry.key_at, fmt::format("'{}' is given twice", entry.key));
    }
    return std::all_of(brackets->entries.begin(),
                       brackets->entries.end(),
                       [&](const BracketEntry& entry) { return apply(entry); });
}

bool SpecReader::apply(const BracketEntry& entry) {
    const auto* known = std::find_if(
        kKeys.begin(), kKeys.end(), [&](const KnownKey& one) { return one.text == entry.key; });
    if (entry.key == "accel")
        return refuse_at(entry.key_at,
                         "'accel' is allowed only in requested specs",
                         "use [accel=...] with gpkg create, install, update, solve or lock");
    if (known == kKeys.end())
        return refuse_at(entry.key_at,
                         fmt::format("'{}' is not a key of a spec", entry.key),
                         known_keys_hint(entry.key));
    const bool takes_list =
        known->key == Key::Extras || known->key == Key::Flags || known->key == Key::TrackFeatures;
    if (takes_list) return apply_list(entry);
    const auto& value = entry.values.front();
    if (entry.is_list)
        return refuse_at(value.at, fmt::format("'{}' takes one value, not a list", entry.key));
    switch (known->key) {
    case Key::Name: return true;  // must not replace the name that a reader sees (CEP 29)
    case Key::Version: return apply_version(spec_.version, value);
    case Key::Build: return apply_matcher(spec_.build, value);
    case Key::BuildNumber: return apply_version(spec_.build_number, value);
    case Key::Channel: return set_channel(value.text, value.at);
    case Key::Subdir: return apply_subdir(value);
    case Key::Fn: return apply_matcher(spec_.fn, value);
    case Key::Url: return apply_matcher(spec_.url, value);
    case Key::Md5: return apply_hash(spec_.md5, entry);
    case Key::Sha256: return apply_hash(spec_.sha256, entry);
    case Key::License: return apply_matcher(spec_.license, value);
    case Key::LicenseFamily: return apply_matcher(spec_.license_family, value);
    case Key::When: return apply_when(entry);
    case Key::TrackFeatures:
    case Key::Extras:
    case Key::Flags: break;
    }
    return true;
}

bool SpecReader::apply_list(const BracketEntry& entry) {
    for (const auto& value : entry.values) {
        const auto text = trim(value.text);
        if (entry.key == "extras") {
            if (!is_extra_name(text))
                return refuse_at(value.at,
                                 fmt::format("'{}' is not the name of an extra", text),
                                 "use lowercase letters, digits, '_', '.', '+' and '-'");
            spec_.extras.emplace_back(text);
        } else if (entry.key == "flags") {
            if (!is_flag_pattern(text))
                return refuse_at(value.at,
                                 fmt::format("'{}' is not a flag", text),
                                 "use lowercase letters, digits, '_', '*' and one ':'");
            spec_.flags.emplace_back(text);
        } else {
            // Conda's separators within one text.
            std::string spaced(text);
            std::replace(spaced.begin(), spaced.end(), ',', ' ');
            for (const auto feature : split(spaced, ' '))
                if (!feature.empty()) spec_.track_features.push_back(to_lower(feature));
        }
    }
    return true;
}

bool SpecReader::apply_subdir(const BracketValue& value) {
    const bool pattern = value.text.find('*') != kNone || value.text.starts_with('^');
    const auto text = pattern ? value.text : to_lower(value.text);
    if (!pattern && !is_subdir(text))
        return refuse_at(value.at,
                         fmt::format("'{}' is not a subdir", value.text),
                         "subdirs look like noarch or linux-64");
    if (auto read = read_matcher(text); !read) return refuse_in(value, std::move(read).error());
    spec_.subdir = text;
    return true;
}

bool SpecReader::apply_matcher(std::optional<StringMatcher>& field, const BracketValue& value) {
    auto matcher = read_matcher(value.text);
    if (!matcher) return refuse_in(value, std::move(matcher).error());
    field = *std::move(matcher);
    return true;
}

bool SpecReader::apply_version(std::optional<VersionSpec>& field, const BracketValue& value) {
    auto version = read_version_spec(value.text);
    if (!version) return refuse_in(value, std::move(version).error());
    field = *std::move(version);
    return true;
}

bool SpecReader::apply_hash(std::optional<StringMatcher>& field, const BracketEntry& entry) {
    const auto& value = entry.values.front();
    if (!apply_matcher(field, value)) return false;
    const std::size_t digits = entry.key == "md5" ? 32 : 64;
    if (field->is_exact() && !is_hex(value.text, digits))
        return refuse_at(value.at, fmt::format("'{}' takes {} hex digits", entry.key, digits));
    return true;
}

bool SpecReader::apply_when(const BracketEntry& entry) {
    if (when_ == WhenKey::Refused)
        return refuse_at(entry.key_at, "a spec in a condition cannot have a condition");
    const auto& value = entry.values.front();
    auto condition = read_condition(value.text);
    if (!condition) return refuse_in(value, std::move(condition).error());
    spec_.when = std::string(trim(value.text));
    return true;
}

}  // namespace

std::size_t regex_end(std::string_view text, std::size_t begin) {
    for (auto i = begin; i < text.size(); i += text[i] == '\\' ? 2 : 1)
        if (text[i] == '$') return i + 1;
    return text.size();
}

Parsed<MatchSpec> read_match_spec(std::string_view text, WhenKey when) {
    return SpecReader(text, when).read();
}

}  // namespace gpkg::grammar
