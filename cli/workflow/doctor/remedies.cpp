#include "cli/workflow/doctor/remedies.hpp"

#include "cli/environments.hpp"
#include "cli/workflow/ask/fitting.hpp"
#include "cli/workflow/ask/found.hpp"
#include "cli/workflow/ask/question.hpp"
#include "cli/workflow/installed.hpp"
#include "cli/workflow/machine.hpp"
#include "libcore/base/text.hpp"
#include "libcore/hardware/asked_spec.hpp"
#include "libcore/hardware/cuda.hpp"
#include "libcore/hardware/cuda_limits.hpp"
#include "libcore/solve/machine_needs.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace gpkg::cli {

bool Remedy::changes(const std::vector<PrefixRecord>& before) const {
    return std::ranges::any_of(before, [&](const PrefixRecord& record) {
        const auto* now = find_record(records, record.name());
        return now == nullptr || now->version != record.package.version ||
               now->build != record.package.build;
    });
}

std::string newest_cuda_here(const std::vector<PackageRecord>& machine) {
    const auto driver = find_version(machine, "__cuda");
    if (!driver) return {};
    const CudaLimits limits(machine);
    std::optional<int> too_new;
    for (auto major = version_part(*driver, 0); major > 0; --major) {
        if (!limits.obstacle_of_cuda(std::to_string(major))) break;
        too_new = major;
    }
    return too_new ? fmt::format("<{}", *too_new)
                   : fmt::format("<={}.{}", version_part(*driver, 0), version_part(*driver, 1));
}

Remedies::Remedies(Context& context,
                   const SourceOptions& sources,
                   const Seen& seen,
                   const fs::path& prefix,
                   const std::vector<PrefixRecord>& records)
    : context_(context), options_(sources), seen_(seen), prefix_(prefix), records_(records) {
    options_.offline = true;
}

std::optional<Remedy> Remedies::install(const std::vector<std::string>& specs) {
    ChangeRequest request;
    for (const auto& text : specs) {
        auto asked = AskedSpec::parse(text);
        if (!asked) return std::nullopt;
        if (asked->accelerator)
            request.accelerators.of_package[asked->spec.name] = *asked->accelerator;
        request.specs.push_back(std::move(asked->spec));
    }
    return tried(std::move(request), install_command(specs));
}

std::optional<Remedy> Remedies::update(const std::string& name) {
    ChangeRequest request;
    request.update.push_back(name);
    return tried(std::move(request), command("update", {name}));
}

std::optional<Remedy> Remedies::first_of(
    const std::vector<Attempt>& attempts,
    const std::function<bool(const std::vector<PackageRecord>&)>& helps) {
    for (const auto& attempt : attempts) {
        auto remedy = attempt();
        if (remedy && remedy->changes(records_) && helps(remedy->records)) return remedy;
    }
    return std::nullopt;
}

std::optional<Remedy> Remedies::tried(ChangeRequest request, std::string command) {
    const auto* sources = opened();
    if (sources == nullptr) return std::nullopt;
    request.prefix = prefix_;
    auto question = question_of(context_, *sources, request);
    if (!question) return std::nullopt;
    auto solution = solution_of(*question);
    if (!solution || !*solution) return std::nullopt;
    auto& after = (*solution)->records;
    std::vector<std::string> names;
    for (const auto& wish : question->present.wishes) names.push_back(wish.name);
    for (const auto& record : records_) {
        if (std::ranges::find(names, record.name()) == names.end()) names.push_back(record.name());
    }
    if (const auto older = downgrades(names, records_, after); !older.empty())
        command += "  # downgrades " + join_some(older, "and");
    return Remedy{std::move(command), std::move(after)};
}

bool Remedies::can_try() { return opened() != nullptr; }

std::optional<PackageRecord> Remedies::other_build(const std::string& name, const Fits& fits) {
    const auto* sources = opened();
    auto spec = MatchSpec::parse(name);
    if (sources == nullptr || !spec) return std::nullopt;
    const std::vector<std::string> names{name};
    auto records = find_records(
        *spec,
        names,
        {sources->channels, sources->machine.platform, sources->indexes, sources->exclude_newer});
    if (!records) return std::nullopt;
    const auto* installed = find_record(records_, name);
    constexpr std::size_t kMostTried = 10;  // each takes a solve
    std::size_t tried = 0;
    for (auto record = records->rbegin(); record != records->rend(); ++record) {
        const bool is_installed = installed != nullptr &&
                                  installed->package.version == record->version &&
                                  installed->package.build == record->build;
        if (is_installed || !fits(*record) ||
            !unmet_needs(*record, sources->virtual_packages).empty())
            continue;
        if (++tried > kMostTried) break;
        const auto obstacle = obstacle_of(context_, *sources, *record);
        if (obstacle && obstacle->empty()) return std::move(*record);
    }
    return std::nullopt;
}

std::string Remedies::other_builds(const std::string& name, const Fits& fits) {
    if (!can_try()) return "list other builds: " + variants_command(name);
    const auto other = other_build(name, fits);
    if (!other) return {};
    const auto spec = fmt::format("{}={}", name, other->version);
    const auto helps = [&](const PackageRecord& record) {
        return record.name != name || fits(record);
    };
    const auto runs = [&](const std::vector<PackageRecord>& records) {
        return std::ranges::all_of(records, [&](const PackageRecord& record) {
            return helps(record) && unmet_needs(record, seen_.virtual_packages).empty();
        });
    };
    if (const auto remedy = first_of({[&] { return install({spec}); }}, runs))
        return remedy->command;
    return "list other builds: " + variants_command(spec);
}

std::string Remedies::other_builds(const std::string& name) {
    auto text = other_builds(name, [](const PackageRecord&) { return true; });
    return text.empty()
               ? fmt::format(
                     "no other build of {} in these channels runs on {}", name, seen_.machine.name)
               : text;
}

/// Null where nothing is known of a channel.
const Sources* Remedies::opened() {
    const auto open = [&]() -> Result<Sources> {
        GPKG_TRY(const auto channels, wanted_channels(context_, options_));
        const auto of_cuda = cuda_version_packages();
        std::vector<std::string> names(of_cuda.begin(), of_cuda.end());
        for (const auto& record : records_) names.push_back(record.name());
        return open_sources(context_, seen_, channels, options_, names);
    };
    if (!sources_) sources_ = open();
    return *sources_ ? &**sources_ : nullptr;
}

std::string Remedies::install_command(const std::vector<std::string>& specs) const {
    return command("install", specs);
}

std::string Remedies::variants_command(const std::string& spec) const {
    return fmt::format("gpkg variants {}{}", shell_word(spec), flags());
}

std::string Remedies::command(std::string_view verb, const std::vector<std::string>& words) const {
    return fmt::format(
        "gpkg {} {} {}{}", verb, target_words(context_, prefix_), shell_words(words), flags());
}

/// The machine, and the channels where others than the configured ones were named.
std::string Remedies::flags() const {
    auto text = machine_flags(options_);
    for (const auto& channel : options_.channels)
        text += " -c " + shell_word(channel_name(context_, channel));
    if (options_.override_channels) text += " --override-channels";
    return text;
}

}  // namespace gpkg::cli
