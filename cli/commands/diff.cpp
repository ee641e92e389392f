#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/workflow/difference_table.hpp"
#include "cli/workflow/generations.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/moment.hpp"
#include "libcore/base/number.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_fit.hpp"
#include "libcore/hardware/variant_columns.hpp"
#include "libcore/lock/environments.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/manifest/environment_yml.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DiffOptions {
    TargetOptions target;
    std::string from;
    std::string to;
    std::string of_class;  ///< of lock files

    bool has_target() const { return !target.name.empty() || !target.prefix.empty(); }
};

/// One of the two things that are compared.
struct Side {
    std::string title;  ///< "generation 3", "ml", "gpkg.lock"
    std::vector<PackageRecord>
        packages;                    ///< of a lock file: those of one class, see choose_class()
    std::optional<LockFile> lock{};  ///< if it is a lock file
    std::optional<Installed> installed{};  ///< if it is an environment as it is now

    bool is_generation() const { return !lock && !installed; }
};

/// Two sets of packages. Of two lock files there is one pair for each class that both have.
struct Compared {
    std::string of_class;  ///< empty: no lock file on one side
    std::vector<PackageRecord> before;
    std::vector<PackageRecord> after;
};

/// A date, time or age, in Unix milliseconds.
std::optional<std::int64_t> point_in_time(const std::string& text) {
    return parse_local_moment(text, now_milliseconds());
}

bool is_generation_number(const std::string& text) {
    return whole_number<std::uint64_t>(text) && !point_in_time(text);
}

/// Whether it is a state of the environment that -n or -p names.
bool is_point_in_time(const std::string& text) {
    return whole_number<std::uint64_t>(text) || point_in_time(text);
}

bool is_lock_name(const std::string& text) {
    if (text.ends_with(".lock") || lock_format_of_name(text)) return true;
    std::error_code code;
    return fs::is_regular_file(text, code) && !is_environment_yml(text);
}

Side side_of(const Generation& generation) {
    Side side{fmt::format("generation {}", generation.number), {}};
    side.packages.reserve(generation.packages.size());
    for (const auto& package : generation.packages) side.packages.push_back(package.record);
    return side;
}

Result<Side> installed_in(Context& context, const TargetOptions& target) {
    GPKG_TRY(auto installed, read_installed(context, target));
    Side side{environment_name(context, installed.prefix.path()), {}};
    side.packages.reserve(installed.records.size());
    for (const auto& record : installed.records) side.packages.push_back(record.package);
    side.installed = std::move(installed);
    return side;
}

/// What the last change found: where another tool has changed packages since gpkg's last
/// generation, that generation.
Result<Side> before_last_change(Context& context, const fs::path& prefix) {
    GPKG_TRY(const auto generations, generations_of(context, prefix));
    if (generations.empty()) return generation_named(context, prefix, 1).transform(side_of);
    GPKG_TRY(const auto present, present_generation(prefix));
    const std::size_t back = same_packages(generations.back(), present) ? 2 : 1;
    if (generations.size() < back) return Side{"the start", {}};
    return side_of(generations[generations.size() - back]);
}

Result<Side> at_point_in_time(Context& context, const fs::path& prefix, const std::string& text) {
    if (!is_generation_number(text))
        return generation_at(context, prefix, *point_in_time(text), text).transform(side_of);
    const auto number = *whole_number<std::uint64_t>(text);
    if (number == 0)
        return fail(
            ErrorKind::Usage,
            "generation 0 does not exist: the first is 1",
            fmt::format("to list the generations: gpkg history {}", target_words(context, prefix)));
    return generation_named(context, prefix, number).transform(side_of);
}

Result<Side> lock_side(Context& context, const std::string& file) {
    GPKG_TRY(auto found, read_lock_file(context, file));
    Side side{file, {}};
    side.lock = std::move(found.lock);
    return side;
}

Result<Side> environment_side(Context& context, const std::string& text) {
    auto side = installed_in(context, target_of(text));
    // Usage: not a name that an environment can have.
    const auto is_unknown = [](const Error& error) {
        return error.kind == ErrorKind::NoEnvironment || error.kind == ErrorKind::Usage;
    };
    if (side || !is_unknown(side.error())) return side;
    auto error = std::move(side).error();
    const bool has_near_name = error.hint.starts_with("did you mean");
    if (is_environment_yml(text))
        error.hint =
            fmt::format("to compare with an environment.yml: gpkg sync -n NAME -f {} --dry-run",
                        shell_word(text));
    if (text.find('/') == std::string::npos) {
        error.kind = ErrorKind::Usage;
        error.message =
            fmt::format("'{}' is not a generation, date, environment or lock file", text);
        if (!has_near_name && !is_environment_yml(text))
            error.hint =
                "to list environments: gpkg env list; a time is written 2026-11-28, "
                "'2026-11-28 13:45', today, yesterday, 30m, 12h, 7d or 2w";
    }
    return pass(std::move(error));
}

Result<Side> side_named(Context& context, const TargetOptions& target, const std::string& text) {
    if (is_point_in_time(text)) {
        GPKG_TRY(const auto prefix, existing_prefix(context, target));
        return at_point_in_time(context, prefix, text);
    }
    return is_lock_name(text) ? lock_side(context, text) : environment_side(context, text);
}

struct Sides {
    Side before;
    Side after;
    bool is_since = false;  ///< after is the present state of the environment that before is of
};

/// FROM alone is compared with the environment as it is now.
Result<Sides> sides_of_one(Context& context, const DiffOptions& options) {
    auto present = installed_in(context, options.target);
    if (!present) {
        auto error = std::move(present).error();
        if (!options.has_target() && !is_point_in_time(options.from) && !is_lock_name(options.from))
            error.hint = fmt::format(
                "to see the last change: gpkg diff -n {0}; to compare with another: gpkg diff {0} "
                "OTHER",
                shell_word(options.from));
        return pass(std::move(error));
    }
    GPKG_TRY(auto named, side_named(context, options.target, options.from));
    return Sides{std::move(named), *std::move(present), is_point_in_time(options.from)};
}

Result<Sides> sides_of(Context& context, const DiffOptions& options) {
    const auto& [target, from, to, of_class] = options;
    if (from.empty()) {
        GPKG_TRY(auto present, installed_in(context, target));
        GPKG_TRY(auto before, before_last_change(context, present.installed->prefix.path()));
        return Sides{std::move(before), std::move(present), true};
    }
    if (to.empty()) return sides_of_one(context, options);
    if (options.has_target() && !is_point_in_time(from) && !is_point_in_time(to))
        return fail(ErrorKind::Usage,
                    fmt::format("-n and -p cannot be used with both '{}' and '{}'", from, to),
                    "leave out one of the three");
    GPKG_TRY(auto before, side_named(context, target, from));
    GPKG_TRY(auto after, side_named(context, target, to));
    return Sides{std::move(before), std::move(after)};
}

/// Generations and locks do not have them.
void add_pip_packages(Side& side) {
    const auto wheels = pip_packages(side.installed->prefix.path(), side.installed->records);
    for (const auto& wheel : wheels) {
        PackageRecord record;
        record.name = wheel.name;
        record.version = wheel.version;
        record.build = "pypi_0";
        record.channel = "pypi";
        side.packages.push_back(std::move(record));
    }
}

std::vector<std::string> class_names(const LockFile& lock) {
    std::vector<std::string> names;
    for (const auto* locked : lock.default_classes()) names.push_back(locked->name);
    return names;
}

Result<const LockedClass*> class_named(const Side& side, const std::string& name) {
    const auto names = class_names(*side.lock);
    if (const auto index = class_index(names, name)) return side.lock->default_classes()[*index];
    return fail(ErrorKind::NotFound,
                fmt::format("{}: no class '{}'", side.title, name),
                fmt::format("classes in it: {}", join_some(names, "and", names.size())));
}

/// The packages of a lock file for --class, else of its only class, else of the class for this
/// machine.
Result<void> choose_class(Context& context, Side& side, const std::string& name) {
    const auto classes = side.lock->default_classes();
    const LockedClass* chosen = classes.size() == 1 ? classes.front() : nullptr;
    if (!name.empty()) {
        GPKG_TRY(chosen, class_named(side, name));
    } else if (chosen == nullptr) {
        GPKG_TRY(const auto machine, machine_of(context, {}));
        GPKG_TRY(const auto records, detected_packages(context, machine));
        const auto fits = fits_of(*side.lock, machine.platform, records);
        if (fits.empty() || !fits.front().fits())
            return fail(ErrorKind::Unsatisfiable,
                        fmt::format("{}: no class fits {}", side.title, machine.name),
                        "choose one with --class NAME");
        chosen = fits.front().locked;
    }
    side.packages = side.lock->records_of(*chosen);
    if (classes.size() > 1) side.title += fmt::format(", class {}", chosen->name);
    return {};
}

/// Each class that both locks have.
Result<std::vector<Compared>> classes_of_both(Context& context, const Side& a, const Side& b) {
    std::vector<Compared> all;
    for (const auto* locked : a.lock->default_classes()) {
        if (const auto* other = b.lock->find_class(locked->name))
            all.push_back({locked->name, a.lock->records_of(*locked), b.lock->records_of(*other)});
        else
            context.out.note(fmt::format("class {} is only in {}", locked->name, a.title));
    }
    for (const auto* locked : b.lock->default_classes()) {
        if (a.lock->find_class(locked->name) == nullptr)
            context.out.note(fmt::format("class {} is only in {}", locked->name, b.title));
    }
    return all;
}

Result<std::vector<Compared>> compared(Context& context,
                                       Sides& sides,
                                       const std::string& of_class) {
    auto& [before, after, is_since] = sides;
    if (!of_class.empty() && !before.lock && !after.lock)
        return fail(ErrorKind::Usage, "--class needs a lock file to compare");
    if (before.lock && after.lock && of_class.empty()) {
        const bool are_single =
            before.lock->default_classes().size() == 1 && after.lock->default_classes().size() == 1;
        if (!are_single) return classes_of_both(context, before, after);
    }
    for (auto* side : {&before, &after}) {
        if (side->lock) GPKG_CHECK(choose_class(context, *side, of_class));
        if (before.installed && after.installed) add_pip_packages(*side);
    }
    return std::vector{Compared{{}, std::move(before.packages), std::move(after.packages)}};
}

std::vector<PackageDifference> differences_in(const Compared& compared) {
    const auto set_of = [](const std::vector<PackageRecord>& records) {
        PackageSet set;
        set.reserve(records.size());
        for (const auto& record : records) set.push_back(&record);
        return set;
    };
    return differences(set_of(compared.before), set_of(compared.after));
}

/// "2 packages added, 1 removed since generation 3"
std::string summary_of(const Sides& sides, const std::vector<PackageDifference>& changes) {
    const auto& [before, after, is_since] = sides;
    const auto counts = counted_in_words(changes);
    if (is_since)
        return fmt::format(
            "{} since {}", counts.empty() ? "no packages differ" : counts, before.title);
    if (!counts.empty()) return fmt::format("{} from {} to {}", counts, before.title, after.title);
    return fmt::format("no packages differ between {} and {}{}",
                       before.title,
                       after.title,
                       before.is_generation() && after.is_generation()
                           ? "; gpkg history lists changes of requested specs and settings"
                           : "");
}

void print(Output& out, const Sides& sides, const Compared& one) {
    const auto changes = differences_in(one);
    const auto text = [](const PackageRecord* record) -> std::optional<PackageText> {
        if (record == nullptr) return std::nullopt;
        return PackageText{record->version, record->build, short_channel(record->channel)};
    };
    DifferenceTable table;
    for (const auto& change : changes) {
        const auto* before = change.before;
        const auto* after = change.after;
        const auto how = before == nullptr || after == nullptr
                             ? std::string()
                             : variant_changes(variant_columns(*before), variant_columns(*after));
        table.add(change.name(), text(before), text(after), how);
    }
    if (!one.of_class.empty() && !changes.empty())
        out.result(fmt::format("class {}:", one.of_class));
    table.print(out);
    out.note((one.of_class.empty() ? "" : fmt::format("class {}: ", one.of_class)) +
             summary_of(sides, changes));
}

Json json_of(const std::vector<Compared>& all) {
    auto list = Json::array();
    for (const auto& one : all) {
        for (const auto& change : differences_in(one)) {
            Json entry{{"name", change.name()},
                       {"before", change.before == nullptr ? Json() : record_json(*change.before)},
                       {"after", change.after == nullptr ? Json() : record_json(*change.after)}};
            if (!one.of_class.empty()) entry["class"] = one.of_class;
            list.push_back(std::move(entry));
        }
    }
    return list;
}

Result<int> diff(Context& context, const DiffOptions& options) {
    GPKG_TRY(auto sides, sides_of(context, options));
    GPKG_TRY(const auto all, compared(context, sides, options.of_class));
    if (context.out.json_mode()) {
        context.out.json(json_of(all));
        return 0;
    }
    for (const auto& one : all) print(context.out, sides, one);
    return 0;
}

}  // namespace

Action bind_diff(CLI::App& app) {
    const auto options = std::make_shared<DiffOptions>();
    app.add_option("from",
                   options->from,
                   "generation, time, age (30m, 7d), environment or lock file; default: the "
                   "state before the last change")
        ->type_name("FROM");
    app.add_option(
           "to", options->to, "the same; default: the packages installed in the environment")
        ->type_name("TO");
    add_target_options(app, options->target);
    app.add_option("--class", options->of_class, "class of the lock file")->type_name("NAME");
    app.footer(
        "Shows the packages added (+), removed (-) and changed (~) from FROM to TO: generations of "
        "an environment, two environments, or lock files. `gpkg history` lists the generations.\n"
        "\n"
        "  gpkg diff -n ml               # the last change\n"
        "  gpkg diff 3 -n ml             # from generation 3 to the installed packages\n"
        "  gpkg diff 3 5 -n ml           # from generation 3 to generation 5\n"
        "  gpkg diff 7d -n ml            # changes of the last seven days\n"
        "  gpkg diff ml other            # from the first environment to the second\n"
        "  gpkg diff old.lock gpkg.lock  # from one lock file to another\n"
        "  gpkg diff '2026-11-28 13:45' -n ml  # as `gpkg history` shows times\n"
        "  gpkg diff gpkg.lock -n ml     # from the lock file to the environment\n");

    return [options](Context& context) { return diff(context, *options); };
}

}  // namespace gpkg::cli
