#include "libcore/net/get.hpp"

#include "libcore/net/download.hpp"
#include "libcore/net/fetch_internal.hpp"
#include "libcore/net/url.hpp"

#include <deque>
#include <fmt/format.h>

namespace gpkg {
namespace {

/// A checksum that cannot be one must not read as "none known".
Result<void> check_expectations(const Download& download) {
    const auto bad = [&](std::string_view kind, const std::string& text) {
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: '{}' is not a valid {} checksum", without_secrets(download.url), text, kind));
    };
    if (!download.sha256.empty() && !is_hex(download.sha256, 64))
        return bad("sha256", download.sha256);
    if (!download.md5.empty() && !is_hex(download.md5, 32)) return bad("md5", download.md5);
    return {};
}

}  // namespace

Result<Response> get(Transport& transport,
                     const GetRequest& request,
                     const TransferOptions& options) {
    return std::move(get_all(transport, std::span(&request, 1), options).front());
}

std::vector<Result<Response>> get_all(Transport& transport,
                                      std::span<const GetRequest> requests,
                                      const TransferOptions& options) {
    std::deque<Fetch> fetches;
    std::vector<Exchange*> exchanges;
    std::vector<Result<void>> allowed;
    exchanges.reserve(requests.size());
    allowed.reserve(requests.size());
    for (const auto& request : requests) {
        fetches.emplace_back(request, Expected{}, fetches.size(), options, transport.mirrors());
        allowed.push_back(check_offline(transport, request.url, options));
        if (allowed.back()) exchanges.push_back(&fetches.back());
    }
    transport.run(exchanges, options.parallel, options.stop);

    std::vector<Result<Response>> results;
    results.reserve(fetches.size());
    for (std::size_t i = 0; i < fetches.size(); ++i)
        results.push_back(allowed[i] ? fetches[i].result() : pass(std::move(allowed[i]).error()));
    return results;
}

Result<void> download_all(Transport& transport,
                          std::span<const Download> downloads,
                          const DownloadOptions& options) {
    for (const auto& download : downloads) {
        GPKG_CHECK(check_expectations(download));
        GPKG_CHECK(check_offline(transport, download.url, options));
    }

    // Stops what still runs, on the caller's wish or after a failure.
    std::stop_source give_up;
    const std::stop_callback chained(options.stop, [&] { give_up.request_stop(); });
    std::optional<Error> failure;
    const auto finished = [&](const Fetch& fetch) {
        if (fetch.result()) {
            if (options.on_finished) options.on_finished(fetch.item());
        } else if (!failure) {
            failure = fetch.result().error();
            if (options.on_failed) options.on_failed(fetch.item());
            give_up.request_stop();
        }
    };

    std::deque<Fetch> fetches;
    std::vector<Exchange*> exchanges;
    exchanges.reserve(downloads.size());
    for (const auto& download : downloads) {
        GetRequest request;
        request.url = download.url;
        request.into = download.destination;
        request.most_bytes = download.most_bytes;
        request.on_body = download.on_body;
        fetches.emplace_back(std::move(request),
                             Expected{download.sha256, download.md5, download.size},
                             fetches.size(),
                             options,
                             transport.mirrors(),
                             finished);
        exchanges.push_back(&fetches.back());
    }
    transport.run(exchanges, options.parallel, give_up.get_token());
    if (failure) return pass(*std::move(failure));
    return {};
}

}  // namespace gpkg
