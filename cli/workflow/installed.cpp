#include "cli/workflow/installed.hpp"

#include "cli/workflow/change.hpp"
#include "cli/workflow/pip_packages.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/channel/channel.hpp"
#include "libcore/net/url.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/record_version.hpp"
#include "libcore/spec/spec_text.hpp"

#include <fmt/format.h>

namespace gpkg::cli {

Result<Installed> read_installed(Context& context, const TargetOptions& target) {
    GPKG_TRY(const auto path, existing_prefix(context, target));
    tell_condition(context, path);
    GPKG_TRY(auto prefix, Prefix::open(path));
    GPKG_TRY(auto records, prefix.records());
    return Installed{std::move(prefix), std::move(records)};
}

std::string channel_name(const Context& context, const std::string& url) {
    const auto where = channel_context(context);
    const auto channel = url.empty() ? fail(ErrorKind::NotFound, "") : Channel::parse(url, where);
    return channel ? channel->name() : without_secrets(url);
}

std::string channel_title(const Context& context, const std::string& url) {
    return path_or_url(channel_name(context, url));
}

std::string unsearched_text(const Context& context,
                            const std::vector<std::string>& names,
                            const std::string& url) {
    const auto title = channel_title(context, url);
    return fmt::format("{} {} installed from {}, which is not searched; to search it: add -c {}",
                       join_some(names, "and"),
                       names.size() == 1 ? "was" : "were",
                       title,
                       shell_word(title));
}

std::vector<std::string> downgrades(const std::vector<std::string>& names,
                                    const std::vector<PrefixRecord>& before,
                                    const std::vector<PackageRecord>& after) {
    std::vector<std::string> texts;
    for (const auto& name : names) {
        const auto* old = find_record(before, name);
        const auto* now = find_record(after, name);
        if (old == nullptr || now == nullptr) continue;
        const auto old_version = version_of(old->package);
        const auto new_version = version_of(*now);
        if (old_version && new_version && *new_version < *old_version)
            texts.push_back(
                fmt::format("{} from {} to {}", name, old->package.version, now->version));
    }
    return texts;
}

std::string typed_spec(const std::string& spec) {
    const auto parsed = MatchSpec::parse(spec);
    return parsed ? as_typed(*parsed) : spec;
}

Result<std::string> explicit_text(Context& context,
                                  const fs::path& prefix,
                                  std::vector<PackageRecord> records,
                                  ExplicitChecksum checksum) {
    std::vector<std::string> unknown;
    for (auto& record : records) {
        if (record.url.empty())
            return fail(ErrorKind::Unsupported,
                        fmt::format("{}: the download URL of {} is unknown",
                                    prefix.native(),
                                    record.distribution()));
        record.url = without_secrets(record.url);
        if (checksum == ExplicitChecksum::Md5 && record.md5.empty()) unknown.push_back(record.name);
    }
    if (!unknown.empty())
        context.out.warn(fmt::format("the MD5 of {} is unknown", join_some(unknown, "and")));
    return explicit_file(records, context.config.platform.value, checksum);
}

Result<void> warn_of_what_files_lack(Context& context,
                                     const fs::path& path,
                                     const std::vector<PrefixRecord>& records) {
    GPKG_TRY(const auto prefix, Prefix::open(path));
    GPKG_TRY(const auto variables, prefix.env_vars());
    GPKG_TRY(const auto state, prefix.state());
    std::vector<std::string> left_out;
    if (!variables.empty()) left_out.emplace_back("variables");
    if (!pip_packages(path, records).empty()) left_out.emplace_back("packages installed by pip");
    // Which GPU it is for, builds for one tell by themselves.
    if (state.accelerator == "none" || state.accelerator == "conda" ||
        !state.package_accelerators.empty())
        left_out.emplace_back("the requested accelerator");
    if (!left_out.empty())
        context.out.warn("an explicit list cannot contain " + join_some(left_out, "and"));
    return {};
}

}  // namespace gpkg::cli
