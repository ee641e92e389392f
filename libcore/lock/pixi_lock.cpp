#include "libcore/base/percent.hpp"
#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/lock/formats_internal.hpp"
#include "libcore/lock/package_fields_internal.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <set>
#include <unordered_map>

// pixi.lock, versions 1 to 7, as the crate rattler_lock reads and writes them. A list of packages,
// and environments that name them by their location, for each platform. Since version 7 a platform
// may have a name of its own, a subdir and virtual packages, which is what gpkg calls a class. In
// versions 4 and 5 a package says its kind and location in keys of their own. Versions 1 to 3 have
// one list of packages with their platforms, as conda-lock.yml has it, and no environments.

namespace gpkg::lock {
namespace {

using yaml::Node;

// Moments up to here are in seconds: in milliseconds they would be before 1978. What is before 1978
// either way is left alone.
constexpr std::int64_t kLastSecond = 253'402'300'799;
constexpr std::int64_t kFirstSecond = kLastSecond / 1000 + 1;
// What tells source packages of one location apart, in version 6.
constexpr std::string_view kSelectorKeys[] = {"name", "version", "build", "subdir"};
constexpr long long kNewest = 7;
constexpr long long kFirstWithEnvironments = 4;
constexpr long long kFirstWithKindAsKey = 6;
// Of keys before version 6 that no record has, those that version 6 has as well.
constexpr std::string_view kLasting[] = {"purls", "features", "requires_dist", "requires_python"};

bool is_package_file(std::string_view location) {
    return !package_extension(without_query(location)).empty();
}

/// "pypi" of {pypi: https://...}; empty for what is no package.
std::string_view kind_of(const Node& package) {
    for (const std::string_view kind : {"conda", "pypi", "conda_source"})
        if (package.find(kind) != nullptr) return kind;
    return {};
}

void keep_lasting(KeptYaml& kept) {
    std::erase_if(kept, [](const auto& entry) {
        return std::find(std::begin(kLasting), std::end(kLasting), entry.first) ==
               std::end(kLasting);
    });
}

std::string value_of(const ForeignPackage& package, std::string_view key) {
    if (key == "name") return package.name;
    if (key == "version") return package.version;
    const auto found = package.kept.find(std::string(key));
    return found == package.kept.end() ? "" : found->second;
}

// ---- Reading

struct Platform {
    std::string subdir;
    LockedMachine made_for;
    bool is_known = true;
    bool is_used = false;
};

class PixiReader {
public:
    Result<ReadLock> read(const Node& root) {
        GPKG_CHECK(expect_map(root, "a lock file"));
        GPKG_CHECK(read_version(root));
        read_.lock.tool = LockTool::Pixi;
        if (version_ < kFirstWithEnvironments) {
            GPKG_CHECK(read_list(root));
            return std::move(read_);
        }
        warn_of_unknown(root, {"version", "platforms", "environments", "packages"});
        GPKG_CHECK(read_platforms(root));
        GPKG_TRY(const auto packages, items_of(root, "packages"));
        for (const auto* item : packages) GPKG_CHECK(read_one_package(*item));
        GPKG_TRY(const auto* environments, required(root, "environments"));
        GPKG_CHECK(expect_map(*environments, "environments"));
        for (const auto& [name, value] : environments->entries())
            GPKG_CHECK(read_environment(name, value));
        share_channels();
        for (const auto& [name, platform] : platforms_) {
            if (!platform.is_used && platform.is_known)
                warn(root.find("platforms")->place(),
                     fmt::format("no environment has packages for the platform {}", name));
        }
        return std::move(read_);
    }

private:
    void warn(const std::string& place, std::string_view what) {
        read_.warnings.push_back(fmt::format("{}: {}", place, printable(what)));
    }

    Result<void> read_version(const Node& root) {
        GPKG_TRY(const auto* node, required(root, "version"));
        GPKG_TRY(version_, node->as_int("version"));
        if (version_ >= 1 && version_ <= kNewest) return {};
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: unsupported pixi.lock version {}; gpkg reads versions 1 to {}",
                                node->place(),
                                version_,
                                kNewest),
                    version_ > kNewest ? "a newer gpkg may read it" : "");
    }

    /// pixi ignores them.
    void warn_of_unknown(const Node& map, std::initializer_list<std::string_view> known) {
        for (const auto& [key, value] : map.entries()) {
            if (std::find(known.begin(), known.end(), key) == known.end())
                warn(value.key_place(), fmt::format("ignored unknown key '{}'", key));
        }
    }

    /// The items of a list that may be empty: nothing after its key, too.
    static Result<std::vector<const Node*>> items_of(const Node& map, std::string_view key) {
        std::vector<const Node*> items;
        const auto* list = map.find(key);
        if (list != nullptr && list->is_null()) return items;
        GPKG_TRY(list, required(map, key));
        GPKG_CHECK(expect_list(*list, key));
        for (const auto& item : list->items()) items.push_back(&item);
        return items;
    }

    /// Whether machines of the platform are known. What is for others does not concern this one.
    bool knows(const Node& at, const std::string& platform) {
        if (check_platform(at, platform)) return true;
        if (unknown_platforms_.insert(platform).second)
            warn(at.key_place(), fmt::format("ignored unknown platform '{}'", platform));
        return false;
    }

    Result<void> read_platforms(const Node& root) {
        const auto* list = root.find("platforms");
        if (version_ < 7) return {};
        GPKG_TRY(list, required(root, "platforms"));
        GPKG_CHECK(expect_list(*list, "platforms"));
        for (const auto& item : list->items()) {
            GPKG_CHECK(expect_map(item, "a platform"));
            warn_of_unknown(item, {"name", "subdir", "virtual-packages"});
            GPKG_TRY(const auto name, required_text(item, "name"));
            GPKG_CHECK(check_name(*item.find("name"), name));
            const auto [entry, is_new] = platforms_.emplace(name, Platform{});
            if (!is_new) return item.fail(fmt::format("the platform {} is listed twice", name));
            auto& platform = entry->second;
            GPKG_TRY(platform.subdir, text_of(item, "subdir"));
            if (platform.subdir.empty()) platform.subdir = name;
            platform.is_known = knows(item, platform.subdir);
            GPKG_TRY(const auto texts, texts_of(item, "virtual-packages"));
            for (const auto& text : texts) {
                auto package = LockedVirtualPackage::parse(text);
                if (package)
                    platform.made_for.push_back(*std::move(package));
                else
                    warn(item.find("virtual-packages")->place(),
                         fmt::format("ignored '{}': not a virtual package such as __cuda=12.4",
                                     text));
            }
        }
        return {};
    }

    Result<void> read_one_package(const Node& item) {
        GPKG_CHECK(expect_map(item, "a package"));
        if (version_ < kFirstWithKindAsKey) return read_package_with_kind(item);
        const auto kind = kind_of(item);
        if (kind.empty())
            return item.fail("expected a package with the key conda, conda_source or pypi");
        GPKG_TRY(const auto location, required_text(item, kind));
        if (kind == "conda" && (version_ > 6 || is_package_file(location)))
            return read_binary(item, kind, location);
        if (kind == "conda_source" && version_ < 7)
            return item.fail("conda_source needs version 7");
        return read_other(item, kind, kind);
    }

    /// Of versions 4 and 5: "kind: pypi", and "url: https://..." or "path: ./mine".
    Result<void> read_package_with_kind(const Node& item) {
        GPKG_TRY(const auto kind, required_text(item, "kind"));
        if (kind == "pypi")
            return read_other(item, kind, item.find("path") == nullptr ? "url" : "path");
        if (kind != "conda")
            return item.find("kind")->fail(
                fmt::format("expected conda or pypi, found '{}'", printable(kind)));
        GPKG_TRY(const auto url, required_text(item, "url"));
        return read_binary(item, "url", url);
    }

    Result<void> read_binary(const Node& item, std::string_view key, const std::string& location) {
        GPKG_TRY(const auto told, record_of_url(*item.find(key), location));
        if (told.subdir.empty() && item.find("subdir") == nullptr) {
            without_subdir_.emplace(location, no_subdir(item, told));
            return {};
        }
        GPKG_TRY(auto package, read_package(item, key, location));
        GPKG_TRY(const auto place, add(item, std::move(package)));
        packages_.emplace(location, place);
        return {};
    }

    Result<void> read_other(const Node& item, std::string_view kind, std::string_view key) {
        GPKG_TRY(auto package, read_foreign(item, kind, key));
        if (version_ < kFirstWithKindAsKey) keep_lasting(package.kept);
        // Of those that no entry can tell apart, the first is meant.
        const std::pair name(std::string(kind), package.location);
        const auto [first, last] = foreign_.equal_range(name);
        if (std::none_of(first, last, [&](const auto& known) {
                return kind != "conda" || is_same(package, lock_.foreign[known.second]);
            }))
            foreign_.emplace(name, adder_.add(std::move(package)));
        return {};
    }

    /// The package's place in the lock.
    Result<std::size_t> add(const Node& item, LockedPackage package) {
        auto& record = package.record;
        if (version_ < kFirstWithKindAsKey) {
            // One noarch file could be listed once for each platform, with that as its subdir.
            GPKG_TRY(const auto told, record_of_url(item, record.url));
            if (!told.subdir.empty()) record.subdir = told.subdir;
            if (item.find("noarch") == nullptr) record.noarch = told.noarch;
            keep_lasting(package.kept);
        }
        if (record.timestamp >= kFirstSecond && record.timestamp <= kLastSecond)
            record.timestamp *= 1000;
        if (record.sha256.empty() && record.md5.empty())
            warn(item.place(), record.fn + " has no hash and cannot be verified");
        auto place = adder_.add(std::move(package));
        if (!place) return fail_at(item, std::move(place).error());
        return *place;
    }

    /// The package that an entry of an environment means; of several at one location, that which is
    /// what else the entry says, else the first that is that and more.
    Result<void> add_to(const Node& entry, LockedClass& locked) {
        GPKG_CHECK(expect_map(entry, "a package"));
        const auto kind = kind_of(entry);
        if (kind.empty())
            return entry.fail("expected a package with the key conda, conda_source or pypi");
        GPKG_TRY(const auto location, required_text(entry, kind));
        if (const auto found = packages_.find(location);
            kind == "conda" && found != packages_.end()) {
            const auto& record = lock_.packages[found->second].record;
            if (record.subdir != locked.platform && record.subdir != "noarch")
                return entry.fail(fmt::format("{} is for {}, but listed under {}",
                                              record.fn,
                                              record.subdir,
                                              locked.platform));
            locked.packages.push_back(found->second);
            return {};
        }
        if (const auto found = without_subdir_.find(location);
            kind == "conda" && found != without_subdir_.end())
            return pass(found->second);
        const auto [first, last] = foreign_.equal_range({std::string(kind), location});
        for (const bool wants_all : {true, false}) {
            for (auto candidate = first; candidate != last; ++candidate) {
                if (!is_meant(entry, lock_.foreign[candidate->second], wants_all)) continue;
                locked.foreign.push_back(candidate->second);
                return {};
            }
        }
        return entry.fail(fmt::format("{} is not in the list of packages", printable(location)),
                          "write it again with `pixi lock`");
    }

    static bool is_same(const ForeignPackage& a, const ForeignPackage& b) {
        return std::all_of(std::begin(kSelectorKeys), std::end(kSelectorKeys), [&](auto key) {
            return value_of(a, key) == value_of(b, key);
        });
    }

    /// `wants_all`: the entry says all that the package is.
    static bool is_meant(const Node& entry, const ForeignPackage& package, bool wants_all) {
        return std::all_of(std::begin(kSelectorKeys), std::end(kSelectorKeys), [&](auto key) {
            const auto* value = entry.find(key);
            const bool is_plain = key == "name" || key == "version";
            if (value == nullptr) return !wants_all || value_of(package, key).empty();
            return value_of(package, key) == (is_plain ? value->text() : yaml::one_line(*value));
        });
    }

    Result<void> read_environment(const std::string& name, const Node& node) {
        GPKG_CHECK(check_name(node, name));
        GPKG_CHECK(expect_map(node, "an environment"));
        auto& environment = lock_.environments[name];
        for (const auto& [key, value] : node.entries()) {
            if (key != "channels" && key != "packages" && !value.is_null())
                GPKG_CHECK(keep(environment.kept, key, value));
        }
        GPKG_TRY(const auto* channels, required(node, "channels"));
        GPKG_TRY(environment.channels, read_channels(*channels));
        GPKG_TRY(const auto* packages, required(node, "packages"));
        GPKG_CHECK(expect_map(*packages, "packages"));
        for (const auto& [platform, list] : packages->entries())
            GPKG_CHECK(read_class(name, platform, list));
        return {};
    }

    Result<void> read_class(const std::string& environment,
                            const std::string& platform,
                            const Node& list) {
        LockedClass locked;
        locked.name = platform;
        locked.environment = environment;
        if (version_ > 6) {
            const auto known = platforms_.find(platform);
            if (known == platforms_.end())
                return fail(ErrorKind::Parse,
                            fmt::format("{}: the platform '{}' is not listed under 'platforms'",
                                        list.key_place(),
                                        printable(platform)));
            known->second.is_used = true;
            if (!known->second.is_known) return {};
            locked.platform = known->second.subdir;
            locked.made_for = known->second.made_for;
        } else {
            if (!knows(list, platform)) return {};
            locked.platform = platform;
        }
        if (!list.is_null()) GPKG_CHECK(expect_list(list, "packages"));
        for (const auto& entry : list.items()) GPKG_CHECK(add_to(entry, locked));
        locked.needs = needs_of(lock_.records_of(locked));
        GPKG_CHECK(check_needs(list, locked.needs));
        lock_.classes.push_back(std::move(locked));
        return {};
    }

    // ---- Versions 1 to 3

    Result<void> read_list(const Node& root) {
        warn_of_unknown(root, {"version", "metadata", "package"});
        GPKG_TRY(const auto* metadata, required(root, "metadata"));
        GPKG_CHECK(expect_map(*metadata, "metadata"));
        GPKG_TRY(const auto* channels, required(*metadata, "channels"));
        GPKG_TRY(lock_.channels, read_channels(*channels));
        std::map<std::string, LockedClass> classes;
        GPKG_TRY(const auto platforms, items_of(*metadata, "platforms"));
        for (const auto* item : platforms) {
            GPKG_TRY(const auto platform, item->as_text("a platform"));
            if (!knows(*item, platform)) continue;
            classes[platform].name = classes[platform].platform = platform;
        }
        GPKG_TRY(const auto packages, items_of(root, "package"));
        for (const auto* item : packages) GPKG_CHECK(read_entry(*item, classes));
        for (auto& [platform, locked] : classes) {
            locked.needs = needs_of(lock_.records_of(locked));
            GPKG_CHECK(check_needs(root, locked.needs));
            lock_.classes.push_back(std::move(locked));
        }
        return {};
    }

    Result<void> read_entry(const Node& item, std::map<std::string, LockedClass>& classes) {
        GPKG_CHECK(expect_map(item, "a package"));
        GPKG_TRY(const auto platform, required_text(item, "platform"));
        const auto of_platform = classes.find(platform);
        if (of_platform == classes.end()) {
            if (unknown_platforms_.contains(platform)) return {};
            return item.find("platform")
                ->fail(fmt::format("'{}' is not listed under metadata.platforms",
                                   printable(platform)));
        }
        auto& locked = of_platform->second;
        GPKG_TRY(const auto manager, required_text(item, "manager"));
        GPKG_TRY(const auto url, required_text(item, "url"));
        GPKG_TRY(const auto* hash, required(item, "hash"));
        GPKG_CHECK(expect_map(*hash, "hash"));
        GPKG_TRY(const auto md5, hash_of(*hash, "md5", kMd5Length));
        GPKG_TRY(const auto sha256, hash_of(*hash, "sha256", kSha256Length));
        if (manager == "pip" || manager == "pypi") {
            GPKG_TRY(auto package, read_foreign(item, "pypi", "url"));
            package.md5 = md5;
            package.sha256 = sha256;
            keep_lasting(package.kept);
            locked.foreign.push_back(adder_.add(std::move(package)));
            return {};
        }
        if (manager != "conda")
            return item.find("manager")->fail(
                fmt::format("expected conda, pip or pypi, found '{}'", printable(manager)));
        GPKG_TRY(auto package, read_package(item, "url", url, platform));
        auto& record = package.record;
        record.md5 = md5;
        record.sha256 = sha256;
        GPKG_TRY(record.depends, read_depends(item));
        GPKG_TRY(const auto place, add(item, std::move(package)));
        locked.packages.push_back(place);
        return {};
    }

    /// Version 1 has them as a map, as conda-lock.yml has.
    static Result<std::vector<std::string>> read_depends(const Node& item) {
        const auto* node = item.find("dependencies");
        return node != nullptr && node->is_list() ? texts_of(item, "dependencies")
                                                  : read_dependencies(item);
    }

    /// The channels of the default environment, else of the first, are those of the file.
    void share_channels() {
        auto& environments = lock_.environments;
        auto main = environments.find(std::string(kDefaultEnvironment));
        if (main == environments.end()) main = environments.begin();
        if (main == environments.end()) return;
        lock_.channels = *main->second.channels;
        for (auto& [name, environment] : environments)
            if (environment.channels == lock_.channels) environment.channels.reset();
        std::erase_if(environments, [&](const auto& entry) {
            return entry.second == LockedEnvironment{} &&
                   std::any_of(lock_.classes.begin(), lock_.classes.end(), [&](const auto& locked) {
                       return locked.environment == entry.first;
                   });
        });
    }

    ReadLock read_;
    LockFile& lock_ = read_.lock;
    PackageAdder adder_{lock_};
    long long version_ = 0;
    std::map<std::string, Platform> platforms_;
    std::set<std::string> unknown_platforms_;
    std::unordered_map<std::string, std::size_t> packages_;  ///< by location
    /// By location. It only matters where an environment has the package.
    std::unordered_map<std::string, Error> without_subdir_;
    std::multimap<std::pair<std::string, std::string>, std::size_t> foreign_;  ///< kind, location
};

// ---- Writing

class PixiWriter {
public:
    PixiWriter(const LockFile& lock, int version)
        : lock_(lock), version_(version), keeps_(lock.tool == LockTool::Pixi) {}

    Result<std::string> write() {
        GPKG_CHECK(check_classes());
        out_.line(0, "version", static_cast<std::uint64_t>(version_));
        if (version_ > 6) write_platforms();
        std::map<std::string, std::vector<const LockedClass*>> environments;
        for (const auto& [name, environment] : lock_.environments) environments[name];
        for (const auto& locked : lock_.classes)
            environments[locked.environment].push_back(&locked);
        environments.empty() ? out_.as_is(0, "environments", "{}") : out_.open(0, "environments");
        for (const auto& [name, classes] : environments) write_environment(name, classes);
        write_packages();
        return std::move(out_).take();
    }

private:
    /// What a class is called in the file, where names have no '.': "cuda-glibc2-28".
    std::string platform_of(const LockedClass& locked) const {
        if (version_ < 7) return locked.platform;
        auto name = locked.name;
        std::ranges::replace(name, '.', '-');
        return name;
    }

    Result<void> check_classes() const {
        std::map<std::pair<std::string, std::string>, std::string> seen;
        std::map<std::string, const LockedClass*> platforms;
        for (const auto& locked : lock_.classes) {
            const auto platform = platform_of(locked);
            const auto [known, is_new] =
                seen.emplace(std::pair(locked.environment, platform), locked.name);
            if (!is_new && version_ < 7)
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format("{} has one package list per platform, but the classes {} and {} "
                                "are both for {}",
                                name_of(LockFormat::Pixi6),
                                known->second,
                                locked.name,
                                platform),
                    "use version 7 (--format pixi), or write one of them with --class NAME");
            if (version_ < 7) continue;
            const auto* other = platforms.emplace(platform, &locked).first->second;
            if (!is_new || other->platform != locked.platform || other->made_for != locked.made_for)
                return fail(ErrorKind::Unsupported,
                            fmt::format("pixi.lock cannot store both class {} and class {}: the "
                                        "name {} must mean one platform in all environments",
                                        locked.name,
                                        other->name,
                                        platform));
        }
        for (const auto& package : lock_.foreign) {
            if (package.kind == (version_ > 6 ? "conda" : "conda_source"))
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format("pixi.lock version {} cannot store {}, which is built from source",
                                version_,
                                printable(package.location)),
                    fmt::format("use --format {}", version_ > 6 ? "pixi-6" : "pixi"));
        }
        return {};
    }

    void write_platforms() {
        std::map<std::string, const LockedClass*> platforms;
        for (const auto& locked : lock_.classes) platforms.emplace(platform_of(locked), &locked);
        platforms.empty() ? out_.as_is(0, "platforms", "[]") : out_.open(0, "platforms");
        for (const auto& [name, locked] : platforms) {
            out_.item(0, "name", name);
            if (name != locked->platform) out_.line(1, "subdir", locked->platform);
            std::vector<std::string> made_for;
            for (auto package : locked->made_for) {
                package.flags.clear();  // gpkg's own
                made_for.push_back(package.to_string());
            }
            out_.list(1, "virtual-packages", made_for);
        }
    }

    void write_environment(const std::string& name,
                           const std::vector<const LockedClass*>& classes) {
        out_.open(1, name);
        write_channels(out_, 2, lock_.channels_of(name), true);
        if (const auto own = lock_.environments.find(name);
            keeps_ && own != lock_.environments.end())
            out_.as_is(2, own->second.kept);
        classes.empty() ? out_.as_is(2, "packages", "{}") : out_.open(2, "packages");
        for (const auto* locked : classes) {
            if (locked->is_empty()) {
                out_.as_is(3, platform_of(*locked), "[]");
                continue;
            }
            out_.open(3, platform_of(*locked));
            for (const auto place : by_url(locked->packages))
                out_.item(3, "conda", lock_.packages[place].record.url);
            for (const auto place : locked->foreign) write_selector(lock_.foreign[place]);
        }
    }

    void write_selector(const ForeignPackage& package) {
        out_.item(3, package.kind, package.location);
        if (package.kind != "conda") return;
        for (const auto key : kSelectorKeys) {
            const auto value = value_of(package, key);
            const bool is_yaml = key == "build" || key == "subdir";
            if (!value.empty()) out_.as_is(4, key, is_yaml ? value : yaml::quote(value));
        }
    }

    /// pixi sorts by location since version 7.
    std::vector<std::size_t> by_url(std::vector<std::size_t> places) const {
        if (version_ > 6)
            std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
                return lock_.packages[a].record.url < lock_.packages[b].record.url;
            });
        return places;
    }

    void write_packages() {
        if (lock_.packages.empty() && lock_.foreign.empty()) return out_.as_is(0, "packages", "[]");
        out_.open(0, "packages");
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < lock_.packages.size(); ++place) places.push_back(place);
        for (const auto place : by_url(std::move(places))) {
            const auto& [record, kept] = lock_.packages[place];
            out_.item(0, "conda", record.url);
            write_package(out_, 1, record);
            if (keeps_) out_.as_is(1, kept);
        }
        for (const auto& package : lock_.foreign) {
            out_.item(0, package.kind, package.location);
            write_foreign(out_, 1, package);
            if (keeps_) out_.as_is(1, package.kept);
        }
    }

    const LockFile& lock_;
    const int version_;
    const bool keeps_;
    BlockWriter out_;
};

}  // namespace

Result<ReadLock> read_pixi(const Node& root) { return PixiReader().read(root); }

Result<std::string> write_pixi(const LockFile& lock, int version) {
    return PixiWriter(lock, version).write();
}

}  // namespace gpkg::lock
