#pragma once

// Judging how a transfer ended: what to tell a person, and whether another try can help.

#include "libcore/net/transport.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace gpkg {

/// When and how often to try again.
struct RetryPolicy {
    int tries = 4;                                   ///< all in all
    std::chrono::milliseconds first_wait{500};       ///< doubled after each try
    std::chrono::milliseconds longest_wait{30'000};  ///< also for what the server asks for
    /// Up to this part of a wait is added by chance: many who failed together ask again apart.
    double jitter = 0.25;
};

/// How long to wait before try number `done` + 1, or nothing when it is not worth it: only 408,
/// 429, 5xx that pass, broken and stalled connections are tried again.
std::optional<std::chrono::milliseconds> wait_before_retry(const RetryPolicy& policy,
                                                           int done,
                                                           const Head& head,
                                                           const Failure* failure);

/// The failure of asking `url` as text for a person. Secrets in the URL are not shown.
Error transfer_error(std::string_view url, const Head& head, const Failure* failure);

/// Where a redirect from `from` to `location` (absolute) leads, with the login of `from` where the
/// origin stays the same. From https only to https, never to a file; the error is the reason alone.
Result<std::string> redirect_target(std::string_view from, std::string_view location);

/// How long an answer stays fresh by its Cache-Control header, less its Age header (RFC 9111);
/// nothing when it does not say.
std::optional<std::chrono::seconds> max_age_of(std::string_view cache_control,
                                               std::string_view age = {});

/// Whether an answer with this status may mean that the server lacks the file: any 4xx, because
/// servers of objects forbid what is not there. Not those about the proxy (407), about the range
/// (416) and those that pass (408, 429).
bool means_absent(int status);
/// The same for a failed transfer.
bool says_absent(const Error& error);

}  // namespace gpkg
