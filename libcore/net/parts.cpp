#include "libcore/net/parts.hpp"

#include "libcore/net/fetch_internal.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

/// The exchange about one part: all in memory, begun anew where the transfer breaks off.
class PartFetch final : public Exchange {
public:
    PartFetch(const PartRequest& wanted,
              std::size_t item,
              const TransferOptions& options,
              Mirrors* mirrors)
        : wanted_(wanted),
          item_(item),
          options_(options),
          mirrors_(mirrors),
          result_(fail(ErrorKind::Interrupted, shown() + ": interrupted")) {}

    TransferRequest request() override {
        TransferRequest request;
        if (!choice_) choice_.emplace(mirrors_, wanted_.url, options_.offline);
        request.url = place();
        request.from = wanted_.from;
        request.count = wanted_.count;
        request.at_end = wanted_.at_end;
        return request;
    }

    bool begin(const Head& head) override {
        part_ = {};
        auto ready = prepare(head);
        if (!ready) problem_ = std::move(ready).error();
        return !problem_;
    }

    bool receive(std::string_view bytes) override {
        if (part_.bytes.size() + bytes.size() > most_) {
            problem_ = is_part_ ? not_asked_for() : too_large();
            return false;
        }
        part_.bytes.append(bytes);
        if (options_.on_progress) options_.on_progress({item_, part_.bytes.size(), most_});
        return true;
    }

    std::optional<std::chrono::milliseconds> end(const Head& head,
                                                 const Failure* failure) override {
        ++tries_;
        if (problem_) return settle(pass(*std::exchange(problem_, std::nullopt)));
        if (failure == nullptr && (head.status == 200 || head.status == 206)) {
            if (!is_part_) part_.whole = part_.bytes.size();
            const bool is_short = is_part_ && part_.bytes.size() != most_;
            return settle(is_short ? pass(not_asked_for()) : Result<FilePart>(std::move(part_)));
        }
        const bool stopped = failure != nullptr && failure->kind == Failure::Kind::Stopped;
        const bool elsewhere = failure == nullptr && choice_->has_next();
        const auto wait = stopped || elsewhere
                              ? std::nullopt
                              : wait_before_retry(options_.retry, tries_, head, failure);
        if (wait) {
            if (failure == nullptr && head.retry_after.count() > 0 && options_.on_wait)
                options_.on_wait({shown(), head.retry_after, *wait});
            return wait;
        }
        auto error = transfer_error(place(), head, failure);
        if (tries_ > 1 && !stopped) error.message += fmt::format(" after {} attempts", tries_);
        if (!stopped && choice_ && choice_->next(error)) {
            tries_ = 0;
            return std::chrono::milliseconds(0);
        }
        return settle(pass(std::move(error)));
    }

    const Result<FilePart>& result() const { return result_; }

private:
    /// Sets how many bytes may come.
    Result<void> prepare(const Head& head) {
        is_part_ = head.status == 206;
        if (!is_part_) {
            most_ = wanted_.most_whole;
            if (head.length && *head.length > most_) return pass(too_large());
            return {};
        }
        // Without its size nothing tells where the last bytes of a file begin.
        if (!head.whole || *head.whole == 0) return pass(not_asked_for());
        const auto whole = *head.whole;
        const auto from = !wanted_.at_end         ? wanted_.from
                          : whole > wanted_.count ? whole - wanted_.count
                                                  : 0;
        if (head.range_start != from || from >= whole) return pass(not_asked_for());
        most_ = std::min(wanted_.count, whole - from);
        if (head.length && *head.length != most_) return pass(not_asked_for());
        part_.from = from;
        part_.whole = whole;
        return {};
    }

    std::optional<std::chrono::milliseconds> settle(Result<FilePart> result) {
        if (result && choice_) choice_->succeeded();
        result_ = std::move(result);
        return std::nullopt;
    }

    std::string place() const { return choice_ ? choice_->of(wanted_.url) : wanted_.url; }
    std::string shown() const { return without_secrets(place()); }

    Error not_asked_for() const {
        return {ErrorKind::Network,
                shown() + ": the server sent an unexpected part of the file",
                "",
                {}};
    }

    Error too_large() const {
        return {ErrorKind::Unsupported,
                fmt::format(
                    "{}: the server does not support range requests, and the file exceeds {} bytes",
                    shown(),
                    wanted_.most_whole),
                "",
                {}};
    }

    PartRequest wanted_;
    std::size_t item_;
    const TransferOptions& options_;
    Mirrors* mirrors_;
    std::optional<MirrorChoice> choice_;

    int tries_ = 0;
    bool is_part_ = false;    ///< and not the whole
    std::uint64_t most_ = 0;  ///< bytes of the answer at hand
    FilePart part_;
    std::optional<Error> problem_;  ///< why this rejected the answer
    Result<FilePart> result_;
};

}  // namespace

std::vector<Result<FilePart>> get_parts(Transport& transport,
                                        std::span<const PartRequest> requests,
                                        const TransferOptions& options) {
    std::deque<PartFetch> fetches;
    std::vector<Exchange*> exchanges;
    std::vector<Result<void>> allowed;
    exchanges.reserve(requests.size());
    allowed.reserve(requests.size());
    for (const auto& request : requests) {
        fetches.emplace_back(request, fetches.size(), options, transport.mirrors());
        allowed.push_back(check_offline(transport, request.url, options));
        if (allowed.back()) exchanges.push_back(&fetches.back());
    }
    transport.run(exchanges, options.parallel, options.stop);

    std::vector<Result<FilePart>> results;
    results.reserve(fetches.size());
    for (std::size_t i = 0; i < fetches.size(); ++i)
        results.push_back(allowed[i] ? fetches[i].result() : pass(std::move(allowed[i]).error()));
    return results;
}

}  // namespace gpkg
