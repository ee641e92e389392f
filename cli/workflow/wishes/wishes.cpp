#include "cli/workflow/wishes/wishes.hpp"

#include "cli/given_words.hpp"
#include "cli/options.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/wishes/accelerators_of_files.hpp"
#include "cli/workflow/wishes/wish_file.hpp"
#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/environments.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/manifest/environment_yml.hpp"
#include "libcore/manifest/spec_file.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/names.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string_view>

namespace gpkg::cli {
namespace {

/// By its name, and where that tells nothing (/dev/stdin), by the key that each has.
bool holds_environment_yml(const WishFile& file) {
    return is_environment_yml(file.path) || file.text.starts_with("dependencies:") ||
           file.text.find("\ndependencies:") != std::string::npos ||
           trim(file.text).starts_with('{');
}

bool is_explicit_list(std::string_view text) {
    return text.starts_with("@EXPLICIT") || text.find("\n@EXPLICIT") != std::string_view::npos;
}

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
    if (!manifest.pip.empty()) {
        auto& section = wishes.pip.emplace_back();
        section.file = file.path;
        section.requirements = std::move(manifest.pip);
        section.url = file.url;
    }
    wishes.specs.insert(
        wishes.specs.end(), manifest.dependencies.begin(), manifest.dependencies.end());
    GPKG_CHECK(accelerators.take(manifest.accelerators, file.name));
    for (auto& [name, value] : manifest.variables) {
        auto fine = check_variable_name(name);
        if (!fine) return pass(std::move(fine).error().while_doing(file.name + ": variables"));
        wishes.variables[name] = value;
    }
    if (manifest.name) wishes.name = *manifest.name;
    wishes.ignored_name = std::move(manifest.ignored_name);
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

/// A lock, unless it is a list of package files, which conda-lock calls so as well
/// ("conda-linux-64.lock"). What is called "conda-lock-dev.yml" may be what one is made from.
bool is_lock(const WishFile& file) {
    const auto format = lock_format_of_name(file.path);
    const bool is_named_lock = file.path.extension() == ".lock" || format == LockFormat::CondaLock;
    return is_named_lock && !is_explicit_list(file.text) &&
           (format != LockFormat::CondaLock || detect_lock_format(file.text, file.name));
}

/// Packages that nearly every export of a system has, and those of others have not.
struct SystemPackages {
    std::string_view system;
    std::string_view platform;  ///< what its platforms begin with
    std::vector<std::string_view> names;
};

/// "macOS", where the packages with exact builds are those of macOS alone; empty if no system is
/// named by them.
std::string_view system_of(const std::vector<std::string>& names, std::string_view platform) {
    static const SystemPackages systems[] = {
        {"Linux",
         "linux-",
         {"_libgcc_mutex", "_openmp_mutex", "ld_impl_linux-64", "libgcc", "libgcc-ng", "libgomp"}},
        {"macOS", "osx-", {"appnope", "libcxx", "pyobjc-core"}},
        {"Windows", "win-", {"ucrt", "vc", "vc14_runtime", "vs2015_runtime"}},
    };
    for (const auto& [system, its_platform, its_names] : systems) {
        const bool has_any = std::ranges::any_of(names, [&, &its = its_names](const auto& name) {
            return std::ranges::find(its, name) != its.end();
        });
        // Of Linux first: libcxx is there as well.
        if (has_any) return platform.starts_with(its_platform) ? "" : system;
    }
    return "";
}

/// The system that an environment.yml with exact builds was exported on; empty if it may be this
/// one. Builds name it ("22_osxarm64_openblas"), and so do the prefix and some packages.
std::string foreign_system(const Manifest& manifest,
                           std::string_view text,
                           const std::string& platform) {
    std::vector<std::string> exact;
    for (const auto& spec : manifest.dependencies) {
        if (!spec.build || !spec.build->is_exact()) continue;
        exact.push_back(spec.name);
        for (const auto& subdir : known_subdirs()) {
            std::string joined(subdir);
            std::erase(joined, '-');
            const auto build = spec.build->text();
            const auto parts = split(std::string_view(build), '_');
            if (subdir != "noarch" && subdir != platform &&
                std::ranges::find(parts, joined) != parts.end())
                return std::string(subdir);
        }
    }
    if (exact.empty()) return "";
    // With -n and -p the manifest has no prefix.
    const bool is_of_mac = text.find("\nprefix: /Users/") != std::string_view::npos;
    if (is_of_mac) return platform.starts_with("osx-") ? "" : "macOS";
    return std::string(system_of(exact, platform));
}

void warn_of_foreign_builds(Context& context,
                            const WishFile& file,
                            const Manifest& manifest,
                            const std::string& platform) {
    const auto system = foreign_system(manifest, file.text, platform);
    if (system.empty()) return;
    context.out.warn_once(fmt::format(
        "{}: lists builds for {}, which do not exist for {}; --ignore-builds ignores them",
        file.name,
        system,
        platform));
}

/// "numpy 1.2": no package is called like a version.
Result<void> check_is_not_version(const std::string& before, const std::string& text) {
    const bool is_version =
        std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
    if (text.empty() || !is_version || !is_package_name(before)) return {};
    return fail(ErrorKind::Usage,
                fmt::format("'{}' is a version, not a package", text),
                fmt::format("did you mean {}={}?", before, text));
}

/// "numpy = 1.24" and "numpy >=1.24" in several arguments. `next` may be empty.
Result<void> check_is_whole(const std::string& before,
                            const std::string& text,
                            const std::string& next) {
    constexpr std::string_view kOperators = "=<>!~";
    const auto version = text.find_first_not_of(kOperators);
    if (version == 0 || text.empty() || !is_package_name(before)) return {};
    const auto spec = before + text + (version == std::string::npos ? next : "");
    return fail(ErrorKind::Usage,
                fmt::format("'{}' is not a package", text),
                fmt::format("write the spec without spaces: '{}'", spec));
}

/// Specs, hardware selectors and places of package files.
Result<Asked> read_words(Context& context,
                         const WishOptions& options,
                         const std::string& platform,
                         PackageFiles& files) {
    Asked asked;
    std::string before;
    for (std::size_t i = 0; i < options.specs.size(); ++i) {
        const auto& text = options.specs[i];
        if (is_package_place(text)) {
            GPKG_TRY(const auto package, package_at(context, text));
            GPKG_CHECK(files.take(context, package, without_secrets(text), platform));
            continue;
        }
        GPKG_CHECK(check_is_not_file(context, text));
        GPKG_CHECK(check_is_spec(
            before, text, i + 1 < options.specs.size() ? options.specs[i + 1] : std::string()));
        before = text;
        if (auto taken = asked.take(text, platform); !taken) {
            taken.error().kind = ErrorKind::Usage;
            return pass(std::move(taken).error());
        }
    }
    if (!options.accelerator) return asked;
    if (!asked.accelerators.all.empty() || !asked.accelerators.fallbacks.empty())
        return fail(ErrorKind::Usage,
                    "--accel and a hardware selector cannot be used together",
                    "leave out one of them");
    auto choices = parse_accelerator_choices(*options.accelerator);
    if (!choices) {
        choices.error().message = "--accel " + choices.error().message;
        return pass(std::move(choices).error());
    }
    asked.accelerators.all = *std::move(choices);
    return asked;
}

/// How a lock file is used that stands in the place of specs.
std::string hint_on_lock(const Context& context, const std::string& file) {
    const std::string command = context.arguments.size() > 1 ? context.arguments[1] : "";
    const bool changes = command == "sync" || command == "install" || command == "update";
    const auto line = fmt::format("gpkg {} -n NAME --lock ", changes ? "sync" : "create");
    return with_given_words(line, context.arguments) + shell_word(file);
}

/// A manifest of pixi: what it asks for is in the lock beside it.
Result<void> check_is_not_of_pixi(const Context& context,
                                  const WishFile& file,
                                  const std::string& text) {
    const auto name = file.path.filename();
    if (name != "pixi.toml" && name != "pyproject.toml") return {};
    const auto lock = fs::path(text).parent_path() / "pixi.lock";
    return fail(ErrorKind::Usage,
                fmt::format("{} is a project file, which gpkg does not read", file.name),
                "use its pixi.lock: " + hint_on_lock(context, lock.native()));
}

/// A list of specs, or of package files.
Result<void> take_spec_file(Context& context,
                            const WishFile& given,
                            const std::string& platform,
                            Wishes& wishes,
                            AcceleratorsOfFiles& accelerators) {
    SpecFileOptions how;
    how.platform = platform;
    how.home = context.home;
    how.env = context.env;
    GPKG_TRY(const auto file, parse_spec_file(given.text, given.name, how));
    for (const auto& warning : file.warnings) context.out.warn(warning);
    wishes.specs.insert(wishes.specs.end(), file.asked.specs.begin(), file.asked.specs.end());
    GPKG_CHECK(accelerators.take(file.asked.accelerators, given.name));
    for (const auto& package : file.packages) {
        const auto what = fmt::format("{}: {}", package.place, package.fn);
        GPKG_CHECK(wishes.files.take(context, package, what, platform));
    }
    return {};
}

}  // namespace

Result<void> check_is_not_file(const Context& context, const std::string& text) {
    const auto path = absolute_path(text, context.home);
    const auto extension = path.extension();
    const bool is_list = is_environment_yml(path) || extension == ".txt";
    if (!is_list && extension != ".lock") return {};
    std::error_code code;
    const bool exists = fs::is_regular_file(path, code);
    const bool is_path = text.find('/') != std::string::npos && text.find(':') == std::string::npos;
    // Packages have such names too: ruamel.yaml, flufl.lock.
    const auto name = path.filename();
    const bool is_package =
        !is_path && (extension == ".yaml" || extension == ".json" || extension == ".lock") &&
        name != "environment.yaml" && name != "environment.json" && name != "gpkg.lock" &&
        name != "pixi.lock";
    if (!exists && is_package) return {};
    if (!exists)
        return fail(
            ErrorKind::Usage,
            fmt::format(
                "{}: no such file (option {} reads a file)", text, is_list ? "-f" : "--lock"));
    return fail(ErrorKind::Usage,
                text + " is a file, not a package",
                is_list ? "use -f " + shell_word(text) : hint_on_lock(context, text));
}

void add_wish_options(CLI::App& app, WishOptions& options) {
    app.add_option("specs", options.specs, "packages: numpy 'python=3.12' conda-forge::zlib")
        ->type_name("SPEC");
    add_file_options(app, options);
}

void add_file_options(CLI::App& app, WishOptions& options) {
    app.add_option(
           "-f,--file", options.files, "environment.yml, list of specs, or list of package URLs")
        ->type_name("FILE")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);  // the words that follow are specs
    add_ignore_options(app, options);
    app.add_option("--accel",
                   options.accelerator,
                   "use builds for auto (this machine's GPU), nvidia, amd, none or conda (the "
                   "highest build number); nvidia,none tries them in turn")
        ->type_name("ACCELERATOR");
}

void add_ignore_options(CLI::App& app, WishOptions& options) {
    app.add_flag("--ignore-builds", options.ignore_builds, "ignore the build strings in files");
    app.add_flag(
        "--ignore-versions", options.ignore_versions, "ignore versions and build strings in files");
    app.add_flag("--no-builds", options.ignore_builds)->group("");  // as it was called before
}

std::vector<std::string> ignore_words(const WishOptions& options) {
    std::vector<std::string> words;
    if (options.ignore_builds) words.emplace_back("--ignore-builds");
    if (options.ignore_versions) words.emplace_back("--ignore-versions");
    return words;
}

void ignore_parts(std::span<MatchSpec> specs, bool ignores_versions) {
    for (auto& spec : specs) {
        if (spec.build && spec.build->text() == "pypi_0") continue;
        if (spec.build && spec.build->is_exact()) spec.build.reset();
        if (ignores_versions) spec.version.reset();
    }
}

namespace {

/// Adds the default specs of packages that are not requested. Package files are taken alone.
Result<void> add_defaults(Context& context, const WishOptions& options, Wishes& wishes) {
    std::vector<std::string> added;
    for (const auto& text : options.default_specs) {
        GPKG_TRY(auto spec, parse_spec(text));
        const auto is_named = [&](const MatchSpec& other) { return other.name == spec.name; };
        if (!wishes.files.empty() || std::ranges::any_of(wishes.specs, is_named)) continue;
        wishes.specs.push_back(std::move(spec));
        added.push_back(text);
    }
    if (!added.empty())
        context.out.note(
            fmt::format("note: adds {} (create_default_packages; without them: "
                        "--no-default-packages)",
                        fmt::join(added, ", ")));
    return {};
}

}  // namespace

Result<Wishes> read_wishes(Context& context, const WishOptions& options, SourceOptions& sources) {
    Wishes wishes;
    GPKG_TRY(const auto machine, machine_of(context, sources));
    const auto& platform = machine.platform;
    GPKG_TRY(auto asked, read_words(context, options, platform, wishes.files));
    wishes.specs = std::move(asked.specs);
    const auto of_words = wishes.specs.size();
    const bool ignores_builds = options.ignore_builds || options.ignore_versions;
    AcceleratorsOfFiles of_files(asked.accelerators);
    for (const auto& text : options.files) {
        GPKG_TRY(const auto file, read_wish_file(context, text, sources.offline));
        GPKG_CHECK(check_is_not_of_pixi(context, *file, text));
        if (is_lock(*file))
            return fail(ErrorKind::Usage,
                        fmt::format("{} is a lock file, not a list of specs", file->name),
                        hint_on_lock(context, text));
        if (!holds_environment_yml(*file)) {
            GPKG_CHECK(take_spec_file(context, *file, platform, wishes, of_files));
            continue;
        }
        if (is_explicit_list(file->text))
            return fail(ErrorKind::Usage,
                        fmt::format("{} is an explicit list, not an environment.yml", file->name),
                        "rename it to end in .txt");
        GPKG_TRY(auto manifest, manifest_of(context, *file, platform, options.ignore_names));
        if (!ignores_builds) warn_of_foreign_builds(context, *file, manifest, platform);
        GPKG_CHECK(take_manifest(context, *file, std::move(manifest), wishes, of_files, sources));
    }
    if (ignores_builds)
        ignore_parts(std::span(wishes.specs).subspan(of_words), options.ignore_versions);
    wishes.accelerators = of_files.together();
    wishes.accelerators.override_with(asked.accelerators);
    for (const auto& selector : wishes.accelerators.unheeded())
        context.out.warn_once(
            fmt::format("ignored hardware selector: {} (not for {})", selector, platform));
    GPKG_CHECK(add_defaults(context, options, wishes));
    ask_channels_of(wishes.specs, sources);
    for (auto& spec : wishes.specs) GPKG_CHECK(settle_channel(context, spec));
    if (!wishes.files.empty() && !wishes.specs.empty())
        return fail(ErrorKind::Usage,
                    "package files and specs cannot be installed by one command",
                    "install the files first, then the specs");
    return wishes;
}

Result<void> check_is_spec(const std::string& before,
                           const std::string& text,
                           const std::string& next) {
    GPKG_CHECK(check_is_not_version(before, text));
    return check_is_whole(before, text, next);
}

TargetOptions target_meant(TargetOptions target, const Wishes& wishes) {
    if (!target.name.empty() || !target.prefix.empty()) return target;
    target.name = wishes.name;
    // A prefix is often another machine's, written by an export.
    if (wishes.name.empty()) target.prefix = wishes.prefix;
    return target;
}

Result<fs::path> existing_prefix(const Context& context,
                                 const TargetOptions& target,
                                 const WishOptions& wishes) {
    auto prefix = existing_prefix(context, target);
    if (prefix || prefix.error().kind != ErrorKind::Usage || !target.name.empty() ||
        !target.prefix.empty())
        return prefix;
    const auto file = std::ranges::find_if(
        wishes.files, [](const std::string& one) { return is_environment_yml(one); });
    if (file != wishes.files.end())
        prefix.error().hint =
            fmt::format("use -n NAME or -p PATH; gpkg env update -f {} uses the name in the file",
                        shell_word(*file));
    return prefix;
}

std::string name_in_environment_yml(const Context& context) {
    constexpr const char* kFile = "environment.yml";
    std::error_code code;
    if (!fs::is_regular_file(kFile, code)) return {};
    const auto file = read_wish_file(context, kFile, true);
    if (!file) return {};
    const auto manifest = manifest_of(context, **file, "", false);
    const bool has_name = manifest && manifest->name && check_environment_name(*manifest->name);
    return has_name ? *manifest->name : "";
}

Result<std::vector<std::string>> platforms_of_files(Context& context,
                                                    const WishOptions& options,
                                                    bool offline) {
    std::vector<std::string> platforms;
    for (const auto& place : options.files) {
        GPKG_TRY(const auto file, read_wish_file(context, place, offline));
        if (!holds_environment_yml(*file)) continue;
        GPKG_TRY(const auto manifest, manifest_of(context, *file, "", options.ignore_names));
        for (const auto& platform : manifest.platforms) {
            if (std::find(platforms.begin(), platforms.end(), platform) == platforms.end())
                platforms.push_back(platform);
        }
    }
    return platforms;
}

ChangeRequest change_request(Wishes wishes) {
    ChangeRequest request;
    request.specs = std::move(wishes.specs);
    request.accelerators = std::move(wishes.accelerators);
    request.variables = std::move(wishes.variables);
    request.pip = std::move(wishes.pip);
    request.name_in_file =
        wishes.name.empty() ? std::move(wishes.ignored_name) : std::move(wishes.name);
    return request;
}

ExactRequest explicit_request(const fs::path& prefix, Wishes wishes) {
    ExactRequest request;
    request.prefix = prefix;
    request.records = std::move(wishes.files.records);
    request.channels = std::move(wishes.files.channels);
    request.records_are_bare = true;
    request.variables = std::move(wishes.variables);
    request.state = remembered(wishes.accelerators);
    return request;
}

}  // namespace gpkg::cli
