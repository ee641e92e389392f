#include "cli/commands/lock.hpp"

#include "cli/help.hpp"
#include "cli/usage.hpp"
#include "cli/workflow/confirm.hpp"
#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/lock/environments.hpp"
#include "virtual-packages/machines.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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

/// Without specs and files: environment.yml of this folder. `command` is gpkg lock.
Result<void> add_default_file(Context& context, const CLI::App& command, WishOptions& wishes) {
    if (!wishes.specs.empty() || !wishes.files.empty()) return {};
    if (!locks::has_default_file())
        return fail(ErrorKind::Usage,
                    fmt::format("nothing to lock: no {} in this folder", locks::kDefaultFile),
                    fmt::format("name a file or packages: gpkg lock -f FILE; subcommands: {}",
                                fmt::join(subcommand_names(command), ", ")));
    wishes.files = {locks::kDefaultFile};
    context.out.note(fmt::format("note: locking the packages of {}", locks::kDefaultFile));
    return {};
}

/// The command that keeps all classes of the lock, or what to change in this one.
std::string keeping_hint(const LockOptions& options) {
    if (options.wishes.files.empty()) return "to keep them, repeat --for for each of them";
    std::vector<std::string> words{"gpkg", "lock", "update", options.output};
    const auto add = [&](const char* flag, const std::vector<std::string>& values) {
        for (const auto& value : values) words.insert(words.end(), {flag, value});
    };
    add("-f", options.wishes.files);
    add("--for", options.machines);
    return "to keep them: " + shell_words(words);
}

/// Before a lock is written over: somebody may use the classes that it loses. A lock of more
/// classes is replaced only after a question.
Result<void> confirm_lost_classes(Context& context,
                                  const LockFile& lock,
                                  const LockOptions& options) {
    const auto before = read_lock(options.output);
    if (!before || before->format != LockFormat::Gpkg) return {};
    std::vector<std::string> lost;
    for (const auto& locked : before->lock.classes) {
        if (lock.find_class(locked.name, locked.environment) == nullptr)
            lost.push_back(full_name(locked));
    }
    if (lost.empty()) return {};
    const auto classes = fmt::format(
        "{} {}", lost.size() == 1 ? "the class" : "the classes", join_some(lost, "and"));
    if (!options.dry_run && lock.classes.size() < before->lock.classes.size())
        GPKG_CHECK(confirm(context,
                           {fmt::format("Replace {} and remove {}?", options.output, classes),
                            false,
                            Error{ErrorKind::Conflict,
                                  fmt::format("{}: this would remove {}", options.output, classes),
                                  keeping_hint(options) + "; to replace the lock, add -y",
                                  {}}}));
    context.out.warn(fmt::format(
        "{}: no longer has {}; gpkg lock update keeps existing classes", options.output, classes));
    return {};
}

/// A GPU class was asked for, and all classes got the same packages for the CPU.
std::optional<std::string> note_on_same_packages(const LockFile& lock) {
    const auto& classes = lock.classes;
    const auto has_gpu = [](const LockedClass& one) {
        return !vendors_with(as_virtual_packages(one.made_for), has_vendor).empty();
    };
    const auto is_same = [&](const LockedClass& one) {
        return one.packages == classes.front().packages;
    };
    if (classes.size() < 2 || std::ranges::none_of(classes, has_gpu) ||
        !std::ranges::all_of(classes, is_same) ||
        !gpu_builds(lock.records_of(classes.front())).empty())
        return std::nullopt;
    return "all classes have the same packages, and none of them is a GPU build";
}

/// Of the error of a request: names of machines among the packages (--for cpu a100) are pointed
/// out.
Error with_machine_names(const Context& context, const LockOptions& options, Error error) {
    std::vector<std::string> words;
    for (const auto& machine : options.machines) words.push_back("--for " + shell_word(machine));
    const auto given = words.size();
    for (const auto& spec : options.wishes.specs) {
        if (error.is_about_unknown(spec) &&
            virtual_packages::find_machine(spec, profile_folders(context.config)).has_value())
            words.push_back("--for " + shell_word(spec));
    }
    if (words.size() == given) return error;
    drop_fixes(error);
    error.hint = fmt::format("did you mean {}?", fmt::join(words, " "));
    return error;
}

Result<int> write(Context& context, const CLI::App& command, LockOptions& options) {
    GPKG_CHECK(locks::check_own_name(options.output));
    GPKG_CHECK(add_default_file(context, command, options.wishes));
    if (options.for_all) {
        if (!options.machines.empty())
            return fail(ErrorKind::Usage, "--for-all cannot be used with --for");
        return locks::write_for_all(
            context, {options.sources, options.wishes, options.output, options.dry_run});
    }
    auto decided = lock_for(context, {options.sources, options.wishes, options.machines});
    if (!decided) return pass(with_machine_names(context, options, std::move(decided).error()));
    const auto& locked = decided->locked;
    for (const auto& one : locked.lock.classes)
        locks::warn_of_pip(context, locked.lock.wishes_of(one).pip);
    GPKG_CHECK(confirm_lost_classes(context, locked.lock, options));
    if (const auto note = note_on_same_packages(locked.lock)) context.out.note("note: " + *note);
    for (const auto& note : locks::taken_elsewhere(locked.lock)) context.out.note("note: " + note);
    if (!options.dry_run) GPKG_CHECK(write_lock(locked.lock, LockFormat::Gpkg, options.output));
    if (!context.out.json_mode()) {
        locks::tell_classes(context.out, locked);
        context.out.print(
            options.dry_run
                ? locks::kDryRun
                : fmt::format("wrote {0}; to install it: gpkg create -n NAME --lock {0}",
                              options.output));
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

bool has_default_file() {
    std::error_code code;
    return fs::exists(kDefaultFile, code);
}

std::vector<std::string> taken_elsewhere(const LockFile& lock) {
    std::vector<std::string> notes;
    const ClassesOfLock classes(lock);
    for (const auto* locked : lock.default_classes()) {
        const auto fits = classes.fits(locked->platform, as_virtual_packages(locked->made_for));
        if (fits.empty() || !fits.front().fits() || fits.front().locked == locked) continue;
        if (fits.front().locked->packages == locked->packages) continue;
        notes.push_back(
            fmt::format("{0}: such a machine installs class {1} instead, because {1} {2}",
                        locked->name,
                        fits.front().locked->name,
                        advantage_of_first(fits)));
    }
    return notes;
}

void take_file_as_name(std::string& file, std::vector<std::string>& names) {
    std::error_code code;
    const bool is_file = file.find('/') != std::string::npos || file.ends_with(".lock") ||
                         lock_format_of_name(file) || fs::exists(file, code);
    if (is_file || !fs::exists(kUsualName, code)) return;
    names.insert(names.begin(), std::exchange(file, kUsualName));
}

Result<ReadLock> read_own(Context& context, const std::string& file, std::string_view verb) {
    auto found = read_lock_file(context, file);
    if (!found) return found;
    if (found->format == LockFormat::Gpkg) return found;
    // An update needs the request, which other formats do not have.
    const bool can_convert = verb == "repair";
    const auto beside = fs::path(file).parent_path() / kUsualName;
    return fail(
        ErrorKind::Unsupported,
        fmt::format("{}: not a gpkg.lock; gpkg lock {} changes only locks of gpkg", file, verb),
        can_convert ? fmt::format("to convert this lock: gpkg lock convert {} {}",
                                  shell_word(file),
                                  shell_word(beside.native()))
                    : "to lock with gpkg: gpkg lock -f environment.yml");
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
                    fmt::format("-o {}: not a regular file", output),
                    "use a file name such as gpkg.lock");
    const auto format = lock_format_of_name(output);
    const auto name = fs::path(output).filename().native();
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (format ? *format == LockFormat::Gpkg : !has("pixi.lock") && !has("conda-lock")) return {};
    return fail(ErrorKind::Usage,
                fmt::format("-o {}: gpkg lock writes only gpkg.lock files", output),
                format ? fmt::format("gpkg lock convert gpkg.lock {}", output)
                       : fmt::format("gpkg lock convert writes other formats: {}", kLockNames));
}

}  // namespace locks

Action bind_lock(CLI::App& app) {
    const auto options = std::make_shared<LockOptions>();
    add_channel_options(app, options->sources);
    add_platform_option(app, options->sources);
    add_devices_option(app, options->sources);
    add_wish_options(app, options->wishes);
    add_machines_option(
        app,
        options->machines,
        std::string("machines to lock for, profiles or names: a100,h100; may be repeated") +
            kFactsMayFollow);
    app.add_flag(
        "--for-all", options->for_all, "lock for every kind of machine that packages distinguish");
    app.add_flag("-d,--dry-run", options->dry_run, "show the result without writing it");
    app.add_option("-o,--output", options->output, "file to write; default: gpkg.lock")
        ->type_name("FILE");
    add_yes_option(app, "replace a lock that has more classes without asking");
    struct Verb {
        CLI::App* app;
        Action action;
    };
    std::vector<Verb> verbs;
    const auto add = [&](const char* name,
                         const char* what,
                         Action (*bind)(CLI::App&),
                         Effect effect = Effect::Changes) {
        auto* verb = app.add_subcommand(name, what);
        verb->fallthrough();  // --json after the verb
        set_effect(*verb, effect);
        verbs.push_back({verb, bind(*verb)});
    };
    add("check",
        "show the class for this machine and whether the lock is current",
        locks::bind_check,
        Effect::Reads);
    add("list", "list the packages of each class", locks::bind_list, Effect::Reads);
    add("show", "same as list", locks::bind_list, Effect::Reads);
    app.get_subcommand("show")->group("");  // not in the help
    add("repair", "replace packages that their channels no longer have", locks::bind_repair);
    add("update", "update packages or the request, or add machines", locks::bind_update);
    add("convert", "convert a lock file to another format", locks::bind_convert);
    app.footer(
        "Writes the exact packages of a request to gpkg.lock. The file holds one hardware class "
        "for each machine given with --for, or one for each platform of the request. Classes "
        "have the same versions unless the hardware forces a difference. Without packages and "
        "files, it reads environment.yml of the current folder.\n\n"
        "  gpkg lock -f environment.yml\n"
        "  gpkg lock -f environment.yml --for a100 --for mi300 --for cpu\n"
        "  gpkg lock pytorch --for-all --dry-run\n"
        "  gpkg create -n ml --lock gpkg.lock     # install the class for this machine");

    return [options, verbs, &app](Context& context) -> Result<int> {
        for (const auto& [verb, action] : verbs) {
            if (!*verb) continue;
            GPKG_CHECK(check_own_options_unused(app, *verb));
            return action(context);
        }
        return write(context, app, *options);
    };
}

}  // namespace gpkg::cli
