#include "solver/candidate.hpp"

#include "libcore/base/digest.hpp"

namespace gpkg::solver {
namespace {

std::vector<std::string> owned(const NameRecords& home, ChannelIndex::List list) {
    std::vector<std::string> texts;
    for (const auto text : home.texts(list)) texts.emplace_back(home.text(text));
    return texts;
}

}  // namespace

bool ChannelRecord::matches(const MatchSpec& spec) const {
    const auto parsed = Version::parse(version());
    if (!parsed) return false;
    return matches(spec, *parsed);
}

/// What few specs ask for is only made for those.
bool ChannelRecord::matches(const MatchSpec& spec, const Version& parsed) const {
    const auto hex = [](bool wanted, bool is_there, std::span<const std::uint8_t> digest) {
        return wanted && is_there ? to_hex(digest) : std::string();
    };
    const auto flags = spec.flags.empty() ? std::vector<std::string>() : owned(*home, row->flags);
    const auto features = spec.track_features.empty() ? std::vector<std::string>()
                                                      : owned(*home, row->track_features);
    const auto fn = spec.fn || spec.url ? home->fn(*row) : std::string();
    const auto url = spec.url ? index->url(fn) : std::string();
    const auto md5 = hex(spec.md5.has_value(), row->has_md5, row->md5);
    const auto sha256 = hex(spec.sha256.has_value(), row->has_sha256, row->sha256);
    MatchTarget target;
    target.name = home->name();
    target.version = &parsed;
    target.build = home->build(*row);
    target.build_number = row->build_number;
    target.fn = fn;
    target.sha256 = sha256;
    target.channel = channel();
    target.subdir = index->source().subdir;
    target.url = url;
    target.md5 = md5;
    target.license = home->text(row->license);
    target.license_family = home->text(row->license_family);
    target.flags = &flags;
    target.track_features = &features;
    return spec.matches(target);
}

std::vector<std::string_view> ChannelRecord::groups() const {
    std::vector<std::string_view> groups;
    for (const auto& extra : home->extras(row->extras)) groups.push_back(home->text(extra.group));
    return groups;
}

std::vector<std::string_view> Candidate::groups() const {
    if (is_offered()) return offered.groups();
    std::vector<std::string_view> groups;
    for (const auto& [group, specs] : given->extra_depends) groups.emplace_back(group);
    return groups;
}

std::vector<std::string> Candidate::flags() const {
    return is_offered() ? owned(*offered.home, offered.row->flags) : given->flags;
}

std::string Candidate::sha256() const {
    if (!is_offered()) return given->sha256;
    return offered.row->has_sha256 ? to_hex(offered.row->sha256) : std::string();
}

Result<PackageRecord> Candidate::record() const { return is_offered() ? offered.record() : *given; }

}  // namespace gpkg::solver
