#include "libcore/base/text.hpp"
#include "libcore/net/fetch_internal.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>
#include <utility>

namespace gpkg {
namespace {

/// What If-Range may carry: a weak ETag does not promise the same bytes.
std::string resume_validator(const Head& head) {
    if (!head.accepts_ranges) return {};
    if (!head.etag.empty() && !head.etag.starts_with("W/")) return head.etag;
    return head.last_modified;
}

/// NotFound is the word of the server: a folder of ours that is missing must not read as one.
template <typename T>
Result<T> of_disk(Result<T> result) {
    if (!result && result.error().kind == ErrorKind::NotFound) result.error().kind = ErrorKind::Io;
    return result;
}

}  // namespace

Result<void> check_offline(Transport& transport,
                           const std::string& url,
                           const TransferOptions& options) {
    if (!options.offline || !needs_network(transport.mirrors(), url)) return {};
    return fail_offline(ErrorKind::Network,
                        without_secrets(url) + ": cannot be downloaded with --offline",
                        "run the command without --offline");
}

Fetch::Fetch(GetRequest wanted,
             Expected expected,
             std::size_t item,
             const TransferOptions& options,
             Mirrors* mirrors,
             std::function<void(const Fetch&)> finished)
    : wanted_(std::move(wanted)),
      expected_(std::move(expected)),
      item_(item),
      options_(options),
      finished_(std::move(finished)),
      mirrors_(mirrors),
      result_(fail(ErrorKind::Interrupted, without_secrets(wanted_.url) + ": interrupted")) {}

TransferRequest Fetch::request() {
    if (!choice_) choice_.emplace(mirrors_, wanted_.url, options_.offline);
    TransferRequest request;
    request.url = place();
    resuming_ = received_ > 0 && !validator_.empty();
    if (resuming_) {
        request.from = received_;
        request.if_range = validator_;
    } else if (!fallen_back_) {
        request.etag = wanted_.etag;
        // Mirrors differ in when they got a file.
        if (!choice_->is_mirrored()) request.last_modified = wanted_.last_modified;
    }
    return request;
}

bool Fetch::begin(const Head& head) {
    auto ready = prepare(head);
    if (!ready) problem_ = std::move(ready).error();
    return !problem_;
}

Result<void> Fetch::prepare(const Head& head) {
    const auto shown = without_secrets(place());
    if (head.status == 206) {
        if (!resuming_ || head.range_start != received_)
            return fail(ErrorKind::Network,
                        shown + ": the server sent an unexpected part of the file");
    } else {
        received_ = 0;
        body_.clear();
        told_ = {head.sha256, "", head.size};
        hasher_.emplace(digest_kind());
        file_.reset();
    }
    validator_ = resume_validator(head);
    total_ = head.length ? received_ + *head.length : 0;
    if (head.length && total_ > wanted_.most_bytes)
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: {} bytes exceed the limit of {} bytes", shown, total_, wanted_.most_bytes));
    for (const auto size : {expected_.size, told_.size}) {
        if (head.length && size != 0 && total_ != size)
            return wrong("size", std::to_string(size), std::to_string(total_));
    }
    if (total_ == 0) total_ = expected_.size;
    if (!file_ && !wanted_.into.empty()) GPKG_CHECK(of_disk(open_file()));
    return {};
}

/// Never one that was begun before: somebody may be reading that.
Result<void> Fetch::open_file() {
    GPKG_TRY(auto file, PartFile::create(wanted_.into));
    file_ = std::move(file);
    if (!wanted_.on_body) return {};
    // Who cannot read it while it arrives can do so afterwards.
    if (auto shared = file_->share()) wanted_.on_body(without_secrets(asked()), *std::move(shared));
    return {};
}

bool Fetch::receive(std::string_view bytes) {
    auto taken = take(bytes);
    if (!taken) problem_ = std::move(taken).error();
    return !problem_;
}

Result<void> Fetch::take(std::string_view bytes) {
    received_ += bytes.size();
    if (received_ > wanted_.most_bytes)
        return fail(
            ErrorKind::Integrity,
            fmt::format(
                "{}: exceeds the limit of {} bytes", without_secrets(place()), wanted_.most_bytes));
    if (expected_.size != 0 && received_ > expected_.size)
        return wrong("size", std::to_string(expected_.size), "more");
    hasher_->update(bytes);
    if (file_) {
        GPKG_CHECK(of_disk(file_->write(bytes)));
    } else {
        body_.append(bytes);
    }
    if (options_.on_progress) options_.on_progress({item_, received_, total_});
    return {};
}

std::optional<std::chrono::milliseconds> Fetch::end(const Head& head, const Failure* failure) {
    ++tries_;
    if (problem_) {
        auto problem = *std::exchange(problem_, std::nullopt);
        if (ask_again()) return std::chrono::milliseconds(0);
        return settle(pass(std::move(problem)));
    }

    const bool stopped = failure != nullptr && failure->kind == Failure::Kind::Stopped;
    const bool refused = failure == nullptr && head.status >= 400;
    if (failure == nullptr && (head.status == 200 || head.status == 206)) {
        auto done = complete(head);
        if (done) return settle(std::move(result_));
        if (ask_again()) return std::chrono::milliseconds(0);
        return settle(pass(std::move(done).error()));
    }
    const bool asked_whether = !wanted_.etag.empty() || !wanted_.last_modified.empty();
    if (failure == nullptr && head.status == 304 && asked_whether && !fallen_back_ && !resuming_) {
        Response response;
        response.asked = asked();
        response.url = head.url;
        response.not_modified = true;
        response.etag = head.etag;
        response.last_modified = head.last_modified;
        response.max_age = max_age_of(head.cache_control, head.age);
        return settle(std::move(response));
    }
    if (refused && means_absent(head.status) && !fallen_back_ && !wanted_.fallback_url.empty()) {
        fallen_back_ = true;
        tries_ = 0;
        received_ = 0;
        return std::chrono::milliseconds(0);
    }
    if (refused && head.status == 416 && resuming_ && tries_ < options_.retry.tries) {
        received_ = 0;  // the file became shorter: from the beginning
        return std::chrono::milliseconds(0);
    }
    if (!stopped) {
        const bool elsewhere = failure == nullptr && choice_->has_next();
        const auto wait =
            elsewhere ? std::nullopt : wait_before_retry(options_.retry, tries_, head, failure);
        if (wait) {
            if (failure == nullptr && head.retry_after.count() > 0 && options_.on_wait)
                options_.on_wait({without_secrets(place()), head.retry_after, *wait});
            return wait;
        }
    }
    auto error = transfer_error(place(), head, failure);
    if (tries_ > 1 && !stopped) error.message += fmt::format(" after {} attempts", tries_);
    return settle(pass(std::move(error)));
}

/// What a cache or a proxy on the way mangled once often comes whole the second time.
bool Fetch::ask_again() {
    if (!mangled_ || asked_again_ || choice_->has_next() || place().starts_with("file:"))
        return false;
    mangled_ = false;
    asked_again_ = true;
    received_ = 0;
    return true;
}

Result<void> Fetch::complete(const Head& head) {
    digest_ = std::move(*hasher_).hex();
    hasher_.reset();
    GPKG_CHECK(check());
    if (file_) {
        GPKG_CHECK(of_disk(file_->put_in_place()));
        file_.reset();
    }
    Response response;
    response.asked = asked();
    response.url = head.url;
    response.body = std::move(body_);
    response.size = received_;
    if (digest_kind() == DigestKind::Sha256) response.sha256 = digest_;
    response.etag = head.etag;
    response.last_modified = head.last_modified;
    response.max_age = max_age_of(head.cache_control, head.age);
    result_ = std::move(response);
    return {};
}

Result<void> Fetch::check() {
    if (expected_.size != 0 && received_ != expected_.size)
        return wrong("size", std::to_string(expected_.size), std::to_string(received_));
    if (!expected_.sha256.empty() && digest_ != to_lower(expected_.sha256))
        return wrong("sha256", expected_.sha256, digest_);
    if (digest_kind() == DigestKind::Sha256 && !told_.sha256.empty() && digest_ != told_.sha256)
        return wrong("sha256", told_.sha256, digest_);
    if (expected_.sha256.empty() && !expected_.md5.empty() && digest_ != to_lower(expected_.md5))
        return wrong("md5", expected_.md5, digest_);
    return {};
}

/// From the beginning, at the next mirror, where the failure is that of this one.
bool Fetch::ask_elsewhere(Error& error) {
    const bool is_ours = error.kind == ErrorKind::Interrupted || error.kind == ErrorKind::Io ||
                         (error.kind == ErrorKind::Integrity && !mangled_) ||
                         (error.kind == ErrorKind::NotFound && wanted_.is_optional);
    if (!choice_ || is_ours || !choice_->next(error)) return false;
    fallen_back_ = false;
    mangled_ = false;
    tries_ = 0;
    received_ = 0;
    return true;
}

std::optional<std::chrono::milliseconds> Fetch::settle(Result<Response> result) {
    file_.reset();
    if (!result && ask_elsewhere(result.error())) return std::chrono::milliseconds(0);
    if (result && choice_) choice_->succeeded();
    result_ = std::move(result);
    if (finished_) finished_(*this);
    return std::nullopt;
}

DigestKind Fetch::digest_kind() const {
    return expected_.sha256.empty() && !expected_.md5.empty() ? DigestKind::Md5
                                                              : DigestKind::Sha256;
}

tl::unexpected<Error> Fetch::wrong(std::string_view what,
                                   const std::string& expected,
                                   const std::string& got) {
    mangled_ = true;
    const auto from = without_secrets(place());
    const auto* mending =
        from.starts_with("file:")
            ? "tell the channel's operator; for the operator: gpkg index FOLDER; if "
              "the checksum is from a lock, write the lock again"
            : "try again later, then tell the channel's operator";
    return fail(ErrorKind::Integrity,
                fmt::format("{}: wrong {}: expected {}, got {}", from, what, expected, got),
                fmt::format("the file was changed, or its checksum is outdated: {}", mending));
}

}  // namespace gpkg
