#include "cli/workflow/progress.hpp"

#include "libcore/net/url.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{80};
constexpr std::size_t kLongestBar = 24;
constexpr std::size_t kBarShare = 6;  ///< of the line
constexpr std::size_t kNarrow = 48;   ///< a line without a bar
/// The rate is that of this long.
constexpr std::chrono::seconds kWindow{5};
/// Before that a rate would be a guess.
constexpr double kFirstRate = 0.5;
/// Before that, and with less done, the time left would be a guess.
constexpr double kFirstEstimate = 3;
constexpr double kLeastDone = 0.1;
/// How much of a new estimate counts: the time shown does not jump.
constexpr double kNewEstimate = 0.05;
/// Two waits that end so close to each other are one for the user.
constexpr std::chrono::seconds kSameMoment{2};

/// "3 s left", "2 min 5 s left", "1 h 5 min left".
std::string remaining(double seconds) {
    constexpr long kMinute = 60;
    constexpr long kHour = 3600;
    constexpr double kLongest = 359999;  // 99 hours
    const auto whole = std::lround(std::ceil(std::clamp(seconds, 1.0, kLongest)));
    if (whole < kMinute) return fmt::format("{} s left", whole);
    if (whole < kHour) return fmt::format("{} min {} s left", whole / kMinute, whole % kMinute);
    return fmt::format("{} h {} min left", whole / kHour, whole % kHour / kMinute);
}

/// The full part and the rest.
std::pair<std::string, std::string> bar(double fraction, std::size_t width, bool utf8) {
    const auto full =
        static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
    std::pair<std::string, std::string> parts;
    for (std::size_t i = 0; i < width; ++i) {
        if (i < full)
            parts.first += utf8 ? "━" : "=";
        else
            parts.second += utf8 ? "─" : "-";
    }
    return parts;
}

/// "14:05:09", this machine's time.
std::string clock_time(std::time_t moment) {
    std::tm parts{};
    ::localtime_r(&moment, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

bool Progress::due() {
    const auto now = Clock::now();
    if (drawn_ > 0 && now - last_ < kRedraw) return false;
    last_ = now;
    return true;
}

double Progress::rate(std::string_view doing, double done) {
    const auto now = Clock::now();
    if (doing_ != doing || (!samples_.empty() && done < samples_.back().second)) {
        doing_ = doing;
        samples_.clear();
        started_ = now;
        first_done_ = done;
        seconds_left_ = 0;
    }
    samples_.emplace_back(now, done);
    while (samples_.size() > 2 && now - samples_.front().first > kWindow) samples_.pop_front();
    const std::chrono::duration<double> spent = now - samples_.front().first;
    return spent.count() < kFirstRate ? 0 : (done - samples_.front().second) / spent.count();
}

std::string Progress::time_left(double done, double total, double rate) {
    const auto now = Clock::now();
    const auto seconds = [](Clock::duration time) {
        return std::chrono::duration<double>(time).count();
    };
    const double spent = seconds(now - started_);
    if (rate <= 0 || done >= total || spent < kFirstEstimate || done < kLeastDone * total)
        return {};
    // Files differ in size: the rate since the start is steadier than that of the last seconds.
    const double since_start = (done - first_done_) / spent;
    const double estimate = (total - done) / ((rate + since_start) / 2);
    if (seconds_left_ <= 0) {
        seconds_left_ = estimate;
    } else {
        seconds_left_ = std::max(seconds_left_ - seconds(now - estimated_), 1.0);
        seconds_left_ += kNewEstimate * (estimate - seconds_left_);
    }
    estimated_ = now;
    return remaining(seconds_left_);
}

std::string Progress::joined(std::vector<Part> parts, std::size_t room) {
    const auto line = [&] {
        std::string text;
        for (const auto& part : parts) text += (text.empty() ? "" : "  ") + part.text;
        return text;
    };
    while (parts.size() > 1 && line().size() > room)
        parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
    return line();
}

void Progress::draw(std::vector<Part> parts, double fraction) {
    const auto screen = out_.progress_screen();
    const auto bar_width =
        screen.width < kNarrow ? 0 : std::min(screen.width / kBarShare, kLongestBar);
    // The last column would wrap on some terminals; a blank stands behind the bar.
    const auto room = screen.width - 1 - (bar_width > 0 ? bar_width + 1 : 0);
    auto line = shortened(joined(std::move(parts), room), room, Keep::Start, screen.utf8);
    if (bar_width > 0) {
        const auto [full, rest] = bar(fraction, bar_width, screen.utf8);
        line = fmt::format("{}{} {}",
                           full.empty() ? full : out_.styled_on_stderr(Style::Cyan, full),
                           rest.empty() ? rest : out_.styled_on_stderr(Style::Faint, rest),
                           line);
    }
    const auto drawn = display_width(line);
    // Spaces overwrite what is left of the line before: no escape code is needed.
    const std::string blanks(drawn_ > drawn ? drawn_ - drawn : 0, ' ');
    std::fputs(fmt::format("\r{}{}", line, blanks).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = drawn;
}

void Progress::count(std::string_view doing,
                     std::size_t done,
                     std::size_t total,
                     std::string_view what) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    if (!due()) return;
    const auto speed = rate(doing, static_cast<double>(done));
    std::vector<Part> parts{
        {fmt::format("{:<10} {}/{}{}{}", doing, done, total, what.empty() ? "" : " ", what)}};
    if (auto left = time_left(static_cast<double>(done), static_cast<double>(total), speed);
        !left.empty())
        parts.push_back({std::move(left), 1});
    draw(std::move(parts), total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
}

void Progress::bytes(std::string_view doing,
                     std::size_t done_items,
                     std::size_t items,
                     std::uint64_t done,
                     std::uint64_t total) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    if (!due()) return;
    const auto speed = rate(doing, static_cast<double>(done));
    std::vector<Part> parts{{fmt::format("{:<10} {}/{}", doing, done_items, items)}};
    parts.push_back({total > 0 ? fmt::format("{} of {}", human_size(done), human_size(total))
                               : human_size(done),
                     2});
    if (speed > 0) parts.push_back({human_size(static_cast<std::uint64_t>(speed)) + "/s", 3});
    if (auto left = time_left(static_cast<double>(done), static_cast<double>(total), speed);
        !left.empty())
        parts.push_back({std::move(left), 1});
    draw(std::move(parts), total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
}

void Progress::clear() {
    const std::lock_guard lock(mutex_);
    if (drawn_ == 0) return;
    std::fputs(fmt::format("\r{}\r", std::string(drawn_, ' ')).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = 0;
}

void WaitWarnings::operator()(const TransferWait& wait) {
    const auto url = Url::parse(wait.url);
    const auto server = url ? url->origin() : wait.url;
    const auto until = std::chrono::steady_clock::now() + wait.wait;
    const auto [told, is_first] = told_.try_emplace(server, until);
    if (!is_first && until < told->second + kSameMoment) return;
    told->second = until;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait.wait).count();
    progress_.clear();
    out_.warn(fmt::format("{} asks to wait {} s; the next try is at {}, in {} s",
                          server,
                          wait.asked.count(),
                          clock_time(std::time(nullptr) + seconds),
                          seconds));
}

}  // namespace gpkg::cli
