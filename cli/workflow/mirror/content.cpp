#include "cli/workflow/mirror/content.hpp"

#include "cli/workflow/lock/environment.hpp"
#include "cli/workflow/lock/request.hpp"
#include "cli/workflow/sources.hpp"
#include "libcore/base/text.hpp"
#include "libcore/lock/environments.hpp"
#include "libcore/lock/lock_format.hpp"
#include "libcore/net/url.hpp"

#include <fmt/format.h>
#include <map>

namespace gpkg::cli {
namespace {

Result<void> add_records(MirrorContent& content, const std::vector<PackageRecord>& records) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < content.records.size(); ++i) places[content.records[i].url] = i;
    for (const auto& record : records) {
        const auto [place, is_new] = places.emplace(record.url, content.records.size());
        if (is_new) {
            content.records.push_back(record);
            continue;
        }
        const auto& other = content.records[place->second];
        if (other.sha256 != record.sha256)
            return fail(ErrorKind::Integrity,
                        fmt::format("{}: listed with two different checksums",
                                    without_secrets(record.url)));
    }
    return {};
}

Result<std::vector<const LockedClass*>> classes_of(const LockFile& lock,
                                                   const std::vector<std::string>& names,
                                                   const std::string& file) {
    std::vector<const LockedClass*> classes;
    classes.reserve(lock.classes.size());
    if (names.empty()) {
        for (const auto& locked : lock.classes) classes.push_back(&locked);
        return classes;
    }
    std::vector<std::string> known;
    known.reserve(lock.classes.size());
    for (const auto& locked : lock.classes) known.push_back(locked.name);
    for (const auto& name : names) {
        const auto index = class_index(known, name);
        const auto size = classes.size();
        for (const auto& locked : lock.classes) {
            if (index && locked.name == known[*index]) classes.push_back(&locked);
        }
        if (classes.size() == size)
            return fail(ErrorKind::NotFound,
                        fmt::format("{}: no class '{}'", file, name),
                        fmt::format("classes in it: {}", join_some(known, "and", known.size())));
    }
    return classes;
}

Result<MirrorContent> content_of_lock(Context& context, const MirrorOptions& options) {
    const auto file = absolute_path(options.lock.file, context.home);
    GPKG_TRY(auto read, read_lock_file(context, file.native()));
    GPKG_TRY(auto lock, environment_in(std::move(read.lock), options.lock));
    MirrorContent content;
    // Files of conda-lock leave out what restricts a package.
    content.records_are_whole = read.format != LockFormat::CondaLock;
    GPKG_TRY(const auto classes, classes_of(lock, options.asked.machines, options.lock.file));
    for (const auto* locked : classes) {
        GPKG_CHECK(add_records(content, lock.records_of(*locked)));
        content.subdirs.insert(locked->platform);
        if (!locked->foreign.empty() || !lock.wishes_of(*locked).pip.empty())
            context.out.warn_once(
                fmt::format("{}: packages installed by pip are not mirrored", options.lock.file));
    }
    for (const auto& channel : lock.channels) content.channels.push_back(channel.url);
    GPKG_TRY(content.named, wanted_channels(context, options.asked.sources));
    content.lock = std::move(lock);
    return content;
}

Result<MirrorContent> content_asked_for(Context& context, const MirrorOptions& options) {
    GPKG_TRY(auto decided, lock_for(context, options.asked));
    auto& locked = decided.locked;
    MirrorContent content;
    for (const auto& one : locked.lock.classes) {
        GPKG_CHECK(add_records(content, locked.lock.records_of(one)));
        content.subdirs.insert(one.platform);
    }
    // Who asks the same here without the lock gets what they would have got there.
    GPKG_CHECK(add_records(content, locked.each_alone));
    content.channels = locked.lock.request.channels;
    content.named = std::move(decided.channels);
    content.lock = std::move(locked.lock);
    return content;
}

}  // namespace

Result<MirrorContent> mirror_content(Context& context, const MirrorOptions& options) {
    return options.lock.file.empty() ? content_asked_for(context, options)
                                     : content_of_lock(context, options);
}

}  // namespace gpkg::cli
