#include "cli/commands/lock.hpp"
#include "cli/workflow/lock/updating.hpp"
#include "cli/workflow/requested.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/history.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_graph.hpp"
#include "libcore/spec/spec_text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace gpkg::cli::locks {
namespace {

using Json = nlohmann::ordered_json;

struct LockUpdateOptions {
    UpdateOptions update;
    std::vector<std::string> names;
    std::string file = kUsualName;
    std::string output;  ///< empty: the file itself
    bool all = false;    ///< every package of the lock is named
    bool dry_run = false;
};

std::vector<std::string> new_classes(const LockFile& old, const LockFile& now) {
    std::vector<std::string> names;
    for (const auto& one : now.classes) {
        if (old.find_class(one.name) == nullptr) names.push_back(one.name);
    }
    return names;
}

/// "torch", or "torch[accel=none]" that says which builds it is for from now on.
Result<void> take_name(const std::string& text, UpdateOptions& update) {
    if (is_package_name(text)) {
        update.names.insert(text);
        return {};
    }
    GPKG_TRY(const auto asked, AskedSpec::parse(text));
    const auto& name = asked.spec.name;
    if (!asked.accelerator || as_typed(asked.spec) != name)
        return fail(
            ErrorKind::Usage,
            fmt::format("{}: only package names are accepted, such as numpy or 'torch[accel=none]'",
                        printable(text)),
            fmt::format("write '{}' in environment.yml and use -f environment.yml",
                        printable(text)));
    update.names.insert(name);
    update.accelerators.of_package[name] = *asked.accelerator;
    return {};
}

/// Why a package that was named keeps its version: "numpy 2.1 is the newest version".
std::vector<std::string> reasons_to_stay(const UpdatedClasses& updated,
                                         const std::set<std::string>& names,
                                         const std::vector<Replaced>& changes) {
    std::vector<std::string> lines;
    for (const auto& [name, newest] : updated.newest) {
        const auto is_it = [&name = name](const Replaced& one) {
            return (one.before != nullptr ? one.before : one.after)->name == name;
        };
        if (!names.contains(name) || std::ranges::any_of(changes, is_it)) continue;
        std::set<std::string> versions;
        std::set<std::string> specs;
        for (const auto& locked : updated.lock.classes) {
            const auto records = updated.lock.records_of(locked);
            if (const auto* record = find_record(records, name)) versions.insert(record->version);
            for (const auto& text : updated.lock.wishes_of(locked).specs) {
                if (name_in_spec(text) == name && text != name) specs.insert(text);
            }
        }
        const auto all = [](const std::set<std::string>& texts) {
            return join_some(std::vector<std::string>(texts.begin(), texts.end()), "and");
        };
        const bool is_newest = versions.size() == 1 && Version::parse(*versions.begin()) == newest;
        if (is_newest)
            lines.push_back(fmt::format("{} {} is the newest version", name, *versions.begin()));
        else if (specs.empty())
            lines.push_back(
                fmt::format("{} stays at {}: {} exists, but the other requested "
                            "packages or the machines prevent it",
                            name,
                            all(versions),
                            newest.to_string()));
        else
            lines.push_back(fmt::format("{} stays at {}: the lock was written for '{}'; {} exists",
                                        name,
                                        all(versions),
                                        all(specs),
                                        newest.to_string()));
    }
    return lines;
}

/// Those of all classes.
RequestedSpecs requested_in(const LockFile& lock) {
    RequestedSpecs requested;
    for (const auto& one : lock.classes) {
        for (const auto& spec : lock.wishes_of(one).specs) {
            auto& specs = requested[spec_name(spec)];
            if (std::ranges::find(specs, spec) == specs.end()) specs.push_back(spec);
        }
    }
    return requested;
}

/// "requested specs updated (numpy<2 -> numpy)"; of other changes to the request, that there are.
std::string updated_request(const LockFile& old, const LockFile& now) {
    constexpr std::size_t kMostTold = 5;
    const auto before = requested_in(old);
    auto after = requested_in(now);
    for (const auto& [name, specs] : before) after.try_emplace(name);
    const auto changes = requested_changes(before, after);
    if (changes.size() > kMostTold)
        return fmt::format("{} requested specs updated", changes.size());
    return changes.empty()
               ? std::string("recorded request updated")
               : fmt::format("requested specs updated ({})", join_first(changes, kMostTold));
}

/// Without anything to update, gpkg.lock is updated to environment.yml of this folder, from which
/// `gpkg lock` writes it.
bool add_default_file(Context& context, LockUpdateOptions& options) {
    if (options.file != kUsualName || options.all || !asks_nothing(options.update) ||
        !has_default_file())
        return false;
    options.update.wishes.files = {kDefaultFile};
    context.out.note(fmt::format("note: updating the lock to the request of {}", kDefaultFile));
    return true;
}

Result<int> write_updated(Context& context, const LockUpdateOptions& given) {
    auto options = given;
    take_file_as_name(options.file, options.names);
    if (options.all && !options.names.empty())
        return fail(ErrorKind::Usage,
                    fmt::format("--all cannot be used with packages ({})",
                                join_some(options.names, "and")));
    for (const auto& text : options.names) GPKG_CHECK(take_name(text, options.update));
    const bool is_default = add_default_file(context, options);
    if (!options.output.empty()) GPKG_CHECK(check_own_name(options.output));
    if (options.output.empty()) options.output = options.file;
    GPKG_TRY(const auto found, read_own(context, options.file, "update"));
    if (options.all) {
        for (const auto& package : found.lock.packages)
            options.update.names.insert(package.record.name);
    }
    auto named = naming(context, options.file);
    auto updated = update_lock(named, found.lock, options.update);
    if (!updated) return pass(std::move(updated).error().while_doing(options.file));
    for (const auto& one : updated->lock.classes)
        warn_of_pip(context, updated->lock.wishes_of(one).pip);
    // As files have it.
    updated->lock.sort();
    const auto changes = changes_between(found.lock, updated->lock);
    const auto added = new_classes(found.lock, updated->lock);
    const bool differs = updated->lock != found.lock || options.output != options.file;
    if (!options.dry_run && differs)
        GPKG_CHECK(write_changed(found, updated->lock, options.file, options.output));
    auto& out = context.out;
    if (out.json_mode()) {
        Json document{{"success", true}, {"dry_run", options.dry_run}, {"file", options.output}};
        document["differs"] = differs;
        document["added"] = added;
        document["changes"] = locks::json_of(changes);
        document["classes"] = classes_json(*updated);
        document["divergences"] = locks::json_of(updated->divergences);
        out.json(document);
        return 0;
    }
    const auto before = taken_elsewhere(found.lock);
    for (const auto& note : taken_elsewhere(updated->lock)) {
        if (std::ranges::find(before, note) == before.end()) out.note("note: " + note);
    }
    tell_changes(out, changes);
    tell_classes(out, *updated);
    for (const auto& name : added) out.print(fmt::format("added class {}", name));
    const auto reasons = options.all ? std::vector<std::string>()
                                     : reasons_to_stay(*updated, options.update.names, changes);
    for (const auto& line : reasons) out.print(line);
    if (!differs && !reasons.empty() && reasons.size() == options.update.names.size()) {
        out.print(fmt::format("{} is unchanged", options.file));
        if (options.update.wishes.files.empty() && has_default_file())
            out.note(fmt::format("to use the requests of {0}: gpkg lock update {1}-f {0} {2}",
                                 kDefaultFile,
                                 options.file == kUsualName ? "" : shell_word(options.file) + " ",
                                 shell_words(options.names)));
        return 0;
    }
    if (!differs)
        out.print(options.all ? "nothing to do: the request allows no newer packages"
                              : "nothing to do: the lock matches the request");
    else if (changes.empty() && added.empty() && options.output == options.file)
        out.print("no packages change; " + updated_request(found.lock, updated->lock));
    if (!differs && is_default)
        out.note("hint: for newer versions: gpkg lock update NAME, or gpkg lock update --all");
    if (differs) out.print(options.dry_run ? kDryRun : "wrote " + options.output);
    return 0;
}

}  // namespace

Action bind_update(CLI::App& app) {
    const auto options = std::make_shared<LockUpdateOptions>();
    auto& update = options->update;
    app.add_option("file", options->file, "lock file; default: gpkg.lock")->type_name("FILE");
    app.add_option(
           "names", options->names, "packages to update; 'torch[accel=none]' changes builds too")
        ->type_name("NAME");
    app.add_flag("--all", options->all, "update all packages within the request");
    add_channel_options(app, update.sources);
    add_platform_option(app, update.sources);
    add_file_options(app, update.wishes);
    add_machines_option(
        app,
        update.machines,
        std::string("machines to add or solve again, profiles or names; may be repeated") +
            kFactsMayFollow);
    app.add_flag("-d,--dry-run", options->dry_run, "show the result without writing it");
    app.add_option("-o,--output", options->output, "file to write; default: the lock file itself")
        ->type_name("FILE");
    app.footer(
        "Updates the named packages, applies a changed request (-f), or adds classes for more "
        "machines. Everything else keeps its locked version. Alone, it applies environment.yml of "
        "the current folder to gpkg.lock.\n\n"
        "  gpkg lock update numpy                    # in gpkg.lock\n"
        "  gpkg lock update --all --dry-run          # show outdated packages\n"
        "  gpkg lock update -f environment.yml\n"
        "  gpkg lock update cluster.lock --for gh200");
    return [=](Context& context) { return write_updated(context, *options); };
}

}  // namespace gpkg::cli::locks
