// The Transport on libcurl: one multi handle per run, kept for the next so that connections live
// on. Redirects are followed here and not by libcurl, so that each hop is judged by its own rules:
// never from https down, never with credentials to another origin, each with its own proxy.

#include "libcore/base/number.hpp"
#include "libcore/base/parallel.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/net/libcurl_internal.hpp"
#include "libcore/net/oci_internal.hpp"
#include "libcore/net/outcome.hpp"
#include "libcore/net/transport.hpp"
#include "libcore/net/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <deque>
#include <fmt/format.h>
#include <list>
#include <mutex>
#include <optional>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace gpkg {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = Failure::Kind;

struct FreeEasy {
    void operator()(CURL* easy) const { libcurl()->easy_cleanup(easy); }
};
struct FreeMulti {
    void operator()(CURLM* multi) const { libcurl()->multi_cleanup(multi); }
};
struct FreeList {
    void operator()(curl_slist* list) const { libcurl()->slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using Multi = std::unique_ptr<CURLM, FreeMulti>;
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

/// TLS libraries write to sockets with write(2): a peer that is gone would end the program.
class SigpipeBlocked {
public:
    SigpipeBlocked() {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    SigpipeBlocked(const SigpipeBlocked&) = delete;
    SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
    ~SigpipeBlocked() {
        if (sigismember(&before_, SIGPIPE) == 1) return;
        const timespec now{};
        sigtimedwait(&pipe_, nullptr, &now);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t pipe_{};
    sigset_t before_{};
};

constexpr int kMostRedirects = 10;
/// Of an error page; the connection is given up rather than read further.
constexpr std::size_t kMostIgnored = 1U << 20U;

/// How many transfers the files that this process may have open allow: each has a connection, the
/// file it becomes and somebody who reads that.
std::size_t affordable() {
    constexpr rlim_t kOthers = 24;
    constexpr rlim_t kEach = 3;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 8;
    return static_cast<std::size_t>((std::max(files.rlim_cur, kOthers + kEach) - kOthers) / kEach);
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

template <typename T>
T info(CURL* easy, CURLINFO what) {
    T value{};
    libcurl()->easy_getinfo(easy, what, &value);
    return value;
}

std::string header(CURL* easy, const char* name) {
    curl_header* found = nullptr;
    if (libcurl()->easy_header(easy, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
    return found->value;
}

/// Last-Modified, where it says which bytes these are. A date has no fractions: the file may have
/// changed once more within the second it names, unless the server says it when that second has
/// passed (RFC 9110, 8.8.2.2).
std::string strong_last_modified(CURL* easy) {
    auto date = header(easy, "last-modified");
    const auto modified = libcurl()->getdate(date.c_str(), nullptr);
    const auto answered = libcurl()->getdate(header(easy, "date").c_str(), nullptr);
    return modified >= 0 && modified < answered ? date : "";
}

/// The first byte of "bytes 100-199/200".
std::uint64_t range_start(std::string_view text) {
    constexpr std::string_view kUnit = "bytes ";
    std::uint64_t start = 0;
    if (text.starts_with(kUnit))
        std::from_chars(text.data() + kUnit.size(), text.data() + text.size(), start);
    return start;
}

/// The size of all in "bytes 100-199/200"; nothing where it is "*".
std::optional<std::uint64_t> whole_size(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    return whole_number<std::uint64_t>(text.substr(slash + 1));
}

/// What of the file is wanted, as libcurl takes it; empty: all of it.
std::string range_text(const TransferRequest& request) {
    if (request.at_end) return fmt::format("-{}", request.count);
    if (request.count > 0)
        return fmt::format("{}-{}", request.from, request.from + request.count - 1);
    return request.from > 0 ? fmt::format("{}-", request.from) : "";
}

/// One exchange on its way, over all redirects of one try.
struct Running {
    Exchange* exchange = nullptr;
    TransferRequest request;
    std::string url;  ///< of this hop
    int redirects = 0;
    Easy easy;
    HeaderList headers;
    std::array<char, CURL_ERROR_SIZE> problem{};
    const std::stop_token* stop = nullptr;
    bool begun = false;
    bool rejected = false;
    std::size_t ignored = 0;
    std::optional<OciSteps> oci;  ///< of an oci:// URL
    std::string inner;            ///< the answer to a question of those

    /// The answer at hand is not the file.
    bool is_inner() const { return oci && oci->is_inner(); }
    Head head() const;
    /// Tells the exchange that a body follows, once.
    bool begin();
};

bool is_file(std::string_view url) { return url.starts_with("file:"); }

/// Of a part of a local file, which libcurl does not describe: like a server's answer to a Range.
void describe_part(const TransferRequest& wanted, std::uint64_t size, Head& head) {
    head.status = 206;
    head.whole = size;
    head.range_start =
        wanted.at_end ? size - std::min(size, wanted.count) : std::min(size, wanted.from);
    head.length = std::min(wanted.count, size - head.range_start);
}

Head Running::head() const {
    Head head;
    head.status = static_cast<int>(info<long>(easy.get(), CURLINFO_RESPONSE_CODE));
    if (is_file(url)) head.status = 200;
    head.url = url;
    head.etag = header(easy.get(), "etag");
    if (oci && !oci->etag().empty()) head.etag = oci->etag();
    if (oci) {
        head.sha256 = oci->sha256();
        head.size = oci->size();
    }
    head.last_modified = strong_last_modified(easy.get());
    head.cache_control = header(easy.get(), "cache-control");
    head.age = header(easy.get(), "age");
    const auto range = header(easy.get(), "content-range");
    head.range_start = range_start(range);
    head.whole = whole_size(range);
    head.accepts_ranges = header(easy.get(), "accept-ranges") == "bytes" || head.status == 206;
    const auto length = info<curl_off_t>(easy.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
    if (length >= 0) head.length = static_cast<std::uint64_t>(length);
    head.retry_after = std::chrono::seconds(info<curl_off_t>(easy.get(), CURLINFO_RETRY_AFTER));
    if (is_file(url) && request.count > 0) {
        std::error_code code;
        const auto path = path_of_file_url(url);
        const auto size = path ? fs::file_size(*path, code) : 0;
        if (path && !code) describe_part(request, size, head);
    }
    return head;
}

bool Running::begin() {
    if (std::exchange(begun, true)) return true;
    rejected = !exchange->begin(head());
    return !rejected;
}

std::size_t on_bytes(char* bytes, std::size_t one, std::size_t count, void* user) {
    auto& running = *static_cast<Running*>(user);
    const auto size = one * count;
    if (running.stop->stop_requested()) return CURL_WRITEFUNC_ERROR;
    const auto status = info<long>(running.easy.get(), CURLINFO_RESPONSE_CODE);
    if (!is_file(running.url) && status != 200 && status != 206) {
        running.ignored += size;
        return running.ignored > kMostIgnored ? CURL_WRITEFUNC_ERROR : size;
    }
    if (running.is_inner()) {
        running.inner.append(bytes, size);
        return running.inner.size() > kMostIgnored ? CURL_WRITEFUNC_ERROR : size;
    }
    if (!running.begin()) return CURL_WRITEFUNC_ERROR;
    running.rejected = !running.exchange->receive({bytes, size});
    return running.rejected ? CURL_WRITEFUNC_ERROR : size;
}

/// What libcurl's code means for us.
Kind kind_of(CURLcode code, CURL* easy) {
    switch (code) {
    case CURLE_URL_MALFORMAT: return Kind::BadUrl;
    case CURLE_UNSUPPORTED_PROTOCOL:
        // Of the URL when nothing was asked yet, else of an answer without an HTTP header.
        return info<curl_off_t>(easy, CURLINFO_PRETRANSFER_TIME_T) == 0 ? Kind::BadUrl
                                                                        : Kind::NotHttp;
    case CURLE_WEIRD_SERVER_REPLY: return Kind::NotHttp;
    case CURLE_COULDNT_RESOLVE_HOST: return Kind::HostNotFound;
    case CURLE_COULDNT_RESOLVE_PROXY: return Kind::ProxyNotFound;
    case CURLE_COULDNT_CONNECT: return Kind::Refused;
    case CURLE_OPERATION_TIMEDOUT:
        return info<curl_off_t>(easy, CURLINFO_PRETRANSFER_TIME_T) == 0 ? Kind::ConnectTimeout
                                                                        : Kind::Stalled;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_USE_SSL_FAILED: return Kind::Tls;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return Kind::Broken;
    default: return Kind::Other;
    }
}

/// A proxy and where it was set; that is empty where it is not known.
struct ChosenProxy {
    const std::string& url;
    const std::string& source;
};

ChosenProxy proxy_of(const Running& running, const TransportOptions& options) {
    const auto url = Url::parse(running.url).value_or(Url());
    for (const auto& proxy : options.host_proxies) {
        if ((proxy.scheme == url.scheme || proxy.scheme == "all") &&
            (proxy.host == url.host || proxy.host == url.host + ":" + url.port))
            return {proxy.url, options.host_proxy_source};
    }
    if (url.scheme == "https") return {options.https_proxy, options.https_proxy_source};
    return {options.http_proxy, options.http_proxy_source};
}

std::string hint_at(const ChosenProxy& proxy) {
    return proxy.source.empty()
               ? ""
               : fmt::format("the proxy is set by {}; check it, and NO_PROXY", proxy.source);
}

Failure failure_of(CURLcode code, const Running& running, const TransportOptions& options) {
    Failure failure{kind_of(code, running.easy.get()), running.problem.data(), 0};
    if (failure.detail.empty()) failure.detail = libcurl()->easy_strerror(code);
    const auto proxy = info<long>(running.easy.get(), CURLINFO_HTTP_CONNECTCODE);
    if (proxy >= 400) {
        failure.kind = Kind::ProxyDenied;
        failure.proxy_status = static_cast<int>(proxy);
    }
    const auto chosen = proxy_of(running, options);
    const auto asked = Url::parse(has_scheme(chosen.url) ? chosen.url : "http://" + chosen.url);
    // libcurl tells the errno of a failed connect apart from its words.
    const auto number = static_cast<int>(info<long>(running.easy.get(), CURLINFO_OS_ERRNO));
    if (failure.kind == Kind::Refused && number != 0) {
        // Its words name whom it could not reach: "Failed to connect to proxy.example port 3128".
        const bool is_proxy = asked && failure.detail.find(fmt::format(" {} port ", asked->host)) !=
                                           std::string::npos;
        failure.detail = std::generic_category().message(number);
        if (is_proxy) {
            failure.detail = fmt::format("proxy {}{}{}: {}",
                                         asked->host,
                                         asked->port.empty() ? "" : ":",
                                         asked->port,
                                         failure.detail);
            failure.hint = hint_at(chosen);
        }
    }
    if (failure.kind == Kind::ProxyNotFound) failure.detail = asked ? asked->host : "";
    if (failure.kind == Kind::ProxyNotFound || failure.kind == Kind::ProxyDenied)
        failure.hint = hint_at(chosen);
    if (code == CURLE_SSL_CERTPROBLEM) {
        failure.hint = fmt::format(
            "check client_ssl_cert ({}) and client_ssl_cert_key; the key "
            "must have no passphrase",
            options.client_cert.native());
    } else if (failure.kind == Kind::Tls && !options.ca_source.empty()) {
        std::error_code ignored;
        const bool is_folder = fs::is_directory(options.ca_path, ignored);
        failure.hint = fmt::format(
            "the certificates are from {}; check {}, and the clock",
            options.ca_source,
            is_folder ? fmt::format("that openssl rehash {} was run", options.ca_path.native())
                      : "that file");
    }
    return failure;
}

class CurlTransport;

/// One call of run().
class Run {
public:
    Run(const TransportOptions& options,
        Credentials& credentials,
        OciTokens& tokens,
        CURLM* multi,
        const std::stop_token& stop)
        : options_(options),
          credentials_(credentials),
          tokens_(tokens),
          multi_(multi),
          stop_(stop) {}

    void operator()(std::span<Exchange* const> exchanges, std::size_t parallel);

private:
    struct Waiting {
        Exchange* exchange;
        Clock::time_point due;
    };

    void start_due(std::size_t parallel);
    void begin(std::list<Running>::iterator running);
    void start(std::list<Running>::iterator running);
    Result<std::optional<Login>> login_for(const Running& running);
    bool go_on(Running& running, Head& head);
    static void configure(Running& running, const TransportOptions& options);
    /// True when a transfer ended, so that another may begin.
    bool collect();
    void finish(std::list<Running>::iterator running, CURLcode code);
    bool follow_redirect(Running& running, const Head& head, Failure& failure);
    void end(std::list<Running>::iterator running, const Head& head, const Failure* failure);
    void end_all(const Failure& failure);
    std::chrono::milliseconds patience() const;

    const TransportOptions& options_;
    Credentials& credentials_;
    OciTokens& tokens_;
    CURLM* multi_;
    const std::stop_token& stop_;
    std::deque<Waiting> waiting_;
    std::list<Running> running_;
};

void Run::operator()(std::span<Exchange* const> exchanges, std::size_t parallel) {
    const SigpipeBlocked blocked;
    const std::stop_callback wake(stop_, [this] { libcurl()->multi_wakeup(multi_); });
    for (auto* exchange : exchanges) waiting_.push_back({exchange, Clock::time_point{}});
    parallel = std::clamp<std::size_t>(parallel, 1, affordable());
    libcurl()->multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(parallel));
    while (!waiting_.empty() || !running_.empty()) {
        if (stop_.stop_requested()) return end_all({Kind::Stopped, "interrupted", 0});
        start_due(parallel);
        int active = 0;
        if (const auto code = libcurl()->multi_perform(multi_, &active); code != CURLM_OK)
            return end_all({Kind::Other, libcurl()->multi_strerror(code), 0});
        if (collect()) continue;
        libcurl()->multi_poll(multi_, nullptr, 0, static_cast<int>(patience().count()), nullptr);
    }
}

/// How long to sleep when nothing happens: until the next try is due.
std::chrono::milliseconds Run::patience() const {
    auto until = std::chrono::milliseconds(1000);
    for (const auto& waiting : waiting_) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(waiting.due - Clock::now());
        // One that is due already waits for a free place, not for the clock.
        if (left.count() > 0) until = std::min(until, left);
    }
    return until;
}

void Run::start_due(std::size_t parallel) {
    for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
        if (running_.size() >= parallel) return;
        if (waiting->due > Clock::now()) {
            ++waiting;
            continue;
        }
        const auto started = running_.emplace(running_.end());
        auto& running = *started;
        running.exchange = waiting->exchange;
        running.request = waiting->exchange->request();
        running.url = running.request.url;
        running.stop = &stop_;
        waiting_.erase(waiting);
        begin(started);
        // Starting may have ended it and put another one into the queue.
        waiting = waiting_.begin();
    }
}

void Run::begin(std::list<Running>::iterator running) {
    if (!running->url.starts_with("oci:")) return start(running);
    auto file = OciFile::of(running->url);
    if (!file) {
        Head head;
        head.status = 404;
        return end(running, head, nullptr);
    }
    running->oci.emplace(*std::move(file));
    running->oci->use(tokens_.get(running->oci->place()));
    running->url = running->oci->url();
    start(running);
}

void set_headers(Running& running) {
    const auto& request = running.request;
    const auto add = [&](const std::string& line) {
        if (auto* list = libcurl()->slist_append(running.headers.get(), line.c_str())) {
            (void)running.headers.release();
            running.headers.reset(list);
        }
    };
    running.headers.reset();
    if (running.oci) {
        for (const auto& line : running.oci->headers(running.url)) add(line);
    }
    if (!running.is_inner()) {
        if (!request.etag.empty()) add("If-None-Match: " + request.etag);
        if (!request.last_modified.empty()) add("If-Modified-Since: " + request.last_modified);
        if (request.from > 0 && !request.if_range.empty()) add("If-Range: " + request.if_range);
    }
    libcurl()->easy_setopt(running.easy.get(), CURLOPT_HTTPHEADER, running.headers.get());
}

/// Where this system keeps the certificates that it trusts, when that is not where libcurl was
/// built to look: a gpkg built elsewhere may have been carried here. Empty: libcurl knows.
const fs::path& usual_ca_file(CURL* easy) {
    static const fs::path file = [&]() -> fs::path {
        const char* known = nullptr;
        std::error_code code;
        if (libcurl()->easy_getinfo(easy, CURLINFO_CAINFO, &known) != CURLE_OK ||
            known == nullptr || fs::exists(known, code))
            return {};
        for (const auto* place : {"/etc/ssl/certs/ca-certificates.crt",
                                  "/etc/pki/tls/certs/ca-bundle.crt",
                                  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                  "/etc/ssl/ca-bundle.pem",
                                  "/etc/ssl/cert.pem"}) {
            if (fs::exists(place, code)) return place;
        }
        return {};
    }();
    return file;
}

/// Whose certificates count, and which is shown.
void set_trust(CURL* easy, const TransportOptions& options) {
    std::error_code ignored;
    const auto& path = options.ca_path.empty() ? usual_ca_file(easy) : options.ca_path;
    std::string folders = options.ca_folders;
    if (!path.empty() && fs::is_directory(path, ignored)) {
        folders = path.native() + (folders.empty() ? "" : ":" + folders);
        libcurl()->easy_setopt(easy, CURLOPT_CAINFO, nullptr);  // not the system's as well
    } else if (!path.empty()) {
        libcurl()->easy_setopt(easy, CURLOPT_CAINFO, path.c_str());
    }
    if (!folders.empty()) libcurl()->easy_setopt(easy, CURLOPT_CAPATH, folders.c_str());
    if (!options.client_cert.empty()) {
        libcurl()->easy_setopt(easy, CURLOPT_SSLCERT, options.client_cert.c_str());
        libcurl()->easy_setopt(easy, CURLOPT_KEYPASSWD, "");  // or OpenSSL asks the terminal for it
    }
    if (!options.client_key.empty())
        libcurl()->easy_setopt(easy, CURLOPT_SSLKEY, options.client_key.c_str());
    if (!options.verify_tls) {
        libcurl()->easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        libcurl()->easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

void Run::configure(Running& running, const TransportOptions& options) {
    running.easy.reset(libcurl()->easy_init());
    auto* easy = running.easy.get();
    running.begun = false;
    running.ignored = 0;
    running.problem.front() = '\0';
    set_headers(running);
    libcurl()->easy_setopt(easy, CURLOPT_PRIVATE, &running);
    libcurl()->easy_setopt(easy, CURLOPT_ERRORBUFFER, running.problem.data());
    libcurl()->easy_setopt(easy, CURLOPT_URL, running.url.c_str());
    libcurl()->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https,file");
    libcurl()->easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_bytes);
    libcurl()->easy_setopt(easy, CURLOPT_WRITEDATA, &running);
    libcurl()->easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
    libcurl()->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // Rather share a connection that is being made than make another: the handshake tells whether
    // it can be shared. Without one, only the first answer does, and that may be long in coming.
    libcurl()->easy_setopt(easy, CURLOPT_PIPEWAIT, running.url.starts_with("https:") ? 1L : 0L);
    // Else an unanswered name lookup would hold up the end of the program.
    libcurl()->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    libcurl()->easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
    libcurl()->easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
    libcurl()->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    libcurl()->easy_setopt(
        easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_timeout.count()));
    if (const auto range = range_text(running.request); !range.empty() && !running.is_inner())
        libcurl()->easy_setopt(easy, CURLOPT_RANGE, range.c_str());
    set_trust(easy, options);
    if (!options.netrc.empty()) {
        libcurl()->easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
        libcurl()->easy_setopt(easy, CURLOPT_NETRC_FILE, options.netrc.c_str());
    }
    // Set even when empty: libcurl must not ask the environment behind our back.
    libcurl()->easy_setopt(easy, CURLOPT_PROXY, proxy_of(running, options).url.c_str());
    libcurl()->easy_setopt(easy, CURLOPT_NOPROXY, options.no_proxy.c_str());
}

/// Says who asks: of each hop anew, so that nobody sees what is for another.
void log_in(CURL* easy, const std::string& url, const Login& login) {
    if (login.kind == Login::Kind::Basic) {
        libcurl()->easy_setopt(easy, CURLOPT_USERNAME, login.user.c_str());
        libcurl()->easy_setopt(easy, CURLOPT_PASSWORD, login.secret.c_str());
    } else if (login.kind == Login::Kind::Bearer) {
        libcurl()->easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        libcurl()->easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, login.secret.c_str());
    } else if (auto parts = Url::parse(url); parts && !parts->path.starts_with("/t/")) {
        parts->path.insert(0, "/t/" + login.secret);
        libcurl()->easy_setopt(easy, CURLOPT_URL, parts->to_string().c_str());
    }
    libcurl()->easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
}

/// To a registry it is said when that asks for it.
Result<std::optional<Login>> Run::login_for(const Running& running) {
    if (!running.oci || running.url != running.oci->url()) return credentials_.for_url(running.url);
    if (!running.oci->wants_login()) return std::nullopt;
    if (!running.oci->may_have_login()) return credentials_.for_url(running.url);
    const auto given = Url::parse(running.request.url).value_or(Url()).userinfo;
    if (given.empty()) return credentials_.for_url(running.oci->place());
    const auto colon = std::min(given.find(':'), given.size());
    GPKG_TRY(auto user, percent_decode(given.substr(0, colon)));
    GPKG_TRY(auto password, percent_decode(given.substr(std::min(colon + 1, given.size()))));
    return Login{Login::Kind::Basic, std::move(user), std::move(password)};
}

void Run::start(std::list<Running>::iterator running) {
    configure(*running, options_);
    const auto login = login_for(*running);
    if (!login) {
        const auto& error = login.error();
        const Failure failure{Kind::NoLogin, error.message, 0, error.hint};
        return end(running, {}, &failure);
    }
    if (*login) log_in(running->easy.get(), running->url, **login);
    const auto code = libcurl()->multi_add_handle(multi_, running->easy.get());
    if (code == CURLM_OK) return;
    const Failure failure{Kind::Other, libcurl()->multi_strerror(code), 0};
    end(running, {}, &failure);
}

bool Run::collect() {
    bool any = false;
    int left = 0;
    while (const auto* message = libcurl()->multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        any = true;
        const auto code = message->data.result;
        const auto* of = info<Running*>(message->easy_handle, CURLINFO_PRIVATE);
        const auto found = std::find_if(
            running_.begin(), running_.end(), [&](const Running& one) { return &one == of; });
        if (found != running_.end()) finish(found, code);
    }
    return any;
}

void Run::finish(std::list<Running>::iterator running, CURLcode code) {
    libcurl()->multi_remove_handle(multi_, running->easy.get());
    auto head = running->head();
    if (stop_.stop_requested()) {
        const Failure stopped{Kind::Stopped, "interrupted", 0};
        return end(running, head, &stopped);
    }
    if (code == CURLE_FILE_COULDNT_READ_FILE) {
        const auto path = path_of_file_url(running->url);
        std::error_code ignored;
        if (path && !fs::exists(*path, ignored)) {
            head.status = 404;
            return end(running, head, nullptr);
        }
    }
    if (code == CURLE_WRITE_ERROR && running->ignored > kMostIgnored) code = CURLE_OK;
    if (running->rejected) {
        const Failure rejected{Kind::Rejected, "rejected", 0};
        return end(running, head, &rejected);
    }
    if (code != CURLE_OK) {
        const auto failure = failure_of(code, *running, options_);
        return end(running, head, &failure);
    }
    if (is_redirect(head.status)) {
        Failure failure;
        if (follow_redirect(*running, head, failure)) return start(running);
        return end(running, head, &failure);
    }
    if (running->oci && go_on(*running, head)) return start(running);
    if ((head.status == 200 || head.status == 206) && !running->begin()) {
        const Failure rejected{Kind::Rejected, "rejected", 0};
        return end(running, head, &rejected);
    }
    end(running, head, nullptr);
}

/// After an answer of a registry: whether there is more to ask. Else `head` is what to tell.
bool Run::go_on(Running& running, Head& head) {
    auto& oci = *running.oci;
    const auto challenge = header(running.easy.get(), "www-authenticate");
    const auto next = oci.answered(head.status, challenge, std::exchange(running.inner, {}));
    if (next == OciSteps::Next::Absent) head.status = 404;
    if (next == OciSteps::Next::Refused) head.status = 401;
    if (next != OciSteps::Next::Ask) return false;
    tokens_.keep(oci.place(), oci.token());
    if (!oci.etag().empty() && running.request.etag == oci.etag()) {
        head.status = 304;
        head.etag = oci.etag();
        return false;
    }
    running.url = oci.url();
    running.redirects = 0;
    return true;
}

/// Moves `running` on to where the server points, or says why not.
bool Run::follow_redirect(Running& running, const Head& head, Failure& failure) {
    const auto refuse = [&](std::string why) {
        failure = {Kind::BadRedirect, std::move(why), 0};
        return false;
    };
    const char* location = info<char*>(running.easy.get(), CURLINFO_REDIRECT_URL);
    if (location == nullptr)
        return refuse(fmt::format("redirect without a target (HTTP {})", head.status));
    if (++running.redirects > kMostRedirects)
        return refuse(fmt::format("more than {} redirects", kMostRedirects));

    auto target = redirect_target(running.url, location);
    if (!target) return refuse(std::move(target).error().message);
    running.url = *std::move(target);
    return true;
}

void Run::end(std::list<Running>::iterator running, const Head& head, const Failure* failure) {
    auto* exchange = running->exchange;
    // First, so that the exchange's files are closed and gone from here before anybody uses them.
    running_.erase(running);
    const auto wait = exchange->end(head, failure);
    if (wait && !stop_.stop_requested()) {
        waiting_.push_back({exchange, Clock::now() + *wait});
    } else if (wait) {
        const Failure stopped{Kind::Stopped, "interrupted", 0};
        exchange->end(head, &stopped);
    }
}

/// Ends what runs and what waits, whatever the exchanges would like.
void Run::end_all(const Failure& failure) {
    for (auto& running : running_) {
        libcurl()->multi_remove_handle(multi_, running.easy.get());
        running.exchange->end({}, &failure);
    }
    for (const auto& waiting : waiting_) waiting.exchange->end({}, &failure);
    running_.clear();
    waiting_.clear();
}

class CurlTransport final : public Transport {
public:
    explicit CurlTransport(TransportOptions options)
        : options_(std::move(options)),
          credentials_(options_.credentials),
          mirrors_(options_.mirrors, options_.on_mirror_failed) {
        if (options_.user_agent.empty()) options_.user_agent = "gpkg/" GPKG_VERSION;
    }

    void run(std::span<Exchange* const> exchanges,
             std::size_t parallel,
             const std::stop_token& stop) override {
        if (libcurl() == nullptr) {
            const Failure failure{Kind::Other, libcurl_problem(), 0};
            for (auto* exchange : exchanges) exchange->end({}, &failure);
            return;
        }
        auto multi = take();
        Run(options_, credentials_, tokens_, multi.get(), stop)(exchanges, parallel);
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(multi));
    }

    void prepare() override {
        const std::lock_guard lock(mutex_);
        if (!preparing_) preparing_.emplace(1, [] { (void)libcurl(); });
    }

    Mirrors* mirrors() override { return &mirrors_; }

private:
    Multi take() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) return Multi(libcurl()->multi_init());
        auto multi = std::move(idle_.back());
        idle_.pop_back();
        return multi;
    }

    TransportOptions options_;
    Credentials credentials_;
    OciTokens tokens_;
    Mirrors mirrors_;
    std::mutex mutex_;
    std::vector<Multi> idle_;           ///< with their open connections
    std::optional<Workers> preparing_;  ///< loading libcurl
};

}  // namespace

std::unique_ptr<Transport> make_transport(TransportOptions options) {
    return std::make_unique<CurlTransport>(std::move(options));
}

}  // namespace gpkg
