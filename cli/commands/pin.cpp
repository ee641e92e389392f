// `pin`, `unpin` and `pins`: specs that every later change of an environment keeps to
// (conda-meta/pinned).

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/environments.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/locked_prefix.hpp"
#include "cli/workflow/wishes/wishes.hpp"
#include "libcore/base/text.hpp"
#include "libcore/env/pins.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/spec_text.hpp"
#include "libcore/spec/version.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpkg::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PinOptions {
    TargetOptions target;
    bool override_frozen = false;
    bool all = false;  ///< unpin every package
    std::vector<std::string> specs;
};

/// The spec to pin: as given, or the installed version of a bare name.
Result<MatchSpec> pin_of(const Context& context,
                         const std::string& text,
                         const Prefix& prefix,
                         const std::vector<PrefixRecord>& installed) {
    if (hide_secrets(text) != text)
        return fail(ErrorKind::Usage,
                    "a pin cannot contain a login",
                    "write the login to ~/.config/gpkg/credentials.yaml or ~/.netrc");
    GPKG_TRY(auto spec, parse_spec(text));
    if (!spec.has_one_name())
        return fail(ErrorKind::Usage,
                    fmt::format("{}: not the name of one package", text),
                    "gpkg pin 'numpy=1.26.*'");
    if (spec.when)
        return fail(ErrorKind::Usage,
                    fmt::format("{}: a pin cannot have a condition", text),
                    "pin it without when=");
    MatchSpec bare;
    bare.name = spec.name;
    if (!(spec == bare)) return spec;
    const auto* record = find_record(installed, spec.name);
    if (record != nullptr)
        return parse_spec(fmt::format("{} =={}", spec.name, record->package.version));
    return pass(not_installed(spec.name,
                              spec.name,
                              installed,
                              prefix.path(),
                              fmt::format("give the version to pin: gpkg pin {} '{}=VERSION'",
                                          target_words(context, prefix.path()),
                                          spec.name)));
}

/// Up to four versions of the records, which are sorted by version: those on both sides of the
/// pinned one, or the newest if the pin has none.
std::vector<std::string> nearest_versions(const MatchSpec& pin,
                                          const std::vector<PackageRecord>& records) {
    constexpr std::size_t kOnEachSide = 2;
    const auto literals = pin.version ? pin.version->literals() : std::vector<Version>();
    std::vector<std::string> versions;
    std::size_t below = 0;
    for (const auto& record : records) {
        if (!versions.empty() && versions.back() == record.version) continue;
        versions.push_back(record.version);
        const auto version = Version::parse(record.version);
        if (literals.empty() || (version && *version < literals.front())) below = versions.size();
    }
    const auto first = below - std::min(below, kOnEachSide);
    const auto last = std::min(below + kOnEachSide, versions.size());
    return {versions.begin() + static_cast<std::ptrdiff_t>(first),
            versions.begin() + static_cast<std::ptrdiff_t>(last)};
}

/// Warns where no build in the channels of the environment matches the pin. Nothing is downloaded:
/// without cached indexes there is no warning. Returns whether it warned.
bool warn_if_not_in_channels(Context& context,
                             const Prefix& prefix,
                             const std::vector<PrefixRecord>& installed,
                             const MatchSpec& pin) {
    SourceOptions sources;
    sources.offline = true;
    if (const auto state = prefix.state()) sources.channels = state->channels;
    ask_channels_of(std::vector{pin}, sources);
    auto inquiry = Inquiry::begin(context, pin, sources, Extent::Named);
    if (!inquiry) return false;
    auto& searched = inquiry->searched;
    const std::vector<std::string> names{pin.name};
    auto indexes = inquiry->channels.look_up(names);
    if (!indexes) return false;
    searched.indexes = *std::move(indexes);
    MatchSpec any_version;
    any_version.name = pin.name;
    const auto matching = find_records(pin, names, searched);
    const auto all = find_records(any_version, names, searched);
    if (!matching || !matching->empty() || !all) return false;
    const auto near = nearest_versions(pin, *all);
    context.out.warn(fmt::format(
        "{}{}; to remove the pin: gpkg unpin {} {}",
        near.empty() ? fmt::format("package '{}' not found in {}", pin.name, searched.where())
                     : fmt::format("no build of {} in {} matches the pin; nearest versions: ",
                                   pin.name,
                                   searched.where()),
        join_some(near, "and", near.size()),
        target_words(context, prefix.path()),
        pin.name));
    std::vector<std::string> known;
    known.reserve(installed.size());
    for (const auto& record : installed) known.push_back(record.name());
    const auto similar = all->empty() ? near_names(pin.name, known) : std::vector<std::string>();
    if (!similar.empty()) context.out.note("hint: " + did_you_mean(similar));
    return true;
}

Result<int> pin(Context& context, const PinOptions& options) {
    GPKG_TRY(const auto locked, lock_prefix(context, options.target, options.override_frozen));
    const auto& path = locked.prefix.path();
    GPKG_TRY(const auto installed, locked.prefix.records());
    GPKG_TRY(auto text, read_pins(path));
    std::vector<MatchSpec> pins;
    for (std::size_t i = 0; i < options.specs.size(); ++i) {
        const auto& spec = options.specs[i];
        GPKG_CHECK(check_is_spec(i > 0 ? options.specs[i - 1] : "",
                                 spec,
                                 i + 1 < options.specs.size() ? options.specs[i + 1] : ""));
        GPKG_TRY(auto pin, pin_of(context, spec, locked.prefix, installed));
        text = with_pin(text, pin);
        pins.push_back(std::move(pin));
    }
    GPKG_CHECK(write_pins(path, text));
    auto document = Json{{"success", true}, {"prefix", path.native()}, {"pinned", Json::array()}};
    for (const auto& pin : pins) {
        document["pinned"].push_back(written(pin));
        context.out.print(fmt::format(
            "pinned {} in {}", written(pin), environment_folders(context.config).name_of(path)));
        const auto* record = find_record(installed, pin.name);
        const bool is_installed = record != nullptr && pin.matches(record->package);
        const bool is_nowhere =
            !is_installed && warn_if_not_in_channels(context, locked.prefix, installed, pin);
        if (record != nullptr && !is_installed && !is_nowhere)
            context.out.note(
                fmt::format("note: {} {} is installed and does not match; to change it: "
                            "gpkg update {} {}",
                            pin.name,
                            record->package.version,
                            target_words(context, path),
                            pin.name));
    }
    if (context.out.json_mode()) context.out.json(document);
    return 0;
}

Result<std::vector<std::string>> pinned_names(const Prefix& prefix) {
    GPKG_TRY(const auto pins, prefix.pinned_specs());
    std::vector<std::string> names;
    for (const auto& text : pins) {
        GPKG_TRY(const auto spec, parse_spec(text));
        if (std::ranges::find(names, spec.name) == names.end()) names.push_back(spec.name);
    }
    return names;
}

Result<int> unpin(Context& context, const PinOptions& options) {
    if (options.specs.empty() && !options.all)
        return fail(ErrorKind::Usage,
                    "gpkg unpin: missing argument: NAME",
                    "gpkg unpin -n NAME numpy; all packages: gpkg unpin -n NAME --all");
    GPKG_TRY(const auto locked, lock_prefix(context, options.target, options.override_frozen));
    const auto& path = locked.prefix.path();
    // A line that is not a spec does not keep others from being unpinned.
    const auto pinned = pinned_names(locked.prefix);
    if (options.all && !pinned) return pass(pinned.error());
    const auto& names = options.all ? *pinned : options.specs;
    GPKG_TRY(auto text, read_pins(path));
    for (const auto& name : names) {
        GPKG_TRY(const auto spec, parse_spec(name));
        auto without = without_pin(text, spec.name);
        if (without == text)
            return fail(
                ErrorKind::NotFound,
                fmt::format("{} is not pinned in {}", spec.name, path.native()),
                did_you_mean(
                    near_names(spec.name, pinned.value_or(std::vector<std::string>())),
                    fmt::format("to list pins: gpkg pins {}", target_words(context, path))));
        text = std::move(without);
    }
    GPKG_CHECK(write_pins(path, text));
    const auto name = environment_folders(context.config).name_of(path);
    context.out.print(
        names.empty()
            ? fmt::format("no package is pinned in {}", name)
            : fmt::format("unpinned {} in {}", join_some(names, "and", names.size()), name));
    if (context.out.json_mode())
        context.out.json({{"success", true}, {"prefix", path.native()}, {"unpinned", names}});
    return 0;
}

Result<int> list_pins(Context& context, const PinOptions& options) {
    const auto path = existing_prefix(context, options.target);
    const bool is_any_active = path || path.error().message != kNoEnvironmentActive;
    if (!path && is_any_active) return pass(path.error());
    auto document = Json::array();
    Table table;
    table.may_wrap(1);
    const auto add = [&](const std::string& spec, const std::string& source) {
        document.push_back({{"spec", spec}, {"source", source}});
        table.add({spec, source});
    };
    if (path) {
        GPKG_TRY(const auto prefix, Prefix::open(*path));
        GPKG_TRY(const auto specs, prefix.pinned_specs());
        for (const auto& spec : specs) add(spec, (prefix.meta() / "pinned").native());
    }
    const auto& configured = context.config.pinned_packages;
    for (const auto& spec : configured.value)
        add(spec, fmt::format("pinned_packages ({})", configured.source));
    if (context.out.json_mode()) {
        context.out.json(document);
        return 0;
    }
    context.out.result(table);
    if (!is_any_active)
        context.out.note("no environment is active; for the pins of one: gpkg pins -n NAME");
    else if (table.empty())
        context.out.note("no package is pinned");
    return 0;
}

void add_pin_options(CLI::App& app, PinOptions& options, const char* help, const char* value) {
    app.add_option("specs", options.specs, help)->type_name(value);
    add_target_options(app, options.target);
    app.add_flag("--override-frozen",
                 options.override_frozen,
                 "change the environment even if it is marked as frozen");
}

}  // namespace

Action bind_pin(CLI::App& app) {
    const auto options = std::make_shared<PinOptions>();
    add_pin_options(
        app, *options, "package with a version; a name alone pins its installed version", "SPEC");
    app.get_option("specs")->required();
    app.footer(
        "Later commands keep the package at versions that match. A pin replaces an earlier pin of "
        "the same package. The pins are in conda-meta/pinned, which conda and mamba read too.\n"
        "  gpkg pin -n ml 'numpy=1.26.*'\n"
        "  gpkg pin -n ml python              # at its installed version\n"
        "  gpkg install -n ml scipy --no-pin  # ignore the pins once");
    return [options](Context& context) { return pin(context, *options); };
}

Action bind_unpin(CLI::App& app) {
    const auto options = std::make_shared<PinOptions>();
    add_pin_options(app, *options, "package to unpin", "NAME");
    app.add_flag("--all", options->all, "unpin all packages")->excludes(app.get_option("specs"));
    app.footer(
        "Removes pins from conda-meta/pinned.\n"
        "  gpkg unpin -n ml numpy\n"
        "  gpkg unpin -n ml --all");
    return [options](Context& context) { return unpin(context, *options); };
}

Action bind_pins(CLI::App& app) {
    const auto options = std::make_shared<PinOptions>();
    add_target_options(app, options->target);
    app.footer(
        "Lists the pins of the environment, then those of the setting pinned_packages. Without an "
        "environment it lists only the setting.\n"
        "  gpkg pins -n ml");
    return [options](Context& context) { return list_pins(context, *options); };
}

}  // namespace gpkg::cli
