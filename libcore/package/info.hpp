#pragma once

// The files of a package's info/ folder (CEP 34), read with the leniency that packages in the wild
// need. `what` names the text in errors, usually its path.

#include "libcore/fs/file.hpp"
#include "libcore/spec/package_record.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// info/run_exports.json: what a package adds to those built with it (CEP 12).
struct RunExports {
    std::vector<std::string> weak;
    std::vector<std::string> strong;
    std::vector<std::string> weak_constrains;
    std::vector<std::string> strong_constrains;
    std::vector<std::string> noarch;

    friend bool operator==(const RunExports&, const RunExports&) = default;
};

/// "exe = module:function", a program to be made in bin/ when a noarch python package is linked.
struct EntryPoint {
    std::string command;
    std::string module;
    std::string function;

    static Result<EntryPoint> parse(std::string_view text);

    friend bool operator==(const EntryPoint&, const EntryPoint&) = default;
};

/// info/link.json.
struct LinkInfo {
    std::string noarch;  ///< "", "generic" or "python"
    std::vector<EntryPoint> entry_points;
};

/// info/about.json. URLs are lists: recipes give one or several.
struct About {
    std::string summary;
    std::string description;
    std::string license;
    std::string license_family;
    std::vector<std::string> home;
    std::vector<std::string> doc_url;
    std::vector<std::string> dev_url;
    std::vector<std::string> channels;
    std::vector<std::string> maintainers;  ///< extra.recipe-maintainers
    std::string builder;                   ///< "conda-build 3.28.1"; empty: not named
};

/// The text of info/NAME of the package unpacked at `folder`; nothing when it has none. Soft links
/// are refused: a package must not show a file of the host as its own.
Result<std::optional<std::string>> read_info_text(const fs::path& folder, std::string_view name);

/// A record from index.json; fn, url, channel, checksums and size are empty. The name, version and
/// build are such that distribution() is a safe file name.
Result<PackageRecord> parse_index_json(std::string_view text, std::string_view what);
Result<PackageRecord> read_index_json(const fs::path& folder);

Result<RunExports> parse_run_exports(std::string_view text, std::string_view what);
Result<LinkInfo> parse_link_json(std::string_view text, std::string_view what);
Result<About> parse_about_json(std::string_view text, std::string_view what);
/// Variant keys and values; numbers and booleans as their JSON text.
Result<std::map<std::string, std::string>> parse_hash_input(std::string_view text,
                                                            std::string_view what);

/// The same for an unpacked package; a file that is not there gives an empty value.
Result<RunExports> read_run_exports(const fs::path& folder);
Result<LinkInfo> read_link_json(const fs::path& folder);
Result<About> read_about_json(const fs::path& folder);

/// info/repodata_record.json: `index_json` (may be empty) with what the channel says of the package
/// put over it, as conda, mamba and rattler keep it beside unpacked packages.
Result<std::string> repodata_record_json(const PackageRecord& record, std::string_view index_json);
Result<PackageRecord> parse_repodata_record(std::string_view text, std::string_view what);
/// NotFound when the folder has none.
Result<PackageRecord> read_repodata_record(const fs::path& folder);

/// Refuses names, versions and builds that could leave a folder or break a file name.
Result<void> check_distribution(const PackageRecord& record, std::string_view what);

}  // namespace gpkg
