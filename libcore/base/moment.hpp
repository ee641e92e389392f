#pragma once

// Points in time and durations as users type them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpkg {

/// This moment in Unix milliseconds.
std::int64_t now_milliseconds();

/// "12h", "30d" or "2w"; nothing for any other text.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

/// In Unix milliseconds: "2024-05-01" (the end of that day, UTC), "2024-05-01T12:00:00Z",
/// "1714560000000", or a duration before `now`: "7d". Nothing for any other text.
std::optional<std::int64_t> parse_moment(std::string_view text, std::int64_t now);

/// The same, and what people type of their own day, in the user's time zone: "2024-05-01 12:00:00"
/// or "2024-05-01T12:00" (the whole of that minute), "today" and "yesterday" (the start of the
/// day), and "30m" (minutes before `now`).
std::optional<std::int64_t> parse_local_moment(std::string_view text, std::int64_t now);

/// A moment in UTC, "2024-05-01T12:00:00Z", in the user's time zone: "2024-05-01 14:00:00". Any
/// other text as it is.
std::string local_time_text(std::string_view utc);

/// "2024-05-01 14:00:00" in the user's time zone, as histories have it, in Unix milliseconds.
std::optional<std::int64_t> parse_local_time(std::string_view text);

/// "2024-05-01T12:00:00Z"
std::string moment_text(std::int64_t milliseconds);

}  // namespace gpkg
