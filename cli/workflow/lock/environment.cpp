#include "cli/workflow/lock/environment.hpp"

#include "cli/usage.hpp"
#include "cli/workflow/lock/request.hpp"
#include "cli/workflow/settings.hpp"
#include "cli/workflow/trace.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_flaws.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/lock/environments.hpp"
#include "libcore/lock/pip_requirement.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpkg::cli {
namespace {

/// Whether pixi builds the package, which gpkg does not.
bool is_source(const ForeignPackage& package) { return package.kind != "pypi"; }

/// "library (recipes/library)"; version 7 has both in one text: "library[01e1d6de] @ recipes/..."
std::string told(const ForeignPackage& package) {
    constexpr std::string_view kAt = " @ ";
    const auto at = package.location.find(kAt);
    const auto place =
        at == std::string::npos ? package.location : package.location.substr(at + kAt.size());
    return package.name.empty() ? place : fmt::format("{} ({})", package.name, place);
}

/// "app needs library (recipes/library), which pixi builds from source", for each such need.
std::vector<std::string> needed_sources(const LockFile& lock, const LockedClass& locked) {
    std::vector<std::string> needs;
    for (const auto place : locked.foreign) {
        const auto& source = lock.foreign[place];
        if (!is_source(source) || source.name.empty()) continue;
        for (const auto& record : lock.records_of(locked)) {
            if (std::ranges::any_of(record.depends, [&](const std::string& depend) {
                    return name_in_spec(depend) == source.name;
                }))
                needs.push_back(fmt::format(
                    "{} needs {}, which pixi builds from source", record.name, told(source)));
        }
    }
    return needs;
}

/// An error for packages that do not go together, and for those that lack one that is built from
/// source; with --allow-inconsistent a warning.
Result<void> check_together(Context& context,
                            const LockFile& lock,
                            LockFormat format,
                            const LockedClass& locked,
                            const LockedOptions& options) {
    const auto check = [&](const std::string& what,
                           const std::vector<std::string>& flaws,
                           std::string hint) -> Result<void> {
        if (flaws.empty()) return {};
        auto text = fmt::format("{}: {}{}", options.file, what, join_some(flaws, "and"));
        if (options.allow_inconsistent) {
            context.out.warn(text);
            return {};
        }
        hint +=
            "to install exactly these packages, as an explicit list would: --allow-inconsistent";
        return fail(ErrorKind::Integrity, std::move(text), std::move(hint));
    };
    if (const auto flaws = flaws_of(lock, locked); !flaws.empty())
        GPKG_CHECK(check(fmt::format("class {} is inconsistent: ", locked.name),
                         flaws,
                         mending_hint(lock, format, locked.platform) + "; "));
    GPKG_CHECK(check("", needed_sources(lock, locked), "gpkg does not build it; "));
    const bool is_all_source =
        locked.packages.empty() && std::ranges::all_of(locked.foreign, [&](std::size_t place) {
            return is_source(lock.foreign[place]);
        });
    if (!is_all_source) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("{}: pixi builds all packages of {} from source, which gpkg does not",
                            options.file,
                            locked.name));
}

/// What pip is asked for: the packages that the lock names, each as it is, and then what it was
/// left to decide. One with a hash wants one for all beside it, and folders and repositories can
/// have none.
Result<std::vector<PipSection>> pip_sections(Context& context,
                                             const LockFile& lock,
                                             const LockedClass& locked,
                                             const fs::path& file) {
    PipSection with_hashes{file, {}, PipSection::Dependencies::Leave};
    PipSection others{file, {}, PipSection::Dependencies::Leave};
    for (const auto place : locked.foreign) {
        const auto& package = lock.foreign[place];
        if (is_source(package)) {
            context.out.warn(fmt::format(
                "{}: skipped {}: pixi builds it from source", file.native(), told(package)));
            continue;
        }
        auto wanted = pip_requirement(package);
        if (!wanted) return pass(std::move(wanted).error().while_doing(file.native()));
        if (wanted->lacks_commit)
            context.out.warn(fmt::format("{}: {} has no commit: the current revision is installed",
                                         file.native(),
                                         package.location));
        auto& section = wanted->has_hash ? with_hashes : others;
        section.requirements.push_back(std::move(wanted->line));
    }
    std::vector<PipSection> sections;
    for (auto* section : {&with_hashes, &others}) {
        if (!section->requirements.empty()) sections.push_back(std::move(*section));
    }
    const auto& left_to_pip = lock.wishes_of(locked).pip;
    if (!left_to_pip.empty()) sections.push_back({file, left_to_pip});
    for (auto& section : sections) section.is_of_lock = true;
    return sections;
}

/// The environments that are not taken, for people to know.
void tell_others(Context& context, const LockFile& lock, const std::string& file) {
    const auto others = other_environments(lock);
    if (others.empty()) return;
    context.out.note(fmt::format("note: {}: using the {}; not installed: {} (--environment NAME)",
                                 file,
                                 environment_title(lock, std::string(kDefaultEnvironment)),
                                 join_some(others, "and")));
}

/// `what` is missing or empty; where there are packages for the platform is in the hint.
tl::unexpected<Error> nothing_to_make(const LockFile& lock,
                                      const std::string& platform,
                                      const std::string& what) {
    const auto others = other_environments(lock, platform);
    return fail(ErrorKind::NotFound,
                what,
                others.empty() ? ""
                               : fmt::format("{} packages; use --environment NAME",
                                             join_some(others, "and") +
                                                 (others.size() == 1 ? " has" : " have")));
}

/// "a100 and h100: needs __cuda >=12": a line for each reason.
std::string reasons_against(const std::vector<ClassFit>& fits) {
    std::vector<std::string> reasons;
    std::map<std::string, std::vector<std::string>> classes;  // by reason
    for (const auto& fit : fits) {
        auto reason = join_some(fit.unmet, "and");
        auto& names = classes[reason];
        if (names.empty()) reasons.push_back(std::move(reason));
        names.push_back(fit.locked->name);
    }
    std::string text;
    for (const auto& reason : reasons) {
        const auto& names = classes.at(reason);
        text += fmt::format("\n  {}: {}", join_some(names, "and", names.size()), reason);
    }
    return text;
}

/// What -c names can be the way to the lock's packages, with a login, but no other packages come.
Result<void> check_channels(const Context& context,
                            const SourceOptions& sources,
                            const LockFile& lock) {
    GPKG_TRY(const auto channels, parse_channels(sources.channels, channel_context(context)));
    for (const auto& channel : channels) {
        const auto folder = channel.base_url() + "/";
        const bool has_any =
            std::any_of(lock.packages.begin(), lock.packages.end(), [&](const auto& package) {
                return package.record.url.starts_with(folder);
            });
        if (!has_any)
            return fail(
                ErrorKind::Usage,
                fmt::format("-c {}: the lock has no package from this channel", channel.name()),
                "to lock with this channel: gpkg lock -c CHANNEL -f FILE");
    }
    return {};
}

}  // namespace

std::string mending_hint(const LockFile& lock, LockFormat format, const std::string& platform) {
    if (format == LockFormat::Gpkg)
        return "gpkg lock repair fixes a lock that was merged or edited by hand; gpkg lock -f FILE "
               "solves from scratch";
    std::set<std::string> whole;
    for (const auto& locked : lock.classes) {
        if (locked.environment == kDefaultEnvironment) continue;
        const auto alone = lock_of_environment(lock, locked.environment);
        if (!alone) continue;
        const bool is_whole = std::ranges::any_of(alone->classes, [&](const LockedClass& one) {
            return one.environment == kDefaultEnvironment && one.platform == platform &&
                   flaws_of(*alone, one).empty();
        });
        if (is_whole) whole.insert(locked.environment);
    }
    if (whole.empty()) return "write it again with the tool that made it";
    const std::vector<std::string> names(whole.begin(), whole.end());
    return fmt::format("consistent with --environment {}", join_or(names));
}

tl::unexpected<Error> no_class(const LockFile& lock,
                               const std::string& platform,
                               const std::string& file) {
    if (lock.classes.empty() && lock.environments.empty())
        return fail(ErrorKind::NotFound,
                    fmt::format("{}: the lock is empty", file),
                    "to write a new one: gpkg lock -f FILE");
    const std::string name(kDefaultEnvironment);
    const bool is_empty = lock.environments.contains(name);
    return nothing_to_make(lock,
                           platform,
                           fmt::format("{}: {} {}{}",
                                       file,
                                       is_empty ? "the" : "no",
                                       environment_title(lock, name),
                                       is_empty ? " is empty" : ""));
}

Result<LockFile> environment_in(LockFile lock, const LockedOptions& options) {
    if (options.environment.empty()) return lock;
    auto alone = lock_of_environment(lock, options.environment);
    if (!alone) return pass(std::move(alone).error().while_doing(options.file));
    return alone;
}

Result<TargetOptions> target_of_lock(Context& context,
                                     const TargetOptions& target,
                                     const std::string& file) {
    if (!target.name.empty() || !target.prefix.empty()) return target;
    // What is wrong with the lock is told where its packages are read.
    if (const auto read = read_lock(file); read && !read->lock.request.name.empty()) {
        auto named = target;
        named.name = read->lock.request.name;
        return named;
    }
    const auto manifest = fs::path(file).parent_path() / "environment.yml";
    std::error_code code;
    if (!fs::exists(manifest, code)) return target;
    WishOptions options;
    options.files = {manifest.native()};
    options.ignore_names = false;
    SourceOptions sources;
    GPKG_TRY(const auto wishes, read_wishes(context, options, sources));
    return target_meant(target, wishes);
}

Result<ReadLock> read_lock_file(Context& context, const std::string& file) {
    Phase phase(context.out, "read " + file);
    auto found = read_lock(file);
    if (!found) {
        auto error = with_near_file(std::move(found).error());
        const auto format = lock_format_of_name(file);
        if (error.kind == ErrorKind::NotFound && error.hint.empty() &&
            (!format || format == LockFormat::Gpkg)) {
            const auto output = file == "gpkg.lock" ? "" : " -o " + shell_word(file);
            error.hint = "to write one: gpkg lock -f environment.yml" + output;
        }
        // "it is an environment file"
        if (error.message.ends_with("environment file")) error.hint = "use -f " + shell_word(file);
        return pass(std::move(error));
    }
    const auto classes = found->lock.classes.size();
    phase.add(classes == 1 ? "1 class" : fmt::format("{} classes", classes));
    phase.add(count_text(found->lock.packages.size(), "package"));
    for (const auto& warning : found->warnings) context.out.warn(warning);
    return found;
}

Result<ExactRequest> locked_request(Context& context,
                                    const SourceOptions& sources,
                                    const LockedOptions& options,
                                    const fs::path& prefix) {
    const auto& file = options.file;
    GPKG_TRY(auto found, read_lock_file(context, file));
    GPKG_TRY(const auto lock, environment_in(std::move(found.lock), options));
    GPKG_CHECK(check_channels(context, sources, lock));
    GPKG_TRY(const auto machine, machine_of(context, sources));
    GPKG_TRY(const auto records, packages_for_class(context, machine));
    const auto fits = fits_of(lock, machine.platform, records);
    if (fits.empty()) return no_class(lock, machine.platform, file);
    const auto& best = fits.front();
    if (!best.fits()) {
        auto hint =
            found.format == LockFormat::Gpkg
                ? fmt::format("to add a class: gpkg lock update {} --for NAME", shell_word(file))
                : std::string("to write a lock that fits: gpkg lock SPEC... --for NAME");
        if (const auto assumed = assumed_in_the_way(machine, records, fits))
            hint = *assumed + "; " + hint;
        return fail(
            ErrorKind::Unsatisfiable,
            fmt::format("{}: no class fits {}{}", file, machine.name, reasons_against(fits)),
            std::move(hint));
    }
    if (const auto* other = other_vendors(fits))
        return fail(
            ErrorKind::Usage,
            fmt::format(
                "{}: {} has GPUs of two vendors, and classes {} and {} are for one vendor each",
                file,
                machine.name,
                best.locked->name,
                other->locked->name),
            "choose GPUs with --devices and the numbers shown by gpkg hardware");
    if (best.locked->is_empty()) {
        const std::string environment =
            options.environment.empty() ? std::string(kDefaultEnvironment) : options.environment;
        return nothing_to_make(lock,
                               machine.platform,
                               fmt::format("{}: the {} has no packages for {}",
                                           file,
                                           environment_title(lock, environment),
                                           best.locked->name));
    }
    GPKG_CHECK(check_together(context, lock, found.format, *best.locked, options));
    for (const auto& fit : fits) {
        if (fit.fits() || fit.locked->platform != machine.platform) continue;
        const auto flaws = flaws_of(lock, *fit.locked);
        if (!flaws.empty())
            context.out.warn(
                fmt::format("{}: class {}, which is not used here, is inconsistent: {}",
                            file,
                            fit.locked->name,
                            join_some(flaws, "and")));
    }
    tell_others(context, lock, file);
    if (is_edited(lock))
        context.out.warn(
            fmt::format("{}: {}; to solve from scratch: gpkg lock -f FILE", file, kEdited));
    ExactRequest request;
    request.prefix = prefix;
    // Locks of other tools have platforms in place of classes.
    request.lock = best.locked->name == best.locked->platform
                       ? file
                       : fmt::format("{}, class {}", file, best.locked->name);
    if (fits.size() > 1)
        request.notes.push_back(fmt::format(
            "using class {1} of {0}: it {2}", file, best.locked->name, advantage_of_first(fits)));
    for (auto& note : notes_on_first(fits, machine.name)) {
        // What gpkg itself would not have locked for the machine.
        if (lock.tool != LockTool::Gpkg && !best.runs())
            context.out.warn(fmt::format("{}: {}", file, note));
        else
            request.notes.push_back(std::move(note));
    }
    request.records = lock.records_of(*best.locked);
    const auto& wishes = lock.wishes_of(*best.locked);
    const auto whose = fmt::format("{}: request of class {}", file, best.locked->name);
    for (const auto& text : wishes.specs) {
        auto spec = MatchSpec::parse(text);
        if (!spec) return pass(std::move(spec).error().while_doing(whose));
        request.requested.push_back(*std::move(spec));
    }
    for (const auto& [name, value] : wishes.variables) {
        auto fine = check_variable_name(name);
        if (!fine) return pass(std::move(fine).error().while_doing(file + ": variables"));
    }
    request.variables = wishes.variables;
    GPKG_TRY(request.channels, wanted_channels(context, sources));
    auto state = state_of(lock, *best.locked);
    if (!state) return pass(std::move(state).error().while_doing(whose));
    request.state = *std::move(state);
    std::vector<std::string> locked_channels;
    for (const auto& channel : lock.channels) locked_channels.push_back(channel.url);
    GPKG_TRY(const auto channels, parse_channels(locked_channels, channel_context(context)));
    GPKG_CHECK(remember_channels(context, request.state, channels));
    GPKG_TRY(request.pip, pip_sections(context, lock, *best.locked, fs::absolute(file)));
    request.records_are_bare = lock.has_bare_records();
    if (found.format == LockFormat::Gpkg && !best.locked->made_for.empty())
        request.if_gone = fmt::format(
            "to replace missing packages with other builds: gpkg lock repair {}", shell_word(file));
    return request;
}

Result<std::vector<PackageRecord>> packages_for_class(Context& context, const Machine& machine) {
    if (!machine.profile) return detected_packages(context, machine);
    auto named = without_overrides(context);
    return detected_packages(named, machine);
}

std::optional<std::string> assumed_in_the_way(const Machine& machine,
                                              const std::vector<PackageRecord>& virtual_packages,
                                              const std::vector<ClassFit>& fits) {
    const auto needs_another = [&](const PackageRecord& record) {
        return is_assumed(record) && std::ranges::any_of(fits, [&](const ClassFit& fit) {
                   return std::ranges::any_of(fit.unmet, [&](const std::string& need) {
                       return need.starts_with(fmt::format("needs {} ", record.name));
                   });
               });
    };
    if (std::ranges::none_of(virtual_packages, needs_another)) return std::nullopt;
    std::vector<std::string> unmet;
    for (const auto& fit : fits) append(unmet, fit.unmet);
    return assumed_note(machine.given, virtual_packages, unmet);
}

}  // namespace gpkg::cli
