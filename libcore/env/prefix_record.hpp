#pragma once

// What conda-meta/<name>-<version>-<build>.json says of an installed package (CEP 32): the record
// it came from, every file it owns and how it was linked. conda, mamba and rattler write the same
// file, each with habits of its own: reading forgives, and keys unknown here survive a rewrite.

#include "libcore/fs/file.hpp"
#include "libcore/spec/package_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpkg {

/// `path_type` of CEP 32. Anything else another tool wrote is kept as Other.
enum class PrefixPathType {
    HardLink,
    SoftLink,
    Directory,
    PycFile,               ///< made by the environment's python
    UnixPythonEntryPoint,  ///< made by gpkg out of info/link.json
    Other,
};

/// One entry of paths_data.
struct PrefixPath {
    std::string path;  ///< relative to the prefix, "/" between parts
    PrefixPathType type = PrefixPathType::HardLink;
    std::string type_text{};            ///< as written, when type is Other
    std::string sha256{};               ///< of the package's file; empty for generated files
    std::string sha256_in_prefix{};     ///< of the file as linked; may be empty
    std::optional<std::uint64_t> size;  ///< of the package's file, in bytes
    std::string prefix_placeholder{};   ///< what was replaced; empty: nothing
    bool binary = false;                ///< the file_mode, with a placeholder
    bool no_link = false;
    std::string unknown_keys{};  ///< a JSON object with what else was written there; may be empty

    /// Whether the file differs from the package's since it has the path of the environment.
    /// micromamba writes no placeholder: then two checksums tell.
    bool is_rewritten() const {
        return !prefix_placeholder.empty() ||
               (!sha256.empty() && !sha256_in_prefix.empty() && sha256 != sha256_in_prefix);
    }

    friend bool operator==(const PrefixPath&, const PrefixPath&) = default;
};

/// `link.type` of conda-meta, with conda's numbers.
enum class LinkType { HardLink = 1, SoftLink = 2, Copy = 3, Directory = 4 };

struct PrefixRecord {
    PackageRecord package;
    std::vector<std::string> files;  ///< every path owned, generated ones included
    std::vector<PrefixPath> paths;   ///< paths_data; may be empty in old records, `files` never is
    std::string link_source;         ///< the unpacked package
    LinkType link_type = LinkType::HardLink;
    std::vector<std::string> requested_specs;  ///< empty: installed as a dependency only
    std::string extracted_package_dir;
    std::string package_tarball_full_path;
    std::string unknown_keys;  ///< a JSON object with what else was written there; may be empty

    /// Reads the text of a conda-meta record. `what` names it in errors, usually its path. The
    /// paths of noarch python packages are those in the environment, as in `files`. A path that
    /// would leave the prefix is refused: its removal would remove what is not ours.
    static Result<PrefixRecord> parse(std::string_view text, std::string_view what);
    static Result<PrefixRecord> read(const fs::path& file);

    std::string to_json() const;

    /// "<name>-<version>-<build>.json".
    std::string file_name() const { return package.distribution() + ".json"; }
    const std::string& name() const { return package.name; }

    friend bool operator==(const PrefixRecord&, const PrefixRecord&) = default;
};

}  // namespace gpkg
