#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/lock_choice.hpp"
#include "cli/workflow/locking.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/spec/spec_text.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUsualName = "gpkg.lock";

struct Options {
    SourceOptions sources;
    WishOptions wishes;
    std::vector<std::string> machines;
    std::string output = kUsualName;
    std::string file = kUsualName;
    std::string converted;
};

/// The classes that are asked for; without any, this machine as its platform.
std::vector<std::string> class_names(const Context& context, const Options& options) {
    if (!options.machines.empty()) return options.machines;
    return {options.sources.platform.empty() ? context.config.platform.value
                                             : options.sources.platform};
}

/// "node" of "./node.yaml": a class is named as --for names its machine.
std::string class_name(const std::string& machine) {
    const bool is_file = machine.find('/') != std::string::npos || machine.ends_with(".yaml") ||
                         machine.ends_with(".yml");
    return is_file ? fs::path(machine).stem().native() : machine;
}

Result<ClassQuestion> question_for(Context& context,
                                   const Options& options,
                                   const std::string& machine) {
    auto sources = options.sources;
    if (!options.machines.empty()) sources.for_machine = machine;
    // Selectors of an environment.yml may choose other packages for another platform.
    GPKG_TRY(auto wishes, read_wishes(context, options.wishes, sources));
    if (!wishes.explicit_records.empty())
        return fail(ErrorKind::Usage, "package files are what they are: nothing is to be locked");
    if (wishes.specs.empty())
        return fail(ErrorKind::Usage,
                    "nothing to lock was named",
                    "gpkg lock -f environment.yml --for a100 --for cpu");
    ChangeRequest request;
    request.specs = std::move(wishes.specs);
    request.accelerators = std::move(wishes.accelerators);
    GPKG_TRY(auto question, question_of(context, sources, request));
    question.machine.name = class_name(machine);
    return ClassQuestion{class_name(machine), std::move(question)};
}

std::string text_of(const AcceleratorWishes& wishes) {
    std::vector<std::string> texts;
    for (const auto* choices : {&wishes.all, &wishes.fallbacks}) {
        for (const auto choice : *choices) texts.emplace_back(to_string(choice));
    }
    auto text = fmt::format("{}", fmt::join(texts, ","));
    for (const auto& [name, choice] : wishes.of_package)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_string(choice));
    return text;
}

LockRequest request_of(const Options& options, const Question& question) {
    LockRequest request;
    for (const auto& spec : question.wanted.specs) request.specs.push_back(as_typed(spec));
    switch (question.problem.priority) {
    case ChannelPriority::Strict: request.channel_priority = "strict"; break;
    case ChannelPriority::Flexible: request.channel_priority = "flexible"; break;
    case ChannelPriority::Disabled: request.channel_priority = "disabled"; break;
    }
    request.accelerator = text_of(question.wanted.accelerators);
    request.exclude_newer = options.sources.exclude_newer;
    return request;
}

Json json_of(const Divergence& divergence) {
    return {{"name", divergence.name},
            {"versions", divergence.versions},
            {"because_of", divergence.of},
            {"reason", divergence.reason}};
}

void tell(Context& context, const LockedClasses& locked, const std::string& output) {
    auto& out = context.out;
    Table table({1});
    for (const auto& one : locked.lock.classes)
        table.add(
            {one.name,
             fmt::format("{} packages", one.packages.size()),
             one.platform,
             one.needs.empty() ? "" : "needs " + fmt::format("{}", fmt::join(one.needs, ", "))});
    for (const auto& line : table.lines()) out.print(line);
    for (const auto& [name, notes] : locked.notes) {
        for (const auto& note : notes) out.note(fmt::format("note: {}: {}", name, note));
    }
    for (const auto& [name, versions, of, reason] : locked.divergences) {
        std::vector<std::string> items;
        items.reserve(versions.size());
        for (const auto& [where, version] : versions)
            items.push_back(fmt::format("{} for {}", version, where));
        out.print(fmt::format("{} is not the same in all: {}", name, join_some(items, "and", 8)));
        for (const auto line : split(reason, '\n'))
            out.print(fmt::format("  {}{}", of.empty() ? "" : of + ": ", line));
    }
    out.print(fmt::format("wrote {}:  gpkg create -n NAME --lock {}", output, output));
}

Result<int> write(Context& context, const Options& options) {
    std::vector<ClassQuestion> classes;
    for (const auto& machine : class_names(context, options)) {
        GPKG_TRY(auto one, question_for(context, options, machine));
        const bool is_there = std::any_of(classes.begin(), classes.end(), [&](const auto& other) {
            return other.name == one.name;
        });
        if (is_there)
            return fail(ErrorKind::Usage, fmt::format("--for {}: is named twice", machine));
        classes.push_back(std::move(one));
    }
    const auto request = request_of(options, classes.front().question);
    GPKG_TRY(auto locked, lock_classes(context, std::move(classes)));
    locked.lock.request = request;
    locked.lock.request.digest = request_digest(locked.lock);
    GPKG_CHECK(write_lock(locked.lock, LockFormat::Gpkg, options.output));
    if (!context.out.json_mode()) {
        tell(context, locked, options.output);
        return 0;
    }
    Json document{{"success", true}, {"file", options.output}, {"classes", Json::array()}};
    for (const auto& one : locked.lock.classes)
        document["classes"].push_back({{"name", one.name},
                                       {"platform", one.platform},
                                       {"needs", one.needs},
                                       {"packages", one.packages.size()}});
    document["divergences"] = Json::array();
    for (const auto& divergence : locked.divergences)
        document["divergences"].push_back(json_of(divergence));
    context.out.json(document);
    return 0;
}

Result<ReadLock> read(Context& context, const std::string& file) {
    GPKG_TRY(auto found, read_lock(file));
    for (const auto& warning : found.warnings) context.out.warn(warning);
    return found;
}

/// Which class the machine takes, and what keeps it from the others.
Result<int> check(Context& context, const Options& options) {
    GPKG_TRY(const auto found, read(context, options.file));
    auto sources = options.sources;
    if (options.machines.size() > 1)
        return fail(ErrorKind::Usage, "one machine at a time: name one --for");
    if (!options.machines.empty()) sources.for_machine = options.machines.front();
    GPKG_TRY(const auto machine, machine_of(context, sources));
    GPKG_TRY(const auto records, virtual_packages_of(context, machine));
    const auto fits = fits_of(found.lock, machine.platform, records);
    const bool any = !fits.empty() && fits.front().fits();
    if (context.out.json_mode()) {
        Json document{{"success", any},
                      {"machine", machine.name},
                      {"class", any ? Json(fits.front().locked->name) : Json()},
                      {"classes", Json::array()}};
        for (const auto& fit : fits)
            document["classes"].push_back(
                {{"name", fit.locked->name}, {"fits", fit.fits()}, {"unmet", fit.unmet}});
        context.out.json(document);
        return any ? 0 : 1;
    }
    Table table;
    for (const auto& fit : fits)
        table.add({fit.locked->name,
                   &fit == &fits.front() && any ? "is taken: " + fit.advantage()
                   : fit.fits()                 ? "fits"
                                                : join_some(fit.unmet, "and")});
    for (const auto& line : table.lines()) context.out.result(line);
    if (!any) context.out.note(fmt::format("{} fits none of its classes", machine.name));
    return any ? 0 : 1;
}

Result<LockFormat> format_for(const std::string& path) {
    const auto name = fs::path(path).filename().native();
    if (name == "pixi.lock") return LockFormat::Pixi7;
    if (name.find("conda-lock") != std::string::npos &&
        (name.ends_with(".yml") || name.ends_with(".yaml")))
        return LockFormat::CondaLock;
    if (name.ends_with("gpkg.lock")) return LockFormat::Gpkg;
    return fail(ErrorKind::Usage,
                fmt::format("{}: the name does not tell which format is meant", path),
                "pixi.lock, conda-lock.yml or gpkg.lock");
}

Result<int> convert(Context& context, const Options& options) {
    GPKG_TRY(const auto format, format_for(options.converted));
    GPKG_TRY(const auto found, read(context, options.file));
    GPKG_CHECK(write_lock(found.lock, format, options.converted));
    if (context.out.json_mode()) {
        context.out.json(Json{{"success", true}, {"file", options.converted}});
    } else {
        context.out.print(fmt::format("wrote {}, {}", options.converted, name_of(format)));
    }
    return 0;
}

}  // namespace

Action bind_lock(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    add_source_options(app, options->sources);
    add_wish_options(app, options->wishes);
    // Several machines, each a class of the lock.
    app.remove_option(app.get_option("--for"));
    app.add_option("--for", options->machines, "lock for this machine too: a profile or a name")
        ->type_name("FILE|NAME")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("-o,--output", options->output, "the file; gpkg.lock without it")
        ->type_name("FILE");
    auto* check_app = app.add_subcommand("check", "tell which class of a lock this machine takes");
    check_app->add_option("file", options->file, "gpkg.lock without it")->type_name("FILE");
    auto* convert_app = app.add_subcommand("convert", "write a lock in another format");
    convert_app->add_option("file", options->file)->type_name("FILE")->required();
    convert_app->add_option("to", options->converted, "pixi.lock, conda-lock.yml or gpkg.lock")
        ->type_name("FILE")
        ->required();
    for (auto* sub : {check_app, convert_app}) sub->fallthrough();
    app.footer(
        "One file for several kinds of machines, with the same versions for all where that can be "
        "had.\n"
        "  gpkg lock -f environment.yml --for a100 --for mi300 --for cpu\n"
        "  gpkg lock check --for h100\n"
        "  gpkg lock convert gpkg.lock pixi.lock\n"
        "  gpkg create -n ml --lock gpkg.lock");

    return [=](Context& context) -> Result<int> {
        if (*check_app) return check(context, *options);
        if (*convert_app) return convert(context, *options);
        return write(context, *options);
    };
}

}  // namespace gpkg::cli
