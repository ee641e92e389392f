#pragma once

// Getting what has no known checksum: indexes, small files. Packages come through download.hpp.

#include "libcore/fs/arriving_file.hpp"
#include "libcore/net/outcome.hpp"
#include "libcore/net/transport.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace gpkg {

/// How far the transfers of one call are. Told from the thread that made the call, for each piece
/// received.
struct TransferProgress {
    std::size_t item = 0;     ///< index into the span that was asked for
    std::uint64_t done = 0;   ///< bytes so far; falls back when a try starts over
    std::uint64_t total = 0;  ///< 0: unknown
};

/// A pause before the next try that the server asked for (Retry-After).
struct TransferWait {
    std::string url;                 ///< of the file, without secrets
    std::chrono::seconds asked{0};   ///< what the server wants
    std::chrono::milliseconds wait;  ///< what it gets: RetryPolicy has a limit
};

/// The callbacks must not throw: they are reached through C.
struct TransferOptions {
    std::size_t parallel = 8;
    bool offline = false;  ///< ask no server: what needs the network fails (needs_network)
    RetryPolicy retry;
    std::stop_token stop;  ///< requested: the call returns soon, with Interrupted
    std::function<void(const TransferProgress&)> on_progress;
    std::function<void(const TransferWait&)> on_wait;
};

struct GetRequest {
    std::string url;
    std::string etag{};           ///< with these the answer may be "not modified"
    std::string last_modified{};  ///< likewise
    bool is_optional = false;     ///< that one mirror has none is believed
    std::string
        fallback_url{};  ///< asked, without validators, where `url` is absent (means_absent)
    fs::path into{};     ///< the body becomes this file, replaced whole; empty: Response::body
    /// For who reads what goes to `into` while it arrives: called when a body begins, with the URL
    /// asked, without secrets. Where it begins anew, what came before is abandoned, and the last is
    /// the one that counts.
    std::function<void(const std::string& url, std::shared_ptr<ArrivingFile> body)> on_body{};
    std::uint64_t most_bytes = 256U << 20U;  ///< a longer body is refused
};

struct Response {
    std::string asked;  ///< `url` or `fallback_url`
    std::string url;    ///< where the answer came from after redirects
    bool not_modified = false;
    std::string body;
    std::uint64_t size = 0;  ///< of the body
    std::string sha256;      ///< of the body
    std::string etag;
    std::string last_modified;  ///< empty where the file may have changed within that second
    std::optional<std::chrono::seconds> max_age;  ///< by Cache-Control
};

/// NotFound when, and only when, the server says so; Io of the disk, Network for other refusals,
/// Interrupted when stopped.
Result<Response> get(Transport& transport,
                     const GetRequest& request,
                     const TransferOptions& options = {});

/// The same for many at a time; the results stand in the order of the requests.
std::vector<Result<Response>> get_all(Transport& transport,
                                      std::span<const GetRequest> requests,
                                      const TransferOptions& options = {});

}  // namespace gpkg
