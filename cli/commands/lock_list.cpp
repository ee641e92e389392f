#include "cli/commands/lock.hpp"
#include "cli/table.hpp"
#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/record_text.hpp"
#include "libcore/base/text.hpp"
#include "libcore/classes/class_words.hpp"
#include "libcore/lock/environments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockListOptions {
    LockedOptions lock{kUsualName, {}};
    std::string of_class;  ///< empty: all
};

/// The class that --class names, else all.
Result<std::vector<const LockedClass*>> wanted_classes(const LockFile& lock,
                                                       const LockListOptions& options) {
    auto classes = lock.default_classes();
    if (options.of_class.empty()) return classes;
    std::vector<std::string> names;
    names.reserve(classes.size());
    for (const auto* locked : classes) names.push_back(locked->name);
    if (const auto index = class_index(names, options.of_class))
        return std::vector{classes[*index]};
    return fail(ErrorKind::NotFound,
                fmt::format("{}: no class '{}'", options.lock.file, options.of_class),
                names.empty() ? "" : "classes in it: " + join_some(names, "and", names.size()));
}

std::vector<PackageRecord> sorted_records(const LockFile& lock, const LockedClass& locked) {
    auto records = lock.records_of(locked);
    std::ranges::sort(records, {}, &PackageRecord::name);
    return records;
}

Json json_of(const LockFile& lock, const std::vector<const LockedClass*>& classes) {
    Json list = Json::array();
    for (const auto* locked : classes) {
        Json packages = Json::array();
        for (const auto& record : sorted_records(lock, *locked))
            packages.push_back(record_json(record));
        Json foreign = Json::array();
        for (const auto place : locked->foreign)
            foreign.push_back(
                {{"name", lock.foreign[place].name}, {"version", lock.foreign[place].version}});
        list.push_back({{"name", locked->name},
                        {"platform", locked->platform},
                        {"needs", locked->needs},
                        {"packages", std::move(packages)},
                        {"pip_packages", std::move(foreign)}});
    }
    return list;
}

using Classes = std::vector<const LockedClass*>;

/// Classes with the same packages and needs are listed once.
std::vector<Classes> groups_of(const Classes& classes) {
    const auto is_like = [](const LockedClass& a, const LockedClass& b) {
        return a.platform == b.platform && a.needs == b.needs && a.packages == b.packages &&
               a.foreign == b.foreign;
    };
    std::vector<Classes> groups;
    for (const auto* locked : classes) {
        const auto group = std::ranges::find_if(
            groups, [&](const Classes& one) { return is_like(*one.front(), *locked); });
        if (group == groups.end())
            groups.push_back({locked});
        else
            group->push_back(locked);
    }
    return groups;
}

/// "a100 and h100: 45 packages for linux-64; needs __cuda >=12"
std::string heading_of(const LockFile& lock, const Classes& group) {
    const auto& locked = *group.front();
    std::vector<std::string> names;
    names.reserve(group.size());
    for (const auto* one : group) names.push_back(one->name);
    auto text = fmt::format("{}: {} for {}",
                            join_some(names, "and", names.size()),
                            count_text(locked.packages.size() + locked.foreign.size(), "package"),
                            locked.platform);
    if (!locked.needs.empty()) text += "; needs " + needs_text(lock, locked);
    return text;
}

void print(Output& out, const LockFile& lock, const Classes& group) {
    const auto& locked = *group.front();
    out.result(out.bold(heading_of(lock, group)));
    Table table;
    for (const auto& record : sorted_records(lock, locked))
        table.add(
            {"  " + record.name, record.version, record.build, short_channel(record.channel)});
    for (const auto place : locked.foreign)
        table.add({"  " + lock.foreign[place].name, lock.foreign[place].version, "", "pip"});
    out.result(table);
}

Result<int> list(Context& context, const LockListOptions& options) {
    GPKG_TRY(auto found, read_lock_file(context, options.lock.file));
    GPKG_TRY(const auto lock, environment_in(std::move(found.lock), options.lock));
    GPKG_TRY(const auto classes, wanted_classes(lock, options));
    if (context.out.json_mode()) {
        context.out.json(
            {{"success", true}, {"file", options.lock.file}, {"classes", json_of(lock, classes)}});
        return 0;
    }
    const auto groups = groups_of(classes);
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i > 0) context.out.result("");
        print(context.out, lock, groups[i]);
    }
    return 0;
}

}  // namespace

Action bind_list(CLI::App& app) {
    const auto options = std::make_shared<LockListOptions>();
    app.add_option("file", options->lock.file, "lock file; default: gpkg.lock")->type_name("FILE");
    add_environment_option(app, options->lock.environment);
    app.add_option("--class", options->of_class, "list only this class")->type_name("NAME");
    app.footer(
        "Lists the packages of each class in a lock file. Classes with the same packages are "
        "listed once.\n\n"
        "  gpkg lock list                     # gpkg.lock\n"
        "  gpkg lock list gpkg.lock --class a100\n"
        "  gpkg lock list pixi.lock --environment test");
    return [=](Context& context) { return list(context, *options); };
}

}  // namespace gpkg::cli::locks
