#pragma once

// URLs as gpkg needs them: taken apart, shown without their secrets, and file:// both ways.
// Only http, https, file and oci are known. Nothing here asks the network.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>

namespace gpkg {

/// The parts of "scheme://userinfo@host:port/path?query"; what is absent is empty.
struct Url {
    std::string scheme;    ///< lowercase: "http", "https", "file" or "oci"
    std::string userinfo;  ///< "user:password" as written, percent-encoded
    std::string host;      ///< lowercase, brackets of an IPv6 address included
    std::string port;      ///< empty when it is the scheme's own
    std::string path;      ///< as written, percent-encoded; begins with '/' or is empty
    std::string query;     ///< without '?', fragment dropped

    static Result<Url> parse(std::string_view text);

    /// "scheme://host:port": who gets to see a credential.
    std::string origin() const;
    std::string to_string() const;

    friend bool operator==(const Url&, const Url&) = default;
};

/// True when `text` begins with "scheme://".
bool has_scheme(std::string_view text);

/// `url` fit for messages, logs and files: no userinfo, "/t/<token>/" taken out, no query.
/// Anything that is not a URL comes back as it is.
std::string without_secrets(std::string_view url);

/// A text for people with every URL in it as without_secrets() has it, also one that is none
/// because of its login ("http://me:a/b@host"), and without logins that have no scheme
/// ("me:password@host"). Fragments are kept, unless they may hold a secret ("#access_token=...").
std::string hide_secrets(std::string_view text);

/// The same where a person should see that there is a login or token:
/// "https://***@host/t/***/chan". The other two leave that as it is.
std::string mask_secrets(std::string_view text);
/// A single URL or host so. Masks whatever stands before its host: "token@host" too.
std::string mask_login(std::string_view url);

/// "/my data/chan" -> "file:///my%20data/chan". The path must be absolute.
std::string file_url(const fs::path& path);
/// "file:///my%20data/chan" -> "/my data/chan". A host other than localhost is an error.
Result<fs::path> path_of_file_url(std::string_view url);

}  // namespace gpkg
