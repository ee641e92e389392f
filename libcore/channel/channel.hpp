#pragma once

// What a channel is (CEP 26): a URL below which <subdir>/repodata.json is found. Turns what people
// write ("conda-forge", "./here", "https://host/t/<token>/mine/label/rc") into one canonical form,
// with secrets kept apart. Fetching is fetch_index.hpp.

#include "libcore/base/error.hpp"
#include "libcore/fs/file.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpkg {

/// What the meaning of a channel's text depends on.
struct ChannelContext {
    std::string alias = "https://conda.anaconda.org";  ///< bare names are looked up below it
    fs::path home;                                     ///< what "~" stands for
    fs::path folder;  ///< where relative paths begin; empty: the current folder
    /// The URL below which a channel of that name, or one whose name begins with it, is found.
    std::vector<std::pair<std::string, std::string>> custom;
    /// Names that stand for several channels.
    std::vector<std::pair<std::string, std::vector<std::string>>> several = {
        {"defaults", {"https://repo.anaconda.com/pkgs/main", "https://repo.anaconda.com/pkgs/r"}}};
    /// Channels, as people write them, that mirrors stand in for.
    std::vector<std::string> mirrored;
};

class Channel {
public:
    /// One channel. A name that stands for several, as "defaults" does, is for parse_channels().
    static Result<Channel> parse(std::string_view text, const ChannelContext& context);

    /// For people: "conda-forge", "conda-forge/label/rc", else the base URL.
    const std::string& name() const { return name_; }
    /// Without subdir, trailing slash and secrets: what records and files may keep.
    const std::string& base_url() const { return base_url_; }
    /// base_url() + "/" + subdir
    std::string subdir_url(std::string_view subdir) const;

    /// `url` with this channel's credentials put back, for the transport alone: whole below the
    /// base URL, the login elsewhere on the same origin, nothing for other origins.
    std::string with_credentials(std::string_view url) const;

    /// Whether its files are read where they are. A folder that mirrors stand in for, and that may
    /// not be there, is asked for them as a server is.
    bool is_local() const { return !is_mirrored_ && base_url_.starts_with("file:"); }
    /// The folder of a local channel.
    fs::path folder() const;

    friend bool operator==(const Channel& a, const Channel& b) {
        return a.base_url_ == b.base_url_;
    }

private:
    std::string name_;
    std::string base_url_;
    std::string secret_url_;  ///< the base URL with credentials; equal to it without any
    bool is_mirrored_ = false;
};

/// The channels that `text` stands for: several for some names, none for "nodefaults", else one.
Result<std::vector<Channel>> parse_channels(std::string_view text, const ChannelContext& context);
/// The same for a list, each channel kept where it stands first.
Result<std::vector<Channel>> parse_channels(const std::vector<std::string>& texts,
                                            const ChannelContext& context);

/// The subdirs a solve for `platform` reads: the platform's own, then noarch.
std::vector<std::string> subdirs_for(std::string_view platform);

}  // namespace gpkg
