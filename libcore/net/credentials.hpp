#pragma once

// Who one is to which server, from files that nobody else may read: gpkg's own, and the one that
// rattler and pixi keep. docs/reference/configuration.md has the format.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"
#include "libcore/net/url.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

struct Login {
    enum class Kind {
        Basic,
        Bearer,      ///< "Authorization: Bearer SECRET"
        CondaToken,  ///< "/t/SECRET" before the path
    };
    Kind kind = Kind::Basic;
    std::string user;  ///< of Basic
    std::string secret;
};

struct CredentialFiles {
    fs::path own;      ///< credentials.yaml; may be missing
    fs::path rattler;  ///< credentials.json, likewise; asked where the first has nothing
};

/// The files are read when the first URL of a server is asked for. May be used by several threads.
class Credentials {
public:
    explicit Credentials(CredentialFiles files) : files_(std::move(files)) {}

    /// Of the entry that says most of `url`. None for URLs that have a login of their own, and for
    /// files. An error where that entry stands in a file that others can read.
    Result<std::optional<Login>> for_url(std::string_view url);

private:
    struct Entry {
        Url place;  ///< of a host alone https; "*.host" is that and those below
        Login login;
        std::optional<Error> exposed;  ///< why it is not used
    };

    Result<void> read(const fs::path& file, bool is_own);
    const Entry* find(std::string_view url) const;

    CredentialFiles files_;
    std::mutex mutex_;
    bool is_read_ = false;
    std::optional<Error> problem_;
    std::vector<Entry> entries_;
};

}  // namespace gpkg
