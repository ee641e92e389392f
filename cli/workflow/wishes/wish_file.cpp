#include "cli/workflow/wishes/wish_file.hpp"

#include "cli/usage.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// Files that are not text, and the command for them.
Result<void> check_is_text(const std::string& place) {
    const auto name = shell_word(place);
    if (place.ends_with(".sqfs"))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: an image, not a list of packages", place),
                    fmt::format("to run a command in it: gpkg image run {} -- COMMAND", name));
    const bool is_archive = place.ends_with(".tar.zst") || place.ends_with(".tar.gz") ||
                            place.ends_with(".tgz") || place.ends_with(".tar");
    if (!is_archive) return {};
    return fail(ErrorKind::Usage,
                fmt::format("{}: an archive, not a list of packages", place),
                fmt::format("to unpack an archive of gpkg pack: mkdir ml && tar -xf {} -C ml && "
                            "ml/bin/gpkg-relocate",
                            name));
}

Result<WishFile> fetch_wish_file(const Context& context, const std::string& place, bool offline) {
    if (!has_scheme(place) || place.starts_with("file://")) {
        auto path = absolute_path(place, context.home);
        if (has_scheme(place)) {
            GPKG_TRY(path, path_of_file_url(place));
        }
        GPKG_TRY(auto text, read_file(path, kLongestWritten));
        return WishFile{path, path.native(), in_utf8(std::move(text))};
    }
    const auto name = without_secrets(place);
    GPKG_TRY(const auto transport, open_transport(context));
    if (offline && needs_network(transport->mirrors(), place))
        return fail(ErrorKind::Network,
                    fmt::format("{}: cannot be downloaded with --offline", name),
                    "use a local copy");
    GPKG_TRY(const auto url, Url::parse(place));
    GetRequest request;
    request.url = place;
    request.most_bytes = kLongestWritten;
    TransferOptions how;
    how.offline = offline;
    how.stop = context.stop;
    GPKG_TRY(auto answer, get(*transport, request, how));
    const auto file = url.path.substr(url.path.rfind('/') + 1);
    return WishFile{absolute_path(file.empty() ? "." : file, context.home),
                    name,
                    in_utf8(std::move(answer.body)),
                    place};
}

}  // namespace

Result<std::shared_ptr<const WishFile>> read_wish_file(const Context& context,
                                                       const std::string& place,
                                                       bool offline) {
    GPKG_CHECK(check_is_text(place));
    auto& known = context.wish_files[place];
    if (known == nullptr) {
        auto file = fetch_wish_file(context, place, offline);
        if (!file) {
            auto& error = file.error();
            if (error.kind == ErrorKind::NotFound) {
                error.kind = ErrorKind::NoWishFile;
                error = with_near_file(std::move(error));
                if (error.hint.empty() && fs::path(place).filename() == "environment.yml")
                    error.hint =
                        "name a file with -f; to write one from an environment: gpkg env export -n "
                        "NAME --from-history -f environment.yml";
            }
            return pass(std::move(error));
        }
        known = std::make_shared<const WishFile>(*std::move(file));
    }
    return known;
}

}  // namespace gpkg::cli
