#include "tests/support/http_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fstream>
#include <iterator>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <set>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace gpkg::tests {
namespace fs = std::filesystem;
namespace {

using Headers = std::map<std::string, std::string>;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

std::string decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            result += static_cast<char>(
                std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

/// "http://host/a%20b?x" or "/a%20b?x" -> "/a b"
std::string path_of(std::string_view target) {
    if (const auto scheme = target.find("://"); scheme != std::string_view::npos) {
        const auto slash = target.find('/', scheme + 3);
        target = slash == std::string_view::npos ? "/" : target.substr(slash);
    }
    return decoded(target.substr(0, target.find('?')));
}

std::string http_date(std::time_t time) {
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 64> text{};
    std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text.data();
}

struct File {
    std::string bytes;
    std::string etag;
    std::string last_modified;
};

std::optional<File> file_at(const fs::path& root, const std::string& path) {
    if (root.empty() || path.find("..") != std::string::npos) return std::nullopt;
    const auto where = root.native() + path;
    struct stat status {};
    if (::stat(where.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    std::ifstream in(where, std::ios::binary);
    File file;
    file.bytes.assign(std::istreambuf_iterator<char>(in), {});
    file.etag = '"' + std::to_string(status.st_size) + "-" + std::to_string(status.st_mtim.tv_sec) +
                "-" + std::to_string(status.st_mtim.tv_nsec) + '"';
    file.last_modified = http_date(status.st_mtim.tv_sec);
    return file;
}

/// First and last byte that "bytes=5-", "bytes=5-9" or "bytes=-5" asks for of so many.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_in(const std::string& text,
                                                                std::uint64_t size) {
    const auto dash = text.find('-');
    if (!text.starts_with("bytes=") || dash == std::string::npos) return std::nullopt;
    const auto first = text.substr(6, dash - 6);
    const auto last = text.substr(dash + 1);
    const auto number = [](const std::string& digits) {
        return std::uint64_t{std::strtoull(digits.c_str(), nullptr, 10)};
    };
    if (first.empty()) return std::pair(size - std::min(size, number(last)), size - 1);
    const auto end = last.empty() ? size - 1 : std::min(number(last), size - 1);
    return std::pair(number(first), end);
}

/// An answer ready to be sent.
struct Answer {
    int status = 200;
    Headers headers;
    std::string body;
    Reply manner;
};

}  // namespace

struct HttpServer::State {
    fs::path root;
    int listener = -1;
    int port = 0;

    mutable std::mutex mutex;
    std::condition_variable wake;  ///< ends every sleep when `stopping`
    bool stopping = false;
    bool validators = true;
    bool ranges = true;
    Headers headers;
    std::map<std::string, std::deque<std::pair<Reply, int>>> replies;
    std::vector<SeenRequest> seen;
    std::size_t accepted = 0;
    std::set<int> open;
    std::list<std::thread> workers;
    std::thread acceptor;

    void accept_all();
    void serve(int connection);
    std::optional<SeenRequest> read_request(int connection, std::string& buffer);
    Answer answer_to(const SeenRequest& request);
    void serve_file(const SeenRequest& request, const std::string& path, Answer& answer) const;
    /// False: the connection is over.
    bool send_answer(int connection, const SeenRequest& request, const Answer& answer);
    bool send_body(int connection, const Answer& answer);
    /// False when the server is being stopped.
    bool sleep(std::chrono::milliseconds time);
};

namespace {

bool send_all(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void reset(int connection) {
    const linger now{1, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

}  // namespace

bool HttpServer::State::sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return !wake.wait_for(lock, time, [this] { return stopping; });
}

void HttpServer::State::accept_all() {
    for (;;) {
        const int connection = ::accept(listener, nullptr, nullptr);
        const std::lock_guard lock(mutex);
        if (stopping || connection < 0) {
            if (connection >= 0) ::close(connection);
            return;
        }
        const int on = 1;
        ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ++accepted;
        open.insert(connection);
        workers.emplace_back([this, connection] { serve(connection); });
    }
}

void HttpServer::State::serve(int connection) {
    std::string buffer;
    while (const auto request = read_request(connection, buffer)) {
        Answer answer;
        {
            const std::lock_guard lock(mutex);
            if (stopping) break;
            seen.push_back(*request);
            answer = answer_to(*request);
        }
        if (!send_answer(connection, *request, answer)) break;
    }
    const std::lock_guard lock(mutex);
    open.erase(connection);
    ::close(connection);
}

std::optional<SeenRequest> HttpServer::State::read_request(int connection, std::string& buffer) {
    auto end = buffer.find("\r\n\r\n");
    while (end == std::string::npos) {
        std::array<char, 8192> piece{};
        const auto count = ::recv(connection, piece.data(), piece.size(), 0);
        if (count <= 0) return std::nullopt;
        buffer.append(piece.data(), static_cast<std::size_t>(count));
        end = buffer.find("\r\n\r\n");
    }
    const auto text = buffer.substr(0, end + 2);
    buffer.erase(0, end + 4);

    SeenRequest request;
    const auto line = text.substr(0, text.find("\r\n"));
    request.method = line.substr(0, line.find(' '));
    const auto target = std::min(line.find(' ') + 1, line.size());
    request.target = line.substr(target, line.find(' ', target) - target);
    for (auto at = line.size() + 2; at < text.size();) {
        const auto stop = text.find("\r\n", at);
        const auto header = text.substr(at, stop - at);
        const auto colon = header.find(':');
        const auto value = header.find_first_not_of(' ', colon + 1);
        request.headers[lower(header.substr(0, colon))] =
            value == std::string::npos ? "" : header.substr(value);
        at = stop + 2;
    }
    return request;
}

Answer HttpServer::State::answer_to(const SeenRequest& request) {
    const auto path = path_of(request.target);
    Answer answer;
    answer.headers["Date"] = http_date(std::time(nullptr));
    const auto queue = replies.find(path);
    if (queue == replies.end() || queue->second.empty()) {
        serve_file(request, path, answer);
        return answer;
    }
    auto& [reply, left] = queue->second.front();
    answer.manner = reply;
    if (left > 0 && --left == 0) queue->second.pop_front();
    if (answer.manner.body) {
        answer.body = *answer.manner.body;
    } else if (answer.manner.status == 200) {
        serve_file(request, path, answer);
    }
    if (answer.manner.status != 200) answer.status = answer.manner.status;
    for (const auto& [name, value] : answer.manner.headers) answer.headers[name] = value;
    return answer;
}

void HttpServer::State::serve_file(const SeenRequest& request,
                                   const std::string& path,
                                   Answer& answer) const {
    auto file = file_at(root, path);
    if (!file) {
        answer.status = 404;
        answer.body = "no such file\n";
        return;
    }
    for (const auto& [name, value] : headers) answer.headers[name] = value;
    const auto header = [&](const char* name) {
        const auto found = request.headers.find(name);
        return found == request.headers.end() ? std::string() : found->second;
    };
    if (validators) {
        answer.headers["ETag"] = file->etag;
        answer.headers["Last-Modified"] = file->last_modified;
        const auto etag = header("if-none-match");
        const auto since = header("if-modified-since");
        if (etag.empty() ? since == file->last_modified : etag == file->etag) {
            answer.status = 304;
            return;
        }
    }
    answer.body = std::move(file->bytes);
    if (!ranges) return;
    answer.headers["Accept-Ranges"] = "bytes";
    const auto range = header("range");
    const auto condition = header("if-range");
    const bool same =
        condition.empty() || condition == file->etag || condition == file->last_modified;
    const auto size = answer.body.size();
    const auto wanted = range_in(range, size);
    if (!wanted || !same) return;
    const auto [from, last] = *wanted;
    answer.status = from < size ? 206 : 416;
    answer.headers["Content-Range"] =
        "bytes " + std::to_string(from) + "-" + std::to_string(last) + "/" + std::to_string(size);
    answer.body = from < size ? answer.body.substr(from, last - from + 1) : "";
}

bool HttpServer::State::send_answer(int connection,
                                    const SeenRequest& request,
                                    const Answer& answer) {
    if (answer.manner.delay.count() > 0 && !sleep(answer.manner.delay)) return false;
    if (answer.manner.reset && !answer.manner.cut_after) {
        reset(connection);
        return false;
    }
    const bool has_body = answer.status != 304 && answer.status != 204;
    std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Status\r\n";
    for (const auto& [name, value] : answer.headers)
        head.append(name).append(": ").append(value).append("\r\n");
    if (answer.manner.chunked) {
        head += "Transfer-Encoding: chunked\r\n";
    } else if (has_body) {
        head += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    }
    if (!send_all(connection, head + "\r\n")) return false;
    return !has_body || request.method == "HEAD" || send_body(connection, answer);
}

bool HttpServer::State::send_body(int connection, const Answer& answer) {
    constexpr std::size_t kPiece = 16384;
    const auto& manner = answer.manner;
    const auto limit = std::min({answer.body.size(),
                                 manner.cut_after.value_or(SIZE_MAX),
                                 manner.stall_after.value_or(SIZE_MAX)});
    for (std::size_t at = 0; at < limit; at += kPiece) {
        auto piece = answer.body.substr(at, std::min(kPiece, limit - at));
        if (manner.chunked) {
            std::array<char, 32> size{};
            std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
            piece.insert(0, size.data());
            piece += "\r\n";
        }
        if (!send_all(connection, piece)) return false;
        if (manner.pause.count() > 0 && !sleep(manner.pause)) return false;
    }
    if (manner.stall_after) return sleep(std::chrono::minutes(5));
    if (manner.cut_after) {
        if (manner.reset) reset(connection);
        return false;
    }
    return !manner.chunked || send_all(connection, "0\r\n\r\n");
}

namespace {

/// A socket bound to a free port of 127.0.0.1.
std::pair<int, int> bound_socket() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || ::bind(fd, raw, size) != 0 || ::getsockname(fd, raw, &size) != 0)
        throw std::runtime_error("cannot bind a socket to 127.0.0.1");
    return {fd, ntohs(address.sin_port)};
}

}  // namespace

HttpServer::HttpServer(fs::path root) : state_(std::make_unique<State>()) {
    state_->root = std::move(root);
    std::tie(state_->listener, state_->port) = bound_socket();
    if (::listen(state_->listener, 128) != 0)
        throw std::runtime_error("cannot listen on 127.0.0.1");
    state_->acceptor = std::thread([state = state_.get()] { state->accept_all(); });
}

HttpServer::~HttpServer() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        ::shutdown(state_->listener, SHUT_RDWR);
        for (const int connection : state_->open) ::shutdown(connection, SHUT_RDWR);
    }
    state_->wake.notify_all();
    state_->acceptor.join();
    for (auto& worker : state_->workers) worker.join();
    ::close(state_->listener);
}

int HttpServer::port() const { return state_->port; }

std::string HttpServer::url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(state_->port) + std::string(path);
}

void HttpServer::reply(std::string path, Reply reply, int times) {
    const std::lock_guard lock(state_->mutex);
    state_->replies[std::move(path)].emplace_back(std::move(reply), times);
}

void HttpServer::set_header(std::string name, std::string value) {
    const std::lock_guard lock(state_->mutex);
    state_->headers[std::move(name)] = std::move(value);
}

void HttpServer::set_validators(bool on) {
    const std::lock_guard lock(state_->mutex);
    state_->validators = on;
}

void HttpServer::set_ranges(bool on) {
    const std::lock_guard lock(state_->mutex);
    state_->ranges = on;
}

std::vector<SeenRequest> HttpServer::requests() const {
    const std::lock_guard lock(state_->mutex);
    return state_->seen;
}

std::size_t HttpServer::count(std::string_view path) const {
    const std::lock_guard lock(state_->mutex);
    return static_cast<std::size_t>(
        std::count_if(state_->seen.begin(), state_->seen.end(), [&](const SeenRequest& request) {
            return path_of(request.target) == path;
        }));
}

std::size_t HttpServer::connections() const {
    const std::lock_guard lock(state_->mutex);
    return state_->accepted;
}

void HttpServer::forget_requests() {
    const std::lock_guard lock(state_->mutex);
    state_->seen.clear();
}

int closed_port() {
    const auto [fd, port] = bound_socket();
    ::close(fd);
    return port;
}

}  // namespace gpkg::tests
