#include "libcore/index/channel_index.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace gpkg {
namespace {

constexpr std::string_view kConda = ".conda";
constexpr std::string_view kTarBz2 = ".tar.bz2";

std::string_view stem(std::string_view fn) {
    for (const auto extension : {kConda, kTarBz2}) {
        if (fn.ends_with(extension)) return fn.substr(0, fn.size() - extension.size());
    }
    return fn;
}

}  // namespace

std::span<const ChannelIndex::Row> ChannelIndex::rows(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return {};
    return std::span(rows_).subspan(found->second.begin, found->second.size);
}

std::vector<const ChannelIndex::Row*> ChannelIndex::choices(
    std::string_view name, std::optional<std::int64_t> newest) const {
    std::vector<const Row*> chosen;
    for (const auto& row : rows(name)) {
        if (newest && row.appeared() > *newest) continue;
        const bool is_twin = !chosen.empty() && stem(text(chosen.back()->fn)) == stem(text(row.fn));
        if (!is_twin) chosen.push_back(&row);
    }
    return chosen;
}

std::string ChannelIndex::url(const Row& row) const {
    return base_url_ + std::string(text(row.fn));
}

PackageRecord ChannelIndex::record(const Row& row) const {
    const auto owned = [this](Text piece) { return std::string(text(piece)); };
    const auto all_specs = [this](Range range) {
        std::vector<std::string> specs;
        for (const auto id : spec_ids(range)) specs.emplace_back(spec(id));
        return specs;
    };
    const auto all_texts = [this](Range range) {
        std::vector<std::string> list;
        for (const auto piece : texts(range)) list.emplace_back(text(piece));
        return list;
    };

    PackageRecord record;
    record.name = owned(row.name);
    record.version = owned(row.version);
    record.build = owned(row.build);
    record.build_number = row.build_number;
    record.subdir = source_.subdir;
    record.channel = source_.channel;
    record.fn = owned(row.fn);
    record.url = url(row);
    record.md5 = owned(row.md5);
    record.sha256 = owned(row.sha256);
    record.size = row.size;
    record.timestamp = row.timestamp;
    record.indexed_timestamp = row.indexed_timestamp;
    record.depends = all_specs(row.depends);
    record.constrains = all_specs(row.constrains);
    for (const auto& extra : extras(row.extras))
        record.extra_depends[owned(extra.group)] = all_specs(extra.specs);
    record.flags = all_texts(row.flags);
    record.track_features = all_texts(row.track_features);
    record.noarch = owned(row.noarch);
    if (row.has_site_packages_path)
        record.python_site_packages_path = owned(row.python_site_packages_path);
    record.license = owned(row.license);
    record.license_family = owned(row.license_family);
    return record;
}

ChannelIndexBuilder::ChannelIndexBuilder(IndexSource source) { index_.source_ = std::move(source); }

ChannelIndex::Text ChannelIndexBuilder::append(std::string_view text) {
    // finish() refuses a pool that outgrew its 32-bit offsets.
    const ChannelIndex::Text piece{static_cast<std::uint32_t>(index_.pool_.size()),
                                   static_cast<std::uint32_t>(text.size())};
    index_.pool_.insert(index_.pool_.end(), text.begin(), text.end());
    return piece;
}

ChannelIndex::Text ChannelIndexBuilder::intern(std::string_view text) {
    if (text.empty()) return {};
    auto [entry, added] = interned_.try_emplace(std::string(text));
    if (added) entry->second = append(text);
    return entry->second;
}

std::uint32_t ChannelIndexBuilder::spec_id(std::string_view spec) {
    auto [entry, added] =
        spec_ids_.try_emplace(std::string(spec), static_cast<std::uint32_t>(index_.specs_.size()));
    if (added) index_.specs_.push_back(append(spec));
    return entry->second;
}

ChannelIndex::Range ChannelIndexBuilder::add_specs(std::span<const std::string_view> specs) {
    const auto begin = static_cast<std::uint32_t>(index_.spec_ids_.size());
    for (const auto spec : specs) index_.spec_ids_.push_back(spec_id(spec));
    return {begin, static_cast<std::uint32_t>(specs.size())};
}

ChannelIndex::Range ChannelIndexBuilder::add_texts(std::span<const std::string_view> texts) {
    const auto begin = static_cast<std::uint32_t>(index_.texts_.size());
    for (const auto text : texts) index_.texts_.push_back(intern(text));
    return {begin, static_cast<std::uint32_t>(texts.size())};
}

ChannelIndex::Range ChannelIndexBuilder::add_extras(std::span<const ChannelIndex::Extra> extras) {
    const auto begin = static_cast<std::uint32_t>(index_.extras_.size());
    index_.extras_.insert(index_.extras_.end(), extras.begin(), extras.end());
    return {begin, static_cast<std::uint32_t>(extras.size())};
}

Result<ChannelIndex> ChannelIndexBuilder::finish() && {
    auto& rows = index_.rows_;
    constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
    if (index_.pool_.size() > kMost || index_.spec_ids_.size() > kMost || rows.size() > kMost)
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: the index holds more than 4 GiB of text", index_.source_.url));

    const auto text = [this](ChannelIndex::Text piece) { return index_.text(piece); };
    if (!removed_.empty())
        std::erase_if(
            rows, [&](const auto& row) { return removed_.contains(std::string(text(row.fn))); });
    std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
        if (const int order = text(a.name).compare(text(b.name)); order != 0) return order < 0;
        // Both forms of one package side by side: whole names would let others stand between.
        const auto a_stem = stem(text(a.fn));
        const auto b_stem = stem(text(b.fn));
        return a_stem == b_stem ? text(a.fn) < text(b.fn) : a_stem < b_stem;
    });

    for (std::uint32_t begin = 0; begin < rows.size();) {
        const auto name = text(rows[begin].name);
        auto end = begin + 1;
        while (end < rows.size() && text(rows[end].name) == name) ++end;
        index_.by_name_.emplace(name, ChannelIndex::Range{begin, end - begin});
        index_.names_.push_back(name);
        begin = end;
    }
    return std::move(index_);
}

}  // namespace gpkg
