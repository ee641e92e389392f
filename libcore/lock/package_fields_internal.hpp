#pragma once

// What the formats have in common: the fields of a package as pixi.lock has them, of which those
// that its URL tells need not be said, and the small readers of YAML.

#include "libcore/lock/block_writer_internal.hpp"
#include "libcore/lock/lock_file.hpp"
#include "libcore/yaml/node.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg::lock {

/// The value of a key that must be there and say something.
Result<const yaml::Node*> required(const yaml::Node& map, std::string_view key);
/// The text of a key, free of control characters; empty when the key is absent or says nothing.
Result<std::string> text_of(const yaml::Node& map, std::string_view key);
/// The text of any characters, as a variable may have it, but NUL.
Result<std::string> any_text(const yaml::Node& node, std::string_view what);
Result<std::string> required_text(const yaml::Node& map, std::string_view key);
Result<std::vector<std::string>> texts_of(const yaml::Node& map, std::string_view key);
/// The hash in lowercase hex digits, as many as `length`; empty when there is none.
Result<std::string> hash_of(const yaml::Node& map, std::string_view key, std::size_t length);
inline constexpr std::size_t kMd5Length = 32;
inline constexpr std::size_t kSha256Length = 64;

/// An error at the first key that is not among the `known`; all are fine where this is no map.
Result<void> check_keys(const yaml::Node& map, std::initializer_list<std::string_view> known);
Result<void> expect_map(const yaml::Node& node, std::string_view what);
Result<void> expect_list(const yaml::Node& node, std::string_view what);
/// A name of a class or an environment: letters, digits, '_', '-' and '.'.
Result<void> check_name(const yaml::Node& at, std::string_view name);
/// One of the subdirs that are known, not noarch.
Result<void> check_platform(const yaml::Node& at, std::string_view platform);

/// Keeps a key that says nothing to gpkg. An error for one that could not be written again.
Result<void> keep(KeptYaml& kept, const std::string& key, const yaml::Node& value);

/// Each a MatchSpec that asks for a virtual package.
Result<void> check_needs(const yaml::Node& at, const std::vector<std::string>& needs);

/// What a class of another tool's lock needs. For them only dependencies decide whether a machine
/// can have it, and run constraints do not.
std::vector<std::string> needs_of(const std::vector<PackageRecord>& records);

/// The values of a list of {url, used_env_vars}, or of urls.
Result<std::vector<LockedChannel>> read_channels(const yaml::Node& list);
/// `with_slash`: pixi compares them so.
void write_channels(BlockWriter& out,
                    int depth,
                    const std::vector<LockedChannel>& channels,
                    bool with_slash = false);

/// The error with the place where it was met.
tl::unexpected<Error> fail_at(const yaml::Node& node, Error error);

/// A record of which the URL has told name, version, build, fn, and where it can channel and
/// subdir, and the rest follows: build number and noarch.
Result<PackageRecord> record_of_url(const yaml::Node& at, const std::string& url);

/// An error for a record that could not be told from its URL again.
Result<void> check_writable(const PackageRecord& record);

/// What is wrong with a package whose URL does not tell its subdir.
Error no_subdir(const yaml::Node& map, const PackageRecord& record);

/// Reads a package's fields beside `location_key`; what is unknown is kept. Where neither a field
/// nor the URL tells the subdir, it is `platform`; an error where that is empty.
Result<LockedPackage> read_package(const yaml::Node& map,
                                   std::string_view location_key,
                                   const std::string& url,
                                   const std::string& platform = {});

/// The specs under `dependencies`: "python" and ">=3.9" as "python >=3.9".
Result<std::vector<std::string>> read_dependencies(const yaml::Node& entry);

/// The fields that the URL does not tell; what is kept is left to the caller.
void write_package(BlockWriter& out, int depth, const PackageRecord& record);

/// The other kind: name, version, hashes, editable; what is unknown is kept.
Result<ForeignPackage> read_foreign(const yaml::Node& map,
                                    std::string_view kind,
                                    std::string_view location_key);
void write_foreign(BlockWriter& out, int depth, const ForeignPackage& package);

}  // namespace gpkg::lock
