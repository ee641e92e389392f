#include "cli/workflow/environment_export.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/env/activation.hpp"
#include "libcore/env/history.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace gpkg::cli {
namespace {

using Texts = std::vector<std::string>;

void add_once(Texts& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

Result<Texts> names_of(const Context& context, const Texts& channels) {
    const auto where = channel_context(context);
    GPKG_TRY(const auto parsed, parse_channels(channels, where));
    Texts names;
    for (const auto& channel : parsed) names.push_back(channel.name());
    return names;
}

/// The channels that packages came from, the most important first: in the order that is remembered.
/// Of others, those that are not configured can only have come with -c or from a file, and then
/// stood before the configured ones; among themselves nothing tells, and the one with the most
/// packages goes first.
Texts channels_used(const Context& context,
                    const std::vector<PrefixRecord>& records,
                    const Texts& remembered,
                    const Texts& configured) {
    std::map<std::string, std::size_t> uses;
    for (const auto& record : records) {
        if (!record.package.channel.empty()) ++uses[channel_name(context, record.package.channel)];
    }
    Texts used;
    const auto take = [&](const Texts& names) {
        for (const auto& name : names) {
            if (uses.contains(name)) add_once(used, name);
        }
    };
    take(remembered);
    Texts others;
    for (const auto& [name, count] : uses) {
        if (std::find(configured.begin(), configured.end(), name) == configured.end())
            others.push_back(name);
    }
    std::stable_sort(others.begin(), others.end(), [&](const auto& a, const auto& b) {
        return uses.at(a) > uses.at(b);
    });
    take(others);
    take(configured);
    return used;
}

/// The channels that are named, the most important first.
Result<Texts> channels_of(const Context& context,
                          const Installed& installed,
                          const Texts& configured,
                          const ExportOptions& options) {
    GPKG_TRY(auto channels, names_of(context, options.channels));
    if (options.override_channels) return channels;
    GPKG_TRY(const auto state, installed.prefix.state());
    GPKG_TRY(const auto remembered, names_of(context, state.channels));
    auto used = options.ignore_channels
                    ? configured
                    : channels_used(context, installed.records, remembered, configured);
    // An environment without packages says nothing of channels.
    if (used.empty()) used = configured;
    for (const auto& name : used) add_once(channels, name);
    return channels;
}

/// "numpy=2.1.0=py312_0". A channel that is not the first may be hidden by those before it, unless
/// the spec names it.
std::string pinned(const Context& context,
                   const PackageRecord& record,
                   const Texts& channels,
                   const ExportOptions& options) {
    const auto channel =
        record.channel.empty() ? std::string() : channel_name(context, record.channel);
    const bool is_named = !options.ignore_channels && !channel.empty() &&
                          (channels.empty() || channel != channels.front());
    auto text = fmt::format(
        "{}{}={}", is_named ? channel + "::" : std::string(), record.name, record.version);
    return options.no_builds ? text : fmt::format("{}={}", text, record.build);
}

/// The spec as it was asked for, where what it asks for is still there.
Texts asked_for(Context& context,
                const std::vector<HistoryEntry>& history,
                const std::vector<PrefixRecord>& records) {
    Texts texts;
    for (const auto& text : requested_specs(history)) {
        auto spec = MatchSpec::parse(text);
        if (!spec) {
            context.out.warn(fmt::format("invalid spec left out: {}", text));
            continue;
        }
        const bool is_elsewhere = spec->name.starts_with("__") || spec->when;
        if (!is_elsewhere && find_record(records, spec->name) == nullptr) continue;
        if (spec->channel) spec->channel = without_secrets(*spec->channel);
        // The place of a package file: it may hold secrets, and means nothing elsewhere.
        spec->url.reset();
        texts.push_back(as_typed(*spec));
    }
    return texts;
}

/// What is written is named, and named it would have to be for what the environment is for: what
/// was only needed came in builds for others where there were none.
void tell_other_accelerators(const std::vector<PrefixRecord>& records,
                             const std::string& asked,
                             std::map<std::string, std::string>& of_package) {
    const auto choice = parse_accelerator_choice(asked);
    if (!choice || !vendor_of(*choice)) return;
    for (const auto& record : records) {
        const auto of = accelerator_of(record.package);
        if (of.accelerator != vendor_of(*choice) && !of.evidence.empty())
            of_package.emplace(record.name(), to_string(of.accelerator));
    }
}

Texts requirements(const std::vector<Wheel>& packages) {
    Texts texts;
    for (const auto& package : packages)
        texts.push_back(package.version.empty()
                            ? package.name
                            : fmt::format("{}=={}", package.name, package.version));
    return texts;
}

}  // namespace

Result<EnvironmentYml> exported(Context& context,
                                const Installed& installed,
                                const ExportOptions& options) {
    const auto& [prefix, records] = installed;
    EnvironmentYml out;
    // One that is known by its path alone has no name, and nobody can make another base.
    const auto folders = environment_folders(context.config);
    if (prefix.path() != folders.root_prefix && folders.has(prefix.path()))
        out.name = prefix.path().filename().native();
    GPKG_TRY(const auto configured, names_of(context, context.config.channels.value));
    GPKG_TRY(out.channels, channels_of(context, installed, configured, options));
    const auto by_pip = requirements(pip_packages(prefix.path(), records));
    if (options.from_history) {
        GPKG_TRY(const auto history, prefix.history());
        out.dependencies = asked_for(context, history, records);
        if (out.dependencies.empty() && !records.empty())
            context.out.warn(fmt::format(
                "no requested specs are recorded: {} left out; without --from-history every "
                "package is written, with --explicit their URLs",
                records.size() == 1 ? std::string("1 package is")
                                    : fmt::format("{} packages are", records.size())));
        if (!by_pip.empty())
            context.out.warn(
                fmt::format("packages installed by pip are left out: {}", fmt::join(by_pip, " ")));
    } else {
        for (const auto& record : records)
            out.dependencies.push_back(pinned(context, record.package, out.channels, options));
        out.pip = by_pip;
    }
    GPKG_TRY(out.variables, prefix.env_vars());
    // Nor does anything set them here.
    std::erase_if(out.variables, [&](const auto& variable) {
        const auto fits = check_variable_name(variable.first);
        if (!fits) context.out.warn("variable left out: " + fits.error().message);
        return !fits;
    });
    GPKG_TRY(const auto state, prefix.state());
    out.accelerator = state.accelerator_asked;
    if (out.accelerator.empty() && !state.accelerator.empty())
        out.accelerator = {state.accelerator};
    out.package_accelerators = state.package_accelerators;
    if (!options.from_history)
        tell_other_accelerators(records, state.accelerator, out.package_accelerators);
    // On another machine, or for another user, the path is somebody else's.
    if (options.with_prefix) out.prefix = prefix.path().native();
    return out;
}

}  // namespace gpkg::cli
