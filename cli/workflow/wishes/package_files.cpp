#include "cli/workflow/wishes/package_files.hpp"

#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/net/url.hpp"
#include "libcore/package/info.hpp"
#include "libcore/package/unpack.hpp"
#include "libcore/spec/names.hpp"

#include <fmt/format.h>

namespace gpkg::cli {
namespace {

/// "rename it to numpy-1.24.2-0.conda": what the file has inside; else how to look.
std::string rename_hint(const ExplicitPackage& package) {
    const auto info = read_package_info(package.location);
    if (info && info->contains("index.json")) {
        if (const auto record = parse_index_json(info->at("index.json"), package.location))
            return fmt::format("rename it to {}{}",
                               record->distribution(),
                               package.fn.ends_with(".conda") ? ".conda" : ".tar.bz2");
    }
    return fmt::format("gpkg inspect {} shows its name, version and build",
                       shell_word(package.location));
}

/// The record of a package file that is only known by its place: the rest is in its own info/.
Result<PackageRecord> record_of(const ExplicitPackage& package) {
    auto name = FileName::parse(package.fn);
    std::error_code ignored;
    if (!name && !package.is_url && !fs::exists(package.location, ignored))
        return fail_missing(ErrorKind::NotFound,
                            fmt::format("{}: no such file", package.location),
                            package.location);
    if (!name) {
        auto error = std::move(name).error();
        if (!package.is_url) error.hint = rename_hint(package);
        // The message begins with the file.
        const bool is_word = package.place.ends_with(package.fn);
        return pass(is_word ? std::move(error) : std::move(error).while_doing(package.place));
    }
    PackageRecord record;
    record.name = name->name;
    record.version = name->version;
    record.build = name->build;
    record.fn = package.fn;
    record.url = package.is_url ? package.location : file_url(package.location);
    record.md5 = package.md5;
    record.sha256 = package.sha256;
    // ".../channel/subdir/file" as far as the place looks like one.
    const auto path = without_query(record.url);
    const auto folder = std::string(path.substr(0, path.rfind('/')));
    const auto subdir = folder.substr(folder.rfind('/') + 1);
    record.channel = is_known_subdir(subdir) ? folder.substr(0, folder.rfind('/')) : folder;
    record.subdir = is_known_subdir(subdir) ? subdir : "";
    return record;
}

/// As far as the place of a package file tells its platform.
Result<void> check_is_for(const PackageRecord& record,
                          const std::string& what,
                          const std::string& platform) {
    if (record.subdir.empty() || record.subdir == "noarch" || record.subdir == platform) return {};
    return fail(
        ErrorKind::Conflict,
        fmt::format("{}: made for {}, not for {}", what, record.subdir, platform),
        fmt::format("leave it out, or use --platform {0} if all files are for {0}", record.subdir));
}

/// Takes the login out of the record's URL. It goes with the channel, which tells it to nobody but
/// the server.
Result<void> part_from_login(const Context& context,
                             PackageRecord& record,
                             std::vector<Channel>& channels) {
    if (without_secrets(record.url) == record.url) return {};
    ChannelContext where;
    where.home = context.home;
    GPKG_TRY(auto channel, Channel::parse(record.channel, where));
    record.url = without_secrets(record.url);
    record.channel = channel.base_url();
    channels.push_back(std::move(channel));
    return {};
}

}  // namespace

bool is_package_place(std::string_view text) {
    const auto path = without_query(text);
    if (path.find('[') != std::string_view::npos || package_extension(path).empty()) return false;
    std::error_code ignored;
    return text.find('/') != std::string_view::npos || fs::is_regular_file(text, ignored);
}

Result<ExplicitPackage> package_at(const Context& context, const std::string& place) {
    const auto location = has_scheme(place) ? place : absolute_path(place, context.home).native();
    SpecFileOptions how;
    how.home = context.home;
    GPKG_TRY(auto file, parse_spec_file("@EXPLICIT\n" + location + "\n", place, how));
    auto& package = file.packages.front();
    package.place = without_secrets(place);
    return std::move(package);
}

Result<void> PackageFiles::take(const Context& context,
                                const ExplicitPackage& package,
                                const std::string& what,
                                const std::string& platform) {
    GPKG_TRY(auto record, record_of(package));
    GPKG_CHECK(check_is_for(record, what, platform));
    GPKG_CHECK(part_from_login(context, record, channels));
    records.push_back(std::move(record));
    return {};
}

}  // namespace gpkg::cli
