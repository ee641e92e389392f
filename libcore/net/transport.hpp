#pragma once

// The seam between gpkg and the network. A Transport moves bytes and follows redirects; what to
// ask, where the bytes go, what is checked and whether to try again is decided by each Exchange.
// Most callers want get.hpp or download.hpp.

#include "libcore/base/env_lookup.hpp"
#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/credentials.hpp"
#include "libcore/net/mirrors.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// One question to a server.
struct TransferRequest {
    std::string url;            ///< http, https, file or oci; may hold credentials
    std::string etag;           ///< not empty: the answer may be 304
    std::string last_modified;  ///< likewise
    std::uint64_t from = 0;     ///< first byte wanted
    std::uint64_t count = 0;    ///< so many bytes and no more; 0: to the end
    bool at_end = false;        ///< those `count` are the last ones, wherever they begin
    std::string if_range;       ///< with `from`: the validator of the bytes already here
};

/// What a server said before the body. file:// answers 200 or 404.
struct Head {
    int status = 0;
    std::string url;  ///< where the answer came from after redirects
    std::string etag;
    std::string last_modified;  ///< empty where the file may have changed within that second
    std::string cache_control;
    std::string age;                      ///< seconds that a cache on the way has had it
    std::optional<std::uint64_t> length;  ///< of the body that follows
    std::uint64_t range_start = 0;        ///< of a 206
    std::string sha256;                   ///< of the whole body, where a registry says it
    std::uint64_t size = 0;               ///< likewise; 0: unknown
    std::optional<std::uint64_t> whole;   ///< of a 206: the size of all of it
    bool accepts_ranges = false;
    std::chrono::seconds retry_after{0};
};

/// Why a transfer got no answer, or only a part of one.
struct Failure {
    enum class Kind {
        BadUrl,
        HostNotFound,
        ProxyNotFound,  ///< `detail` is its host
        Refused,
        ConnectTimeout,
        Stalled,  ///< connected, then too slow for too long
        Tls,
        NotHttp,      ///< connected, and the answer is something else
        ProxyDenied,  ///< `proxy_status` says how
        Broken,       ///< reset, or ended before the promised length
        BadRedirect,
        NoLogin,   ///< the one for this server cannot be used; `detail` and `hint` say why
        Rejected,  ///< by the exchange itself
        Stopped,   ///< by the stop token
        Other,
    };
    Kind kind = Kind::Other;
    std::string detail;
    int proxy_status = 0;
    std::string hint{};
};

/// One transfer, seen by the one who wants it. Called from the thread that runs the transport.
class Exchange {
public:
    virtual ~Exchange() = default;
    /// What to ask. Called before every try.
    virtual TransferRequest request() = 0;
    /// A 200 or 206 arrived and its body follows. False: not wanted.
    virtual bool begin(const Head& head) = 0;
    /// The next bytes of that body. False: stop, something is wrong with them.
    virtual bool receive(std::string_view bytes) = 0;
    /// The try is over: `failure` is null when `head` and the body came whole. Returns how long to
    /// wait before another try, or nothing when that was the last. After Stopped there is none.
    virtual std::optional<std::chrono::milliseconds> end(const Head& head,
                                                         const Failure* failure) = 0;
};

class Transport {
public:
    virtual ~Transport() = default;
    /// Runs all exchanges to their end, up to `parallel` at once, started in their order. Returns
    /// soon after `stop` is requested, every exchange having been told. May be called from several
    /// threads at a time.
    virtual void run(std::span<Exchange* const> exchanges,
                     std::size_t parallel,
                     const std::stop_token& stop) = 0;
    /// Loads what run() needs in another thread. For callers with other work before run().
    virtual void prepare() {}
    /// For who asks by way of this; null: none. An exchange chooses among them.
    virtual Mirrors* mirrors() { return nullptr; }
};

/// The proxy for the URLs of one host.
struct HostProxy {
    std::string scheme;  ///< "http", "https", or "all" for both
    std::string host;    ///< lowercase
    std::string url;     ///< empty: none
};

/// The scheme and host that the key of a proxy names: "https://host", "all://host". Nothing for
/// other texts.
std::optional<HostProxy> host_proxy(std::string_view key, std::string url);

struct TransportOptions {
    std::string user_agent;  ///< empty: "gpkg/VERSION"
    std::chrono::milliseconds connect_timeout{15'000};
    std::chrono::seconds stall_timeout{30};  ///< nothing received for so long
    std::string http_proxy;                  ///< for http:// URLs; empty: none
    std::string https_proxy;                 ///< for https:// URLs
    std::vector<HostProxy> host_proxies{};   ///< before those two; the first that fits
    std::string no_proxy;                    ///< comma separated hosts and domains, or "*"
    std::string http_proxy_source{};         ///< for hints: a variable or a setting; empty: unknown
    std::string https_proxy_source{};
    std::string host_proxy_source{};
    std::vector<MirroredPlace> mirrors;
    OnMirrorFailed on_mirror_failed;
    CredentialFiles credentials;
    fs::path netrc;            ///< asked where those have nothing; may be missing
    fs::path ca_path;          ///< a file or folder of certificates; empty: what the system trusts
    std::string ca_folders{};  ///< trusted as well: SSL_CERT_DIR, ":" between several
    std::string ca_source{};   ///< of ca_path, for hints: "SSL_CERT_FILE=/site.pem"
    fs::path client_cert{};    ///< shown to servers that ask for one; may hold its key too
    fs::path client_key{};
    bool verify_tls = true;  ///< false: anybody may say that he is the server
};

/// What the environment asks for: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY (lowercase wins),
/// GPKG_CREDENTIALS (else gpkg/credentials.yaml in XDG_CONFIG_HOME or ~/.config), RATTLER_AUTH_FILE
/// (else ~/.rattler/credentials.json), NETRC (else ~/.netrc), SSL_CERT_FILE,
/// CURL_CA_BUNDLE and REQUESTS_CA_BUNDLE (the first wins; a folder counts too), SSL_CERT_DIR,
/// CONDA_REMOTE_CONNECT_TIMEOUT_SECS and CONDA_REMOTE_READ_TIMEOUT_SECS.
TransportOptions transport_options_from(const EnvLookup& environment, const fs::path& home);

/// The real one, on libcurl.
std::unique_ptr<Transport> make_transport(TransportOptions options = {});

}  // namespace gpkg
