#include "libcore/base/digest.hpp"
#include "libcore/base/text.hpp"
#include "libcore/lock/class_needs.hpp"
#include "libcore/lock/environments.hpp"
#include "libcore/lock/formats_internal.hpp"
#include "libcore/lock/package_fields_internal.hpp"
#include "libcore/spec/match_spec.hpp"
#include "libcore/spec/names.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>

// conda-lock.yml (CEP 37). One list of entries, each of one package on one platform in one
// category. A category is an environment once it is together with `main`, on top of which what is
// in it is installed.

namespace gpkg::lock {
namespace {

using yaml::Node;

std::string environment_of(const std::string& category) {
    return category.empty() || category == kMainCategory ? std::string(kDefaultEnvironment)
                                                         : category;
}

std::string category_of(const std::string& environment) {
    return environment == kDefaultEnvironment ? std::string(kMainCategory) : environment;
}

// ---- Reading

constexpr std::array<std::string_view, 2> kHashKeys{"md5", "sha256"};
constexpr std::array<std::string_view, 11> kPackageKeys{"name",
                                                        "version",
                                                        "manager",
                                                        "platform",
                                                        "dependencies",
                                                        "url",
                                                        "hash",
                                                        "source",
                                                        "build",
                                                        "category",
                                                        "optional"};

/// An error for a further key that looks like a known one which `map` lacks.
Result<void> check_not_misspelled(const Node& map,
                                  const std::string& key,
                                  const Node& value,
                                  std::span<const std::string_view> known) {
    // pixi's first lock files, which have this format, say more of a package.
    const bool is_of_pixi = key == "build_number";
    if (is_of_pixi || std::find(known.begin(), known.end(), key) != known.end()) return {};
    std::vector<std::string> missing;
    for (const auto name : known) {
        if (map.find(name) == nullptr) missing.emplace_back(name);
    }
    const auto near = near_names(key, missing);
    if (near.empty()) return {};
    return fail(ErrorKind::Parse,
                fmt::format("{}: unknown key '{}'", value.key_place(), printable(key)),
                did_you_mean(near));
}

/// The value of a key that must be there; YAML writers leave an empty list or map without any.
Result<const Node*> present(const Node& map, std::string_view key) {
    if (const auto* node = map.find(key); node != nullptr && node->is_null()) return node;
    return required(map, key);
}

Result<std::vector<const Node*>> items_of(const Node& list, std::string_view what) {
    std::vector<const Node*> items;
    if (list.is_null()) return items;
    GPKG_CHECK(expect_list(list, what));
    for (const auto& item : list.items()) items.push_back(&item);
    return items;
}

class CondaLockReader {
public:
    Result<ReadLock> read(const Node& root) {
        GPKG_CHECK(expect_map(root, "a lock file"));
        GPKG_CHECK(check_version(root));
        GPKG_CHECK(check_keys(root, {"version", "metadata", "package"}));
        GPKG_TRY(const auto* metadata, required(root, "metadata"));
        GPKG_CHECK(read_metadata(*metadata));
        GPKG_TRY(const auto* packages, present(root, "package"));
        GPKG_TRY(const auto entries, items_of(*packages, "packages"));
        for (const auto* entry : entries) GPKG_CHECK(read_entry(*entry));
        put_categories_on_main();
        for (auto& [key, locked] : classes_) lock_.classes.push_back(std::move(locked));
        for (auto& locked : lock_.classes) {
            locked.needs = needs_of(lock_.records_of(locked));
            GPKG_CHECK(check_needs(*packages, locked.needs));
        }
        return std::move(read_);
    }

private:
    static Result<void> check_version(const Node& root) {
        const auto* node = root.find("version");
        if (node == nullptr || node->text() == "1") return {};
        return fail(ErrorKind::Unsupported,
                    fmt::format("{}: unsupported conda-lock.yml version {}; gpkg reads version 1",
                                node->place(),
                                printable(node->text(), 20)));
    }

    Result<void> read_metadata(const Node& metadata) {
        GPKG_CHECK(expect_map(metadata, "metadata"));
        GPKG_CHECK(check_keys(metadata,
                              {"content_hash",
                               "channels",
                               "platforms",
                               "sources",
                               "time_metadata",
                               "git_metadata",
                               "inputs_metadata",
                               "custom_metadata"}));
        GPKG_TRY(const auto* channels, present(metadata, "channels"));
        if (!channels->is_null()) {
            GPKG_TRY(lock_.channels, read_channels(*channels));
        }
        GPKG_TRY(const auto* list, present(metadata, "platforms"));
        GPKG_TRY(const auto platforms, items_of(*list, "platforms"));
        for (const auto* item : platforms) {
            GPKG_TRY(const auto platform, item->as_text("a platform"));
            if (!check_platform(*item, platform)) {
                read_.warnings.push_back(fmt::format(
                    "{}: ignored unknown platform '{}'", item->place(), printable(platform)));
                unknown_platforms_.insert(platform);
                continue;
            }
            class_of(std::string(kDefaultEnvironment), platform);
            platforms_.insert(platform);
        }
        GPKG_TRY(const auto* hashes, present(metadata, "content_hash"));
        if (!hashes->is_null()) GPKG_CHECK(expect_map(*hashes, "content_hash"));
        for (const auto& [platform, hash] : hashes->entries())
            GPKG_CHECK(hash_of(*hashes, platform, kSha256Length));
        GPKG_TRY(const auto* sources, present(metadata, "sources"));
        if (!sources->is_null()) GPKG_CHECK(sources->as_texts("sources"));
        GPKG_CHECK(check_optional_metadata(metadata));
        lock_.tool = LockTool::CondaLock;
        for (const auto& [key, value] : metadata.entries()) {
            if (key != "channels" && key != "platforms" && !value.is_null())
                GPKG_CHECK(keep(lock_.kept, key, value));
        }
        return {};
    }

    static Result<void> check_optional_metadata(const Node& metadata) {
        const auto check = [&](std::string_view key,
                               std::initializer_list<std::string_view> known) -> Result<void> {
            const auto* node = metadata.find(key);
            if (node == nullptr || node->is_null()) return {};
            GPKG_CHECK(expect_map(*node, key));
            return check_keys(*node, known);
        };
        GPKG_CHECK(check("time_metadata", {"created_at"}));
        GPKG_CHECK(check("git_metadata", {"git_user_name", "git_user_email", "git_sha"}));
        for (const std::string_view key : {"inputs_metadata", "custom_metadata"}) {
            const auto* node = metadata.find(key);
            if (node == nullptr || node->is_null()) continue;
            GPKG_CHECK(expect_map(*node, key));
            for (const auto& [name, value] : node->entries()) {
                if (key == "custom_metadata") {
                    GPKG_CHECK(value.as_text("a text"));
                } else {
                    GPKG_CHECK(expect_map(value, "hashes"));
                    GPKG_CHECK(check_keys(value, {"md5", "sha256"}));
                }
            }
        }
        return {};
    }

    LockedClass& class_of(const std::string& environment, const std::string& platform) {
        auto& locked = classes_[{environment, platform}];
        locked.name = locked.platform = platform;
        locked.environment = environment;
        return locked;
    }

    Result<void> read_entry(const Node& entry) {
        GPKG_CHECK(expect_map(entry, "a package"));
        GPKG_TRY(const auto name, required_text(entry, "name"));
        GPKG_TRY(const auto manager, required_text(entry, "manager"));
        if (manager != "conda" && manager != "pip")
            return entry.find("manager")->fail(
                fmt::format("expected conda or pip, found '{}'", printable(manager)));
        GPKG_TRY(const auto platform, required_text(entry, "platform"));
        if (unknown_platforms_.contains(platform)) return {};
        const auto main = std::pair(std::string(kDefaultEnvironment), platform);
        if (!classes_.contains(main))
            return entry.find("platform")
                ->fail(fmt::format("'{}' is not listed under metadata.platforms",
                                   printable(platform)));
        GPKG_TRY(const auto category, text_of(entry, "category"));
        if (category == kDefaultEnvironment)
            return entry.find("category")
                ->fail("the category name 'default' is reserved: gpkg uses it for main");
        if (!category.empty()) GPKG_CHECK(check_name(*entry.find("category"), category));
        const auto environment = environment_of(category);
        if (!seen_.emplace(name, manager, platform, environment).second)
            return entry.fail(fmt::format("{} ({}, {}, {}) is listed twice",
                                          name,
                                          manager,
                                          platform,
                                          category_of(environment)));
        if (const auto* optional = entry.find("optional"))
            GPKG_CHECK(optional->as_bool("optional"));
        // Files of old versions list what the machine has: nothing that could be installed.
        if (is_virtual_package_name(name)) return {};
        auto& locked = class_of(environment, platform);
        return manager == "conda" ? read_conda(entry, name, locked) : read_pip(entry, locked);
    }

    /// Where a category has nothing for a platform, `main` is what is installed there.
    void put_categories_on_main() {
        std::set<std::string> environments;
        for (const auto& [key, locked] : classes_) environments.insert(key.first);
        environments.erase(std::string(kDefaultEnvironment));
        for (const auto& environment : environments) {
            for (const auto& platform : platforms_) {
                const auto& main = class_of(std::string(kDefaultEnvironment), platform);
                auto& locked = class_of(environment, platform);
                for (const auto places : {&LockedClass::packages, &LockedClass::foreign})
                    (locked.*places)
                        .insert(
                            (locked.*places).end(), (main.*places).begin(), (main.*places).end());
            }
        }
    }

    Result<void> read_conda(const Node& entry, const std::string& name, LockedClass& locked) {
        GPKG_TRY(const auto* url, required(entry, "url"));
        GPKG_TRY(const auto address, required_text(entry, "url"));
        LockedPackage package;
        auto& record = package.record;
        GPKG_TRY(record, record_of_url(*url, address));
        if (record.subdir.empty()) record.subdir = locked.platform;
        if (record.subdir != locked.platform && record.subdir != "noarch")
            return url->fail(fmt::format(
                "{} is for {}, but listed under {}", record.fn, record.subdir, locked.platform));
        GPKG_TRY(const auto version, required_text(entry, "version"));
        GPKG_TRY(const auto build, text_of(entry, "build"));
        if (record.name != name || record.version != version ||
            (!build.empty() && record.build != build))
            return url->fail(fmt::format("{} is not the file of {} {}",
                                         record.fn,
                                         name,
                                         version + (build.empty() ? "" : " " + build)));
        GPKG_TRY(record.depends, read_dependencies(entry));
        GPKG_CHECK(read_hashes(entry, record.fn, record.md5, record.sha256));
        GPKG_CHECK(keep_further(entry, {"source", "build"}, package.kept));
        auto place = adder_.add(std::move(package));
        if (!place) return fail_at(entry, std::move(place).error());
        locked.packages.push_back(*place);
        return {};
    }

    Result<void> read_pip(const Node& entry, LockedClass& locked) {
        ForeignPackage package;
        package.kind = "pypi";
        GPKG_TRY(package.location, required_text(entry, "url"));
        GPKG_TRY(package.name, required_text(entry, "name"));
        GPKG_TRY(package.version, required_text(entry, "version"));
        // Of what comes from git, conda-lock gives the commit as sha256.
        if (!read_hashes(entry, package.name, package.md5, package.sha256)) {
            GPKG_TRY(const auto* hash, required(entry, "hash"));
            GPKG_CHECK(expect_map(*hash, "hash"));
            package.md5.clear();
            package.sha256.clear();
            GPKG_CHECK(keep(package.kept, "hash", *hash));
        }
        GPKG_CHECK(keep_further(entry, {"source", "build", "dependencies"}, package.kept));
        if (const auto none = package.kept.find("dependencies");
            none != package.kept.end() && none->second == "{}")
            package.kept.erase(none);
        locked.foreign.push_back(adder_.add(std::move(package)));
        return {};
    }

    Result<void> read_hashes(const Node& entry,
                             const std::string& what,
                             std::string& md5,
                             std::string& sha256) {
        GPKG_TRY(const auto* hash, required(entry, "hash"));
        GPKG_CHECK(expect_map(*hash, "hash"));
        for (const auto& [key, value] : hash->entries())
            GPKG_CHECK(check_not_misspelled(*hash, key, value, kHashKeys));
        GPKG_TRY(md5, hash_of(*hash, "md5", kMd5Length));
        GPKG_TRY(sha256, hash_of(*hash, "sha256", kSha256Length));
        if (md5.empty() && sha256.empty())
            read_.warnings.push_back(
                fmt::format("{}: {} has no hash and cannot be verified", hash->place(), what));
        return {};
    }

    /// What a package has beside the keys of CEP 37, which other tools pass over, is kept.
    static Result<void> keep_further(const Node& entry,
                                     std::initializer_list<std::string_view> kept,
                                     KeptYaml& into) {
        for (const auto& [key, value] : entry.entries()) {
            const bool is_known =
                std::find(kPackageKeys.begin(), kPackageKeys.end(), key) != kPackageKeys.end();
            if (is_known && std::find(kept.begin(), kept.end(), key) == kept.end()) continue;
            if (!is_known) GPKG_CHECK(check_not_misspelled(entry, key, value, kPackageKeys));
            if (!value.is_null()) GPKG_CHECK(keep(into, key, value));
        }
        return {};
    }

    ReadLock read_;
    LockFile& lock_ = read_.lock;
    PackageAdder adder_{lock_};
    std::set<std::string> platforms_;
    std::set<std::string> unknown_platforms_;  ///< what is for them does not concern this machine
    std::map<std::pair<std::string, std::string>, LockedClass> classes_;  ///< environment, platform
    std::set<std::tuple<std::string, std::string, std::string, std::string>> seen_;
};

// ---- Writing

/// Both of two specs of one name, which conda-lock has one place for: their versions, and the build
/// that one of them asks for.
Result<std::string> both(const std::string& first, const std::string& second) {
    GPKG_TRY(const auto one, MatchSpec::parse(first));
    GPKG_TRY(const auto two, MatchSpec::parse(second));
    std::string versions;
    for (const auto* spec : {&one, &two}) {
        if (!spec->version || spec->version->is_any()) continue;
        auto text = spec->version->to_string();
        if (text.find('|') != std::string::npos) text = fmt::format("({})", text);
        if (versions != text) versions += fmt::format("{}{}", versions.empty() ? "" : ",", text);
    }
    MatchSpec said;
    said.name = one.name;
    const auto* build = one.build ? &one.build : &two.build;
    const bool has_two_builds = one.build && two.build && !(*one.build == *two.build);
    for (const auto* spec : {&one, &two}) {
        said.version = spec->version;
        said.build = spec->build;
        said.channel = spec->channel;
        if (has_two_builds || !(said == *spec))
            return fail(
                ErrorKind::Unsupported,
                fmt::format("conda-lock.yml cannot store both '{}' and '{}'", first, second));
    }
    if (versions.empty()) versions = "*";
    return *build ? fmt::format("{} {}", versions, (*build)->text()) : versions;
}

/// Specs as names and constraints, each name once: with all constraints that speak of it.
Result<std::vector<std::pair<std::string, std::string>>> dependencies_of(
    const PackageRecord& record) {
    std::vector<std::pair<std::string, std::string>> dependencies;
    for (const auto& spec : record.depends) {
        const auto end = std::min(spec.find_first_of(" =<>!~["), spec.size());
        auto name = spec.substr(0, end);
        // Which channel it is from, the package's URL tells.
        if (const auto colons = name.rfind("::"); colons != std::string::npos)
            name.erase(0, colons + 2);
        auto constraint = std::string(trim(std::string_view(spec).substr(end)));
        auto known = std::find_if(dependencies.begin(), dependencies.end(), [&](const auto& entry) {
            return entry.first == name;
        });
        if (known == dependencies.end()) {
            dependencies.emplace_back(std::move(name), std::move(constraint));
        } else if (known->second.empty()) {
            known->second = std::move(constraint);
        } else if (!constraint.empty() && known->second != constraint) {
            GPKG_TRY(known->second,
                     both(fmt::format("{} {}", name, known->second),
                          fmt::format("{} {}", name, constraint)));
        }
    }
    return dependencies;
}

const LockedClass* class_on(const std::vector<const LockedClass*>& classes,
                            const std::string& platform) {
    const auto found = std::ranges::find(classes, platform, &LockedClass::platform);
    return found == classes.end() ? nullptr : *found;
}

std::vector<std::size_t> difference(const std::vector<std::size_t>& some,
                                    const std::vector<std::size_t>& others) {
    std::vector<std::size_t> left;
    std::ranges::set_difference(some, others, std::back_inserter(left));
    return left;
}

void leave_out(const LockedClass* others, LockedClass& locked) {
    if (others == nullptr) return;
    locked.packages = difference(locked.packages, others->packages);
    locked.foreign = difference(locked.foreign, others->foreign);
}

/// An error for what is in the default environment and not in the other: a category always comes
/// with it.
Result<void> check_has_main(const LockFile& lock,
                            const std::string& environment,
                            const LockedClass& main,
                            const LockedClass* locked) {
    auto missing = main;
    leave_out(locked, missing);
    std::vector<std::string> lacked;
    for (const auto place : missing.packages) lacked.push_back(lock.packages[place].record.fn);
    for (const auto place : missing.foreign) lacked.push_back(lock.foreign[place].location);
    if (lacked.empty()) return {};
    return fail(ErrorKind::Unsupported,
                fmt::format("conda-lock.yml installs categories on top of main, but the {} lacks "
                            "packages that the {} has for {}: {}",
                            environment_title(lock, environment),
                            environment_title(lock, std::string(kDefaultEnvironment)),
                            main.platform,
                            join_some(lacked, "and")),
                "write one of them with --environment NAME");
}

/// Each environment as what it has beyond the default one. One that has no more repeats that, as
/// nothing else would tell that there is such a category.
Result<std::vector<LockedClass>> categories_of(const LockFile& lock) {
    std::map<std::string, std::vector<const LockedClass*>> environments;
    for (const auto& locked : lock.classes) environments[locked.environment].push_back(&locked);
    const auto main = environments[std::string(kDefaultEnvironment)];
    std::vector<LockedClass> categories;
    for (const auto& [environment, classes] : environments) {
        std::vector<LockedClass> whole;
        for (const auto* locked : classes) whole.push_back(*locked);
        auto told = whole;
        if (environment != kDefaultEnvironment &&
            !std::ranges::all_of(whole, &LockedClass::is_empty)) {
            for (const auto* one : main)
                GPKG_CHECK(
                    check_has_main(lock, environment, *one, class_on(classes, one->platform)));
            for (auto& locked : told) leave_out(class_on(main, locked.platform), locked);
            if (std::ranges::all_of(told, &LockedClass::is_empty)) told = std::move(whole);
        }
        categories.insert(categories.end(), told.begin(), told.end());
    }
    return categories;
}

class CondaLockWriter {
public:
    explicit CondaLockWriter(const LockFile& lock)
        : lock_(lock), keeps_(lock.tool == LockTool::CondaLock) {}

    Result<std::string> write() {
        std::map<std::pair<std::string, std::string>, std::string> names;
        for (const auto& locked : lock_.classes) {
            const auto [known, is_new] =
                names.emplace(std::pair(locked.environment, locked.platform), locked.name);
            if (!is_new)
                return fail(ErrorKind::Unsupported,
                            fmt::format("conda-lock.yml has one package list per platform, but the "
                                        "classes {} and {} are both for {}",
                                        known->second,
                                        locked.name,
                                        locked.platform),
                            "write one of them with --class NAME");
        }
        GPKG_TRY(const auto categories, categories_of(lock_));
        write_metadata();
        std::ranges::all_of(categories, &LockedClass::is_empty) ? out_.as_is(0, "package", "[]")
                                                                : out_.open(0, "package");
        for (const auto& locked : categories) GPKG_CHECK(write_class(locked));
        return std::move(out_).take();
    }

private:
    void write_metadata() {
        out_.line(0, "version", std::uint64_t{1});
        out_.open(0, "metadata");
        write_channels_of_conda_lock();
        std::vector<std::string> platforms;
        for (const auto& locked : lock_.classes) platforms.push_back(locked.platform);
        std::sort(platforms.begin(), platforms.end());
        platforms.erase(std::unique(platforms.begin(), platforms.end()), platforms.end());
        if (platforms.empty()) out_.as_is(1, "platforms", "[]");
        out_.list(1, "platforms", platforms);
        if (keeps_) return out_.as_is(1, lock_.kept);
        const auto digest =
            lock_.request.digest.empty() ? request_digest(lock_) : lock_.request.digest;
        platforms.empty() ? out_.as_is(1, "content_hash", "{}") : out_.open(1, "content_hash");
        for (const auto& platform : platforms) out_.line(2, platform, digest);
        out_.as_is(1, "sources", "[]");
    }

    /// Its readers demand `used_env_vars`.
    void write_channels_of_conda_lock() {
        if (lock_.channels.empty()) return out_.as_is(1, "channels", "[]");
        out_.open(1, "channels");
        for (const auto& channel : lock_.channels) {
            out_.item(1, "url", channel.url);
            if (channel.used_env_vars.empty()) out_.as_is(2, "used_env_vars", "[]");
            out_.list(2, "used_env_vars", channel.used_env_vars);
        }
    }

    void open_entry(const std::string& name,
                    const std::string& version,
                    std::string_view manager,
                    const std::string& platform) {
        out_.item(0, "name", name);
        out_.line(1, "version", version);
        out_.line(1, "manager", manager);
        out_.line(1, "platform", platform);
    }

    void close_entry(const std::string& url,
                     const std::string& md5,
                     const std::string& sha256,
                     const std::string& category,
                     bool has_own_hash = false) {
        out_.line(1, "url", url);
        if (!has_own_hash) write_hash(md5, sha256);
        out_.line(1, "category", category);
        out_.as_is(1, "optional", category == kMainCategory ? "false" : "true");
    }

    void write_hash(const std::string& md5, const std::string& sha256) {
        md5.empty() && sha256.empty() ? out_.as_is(1, "hash", "{}") : out_.open(1, "hash");
        out_.line(2, "md5", md5);
        out_.line(2, "sha256", sha256);
    }

    Result<void> write_class(const LockedClass& locked) {
        const auto category = category_of(locked.environment);
        for (const auto place : locked.packages) {
            const auto& [record, kept] = lock_.packages[place];
            open_entry(record.name, record.version, "conda", locked.platform);
            GPKG_TRY(const auto dependencies, dependencies_of(record));
            dependencies.empty() ? out_.as_is(1, "dependencies", "{}")
                                 : out_.open(1, "dependencies");
            for (const auto& [name, constraint] : dependencies)
                out_.as_is(2, name, yaml::quote(constraint));
            if (keeps_) out_.as_is(1, kept);
            close_entry(record.url, record.md5, record.sha256, category);
        }
        for (const auto place : locked.foreign) {
            const auto& package = lock_.foreign[place];
            if (package.kind != "pypi" || package.name.empty() || package.version.empty())
                return fail(
                    ErrorKind::Unsupported,
                    fmt::format("conda-lock.yml cannot store {}, which is built from source",
                                printable(package.location)));
            open_entry(package.name, package.version, "pip", locked.platform);
            if (!keeps_ || !package.kept.contains("dependencies"))
                out_.as_is(1, "dependencies", "{}");
            if (keeps_) out_.as_is(1, package.kept);
            close_entry(package.location,
                        package.md5,
                        package.sha256,
                        category,
                        keeps_ && package.kept.contains("hash"));
        }
        return {};
    }

    const LockFile& lock_;
    const bool keeps_;
    BlockWriter out_;
};

}  // namespace

Result<ReadLock> read_conda_lock(const Node& root) { return CondaLockReader().read(root); }

Result<std::string> write_conda_lock(const LockFile& lock) { return CondaLockWriter(lock).write(); }

}  // namespace gpkg::lock
