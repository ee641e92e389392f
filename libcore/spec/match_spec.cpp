#include "libcore/spec/match_spec.hpp"

#include "libcore/spec/brackets.hpp"
#include "libcore/spec/fault_internal.hpp"
#include "libcore/spec/match_spec_internal.hpp"
#include "libcore/spec/microarchitecture.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>

namespace gpkg {
namespace {

bool is_pattern(std::string_view text) {
    return text.find('*') != std::string_view::npos || text.starts_with('^');
}

/// For the rare fields that are kept as text because they hardly ever are patterns.
bool field_matches(std::string_view asked, std::string_view value) {
    if (asked.starts_with('^')) {
        const auto regex = StringMatcher::parse(asked);
        return regex && regex->matches(value);
    }
    return glob_matches(asked, value);
}

bool matches_or_absent(const std::optional<StringMatcher>& asked, std::string_view value) {
    return !asked || asked->matches(value);
}

/// The build of __archspec is a CPU's name (CEP 30). It runs what is for any that it descends from:
/// "^(x86_64_v4|...|zen5)$" lists those that were known when the package was built.
bool build_matches(const StringMatcher& asked, const MatchTarget& target) {
    if (asked.matches(target.build)) return true;
    if (target.name != "__archspec") return false;
    const auto ancestors = lineage(target.build);
    return std::any_of(ancestors.begin(), ancestors.end(), [&](std::string_view ancestor) {
        return asked.matches(ancestor);
    });
}

bool contains(const std::vector<std::string>* values, std::string_view asked) {
    return values != nullptr &&
           std::any_of(values->begin(), values->end(), [&](const std::string& value) {
               return field_matches(asked, value);
           });
}

bool contains_all(const std::vector<std::string>* values, const std::vector<std::string>& asked) {
    return std::all_of(
        asked.begin(), asked.end(), [&](const std::string& one) { return contains(values, one); });
}

/// The canonical text in the making: the positional part, then what goes into brackets.
class Printer {
public:
    void add(std::string_view key, std::string_view value) {
        pairs_ += pairs_.empty() ? "" : ",";
        pairs_ += key;
        pairs_ += '=';
        pairs_ += grammar::quoted_value(value);
    }
    void add_if(std::string_view key, const std::optional<StringMatcher>& value) {
        if (value) add(key, value->text());
    }
    void add_if(std::string_view key, const std::optional<std::string>& value) {
        if (value) add(key, *value);
    }
    void add_list(std::string_view key, const std::vector<std::string>& values) {
        if (values.size() == 1) return add(key, values.front());
        if (values.empty()) return;
        pairs_ += pairs_.empty() ? "" : ",";
        pairs_ += key;
        for (const auto& value : values) {
            pairs_ += &value == &values.front() ? "=[" : ",";
            pairs_ += grammar::quoted_value(value);
        }
        pairs_ += ']';
    }

    std::string head;
    std::string whole() && {
        return pairs_.empty() ? std::move(head) : std::move(head) + '[' + pairs_ + ']';
    }

private:
    std::string pairs_;
};

/// A channel that can stand before "::" and is read back as the same channel, also in a condition.
bool is_positional(std::string_view channel) {
    return !is_pattern(channel) && channel.find_first_of(" \t[]()#^") == std::string_view::npos &&
           channel.find("::") == std::string_view::npos && !channel.ends_with(':');
}

void print_channel(const MatchSpec& asked, Printer& out) {
    const bool subdir_fits = asked.subdir && is_known_subdir(*asked.subdir);
    if (asked.channel && is_positional(*asked.channel)) {
        out.head += *asked.channel;
        if (subdir_fits) out.head += '/' + *asked.subdir;
        out.head += "::";
        if (!subdir_fits) out.add_if("subdir", asked.subdir);
    } else {
        out.add_if("channel", asked.channel);
        out.add_if("subdir", asked.subdir);
    }
}

void print_version_and_build(const MatchSpec& asked, Printer& out) {
    const auto* exact = asked.version ? asked.version->exact() : nullptr;
    const auto* fuzzy = asked.version ? asked.version->fuzzy() : nullptr;
    // Text that ends like a package file is read as one.
    const auto positional = [](const std::string& text) { return package_extension(text).empty(); };
    const bool exact_fits = exact != nullptr && positional(exact->to_string());
    if (exact_fits)
        out.head += "==" + exact->to_string();
    else if (fuzzy != nullptr && positional(fuzzy->to_string()))
        out.head += '=' + fuzzy->to_string();
    else if (asked.version)
        out.add("version", asked.version->to_string());
    if (asked.build && exact_fits && asked.build->is_exact() &&
        is_build_string(asked.build->text()) && positional(asked.build->text()))
        out.head += '=' + asked.build->text();
    else
        out.add_if("build", asked.build);
}

}  // namespace

Result<MatchSpec> MatchSpec::parse(std::string_view text) {
    auto read = grammar::read_match_spec(text);
    if (!read) return grammar::refuse(text, read.error(), "InvalidMatchSpec");
    return *std::move(read);
}

bool MatchSpec::has_one_channel() const { return channel && !is_pattern(*channel); }

bool MatchSpec::matches(const MatchTarget& target) const {
    if (name_matcher ? !name_matcher->matches(target.name)
                     : name != "*" && !equal_ignoring_case(name, target.name))
        return false;
    if (version && !(target.version != nullptr && version->matches(*target.version))) return false;
    if (build && !build_matches(*build, target)) return false;
    if (build_number && !build_number->matches(Version::from_number(target.build_number)))
        return false;
    if (channel && !channel_matches(*channel, target.channel)) return false;
    if (subdir && !field_matches(*subdir, target.subdir)) return false;
    return matches_or_absent(fn, target.fn) && matches_or_absent(url, target.url) &&
           matches_or_absent(md5, target.md5) && matches_or_absent(sha256, target.sha256) &&
           matches_or_absent(license, target.license) &&
           matches_or_absent(license_family, target.license_family) &&
           contains_all(target.track_features, track_features) && contains_all(target.flags, flags);
}

bool MatchSpec::matches(const PackageRecord& record) const {
    const auto parsed = version_of(record);
    return parsed && matches(record, *parsed);
}

bool MatchSpec::matches(const PackageRecord& record, const Version& parsed) const {
    return matches(MatchTarget{.name = record.name,
                               .version = &parsed,
                               .build = record.build,
                               .build_number = record.build_number,
                               .channel = record.channel,
                               .subdir = record.subdir,
                               .fn = record.fn,
                               .url = record.url,
                               .md5 = record.md5,
                               .sha256 = record.sha256,
                               .license = record.license,
                               .license_family = record.license_family,
                               .track_features = &record.track_features,
                               .flags = &record.flags});
}

std::string name_in_spec(std::string_view spec) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
    constexpr std::string_view kBehindName = " <>=!~[";
    const auto end = std::min(spec.find_first_not_of(kPlain), spec.size());
    const bool is_whole = end == spec.size() || kBehindName.find(spec[end]) != std::string::npos;
    if (end > 0 && is_whole) return std::string(spec.substr(0, end));
    const auto parsed = MatchSpec::parse(spec);
    return parsed && parsed->has_one_name() ? parsed->name : "";
}

std::string MatchSpec::to_string() const {
    Printer out;
    print_channel(*this, out);
    out.head += name.empty() ? "*" : name;
    print_version_and_build(*this, out);
    if (build_number) out.add("build_number", build_number->to_string());
    out.add_if("fn", fn);
    out.add_if("url", url);
    out.add_if("md5", md5);
    out.add_if("sha256", sha256);
    out.add_if("license", license);
    out.add_if("license_family", license_family);
    out.add_list("track_features", track_features);
    out.add_list("extras", extras);
    out.add_list("flags", flags);
    out.add_if("when", when);
    return std::move(out).whole();
}

bool channel_matches(std::string_view asked, std::string_view base_url) {
    while (base_url.ends_with('/')) base_url.remove_suffix(1);
    if (asked.find("://") != std::string_view::npos && !is_pattern(asked))
        return equal_ignoring_case(asked, base_url);
    const auto scheme = base_url.find("://");
    if (scheme == std::string_view::npos) return field_matches(asked, base_url);
    if (asked.starts_with('/'))
        return base_url.starts_with("file://") && equal_ignoring_case(asked, base_url.substr(7));
    if (is_pattern(asked) && field_matches(asked, base_url)) return true;
    // The host is no part of a name.
    for (auto slash = base_url.find('/', scheme + 3); slash != std::string_view::npos;
         slash = base_url.find('/', slash + 1))
        if (field_matches(asked, base_url.substr(slash + 1))) return true;
    return false;
}

}  // namespace gpkg
