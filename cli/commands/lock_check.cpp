#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/lock/classes.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/lock/repair.hpp"
#include "cli/workflow/lock/request.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/trace.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/classes/class_flaws.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/lock/environments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockCheckOptions {
    SourceOptions sources;
    WishOptions wishes;
    LockedOptions lock{kUsualName, {}};
    bool available = false;  ///< ask the channels whether the packages are there
};

bool is_asked(const WishOptions& wishes) { return !wishes.specs.empty() || !wishes.files.empty(); }

/// gpkg.lock beside environment.yml is compared with it, as `gpkg lock` locks it. A lock without a
/// request, which was converted, is not.
void add_default_file(Context& context, const LockFile& lock, LockCheckOptions& options) {
    const bool is_default = options.lock.file == kUsualName && options.lock.environment.empty();
    if (is_asked(options.wishes) || !is_default || !has_default_file() ||
        lock.request == LockRequest{})
        return;
    options.wishes.files = {kDefaultFile};
    context.out.note(fmt::format("note: comparing the lock with {}", kDefaultFile));
}

struct Answer {
    std::string machine;
    std::vector<ClassFit> fits;  ///< the best first
    std::vector<std::string> flaws;
    std::string mending;  ///< what to do about flaws
    std::vector<std::string> drift;
    std::vector<GonePackage> gone;
    std::optional<std::string> assumed;  ///< what of the machine nobody knows

    bool fits_here() const { return !fits.empty() && fits.front().fits(); }
    /// Whether the machine takes its first class.
    bool is_decided() const { return fits_here() && other_vendors(fits) == nullptr; }
    bool runs_here() const { return is_decided() && fits.front().runs(); }
    /// Whether the lock itself needs no change, whatever the machine is.
    bool is_current() const { return flaws.empty() && drift.empty() && gone.empty(); }
    bool is_yes() const { return runs_here() && is_current(); }
};

/// What says how packages are to be chosen, but not which.
bool has_manner(const LockCheckOptions& options) {
    const auto& sources = options.sources;
    return options.wishes.accelerator || !sources.channels.empty() ||
           !sources.channel_priority.empty() || !sources.exclude_newer.empty();
}

/// Platforms that the files are for, and no class is, of a lock whose classes are platforms.
Result<void> add_missing_platforms(Context& context,
                                   const LockFile& lock,
                                   const LockCheckOptions& options,
                                   std::vector<std::string>& lines) {
    GPKG_TRY(const auto platforms,
             missing_platforms(context, lock, options.wishes, options.sources.offline));
    for (const auto& platform : platforms)
        lines.push_back(fmt::format("platform {} has no class", platform));
    return {};
}

/// Compares the lock with the request as it is now; names the classes where not all differ.
Result<void> find_drift(Context& context,
                        const LockFile& lock,
                        const LockCheckOptions& options,
                        Answer& answer) {
    auto& lines = answer.drift;
    if (is_edited(lock)) lines.emplace_back(kEdited);
    if (!is_asked(options.wishes)) return {};
    Phase phase(context.out, "compare the request");
    phase.add(join_some(options.wishes.files, "and"));
    GPKG_CHECK(add_missing_platforms(context, lock, options, lines));
    std::vector<std::string> found;
    std::map<std::string, std::vector<std::string>> classes;  // by line
    const auto classes_of_lock = lock.default_classes();
    for (const auto* locked : classes_of_lock) {
        auto sources = options.sources;
        sources.for_machine.clear();
        sources.platform = locked->platform;
        GPKG_TRY(const auto now, lock_wishes(context, options.wishes, sources));
        GPKG_TRY(const auto request, lock_request_of(context, sources, now));
        for (auto& line : drift_of(lock, *locked, request)) {
            auto& of_line = classes[line];
            if (of_line.empty()) found.push_back(std::move(line));
            of_line.push_back(locked->name);
        }
    }
    for (auto& line : found) {
        const auto& names = classes.at(line);
        lines.push_back(names.size() == classes_of_lock.size()
                            ? line
                            : fmt::format("{}: {}", join_some(names, "and", names.size()), line));
    }
    return {};
}

/// What to do about drift.
std::string what_brings_it_back(const LockFile& lock, const LockCheckOptions& options) {
    const auto& files = options.wishes.files;
    if (lock.request == LockRequest{} && files.size() == 1)
        return "hint: to lock the request of this file: gpkg lock -f " + shell_word(files.front());
    if (files.empty() || lock.request == LockRequest{} || is_edited(lock))
        return "hint: to solve from scratch: gpkg lock -f FILE";
    const auto& sources = options.sources;
    std::vector<std::string> words{"gpkg", "lock", "update", options.lock.file};
    const auto add = [&](const char* flag, const std::string& value) {
        if (value.empty()) return;
        words.emplace_back(flag);
        words.push_back(value);
    };
    for (const auto& file : files) add("-f", file);
    append(words, ignore_words(options.wishes));
    add("--accel", options.wishes.accelerator.value_or(""));
    for (const auto& channel : sources.channels) add("-c", without_secrets(channel));
    if (sources.override_channels) words.emplace_back("--override-channels");
    add("--channel-priority", sources.channel_priority);
    add("--exclude-newer", sources.exclude_newer);
    return "hint: " + shell_words(words) + " updates the lock";
}

Json json_of(const Answer& answer, const LockFile& lock, bool available) {
    Json document{{"success", answer.is_yes()},
                  {"is_current", answer.is_current()},
                  {"machine", answer.machine},
                  {"class", answer.is_decided() ? Json(answer.fits.front().locked->name) : Json()},
                  {"classes", Json::array()},
                  {"flaws", answer.flaws},
                  {"drift", answer.drift}};
    for (const auto& fit : answer.fits)
        document["classes"].push_back({{"name", fit.locked->name},
                                       {"fits", fit.fits()},
                                       {"standing", standing_of(fit, answer.fits)},
                                       {"unmet", fit.unmet},
                                       {"will_not_run", fit.will_not_run},
                                       {"restricts", restrictions_beside_needs(lock, *fit.locked)},
                                       {"useful_with", useful_with(lock, *fit.locked)}});
    if (const auto* other = other_vendors(answer.fits))
        document["undecided"] = {answer.fits.front().locked->name, other->locked->name};
    if (!available) return document;
    document["gone"] = Json::array();
    for (const auto& [place, why] : answer.gone)
        document["gone"].push_back({{"url", lock.packages[place].record.url}, {"why", why}});
    return document;
}

/// "gpkg.lock is consistent (2 classes, 45 packages); matches environment.yml".
std::string success_text(const LockFile& lock, const LockCheckOptions& options) {
    const auto classes = lock.default_classes().size();
    const auto text = fmt::format("{} is consistent ({}, {})",
                                  options.lock.file,
                                  classes == 1 ? "1 class" : fmt::format("{} classes", classes),
                                  count_text(lock.packages.size(), "package"));
    std::vector<std::string> checked{text};
    auto asked = options.wishes.files;
    asked.insert(asked.end(), options.wishes.specs.begin(), options.wishes.specs.end());
    if (!asked.empty()) checked.push_back("matches " + join_some(asked, "and", asked.size()));
    if (options.available) checked.emplace_back("the channels have all packages");
    return fmt::format("{}", fmt::join(checked, "; "));
}

void tell(Output& out,
          const Answer& answer,
          const LockFile& lock,
          const LockCheckOptions& options) {
    Table table;
    table.may_wrap(1);
    for (const auto& fit : answer.fits)
        table.add({fit.locked->name, standing_of(fit, answer.fits)});
    out.result(table);
    if (const auto others = other_environments(lock); !others.empty())
        out.note(fmt::format("not shown: {} {} (--environment NAME)",
                             others.size() == 1 ? "environment" : "environments",
                             join_some(others, "and")));
    if (const auto* other = other_vendors(answer.fits))
        out.note(fmt::format("{} has GPUs of two vendors: choose class {} or {} with --devices",
                             answer.machine,
                             answer.fits.front().locked->name,
                             other->locked->name));
    if (!answer.fits_here()) out.note(fmt::format("no class fits {}", answer.machine));
    if (answer.assumed) out.note("note: " + *answer.assumed);
    for (const auto& line : answer.flaws) out.result("inconsistent: " + line);
    for (const auto& line : answer.drift) out.result("out of date: " + line);
    if (!answer.drift.empty())
        out.note(what_brings_it_back(lock, options));
    else if (!answer.flaws.empty())
        out.note("hint: " + answer.mending);
    for (const auto& [place, why] : answer.gone)
        out.result(fmt::format("missing: {}: {}", lock.packages[place].record.url, why));
    if (!answer.gone.empty())
        out.note(
            fmt::format("hint: gpkg lock repair {} looks for other builds of the same versions",
                        options.lock.file));
    if (answer.is_yes()) out.result(success_text(lock, options));
}

/// With -v: what the classes are compared with.
void tell_machine(Output& out,
                  const Machine& machine,
                  const std::vector<PackageRecord>& virtual_packages) {
    if (!out.verbose()) return;
    std::vector<std::string> facts;
    facts.reserve(virtual_packages.size());
    for (const auto& record : virtual_packages)
        facts.push_back(fmt::format("{}={}", record.name, record.version));
    out.note(fmt::format(
        "machine: {} ({}; {})", machine.name, machine.platform, fmt::join(facts, ", ")));
}

/// Which class the machine takes and what keeps it from the others, whether each holds together,
/// whether what is asked for is still what was locked, and whether it can still be had.
Result<int> check(Context& context, LockCheckOptions& options) {
    GPKG_TRY(auto found, read_lock_file(context, options.lock.file));
    add_default_file(context, found.lock, options);
    if (!is_asked(options.wishes) && has_manner(options))
        return fail(
            ErrorKind::Usage,
            "--accel, -c, --channel-priority and --exclude-newer need specs or -f FILE to check",
            fmt::format("gpkg lock check {} -f environment.yml ...", options.lock.file));
    GPKG_TRY(const auto lock, environment_in(std::move(found.lock), options.lock));
    GPKG_TRY(const auto machine, machine_of(context, options.sources));
    GPKG_TRY(const auto records, packages_for_class(context, machine));
    tell_machine(context.out, machine, records);
    Answer answer;
    answer.machine = machine.name;
    answer.fits = fits_of(lock, machine.platform, records);
    if (answer.fits.empty()) return no_class(lock, machine.platform, options.lock.file);
    if (!answer.fits_here()) answer.assumed = assumed_in_the_way(machine, records, answer.fits);
    for (const auto* locked : lock.default_classes()) {
        for (const auto& flaw : flaws_of(lock, *locked))
            answer.flaws.push_back(fmt::format("{}: {}", locked->name, flaw));
    }
    if (!answer.flaws.empty()) answer.mending = mending_hint(lock, found.format, machine.platform);
    GPKG_CHECK(find_drift(context, lock, options, answer));
    if (options.available) {
        GPKG_TRY(answer.gone, gone_packages(context, lock, options.sources));
    }
    if (context.out.json_mode()) {
        context.out.json(json_of(answer, lock, options.available));
    } else {
        tell(context.out, answer, lock, options);
    }
    return answer.is_yes() ? 0 : 1;
}

}  // namespace

Action bind_check(CLI::App& app) {
    const auto options = std::make_shared<LockCheckOptions>();
    app.add_option("file", options->lock.file, "lock file; default: gpkg.lock")->type_name("FILE");
    add_environment_option(app, options->lock.environment);
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    app.add_flag(
        "--available", options->available, "also check that the channels still have the packages");
    app.footer(
        "Shows which class this machine would install and checks the lock for errors. Specs and "
        "files are compared with the request in the lock; without any, gpkg.lock is compared with "
        "environment.yml if the folder has one. The exit status is 1 if no class runs on the "
        "machine or if a check fails.\n\n"
        "  gpkg lock check                             # gpkg.lock, this machine\n"
        "  gpkg lock check gpkg.lock --for h100\n"
        "  gpkg lock check gpkg.lock -f environment.yml --available\n"
        "  gpkg lock check pixi.lock --environment test");
    return [=](Context& context) { return check(context, *options); };
}

}  // namespace gpkg::cli::locks
