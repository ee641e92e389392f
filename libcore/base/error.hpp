#pragma once

// Failures as values. A function that can fail for reasons outside the program returns Result<T>;
// normal absence is std::optional; a broken invariant is an assertion. Libraries never print.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace gpkg {

/// What a caller may branch on. Everything else about a failure is text for a person.
enum class ErrorKind {
    Parse,          ///< text or data that does not follow its grammar
    NotFound,       ///< a file, URL or package that is not there
    NoEnvironment,  ///< nor is the environment
    NoChannel,      ///< nor the channel
    NoWishFile,     ///< nor the file that says what is wished for
    Io,             ///< the file system said no
    Network,        ///< a transfer failed
    Integrity,      ///< a checksum or size is wrong, data is damaged or hostile
    Unsatisfiable,  ///< no set of packages meets the request
    Unsupported,    ///< valid, but not something gpkg can do
    Conflict,       ///< refused because something already exists or is in use
    Usage,          ///< the user's words are off
    Interrupted,    ///< Ctrl-C, SIGTERM
    Cancelled,      ///< the user answered no
    DamagedCache,   ///< a file of our own making was damaged and is removed: doing it again helps
    Overtaken,      ///< another process changed the environment meanwhile: doing it again helps
};

/// A failure and the story of how it was reached.
struct Error {
    ErrorKind kind = ErrorKind::Io;
    std::string message;  ///< names the thing first: "env.yml:3: expected a list, found a string"
    std::string hint;     ///< a command or an edit that mends it; often empty
    std::vector<std::string> context;  ///< outer steps, nearest first: "reading the configuration"
    /// What programs want to know beyond the text: the members of a JSON object; often empty.
    std::string details{};
    /// The path of the environment that the hint names as "-p PATH"; empty: none. A caller that
    /// knows the environment's name can put that there.
    std::string environment{};
    /// Commands that do what was meant, each tried; often empty. A line that begins with "# first:"
    /// may stand before a command.
    std::vector<std::string> fixes{};
    /// The file or folder that does not exist; empty: the failure is about something else.
    std::string missing_path{};
    /// Requested packages that no channel has; often empty.
    std::vector<std::string> unknown_packages{};
    /// The base URL of the channel that cannot be read; empty: the failure is about something else.
    std::string unread_channel{};
    /// conda's exception, where it is not the usual one of the kind; often empty.
    std::string exception_name{};
    /// Offline mode kept gpkg from a download that would help.
    bool is_offline = false;
    /// Of an interruption: the message says what was done before it.
    bool tells_progress = false;

    /// Whether the failure is that no channel has the package.
    bool is_about_unknown(std::string_view package) const;
    /// The same failure, with the outer step it happened in.
    Error while_doing(std::string step) &&;
    /// Outermost step first, cause last, then the fixes and the hint on lines of their own.
    std::string to_string() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorKind::Parse, "...")` from any function that returns a Result.
tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {});

/// fail() with conda's exception, where that is not the usual one of the kind.
tl::unexpected<Error> fail_as(std::string exception_name,
                              ErrorKind kind,
                              std::string message,
                              std::string hint = {});

/// fail() for what a download would help with, which offline mode does not allow.
tl::unexpected<Error> fail_offline(ErrorKind kind, std::string message, std::string hint);

/// fail() for a file or folder that does not exist: "/path: no such folder".
tl::unexpected<Error> fail_missing(ErrorKind kind, std::string message, std::string path);

/// "-p /path": how a hint names an environment, quoted for a shell.
std::string environment_argument(const std::string& prefix);

/// `error` with a hint about the environment at `prefix`: "{}" in `hint` is its argument.
Error with_environment_hint(Error error, std::string_view hint, const std::string& prefix);

/// Passes a failure on, e.g. `return pass(std::move(result).error().while_doing("..."))`.
inline tl::unexpected<Error> pass(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace gpkg

#define GPKG_CONCAT_INNER(a, b) a##b
#define GPKG_CONCAT(a, b) GPKG_CONCAT_INNER(a, b)
#define GPKG_TRY_INNER(result, declaration, ...)                                    \
    auto result = (__VA_ARGS__);                                                    \
    if (!result) return ::tl::unexpected<::gpkg::Error>(std::move(result).error()); \
    declaration = *std::move(result)

/// `GPKG_TRY(auto text, read_file(path));` declares `text`, or returns the failure from the caller.
#define GPKG_TRY(declaration, ...) \
    GPKG_TRY_INNER(GPKG_CONCAT(gpkg_result_, __LINE__), declaration, __VA_ARGS__)

/// The same for a Result<void>: `GPKG_CHECK(write_file(path, text));`.
#define GPKG_CHECK(...)                                                                           \
    do {                                                                                          \
        auto gpkg_result = (__VA_ARGS__);                                                         \
        if (!gpkg_result) return ::tl::unexpected<::gpkg::Error>(std::move(gpkg_result).error()); \
    } while (false)
