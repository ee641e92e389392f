#include "libcore/index/index_format_internal.hpp"
#include "libcore/index/segment_internal.hpp"
#include "libcore/spec/version.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace gpkg {
namespace {

using Number = TextTable::Number;

// --- records put aside ---

/// How a record begins. Behind it stand the numbers of its specs, then its texts.
struct Packed {
    std::uint64_t build_number = 0;
    std::uint64_t size = 0;
    std::int64_t timestamp = 0;
    std::int64_t indexed_timestamp = 0;
    std::array<std::uint8_t, 16> md5{};
    std::array<std::uint8_t, 32> sha256{};
    Noarch noarch = Noarch::No;
    bool is_conda = true;
    bool is_v3 = false;
    bool has_md5 = false;
    bool has_sha256 = false;
    bool has_site_packages_path = false;
    std::uint32_t depends = 0;
    std::uint32_t constrains = 0;
    std::uint32_t flags = 0;
    std::uint32_t track_features = 0;
    std::uint32_t extras = 0;
};

template <typename T>
void put(std::string& into, const T& value) {
    into.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_text(std::string& into, std::string_view text) {
    put(into, static_cast<std::uint32_t>(text.size()));
    into += text;
}

/// Reads back what the functions above wrote.
class Decoder {
public:
    explicit Decoder(std::string_view bytes) : bytes_(bytes) {}
    bool at_end() const { return bytes_.empty(); }

    template <typename T>
    T take() {
        T value;
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_.remove_prefix(sizeof(T));
        return value;
    }
    std::string_view take_text() {
        const auto size = take<std::uint32_t>();
        const auto text = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return text;
    }

private:
    std::string_view bytes_;
};

template <std::size_t N>
void copy_digest(std::string_view raw, std::array<std::uint8_t, N>& into, bool& is_there) {
    is_there = raw.size() == N;
    if (is_there) std::memcpy(into.data(), raw.data(), N);
}

}  // namespace

void encode_record(const IndexRecord& record,
                   const std::function<Number(std::string_view)>& number_of,
                   std::string& into) {
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    const auto put_specs = [&](const std::vector<std::string_view>& specs) {
        for (const auto spec : specs) put(into, number_of(spec));
    };
    Packed packed;
    packed.build_number = record.build_number;
    packed.size = record.size;
    packed.timestamp = record.timestamp;
    packed.indexed_timestamp = record.indexed_timestamp;
    packed.noarch = record.noarch;
    packed.is_conda = record.is_conda;
    packed.is_v3 = record.is_v3;
    copy_digest(record.md5, packed.md5, packed.has_md5);
    copy_digest(record.sha256, packed.sha256, packed.has_sha256);
    packed.has_site_packages_path = record.python_site_packages_path.has_value();
    packed.depends = count(record.depends);
    packed.constrains = count(record.constrains);
    packed.flags = count(record.flags);
    packed.track_features = count(record.track_features);
    packed.extras = count(record.extras);
    put(into, packed);
    put_specs(record.depends);
    put_specs(record.constrains);
    put_text(into, record.version);
    put_text(into, record.build);
    put_text(into, record.license);
    put_text(into, record.license_family);
    put_text(into, record.python_site_packages_path.value_or(""));
    for (const auto flag : record.flags) put_text(into, flag);
    for (const auto feature : record.track_features) put_text(into, feature);
    for (const auto& extra : record.extras) {
        put_text(into, extra.group);
        put(into, count(extra.specs));
        put_specs(extra.specs);
    }
}

// --- the segment ---

SegmentBuilder::SegmentBuilder(std::string_view name,
                               const std::vector<Number>& final_number,
                               Number first_spec)
    : name_(name), final_number_(final_number), first_spec_(first_spec) {
    list({});  // the empty list is the first
}

ChannelIndex::Text SegmentBuilder::piece(std::string_view text) {
    const auto number = texts_.add(text);
    return {static_cast<std::uint32_t>(texts_.offset(number)),
            static_cast<std::uint32_t>(text.size())};
}

/// `words` begin with the length of the list, but for the empty one.
ChannelIndex::List SegmentBuilder::list(const std::vector<std::uint32_t>& words) {
    constexpr std::array<std::uint32_t, 1> kEmpty{};
    const auto* data = words.empty() ? kEmpty.data() : words.data();
    const auto number = lists_.add({reinterpret_cast<const char*>(data),
                                    std::max<std::size_t>(words.size(), 1) * sizeof(*data)});
    return static_cast<List>(lists_.offset(number) / sizeof(*data));
}

void SegmentBuilder::add_records(std::string_view encoded) {
    Decoder decoder(encoded);
    std::vector<std::uint32_t> words;
    const auto specs = [&](std::uint32_t count) {
        words.assign(count > 0 ? 1 : 0, count);
        for (auto left = count; left > 0; --left)
            words.push_back(final_number_[decoder.take<Number>()]);
        return list(words);
    };
    const auto texts = [&](std::uint32_t count) {
        words.assign(count > 0 ? 1 : 0, count);
        for (auto left = count; left > 0; --left) {
            const auto text = piece(decoder.take_text());
            words.insert(words.end(), {text.offset, text.size});
        }
        return list(words);
    };
    while (!decoder.at_end()) {
        const auto packed = decoder.take<Packed>();
        Draft draft;
        draft.is_v3 = packed.is_v3;
        auto& row = draft.row;
        row.build_number = packed.build_number;
        row.size = packed.size;
        row.timestamp = packed.timestamp;
        row.indexed_timestamp = packed.indexed_timestamp;
        row.md5 = packed.md5;
        row.sha256 = packed.sha256;
        row.noarch = packed.noarch;
        row.is_conda = packed.is_conda;
        row.has_md5 = packed.has_md5;
        row.has_sha256 = packed.has_sha256;
        row.has_site_packages_path = packed.has_site_packages_path;
        row.depends = specs(packed.depends);
        row.constrains = specs(packed.constrains);
        row.version = versions_.add(decoder.take_text());
        row.build = piece(decoder.take_text());
        row.license = piece(decoder.take_text());
        row.license_family = piece(decoder.take_text());
        row.python_site_packages_path = piece(decoder.take_text());
        row.flags = texts(packed.flags);
        row.track_features = texts(packed.track_features);
        std::vector<std::uint32_t> extras;
        if (packed.extras > 0) extras.push_back(packed.extras);
        for (auto left = packed.extras; left > 0; --left) {
            const auto group = piece(decoder.take_text());
            extras.insert(extras.end(),
                          {group.offset, group.size, specs(decoder.take<std::uint32_t>())});
        }
        row.extras = list(extras);
        drafts_.push_back(draft);
    }
}

std::string SegmentBuilder::fn(const Draft& draft) const {
    const auto& build = draft.row.build;
    return fmt::format("{}-{}-{}{}",
                       name_,
                       versions_.text(draft.row.version),
                       std::string_view(texts_.pool()).substr(build.offset, build.size),
                       draft.row.is_conda ? ".conda" : ".tar.bz2");
}

/// Equal versions and builds have equal numbers, so these name an artifact but for its form.
static std::uint64_t stem_of(const ChannelIndex::Row& row) {
    return std::uint64_t{row.version} << 32U | row.build.offset;
}

/// An artifact that stands in a v3 map counts there. Of two records in one map the last counts, as
/// for the JSON readers of conda and rattler. Gives the artifacts of the second kind.
std::vector<std::string> SegmentBuilder::drop_repeated() {
    std::vector<std::string> repeated;
    std::unordered_map<std::uint64_t, std::array<std::size_t, 2>> seen;
    seen.reserve(drafts_.size());
    std::vector<bool> drop(drafts_.size());
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
        auto& last = seen[stem_of(drafts_[i].row)][drafts_[i].row.is_conda ? 1 : 0];
        const auto before = std::exchange(last, i + 1);
        if (before == 0) continue;
        const bool is_v3 = drafts_[i].is_v3;
        const bool is_in_one_map = drafts_[before - 1].is_v3 == is_v3;
        if (is_in_one_map) repeated.push_back(fn(drafts_[i]));
        drop[is_v3 || is_in_one_map ? before - 1 : i] = true;
        if (!is_v3 && !is_in_one_map) last = before;
    }
    std::size_t place = 0;
    std::erase_if(drafts_, [&](const Draft&) { return drop[place++]; });
    return repeated;
}

void SegmentBuilder::sort_rows() {
    // Best first; those that cannot be read last.
    const auto count = static_cast<Number>(versions_.size());
    std::vector<std::optional<Version>> parsed(count);
    for (Number i = 0; i < count; ++i) {
        if (auto version = Version::parse(versions_.text(i))) parsed[i] = *std::move(version);
    }
    std::vector<Number> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto better = [&](Number a, Number b) {
        if (parsed[a].has_value() != parsed[b].has_value()) return parsed[a].has_value();
        return parsed[a] && *parsed[b] < *parsed[a];
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
        if (better(a, b) || better(b, a)) return better(a, b);
        return versions_.text(a) < versions_.text(b);
    });
    std::vector<std::uint32_t> place(count);
    std::vector<std::uint32_t> rank(count);  // equal for versions of equal value
    for (std::uint32_t i = 0; i < count; ++i) {
        place[order[i]] = i;
        rank[i] = i > 0 && !better(order[i - 1], order[i]) ? rank[i - 1] : i;
        sorted_versions_.push_back(piece(versions_.text(order[i])));
    }
    for (auto& draft : drafts_) draft.row.version = place[draft.row.version];

    const auto text = [&](Text piece) {
        return std::string_view(texts_.pool()).substr(piece.offset, piece.size);
    };
    const auto is_readable = [&](const Row& row) { return parsed[order[row.version]].has_value(); };
    std::sort(drafts_.begin(), drafts_.end(), [&](const Draft& one, const Draft& two) {
        const auto& a = one.row;
        const auto& b = two.row;
        if (is_readable(a) != is_readable(b)) return is_readable(a);
        if ((a.track_features == 0) != (b.track_features == 0)) return a.track_features == 0;
        if (rank[a.version] != rank[b.version]) return rank[a.version] < rank[b.version];
        if (a.build_number != b.build_number) return a.build_number > b.build_number;
        if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
        if (a.is_conda != b.is_conda) return a.is_conda;
        if (const int by = text(a.build).compare(text(b.build)); by != 0) return by < 0;
        return a.version < b.version;
    });
}

void SegmentBuilder::find_twins() {
    std::unordered_map<std::uint64_t, std::uint32_t> condas;
    const auto any_bz2 = std::any_of(
        drafts_.begin(), drafts_.end(), [](const auto& draft) { return !draft.row.is_conda; });
    if (!any_bz2) return;
    for (std::uint32_t i = 0; i < drafts_.size(); ++i) {
        if (drafts_[i].row.is_conda) condas.emplace(stem_of(drafts_[i].row), i);
    }
    for (auto& [row, is_v3] : drafts_) {
        if (row.is_conda) continue;
        const auto twin = condas.find(stem_of(row));
        if (twin != condas.end()) row.twin = twin->second;
    }
}

Result<SegmentBuilder::Built> SegmentBuilder::finish(const TextTable& removed) && {
    if (removed.size() > 0)
        std::erase_if(drafts_, [&](const Draft& draft) { return removed.has(fn(draft)); });
    Built built;
    built.repeated = drop_repeated();
    sort_rows();
    find_twins();

    built.rows = static_cast<std::uint32_t>(drafts_.size());
    index_format::Segment head;
    head.rows = built.rows;
    head.versions = static_cast<std::uint32_t>(sorted_versions_.size());
    head.specs = static_cast<std::uint32_t>(specs_.size());
    head.first_spec = first_spec_;
    const auto lists_at = sizeof(head) + drafts_.size() * sizeof(Row) +
                          (sorted_versions_.size() + specs_.size()) * sizeof(Text);
    const auto texts_at = lists_at + lists_.pool().size();
    const auto size = (texts_at + texts_.pool().size() + 7) / 8 * 8;
    if (size > std::numeric_limits<std::uint32_t>::max())
        return fail(ErrorKind::Unsupported, fmt::format("the records of {} exceed 4 GiB", name_));
    head.lists_at = static_cast<std::uint32_t>(lists_at);
    head.texts_at = static_cast<std::uint32_t>(texts_at);
    auto& bytes = built.bytes;
    bytes.reserve(size);
    bytes += index_format::bytes_of(head);
    for (const auto& draft : drafts_) bytes += index_format::bytes_of(draft.row);
    for (const auto& version : sorted_versions_) bytes += index_format::bytes_of(version);
    for (const auto& spec : specs_) bytes += index_format::bytes_of(spec);
    bytes += lists_.pool();
    bytes += texts_.pool();
    bytes.resize(size);
    return built;
}

}  // namespace gpkg
