#pragma once

// Files of channels that registries of container images keep: oci://host/channel/subdir/FILE. The
// layout is that of conda-oci-mirror and the draft CEP for it; the questions are those of the OCI
// distribution specification: which layer of the artifact is the file, then that layer, each asked
// again with a token where the registry wants one.

#include "libcore/base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

/// Where a file of a channel is.
struct OciFile {
    std::string registry;    ///< "https://ghcr.io"; of this machine itself http
    std::string repository;  ///< "channel-mirrors/conda-forge/linux-64/zzz_libgcc_mutex"
    std::string tag;         ///< "0.1-conda_forge"
    std::string media_type;  ///< of the layer

    /// None for files that registries do not keep, such as shards.
    static std::optional<OciFile> of(std::string_view url);
};

/// "Bearer realm=..., service=..., scope=..." as the URL that gives a token. None for other words,
/// and for one that is not https, but on this machine.
std::optional<std::string> token_url(std::string_view challenge, const OciFile& file);

/// Tokens of this run, by what they are for.
class OciTokens {
public:
    std::string get(const std::string& place) {
        const std::lock_guard lock(mutex_);
        return tokens_[place];
    }
    void keep(const std::string& place, const std::string& token) {
        const std::lock_guard lock(mutex_);
        tokens_[place] = token;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> tokens_;
};

/// Whether two hosts belong to one owner: one is below the other, or both are below one domain of
/// two labels, such as docker.io. Not below "co.uk": there anybody has a name.
bool is_same_site(std::string_view host, std::string_view other);

/// One file on its way, question by question.
class OciSteps {
public:
    explicit OciSteps(OciFile file) : file_(std::move(file)) {}
    void use(std::string token) { token_ = std::move(token); }

    enum class Next { Ask, Give, Absent, Refused };
    /// What to ask now, and with which headers.
    std::string url() const;
    std::vector<std::string> headers(std::string_view asked) const;
    /// The answer is for answered(), and not the file.
    bool is_inner() const { return step_ != Step::Blob; }
    bool wants_login() const { return step_ == Step::Token || basic_; }
    /// What logins and tokens are for.
    std::string place() const { return file_.registry + "/" + file_.repository; }
    /// After an answer without redirect. Give: it is the result. Absent: no such layer is there.
    /// Refused: whoever gives tokens gave none.
    Next answered(int status, std::string_view challenge, std::string_view body);
    /// Of the layer, once that is known: what its bytes are, in quotes.
    std::string etag() const { return digest_.empty() ? "" : '"' + digest_ + '"'; }
    std::string sha256() const { return digest_.substr(std::min(digest_.size(), kSha256.size())); }
    std::uint64_t size() const { return size_; }
    /// Whether the login for the registry may go to where the registry wants to be asked now: to
    /// itself, or over https to another host of its site.
    bool may_have_login() const;
    const std::string& token() const { return token_; }

private:
    static constexpr std::string_view kSha256 = "sha256:";

    enum class Step { Manifest, Token, Blob };
    Next refused(std::string_view challenge);

    OciFile file_;
    Step step_ = Step::Manifest;
    Step after_token_ = Step::Manifest;
    std::string token_url_;
    std::string token_;
    bool asked_for_token_ = false;
    bool basic_ = false;
    std::string digest_;      ///< of the layer
    std::uint64_t size_ = 0;  ///< 0: the manifest does not say
};

}  // namespace gpkg
