#include "cli/workflow/trace.hpp"

#include "libcore/net/url.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace gpkg::cli {
namespace {

using TraceClock = std::chrono::steady_clock;

double elapsed_seconds(TraceClock::time_point start) {
    return std::chrono::duration<double>(TraceClock::now() - start).count();
}

/// Passes everything on, and prints each try when it ends.
class TracedExchange : public Exchange {
public:
    TracedExchange(Output& out, Exchange& exchange) : out_(out), exchange_(exchange) {}

    TransferRequest request() override {
        auto request = exchange_.request();
        url_ = without_secrets(request.url);
        bytes_ = 0;
        started_ = TraceClock::now();
        return request;
    }
    bool begin(const Head& head) override { return exchange_.begin(head); }
    bool receive(std::string_view bytes) override {
        bytes_ += bytes.size();
        return exchange_.receive(bytes);
    }
    std::optional<std::chrono::milliseconds> end(const Head& head,
                                                 const Failure* failure) override {
        const auto amount =
            fmt::format("{} in {:.3f} s", human_size(bytes_), elapsed_seconds(started_));
        if (is_local_file(url_)) {
            const auto* outcome = failure == nullptr && head.status != 404 ? "" : "failed, ";
            out_.note(fmt::format("read {}: {}{}", url_, outcome, amount));
        } else {
            const auto outcome = failure == nullptr ? fmt::format("{}", head.status)
                                 : head.status != 0 ? fmt::format("{}, incomplete", head.status)
                                                    : "no response";
            out_.note(fmt::format("GET {}: {}, {}", url_, outcome, amount));
        }
        return exchange_.end(head, failure);
    }

private:
    Output& out_;
    Exchange& exchange_;
    std::string url_;
    std::uint64_t bytes_ = 0;
    TraceClock::time_point started_;
};

class TracedTransport : public Transport {
public:
    TracedTransport(Output& out, std::shared_ptr<Transport> transport)
        : out_(out), transport_(std::move(transport)) {}

    void run(std::span<Exchange* const> exchanges,
             std::size_t parallel,
             const std::stop_token& stop) override {
        std::vector<TracedExchange> traced;
        traced.reserve(exchanges.size());
        std::vector<Exchange*> pointers;
        for (auto* exchange : exchanges) pointers.push_back(&traced.emplace_back(out_, *exchange));
        transport_->run(pointers, parallel, stop);
    }
    void prepare() override { transport_->prepare(); }
    Mirrors* mirrors() override { return transport_->mirrors(); }

private:
    Output& out_;
    std::shared_ptr<Transport> transport_;
};

}  // namespace

Phase::Phase(Output& out, std::string name)
    : out_(out), name_(std::move(name)), started_(TraceClock::now()) {}

Phase::~Phase() {
    if (out_.verbosity() < 1) return;
    const auto details = details_.empty() ? "" : fmt::format(" ({})", fmt::join(details_, ", "));
    out_.note(fmt::format("{}: {:.3f} s{}", name_, elapsed_seconds(started_), details));
}

void Phase::add(std::string detail) {
    if (!detail.empty()) details_.push_back(std::move(detail));
}

bool is_local_file(std::string_view url) { return url.starts_with("file:"); }

std::shared_ptr<Transport> traced(Output& out, std::shared_ptr<Transport> transport) {
    if (out.verbosity() < 2) return transport;
    return std::make_shared<TracedTransport>(out, std::move(transport));
}

}  // namespace gpkg::cli
