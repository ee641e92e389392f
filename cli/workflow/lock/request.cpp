#include "cli/workflow/lock/request.hpp"

#include "libcore/asking/accelerator_memory.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/spec_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace gpkg::cli {
namespace {

std::string name_of(ChannelPriority priority) {
    switch (priority) {
    case ChannelPriority::Strict: return "strict";
    case ChannelPriority::Flexible: return "flexible";
    case ChannelPriority::Disabled: return "disabled";
    }
    return {};
}

/// The specs of each package.
std::map<std::string, std::vector<std::string>> by_name(const std::vector<std::string>& specs) {
    std::map<std::string, std::vector<std::string>> named;
    for (const auto& text : specs) named[name_in_spec(text)].push_back(text);
    for (auto& [name, texts] : named) std::sort(texts.begin(), texts.end());
    return named;
}

std::string quoted(const std::vector<std::string>& texts) {
    return fmt::format("'{}'", fmt::join(texts, "' '"));
}

void compare_specs(const std::vector<std::string>& before,
                   const std::vector<std::string>& now,
                   std::vector<std::string>& lines) {
    const auto locked = by_name(before);
    const auto wanted = by_name(now);
    for (const auto& [name, specs] : wanted) {
        const auto found = locked.find(name);
        if (found == locked.end()) {
            lines.push_back(fmt::format(
                "{} is requested now, but was not when the lock was written", quoted(specs)));
        } else if (found->second != specs) {
            lines.push_back(fmt::format(
                "{} is requested now, {} in the lock", quoted(specs), quoted(found->second)));
        }
    }
    for (const auto& [name, specs] : locked) {
        if (!wanted.contains(name))
            lines.push_back(fmt::format(
                "{} was requested when the lock was written, but is not now", quoted(specs)));
    }
}

void compare(std::string_view what,
             const std::string& before,
             const std::string& now,
             std::vector<std::string>& lines) {
    const auto text = [](const std::string& value) {
        return value.empty() ? std::string("unset") : value;
    };
    if (before != now)
        lines.push_back(fmt::format("{}: now {}, {} in the lock", what, text(now), text(before)));
}

std::string text_of(const std::map<std::string, std::string>& variables) {
    std::vector<std::string> texts;
    texts.reserve(variables.size());
    for (const auto& [name, value] : variables) texts.push_back(fmt::format("{}={}", name, value));
    return shell_words(texts);
}

}  // namespace

Result<LockRequest> lock_request_of(const Context& context,
                                    const SourceOptions& sources,
                                    const ChangeRequest& wanted) {
    LockRequest request;
    request.name = wanted.name_in_file;
    auto& wishes = request.wishes;
    GPKG_TRY(const auto channels, wanted_channels(context, sources));
    for (const auto& channel : channels) request.channels.push_back(channel.base_url());
    for (const auto& spec : wanted.specs) {
        auto text = as_typed(spec);
        if (std::ranges::find(wishes.specs, text) == wishes.specs.end())
            wishes.specs.push_back(std::move(text));
    }
    for (const auto& section : wanted.pip) {
        for (const auto& line : section.requirements) {
            if (names_place_beside(line))
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format("{}: '{}' is a relative path, which a lock cannot use elsewhere",
                                section.name(),
                                line),
                    "use a URL or an absolute path");
            if (std::ranges::any_of(line, [](unsigned char c) { return c < ' '; }))
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format("{}: '{}' has several lines", section.name(), printable(line)),
                    "write one item for each line");
            wishes.pip.push_back(line);
        }
    }
    wishes.variables = wanted.variables;
    wishes.accelerator = to_string(wanted.accelerators);
    request.channel_priority = name_of(channel_priority(context, sources));
    if (sources.exclude_newer != kNoMoment) request.exclude_newer = fixed_moment(sources);
    return request;
}

Result<ChangeRequest> wanted_by(const LockFile& lock, const LockedClass& locked) {
    const auto& wishes = lock.wishes_of(locked);
    ChangeRequest wanted;
    wanted.is_for_lock = true;
    for (const auto& text : wishes.specs) {
        GPKG_TRY(auto spec, MatchSpec::parse(text));
        wanted.specs.push_back(std::move(spec));
    }
    GPKG_TRY(wanted.accelerators, parse_accelerator_wishes(wishes.accelerator));
    return wanted;
}

Result<GpkgState> state_of(const LockFile& lock, const LockedClass& locked) {
    GPKG_TRY(const auto wishes, parse_accelerator_wishes(lock.wishes_of(locked).accelerator));
    auto state = remembered(wishes);
    const auto records = lock.records_of(locked);
    // A file may speak of packages that another platform has.
    std::erase_if(state.package_accelerators,
                  [&](const auto& entry) { return find_record(records, entry.first) == nullptr; });
    if (!locked.accelerator.empty()) {
        GPKG_TRY(const auto taken, parse_accelerator_choice(locked.accelerator));
        remember_taken(state, taken, records);
    }
    return state;
}

std::string no_request_text(const LockFile& lock) {
    switch (lock.tool) {
    case LockTool::Gpkg: break;
    case LockTool::Pixi: return "the lock has no request: it comes from a pixi.lock";
    case LockTool::CondaLock: return "the lock has no request: it comes from a conda-lock.yml";
    }
    return "the lock has no request";
}

std::vector<std::string> drift_of(const LockFile& lock,
                                  const LockedClass& locked,
                                  const LockRequest& now) {
    const auto& request = lock.request;
    if (request == LockRequest{}) return {no_request_text(lock)};
    std::vector<std::string> lines;
    const auto& before = lock.wishes_of(locked);
    const auto& wishes = now.wishes;
    compare_specs(before.specs, wishes.specs, lines);
    compare("channels", shell_words(request.channels), shell_words(now.channels), lines);
    compare("channel priority", request.channel_priority, now.channel_priority, lines);
    compare("accelerator", before.accelerator, wishes.accelerator, lines);
    if (!now.exclude_newer.empty())
        compare("--exclude-newer", request.exclude_newer, now.exclude_newer, lines);
    compare("pip", shell_words(before.pip), shell_words(wishes.pip), lines);
    compare("variables", text_of(before.variables), text_of(wishes.variables), lines);
    return lines;
}

}  // namespace gpkg::cli
