#include "libcore/base/moment.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>
#include <ctime>
#include <string>

using namespace gpkg;

TEST_CASE("dates, times and durations before now", "[base]") {
    constexpr std::int64_t kNow = 1'700'000'000'000;  // 2023-11-14T22:13:20Z
    constexpr std::int64_t kHour = 3'600'000;
    struct Row {
        std::string text;
        std::int64_t milliseconds;  ///< 0: invalid
    };
    const auto row = GENERATE_COPY(values<Row>({
        {"2023-11-14", 1'700'006'399'999},
        {"2023-11-14T22:13:20Z", kNow},
        {"2023-11-14 22:13:20.25z", kNow + 250},
        {"2023-11-14T23:13:20+01:00", kNow},
        {"1699999999999", kNow - 1},
        {"3h", kNow - 3 * kHour},
        {"7d", kNow - 7 * 24 * kHour},
        {"2w", kNow - 14 * 24 * kHour},
        {"0d", 0},
        {"-7d", 0},
        {"7", 0},
        {"d", 0},
        {"7m", 0},
        {"7 d", 0},
        {"100001d", 0},
        {"", 0},
        {"yesterday", 0},
        {"20240501", 0},
        {"2025-02-30", 0},
        {"2025-02-20T00:00:00", 0},
        {"2025-02-20T00:00:00+25:00", 0},
        {"2025-02-20T00:00:00.Z", 0},
    }));
    INFO(row.text);
    CHECK(parse_moment(row.text, kNow).value_or(0) == row.milliseconds);
}

TEST_CASE("people type moments in their own time zone", "[base]") {
    const char* before = ::getenv("TZ");
    const std::string saved = before == nullptr ? "" : before;
    ::setenv("TZ", "TEST-2", 1);
    ::tzset();
    constexpr std::int64_t kNow = 1'700'000'000'000;  // 2023-11-15 00:13:20 local
    constexpr std::int64_t kMinute = 60'000;
    constexpr std::int64_t kStart = kNow - 13 * kMinute - 20'000;
    CHECK(parse_local_moment("2023-11-15 00:13:20", kNow) == kNow);
    CHECK(parse_local_moment("2023-11-15T00:13:20", kNow) == kNow);
    CHECK(parse_local_moment("2023-11-15T00:12", kNow) == kNow - 20'001);
    CHECK(parse_local_moment("2023-11-14T22:13:20Z", kNow) == kNow);
    CHECK(parse_local_moment("today", kNow) == kStart);
    CHECK(parse_local_moment("yesterday", kNow) == kStart - 24 * 60 * kMinute);
    CHECK(parse_local_moment("30m", kNow) == kNow - 30 * kMinute);
    CHECK(parse_local_moment("7d", kNow) == parse_moment("7d", kNow));
    for (const auto* text : {"",
                             "m",
                             "0m",
                             "-1m",
                             "2023-02-30 10:00",
                             "2023-11-15 25:00",
                             "2023-11-15 00:13:",
                             "now"}) {
        INFO(text);
        CHECK_FALSE(parse_local_moment(text, kNow));
    }
    before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", saved.c_str(), 1);
    ::tzset();
}

TEST_CASE("a moment is written in UTC", "[base]") {
    CHECK(moment_text(1'700'000'000'250) == "2023-11-14T22:13:20Z");
}

TEST_CASE("a moment in UTC is shown in the user's time zone", "[base]") {
    const char* before = ::getenv("TZ");
    const std::string saved = before == nullptr ? "" : before;
    ::setenv("TZ", "TEST-2", 1);
    ::tzset();
    CHECK(local_time_text("2026-11-28T23:43:17Z") == "2026-11-29 01:43:17");
    CHECK(local_time_text("2026-11-28 08:43:17") == "2026-11-28 08:43:17");
    CHECK(parse_local_time("2026-11-28 10:43:17") ==
          parse_moment("2026-11-28T08:43:17Z", std::int64_t{0}));
    CHECK_FALSE(parse_local_time("2026-11-28"));
    CHECK(local_time_text("2026-11-28") == "2026-11-28");
    CHECK(local_time_text("").empty());
    before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", saved.c_str(), 1);
    ::tzset();
}

TEST_CASE("durations have a unit", "[base]") {
    CHECK(parse_duration("12h") == std::chrono::hours(12));
    CHECK(parse_duration("30d") == std::chrono::days(30));
    CHECK(parse_duration("2w") == std::chrono::weeks(2));
    CHECK_FALSE(parse_duration("12"));
    CHECK_FALSE(parse_duration("soon"));
}
