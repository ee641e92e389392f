#include "cli/workflow/one_off.hpp"

#include "cli/workflow/change.hpp"
#include "cli/workflow/machine.hpp"
#include "cli/workflow/settings.hpp"
#include "libcore/base/digest.hpp"
#include "libcore/env/prefix.hpp"
#include "libcore/fs/file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace gpkg::cli {
namespace {

constexpr int kAttempts = 5;

bool is_ready(const fs::path& prefix) {
    return Prefix::is_environment(prefix) && prefix_condition(prefix) == PrefixCondition::Settled;
}

Result<void> make(Context& context,
                  const OneOffRequest& wanted,
                  const fs::path& prefix,
                  bool anew) {
    ChangeRequest request;
    request.prefix = prefix;
    request.specs = wanted.specs;
    GPKG_CHECK(heed_usual_accelerator(context, request.accelerators));
    request.update_all = anew && Prefix::is_environment(prefix);
    GPKG_TRY(auto change, decide(context, wanted.sources, request));
    change.is_unlisted = true;
    ChangeOptions options;
    options.asks = false;
    options.brief = !context.out.verbose();
    options.offline = wanted.sources.offline;
    GPKG_TRY(const auto status, carry_out(context, std::move(change), options));
    static_cast<void>(status);
    return {};
}

bool is_begun(const fs::path& prefix) {
    std::error_code code;
    return fs::exists(prefix / "conda-meta", code);
}

/// Of no use to anybody, and nobody is at work on it. Who was at work when it was seen to be begun
/// has made it an environment before it settles, so that is asked last.
bool is_damaged(const fs::path& prefix) {
    return is_begun(prefix) && prefix_condition(prefix) == PrefixCondition::Settled &&
           !Prefix::is_environment(prefix);
}

Result<void> make_or_wait(Context& context,
                          const OneOffRequest& request,
                          const fs::path& prefix,
                          bool anew) {
    GPKG_CHECK(recover_prefix(context, prefix, false));
    if (!anew && is_ready(prefix)) return {};
    return make(context, request, prefix, anew);
}

}  // namespace

fs::path one_off_folder(const Config& config) { return config.own_dir / "exec"; }

Result<fs::path> one_off_place(const Context& context, const OneOffRequest& request) {
    const auto& sources = request.sources;
    std::string key;
    // Lengths keep apart what would read the same side by side.
    const auto add = [&](std::string_view part) {
        key += fmt::format("{}:{}\n", part.size(), part);
    };
    for (const auto& spec : request.specs) add(spec.to_string());
    GPKG_TRY(const auto channels, wanted_channels(context, sources));
    for (const auto& channel : channels) add(channel.base_url());
    add(to_string(channel_priority(context, sources)));
    add(sources.exclude_newer);
    if (const auto& usual = context.config.accelerator.value; !usual.empty()) add(usual);
    // The folder may be shared by machines that differ; what runs on one need not run on the other.
    GPKG_TRY(const auto machine, machine_of(context, sources));
    add(machine.platform);
    for (const auto& package : virtual_packages_with(context, machine, context.env)) {
        // A new kernel comes with every update of a system, and takes nothing away.
        if (package.name != "__linux") add(package.distribution());
    }
    auto name = request.tool;  // which may be a pattern
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '*' || c == ':'; }, '_');
    return one_off_folder(context.config) /
           fmt::format("{}-{}", name, hex_digest(DigestKind::Sha256, key).substr(0, 16));
}

Result<fs::path> one_off_environment(Context& context, const OneOffRequest& request, bool anew) {
    GPKG_TRY(const auto prefix, one_off_place(context, request));
    if (!anew && is_ready(prefix)) return prefix;
    const ResultsAside aside(context.out);
    // Of several that make it at once, one does; the others wait for it, and may stumble over what
    // it moves into place.
    Error last;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        auto made = make_or_wait(context, request, prefix, anew);
        if (made) return prefix;
        last = std::move(made).error();
        const bool others = last.kind == ErrorKind::Conflict || (!anew && is_begun(prefix));
        if (!others || is_damaged(prefix)) break;
    }
    if (is_damaged(prefix)) last.hint = "to remove it: gpkg clean --exec";
    return pass(std::move(last));
}

// Where machines share the file system nothing is locked: a tool is taken to run for a day after it
// was begun, which the time of conda-meta tells.
constexpr std::time_t kLongestRun = 86400;

bool hold_for_tool(const fs::path& prefix) {
    // Not O_CLOEXEC: the tool's processes hold it, whatever becomes of them.
    Descriptor folder(::open((prefix / "conda-meta").c_str(), O_RDONLY | O_DIRECTORY));
    if (folder && is_on_shared_file_system(folder)) {
        // It may be another user's, or for reading alone: then it is for its owner to know.
        (void)::futimens(folder.get(), nullptr);
        return is_ready(prefix);
    }
    if (!folder || (::flock(folder.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK))
        return false;
    if (!is_ready(prefix)) return false;
    folder.release();
    return true;
}

std::optional<Descriptor> take_from_tools(const fs::path& prefix) {
    Descriptor folder(::open((prefix / "conda-meta").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder && is_on_shared_file_system(folder)) {
        struct stat status {};
        if (::fstat(folder.get(), &status) == 0 &&
            status.st_mtime + kLongestRun > std::time(nullptr))
            return std::nullopt;
        return folder;
    }
    if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return std::nullopt;
    return folder;
}

}  // namespace gpkg::cli
