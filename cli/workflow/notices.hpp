#pragma once

// Notices of channels (CEP 6), for commands that are about something else: asked for while indexes
// are, at most once a day, and each shown once.

#include "cli/context.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/channel/notices.hpp"

#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace gpkg::cli {

class NoticeWatch {
public:
    /// Begins to ask those that are due.
    NoticeWatch(Context& context, std::span<const Channel> channels, bool offline);
    /// Shows what is there by now, once. Nobody waits for what is not: it is asked for the next
    /// time.
    void show();

private:
    Context& context_;
    std::vector<Channel> channels_;
    std::int64_t now_;
    std::optional<std::jthread> asking_;
};

/// "notice of conda-forge, critical (2022-05-10): ...", without control characters.
std::string notice_text(const Channel& channel, const Notice& notice);

}  // namespace gpkg::cli
