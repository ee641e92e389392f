#include "cli/commands/lock.hpp"
#include "cli/options.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/confirm.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_flaws.hpp"
#include "libcore/lock/environments.hpp"
#include "libcore/lock/pip_requirement.hpp"
#include "libcore/net/url.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockConvertOptions {
    LockedOptions lock;
    std::string to;
    std::string format;    ///< empty: as `to` is called
    std::string of_class;  ///< empty: all
    bool dry_run = false;
    bool offline = false;
};

const std::map<std::string, LockFormat> kFormats = {{"gpkg", LockFormat::Gpkg},
                                                    {"pixi", LockFormat::Pixi7},
                                                    {"pixi-6", LockFormat::Pixi6},
                                                    {"conda-lock", LockFormat::CondaLock},
                                                    {"explicit", LockFormat::Explicit}};

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    names.reserve(kFormats.size());
    for (const auto& [name, format] : kFormats) names.push_back(name);
    return names;
}

/// The file that a format is usually in; empty for lists, whose names say what they are for.
std::string usual_name(const std::string& format) {
    if (format == "gpkg") return kUsualName;
    if (format == "pixi" || format == "pixi-6") return "pixi.lock";
    return format == "conda-lock" ? "conda-lock.yml" : "";
}

bool is_of_pixi(LockFormat format) {
    return format == LockFormat::Pixi6 || format == LockFormat::Pixi7;
}

Result<LockFormat> format_for(const LockConvertOptions& options) {
    const auto of_name = lock_format_of_name(options.to);
    if (!options.format.empty()) {
        const auto format = kFormats.at(options.format);
        if (of_name && *of_name != format && !(is_of_pixi(*of_name) && is_of_pixi(format)))
            return fail(ErrorKind::Usage,
                        fmt::format("--format {}: the file name {} stands for {}",
                                    options.format,
                                    options.to,
                                    name_of(*of_name)),
                        "choose a file name that fits the format");
        return format;
    }
    if (of_name) return *of_name;
    return fail(ErrorKind::Usage,
                fmt::format("{}: unknown format for this file name", options.to),
                fmt::format("use one of {}; or name the format with --format", kLockNames));
}

/// The class that --class names; without it, the only one of the default environment where no more
/// than one can be written.
Result<LockFile> wanted_of(const LockFile& lock,
                           LockFormat format,
                           const LockConvertOptions& options) {
    std::vector<std::string> names;
    names.reserve(lock.classes.size());
    for (const auto& locked : lock.classes) names.push_back(full_name(locked));
    if (const auto index = class_index(names, options.of_class))
        return lock.only({lock.classes[*index]});
    if (!options.of_class.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: no class '{}'", options.lock.file, options.of_class),
                    names.empty() ? "" : "classes in it: " + join_some(names, "and", names.size()));
    const auto usual = lock.default_classes();
    return format == LockFormat::Explicit && usual.size() == 1 ? lock.only({*usual.front()}) : lock;
}

/// What is beside the lock file is found from the new one's folder.
void move_places(LockFile& lock, const LockConvertOptions& options) {
    const auto folder_of = [](const std::string& file) {
        std::error_code code;
        const auto folder = fs::absolute(file, code).parent_path();
        auto real = fs::weakly_canonical(folder, code);
        return code ? folder.lexically_normal() : real;
    };
    const auto from = folder_of(options.lock.file);
    const auto to = folder_of(options.to);
    if (from == to) return;
    for (auto& package : lock.foreign) package = moved(std::move(package), from, to);
}

/// The URL of a channel that is named as people write it: that of the lock's packages, else what
/// the name means here.
Result<std::vector<std::string>> urls_of(const Context& context,
                                         const LockFile& lock,
                                         const std::string& channel) {
    if (channel.find("://") != std::string::npos) return std::vector{channel};
    for (const auto& package : lock.packages) {
        if (package.record.channel.ends_with("/" + channel))
            return std::vector{package.record.channel};
    }
    GPKG_TRY(const auto meant, parse_channels(std::vector{channel}, channel_context(context)));
    std::vector<std::string> urls;
    urls.reserve(meant.size());
    for (const auto& one : meant) urls.push_back(one.base_url());
    return urls;
}

/// conda-lock.yml names channels as people write them, and pixi.lock by their URLs.
Result<void> name_channels_by_url(const Context& context, LockFile& lock) {
    std::vector<LockedChannel> channels;
    for (const auto& channel : lock.channels) {
        GPKG_TRY(const auto urls, urls_of(context, lock, channel.url));
        for (const auto& url : urls) channels.push_back({url, channel.used_env_vars});
    }
    lock.channels = std::move(channels);
    return {};
}

bool has_restrictions(const LockFile& lock) {
    return std::any_of(lock.packages.begin(), lock.packages.end(), [](const auto& package) {
        const auto& texts = package.record.constrains;
        return std::any_of(
            texts.begin(), texts.end(), [](const auto& text) { return text.starts_with("__"); });
    });
}

/// What the format has no words for, and what it should not tell.
void warn_of_losses(Context& context, const LockFile& lock, LockFormat format) {
    const auto says = [&](auto LockWishes::*what) {
        return std::ranges::any_of(lock.classes, [&](const LockedClass& locked) {
            return !(lock.wishes_of(locked).*what).empty();
        });
    };
    std::vector<std::string> unsaid;
    if (says(&LockWishes::variables)) unsaid.emplace_back("variables");
    if (says(&LockWishes::accelerator)) unsaid.emplace_back("the accelerator");
    if (says(&LockWishes::pip)) unsaid.emplace_back("pip requirements");
    if (format != LockFormat::Gpkg && !unsaid.empty())
        context.out.warn(
            fmt::format("{} cannot store {}: left out", name_of(format), join_some(unsaid, "and")));
    if (format == LockFormat::CondaLock && has_restrictions(lock))
        context.out.warn(
            "conda-lock.yml cannot store run constraints (constrains): hardware limits of packages "
            "are left out");
    for (const auto& locked : lock.classes) {
        if (const auto flaws = flaws_of(lock, locked); !flaws.empty())
            context.out.warn(fmt::format("class {} is inconsistent and was converted unchanged: {}",
                                         full_name(locked),
                                         join_first(flaws, 1)));
    }
    const bool tells_login = std::ranges::any_of(lock.packages, [](const LockedPackage& package) {
        return without_secrets(package.record.url) != package.record.url;
    });
    if (tells_login)
        context.out.warn(
            "the package URLs contain credentials, which everyone who can read the file sees");
    const auto local = std::ranges::count_if(lock.packages, [](const LockedPackage& package) {
        return package.record.url.starts_with("file://");
    });
    if (local > 0)
        context.out.warn(
            fmt::format("{} from a folder of this machine (file://), which other machines may not "
                        "have",
                        local == 1 ? "1 package is" : fmt::format("{} packages are", local)));
    std::vector<std::string> lost;
    for (const auto& package : lock.foreign) {
        if (format == LockFormat::Explicit ||
            (format == LockFormat::CondaLock && package.is_editable))
            lost.push_back(package.name.empty() ? package.location : package.name);
    }
    if (lost.empty()) return;
    const auto names = join_some(lost, "and");
    context.out.warn(
        format == LockFormat::Explicit
            ? fmt::format("an explicit list has conda packages only: left out {}", names)
            : fmt::format(
                  "conda-lock.yml cannot store editable installs: {} will be installed as a copy",
                  names));
}

/// What the name of the file does not say: " (version 7)" of pixi.lock.
std::string format_remark(const std::string& file, LockFormat format) {
    const auto of_name = lock_format_of_name(file);
    if (of_name == LockFormat::Pixi7 && format == LockFormat::Pixi6) return " (version 6)";
    if (of_name != format) return fmt::format(" (format: {})", name_of(format));
    return format == LockFormat::Pixi7 ? " (version 7)" : "";
}

/// A lock in the way may hold the only copy of its request.
Result<void> confirm_replacing(Context& context,
                               const LockConvertOptions& options,
                               const std::string& text) {
    const auto before = read_file(options.to, kLongestWritten);
    if (!before || before->empty() || *before == text) return {};
    return confirm(context,
                   {fmt::format("Replace {}?", options.to),
                    false,
                    Error{ErrorKind::Conflict,
                          fmt::format("{}: exists already", options.to),
                          "add -y to replace it, or choose another file",
                          {}}});
}

Result<int> convert(Context& context, const CLI::App& command, const LockConvertOptions& given) {
    auto options = given;
    if (options.to.empty()) options.to = usual_name(options.format);
    if (options.to.empty()) return missing_argument(command, "TO");
    GPKG_TRY(const auto format, format_for(options));
    std::error_code code;
    if (fs::equivalent(options.lock.file, options.to, code))
        return fail(ErrorKind::Usage,
                    fmt::format("{}: cannot convert a lock file onto itself", options.to),
                    "choose another output file");
    GPKG_TRY(auto found, read_lock_file(context, options.lock.file));
    GPKG_TRY(const auto whole, environment_in(std::move(found.lock), options.lock));
    GPKG_TRY(auto lock, wanted_of(whole, format, options));
    move_places(lock, options);
    if (is_of_pixi(format)) GPKG_CHECK(name_channels_by_url(context, lock));
    // What cannot be written is told by a dry run as well, and before what is lost.
    GPKG_TRY(const auto text, format_lock(lock, format));
    warn_of_losses(context, lock, format);
    if (!options.dry_run) {
        GPKG_CHECK(check_lock_output(options.to));
        GPKG_CHECK(confirm_replacing(context, options, text));
        GPKG_CHECK(write_lock(std::move(lock), format, options.to));
    }
    if (context.out.json_mode()) {
        context.out.json(Json{{"success", true}, {"file", options.to}});
    } else {
        context.out.print(fmt::format("{} {}{}",
                                      options.dry_run ? "would write" : "wrote",
                                      options.to,
                                      format_remark(options.to, format)));
    }
    return 0;
}

}  // namespace

Action bind_convert(CLI::App& app) {
    const auto options = std::make_shared<LockConvertOptions>();
    app.add_option("file", options->lock.file, "lock file of any format")
        ->type_name("FROM")
        ->required();
    app.add_option("-o,--output,target",
                   options->to,
                   fmt::format("file to write, also as -o FILE: {}", kLockNames))
        ->type_name("TO");
    app.add_option("--format,--to",
                   options->format,
                   "format to write: gpkg, pixi, pixi-6, conda-lock or explicit")
        ->type_name("FORMAT")
        ->check(one_of(format_names()));
    add_environment_option(app, options->lock.environment);
    app.add_option("--class", options->of_class, "write only this class")->type_name("NAME");
    app.add_flag("-d,--dry-run", options->dry_run, "show the result without writing it");
    add_yes_option(app, "replace an existing file without asking");
    app.add_flag(
        "--offline", options->offline, "accepted for scripts; convert never uses the network");
    app.footer(
        "The name of the new file gives its format unless --format does; --format alone writes to "
        "the usual file name. Only gpkg.lock and "
        "pixi.lock version 7 can hold several classes of one platform; for other formats choose "
        "one with --class.\n\n"
        "  gpkg lock convert gpkg.lock pixi.lock\n"
        "  gpkg lock convert gpkg.lock pixi.lock --format pixi-6\n"
        "  gpkg lock convert gpkg.lock a100.txt --class a100  # for conda create --file\n"
        "  gpkg lock convert pixi.lock gpkg.lock --environment test");
    return [options, &app](Context& context) { return convert(context, app, *options); };
}

}  // namespace gpkg::cli::locks
