#pragma once

// The exchange behind get() and download_all(): receives one body into memory or a file, checks it
// on the way, tries again where that helps, and goes on where a broken transfer ended if it can.

#include "libcore/base/digest.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/part_file_internal.hpp"

namespace gpkg {

/// What is known of a body before it is asked for.
struct Expected {
    std::string sha256;
    std::string md5;
    std::uint64_t size = 0;
};

/// Fails where `options` are offline and only a server has `url`.
Result<void> check_offline(Transport& transport,
                           const std::string& url,
                           const TransferOptions& options);

class Fetch final : public Exchange {
public:
    /// `finished` is told once, when the result is certain. All references outlive this.
    Fetch(GetRequest wanted,
          Expected expected,
          std::size_t item,
          const TransferOptions& options,
          Mirrors* mirrors,
          std::function<void(const Fetch&)> finished = {});

    TransferRequest request() override;
    bool begin(const Head& head) override;
    bool receive(std::string_view bytes) override;
    std::optional<std::chrono::milliseconds> end(const Head& head, const Failure* failure) override;

    std::size_t item() const { return item_; }
    const Result<Response>& result() const { return result_; }

private:
    Result<void> prepare(const Head& head);
    Result<void> open_file();
    Result<void> take(std::string_view bytes);
    Result<void> complete(const Head& head);
    Result<void> check();
    bool ask_again();
    std::optional<std::chrono::milliseconds> settle(Result<Response> result);
    const std::string& asked() const { return fallen_back_ ? wanted_.fallback_url : wanted_.url; }
    /// Where that is asked for.
    std::string place() const { return choice_ ? choice_->of(asked()) : asked(); }
    bool ask_elsewhere(Error& error);
    DigestKind digest_kind() const;
    tl::unexpected<Error> wrong(std::string_view what,
                                const std::string& expected,
                                const std::string& got);

    GetRequest wanted_;
    Expected expected_;
    Expected told_;  ///< by a registry, of the body on its way
    std::size_t item_;
    const TransferOptions& options_;
    std::function<void(const Fetch&)> finished_;

    Mirrors* mirrors_;
    std::optional<MirrorChoice> choice_;  ///< made with the first question

    bool fallen_back_ = false;
    bool mangled_ = false;      ///< what came is not what was promised
    bool asked_again_ = false;  ///< because of that
    int tries_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t total_ = 0;  ///< 0: unknown
    std::string validator_;    ///< with it a broken transfer can go on; empty: it cannot
    bool resuming_ = false;
    std::optional<Hasher> hasher_;
    std::string digest_;
    std::string body_;
    std::optional<PartFile> file_;
    std::optional<Error> problem_;  ///< why this rejected the answer
    Result<Response> result_;
};

}  // namespace gpkg
