#include "libcore/base/text.hpp"
#include "libcore/hardware/accelerator.hpp"
#include "libcore/lock/formats_internal.hpp"
#include "libcore/lock/package_fields_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

// gpkg's own format. A package's block is named for its file, and a class lists its packages by
// these names, one a line, all sorted: what two branches changed apart from each other, git merges,
// and a conflict shows which package it is about. Nothing depends on when or where it was written.

namespace gpkg::lock {
namespace {

using yaml::Node;
using Places = std::unordered_map<std::string, std::size_t>;

constexpr int kVersion = 1;

// ---- Names of blocks

/// The file name; with subdir, or as a URL, where that is ambiguous.
std::vector<std::string> package_names(const LockFile& lock) {
    const auto in_subdir = [](const PackageRecord& record) {
        return record.subdir + "/" + record.fn;
    };
    std::unordered_map<std::string, int> count;
    for (const auto& [record, kept] : lock.packages) {
        ++count[record.fn];
        ++count[in_subdir(record)];
    }
    std::vector<std::string> names;
    for (const auto& [record, kept] : lock.packages)
        names.push_back(count[record.fn] == 1           ? record.fn
                        : count[in_subdir(record)] == 1 ? in_subdir(record)
                                                        : record.url);
    return names;
}

/// The location; numbered where several packages have it.
std::vector<std::string> foreign_names(const LockFile& lock) {
    std::unordered_map<std::string, int> count;
    std::vector<std::string> names;
    for (const auto& package : lock.foreign) {
        const auto number = ++count[package.location];
        names.push_back(number == 1 ? package.location
                                    : fmt::format("{} #{}", package.location, number));
    }
    return names;
}

// ---- Reading

/// Of a request, or of a class whose own they are.
Result<LockWishes> read_wishes(const Node& node) {
    LockWishes wishes;
    GPKG_TRY(wishes.specs, texts_of(node, "specs"));
    GPKG_TRY(wishes.pip, texts_of(node, "pip"));
    if (const auto* variables = node.find("variables")) {
        GPKG_CHECK(expect_map(*variables, "variables"));
        for (const auto& [name, value] : variables->entries()) {
            GPKG_CHECK(check_name(value, name));
            GPKG_TRY(wishes.variables[name], any_text(value, name));
        }
    }
    GPKG_TRY(wishes.accelerator, text_of(node, "accelerator"));
    return wishes;
}

Result<LockRequest> read_request(const Node& root) {
    LockRequest request;
    const auto* node = root.find("request");
    if (node == nullptr) return request;
    GPKG_CHECK(expect_map(*node, "the request"));
    GPKG_CHECK(check_keys(*node,
                          {"name",
                           "channels",
                           "specs",
                           "pip",
                           "variables",
                           "channel_priority",
                           "accelerator",
                           "exclude_newer",
                           "digest"}));
    GPKG_TRY(request.name, text_of(*node, "name"));
    GPKG_TRY(request.channels, texts_of(*node, "channels"));
    GPKG_TRY(request.wishes, read_wishes(*node));
    GPKG_TRY(request.channel_priority, text_of(*node, "channel_priority"));
    GPKG_TRY(request.exclude_newer, text_of(*node, "exclude_newer"));
    GPKG_TRY(request.digest, hash_of(*node, "digest", kSha256Length));
    return request;
}

Result<KeptYaml> read_kept(const Node& map) {
    KeptYaml kept;
    const auto* node = map.find("kept");
    if (node == nullptr) return kept;
    GPKG_CHECK(expect_map(*node, "'kept'"));
    for (const auto& [key, value] : node->entries()) GPKG_CHECK(keep(kept, key, value));
    return kept;
}

Result<Places> read_packages(const Node& root, PackageAdder& adder) {
    Places places;
    GPKG_TRY(const auto* packages, required(root, "packages"));
    GPKG_CHECK(expect_map(*packages, "packages"));
    for (const auto& [name, block] : packages->entries()) {
        GPKG_CHECK(expect_map(block, "a package"));
        GPKG_TRY(const auto url, required_text(block, "url"));
        GPKG_TRY(auto package, read_package(block, "url", url));
        package.kept.erase("kept");
        if (!package.kept.empty())
            return block.find(package.kept.begin()->first)
                ->fail(fmt::format("unknown key '{}'", printable(package.kept.begin()->first)));
        GPKG_TRY(package.kept, read_kept(block));
        const auto& record = package.record;
        if (record.sha256.empty() && record.md5.empty())
            return block.fail(fmt::format("{} has neither sha256 nor md5", record.fn));
        // The name is what people read; it must be that of what is installed.
        if (name != record.fn && name != record.subdir + "/" + record.fn && name != record.url)
            return fail(ErrorKind::Parse,
                        fmt::format("{}: the entry '{}' is of another package: {}",
                                    block.key_place(),
                                    printable(name),
                                    printable(record.url)));
        auto place = adder.add(std::move(package));
        if (!place) return fail_at(block, std::move(place).error());
        places.emplace(name, *place);
    }
    return places;
}

Result<Places> read_foreign_packages(const Node& root, PackageAdder& adder) {
    Places places;
    const auto* packages = root.find("foreign");
    if (packages == nullptr) return places;
    GPKG_CHECK(expect_map(*packages, "foreign packages"));
    for (const auto& [name, block] : packages->entries()) {
        GPKG_CHECK(expect_map(block, "a package"));
        GPKG_CHECK(check_keys(
            block, {"kind", "location", "name", "version", "sha256", "md5", "editable", "kept"}));
        GPKG_TRY(const auto kind, required_text(block, "kind"));
        GPKG_TRY(auto package, read_foreign(block, kind, "location"));
        GPKG_TRY(package.kept, read_kept(block));
        places.emplace(name, adder.add(std::move(package)));
    }
    return places;
}

Result<std::vector<std::size_t>> read_places(const Node& map,
                                             std::string_view key,
                                             const Places& places) {
    std::vector<std::size_t> found;
    const auto* list = map.find(key);
    if (list == nullptr) return found;
    GPKG_CHECK(expect_list(*list, key));
    for (const auto& item : list->items()) {
        GPKG_TRY(const auto name, item.as_text("a package"));
        const auto place = places.find(name);
        if (place == places.end())
            return item.fail(
                fmt::format("{} is not in the list of packages", printable(name)),
                "a manual merge may have removed it; write the lock again with `gpkg lock`");
        found.push_back(place->second);
    }
    return found;
}

Result<LockedMachine> read_machine(const Node& node, const std::vector<std::string>& texts) {
    LockedMachine machine;
    for (const auto& text : texts) {
        auto package = LockedVirtualPackage::parse(text);
        if (!package)
            return node.fail(
                fmt::format("'{}' is not a virtual package such as __cuda=12.4", text));
        machine.push_back(*std::move(package));
    }
    return machine;
}

Result<LockedClass> read_class(const std::string& key,
                               const Node& node,
                               const Places& packages,
                               const Places& foreign) {
    LockedClass locked;
    const auto slash = key.find('/');
    locked.name = slash == std::string::npos ? key : key.substr(slash + 1);
    if (slash != std::string::npos) locked.environment = key.substr(0, slash);
    GPKG_CHECK(check_name(node, locked.name));
    GPKG_CHECK(check_name(node, locked.environment));
    GPKG_CHECK(expect_map(node, "a class"));
    GPKG_CHECK(check_keys(node,
                          {"platform",
                           "request",
                           "needs",
                           "accelerator",
                           "made_for",
                           "also_made_for",
                           "packages",
                           "foreign"}));
    GPKG_TRY(locked.platform, required_text(node, "platform"));
    GPKG_CHECK(check_platform(*node.find("platform"), locked.platform));
    if (const auto* request = node.find("request")) {
        GPKG_CHECK(expect_map(*request, "the request of a class"));
        GPKG_CHECK(check_keys(*request, {"specs", "pip", "variables", "accelerator"}));
        GPKG_TRY(locked.wishes, read_wishes(*request));
    }
    GPKG_TRY(locked.needs, texts_of(node, "needs"));
    if (const auto* needs = node.find("needs")) GPKG_CHECK(check_needs(*needs, locked.needs));
    if (const auto* accelerator = node.find("accelerator")) {
        GPKG_TRY(locked.accelerator, accelerator->as_text("an accelerator"));
        if (const auto known = parse_accelerator_choice(locked.accelerator); !known)
            return accelerator->fail(known.error().message, known.error().hint);
    }
    GPKG_TRY(const auto made_for, texts_of(node, "made_for"));
    if (!made_for.empty()) {
        GPKG_TRY(locked.made_for, read_machine(*node.find("made_for"), made_for));
    }
    GPKG_TRY(const auto also_made_for, texts_of(node, "also_made_for"));
    for (const auto& text : also_made_for) {
        const auto words = split(text, ' ');
        GPKG_TRY(auto machine,
                 read_machine(*node.find("also_made_for"), {words.begin(), words.end()}));
        locked.also_made_for.push_back(std::move(machine));
    }
    GPKG_TRY(locked.packages, read_places(node, "packages", packages));
    GPKG_TRY(locked.foreign, read_places(node, "foreign", foreign));
    return locked;
}

Result<void> read_classes(const Node& root,
                          const Places& packages,
                          const Places& foreign,
                          LockFile& lock) {
    GPKG_TRY(const auto* classes, required(root, "classes"));
    GPKG_CHECK(expect_map(*classes, "classes"));
    for (const auto& [key, value] : classes->entries()) {
        GPKG_TRY(auto locked, read_class(key, value, packages, foreign));
        if (lock.find_class(locked.name, locked.environment) != nullptr)
            return value.fail(fmt::format("the class {} is listed twice", printable(key)));
        lock.classes.push_back(std::move(locked));
    }
    return {};
}

Result<void> read_environments(const Node& root, LockFile& lock) {
    const auto* environments = root.find("environments");
    if (environments == nullptr) return {};
    GPKG_CHECK(expect_map(*environments, "environments"));
    for (const auto& [name, value] : environments->entries()) {
        GPKG_CHECK(check_name(value, name));
        GPKG_CHECK(expect_map(value, "an environment"));
        GPKG_CHECK(check_keys(value, {"channels", "kept"}));
        auto& environment = lock.environments[name];
        if (const auto* channels = value.find("channels")) {
            GPKG_TRY(environment.channels, read_channels(*channels));
        }
        GPKG_TRY(environment.kept, read_kept(value));
    }
    return {};
}

/// Empty for gpkg's own, of which nothing is kept.
std::string_view word_of(LockTool tool) {
    switch (tool) {
    case LockTool::Gpkg: break;
    case LockTool::Pixi: return "pixi";
    case LockTool::CondaLock: return "conda-lock";
    }
    return {};
}

Result<LockTool> read_tool(const Node& root) {
    GPKG_TRY(const auto text, text_of(root, "kept_for"));
    for (const auto tool : {LockTool::Gpkg, LockTool::Pixi, LockTool::CondaLock}) {
        if (text == word_of(tool)) return tool;
    }
    return root.find("kept_for")
        ->fail(fmt::format("expected pixi or conda-lock, found '{}'", printable(text)));
}

Result<void> check_version(const Node& root) {
    GPKG_TRY(const auto* node, required(root, "gpkg_lock"));
    GPKG_TRY(const auto version, node->as_int("gpkg_lock"));
    if (version == kVersion) return {};
    auto failure =
        fail(ErrorKind::Unsupported,
             fmt::format("{}: unsupported gpkg.lock version {}; this gpkg reads version {}",
                         node->place(),
                         version,
                         kVersion));
    if (version > kVersion) failure.value().hint = "use a newer gpkg";
    return failure;
}

// ---- Writing

void write_kept(BlockWriter& out, int depth, const KeptYaml& kept) {
    if (kept.empty()) return;
    out.open(depth, "kept");
    out.as_is(depth + 1, kept);
}

void write_wishes(BlockWriter& out, int depth, const LockWishes& wishes) {
    out.list(depth, "specs", wishes.specs);
    out.list(depth, "pip", wishes.pip);
    if (!wishes.variables.empty()) out.open(depth, "variables");
    for (const auto& [name, value] : wishes.variables)
        out.as_is(depth + 1, name, yaml::quote(value));
    out.line(depth, "accelerator", wishes.accelerator);
}

void write_request(BlockWriter& out, const LockRequest& request) {
    if (request == LockRequest{}) return;
    out.open(0, "request");
    out.line(1, "name", request.name);
    out.list(1, "channels", request.channels);
    write_wishes(out, 1, request.wishes);
    out.line(1, "channel_priority", request.channel_priority);
    out.line(1, "exclude_newer", request.exclude_newer);
    out.line(1, "digest", request.digest);
}

void write_places(BlockWriter& out,
                  std::string_view key,
                  const std::vector<std::size_t>& places,
                  const std::vector<std::string>& names) {
    if (places.empty()) return;
    out.open(2, key);
    for (const auto place : places) out.item(2, names[place]);
}

std::vector<std::string> words_of(const LockedMachine& machine) {
    std::vector<std::string> texts;
    texts.reserve(machine.size());
    for (const auto& package : machine) texts.push_back(package.to_string());
    return texts;
}

void write_class(BlockWriter& out,
                 const LockedClass& locked,
                 const std::vector<std::string>& packages,
                 const std::vector<std::string>& foreign) {
    out.open(1,
             locked.environment == kDefaultEnvironment ? locked.name
                                                       : locked.environment + "/" + locked.name);
    out.line(2, "platform", locked.platform);
    if (locked.wishes == LockWishes{}) {
        out.as_is(2, "request", "{}");
    } else if (locked.wishes) {
        out.open(2, "request");
        write_wishes(out, 3, *locked.wishes);
    }
    out.list(2, "needs", locked.needs);
    if (!locked.accelerator.empty()) out.line(2, "accelerator", locked.accelerator);
    out.list(2, "made_for", words_of(locked.made_for));
    std::vector<std::string> also;
    for (const auto& machine : locked.also_made_for)
        also.push_back(fmt::format("{}", fmt::join(words_of(machine), " ")));
    out.list(2, "also_made_for", also);
    write_places(out, "packages", locked.packages, packages);
    write_places(out, "foreign", locked.foreign, foreign);
}

void write_environments(BlockWriter& out, const LockFile& lock) {
    if (!lock.environments.empty()) out.open(0, "environments");
    for (const auto& [name, environment] : lock.environments) {
        if (environment == LockedEnvironment{}) {
            out.as_is(1, name, "{}");
            continue;
        }
        out.open(1, name);
        if (environment.channels) write_channels(out, 2, *environment.channels);
        write_kept(out, 2, environment.kept);
    }
}

void write_foreign_packages(BlockWriter& out,
                            const LockFile& lock,
                            const std::vector<std::string>& names) {
    if (!lock.foreign.empty()) out.open(0, "foreign");
    for (std::size_t place = 0; place < names.size(); ++place) {
        const auto& package = lock.foreign[place];
        out.open(1, names[place]);
        out.line(2, "kind", package.kind);
        out.line(2, "location", package.location);
        write_foreign(out, 2, package);
        write_kept(out, 2, package.kept);
    }
}

}  // namespace

Result<ReadLock> read_gpkg(const Node& root) {
    GPKG_CHECK(expect_map(root, "a lock file"));
    GPKG_CHECK(check_version(root));
    GPKG_CHECK(check_keys(root,
                          {"gpkg_lock",
                           "channels",
                           "request",
                           "environments",
                           "classes",
                           "packages",
                           "foreign",
                           "kept_for",
                           "kept"}));
    ReadLock read;
    auto& lock = read.lock;
    GPKG_TRY(const auto* channels, required(root, "channels"));
    GPKG_TRY(lock.channels, read_channels(*channels));
    GPKG_TRY(lock.request, read_request(root));
    PackageAdder adder(lock);
    GPKG_TRY(const auto packages, read_packages(root, adder));
    GPKG_TRY(const auto foreign, read_foreign_packages(root, adder));
    GPKG_CHECK(read_environments(root, lock));
    GPKG_CHECK(read_classes(root, packages, foreign, lock));
    GPKG_TRY(lock.tool, read_tool(root));
    GPKG_TRY(lock.kept, read_kept(root));
    return read;
}

Result<std::string> write_gpkg(const LockFile& lock) {
    BlockWriter out(
        "# Exact packages for each class of machines. `gpkg create --lock THIS_FILE` installs "
        "them.\n");
    out.line(0, "gpkg_lock", std::uint64_t{kVersion});
    write_channels(out, 0, lock.channels);
    write_request(out, lock.request);
    write_environments(out, lock);

    const auto names = package_names(lock);
    const auto foreign = foreign_names(lock);
    lock.classes.empty() ? out.as_is(0, "classes", "{}") : out.open(0, "classes");
    for (const auto& locked : lock.classes) write_class(out, locked, names, foreign);

    lock.packages.empty() ? out.as_is(0, "packages", "{}") : out.open(0, "packages");
    for (std::size_t place = 0; place < names.size(); ++place) {
        const auto& [record, kept] = lock.packages[place];
        if (record.sha256.empty() && record.md5.empty())
            return fail(
                ErrorKind::Unsupported,
                fmt::format("{} cannot be locked: its channel has no checksum for it", record.url));
        out.open(1, names[place]);
        out.line(2, "url", record.url);
        write_package(out, 2, record);
        write_kept(out, 2, kept);
    }
    write_foreign_packages(out, lock, foreign);
    out.line(0, "kept_for", word_of(lock.tool));
    write_kept(out, 0, lock.kept);
    return std::move(out).take();
}

}  // namespace gpkg::lock
