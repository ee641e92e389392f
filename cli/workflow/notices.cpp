#include "cli/workflow/notices.hpp"

#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// CEP 6 has messages of the size of a tweet.
constexpr std::size_t kLongestMessage = 1000;

}  // namespace

NoticeWatch::NoticeWatch(Context& context, std::span<const Channel> channels, bool offline)
    : context_(context), now_(std::time(nullptr)) {
    const auto& config = context.config;
    if (config.number_channel_notices.value == 0 || offline || !context.out.takes_notes()) return;
    // Who says that a channel has to be signed wants no unsigned word of it.
    const auto trust = trust_options(context);
    if (!trust) return;
    std::vector<Channel> due;
    for (const auto& channel : channels) {
        if (channel.is_local() || trust->roots.contains(channel.base_url())) continue;
        channels_.push_back(channel);
        if (!has_fresh_notices(channel, config.index_cache(), now_)) due.push_back(channel);
    }
    if (due.empty()) return;
    auto transport = transport_options(context);
    if (!transport) return;
    transport->on_mirror_failed = nullptr;
    asking_.emplace([options = *std::move(transport),
                     due = std::move(due),
                     cache = config.index_cache(),
                     now = now_](const std::stop_token& stop) mutable {
        TransferOptions how;
        how.retry.tries = 1;
        how.stop = stop;
        const auto own = make_transport(std::move(options));
        (void)ask_for_notices(*own, due, cache, now, how);
    });
}

void NoticeWatch::show() {
    asking_.reset();  // stops it
    const auto& config = context_.config;
    if (channels_.empty()) return;
    SeenNotices seen(config.index_cache(), now_);
    int left = config.number_channel_notices.value;
    for (const auto& channel : channels_) {
        const auto notices = kept_notices(channel, config.index_cache(), now_);
        if (!notices) continue;
        for (const auto& notice : *notices) {
            if (left == 0 || seen.has(channel, notice)) continue;
            context_.out.note(notice_text(channel, notice));
            seen.add(channel, notice);
            --left;
        }
    }
    (void)seen.save();
    channels_.clear();
}

std::string notice_text(const Channel& channel, const Notice& notice) {
    auto message = without_controls(notice.message);
    if (message.size() > kLongestMessage) {
        auto end = kLongestMessage;
        while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;
        message = message.substr(0, end) + "...";
    }
    // A line of it must not look as if gpkg said it.
    std::string text;
    for (const auto line : split(message, '\n')) text += fmt::format("\n  {}", trim(line));
    const auto day = notice.created_at == 0
                         ? std::string()
                         : fmt::format(" ({:%Y-%m-%d})",
                                       fmt::gmtime(static_cast<std::time_t>(notice.created_at)));
    return fmt::format("notice from {}, {}{}:{}", channel.name(), notice.level, day, text);
}

}  // namespace gpkg::cli
