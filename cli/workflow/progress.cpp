#include "cli/workflow/progress.hpp"

#include "libcore/net/url.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{80};
constexpr int kBar = 24;
/// Two waits that end so near to each other are one for a person.
constexpr std::chrono::seconds kSameMoment{2};

/// "14:05:09", this machine's time.
std::string clock_time(std::time_t moment) {
    std::tm parts{};
    ::localtime_r(&moment, &parts);
    return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

bool Progress::due() {
    const auto now = std::chrono::steady_clock::now();
    if (drawn_ && now - last_ < kRedraw) return false;
    last_ = now;
    return true;
}

void Progress::draw(const std::string& text, double fraction) {
    const auto full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * kBar);
    std::string bar;
    for (int i = 0; i < kBar; ++i) bar += i < full ? "━" : "─";
    auto line = text;
    const auto room = static_cast<std::size_t>(std::max(10, out_.width() - kBar - 4));
    if (line.size() > room) line.resize(room);
    std::fputs(fmt::format("\r\x1b[2K{} {}", bar, line).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
}

void Progress::count(std::string_view doing,
                     std::size_t done,
                     std::size_t total,
                     std::string_view what) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    if (!due()) return;
    draw(fmt::format("{:<10} {}/{} {}", doing, done, total, what),
         total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
}

void Progress::bytes(std::string_view doing,
                     std::size_t done_items,
                     std::size_t items,
                     std::uint64_t done,
                     std::uint64_t total) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    if (!due()) return;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    const auto speed = spent.count() > 0.2 ? static_cast<double>(done) / spent.count() : 0;
    auto text = fmt::format("{:<10} {}/{}  {}", doing, done_items, items, human_size(done));
    if (total > 0) text += " of " + human_size(total);
    if (speed > 0) text += fmt::format("  {}/s", human_size(static_cast<std::uint64_t>(speed)));
    draw(text, total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total));
}

void Progress::clear() {
    const std::lock_guard lock(mutex_);
    if (!drawn_) return;
    std::fputs("\r\x1b[2K", stderr);
    std::fflush(stderr);
    drawn_ = false;
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
    out_.warn(fmt::format("{} asks to wait {} s: the next try is at {}, in {} s",
                          server,
                          wait.asked.count(),
                          clock_time(std::time(nullptr) + seconds),
                          seconds));
}

}  // namespace gpkg::cli
