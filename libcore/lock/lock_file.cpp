#include "libcore/lock/lock_file.hpp"

#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"
#include "libcore/spec/record_version.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <tuple>

namespace gpkg {
namespace {

/// Sorts `items` and gives for each old place the new one.
template <typename Item, typename Key>
std::vector<std::size_t> sort_with_places(std::vector<Item>& items, Key key) {
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return key(items[a]) < key(items[b]);
    });
    std::vector<Item> sorted;
    std::vector<std::size_t> places(items.size());
    for (const auto old : order) {
        places[old] = sorted.size();
        sorted.push_back(std::move(items[old]));
    }
    items = std::move(sorted);
    return places;
}

void move_places(std::vector<std::size_t>& places, const std::vector<std::size_t>& moved) {
    for (auto& place : places) place = moved[place];
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
}

/// Leaves out of `all` what none of the classes has, and keeps their places right.
template <typename Item>
void keep_used(std::vector<LockedClass>& classes,
               std::vector<std::size_t> LockedClass::*list,
               std::vector<Item>& all) {
    std::vector<Item> used;
    std::unordered_map<std::size_t, std::size_t> moved;
    for (auto& locked : classes) {
        for (auto& place : locked.*list) {
            const auto [entry, is_new] = moved.emplace(place, used.size());
            if (is_new) used.push_back(std::move(all[place]));
            place = entry->second;
        }
    }
    all = std::move(used);
}

/// Of what gpkg knows the versions are numbers, or "any"; of a site's own they may be any text.
bool may_have_version(std::string_view name, const std::string& version) {
    if (version.empty() || version == kAnyVersion) return true;
    const bool is_number = version.front() >= '0' && version.front() <= '9';
    return Version::parse(version) && (is_number || !is_known_virtual_package(name));
}

}  // namespace

std::optional<LockedVirtualPackage> LockedVirtualPackage::parse(std::string_view text) {
    constexpr std::string_view kFlags = "[flags=[";
    const auto bracket = std::min(text.find(kFlags), text.size());
    const auto parts = split(text.substr(0, bracket), '=');
    if (parts.size() > 3 || !is_virtual_package_name(parts[0])) return std::nullopt;
    LockedVirtualPackage package{std::string(parts[0]), {}, {}};
    if (text.ends_with("]]") && bracket + kFlags.size() + 2 < text.size()) {
        auto flags = text.substr(bracket + kFlags.size());
        flags.remove_suffix(2);
        for (const auto flag : split(flags, ',')) package.flags.emplace_back(flag);
    }
    if (parts.size() > 1) package.version = parts[1];
    if (parts.size() > 2) package.build = parts[2];
    // What would be written without them is another text.
    if (package.to_string() != text) return std::nullopt;
    if (!may_have_version(package.name, package.version)) return std::nullopt;
    return package;
}

std::string LockedVirtualPackage::to_string() const {
    auto text = name;
    if (!version.empty() || !build.empty()) text += "=" + version;
    if (!build.empty()) text += "=" + build;
    if (!flags.empty()) text += fmt::format("[flags=[{}]]", fmt::join(flags, ","));
    return text;
}

bool operator<(const ForeignPackage& a, const ForeignPackage& b) {
    const auto key = [](const ForeignPackage& package) {
        return std::tie(package.kind,
                        package.location,
                        package.name,
                        package.version,
                        package.sha256,
                        package.md5,
                        package.kept,
                        package.is_editable);
    };
    return key(a) < key(b);
}

LockedMachine locked_machine(const std::vector<PackageRecord>& virtual_packages) {
    LockedMachine machine;
    machine.reserve(virtual_packages.size());
    for (const auto& record : virtual_packages) {
        auto& part = machine.emplace_back(
            LockedVirtualPackage{record.name, record.version, record.build, record.flags});
        std::erase(part.flags, kAssumedFlag);
    }
    return machine;
}

std::vector<PackageRecord> as_virtual_packages(const LockedMachine& machine) {
    std::vector<PackageRecord> records;
    for (const auto& [name, version, build, flags] : machine) {
        auto& record = records.emplace_back();
        record.name = name;
        record.version = version;
        record.build = build;
        record.flags = flags;
    }
    return records;
}

const LockedClass* LockFile::find_class(std::string_view name, std::string_view environment) const {
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& locked) {
        return locked.name == name && locked.environment == environment;
    });
    return found == classes.end() ? nullptr : &*found;
}

std::vector<PackageRecord> LockFile::records_of(const LockedClass& locked) const {
    std::vector<PackageRecord> records;
    records.reserve(locked.packages.size());
    for (const auto place : locked.packages) records.push_back(packages[place].record);
    return records;
}

std::vector<const LockedClass*> LockFile::default_classes() const {
    std::vector<const LockedClass*> own;
    for (const auto& locked : classes) {
        if (locked.environment == kDefaultEnvironment) own.push_back(&locked);
    }
    return own;
}

const LockWishes& LockFile::wishes_of(const LockedClass& locked) const {
    return locked.wishes ? *locked.wishes : request.wishes;
}

const std::vector<LockedChannel>& LockFile::channels_of(const std::string& environment) const {
    const auto found = environments.find(environment);
    return found != environments.end() && found->second.channels ? *found->second.channels
                                                                 : channels;
}

LockFile LockFile::only(std::vector<LockedClass> some) const {
    auto lock = *this;
    lock.classes = std::move(some);
    std::erase_if(lock.environments, [&](const auto& entry) {
        return std::ranges::find(lock.classes, entry.first, &LockedClass::environment) ==
               lock.classes.end();
    });
    keep_used(lock.classes, &LockedClass::packages, lock.packages);
    keep_used(lock.classes, &LockedClass::foreign, lock.foreign);
    if (!lock.classes.empty() && std::ranges::all_of(lock.classes, [&](const auto& one) {
            return lock.wishes_of(one) == lock.wishes_of(lock.classes.front());
        })) {
        lock.request.wishes = wishes_of(lock.classes.front());
        for (auto& locked : lock.classes) locked.wishes.reset();
    }
    // That the request was changed by hand must stay to be seen.
    if (request.digest == request_digest(*this)) lock.request.digest = request_digest(lock);
    return lock;
}

void LockFile::sort() {
    const auto package_places = sort_with_places(packages, [](const LockedPackage& package) {
        const auto& record = package.record;
        return std::tie(record.fn, record.subdir, record.url);
    });
    const auto foreign_places = sort_with_places(
        foreign, [](const ForeignPackage& package) -> const ForeignPackage& { return package; });
    for (auto& locked : classes) {
        move_places(locked.packages, package_places);
        move_places(locked.foreign, foreign_places);
    }
    std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
        return std::tie(a.environment, a.name) < std::tie(b.environment, b.name);
    });
}

namespace {

/// Of two texts for one file, as conda-lock.yml has them of what is noarch, one may have left out
/// versions: those that the other has count.
void take_versions(std::vector<std::string>& known, const std::vector<std::string>& others) {
    for (auto& depend : known) {
        const bool is_said = std::ranges::find(others, depend) != others.end();
        if (is_said || name_in_spec(depend) != depend) continue;
        const auto other = std::ranges::find_if(
            others, [&](const std::string& one) { return name_in_spec(one) == depend; });
        if (other != others.end()) depend = *other;
    }
}

}  // namespace

PackageAdder::PackageAdder(LockFile& lock) : lock_(lock) {
    for (const auto& package : lock.packages) places_.emplace(package.record.url, places_.size());
    for (const auto& package : lock.foreign)
        foreign_places_.emplace(package, foreign_places_.size());
}

Result<std::size_t> PackageAdder::add(LockedPackage package) {
    const auto [found, is_new] = places_.emplace(package.record.url, lock_.packages.size());
    if (is_new) {
        lock_.packages.push_back(std::move(package));
        return found->second;
    }
    const auto& record = package.record;
    auto& known = lock_.packages[found->second].record;
    const auto differ = [](const std::string& a, const std::string& b) {
        return !a.empty() && !b.empty() && a != b;
    };
    if (differ(known.sha256, record.sha256) || differ(known.md5, record.md5))
        return fail(
            ErrorKind::Integrity,
            fmt::format("{} is listed twice with different checksums", printable(record.url)));
    take_versions(known.depends, record.depends);
    return found->second;
}

std::size_t PackageAdder::add(ForeignPackage package) {
    const auto [found, is_new] = foreign_places_.emplace(package, lock_.foreign.size());
    if (is_new) lock_.foreign.push_back(std::move(package));
    return found->second;
}

std::string request_digest(const LockFile& lock) {
    // One line for each fact, its kind first: no two requests have one text.
    std::string text = "gpkg request 1\n";
    const auto add = [&](std::string_view kind, const std::string& fact) {
        const auto lines = split(fact, '\n');
        text += fmt::format("{}{} {}\n",
                            kind,
                            lines.size() == 1 ? "" : fmt::format(" of {} lines", lines.size()),
                            fact);
    };
    for (const auto& channel : lock.channels) add("channel", channel.url);
    for (const auto& channel : lock.request.channels) add("asked channel", channel);
    const auto add_wishes = [&](const LockWishes& wishes, const std::string& whose) {
        for (const auto& spec : wishes.specs) add("spec" + whose, spec);
        for (const auto& requirement : wishes.pip) add("pip" + whose, requirement);
        for (const auto& [name, value] : wishes.variables)
            add(fmt::format("variable{} {}", whose, name), value);
        add("accelerator" + whose, wishes.accelerator);
    };
    add_wishes(lock.request.wishes, "");
    std::map<std::string, const LockWishes*> of_classes;
    for (const auto& locked : lock.classes) {
        if (locked.wishes) of_classes[locked.environment + "/" + locked.name] = &*locked.wishes;
    }
    for (const auto& [name, wishes] : of_classes) add_wishes(*wishes, " for " + name);
    add("channel_priority", lock.request.channel_priority);
    add("exclude_newer", lock.request.exclude_newer);
    return hex_digest(DigestKind::Sha256, text);
}

bool is_edited(const LockFile& lock) {
    return !lock.request.digest.empty() && lock.request.digest != request_digest(lock);
}

}  // namespace gpkg
