#include "libcore/channel/channel.hpp"

#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace gpkg {
namespace {

constexpr std::string_view kAnacondaOrg = "https://conda.anaconda.org";
constexpr std::string_view kAnacondaCom = "https://repo.anaconda.com";
constexpr std::size_t kLongestPart = 128;

bool is_one_of(char c, std::string_view more) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string::npos;
}

/// CEP 26's `^\.{0,2}[/\\].*$`, and what people write besides: ".", "..", "~", "~/x".
bool looks_like_path(std::string_view text) {
    const auto dots = std::min(text.find_first_not_of('.'), text.size());
    const auto rest = text.substr(dots);
    return (dots <= 2 && (rest.starts_with('/') || rest.starts_with('\\'))) ||
           (dots > 0 && dots <= 2 && rest.empty()) || text.starts_with('~');
}

tl::unexpected<Error> bad(std::string_view text, std::string_view what, std::string hint = {}) {
    return fail(ErrorKind::Parse,
                fmt::format("channel '{}': {}", without_secrets(text), what),
                std::move(hint));
}

/// CEP 26 wants lowercase names; anaconda.org has some with capitals, which must stay reachable.
/// A URL that somebody else chose may use what URLs may.
Result<void> check_parts(std::string_view text, std::string_view path, bool is_name) {
    const auto parts = split(path, '/');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto part = parts[i];
        if (part.empty()) return bad(text, "a path part is empty");
        if (part.size() > kLongestPart)
            return bad(text, fmt::format("a part is longer than {} characters", kLongestPart));
        if (part == "." || part == "..") return bad(text, "'.' and '..' are not allowed");
        const std::string_view more = is_name ? "_-." : "_-.~%+@:,=!$()";
        const bool fine =
            std::all_of(part.begin(), part.end(), [&](char c) { return is_one_of(c, more); });
        if (!fine || (is_name && !is_one_of(part.front(), "_")))
            return bad(text,
                       fmt::format("'{}' is not allowed in a channel name", part),
                       "use a name (letters, digits, '-', '_', '.'), a URL, or a path that starts "
                       "with './', '/' or '~'");
        if (part != "label" || i == 0) continue;
        if (i + 1 == parts.size()) return bad(text, "the label after '/label' is missing");
        if (!is_label(parts[i + 1]))
            return bad(
                text, fmt::format("'{}' is not a label; labels start with a letter", parts[i + 1]));
    }
    return {};
}

Result<void> refuse_subdir(std::string_view text, std::string_view path) {
    const auto slash = path.rfind('/');
    const auto last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    if (!is_known_subdir(last)) return {};
    auto parent = without_secrets(text);
    while (parent.ends_with('/')) parent.pop_back();
    if (parent.size() > last.size()) parent.resize(parent.size() - last.size() - 1);
    return bad(text,
               fmt::format("'{}' is a platform, not a part of the channel", last),
               last == "noarch" ? fmt::format("use -c {}", parent)
                                : fmt::format("use -c {} --platform {}", parent, last));
}

/// Without trailing slashes, and "/t/<token>" taken out.
std::string clean_path(std::string path) {
    while (path.ends_with('/')) path.pop_back();
    return path;
}

/// A name of several channels; null for all else.
const std::vector<std::string>* several_of(std::string_view text, const ChannelContext& context) {
    for (const auto& [name, channels] : context.several) {
        if (name == text) return &channels;
    }
    return nullptr;
}

/// The base URL that a custom channel of this place has; `below` may be a path.
std::string custom_base(const std::string& below, std::string_view name, const fs::path& home) {
    auto base = looks_like_path(below) ? file_url(absolute_path(below, home)) : below;
    return fmt::format("{}/{}", clean_path(std::move(base)), name);
}

/// The URL of a channel that the user gave a place of its own: the longest name that begins it.
std::optional<std::string> custom_url(std::string_view text, const ChannelContext& context) {
    const std::pair<std::string, std::string>* best = nullptr;
    for (const auto& one : context.custom) {
        const bool begins = text == one.first || text.starts_with(one.first + "/");
        if (begins && (best == nullptr || one.first.size() > best->first.size())) best = &one;
    }
    if (best == nullptr) return std::nullopt;
    return custom_base(best->second, text, context.home);
}

/// "https://conda.anaconda.org/conda-forge" -> "conda-forge".
std::string shown_name(const std::string& base_url, const ChannelContext& context) {
    for (const auto& [name, below] : context.custom) {
        const auto custom = without_secrets(custom_base(below, name, context.home));
        if (base_url == custom || base_url.starts_with(custom + "/"))
            return name + base_url.substr(custom.size());
    }
    const auto alias = clean_path(without_secrets(context.alias));
    for (const auto prefix : {std::string_view(alias), kAnacondaOrg, kAnacondaCom}) {
        if (!prefix.empty() && base_url.starts_with(prefix) && base_url.size() > prefix.size() &&
            base_url[prefix.size()] == '/')
            return base_url.substr(prefix.size() + 1);
    }
    return base_url;
}

/// Whether mirrors stand in for it.
bool has_mirrors(const Channel& channel, const ChannelContext& context) {
    if (context.mirrored.empty()) return false;
    auto where = context;
    where.mirrored.clear();
    return std::any_of(context.mirrored.begin(), context.mirrored.end(), [&](const auto& name) {
        const auto other = Channel::parse(name, where);
        return other && *other == channel;
    });
}

}  // namespace

Result<Channel> Channel::parse(std::string_view text, const ChannelContext& context) {
    const auto written = text;
    text = trim(text);
    if (text.empty()) return bad(written, "the name is empty");
    if (const auto* several = several_of(text, context))
        return bad(text, "the name stands for several channels", "use one of " + join_or(*several));

    std::string url(text);
    if (looks_like_path(text)) {
        if (text.starts_with('~') && text.size() > 1 && text[1] != '/')
            return bad(text, "'~user' is not supported", "write the path in full");
        if (text.starts_with('~') && context.home.empty())
            return bad(text, "no home folder found", "write the path in full");
        const bool relative = text.front() == '.' && !context.folder.empty();
        url = file_url(absolute_path(
            relative ? (context.folder / text).native() : std::string(text), context.home));
    } else if (!has_scheme(text)) {
        if (text.size() > 1 && text[1] == ':')
            return bad(text, "Windows paths do not work on this system");
        while (text.ends_with('/')) text.remove_suffix(1);
        GPKG_CHECK(check_parts(text, text, true));
        const bool anaconda = text.starts_with("pkgs/");
        url = custom_url(text, context)
                  .value_or(
                      fmt::format("{}/{}",
                                  clean_path(anaconda ? std::string(kAnacondaCom) : context.alias),
                                  text));
    }

    GPKG_TRY(auto parts, Url::parse(url));
    if (!parts.query.empty() || url.find('#') != std::string::npos)
        return bad(text, "'?' and '#' are not allowed");
    if (parts.scheme == "file") {
        GPKG_TRY(const auto path, path_of_file_url(url));
        parts =
            Url{"file", "", "", "", percent_encode(absolute_path(path.native(), {}).native()), ""};
    }
    parts.path = clean_path(parts.path);
    if (parts.path.empty() && parts.scheme == "file")
        return bad(text, "the root folder is not a channel");

    Channel channel;
    channel.secret_url_ = parts.to_string();
    channel.base_url_ =
        parts.scheme == "file" ? channel.secret_url_ : without_secrets(channel.secret_url_);
    const auto origin = parts.origin().size();
    const auto path = std::string_view(channel.base_url_).substr(origin);
    if (parts.scheme != "file" && path.size() > 1)
        GPKG_CHECK(check_parts(text, path.substr(1), false));
    GPKG_CHECK(refuse_subdir(text, path));
    channel.name_ = shown_name(channel.base_url_, context);
    // Of others it makes no difference, and many are parsed.
    channel.is_mirrored_ = parts.scheme == "file" && has_mirrors(channel, context);
    return channel;
}

std::string Channel::subdir_url(std::string_view subdir) const {
    return base_url_ + "/" + std::string(subdir);
}

std::string Channel::with_credentials(std::string_view url) const {
    if (secret_url_ == base_url_) return std::string(url);
    if (url == base_url_ || url.starts_with(base_url_ + "/"))
        return secret_url_ + std::string(url.substr(base_url_.size()));
    auto there = Url::parse(url);
    const auto here = Url::parse(secret_url_);
    if (!there || !here || there->origin() != here->origin() || !there->userinfo.empty())
        return std::string(url);
    there->userinfo = here->userinfo;
    return there->to_string();
}

fs::path Channel::folder() const {
    // parse() has made this URL from a path.
    return path_of_file_url(base_url_).value_or(fs::path());
}

Result<std::vector<Channel>> parse_channels(std::string_view text, const ChannelContext& context) {
    if (trim(text) == "nodefaults") return std::vector<Channel>{};
    std::vector<std::string> names{std::string(text)};
    if (const auto* several = several_of(trim(text), context)) names = *several;
    std::vector<Channel> channels;
    for (const auto& name : names) {
        GPKG_TRY(auto channel, Channel::parse(name, context));
        channels.push_back(std::move(channel));
    }
    return channels;
}

Result<std::vector<Channel>> parse_channels(const std::vector<std::string>& texts,
                                            const ChannelContext& context) {
    std::vector<Channel> channels;
    for (const auto& text : texts) {
        GPKG_TRY(auto some, parse_channels(text, context));
        for (auto& channel : some) {
            if (std::find(channels.begin(), channels.end(), channel) == channels.end())
                channels.push_back(std::move(channel));
        }
    }
    return channels;
}

std::vector<std::string> subdirs_for(std::string_view platform) {
    if (platform == "noarch") return {"noarch"};
    return {std::string(platform), "noarch"};
}

}  // namespace gpkg
