#include "cli/commands/lock.hpp"

#include "cli/workflow/lock/classes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct LockOptions {
    SourceOptions sources;
    WishOptions wishes;
    std::vector<std::string> machines;
    bool for_all = false;
    std::string output = locks::kUsualName;
    bool dry_run = false;
};

/// The verbs have options of their own; those of `gpkg lock` mean nothing to them.
Result<void> refuse_own_options(const std::vector<CLI::Option*>& own, const std::string& verb) {
    for (const auto* option : own) {
        if (option->count() == 0) continue;
        const auto word = option->get_positional() ? option->results().front() : option->get_name();
        return fail(ErrorKind::Usage,
                    fmt::format("{}: is nothing for gpkg lock {}", word, verb),
                    fmt::format("gpkg lock {} --help", verb));
    }
    return {};
}

/// Of a lock that is written over: who reads it may be for one of these.
void warn_of_lost_classes(Context& context, const LockFile& lock, const std::string& file) {
    const auto before = read_lock(file);
    if (!before || before->format != LockFormat::Gpkg) return;
    std::vector<std::string> lost;
    for (const auto& locked : before->lock.classes) {
        if (lock.find_class(locked.name, locked.environment) == nullptr)
            lost.push_back(locked.name);
    }
    if (lost.empty()) return;
    context.out.warn(
        fmt::format("{}: had {} {}, which it is not for any more; gpkg lock update "
                    "keeps the classes that there are",
                    file,
                    lost.size() == 1 ? "a class" : "classes",
                    join_some(lost, "and")));
}

Result<int> write(Context& context, const LockOptions& options) {
    GPKG_CHECK(locks::check_own_name(options.output));
    if (options.for_all) {
        if (!options.machines.empty())
            return fail(ErrorKind::Usage, "--for-all is for all machines: leave out --for");
        return locks::write_for_all(
            context, {options.sources, options.wishes, options.output, options.dry_run});
    }
    GPKG_TRY(const auto decided,
             lock_for(context, {options.sources, options.wishes, options.machines}));
    const auto& locked = decided.locked;
    for (const auto& one : locked.lock.classes)
        locks::warn_of_pip(context, locked.lock.wishes_of(one).pip);
    warn_of_lost_classes(context, locked.lock, options.output);
    for (const auto& note : locks::taken_elsewhere(locked.lock)) context.out.note("note: " + note);
    if (!options.dry_run) GPKG_CHECK(write_lock(locked.lock, LockFormat::Gpkg, options.output));
    if (!context.out.json_mode()) {
        locks::tell_classes(context.out, locked);
        if (!options.dry_run)
            context.out.print(
                fmt::format("wrote {0}:  gpkg create -n NAME --lock {0}", options.output));
        return 0;
    }
    Json document{{"success", true}, {"file", options.output}};
    document["classes"] = locks::classes_json(locked);
    document["divergences"] = locks::json_of(locked.divergences);
    context.out.json(document);
    return 0;
}

}  // namespace

namespace locks {

std::vector<std::string> taken_elsewhere(const LockFile& lock) {
    std::vector<std::string> notes;
    const ClassesOfLock classes(lock);
    for (const auto* locked : lock.default_classes()) {
        const auto fits = classes.fits(locked->platform, as_virtual_packages(locked->made_for));
        if (fits.empty() || !fits.front().fits() || fits.front().locked == locked) continue;
        if (fits.front().locked->packages == locked->packages) continue;
        notes.push_back(fmt::format("{0}: takes the class {1}, not its own: {1} {2}",
                                    locked->name,
                                    fits.front().locked->name,
                                    advantage_of_first(fits)));
    }
    return notes;
}

Result<ReadLock> read(Context& context, const std::string& file) {
    GPKG_TRY(auto found, read_lock(file));
    for (const auto& warning : found.warnings) context.out.warn(warning);
    return found;
}

Result<ReadLock> read_own(Context& context, const std::string& file, std::string_view verb) {
    auto found = read(context, file);
    if (!found) {
        auto error = std::move(found).error();
        const bool may_be_name = file.find('/') == std::string::npos && !file.ends_with(".lock");
        if (error.kind == ErrorKind::NotFound && error.hint.empty() && may_be_name)
            error.hint = fmt::format("the file comes before packages: gpkg lock {} {} {}",
                                     verb,
                                     kUsualName,
                                     shell_word(file));
        return pass(std::move(error));
    }
    if (found->format != LockFormat::Gpkg)
        return fail(
            ErrorKind::Unsupported,
            fmt::format("{}: only gpkg's own lock files tell what they were decided for", file));
    return found;
}

Result<void> write_changed(const ReadLock& read,
                           const LockFile& lock,
                           const std::string& file,
                           const std::string& output) {
    return output == file ? write_lock_over(read, lock, output)
                          : write_lock(lock, LockFormat::Gpkg, output);
}

Context naming(const Context& context, const std::string& file) {
    auto naming = context;
    constexpr std::size_t kVerbs = 2;
    if (naming.positionals.size() > kVerbs) return naming;
    naming.positionals.push_back(naming.arguments.size());
    naming.arguments.push_back(file);
    return naming;
}

Result<void> check_own_name(const std::string& output) {
    std::error_code code;
    if (output == "-" || (fs::exists(output, code) && !fs::is_regular_file(output, code)))
        return fail(ErrorKind::Io,
                    fmt::format("-o {}: is no regular file", output),
                    "name the one that is to be written, e.g. gpkg.lock");
    const auto format = lock_format_of_name(output);
    const auto name = fs::path(output).filename().native();
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (format ? *format == LockFormat::Gpkg : !has("pixi.lock") && !has("conda-lock")) return {};
    return fail(ErrorKind::Usage,
                fmt::format("-o {}: gpkg lock writes a format of its own", output),
                format ? fmt::format("gpkg lock convert gpkg.lock {}", output)
                       : fmt::format("gpkg lock convert writes others: {}", kLockNames));
}

}  // namespace locks

Action bind_lock(CLI::App& app) {
    const auto options = std::make_shared<LockOptions>();
    const auto common = app.get_options().size();  // --help, --json
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    // Several machines, each a class of the lock.
    app.remove_option(app.get_option("--for"));
    add_machines_option(app, options->machines, "lock for this machine too: a profile or a name");
    app.add_flag("--for-all",
                 options->for_all,
                 "lock for every machine that packages tell apart, each as it is decided there");
    app.add_flag("-d,--dry-run", options->dry_run, "only tell what would be written");
    app.add_option("-o,--output", options->output, "the file; gpkg.lock without it")
        ->type_name("FILE");
    auto own = app.get_options();
    own.erase(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common));
    struct Verb {
        CLI::App* app;
        Action action;
    };
    std::vector<Verb> verbs;
    const auto add = [&](const char* name, const char* what, Action (*bind)(CLI::App&)) {
        auto* verb = app.add_subcommand(name, what);
        verb->fallthrough();  // --json after the verb
        verbs.push_back({verb, bind(*verb)});
    };
    add("check",
        "tell which class of a lock this machine takes, and whether it is up to date",
        locks::bind_check);
    add("repair",
        "put other builds of the same versions where a lock's packages are gone",
        locks::bind_repair);
    add("update",
        "bring a lock to what is asked for now, or to more machines; all else in it stays",
        locks::bind_update);
    add("convert", "write a lock in another format", locks::bind_convert);
    app.footer(
        "One file for several kinds of machines, with the same versions for all where that can be "
        "had.\n"
        "  gpkg lock -f environment.yml --for a100 --for mi300 --for cpu\n"
        "  gpkg lock pytorch --for-all --dry-run\n"
        "  gpkg lock check --for h100\n"
        "  gpkg lock check -f environment.yml --available\n"
        "  gpkg lock update gpkg.lock numpy --for gh200\n"
        "  gpkg lock repair gpkg.lock\n"
        "  gpkg lock convert gpkg.lock pixi.lock\n"
        "  gpkg lock convert gpkg.lock a100.txt --class a100\n"
        "  gpkg create -n ml --lock gpkg.lock");

    return [options, verbs, own](Context& context) -> Result<int> {
        for (const auto& [verb, action] : verbs) {
            if (!*verb) continue;
            GPKG_CHECK(refuse_own_options(own, verb->get_name()));
            return action(context);
        }
        return write(context, *options);
    };
}

}  // namespace gpkg::cli
