#include "cli/workflow/wishes.hpp"

#include "cli/options.hpp"
#include "cli/workflow/ask/accelerators.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/history.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/env/transaction.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/manifest/environment_yml.hpp"
#include "libcore/manifest/spec_file.hpp"
#include "libcore/net/get.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace gpkg::cli {

/// What -f names: a file, or what a server has at a URL.
struct WishFile {
    fs::path path;     ///< what a server has, as if it lay in this folder
    std::string name;  ///< in messages
    std::string text;
};

namespace {

/// The record of a package file that is only known by its place: the rest is in its own info/.
Result<PackageRecord> record_of(const ExplicitPackage& package) {
    auto name = FileName::parse(package.fn);
    if (!name) return pass(std::move(name).error().while_doing(package.place));
    PackageRecord record;
    record.name = name->name;
    record.version = name->version;
    record.build = name->build;
    record.fn = package.fn;
    record.url = package.is_url ? package.location : file_url(package.location);
    record.md5 = package.md5;
    record.sha256 = package.sha256;
    // ".../channel/subdir/file" as far as the place looks like one.
    const auto folder = record.url.substr(0, record.url.rfind('/'));
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
        fmt::format("leave it out, or use --platform {0} where all are for {0}", record.subdir));
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

/// "./zlib-1.3-0.conda", "https://host/zlib-1.3-0.tar.bz2": a package file, not a spec.
bool is_package_place(std::string_view text) {
    return text.find('/') != std::string_view::npos && text.find('[') == std::string_view::npos &&
           (text.ends_with(".conda") || text.ends_with(".tar.bz2"));
}

Result<PackageRecord> record_at(const Context& context, const std::string& place) {
    const auto location = has_scheme(place) ? place : absolute_path(place, context.home).native();
    SpecFileOptions how;
    how.home = context.home;
    GPKG_TRY(const auto file, parse_spec_file("@EXPLICIT\n" + location + "\n", place, how));
    return record_of(file.packages.front());
}

Result<WishFile> fetch_wish_file(const Context& context, const std::string& place, bool offline) {
    if (!has_scheme(place) || place.starts_with("file://")) {
        auto path = absolute_path(place, context.home);
        if (has_scheme(place)) {
            GPKG_TRY(path, path_of_file_url(place));
        }
        GPKG_TRY(auto text, read_file(path, kLongestWritten));
        return WishFile{path, path.native(), std::move(text)};
    }
    const auto name = without_secrets(place);
    if (offline)
        return fail(ErrorKind::Network,
                    fmt::format("{}: is not asked for with --offline", name),
                    "take a copy on this machine");
    GPKG_TRY(const auto url, Url::parse(place));
    GPKG_TRY(const auto transport, open_transport(context));
    GetRequest request;
    request.url = place;
    request.most_bytes = kLongestWritten;
    TransferOptions how;
    how.stop = context.stop;
    GPKG_TRY(auto answer, get(*transport, request, how));
    const auto file = url.path.substr(url.path.rfind('/') + 1);
    return WishFile{
        absolute_path(file.empty() ? "." : file, context.home), name, std::move(answer.body)};
}

/// Each is read once, however many machines it is asked about for.
Result<std::shared_ptr<const WishFile>> read_wish_file(const Context& context,
                                                       const std::string& place,
                                                       bool offline) {
    auto& known = context.wish_files[place];
    if (known == nullptr) {
        GPKG_TRY(auto file, fetch_wish_file(context, place, offline));
        known = std::make_shared<const WishFile>(std::move(file));
    }
    return known;
}

/// What files say of accelerators. None goes before another, so that they must agree; where they do
/// not, the command line can say it.
class AcceleratorsOfFiles {
public:
    explicit AcceleratorsOfFiles(const AcceleratorWishes& on_line) : on_line_(on_line) {}

    Result<void> take(const AcceleratorWishes& said, const std::string& file) {
        const auto of_all = to_string(AcceleratorWishes{said.all, said.fallbacks, {}});
        if (!of_all.empty()) {
            const bool is_settled = !on_line_.all.empty() || !on_line_.fallbacks.empty();
            GPKG_CHECK(compare("", of_all, file, is_settled));
        }
        for (const auto& [name, choice] : said.of_package)
            GPKG_CHECK(compare(
                name, std::string(to_string(choice)), file, on_line_.of_package.contains(name)));
        together_.override_with(said);
        return {};
    }

    const AcceleratorWishes& together() const { return together_; }

private:
    Result<void> compare(const std::string& name,
                         const std::string& wish,
                         const std::string& file,
                         bool is_settled) {
        const auto [first, is_new] = said_.emplace(name, std::pair(wish, file));
        if (is_new || is_settled || first->second.first == wish) return {};
        const auto of = name.empty() ? std::string() : fmt::format(" of {}", name);
        return fail(ErrorKind::Usage,
                    fmt::format("{} says accelerator {}{}, and {} says {}",
                                first->second.second,
                                first->second.first,
                                of,
                                file,
                                wish),
                    name.empty() ? "--accel says which counts"
                                 : fmt::format("{}[accel={}] says which counts", name, wish));
    }

    const AcceleratorWishes& on_line_;
    AcceleratorWishes together_;
    std::map<std::string, std::pair<std::string, std::string>> said_;  ///< what, and the file
};

Result<Manifest> manifest_of(const Context& context,
                             const WishFile& file,
                             const std::string& platform,
                             bool ignore_name) {
    ManifestOptions options;
    options.platform = platform;
    options.home = context.home;
    options.env = context.env;
    options.ignore_name = ignore_name;
    return parse_environment_yml(file.text, file.name, options);
}

Result<void> take_manifest(Context& context,
                           const WishFile& file,
                           Manifest manifest,
                           Wishes& wishes,
                           AcceleratorsOfFiles& accelerators,
                           SourceOptions& sources) {
    for (const auto& warning : manifest.warnings) context.out.warn_once(warning);
    if (!manifest.pip.empty()) wishes.pip.push_back({file.path, std::move(manifest.pip)});
    wishes.specs.insert(
        wishes.specs.end(), manifest.dependencies.begin(), manifest.dependencies.end());
    GPKG_CHECK(accelerators.take(manifest.accelerators, file.name));
    for (auto& [name, value] : manifest.variables) {
        auto fine = check_variable_name(name);
        if (!fine) return pass(std::move(fine).error().while_doing(file.name + ": variables"));
        wishes.variables[name] = value;
    }
    if (manifest.name) wishes.name = *manifest.name;
    if (manifest.prefix) wishes.prefix = manifest.prefix->native();
    if (!sources.override_channels) {
        sources.channels.insert(
            sources.channels.end(), manifest.channels.begin(), manifest.channels.end());
        sources.override_channels = manifest.nodefaults && !sources.channels.empty();
    }
    return {};
}

/// "./lo::p" is a path from here; what is remembered of it must mean the same from elsewhere, and a
/// login is not remembered at all.
Result<void> settle_channel(const Context& context, MatchSpec& spec) {
    const auto& asked = spec.channel;
    if (asked && has_scheme(*asked)) spec.channel = without_secrets(*asked);
    if (!asked || !(*asked == "." || *asked == ".." || *asked == "~" || asked->starts_with("./") ||
                    asked->starts_with("../") || asked->starts_with("~/")))
        return {};
    ChannelContext where;
    where.home = context.home;
    GPKG_TRY(const auto channel, Channel::parse(*asked, where));
    spec.channel = channel.base_url();
    return {};
}

}  // namespace

void add_wish_options(CLI::App& app, WishOptions& options) {
    app.add_option("specs", options.specs, "packages, e.g. numpy 'python=3.12' conda-forge::zlib")
        ->type_name("SPEC");
    app.add_option(
           "-f,--file", options.files, "environment.yml, a list of specs, or an explicit list")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);  // the words that follow are specs
    app.add_option("--accel",
                   options.accelerator,
                   "builds for: auto (the GPU that is there), nvidia, amd, none, conda (by build "
                   "number); of several, \"nvidia,none\", the first that works")
        ->type_name("WHAT");
}

Result<Wishes> read_wishes(Context& context, const WishOptions& options, SourceOptions& sources) {
    Wishes wishes;
    GPKG_TRY(const auto machine, machine_of(context, sources));
    Asked asked;
    for (const auto& text : options.specs) {
        if (is_package_place(text)) {
            GPKG_TRY(auto record, record_at(context, text));
            GPKG_CHECK(check_is_for(record, without_secrets(text), machine.platform));
            GPKG_CHECK(part_from_login(context, record, wishes.channels));
            wishes.explicit_records.push_back(std::move(record));
            continue;
        }
        if (auto taken = asked.take(text, machine.platform); !taken) {
            taken.error().kind = ErrorKind::Usage;
            return pass(std::move(taken).error());
        }
    }
    wishes.specs = std::move(asked.specs);
    if (options.accelerator) {
        if (!asked.accelerators.all.empty() || !asked.accelerators.fallbacks.empty())
            return fail(ErrorKind::Usage,
                        "--accel and a hardware selector both say what it is to be for: leave out "
                        "one of them");
        auto choices = parse_accelerator_choices(*options.accelerator);
        if (!choices) {
            choices.error().message = "--accel " + choices.error().message;
            return pass(std::move(choices).error());
        }
        asked.accelerators.all = *std::move(choices);
    }
    AcceleratorsOfFiles of_files(asked.accelerators);
    for (const auto& text : options.files) {
        GPKG_TRY(const auto read, read_wish_file(context, text, sources.offline));
        const auto& given = *read;
        const auto format = lock_format_of_name(given.path);
        if (given.path.extension() == ".lock" || format == LockFormat::CondaLock)
            return fail(ErrorKind::Usage,
                        fmt::format("{}: is a lock file, not a list of specs", given.name),
                        fmt::format("gpkg create -n NAME --lock {}", text));
        if (is_environment_yml(given.path)) {
            GPKG_TRY(auto manifest,
                     manifest_of(context, given, machine.platform, options.ignore_names));
            GPKG_CHECK(
                take_manifest(context, given, std::move(manifest), wishes, of_files, sources));
            continue;
        }
        SpecFileOptions how;
        how.platform = machine.platform;
        how.home = context.home;
        how.env = context.env;
        GPKG_TRY(const auto file, parse_spec_file(given.text, given.name, how));
        for (const auto& warning : file.warnings) context.out.warn(warning);
        wishes.specs.insert(wishes.specs.end(), file.asked.specs.begin(), file.asked.specs.end());
        GPKG_CHECK(of_files.take(file.asked.accelerators, given.name));
        for (const auto& package : file.packages) {
            GPKG_TRY(auto record, record_of(package));
            GPKG_CHECK(check_is_for(
                record, fmt::format("{}: {}", package.place, record.fn), machine.platform));
            GPKG_CHECK(part_from_login(context, record, wishes.channels));
            wishes.explicit_records.push_back(std::move(record));
        }
    }
    wishes.accelerators = of_files.together();
    wishes.accelerators.override_with(asked.accelerators);
    for (const auto& selector : wishes.accelerators.unheeded())
        context.out.warn_once(
            fmt::format("{} asks for nothing here: it is for another CPU than {}'s",
                        selector,
                        machine.platform));
    for (auto& spec : wishes.specs) GPKG_CHECK(settle_channel(context, spec));
    if (!wishes.explicit_records.empty() && !wishes.specs.empty())
        return fail(
            ErrorKind::Usage,
            "package files are installed as they are: no other specs can stand beside them");
    return wishes;
}

Result<std::vector<std::string>> platforms_of_files(Context& context,
                                                    const WishOptions& options,
                                                    bool offline) {
    std::vector<std::string> platforms;
    for (const auto& place : options.files) {
        GPKG_TRY(const auto file, read_wish_file(context, place, offline));
        if (!is_environment_yml(file->path)) continue;
        GPKG_TRY(const auto manifest, manifest_of(context, *file, "", options.ignore_names));
        for (const auto& platform : manifest.platforms) {
            if (std::find(platforms.begin(), platforms.end(), platform) == platforms.end())
                platforms.push_back(platform);
        }
    }
    return platforms;
}

Result<void> heed_usual_accelerator(const Context& context, AcceleratorWishes& wishes) {
    const auto& usual = context.config.accelerator.value;
    if (usual.empty() || !wishes.all.empty() || !wishes.fallbacks.empty()) return {};
    GPKG_TRY(wishes.all, parse_accelerator_choices(usual));
    return {};
}

ExactRequest explicit_request(const fs::path& prefix, Wishes wishes) {
    ExactRequest request;
    request.prefix = prefix;
    request.records = std::move(wishes.explicit_records);
    request.channels = std::move(wishes.channels);
    request.records_are_bare = true;
    request.variables = std::move(wishes.variables);
    request.state = state_of(wishes.accelerators);
    return request;
}

std::vector<MatchSpec> wishes_of(const fs::path& path) {
    std::vector<MatchSpec> specs;
    const auto prefix = Prefix::open(path);
    if (!prefix) return specs;
    const auto history = prefix->history();
    if (!history) return specs;
    return wishes_in(*history);
}

std::vector<MatchSpec> wishes_in(const std::vector<HistoryEntry>& history) {
    std::vector<MatchSpec> specs;
    for (const auto& text : requested_specs(history)) {
        if (auto spec = MatchSpec::parse(text)) specs.push_back(*std::move(spec));
    }
    return specs;
}

}  // namespace gpkg::cli
