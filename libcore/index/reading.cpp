#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/index/reading_internal.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace gpkg::repodata {
namespace {

/// Later than year 9999 in seconds, so it must be milliseconds (what conda's tools assume).
constexpr std::int64_t kLastSecond = 253402300799;
/// Up to here looking at all is quicker than a table.
constexpr std::size_t kFew = 16;
constexpr std::size_t kLongestMessage = 8192;

}  // namespace

void refuse(std::string reason) { throw Malformed{std::move(reason)}; }

Key key_of(std::string_view key) {
    const auto one_of = [&](std::initializer_list<std::pair<std::string_view, Key>> names) {
        for (const auto& [name, value] : names) {
            if (name == key) return value;
        }
        return Key::Other;
    };
    switch (key.empty() ? '\0' : key.front()) {
    case 'b': return one_of({{"build", Key::Build}, {"build_number", Key::BuildNumber}});
    case 'c': return one_of({{"constrains", Key::Constrains}});
    case 'd': return one_of({{"depends", Key::Depends}});
    case 'e': return one_of({{"extra_depends", Key::ExtraDepends}});
    case 'f': return one_of({{"flags", Key::Flags}});
    case 'i': return one_of({{"indexed_timestamp", Key::IndexedTimestamp}});
    case 'l': return one_of({{"license", Key::License}, {"license_family", Key::LicenseFamily}});
    case 'm': return one_of({{"md5", Key::Md5}});
    case 'n': return one_of({{"name", Key::Name}, {"noarch", Key::Noarch}});
    case 'p': return one_of({{"python_site_packages_path", Key::PythonSitePackagesPath}});
    case 's': return one_of({{"sha256", Key::Sha256}, {"size", Key::Size}});
    case 't':
        return one_of({{"timestamp", Key::Timestamp}, {"track_features", Key::TrackFeatures}});
    case 'v': return one_of({{"version", Key::Version}});
    default: return Key::Other;
    }
}

std::int64_t moment_in(std::string_view key, double number) {
    // A clock set before 1970 spoils the order of its own builds only.
    if (!(number > -9e15 && number < 9e15)) refuse(fmt::format("'{}' is not a time", key));
    const auto whole = static_cast<std::int64_t>(number);
    return whole > kLastSecond ? whole : whole * 1000;
}

std::string_view digest_in(std::string_view key,
                           std::string_view hex,
                           std::size_t size,
                           std::string& raw) {
    if (hex.empty()) return {};
    raw.resize(size);
    if (!from_hex(hex, raw)) refuse(fmt::format("'{}' must be {} hex digits", key, 2 * size));
    return raw;
}

void split_features(std::string_view text, std::vector<std::string_view>& into) {
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(", "), text.size());
        if (end > 0) into.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

Noarch noarch_named(std::string_view kind) {
    if (kind.empty()) return Noarch::No;
    return kind == "python" ? Noarch::Python : Noarch::Generic;
}

void OnlyOnce::operator()(std::string_view key) {
    const auto twice = [&] { refuse(fmt::format("duplicate key '{}' {}", key, where_)); };
    if (few_.size() < kFew) {
        if (std::find(few_.begin(), few_.end(), key) != few_.end()) twice();
        few_.push_back(key);
        return;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    if (!many_.insert(key).second) twice();
}

void LeftOutRecords::add(std::string_view fn, std::string_view why) {
    if (count_++ == 0) first_ = fmt::format("{}: {}", fn, why);
}

std::optional<std::string> LeftOutRecords::note() const {
    if (count_ == 0) return std::nullopt;
    const auto first = printable(first_, kLongestReason);
    return count_ == 1 ? fmt::format("skipped a record: {}", first)
                       : fmt::format("skipped {} records, the first: {}", count_, first);
}

std::string note_on_newer(std::string_view form, std::uint64_t count, std::string_view message) {
    return fmt::format("skipped {} records of the unsupported format {}{}{}",
                       count,
                       printable(form),
                       message.empty() ? "" : ": ",
                       printable(message, kLongestMessage));
}

}  // namespace gpkg::repodata
