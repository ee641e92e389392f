#include "libcore/base/moment.hpp"

#include "libcore/base/number.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <string>

namespace gpkg {
namespace {

// 2001-09-09; no channel is older than 2012.
constexpr std::int64_t kEarliestMilliseconds = 1'000'000'000'000;
constexpr std::int64_t kLongestDuration = 100'000;  ///< in its unit

std::optional<std::int64_t> number(std::string_view digits) {
    const auto value = whole_number<std::int64_t>(digits);
    return value && *value >= 0 ? value : std::nullopt;
}

/// "Z" or "+01:00" in seconds.
std::optional<std::int64_t> parse_zone(std::string_view zone) {
    if (zone == "Z" || zone == "z") return 0;
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':')
        return std::nullopt;
    const auto hours = number(zone.substr(1, 2));
    const auto minutes = number(zone.substr(4, 2));
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    return (*hours * 60 + *minutes) * 60 * (zone[0] == '+' ? 1 : -1);
}

/// The start of the day of `now` in the user's time zone, or of a day before it.
std::int64_t start_of_day(std::int64_t now, int days_before) {
    auto day = fmt::localtime(static_cast<std::time_t>(now / 1000));
    day.tm_mday -= days_before;
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    return static_cast<std::int64_t>(::mktime(&day)) * 1000;
}

}  // namespace

std::int64_t now_milliseconds() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto count = number(text.substr(0, text.size() - 1));
    if (!count || *count == 0 || *count > kLongestDuration) return std::nullopt;
    switch (text.back()) {
    case 'h': return std::chrono::hours(*count);
    case 'd': return std::chrono::days(*count);
    case 'w': return std::chrono::weeks(*count);
    default: return std::nullopt;
    }
}

std::optional<std::int64_t> parse_moment(std::string_view text, std::int64_t now) {
    if (const auto ago = parse_duration(text)) return now - std::chrono::milliseconds(*ago).count();
    if (const auto milliseconds = number(text)) {
        // 20240501 is a date without its dashes, not an hour of 1970.
        if (*milliseconds < kEarliestMilliseconds) return std::nullopt;
        return *milliseconds;
    }

    std::tm moment{};
    const std::string copy(text);
    const char* rest = ::strptime(copy.c_str(), "%Y-%m-%d", &moment);
    if (rest == nullptr) return std::nullopt;
    // strptime accepts the 30th of any month.
    auto day = moment;
    if (::timegm(&day); day.tm_mday != moment.tm_mday) return std::nullopt;
    if (*rest == '\0') {
        moment.tm_mday += 1;
        return static_cast<std::int64_t>(::timegm(&moment)) * 1000 - 1;
    }
    if (*rest != 'T' && *rest != 't' && *rest != ' ') return std::nullopt;
    rest = ::strptime(rest + 1, "%H:%M:%S", &moment);
    if (rest == nullptr) return std::nullopt;
    std::string_view zone(rest);
    std::int64_t milliseconds = 0;
    if (zone.starts_with('.')) {
        const auto end = std::min(zone.find_first_not_of("0123456789", 1), zone.size());
        auto fraction = std::string(zone.substr(1, end - 1));
        if (fraction.empty()) return std::nullopt;
        fraction.resize(3, '0');
        milliseconds = *number(fraction);
        zone.remove_prefix(end);
    }
    const auto offset = parse_zone(zone);
    if (!offset) return std::nullopt;
    return (static_cast<std::int64_t>(::timegm(&moment)) - *offset) * 1000 + milliseconds;
}

std::optional<std::int64_t> parse_local_moment(std::string_view text, std::int64_t now) {
    if (const auto moment = parse_moment(text, now)) return moment;
    if (text == "today") return start_of_day(now, 0);
    if (text == "yesterday") return start_of_day(now, 1);
    if (text.ends_with('m')) {
        const auto minutes = number(text.substr(0, text.size() - 1));
        if (!minutes || *minutes == 0 || *minutes > kLongestDuration) return std::nullopt;
        return now - std::chrono::milliseconds(std::chrono::minutes(*minutes)).count();
    }
    constexpr std::size_t kDate = 10;
    constexpr std::size_t kToMinute = 16;
    constexpr std::int64_t kLastOfMinute = 59'999;
    if (text.size() < kToMinute || !parse_moment(text.substr(0, kDate), now)) return std::nullopt;
    std::string local(text);
    if (local[kDate] == 'T') local[kDate] = ' ';
    if (local.size() > kToMinute) return parse_local_time(local);
    const auto minute = parse_local_time(local + ":00");
    return minute ? std::optional(*minute + kLastOfMinute) : std::nullopt;
}

std::string local_time_text(std::string_view utc) {
    std::tm moment{};
    std::string copy(utc);
    const char* rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%SZ", &moment);
    if (rest == nullptr || *rest != '\0') return copy;
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(::timegm(&moment)));
}

std::optional<std::int64_t> parse_local_time(std::string_view text) {
    std::tm moment{};
    moment.tm_isdst = -1;
    const std::string copy(text);
    const char* rest = ::strptime(copy.c_str(), "%Y-%m-%d %H:%M:%S", &moment);
    if (rest == nullptr || *rest != '\0') return std::nullopt;
    return static_cast<std::int64_t>(::mktime(&moment)) * 1000;
}

std::string moment_text(std::int64_t milliseconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(static_cast<std::time_t>(milliseconds / 1000)));
}

}  // namespace gpkg
