#pragma once

// A small HTTP/1.1 server on 127.0.0.1 for tests: serves a folder with ETag, Last-Modified, 304,
// Range and keep-alive, records every request, and misbehaves on demand. Everything it does ends
// when it is destroyed. It also answers requests meant for a proxy ("GET http://host/path").

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::tests {

/// How a path is answered in place of the file below the root.
struct Reply {
    int status = 200;
    std::map<std::string, std::string> headers{};  ///< added to or replacing the usual ones
    std::optional<std::string> body{};             ///< empty: the file's content, if there is one
    std::optional<std::size_t> cut_after{};        ///< close after so many bytes of the body
    std::optional<std::size_t> stall_after{};      ///< then send nothing, connection left open
    bool reset = false;                            ///< close with RST: at `cut_after`, else at once
    bool chunked = false;                          ///< without Content-Length
    std::chrono::milliseconds delay{0};            ///< before the answer
    std::chrono::milliseconds pause{0};            ///< after every 16 KiB of the body
};

struct SeenRequest {
    std::string method;
    std::string target;                          ///< as sent: "/a%20b/c?x" or "http://host/a"
    std::map<std::string, std::string> headers;  ///< lowercase names
};

class HttpServer {
public:
    /// Listens on a free port. `root` may be empty: nothing but replies.
    explicit HttpServer(std::filesystem::path root = {});
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    int port() const;
    /// "http://127.0.0.1:PORT" + path
    std::string url(std::string_view path = "") const;

    /// The next `times` requests for `path` (decoded, without query) get this reply; negative:
    /// all. Replies to one path queue up behind each other.
    void reply(std::string path, Reply reply, int times = -1);
    /// Headers of every answer that serves a file, e.g. {"Cache-Control", "max-age=60"}.
    void set_header(std::string name, std::string value);
    /// Without: no ETag and Last-Modified, and so no 304.
    void set_validators(bool on);
    void set_ranges(bool on);

    /// Requests seen so far, oldest first.
    std::vector<SeenRequest> requests() const;
    /// How many of them asked for `path`.
    std::size_t count(std::string_view path) const;
    /// How many connections were accepted.
    std::size_t connections() const;
    void forget_requests();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A port of 127.0.0.1 on which nobody listens.
int closed_port();

}  // namespace gpkg::tests
